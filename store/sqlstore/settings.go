package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"riftchime/store"
)

const serverColumns = `s.id, s.name, s.key, s.locale, s.joined_at, s.gone_at`

func serverInto(s *store.Server) []any {
	return []any{&s.ID, &s.Name, &s.Key, &s.Locale, when{&s.JoinedAt}, when{&s.GoneAt}}
}

const channelColumns = `c.id, c.server_id, c.zone, c.language, c.hours, c.quiet, c.next_slot, c.last_slot,
	c.paused_at, c.paused_why, c.refusals, c.refused_slot, c.created_at`

func channelInto(c *store.Channel) []any {
	return []any{
		&c.ID, &c.Server, &c.Zone, &c.Language, &c.Hours, &c.Quiet, when{&c.NextSlot}, when{&c.LastSlot},
		when{&c.PausedAt}, &c.PausedWhy, &c.Refusals, when{&c.RefusedSlot}, when{&c.CreatedAt},
	}
}

func scanChannel(rows *sql.Rows, c *store.Channel) error { return rows.Scan(channelInto(c)...) }

// PutServer implements store.Settings.
func (s *Store) PutServer(ctx context.Context, v store.Server) error {
	_, err := s.exec(ctx, "put server", `
		INSERT INTO servers (id, name, key, locale, joined_at, gone_at) VALUES ($1, $2, $3, $4, $5, 0)
		ON CONFLICT (id) DO UPDATE SET
			name = excluded.name, locale = excluded.locale, gone_at = 0,
			key = CASE WHEN servers.key = '' THEN excluded.key ELSE servers.key END`,
		int64(v.ID), text(v.Name), v.Key, text(v.Locale), ms(v.JoinedAt))
	return err
}

// Server implements store.Settings.
func (s *Store) Server(ctx context.Context, id store.ServerID) (store.Server, error) {
	var v store.Server
	err := s.reader().row(ctx, `SELECT `+serverColumns+` FROM servers s WHERE s.id = $1`,
		[]any{int64(id)}, serverInto(&v)...)
	return v, s.wrap(ctx, "server", err)
}

// ServersPresent implements store.Settings.
func (s *Store) ServersPresent(ctx context.Context) ([]store.Server, error) {
	out, err := list(ctx, s.reader(), `SELECT `+serverColumns+` FROM servers s WHERE s.gone_at = 0 ORDER BY s.id`, nil,
		func(rows *sql.Rows, v *store.Server) error { return rows.Scan(serverInto(v)...) })
	return out, s.wrap(ctx, "servers present", err)
}

// ServerGone implements store.Settings.
func (s *Store) ServerGone(ctx context.Context, id store.ServerID, at time.Time) error {
	return s.execOne(ctx, "server gone",
		`UPDATE servers SET gone_at = CASE WHEN gone_at = 0 THEN $2 ELSE gone_at END WHERE id = $1`, int64(id), ms(at))
}

// SetServerKey implements store.Settings.
func (s *Store) SetServerKey(ctx context.Context, id store.ServerID, key string) error {
	return s.execOne(ctx, "set server key", `UPDATE servers SET key = $2 WHERE id = $1`, int64(id), key)
}

// KeyLoad implements store.Settings.
func (s *Store) KeyLoad(ctx context.Context) (map[string]int, error) {
	load := map[string]int{}
	err := s.reader().query(ctx, `
		SELECT s.key, count(DISTINCT r.player_id)
		FROM servers s
		JOIN channels c ON c.server_id = s.id
		JOIN registrations r ON r.channel_id = c.id
		WHERE s.gone_at = 0 AND s.key <> ''
		GROUP BY s.key`, nil,
		func(rows *sql.Rows) error {
			var (
				key string
				n   int
			)
			if err := rows.Scan(&key, &n); err != nil {
				return err
			}
			load[key] = n
			return nil
		})
	return load, s.wrap(ctx, "key load", err)
}

// PutChannel implements store.Settings.
func (s *Store) PutChannel(ctx context.Context, c store.Channel) error {
	_, err := s.exec(ctx, "put channel", `
		INSERT INTO channels (id, server_id, zone, language, hours, quiet, next_slot, last_slot,
			paused_at, paused_why, refusals, refused_slot, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT (id) DO UPDATE SET
			zone = excluded.zone, language = excluded.language, hours = excluded.hours,
			quiet = excluded.quiet, next_slot = excluded.next_slot`,
		int64(c.ID), int64(c.Server), c.Zone, c.Language, int64(c.Hours), c.Quiet, ms(c.NextSlot), ms(c.LastSlot),
		ms(c.PausedAt), text(c.PausedWhy), c.Refusals, ms(c.RefusedSlot), ms(c.CreatedAt))
	return err
}

