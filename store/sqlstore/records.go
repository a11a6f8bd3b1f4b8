package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"riftchime/store"
)

// AddReasons implements store.Records. The same reason again, at the same time,
// is kept once.
func (s *Store) AddReasons(ctx context.Context, rs []store.Reason) error {
	if len(rs) == 0 {
		return nil
	}
	rows := make([][]any, len(rs))
	for i, v := range rs {
		rows[i] = []any{int64(v.Channel), ms(v.At), ms(v.Slot), int64(v.Player), v.Match, text(v.Code), text(v.Detail)}
	}
	return s.change(ctx, "add reasons", func(r runner) error {
		_, err := r.insert(ctx, `INSERT INTO reasons (channel_id, at, slot, player_id, match_id, code, detail)`, rows,
			`ON CONFLICT DO NOTHING`)
		return err
	})
}

// Reasons implements store.Records.
func (s *Store) Reasons(ctx context.Context, channel store.ChannelID, player store.PlayerID, most int) ([]store.Reason, error) {
	out, err := list(ctx, s.reader(), `
		SELECT channel_id, player_id, match_id, slot, code, detail, at FROM reasons
		WHERE channel_id = $1 AND (player_id = $2 OR $2 = 0)
		ORDER BY at DESC, slot DESC, player_id, match_id, code LIMIT $3`,
		[]any{int64(channel), int64(player), most},
		func(rows *sql.Rows, v *store.Reason) error {
			return rows.Scan(&v.Channel, &v.Player, &v.Match, when{&v.Slot}, &v.Code, &v.Detail, when{&v.At})
		})
	return out, s.wrap(ctx, "reasons", err)
}

