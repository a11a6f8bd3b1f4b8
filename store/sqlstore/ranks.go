package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"riftchime/store"
)

const rankColumns = `k.id, k.queue, k.tier, k.division, k.lp, k.wins, k.losses, k.at`

func rankInto(k *store.Rank) []any {
	return []any{&k.ID, &k.Queue, &k.Tier, &k.Division, &k.LP, &k.Wins, &k.Losses, when{&k.At}}
}

// rankedQueues is a CTE of the queues that are kept. By them the newest snapshot
// is found with one look into the index, however many there are.
const rankedQueues = `q (queue) AS (VALUES ('` + store.QueueSolo + `'), ('` + store.QueueFlex + `'))`

// newestRanks lists the newest snapshot of each queue, solo before flex.
func (r runner) newestRanks(ctx context.Context, player store.PlayerID) ([]store.Rank, error) {
	return list(ctx, r, `
		WITH `+rankedQueues+`
		SELECT `+rankColumns+` FROM q JOIN rank_snapshots k
			ON k.id = (SELECT max(n.id) FROM rank_snapshots n WHERE n.player_id = $1 AND n.queue = q.queue)
		ORDER BY k.queue DESC`, []any{int64(player)},
		func(rows *sql.Rows, k *store.Rank) error { return rows.Scan(rankInto(k)...) })
}

// PutRanks implements store.Matches.
func (s *Store) PutRanks(
	ctx context.Context, player store.PlayerID, ranks []store.Rank, at time.Time,
) (before, after []store.Rank, err error) {
	err = s.change(ctx, "put ranks", func(r runner) error {
		// This also locks the player, so that two readings do not both add.
		n, err := r.exec(ctx, `UPDATE players SET ranks_at = $2, ranks_wanted = $3 WHERE id = $1`, int64(player), ms(at), false)
		if err != nil {
			return err
		}
		if n == 0 {
			return store.ErrNotFound
		}
		if before, err = r.newestRanks(ctx, player); err != nil {
			return err
		}
		rows := changed(before, ranks, func(k store.Rank) []any {
			return []any{int64(player), k.Queue, k.Tier, k.Division, k.LP, k.Wins, k.Losses, ms(at)}
		})
		if len(rows) == 0 {
			after = slices.Clone(before)
			return nil
		}
		if _, err := r.insert(ctx, `INSERT INTO rank_snapshots (player_id, queue, tier, division, lp, wins, losses, at)`, rows, ``); err != nil {
			return err
		}
		after, err = r.newestRanks(ctx, player)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return before, after, nil
}

// changed makes rows of those ranks that differ from before. A queue that was
// left out is unranked; one that RiftChime does not know is not kept.
func changed(before, ranks []store.Rank, row func(store.Rank) []any) [][]any {
	var rows [][]any
	for _, queue := range []string{store.QueueSolo, store.QueueFlex} {
		is := func(k store.Rank) bool { return k.Queue == queue }
		read := store.Rank{Queue: queue}
		if i := slices.IndexFunc(ranks, is); i >= 0 {
			read = ranks[i]
		}
		i := slices.IndexFunc(before, is)
		if i >= 0 {
			read.ID, read.At = before[i].ID, before[i].At
		}
		if i < 0 || read != before[i] {
			rows = append(rows, row(read))
		}
	}
	return rows
}

// ShowRanks implements store.Matches. For a player who is not followed there it
// does nothing.
func (s *Store) ShowRanks(ctx context.Context, channel store.ChannelID, player store.PlayerID) error {
	_, err := s.exec(ctx, "show ranks", `
		INSERT INTO shown_ranks (channel_id, player_id, queue, snapshot_id)
		SELECT r.channel_id, r.player_id, k.queue, max(k.id)
		FROM registrations r JOIN rank_snapshots k ON k.player_id = r.player_id
		WHERE r.channel_id = $1 AND r.player_id = $2
		GROUP BY r.channel_id, r.player_id, k.queue
		ON CONFLICT DO NOTHING`, int64(channel), int64(player))
	return err
}