func (r runner) channel(ctx context.Context, id store.ChannelID) (store.Channel, error) {
	var c store.Channel
	err := r.row(ctx, `SELECT `+channelColumns+` FROM channels c WHERE c.id = $1`, []any{int64(id)}, channelInto(&c)...)
	return c, err
}

// Channel implements store.Settings.
func (s *Store) Channel(ctx context.Context, id store.ChannelID) (store.Channel, error) {
	c, err := s.reader().channel(ctx, id)
	return c, s.wrap(ctx, "channel", err)
}

// ChannelsOf implements store.Settings.
func (s *Store) ChannelsOf(ctx context.Context, server store.ServerID) ([]store.Channel, error) {
	out, err := list(ctx, s.reader(), `SELECT `+channelColumns+` FROM channels c WHERE c.server_id = $1 ORDER BY c.id`,
		[]any{int64(server)}, scanChannel)
	return out, s.wrap(ctx, "channels of a server", err)
}

// AllChannels implements store.Settings. An error of f is returned as it is.
func (s *Store) AllChannels(ctx context.Context, f func(store.Channel) error) error {
	var stopped error
	err := s.reader().query(ctx, `
		SELECT `+channelColumns+` FROM channels c JOIN servers s ON s.id = c.server_id
		WHERE s.gone_at = 0 ORDER BY c.id`, nil,
		func(rows *sql.Rows) error {
			var c store.Channel
			if err := scanChannel(rows, &c); err != nil {
				return err
			}
			stopped = f(c)
			return stopped
		})
	if stopped != nil {
		return stopped
	}
	return s.wrap(ctx, "all channels", err)
}

// SetNextSlot implements store.Settings.
func (s *Store) SetNextSlot(ctx context.Context, id store.ChannelID, next time.Time) error {
	return s.execOne(ctx, "set next slot", `UPDATE channels SET next_slot = $2 WHERE id = $1`, int64(id), ms(next))
}

// ChannelRefused implements store.Settings.
func (s *Store) ChannelRefused(ctx context.Context, id store.ChannelID, slot time.Time) (int, error) {
	var refusals int
	err := s.change(ctx, "channel refused", func(r runner) error {
		return r.row(ctx, `
			UPDATE channels SET
				refusals = CASE WHEN refused_slot = $2 THEN refusals ELSE refusals + 1 END,
				refused_slot = $2
			WHERE id = $1 RETURNING refusals`, []any{int64(id), ms(slot)}, &refusals)
	})
	return refusals, err
}

// PauseChannel implements store.Settings.
func (s *Store) PauseChannel(ctx context.Context, id store.ChannelID, why string, at time.Time) error {
	return s.execOne(ctx, "pause channel", `UPDATE channels SET paused_at = $2, paused_why = $3 WHERE id = $1`,
		int64(id), ms(at), text(why))
}

// ResumeChannel implements store.Settings.
func (s *Store) ResumeChannel(ctx context.Context, id store.ChannelID, next time.Time) error {
	return s.execOne(ctx, "resume channel", `
		UPDATE channels SET paused_at = 0, paused_why = '', refusals = 0, refused_slot = 0, next_slot = $2
		WHERE id = $1`, int64(id), ms(next))
}

// served is the condition for a channel c to be served at all.
const served = `c.next_slot > 0 AND c.paused_at = 0
	AND EXISTS (SELECT 1 FROM servers s WHERE s.id = c.server_id AND s.gone_at = 0)
	AND EXISTS (SELECT 1 FROM registrations r WHERE r.channel_id = c.id)`

// NextSlotAfter implements store.Settings.
func (s *Store) NextSlotAfter(ctx context.Context, t time.Time) (time.Time, error) {
	var next time.Time
	err := s.reader().row(ctx, `SELECT coalesce(min(c.next_slot), 0) FROM channels c WHERE c.next_slot > $1 AND `+served,
		[]any{ms(t)}, when{&next})
	return next, s.wrap(ctx, "next slot", err)
}

// DueChannels implements store.Settings.
func (s *Store) DueChannels(ctx context.Context, slot time.Time) ([]store.Channel, error) {
	out, err := list(ctx, s.reader(), `SELECT `+channelColumns+` FROM channels c WHERE c.next_slot <= $1 AND `+served+`
		ORDER BY c.id`, []any{ms(slot)}, scanChannel)
	return out, s.wrap(ctx, "due channels", err)
}