// AddLatency implements store.Records. It is kept in whole microseconds.
func (s *Store) AddLatency(ctx context.Context, command string, took time.Duration, at time.Time) error {
	_, err := s.exec(ctx, "add a latency", `INSERT INTO latencies (command, at, took_us) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		command, ms(at), took.Microseconds())
	return err
}

// Latencies implements store.Records: of those at since or later. The standard
// deviation is the sample's, 0 of a single one.
func (s *Store) Latencies(ctx context.Context, since time.Time) (map[string]store.LatencyStats, error) {
	out := map[string]store.LatencyStats{}
	err := s.reader().query(ctx, `
		SELECT command, count(*), sum(CAST(took_us AS DOUBLE PRECISION)),
			sum(CAST(took_us AS DOUBLE PRECISION) * CAST(took_us AS DOUBLE PRECISION))
		FROM latencies WHERE at >= $1 GROUP BY command`, []any{ms(since)},
		func(rows *sql.Rows) error {
			var (
				command      string
				n            int
				sum, squares float64
			)
			if err := rows.Scan(&command, &n, &sum, &squares); err != nil {
				return err
			}
			l := store.LatencyStats{Count: n, Mean: micros(sum / float64(n))}
			if n > 1 {
				l.StdDev = micros(math.Sqrt(max(0, squares-sum*sum/float64(n)) / float64(n-1)))
			}
			out[command] = l
			return nil
		})
	return out, s.wrap(ctx, "latencies", err)
}

func micros(f float64) time.Duration {
	return time.Duration(math.Round(f * float64(time.Microsecond)))
}

// TakeInteraction implements store.Records.
func (s *Store) TakeInteraction(ctx context.Context, id int64, at time.Time) (bool, error) {
	n, err := s.exec(ctx, "take an interaction", `INSERT INTO interactions (id, at) VALUES ($1, $2) ON CONFLICT DO NOTHING`, id, ms(at))
	return n > 0, err
}

// utcDay is the midnight that starts t's day.
func utcDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// CountFailures implements store.Records: it adds to what was counted before.
func (s *Store) CountFailures(ctx context.Context, fs []store.Failure) error {
	sum := map[store.Failure]int{}
	for _, f := range fs {
		n := f.Count
		f.Day, f.Count = utcDay(f.Day), 0
		f.Endpoint, f.Cause = text(f.Endpoint), text(f.Cause)
		sum[f] += n
	}
	if len(sum) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(sum), func(a, b store.Failure) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Cause, b.Cause))
	})
	rows := make([][]any, len(keys))
	for i, f := range keys {
		rows[i] = []any{ms(f.Day), f.Endpoint, f.Cause, sum[f]}
	}
	return s.change(ctx, "count failures", func(r runner) error {
		_, err := r.insert(ctx, `INSERT INTO failures (day, endpoint, cause, failed)`, rows, `
			ON CONFLICT (day, endpoint, cause) DO UPDATE SET failed = failures.failed + excluded.failed`)
		return err
	})
}

// Failures implements store.Records: those of day's UTC day, by endpoint and
// cause.
func (s *Store) Failures(ctx context.Context, day time.Time) ([]store.Failure, error) {
	out, err := list(ctx, s.reader(), `SELECT day, endpoint, cause, failed FROM failures WHERE day = $1`, []any{ms(utcDay(day))},
		func(rows *sql.Rows, f *store.Failure) error {
			return rows.Scan(when{&f.Day}, &f.Endpoint, &f.Cause, &f.Count)
		})
	slices.SortFunc(out, func(a, b store.Failure) int {
		return cmp.Or(cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Cause, b.Cause))
	})
	return out, s.wrap(ctx, "failures", err)
}

// PutChampions implements store.Records.
func (s *Store) PutChampions(ctx context.Context, language, version string, cs []store.Champion, at time.Time) error {
	rows := make([][]any, len(cs))
	for i, c := range cs {
		rows[i] = []any{language, c.ID, text(c.Key), text(c.Name)}
	}
	return s.change(ctx, "put champions", func(r runner) error {
		if _, err := r.exec(ctx, `
			INSERT INTO champion_lists (language, version, at) VALUES ($1, $2, $3)
			ON CONFLICT (language) DO UPDATE SET version = excluded.version, at = excluded.at`,
			language, text(version), ms(at)); err != nil {
			return err
		}
		if _, err := r.exec(ctx, `DELETE FROM champions WHERE language = $1`, language); err != nil {
			return err
		}
		_, err := r.insert(ctx, `INSERT INTO champions (language, id, key, name)`, rows, ``)
		return err
	})
}

// Champions implements store.Records: by id. Where none were put the version is
// "" and that is no error.
func (s *Store) Champions(ctx context.Context, language string) (version string, at time.Time, cs []store.Champion, err error) {
	err = s.view(ctx, "champions", func(r runner) error {
		err := r.row(ctx, `SELECT version, at FROM champion_lists WHERE language = $1`, []any{language}, &version, when{&at})
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		cs, err = list(ctx, r, `SELECT id, key, name FROM champions WHERE language = $1 ORDER BY id`, []any{language},
			func(rows *sql.Rows, c *store.Champion) error { return rows.Scan(&c.ID, &c.Key, &c.Name) })
		return err
	})
	if err != nil {
		return "", time.Time{}, nil, err
	}
	return version, at, cs, nil
}

// Note implements store.Records.
func (s *Store) Note(ctx context.Context, name string) (string, error) {
	var value string
	err := s.reader().row(ctx, `SELECT value FROM notes WHERE name = $1`, []any{name}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.wrap(ctx, "note", err)
}

// PutNote implements store.Records.
func (s *Store) PutNote(ctx context.Context, name, value string) error {
	_, err := s.exec(ctx, "put a note", `
		INSERT INTO notes (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, text(value))
	return err
}

// Counts implements store.Records.
func (s *Store) Counts(ctx context.Context) (store.Counts, error) {
	var c store.Counts
	err := s.reader().row(ctx, `
		SELECT
			(SELECT count(*) FROM servers WHERE gone_at = 0),
			(SELECT count(*) FROM channels c JOIN servers s ON s.id = c.server_id WHERE s.gone_at = 0),
			(SELECT count(*) FROM players WHERE unfollowed_at = 0),
			(SELECT count(*) FROM registrations r JOIN channels c ON c.id = r.channel_id
				JOIN servers s ON s.id = c.server_id WHERE s.gone_at = 0),
			(SELECT count(*) FROM matches)`, nil,
		&c.Servers, &c.Channels, &c.Players, &c.Registrations, &c.Matches)
	return c, s.wrap(ctx, "counts", err)
}
