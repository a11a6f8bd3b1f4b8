package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"riftchime/store"
)

// The states as the statements spell them are those of store.ReportState
// (1 planned, 2 ready, 3 sending, 4 sent, 5 skipped) and store.PartState
// (1 ready, 2 sending, 3 sent). A migration would be needed to change them.

const reportColumns = `t.channel_id, t.slot, t.state, t.reason, t.partial, t.lateness_ms,
	CASE WHEN t.state = 4 THEN t.over_at ELSE 0 END`

func scanReport(rows *sql.Rows, t *store.Report) error {
	var lateness int64
	err := rows.Scan(&t.Channel, when{&t.Slot}, &t.State, &t.Reason, &t.Partial, &lateness, when{&t.SentAt})
	t.Lateness = time.Duration(lateness) * time.Millisecond
	return err
}

const partColumns = `a.channel_id, a.slot, a.part, a.body, a.nonce, a.state, a.first_try, a.message_id`

func scanPart(rows *sql.Rows, p *store.Part) error {
	return rows.Scan(&p.Channel, when{&p.Slot}, &p.Part, &p.Body, &p.Nonce, &p.State, when{&p.FirstTry}, &p.Message)
}

// PlanReports implements store.Reports. Channels that are not there any more
// are passed over.
func (s *Store) PlanReports(ctx context.Context, slot time.Time, channels []store.ChannelID) error {
	return s.change(ctx, "plan reports", func(r runner) error {
		return in(plain(channels), 2, func(places string, args []any) error {
			_, err := r.exec(ctx, `
				INSERT INTO reports (channel_id, slot, state, reason, partial, lateness_ms, over_at)
				SELECT c.id, CAST($1 AS BIGINT), 1, '', FALSE, 0, 0 FROM channels c WHERE c.id IN `+places+`
				ON CONFLICT DO NOTHING`, append([]any{ms(slot)}, args...)...)
			return err
		})
	})
}

func plain[T ~int64](ids []T) []int64 {
	out := make([]int64, len(ids))
	for i, id := range ids {
		out[i] = int64(id)
	}
	return out
}

// Report implements store.Reports.
func (s *Store) Report(ctx context.Context, channel store.ChannelID, slot time.Time) (store.Report, error) {
	out, err := list(ctx, s.reader(), `SELECT `+reportColumns+` FROM reports t WHERE t.channel_id = $1 AND t.slot = $2`,
		[]any{int64(channel), ms(slot)}, scanReport)
	if err == nil && len(out) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return store.Report{}, s.wrap(ctx, "report", err)
	}
	return out[0], nil
}

// LastReports implements store.Reports.
func (s *Store) LastReports(ctx context.Context, channel store.ChannelID, most int) ([]store.Report, error) {
	out, err := list(ctx, s.reader(), `
		SELECT `+reportColumns+` FROM reports t WHERE t.channel_id = $1 ORDER BY t.slot DESC LIMIT $2`,
		[]any{int64(channel), most}, scanReport)
	return out, s.wrap(ctx, "last reports", err)
}

// PutReady implements store.Reports. It says store.ErrTaken, and changes
// nothing, where one of the games is in a report of another slot.
func (s *Store) PutReady(ctx context.Context, v store.ReadyReport) (bool, error) {
	// Claim moves a report on to sending, so its state tells all.
	return s.putReady(ctx, "put a ready report", v, `reports.state < 3`)
}

// Replace implements store.Reports.
func (s *Store) Replace(ctx context.Context, v store.ReadyReport) (bool, error) {
	return s.putReady(ctx, "replace a report", v, `reports.state < 4 AND NOT EXISTS (
		SELECT 1 FROM parts WHERE parts.channel_id = reports.channel_id AND parts.slot = reports.slot AND parts.state = 3)`)
}

