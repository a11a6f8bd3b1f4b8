package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/store"
)

// noon is the hour of a new channel: bit 12.
const noon uint32 = 1 << 12

// key is the Riot key that the server's players use. A server without one, or
// with one that the program has no more, gets the one with the fewest players.
// The server's row need not be there.
func (c *Commands) key(ctx context.Context, server store.ServerID) (riot.Fingerprint, error) {
	keys := c.o.Keys()
	if len(keys) == 0 {
		return "", errors.New("no key for Riot's API")
	}
	s, err := c.o.Store.Server(ctx, server)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c.idlest(ctx, keys)
	case err != nil:
		return "", err
	case slices.Contains(keys, riot.Fingerprint(s.Key)):
		return riot.Fingerprint(s.Key), nil
	}
	key, err := c.idlest(ctx, keys)
	if err != nil {
		return "", err
	}
	return key, c.o.Store.SetServerKey(ctx, server, string(key))
}

func (c *Commands) idlest(ctx context.Context, keys []riot.Fingerprint) (riot.Fingerprint, error) {
	if len(keys) == 1 {
		return keys[0], nil
	}
	load, err := c.o.Store.KeyLoad(ctx)
	if err != nil {
		return "", err
	}
	best := keys[0]
	for _, k := range keys[1:] {
		if load[string(k)] < load[string(best)] {
			best = k
		}
	}
	return best, nil
}

// presentServer sees to it that the server's row is there. It keeps a name
// that the gateway told.
func (c *Commands) presentServer(ctx context.Context, q *request, key riot.Fingerprint) error {
	s, err := c.o.Store.Server(ctx, q.server)
	switch {
	case errors.Is(err, store.ErrNotFound):
		s = store.Server{ID: q.server, Locale: string(q.guild), JoinedAt: c.now(), Key: string(key)}
	case err != nil:
		return err
	case s.GoneAt.IsZero() && s.Key != "":
		return nil
	case s.Key == "":
		s.Key = string(key)
		if err := c.o.Store.SetServerKey(ctx, s.ID, s.Key); err != nil {
			return err
		}
	}
	return c.o.Store.PutServer(ctx, s)
}

// openChannel returns the channel's row, adding server and channel with their
// defaults where there is none; platform is where the player who opens it
// plays. The channel must be held in c.editing.
func (c *Commands) openChannel(ctx context.Context, q *request, key riot.Fingerprint, platform riot.Platform) (ch store.Channel, opened bool, err error) {
	if err := c.presentServer(ctx, q, key); err != nil {
		return store.Channel{}, false, err
	}
	ch, known, err := c.channel(ctx, q)
	if known || err != nil {
		return ch, false, err
	}
	ch = c.newChannel(q, platform)
	ch.NextSlot = c.next(ch, c.now())
	return ch, true, c.o.Store.PutChannel(ctx, ch)
}

// channel reads the channel's row and refuses one that is another server's.
func (c *Commands) channel(ctx context.Context, q *request) (ch store.Channel, known bool, err error) {
	ch, err = c.o.Store.Channel(ctx, q.channel)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Channel{}, false, nil
	case err != nil:
		return store.Channel{}, false, err
	case ch.Server != q.server:
		return store.Channel{}, false, errForeign
	}
	return ch, true, nil
}

// newChannel is a channel as it starts.
func (c *Commands) newChannel(q *request, platform riot.Platform) store.Channel {
	zone, lang := defaults(q.locale, q.guild, platform)
	return store.Channel{
		ID: q.channel, Server: q.server, Zone: zone, Language: lang,
		Hours: noon, Quiet: true, CreatedAt: c.now(),
	}
}

// next is the first instant after t at which ch chimes; zero where it is off.
func (c *Commands) next(ch store.Channel, t time.Time) time.Time {
	if ch.Hours == 0 {
		return time.Time{}
	}
	return c.o.Clock.Next(t, schedule.Hours(ch.Hours), location(ch.Zone))
}

// location is a zone's; UTC for one that the program does not know.
func location(zone string) *time.Location {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return time.UTC
	}
	return loc
}

// resume ends the pause of a channel where the interaction shows that the bot
// may post again.
func (c *Commands) resume(ctx context.Context, q *request) error {
	const needed = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages
	if q.row.PausedAt.IsZero() || q.perms&discordgo.PermissionAdministrator == 0 && q.perms&needed != needed {
		return nil
	}
	release, err := c.editing.take(ctx, q.channel)
	if err != nil {
		return err
	}
	defer release()
	next := c.next(q.row, c.now())
	if err := c.o.Store.ResumeChannel(ctx, q.channel, next); err != nil {
		return err
	}
	c.log.InfoContext(ctx, "channel resumed", "server", q.server, "channel", q.channel)
	q.resumed, q.row.PausedAt, q.row.PausedWhy, q.row.NextSlot = true, time.Time{}, "", next
	c.changed()
	return nil
}
