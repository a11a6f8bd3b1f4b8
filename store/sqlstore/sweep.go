package sqlstore

import (
	"context"
	"time"
)

const day = 24 * time.Hour

// retention says what goes when: rows older than keep, to the millisecond
// (DESIGN section 8). Failures are counts of days and go with the reports;
// ranks are kept as long as matches, but the newest and those shown last.
var retention = []struct {
	keep  time.Duration
	query string
}{
	{30 * day, `DELETE FROM servers WHERE gone_at > 0 AND gone_at < $1`},
	{30 * day, `DELETE FROM players WHERE unfollowed_at > 0 AND unfollowed_at < $1`},
	{60 * day, `DELETE FROM matches WHERE ended > 0 AND ended < $1`},
	{60 * day, `DELETE FROM matches WHERE ended = 0 AND seen_at < $1`},
	{60 * day, `DELETE FROM rank_snapshots WHERE at < $1
		AND NOT EXISTS (SELECT 1 FROM shown_ranks h WHERE h.snapshot_id = rank_snapshots.id)
		AND EXISTS (SELECT 1 FROM rank_snapshots n WHERE n.player_id = rank_snapshots.player_id
			AND n.queue = rank_snapshots.queue AND n.id > rank_snapshots.id)`},
	{90 * day, `DELETE FROM reports WHERE slot < $1`},
	{90 * day, `DELETE FROM failures WHERE day < $1`},
	{7 * day, `DELETE FROM reasons WHERE at < $1`},
	{2 * day, `DELETE FROM latencies WHERE at < $1`},
	{day, `DELETE FROM interactions WHERE at < $1`},
}

// Sweep implements store.Records. Rows that go because of another one, such as
// the parts of a report, are not counted.
func (s *Store) Sweep(ctx context.Context, now time.Time) (int64, error) {
	var gone int64
	err := s.change(ctx, "sweep", func(r runner) error {
		gone = 0
		for _, v := range retention {
			n, err := r.exec(ctx, v.query, ms(now.Add(-v.keep)))
			if err != nil {
				return err
			}
			gone += n
		}
		for _, q := range []string{
			// What a body holds goes with it.
			`DELETE FROM report_names WHERE slot < $1`,
			`DELETE FROM report_ranks WHERE slot < $1`,
		} {
			if _, err := r.exec(ctx, q, ms(now.Add(-day))); err != nil {
				return err
			}
		}
		if _, err := r.exec(ctx, `UPDATE parts SET body = $2 WHERE slot < $1 AND body <> $2`, ms(now.Add(-day)), []byte{}); err != nil {
			return err
		}
		// The last channel to follow a player may have gone with its server.
		_, err := r.exec(ctx, `
			UPDATE players SET unfollowed_at = $1
			WHERE unfollowed_at = 0 AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.player_id = players.id)`, ms(now))
		return err
	})
	return gone, err
}