func (s *Store) putReady(ctx context.Context, what string, v store.ReadyReport, where string) (bool, error) {
	if len(v.Parts) == 0 {
		return false, s.wrap(ctx, what, errors.New("it has no parts"))
	}
	var put bool
	err := s.change(ctx, what, func(r runner) error {
		n, err := r.exec(ctx, `
			INSERT INTO reports (channel_id, slot, state, reason, partial, lateness_ms, over_at)
			VALUES ($1, $2, 2, '', $3, 0, 0)
			ON CONFLICT (channel_id, slot) DO UPDATE SET state = 2, partial = excluded.partial
			WHERE `+where, int64(v.Channel), ms(v.Slot), v.Partial)
		if err != nil {
			return err
		}
		if put = n > 0; !put {
			return nil
		}
		if err := r.unready(ctx, v.Channel, ms(v.Slot)); err != nil {
			return err
		}
		if err := r.addParts(ctx, v, 0); err != nil {
			return err
		}
		games := distinct(v.Games)
		taken, err := r.addGames(ctx, v, games)
		if err != nil {
			return err
		}
		if taken != int64(len(games)) {
			return fmt.Errorf("a game of another report: %w", store.ErrTaken)
		}
		return r.addShown(ctx, v)
	})
	if err != nil {
		return false, err
	}
	return put, nil
}

// unready takes back what PutReady stored for a slot, but the report itself.
func (r runner) unready(ctx context.Context, channel store.ChannelID, slot int64) error {
	for _, q := range []string{
		`DELETE FROM parts WHERE channel_id = $1 AND slot = $2`,
		`DELETE FROM reported_games WHERE channel_id = $1 AND slot = $2`,
		`DELETE FROM report_ranks WHERE channel_id = $1 AND slot = $2`,
		`DELETE FROM report_names WHERE channel_id = $1 AND slot = $2`,
	} {
		if _, err := r.exec(ctx, q, int64(channel), slot); err != nil {
			return err
		}
	}
	return nil
}

// addParts stores the parts from number first on, in state ready.
func (r runner) addParts(ctx context.Context, v store.ReadyReport, first int) error {
	var rows [][]any
	for i := first; i < len(v.Parts); i++ {
		rows = append(rows, []any{int64(v.Channel), ms(v.Slot), i, body(v.Parts[i]), v.Parts[i].Nonce, 1, 0, 0})
	}
	_, err := r.insert(ctx, `INSERT INTO parts (channel_id, slot, part, body, nonce, state, first_try, message_id)`, rows, ``)
	return err
}

// body is a part's body, never nil: that would be NULL.
func body(p store.Part) []byte { return append([]byte{}, p.Body...) }

