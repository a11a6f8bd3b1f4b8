package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/render"
	"riftchime/bot/report"
	"riftchime/store"
)

const (
	// fresh is how old a player's data may be in /report without asking Riot.
	fresh = 3 * time.Minute
	// refreshFor is how long /report asks Riot.
	refreshFor = 20 * time.Second
)

// report shows the new games since the channel's last report. It moves
// nothing: the next report tells of them again.
func (c *Commands) report(ctx context.Context, q *request) (*answer, error) {
	if !q.known {
		return say(q.t("empty.channel")), nil
	}
	release, _ := c.reports.try(q.channel)
	if release == nil {
		return say(q.t("report.busy")), nil
	}
	defer release()
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	if len(follows) == 0 {
		return say(q.t("empty.channel")), nil
	}
	missing, err := c.refresh(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	now := c.now()
	facts, err := c.o.Store.Facts(ctx, q.channel, time.Time{}, now)
	if err != nil {
		return nil, err
	}
	from := facts.Channel.LastSlot
	if from.IsZero() {
		from = facts.Channel.CreatedAt
	}
	rep := report.Compose(report.Input{Facts: facts, From: from, Missing: missing, Now: now})
	return c.oneMessage(q, rep, render.Options{
		Language: facts.Channel.Language, Zone: location(facts.Channel.Zone), Names: c.o.Names,
	})
}

// refresh fetches what is old, as far as that goes in refreshFor.
func (c *Commands) refresh(ctx context.Context, channel store.ChannelID) ([]report.Missing, error) {
	if c.o.Refresh == nil {
		return nil, nil
	}
	short, cancel := context.WithTimeout(ctx, refreshFor)
	defer cancel()
	missing, err := c.o.Refresh(short, channel, fresh)
	if err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return missing, nil // what is known counts
	}
	return missing, err
}

// oneMessage makes the answer: the whole report where it is one message, else
// as many of its players, the most active first, as one message holds.
func (c *Commands) oneMessage(q *request, rep report.Report, o render.Options) (*answer, error) {
	messages, err := render.Render(rep, o)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	if len(messages) == 0 {
		return say(q.t("report.nothing")), nil
	}
	if len(messages) == 1 {
		return read(messages[0])
	}
	all := rep.Blocks
	var fits []render.Message
	kept, failed := 0, error(nil)
	// The first number of blocks that is too many; the whole is.
	sort.Search(len(all)-1, func(n int) bool {
		rep.Blocks = all[:n+1]
		some, err := render.Render(rep, o)
		if err != nil || len(some) != 1 {
			failed = errors.Join(failed, err)
			return true
		}
		if n+1 > kept {
			kept, fits = n+1, some
		}
		return false
	})
	if failed != nil {
		return nil, fmt.Errorf("render: %w", failed)
	}
	if kept == 0 {
		a, err := read(messages[0])
		if err == nil {
			a.note(q.t("report.rest"))
		}
		return a, err
	}
	a, err := read(fits[0])
	if err != nil {
		return nil, err
	}
	more := 0
	for _, b := range all[kept:] {
		more += len(b.Players)
	}
	a.note(q.n("report.more", more))
	return a, nil
}

// read takes a rendered message apart.
func read(message render.Message) (*answer, error) {
	var m struct {
		Content string                    `json:"content"`
		Embeds  []*discordgo.MessageEmbed `json:"embeds"`
	}
	if err := json.Unmarshal(message.Body, &m); err != nil {
		return nil, fmt.Errorf("rendered message: %w", err)
	}
	a := &answer{embeds: m.Embeds}
	if m.Content != "" {
		a.add(strings.Split(m.Content, "\n")...)
	}
	return a, nil
}
