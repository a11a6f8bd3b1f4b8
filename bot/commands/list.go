package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"riftchime/riot"
	"riftchime/store"
)

// list shows who is followed, with their ranks as known, and when.
func (c *Commands) list(ctx context.Context, q *request) (*answer, error) {
	if !q.known {
		return say(q.t("empty.channel")), nil
	}
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	if len(follows) == 0 {
		return say(q.t("empty.channel")), nil
	}
	a := say(q.n("list.title", len(follows), "Most", MaxPlayers))
	for i, f := range follows {
		a.add(fmt.Sprintf("%d\\. **%s** · %s · %s", i+1, shown(f.Player.Name()),
			short(riot.Platform(f.Player.Platform)), c.rank(q, f)))
	}
	a.note(c.chimes(q, q.row)...)
	return a, nil
}

// rank is a player's best known standing in a few words: solo where ranked
// there, else flex. Unknown is never shown as unranked.
func (c *Commands) rank(q *request, f store.Follow) string {
	var solo, flex *store.Rank
	for _, p := range f.Ranks {
		switch p.Queue {
		case riot.QueueSolo:
			solo = p.Now
		case riot.QueueFlex:
			flex = p.Now
		}
	}
	switch {
	case solo != nil && solo.Tier != "":
		return q.standing("queue.solo", *solo)
	case flex != nil && flex.Tier != "":
		return q.standing("queue.flex", *flex)
	case solo == nil || f.Player.RanksAt.IsZero():
		return q.t("rank.unknown")
	}
	return q.t("rank.unranked")
}

func (q *request) standing(queue string, r store.Rank) string {
	tier := escape(r.Tier)
	if id := "tier." + strings.ToLower(r.Tier); q.texts.Has(id) {
		tier = q.t(id)
	}
	if r.Division != "" {
		tier += " " + escape(r.Division)
	}
	return q.t("rank.ranked", "Queue", q.t(queue), "Tier", tier, "LP", r.LP)
}

// chimes says when a channel chimes, in its own zone, and when next.
func (c *Commands) chimes(q *request, ch store.Channel) []string {
	if ch.Hours == 0 {
		return []string{q.t("chimes.off")}
	}
	next := ch.NextSlot
	if now := c.now(); !next.After(now) {
		next = c.next(ch, now) // the one that is due is being worked on
	}
	lines := []string{q.t("chimes.hours", "Hours", q.hours(ch.Hours), "Zone", ch.Zone)}
	switch {
	case !ch.PausedAt.IsZero():
		lines = append(lines, q.t("chimes.paused"))
	case !next.IsZero():
		lines = append(lines, q.t("chimes.next", "Next", stamp(next)))
	}
	return lines
}

// stamp is a time that Discord shows in each reader's own zone, followed by how
// long it is until or since then.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return fmt.Sprintf("<t:%d:f> (<t:%d:R>)", t.Unix(), t.Unix())
}
