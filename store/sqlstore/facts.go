package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"riftchime/store"
)

// newFor is how far back a game may have ended to be new (DESIGN section 8).
const newFor = 14 * 24 * time.Hour

// recent is how many outcomes before the new games a report gets at most.
const recent = 20

// Facts implements store.Reports. Games that ended at the same moment are in
// the order of their ids and of registration; the players' recent outcomes end
// before the first of their own new games.
func (s *Store) Facts(ctx context.Context, channel store.ChannelID, slot, now time.Time) (store.Facts, error) {
	var f store.Facts
	err := s.view(ctx, "facts", func(r runner) error {
		f = store.Facts{}
		if err := r.row(ctx, `
			SELECT `+channelColumns+`, `+serverColumns+`
			FROM channels c JOIN servers s ON s.id = c.server_id WHERE c.id = $1`,
			[]any{int64(channel)}, append(channelInto(&f.Channel), serverInto(&f.Server)...)...); err != nil {
			return err
		}
		var err error
		if f.Follows, err = r.follows(ctx, channel); err != nil || len(f.Follows) == 0 {
			return err
		}
		if f.Games, err = r.newGames(ctx, channel, ms(slot), ms(now.Add(-newFor))); err != nil {
			return err
		}
		place := make(map[store.PlayerID]int, len(f.Follows))
		for i, w := range f.Follows {
			place[w.Player.ID] = i
		}
		slices.SortFunc(f.Games, func(a, b store.Game) int {
			return cmp.Or(a.End.Compare(b.End), strings.Compare(a.Match, b.Match), cmp.Compare(place[a.Player], place[b.Player]))
		})
		return r.recent(ctx, &f, place)
	})
	if err != nil {
		return store.Facts{}, err
	}
	return f, nil
}

func (r runner) newGames(ctx context.Context, channel store.ChannelID, slot, from int64) ([]store.Game, error) {
	return list(ctx, r, `
		SELECT n.player_id, n.match_id, m.platform, m.queue, m.mode, m.map, m.started, m.ended, m.duration_ms, n.body
		FROM registrations r
		JOIN participations n ON n.player_id = r.player_id AND n.ended > r.since AND n.ended >= $3
		JOIN matches m ON m.id = n.match_id
		WHERE r.channel_id = $1
			AND NOT EXISTS (
				SELECT 1 FROM baselines b
				WHERE b.channel_id = r.channel_id AND b.player_id = r.player_id AND b.match_id = n.match_id)
			AND NOT EXISTS (
				SELECT 1 FROM reported_games g
				WHERE g.channel_id = r.channel_id AND g.match_id = n.match_id AND g.slot <> $2)`,
		[]any{int64(channel), slot, from},
		func(rows *sql.Rows, g *store.Game) error {
			var (
				duration int64
				body     string
			)
			if err := rows.Scan(&g.Player, &g.Match, &g.Platform, &g.Queue, &g.Mode, &g.Map,
				when{&g.Start}, when{&g.End}, &duration, &body); err != nil {
				return err
			}
			g.Duration = time.Duration(duration) * time.Millisecond
			if err := json.Unmarshal([]byte(body), &g.Participant); err != nil {
				return fmt.Errorf("stored participation in %s: %w", g.Match, err)
			}
			return nil
		})
}

// recent fills in the outcomes before the new games, newest first.
func (r runner) recent(ctx context.Context, f *store.Facts, place map[store.PlayerID]int) error {
	before := make([]int64, len(f.Follows))
	for i := range before {
		before[i] = 1 << 62
	}
	for _, g := range f.Games {
		if i := place[g.Player]; ms(g.End) < before[i] {
			before[i] = ms(g.End)
		}
	}
	var (
		values strings.Builder
		args   = []any{recent - 1}
	)
	for i, w := range f.Follows {
		if i > 0 {
			values.WriteByte(',')
		}
		fmt.Fprintf(&values, "(CAST($%d AS BIGINT), CAST($%d AS BIGINT))", len(args)+1, len(args)+2)
		args = append(args, int64(w.Player.ID), before[i])
	}
	// The index holds all that is read, and no more than these rows of it.
	return r.query(ctx, `
		WITH v (player_id, before) AS (VALUES `+values.String()+`)
		SELECT v.player_id, n.outcome
		FROM v JOIN participations n ON n.player_id = v.player_id AND n.ended < v.before
			AND n.ended >= coalesce((
				SELECT o.ended FROM participations o
				WHERE o.player_id = v.player_id AND o.ended < v.before
				ORDER BY o.ended DESC LIMIT 1 OFFSET $1), 0)
		ORDER BY n.player_id, n.ended DESC, n.outcome`, args,
		func(rows *sql.Rows) error {
			var (
				player  store.PlayerID
				outcome uint8
			)
			if err := rows.Scan(&player, &outcome); err != nil {
				return err
			}
			if w := &f.Follows[place[player]]; len(w.Recent) < recent {
				w.Recent = append(w.Recent, outcome)
			}
			return nil
		})
}