func distinct(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

func (r runner) addGames(ctx context.Context, v store.ReadyReport, games []string) (int64, error) {
	rows := make([][]any, len(games))
	for i, id := range games {
		rows[i] = []any{int64(v.Channel), id, ms(v.Slot)}
	}
	return r.insert(ctx, `INSERT INTO reported_games (channel_id, match_id, slot)`, rows, `ON CONFLICT DO NOTHING`)
}

// addShown keeps what becomes the ranks and names last shown.
func (r runner) addShown(ctx context.Context, v store.ReadyReport) error {
	// An entry that comes twice would be changed twice by one statement, which
	// PostgreSQL refuses; the last one counts.
	type rankKey struct {
		player store.PlayerID
		queue  string
	}
	ranks := map[rankKey]int{}
	var rows [][]any
	for _, k := range v.Ranks {
		row := []any{int64(v.Channel), ms(v.Slot), int64(k.Player), k.Queue, int64(k.Snapshot)}
		if i, double := ranks[rankKey{k.Player, k.Queue}]; double {
			rows[i] = row
			continue
		}
		ranks[rankKey{k.Player, k.Queue}] = len(rows)
		rows = append(rows, row)
	}
	if _, err := r.insert(ctx, `INSERT INTO report_ranks (channel_id, slot, player_id, queue, snapshot_id)`, rows,
		`ON CONFLICT (channel_id, slot, player_id, queue) DO UPDATE SET snapshot_id = excluded.snapshot_id`); err != nil {
		return err
	}
	names := map[store.PlayerID]int{}
	rows = nil
	for _, n := range v.Names {
		row := []any{int64(v.Channel), ms(v.Slot), int64(n.Player), text(n.Name)}
		if i, double := names[n.Player]; double {
			rows[i] = row
			continue
		}
		names[n.Player] = len(rows)
		rows = append(rows, row)
	}
	_, err := r.insert(ctx, `INSERT INTO report_names (channel_id, slot, player_id, name)`, rows,
		`ON CONFLICT (channel_id, slot, player_id) DO UPDATE SET name = excluded.name`)
	return err
}

// ReadyParts implements store.Reports.
func (s *Store) ReadyParts(ctx context.Context, slot time.Time) ([]store.Part, error) {
	out, err := list(ctx, s.reader(), `
		SELECT `+partColumns+` FROM parts a WHERE a.slot = $1 AND a.state < 3 ORDER BY a.part, a.channel_id`,
		[]any{ms(slot)}, scanPart)
	return out, s.wrap(ctx, "ready parts", err)
}

// Parts implements store.Reports: in order.
func (s *Store) Parts(ctx context.Context, channel store.ChannelID, slot time.Time) ([]store.Part, error) {
	out, err := list(ctx, s.reader(), `
		SELECT `+partColumns+` FROM parts a WHERE a.channel_id = $1 AND a.slot = $2 ORDER BY a.part`,
		[]any{int64(channel), ms(slot)}, scanPart)
	return out, s.wrap(ctx, "parts", err)
}

// Claim implements store.Reports. The order is that of slot, part, channel.
func (s *Store) Claim(ctx context.Context, parts []store.PartKey, at time.Time) ([]store.PartKey, error) {
	type group struct {
		slot int64
		part int
	}
	channels := map[group][]int64{}
	var groups []group
	for _, p := range parts {
		g := group{ms(p.Slot), p.Part}
		if channels[g] == nil {
			groups = append(groups, g)
		}
		channels[g] = append(channels[g], int64(p.Channel))
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.part, b.part))
	})
	for _, g := range groups {
		slices.Sort(channels[g])
	}
	var moved []store.PartKey
	err := s.change(ctx, "claim parts", func(r runner) error {
		moved = nil
		for _, g := range groups {
			if s.dialect.ForUpdate != "" {
				// Reports before parts, and in order, as everywhere: or two
				// transactions could wait for each other.
				if err := in(channels[g], 2, func(places string, args []any) error {
					return r.query(ctx, `
						SELECT 1 FROM reports WHERE slot = $1 AND channel_id IN `+places+` ORDER BY channel_id`+s.dialect.ForUpdate,
						append([]any{g.slot}, args...), func(*sql.Rows) error { return nil })
				}); err != nil {
					return err
				}
			}
			err := in(channels[g], 4, func(places string, args []any) error {
				return r.claim(ctx, g.slot, g.part, ms(at), places, args, &moved)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return moved, nil
}

func (r runner) claim(
	ctx context.Context, slot int64, part int, at int64, places string, args []any, moved *[]store.PartKey,
) error {
	first := len(*moved)
	if err := r.query(ctx, `
		UPDATE parts SET state = 2, first_try = $3
		WHERE slot = $1 AND part = $2 AND state = 1 AND channel_id IN `+places+`
		RETURNING channel_id`, append([]any{slot, part, at}, args...),
		func(rows *sql.Rows) error {
			k := store.PartKey{Part: part, Slot: time.UnixMilli(slot).UTC()}
			err := rows.Scan(&k.Channel)
			*moved = append(*moved, k)
			return err
		}); err != nil {
		return err
	}
	claimed := (*moved)[first:]
	slices.SortFunc(claimed, func(a, b store.PartKey) int { return cmp.Compare(a.Channel, b.Channel) })
	ids := make([]int64, len(claimed))
	for i, k := range claimed {
		ids[i] = int64(k.Channel)
	}
	return in(ids, 2, func(places string, args []any) error {
		_, err := r.exec(ctx, `UPDATE reports SET state = 3 WHERE slot = $1 AND state < 3 AND channel_id IN `+places,
			append([]any{slot}, args...)...)
		return err
	})
}

// lockReport locks a report and returns its state, or sql.ErrNoRows.
func (s *Store) lockReport(ctx context.Context, r runner, channel store.ChannelID, slot int64) (store.ReportState, error) {
	var state store.ReportState
	err := r.row(ctx, `SELECT state FROM reports WHERE channel_id = $1 AND slot = $2`+s.dialect.ForUpdate,
		[]any{int64(channel), slot}, &state)
	return state, err
}

// Sent implements store.Reports. It says store.ErrNotFound where the part is
// not there, as after Skip; sent already, nothing changes.
func (s *Store) Sent(
	ctx context.Context, p store.PartKey, m store.MessageID, at time.Time, lateness time.Duration, next time.Time,
) error {
	slot := ms(p.Slot)
	return s.change(ctx, "part sent", func(r runner) error {
		state, err := s.lockReport(ctx, r, p.Channel, slot)
		if err != nil {
			return err
		}
		n, err := r.exec(ctx, `
			UPDATE parts SET state = 3, message_id = $4, first_try = CASE WHEN first_try = 0 THEN $5 ELSE first_try END
			WHERE channel_id = $1 AND slot = $2 AND part = $3 AND state < 3`,
			int64(p.Channel), slot, p.Part, int64(m), ms(at))
		if err != nil {
			return err
		}
		if n == 0 {
			var one int
			return r.row(ctx, `SELECT 1 FROM parts WHERE channel_id = $1 AND slot = $2 AND part = $3`,
				[]any{int64(p.Channel), slot, p.Part}, &one)
		}
		if p.Part == 0 {
			if _, err := r.exec(ctx, `UPDATE reports SET lateness_ms = $3 WHERE channel_id = $1 AND slot = $2`,
				int64(p.Channel), slot, lateness.Milliseconds()); err != nil {
				return err
			}
		}
		if state >= store.ReportSent {
			return nil // A part that Amend added.
		}
		var left int
		if err := r.row(ctx, `SELECT count(*) FROM parts WHERE channel_id = $1 AND slot = $2 AND state < 3`,
			[]any{int64(p.Channel), slot}, &left); err != nil || left > 0 {
			return err
		}
		if _, err := r.exec(ctx, `UPDATE reports SET state = 4, over_at = $3 WHERE channel_id = $1 AND slot = $2`,
			int64(p.Channel), slot, ms(at)); err != nil {
			return err
		}
		if err := r.show(ctx, p.Channel, slot); err != nil {
			return err
		}
		if err := r.over(ctx, p.Channel, slot, next); err != nil {
			return err
		}
		_, err = r.exec(ctx, `UPDATE channels SET refusals = 0, refused_slot = 0 WHERE id = $1 AND (refusals > 0 OR refused_slot > 0)`,
			int64(p.Channel))
		return err
	})
}

// show makes the ranks and names of a report those last shown, unless a later
// slot of the channel is over: then they were shown before.
func (r runner) show(ctx context.Context, channel store.ChannelID, slot int64) error {
	if _, err := r.exec(ctx, `
		INSERT INTO shown_ranks (channel_id, player_id, queue, snapshot_id)
		SELECT k.channel_id, k.player_id, k.queue, k.snapshot_id
		FROM report_ranks k
		JOIN registrations r ON r.channel_id = k.channel_id AND r.player_id = k.player_id
		JOIN channels c ON c.id = k.channel_id
		WHERE k.channel_id = $1 AND k.slot = $2 AND c.last_slot <= $2
		ON CONFLICT (channel_id, player_id, queue) DO UPDATE SET snapshot_id = excluded.snapshot_id`,
		int64(channel), slot); err != nil {
		return err
	}
	_, err := r.exec(ctx, `
		UPDATE registrations SET shown_name = n.name
		FROM report_names n, channels c
		WHERE n.channel_id = $1 AND n.slot = $2 AND c.id = n.channel_id AND c.last_slot <= $2
			AND registrations.channel_id = n.channel_id AND registrations.player_id = n.player_id`, int64(channel), slot)
	return err
}

// over moves the channel past slot, unless a person did so already.
func (r runner) over(ctx context.Context, channel store.ChannelID, slot int64, next time.Time) error {
	_, err := r.exec(ctx, `
		UPDATE channels SET
			last_slot = CASE WHEN last_slot < $2 THEN $2 ELSE last_slot END,
			next_slot = CASE WHEN next_slot > 0 AND next_slot <= $2 THEN $3 ELSE next_slot END
		WHERE id = $1`, int64(channel), slot, ms(next))
	return err
}

// Skip implements store.Reports. A report that is over stays as it is.
func (s *Store) Skip(ctx context.Context, channel store.ChannelID, slot time.Time, reason string, at, next time.Time) error {
	return s.change(ctx, "skip a report", func(r runner) error {
		n, err := r.exec(ctx, `
			INSERT INTO reports (channel_id, slot, state, reason, partial, lateness_ms, over_at)
			VALUES ($1, $2, 5, $3, FALSE, 0, $4)
			ON CONFLICT (channel_id, slot) DO UPDATE SET state = 5, reason = excluded.reason, over_at = excluded.over_at
			WHERE reports.state < 4`, int64(channel), ms(slot), text(reason), ms(at))
		if err != nil || n == 0 {
			return err
		}
		var sent int
		if err := r.row(ctx, `SELECT count(*) FROM parts WHERE channel_id = $1 AND slot = $2 AND state = 3`,
			[]any{int64(channel), ms(slot)}, &sent); err != nil {
			return err
		}
		if sent == 0 {
			err = r.unready(ctx, channel, ms(slot))
		} else if _, err = r.exec(ctx, `DELETE FROM parts WHERE channel_id = $1 AND slot = $2 AND state < 3`,
			int64(channel), ms(slot)); err == nil {
			err = r.show(ctx, channel, ms(slot))
		}
		if err != nil {
			return err
		}
		return r.over(ctx, channel, ms(slot), next)
	})
}

// Amend implements store.Reports. It says store.ErrNotFound where the report
// was not sent. A part that is there keeps its nonce and state; a game that is
// in a report of another slot stays there.
func (s *Store) Amend(ctx context.Context, v store.ReadyReport) error {
	slot := ms(v.Slot)
	return s.change(ctx, "amend a report", func(r runner) error {
		state, err := s.lockReport(ctx, r, v.Channel, slot)
		if err != nil {
			return err
		}
		if state != store.ReportSent {
			return fmt.Errorf("not a sent report: %w", store.ErrNotFound)
		}
		if _, err := r.exec(ctx, `UPDATE reports SET partial = $3 WHERE channel_id = $1 AND slot = $2`,
			int64(v.Channel), slot, v.Partial); err != nil {
			return err
		}
		var there int
		if err := r.row(ctx, `SELECT count(*) FROM parts WHERE channel_id = $1 AND slot = $2`,
			[]any{int64(v.Channel), slot}, &there); err != nil {
			return err
		}
		for i := range min(there, len(v.Parts)) {
			if _, err := r.exec(ctx, `UPDATE parts SET body = $4 WHERE channel_id = $1 AND slot = $2 AND part = $3`,
				int64(v.Channel), slot, i, body(v.Parts[i])); err != nil {
				return err
			}
		}
		if err := r.addParts(ctx, v, there); err != nil {
			return err
		}
		if _, err := r.addGames(ctx, v, distinct(v.Games)); err != nil {
			return err
		}
		if err := r.addShown(ctx, v); err != nil {
			return err
		}
		return r.show(ctx, v.Channel, slot)
	})
}

// Unfinished implements store.Reports.
func (s *Store) Unfinished(ctx context.Context) ([]store.Report, error) {
	out, err := list(ctx, s.reader(), `
		SELECT `+reportColumns+` FROM reports t WHERE t.state < 4 ORDER BY t.slot, t.channel_id`, nil, scanReport)
	return out, s.wrap(ctx, "unfinished reports", err)
}
