// Package commands answers the slash commands: an interaction goes in, the
// data of one response comes out. Sending it, deferring, and the guard against
// a command pressed twice belong to the router that calls it.
package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/render"
	"riftchime/bot/report"
	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/store"
)

// MaxPlayers is how many players a channel may follow.
const MaxPlayers = 50

// Command is one slash command: what Discord is told of it, and what runs.
type Command struct {
	// Def is how it is registered with Discord.
	Def *discordgo.ApplicationCommand
	// Slow: it asks Riot, so it is to be deferred at once.
	Slow bool
	// Ephemeral: only the person who used it sees the answer.
	Ephemeral bool
	// Run carries the command out. The response is complete (flags and
	// allowed_mentions included) and within Discord's sizes; it is never nil.
	Run func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData
	// Autocomplete suggests values for the option in focus, from the store and
	// from memory only; nil where the command has no such option. At most 25.
	Autocomplete func(ctx context.Context, i *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice
}

// Store is what the commands need of the store; store.Store has it all.
type Store interface {
	PutServer(ctx context.Context, s store.Server) error
	Server(ctx context.Context, id store.ServerID) (store.Server, error)
	SetServerKey(ctx context.Context, id store.ServerID, key string) error
	KeyLoad(ctx context.Context) (map[string]int, error)
	PutChannel(ctx context.Context, c store.Channel) error
	Channel(ctx context.Context, id store.ChannelID) (store.Channel, error)
	ChannelsOf(ctx context.Context, server store.ServerID) ([]store.Channel, error)
	SetNextSlot(ctx context.Context, id store.ChannelID, next time.Time) error
	ResumeChannel(ctx context.Context, id store.ChannelID, next time.Time) error
	Register(ctx context.Context, channel store.ChannelID, p store.NewPlayer, since time.Time, baseline []string, most int) (store.Player, store.Registered, error)
	Unregister(ctx context.Context, channel store.ChannelID, player store.PlayerID, at time.Time) (bool, error)
	Registrations(ctx context.Context, channel store.ChannelID) ([]store.Follow, error)
	PUUID(ctx context.Context, player store.PlayerID, key string) (string, error)
	Facts(ctx context.Context, channel store.ChannelID, slot, now time.Time) (store.Facts, error)
	LastReports(ctx context.Context, channel store.ChannelID, most int) ([]store.Report, error)
	Reasons(ctx context.Context, channel store.ChannelID, player store.PlayerID, most int) ([]store.Reason, error)
}

// Caller asks Riot with one key, at the priority of a person who waits.
type Caller interface {
	AccountByRiotID(ctx context.Context, region riot.Region, id riot.RiotID) (riot.Account, error)
	// ActivePlatform says where the account plays League of Legends.
	ActivePlatform(ctx context.Context, region riot.Region, puuid riot.PUUID) (riot.Platform, error)
	Summoner(ctx context.Context, platform riot.Platform, puuid riot.PUUID) (riot.Summoner, error)
	MatchIDs(ctx context.Context, platform riot.Platform, puuid riot.PUUID, q riot.MatchIDsQuery) ([]riot.MatchID, error)
}

// Options is what the commands are wired to. Store, Riot and Keys are needed;
// another that is nil is left out, with what it is for.
type Options struct {
	Store Store
	// Riot returns the Caller for a key, at the priority of people.
	Riot func(key riot.Fingerprint) Caller
	// Keys lists every key that the program was given, those that step back at
	// the moment included. A new server gets the one with the fewest players.
	Keys  func() []riot.Fingerprint
	Clock schedule.Clock
	// Refresh fetches a channel's players who were last read more than
	// olderThan ago, and says who could not be read. It ends with ctx.
	Refresh func(ctx context.Context, channel store.ChannelID, olderThan time.Duration) ([]report.Missing, error)
	// RanksSoon asks for the ranks of a player registered just now, in the
	// background: it returns at once.
	RanksSoon func(player store.PlayerID, channel store.ChannelID)
	// Changed is called after settings or registrations changed, so that the
	// next hour is planned anew. It returns at once.
	Changed func()
	// Names are the champions'.
	Names render.Names
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Status tells what /status can't find in the store.
	Status func(ctx context.Context, server store.ServerID, channel store.ChannelID) StatusInfo
	// Logger gets what went wrong; nil means slog.Default.
	Logger *slog.Logger
}

// Commands answers the slash commands. It is safe for concurrent use.
type Commands struct {
	o       Options
	texts   *render.Texts
	log     *slog.Logger
	now     func() time.Time
	editing *keyed // one change of a channel's settings at a time
	reports *keyed // one /report a channel at a time
}

// New checks o and loads the texts. It starts nothing.
func New(o Options) (*Commands, error) {
	if o.Store == nil || o.Riot == nil || o.Keys == nil {
		return nil, errors.New("commands: Store, Riot and Keys are needed")
	}
	t, err := loadTexts()
	if err != nil {
		return nil, fmt.Errorf("texts of the commands: %w", err)
	}
	c := &Commands{o: o, texts: t, log: o.Logger, now: o.Now, editing: newKeyed(), reports: newKeyed()}
	if c.log == nil {
		c.log = slog.Default()
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c, nil
}

// All returns the commands in the order in which they are registered.
func (c *Commands) All() []Command {
	defs := Definitions()
	return []Command{
		{Def: defs.Register, Slow: true, Run: c.handle("register", false, c.register)},
		{Def: defs.Unregister, Run: c.handle("unregister", false, c.unregister), Autocomplete: c.suggest(c.suggestPlayers)},
		{Def: defs.List, Run: c.handle("list", false, c.list)},
		{Def: defs.Schedule, Run: c.handle("schedule", false, c.schedule), Autocomplete: c.suggest(c.suggestZones)},
		{Def: defs.Report, Slow: true, Run: c.handle("report", false, c.report)},
		{Def: defs.Status, Ephemeral: true, Run: c.handle("status", true, c.status)},
		{Def: defs.Why, Ephemeral: true, Run: c.handle("why", true, c.why), Autocomplete: c.suggest(c.suggestPlayers)},
	}
}

// handler carries out one command. An error becomes an apology in the person's
// language and a line in the log.
type handler func(ctx context.Context, q *request) (*answer, error)

// errForeign: the channel is kept for another server than the one that asks.
var errForeign = errors.New("the channel belongs to another server")

func (c *Commands) handle(name string, ephemeral bool, h handler) func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
	return func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData {
		q := c.read(i)
		if q.server == 0 || q.channel == 0 {
			return say(q.t("error.server_only")).data(q, ephemeral)
		}
		if err := c.own(ctx, q); err != nil {
			return c.apology(ctx, name, q, err).data(q, ephemeral)
		}
		if err := c.resume(ctx, q); err != nil {
			return c.apology(ctx, name, q, err).data(q, ephemeral)
		}
		a, err := h(ctx, q)
		if err != nil {
			a = c.apology(ctx, name, q, err)
		}
		if q.admin {
			for _, line := range c.pauses(ctx, q) {
				if !slices.Contains(a.lines, line) && !slices.Contains(a.notes, line) {
					a.note(line)
				}
			}
		}
		return a.data(q, ephemeral)
	}
}

// suggest wraps an autocomplete handler: no suggestions rather than an error.
func (c *Commands) suggest(f func(context.Context, *request, string) ([]string, error)) func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
	return func(ctx context.Context, i *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
		q := c.read(i)
		choices := []*discordgo.ApplicationCommandOptionChoice{}
		if q.server == 0 || q.channel == 0 || c.own(ctx, q) != nil {
			return choices
		}
		values, err := f(ctx, q, q.focused)
		if err != nil {
			c.log.WarnContext(ctx, "no suggestions", "channel", q.channel, "err", err)
			return choices
		}
		for _, v := range values {
			if len(choices) == 25 {
				break
			}
			if n := units(v); n == 0 || n > 100 {
				continue
			}
			choices = append(choices, &discordgo.ApplicationCommandOptionChoice{Name: v, Value: v})
		}
		return choices
	}
}

// own reads the channel's row into q, where there is one, and refuses one that
// is another server's.
func (c *Commands) own(ctx context.Context, q *request) error {
	row, known, err := c.channel(ctx, q)
	q.row, q.known = row, known
	return err
}

func (c *Commands) apology(ctx context.Context, name string, q *request, err error) *answer {
	switch {
	case errors.Is(err, errForeign):
		c.log.WarnContext(ctx, "command refused", "command", name, "server", q.server, "channel", q.channel, "err", err)
		return say(q.t("error.foreign"))
	case errors.Is(err, store.ErrUnavailable):
		c.log.ErrorContext(ctx, "command without database", "command", name, "server", q.server, "channel", q.channel, "err", err)
		return say(q.t("error.database"))
	default:
		c.log.ErrorContext(ctx, "command went wrong", "command", name, "server", q.server, "channel", q.channel, "err", err)
		return say(q.t("error.internal"))
	}
}

// changed tells the hour to plan anew.
func (c *Commands) changed() {
	if c.o.Changed != nil {
		c.o.Changed()
	}
}
