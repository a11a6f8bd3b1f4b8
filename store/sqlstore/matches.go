package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"riftchime/store"
)

// listed is what is known of a match that a player's list shows.
type listed struct {
	state store.MatchState
	tries int
	ended int64
	// sameKey: its body was read under the key that is asked with.
	sameKey bool
	// taken: the player's participation is there.
	taken bool
}

func (r runner) listed(ctx context.Context, player store.PlayerID, key string, ids []string) (map[string]listed, error) {
	known := make(map[string]listed, len(ids))
	err := in(ids, 3, func(places string, args []any) error {
		return r.query(ctx, `
			SELECT m.id, m.state, m.tries, m.ended, m.key = $2,
				EXISTS (SELECT 1 FROM participations p WHERE p.player_id = $1 AND p.match_id = m.id)
			FROM matches m WHERE m.id IN `+places, append([]any{int64(player), key}, args...),
			func(rows *sql.Rows) error {
				var (
					id string
					l  listed
				)
				if err := rows.Scan(&id, &l.state, &l.tries, &l.ended, &l.sameKey, &l.taken); err != nil {
					return err
				}
				known[id] = l
				return nil
			})
	})
	return known, err
}

// fill lists the matches of known whose body should hold the player but whose
// participation is not there.
func fill(ids []string, known map[string]listed) []string {
	var out []string
	for _, id := range ids {
		if l := known[id]; l.state == store.MatchRead && l.sameKey && !l.taken {
			out = append(out, id)
		}
	}
	return out
}

