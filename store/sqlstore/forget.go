package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"riftchime/store"
)

// Forget implements store.Players. Besides the player's own rows, the player's
// names and PUUIDs leave the bodies of all matches, and the bodies of reports
// that may show them: a report of which nothing was sent is planned anew, and
// the parts of one under way are left with an empty body.
func (s *Store) Forget(ctx context.Context, player store.PlayerID) error {
	const what = "forget a player"
	var (
		who     identity
		matches []string
	)
	// The long part, reading every match, is done without holding up writers.
	if err := s.view(ctx, what, func(r runner) error {
		var err error
		if who, err = r.identity(ctx, player); err != nil {
			return err
		}
		matches, err = r.matchesWith(ctx, who)
		return err
	}); err != nil {
		return err
	}
	if err := s.change(ctx, what, func(r runner) error {
		// Once more: it may have been renamed since.
		now, err := r.identity(ctx, player)
		if err != nil {
			return err
		}
		who = now
		if err := r.forgetReports(ctx, player); err != nil {
			return err
		}
		if err := r.forgetInMatches(ctx, who, matches); err != nil {
			return err
		}
		for _, q := range []string{
			`DELETE FROM reasons WHERE player_id = $1`,
			`DELETE FROM players WHERE id = $1`, // Takes all that refers to it along.
		} {
			if _, err := r.exec(ctx, q, int64(player)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	// Matches that came in meanwhile.
	if err := s.view(ctx, what, func(r runner) error {
		var err error
		matches, err = r.matchesWith(ctx, who)
		return err
	}); err != nil || len(matches) == 0 {
		return err
	}
	return s.change(ctx, what, func(r runner) error { return r.forgetInMatches(ctx, who, matches) })
}

// identity is all that tells a player in the body of a match.
type identity struct {
	puuids []string
	// names are Riot IDs, folded.
	names []string
}

func (r runner) identity(ctx context.Context, player store.PlayerID) (identity, error) {
	var who identity
	p, err := r.player(ctx, player)
	if err != nil {
		return who, err
	}
	one := func(rows *sql.Rows, v *string) error { return rows.Scan(v) }
	if who.puuids, err = list(ctx, r, `SELECT puuid FROM puuids WHERE player_id = $1`, []any{int64(player)}, one); err != nil {
		return who, err
	}
	former, err := list(ctx, r, `SELECT name FROM former_names WHERE player_id = $1`, []any{int64(player)}, one)
	who.names = append(who.names, fold(p.GameName, p.TagLine))
	for _, name := range former {
		if i := strings.LastIndexByte(name, '#'); i >= 0 {
			who.names = append(who.names, fold(name[:i], name[i+1:]))
		}
	}
	return who, err
}

// erase takes who out of all and reports whether that changed anything.
func (who identity) erase(all []store.Participant) bool {
	found := false
	for i := range all {
		p := &all[i]
		if p.PUUID != "" && slices.Contains(who.puuids, p.PUUID) ||
			p.GameName != "" && slices.Contains(who.names, fold(p.GameName, p.TagLine)) {
			p.PUUID, p.GameName, p.TagLine = "", "", ""
			found = true
		}
	}
	return found
}

// matchesWith lists the matches whose body holds who, whether or not the store
// knows of a participation: letter case does not count in a Riot ID, and a body
// may have been read under another key, so they are all looked at.
func (r runner) matchesWith(ctx context.Context, who identity) ([]string, error) {
	var ids []string
	err := r.query(ctx, `SELECT m.id, m.body FROM matches m WHERE m.body <> ''`, nil, func(rows *sql.Rows) error {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return err
		}
		all, err := participants(id, body)
		if err == nil && who.erase(all) {
			ids = append(ids, id)
		}
		return err
	})
	return ids, err
}

// forgetInMatches takes who out of the bodies of the matches given.
func (r runner) forgetInMatches(ctx context.Context, who identity, ids []string) error {
	bodies := make(map[string]string, len(ids))
	if err := in(ids, 1, func(places string, args []any) error {
		return r.query(ctx, `SELECT m.id, m.body FROM matches m WHERE m.id IN `+places, args, func(rows *sql.Rows) error {
			var id, body string
			if err := rows.Scan(&id, &body); err != nil {
				return err
			}
			all, err := participants(id, body)
			if err != nil || !who.erase(all) {
				return err
			}
			erased, err := json.Marshal(all)
			bodies[id] = string(erased)
			return err
		})
	}); err != nil {
		return err
	}
	for id, body := range bodies {
		if _, err := r.exec(ctx, `UPDATE matches SET body = $2 WHERE id = $1`, id, body); err != nil {
			return err
		}
	}
	return nil
}

// forgetReports empties the bodies of the reports that may show the player.
func (r runner) forgetReports(ctx context.Context, player store.PlayerID) error {
	type report struct{ channel, slot int64 }
	reports, err := list(ctx, r, `
		SELECT t.channel_id, t.slot FROM reports t
		WHERE EXISTS (SELECT 1 FROM parts a WHERE a.channel_id = t.channel_id AND a.slot = t.slot AND a.body <> $2)
			AND (EXISTS (SELECT 1 FROM registrations r WHERE r.channel_id = t.channel_id AND r.player_id = $1)
				OR EXISTS (SELECT 1 FROM report_names n WHERE n.channel_id = t.channel_id AND n.slot = t.slot AND n.player_id = $1)
				OR EXISTS (SELECT 1 FROM report_ranks k WHERE k.channel_id = t.channel_id AND k.slot = t.slot AND k.player_id = $1)
				OR EXISTS (SELECT 1 FROM reported_games g JOIN participations n ON n.match_id = g.match_id
					WHERE g.channel_id = t.channel_id AND g.slot = t.slot AND n.player_id = $1))
		ORDER BY t.channel_id, t.slot`,
		[]any{int64(player), []byte{}},
		func(rows *sql.Rows, v *report) error { return rows.Scan(&v.channel, &v.slot) })
	if err != nil {
		return err
	}
	for _, v := range reports {
		// Only while it is still ready: Claim may come in between.
		n, err := r.exec(ctx, `UPDATE reports SET state = 1 WHERE channel_id = $1 AND slot = $2 AND state = 2`, v.channel, v.slot)
		if err != nil {
			return err
		}
		if n > 0 {
			err = r.unready(ctx, store.ChannelID(v.channel), v.slot)
		} else {
			_, err = r.exec(ctx, `UPDATE parts SET body = $3 WHERE channel_id = $1 AND slot = $2`, v.channel, v.slot, []byte{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