// Listed implements store.Matches. The order is that of ids.
func (s *Store) Listed(
	ctx context.Context, player store.PlayerID, key string, ids []string, at time.Time,
) ([]store.MatchToRead, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	const what = "listed matches"
	var (
		known map[string]listed
		out   []store.MatchToRead
	)
	// Most lists show nothing new: those are only read.
	err := s.view(ctx, what, func(r runner) error {
		var err error
		if known, err = r.listed(ctx, player, key, ids); err != nil {
			return err
		}
		out, err = r.toRead(ctx, player, ids, known)
		return err
	})
	if err != nil {
		return nil, err
	}
	news := false
	for _, id := range ids {
		_, there := known[id]
		news = news || !there
	}
	if !news && len(fill(ids, known)) == 0 {
		return out, nil
	}
	err = s.change(ctx, what, func(r runner) error {
		rows := make([][]any, 0, len(ids))
		for _, id := range ids {
			if _, there := known[id]; !there {
				rows = append(rows, []any{id, int(store.MatchWanted), 0, ms(at), ms(at), "", 0, "", 0, 0, 0, 0, "", ""})
			}
		}
		if _, err := r.insert(ctx, insertMatch, rows, `ON CONFLICT DO NOTHING`); err != nil {
			return err
		}
		now, err := r.listed(ctx, player, key, ids)
		if err != nil {
			return err
		}
		if err := r.fill(ctx, player, key, fill(ids, now)); err != nil {
			return err
		}
		out, err = r.toRead(ctx, player, ids, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

const insertMatch = `INSERT INTO matches (id, state, tries, state_at, seen_at, platform, queue, mode, map,
	started, ended, duration_ms, key, body)`

// toRead picks what is to be fetched for the player.
func (r runner) toRead(
	ctx context.Context, player store.PlayerID, ids []string, known map[string]listed,
) ([]store.MatchToRead, error) {
	var out []store.MatchToRead
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		l, there := known[id]
		if seen[id] || !there {
			continue
		}
		seen[id] = true
		switch {
		case l.state == store.MatchWanted,
			l.state == store.MatchAbsent && l.tries < store.MaxAbsentTries,
			l.state == store.MatchRead && !l.sameKey && !l.taken:
			out = append(out, store.MatchToRead{ID: id, Tries: l.tries})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	// What no registration of the player can report need not be fetched.
	var since int64
	if err := r.row(ctx, `SELECT coalesce(min(since), 0) FROM registrations WHERE player_id = $1`,
		[]any{int64(player)}, &since); err != nil {
		return nil, err
	}
	never := map[string]bool{}
	if err := r.query(ctx, `
		SELECT b.match_id
		FROM registrations r JOIN baselines b ON b.channel_id = r.channel_id AND b.player_id = r.player_id
		WHERE r.player_id = $1
		GROUP BY b.match_id
		HAVING count(*) = (SELECT count(*) FROM registrations WHERE player_id = $1)`, []any{int64(player)},
		func(rows *sql.Rows) error {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			never[id] = true
			return nil
		}); err != nil {
		return nil, err
	}
	kept := out[:0]
	for _, m := range out {
		if ended := known[m.ID].ended; !never[m.ID] && (ended == 0 || ended >= since) {
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// fill adds the player's participations in matches that were read under key.
func (r runner) fill(ctx context.Context, player store.PlayerID, key string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var puuid string
	err := r.row(ctx, `SELECT puuid FROM puuids WHERE player_id = $1 AND key = $2`, []any{int64(player), key}, &puuid)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var (
		rows   [][]any
		ranked bool
	)
	err = in(ids, 1, func(places string, args []any) error {
		return r.query(ctx, `SELECT m.id, m.ended, m.queue, m.body FROM matches m WHERE m.id IN `+places, args, func(found *sql.Rows) error {
			var (
				id, body string
				ended    int64
				queue    int
			)
			if err := found.Scan(&id, &ended, &queue, &body); err != nil {
				return err
			}
			all, err := participants(id, body)
			if err != nil {
				return err
			}
			for _, p := range all {
				if p.PUUID != puuid {
					continue
				}
				row, err := participation(player, id, ended, p)
				if err != nil {
					return err
				}
				rows = append(rows, row)
				ranked = ranked || movesRank(queue, p)
				break
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if ranked {
		if _, err := r.exec(ctx, `UPDATE players SET ranks_wanted = $2 WHERE id = $1`, int64(player), true); err != nil {
			return err
		}
	}
	return r.participate(ctx, rows)
}

// movesRank reports whether a game changes its player's wins and losses in a
// ranked queue: solo (420) or flex (440), and no remake.
func movesRank(queue int, p store.Participant) bool {
	return (queue == 420 || queue == 440) && p.Outcome != store.OutcomeRemake
}

func participants(match, body string) ([]store.Participant, error) {
	var all []store.Participant
	if body == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		return nil, fmt.Errorf("stored match %s: %w", match, err)
	}
	return all, nil
}

// participation is the row of a player's part in a match.
func participation(player store.PlayerID, match string, ended int64, p store.Participant) ([]any, error) {
	p.PUUID = ""
	body, err := json.Marshal(p)
	return []any{int64(player), match, ended, int(p.Outcome), string(body)}, err
}

func (r runner) participate(ctx context.Context, rows [][]any) error {
	_, err := r.insert(ctx, `INSERT INTO participations (player_id, match_id, ended, outcome, body)`, rows, `ON CONFLICT DO NOTHING`)
	return err
}

// PutMatch implements store.Matches.
func (s *Store) PutMatch(ctx context.Context, m store.Match, at time.Time) error {
	what := "put match " + m.ID
	body, err := json.Marshal(m.Participants)
	if err != nil {
		return s.wrap(ctx, what, err)
	}
	byPUUID := make(map[string]store.Participant, len(m.Participants))
	var puuids []string
	for _, p := range m.Participants {
		if _, double := byPUUID[p.PUUID]; p.PUUID != "" && !p.Bot && !double {
			byPUUID[p.PUUID] = p
			puuids = append(puuids, p.PUUID)
		}
	}
	return s.change(ctx, what, func(r runner) error {
		_, err := r.insert(ctx, insertMatch, [][]any{{
			m.ID, int(store.MatchRead), 0, ms(at), ms(at), m.Platform, m.Queue, text(m.Mode), m.Map,
			ms(m.Start), ms(m.End), m.Duration.Milliseconds(), m.Key, string(body),
		}}, `
			ON CONFLICT (id) DO UPDATE SET
				state = excluded.state, state_at = excluded.state_at, platform = excluded.platform,
				queue = excluded.queue, mode = excluded.mode, map = excluded.map, started = excluded.started,
				ended = excluded.ended, duration_ms = excluded.duration_ms, key = excluded.key, body = excluded.body
			WHERE matches.state <> excluded.state`)
		if err != nil {
			return err
		}
		var (
			rows   [][]any
			ended  int64
			ranked []string // ids of players; numbers only
		)
		err = in(puuids, 3, func(places string, args []any) error {
			return r.query(ctx, `
				SELECT u.player_id, u.puuid, m.ended
				FROM puuids u JOIN players p ON p.id = u.player_id JOIN matches m ON m.id = $2
				WHERE u.key = $1 AND p.unfollowed_at = 0 AND u.puuid IN `+places, append([]any{m.Key, m.ID}, args...),
				func(found *sql.Rows) error {
					var (
						player store.PlayerID
						puuid  string
					)
					if err := found.Scan(&player, &puuid, &ended); err != nil {
						return err
					}
					row, err := participation(player, m.ID, ended, byPUUID[puuid])
					rows = append(rows, row)
					if movesRank(m.Queue, byPUUID[puuid]) {
						ranked = append(ranked, strconv.FormatInt(int64(player), 10))
					}
					return err
				})
		})
		if err != nil {
			return err
		}
		if len(ranked) > 0 {
			// Only those to whom the game is news.
			if _, err := r.exec(ctx, `
				UPDATE players SET ranks_wanted = $2
				WHERE id IN (`+strings.Join(ranked, ", ")+`)
					AND NOT EXISTS (SELECT 1 FROM participations p WHERE p.player_id = players.id AND p.match_id = $1)`,
				m.ID, true); err != nil {
				return err
			}
		}
		return r.participate(ctx, rows)
	})
}

// MatchFailed implements store.Matches. The same at twice counts one try, and
// a match that was read stays so.
func (s *Store) MatchFailed(ctx context.Context, id string, state store.MatchState, at time.Time) error {
	what := "match " + id + " failed"
	tries := 0
	switch state {
	case store.MatchAbsent:
		tries = 1
	case store.MatchForbidden, store.MatchEmpty:
	default:
		return s.wrap(ctx, what, fmt.Errorf("state %d is not one of a failed match", state))
	}
	return s.change(ctx, what, func(r runner) error {
		_, err := r.insert(ctx, insertMatch,
			[][]any{{id, int(state), tries, ms(at), ms(at), "", 0, "", 0, 0, 0, 0, "", ""}}, `
			ON CONFLICT (id) DO UPDATE SET
				state = excluded.state, state_at = excluded.state_at,
				tries = CASE WHEN matches.state = excluded.state AND matches.state_at = excluded.state_at
					THEN matches.tries ELSE matches.tries + excluded.tries END
			WHERE matches.state <> 2`) // A match read: store.MatchRead.
		return err
	})
}

// MatchStates implements store.Matches.
func (s *Store) MatchStates(ctx context.Context, ids []string) (map[string]store.MatchState, error) {
	states := make(map[string]store.MatchState, len(ids))
	err := in(ids, 1, func(places string, args []any) error {
		return s.reader().query(ctx, `SELECT m.id, m.state FROM matches m WHERE m.id IN `+places, args, func(rows *sql.Rows) error {
			var (
				id    string
				state store.MatchState
			)
			if err := rows.Scan(&id, &state); err != nil {
				return err
			}
			states[id] = state
			return nil
		})
	})
	return states, s.wrap(ctx, "match states", err)
}
