package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"riftchime/store"
)

const playerColumns = `p.id, p.platform, p.game_name, p.tag_line, p.refreshed_at, p.refreshed_slot,
	p.ranks_at, p.ranks_wanted, p.unfollowed_at`

func playerInto(p *store.Player) []any {
	return []any{
		&p.ID, &p.Platform, &p.GameName, &p.TagLine, when{&p.RefreshedAt}, when{&p.RefreshedSlot},
		when{&p.RanksAt}, &p.RanksWanted, when{&p.UnfollowedAt},
	}
}

func (r runner) player(ctx context.Context, id store.PlayerID) (store.Player, error) {
	var p store.Player
	err := r.row(ctx, `SELECT `+playerColumns+` FROM players p WHERE p.id = $1`, []any{int64(id)}, playerInto(&p)...)
	return p, err
}

// Register implements store.Players.
func (s *Store) Register(
	ctx context.Context, channel store.ChannelID, np store.NewPlayer, since time.Time, baseline []string, most int,
) (store.Player, store.Registered, error) {
	np.GameName, np.TagLine = text(np.GameName), text(np.TagLine)
	var (
		player store.Player
		what   store.Registered
	)
	err := s.change(ctx, "register", func(r runner) error {
		player, what = store.Player{}, 0
		// The lock on the channel makes registrations there one at a time, so
		// that most is never passed.
		var one int
		if err := r.row(ctx, `SELECT 1 FROM channels WHERE id = $1`+s.dialect.ForUpdate, []any{int64(channel)}, &one); err != nil {
			return err
		}
		id, err := r.findPlayer(ctx, np)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var followed, count int
		if err := r.row(ctx, `
			SELECT coalesce(sum(CASE WHEN player_id = $2 THEN 1 ELSE 0 END), 0), count(*)
			FROM registrations WHERE channel_id = $1`, []any{int64(channel), int64(id)}, &followed, &count); err != nil {
			return err
		}
		if followed == 0 && count >= most {
			what = store.RegisteredFull
			if id != 0 {
				player, err = r.player(ctx, id)
				return err
			}
			return nil
		}
		if id, err = r.keepPlayer(ctx, id, np, since); err != nil {
			return err
		}
		what = store.RegisteredAlready
		if followed == 0 {
			what = store.RegisteredNew
			if err := r.follow(ctx, channel, id, np, since, baseline); err != nil {
				return err
			}
		}
		player, err = r.player(ctx, id)
		return err
	})
	if err != nil {
		return store.Player{}, 0, err
	}
	return player, what, nil
}

// findPlayer returns the id of the player that np is, or sql.ErrNoRows. One
// with np's Riot ID but another PUUID under the same key is somebody else, who
// had that Riot ID before.
func (r runner) findPlayer(ctx context.Context, np store.NewPlayer) (store.PlayerID, error) {
	var id store.PlayerID
	err := sql.ErrNoRows
	if np.PUUID != "" {
		err = r.row(ctx, `SELECT player_id FROM puuids WHERE key = $1 AND puuid = $2`, []any{np.Key, np.PUUID}, &id)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = r.row(ctx, `
			SELECT p.id FROM players p
			WHERE p.folded = $1 AND p.platform = $2
				AND NOT EXISTS (SELECT 1 FROM puuids u WHERE u.player_id = p.id AND u.key = $3 AND u.puuid <> $4 AND $4 <> '')
			ORDER BY p.unfollowed_at = 0 DESC, p.id DESC LIMIT 1`,
			[]any{fold(np.GameName, np.TagLine), np.Platform, np.Key, np.PUUID}, &id)
	}
	return id, err
}

// keepPlayer adds the player, or where id is not 0 brings it up to date.
func (r runner) keepPlayer(ctx context.Context, id store.PlayerID, np store.NewPlayer, at time.Time) (store.PlayerID, error) {
	if id == 0 {
		if err := r.row(ctx, `
			INSERT INTO players (platform, game_name, tag_line, folded, refreshed_at, refreshed_slot, ranks_at, ranks_wanted, unfollowed_at)
			VALUES ($1, $2, $3, $4, 0, 0, 0, $5, 0) RETURNING id`,
			[]any{np.Platform, np.GameName, np.TagLine, fold(np.GameName, np.TagLine), false}, &id); err != nil {
			return 0, err
		}
	} else {
		if _, err := r.exec(ctx, `UPDATE players SET platform = $2, unfollowed_at = 0 WHERE id = $1`, int64(id), np.Platform); err != nil {
			return 0, err
		}
		if err := r.setName(ctx, id, np.GameName, np.TagLine, at); err != nil {
			return 0, err
		}
	}
	if np.PUUID == "" {
		return id, nil
	}
	_, err := r.exec(ctx, `INSERT INTO puuids (player_id, key, puuid) VALUES ($1, $2, $3) ON CONFLICT (player_id, key) DO NOTHING`,
		int64(id), np.Key, np.PUUID)
	return id, err
}

// follow registers the player in the channel.
func (r runner) follow(
	ctx context.Context, channel store.ChannelID, id store.PlayerID, np store.NewPlayer, since time.Time, baseline []string,
) error {
	name := store.Player{GameName: np.GameName, TagLine: np.TagLine}.Name()
	if _, err := r.exec(ctx, `INSERT INTO registrations (channel_id, player_id, since, shown_name) VALUES ($1, $2, $3, $4)`,
		int64(channel), int64(id), ms(since), name); err != nil {
		return err
	}
	rows := make([][]any, len(baseline))
	for i, m := range baseline {
		rows[i] = []any{int64(channel), int64(id), m}
	}
	_, err := r.insert(ctx, `INSERT INTO baselines (channel_id, player_id, match_id)`, rows, `ON CONFLICT DO NOTHING`)
	return err
}

// Unregister implements store.Players.
func (s *Store) Unregister(ctx context.Context, channel store.ChannelID, player store.PlayerID, at time.Time) (bool, error) {
	var was bool
	err := s.change(ctx, "unregister", func(r runner) error {
		// The lock on the player makes two channels that let go at the same
		// time see each other.
		var one int
		err := r.row(ctx, `SELECT 1 FROM players WHERE id = $1`+s.dialect.ForUpdate, []any{int64(player)}, &one)
		if errors.Is(err, sql.ErrNoRows) {
			was = false
			return nil
		}
		if err != nil {
			return err
		}
		n, err := r.exec(ctx, `DELETE FROM registrations WHERE channel_id = $1 AND player_id = $2`, int64(channel), int64(player))
		if err != nil {
			return err
		}
		if was = n > 0; !was {
			return nil
		}
		_, err = r.exec(ctx, `
			UPDATE players SET unfollowed_at = $2
			WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.player_id = players.id)`, int64(player), ms(at))
		return err
	})
	return was, err
}

// Registrations implements store.Players. The follows carry their ranks and no
// recent outcomes.
func (s *Store) Registrations(ctx context.Context, channel store.ChannelID) ([]store.Follow, error) {
	var out []store.Follow
	err := s.view(ctx, "registrations", func(r runner) error {
		var err error
		out, err = r.follows(ctx, channel)
		return err
	})
	return out, err
}

// follows lists who is followed in a channel, with ranks.
func (r runner) follows(ctx context.Context, channel store.ChannelID) ([]store.Follow, error) {
	out, err := list(ctx, r, `
		SELECT `+playerColumns+`, r.since, r.shown_name
		FROM registrations r JOIN players p ON p.id = r.player_id
		WHERE r.channel_id = $1 ORDER BY r.id`, []any{int64(channel)},
		func(rows *sql.Rows, f *store.Follow) error {
			return rows.Scan(append(playerInto(&f.Player), when{&f.Since}, &f.ShownName)...)
		})
	if err != nil || len(out) == 0 {
		return out, err
	}
	index := make(map[store.PlayerID]int, len(out))
	for i, f := range out {
		index[f.Player.ID] = i
	}
	pair := func(player store.PlayerID, queue string) *store.RankPair {
		f := &out[index[player]]
		for i := range f.Ranks {
			if f.Ranks[i].Queue == queue {
				return &f.Ranks[i]
			}
		}
		f.Ranks = append(f.Ranks, store.RankPair{Queue: queue})
		return &f.Ranks[len(f.Ranks)-1]
	}
	// Queue by queue, the ranks of now and the ones shown last.
	err = r.query(ctx, `
		WITH `+rankedQueues+`
		SELECT k.player_id, 1 AS which, `+rankColumns+`
		FROM registrations r CROSS JOIN q JOIN rank_snapshots k
			ON k.id = (SELECT max(n.id) FROM rank_snapshots n WHERE n.player_id = r.player_id AND n.queue = q.queue)
		WHERE r.channel_id = $1
		UNION ALL
		SELECT k.player_id, 2, `+rankColumns+`
		FROM shown_ranks h JOIN rank_snapshots k ON k.id = h.snapshot_id
		WHERE h.channel_id = $1
		ORDER BY 4 DESC, 1, 2`, []any{int64(channel)},
		func(rows *sql.Rows) error {
			var (
				player store.PlayerID
				which  int
				rank   store.Rank
			)
			if err := rows.Scan(append([]any{&player, &which}, rankInto(&rank)...)...); err != nil {
				return err
			}
			if p := pair(player, rank.Queue); which == 1 {
				p.Now = &rank
			} else {
				p.Shown = &rank
			}
			return nil
		})
	return out, err
}

// Player implements store.Players.
func (s *Store) Player(ctx context.Context, id store.PlayerID) (store.Player, error) {
	p, err := s.reader().player(ctx, id)
	return p, s.wrap(ctx, "player", err)
}

// PlayerByRiotID implements store.Players. Where two players are known by the
// same Riot ID, one gave it up: the followed and then the newer one is meant.
func (s *Store) PlayerByRiotID(ctx context.Context, platform, gameName, tagLine string) (store.Player, error) {
	var p store.Player
	err := s.reader().row(ctx, `
		SELECT `+playerColumns+` FROM players p
		WHERE p.folded = $1 AND (p.platform = $2 OR $2 = '')
		ORDER BY p.unfollowed_at = 0 DESC, p.id DESC LIMIT 1`,
		[]any{fold(gameName, tagLine), platform}, playerInto(&p)...)
	return p, s.wrap(ctx, "player by Riot ID", err)
}

// PUUID implements store.Players. It says store.ErrNotFound where none is known
// under key.
func (s *Store) PUUID(ctx context.Context, player store.PlayerID, key string) (string, error) {
	var puuid string
	err := s.reader().row(ctx, `SELECT puuid FROM puuids WHERE player_id = $1 AND key = $2`, []any{int64(player), key}, &puuid)
	return puuid, s.wrap(ctx, "puuid", err)
}

// SetPUUID implements store.Players.
func (s *Store) SetPUUID(ctx context.Context, player store.PlayerID, key, puuid string) error {
	return s.change(ctx, "set puuid", func(r runner) error {
		var holder store.PlayerID
		err := r.row(ctx, `SELECT player_id FROM puuids WHERE key = $1 AND puuid = $2`, []any{key, puuid}, &holder)
		switch {
		case err == nil && holder == player:
			return nil
		case err == nil:
			return fmt.Errorf("PUUID of another player: %w", store.ErrTaken)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		_, err = r.exec(ctx, `
			INSERT INTO puuids (player_id, key, puuid) VALUES ($1, $2, $3)
			ON CONFLICT (player_id, key) DO UPDATE SET puuid = excluded.puuid`, int64(player), key, puuid)
		return err
	})
}

// SetName implements store.Players.
func (s *Store) SetName(ctx context.Context, player store.PlayerID, gameName, tagLine string, at time.Time) error {
	return s.change(ctx, "set name", func(r runner) error {
		return r.setName(ctx, player, text(gameName), text(tagLine), at)
	})
}

func (r runner) setName(ctx context.Context, player store.PlayerID, gameName, tagLine string, at time.Time) error {
	p, err := r.player(ctx, player)
	if err != nil || p.GameName == gameName && p.TagLine == tagLine {
		return err
	}
	if _, err := r.exec(ctx, `
		INSERT INTO former_names (player_id, name, at) VALUES ($1, $2, $3)
		ON CONFLICT (player_id, name) DO UPDATE SET at = excluded.at`, int64(player), p.Name(), ms(at)); err != nil {
		return err
	}
	_, err = r.exec(ctx, `UPDATE players SET game_name = $2, tag_line = $3, folded = $4 WHERE id = $1`,
		int64(player), gameName, tagLine, fold(gameName, tagLine))
	return err
}

// SetPlatform implements store.Players.
func (s *Store) SetPlatform(ctx context.Context, player store.PlayerID, platform string) error {
	return s.execOne(ctx, "set platform", `UPDATE players SET platform = $2 WHERE id = $1`, int64(player), platform)
}

// FormerNames implements store.Players: newest first, without the name of now.
func (s *Store) FormerNames(ctx context.Context, player store.PlayerID) ([]string, error) {
	out, err := list(ctx, s.reader(), `
		SELECT f.name FROM former_names f JOIN players p ON p.id = f.player_id
		WHERE f.player_id = $1 AND f.name <> p.game_name || '#' || p.tag_line
		ORDER BY f.at DESC, f.name`, []any{int64(player)},
		func(rows *sql.Rows, name *string) error { return rows.Scan(name) })
	return out, s.wrap(ctx, "former names", err)
}

// Refreshed implements store.Players.
func (s *Store) Refreshed(ctx context.Context, player store.PlayerID, slot, at time.Time, ranksWanted bool) error {
	if !ranksWanted {
		return s.execOne(ctx, "refreshed", `UPDATE players SET refreshed_slot = $2, refreshed_at = $3 WHERE id = $1`,
			int64(player), ms(slot), ms(at))
	}
	return s.execOne(ctx, "refreshed", `UPDATE players SET refreshed_slot = $2, refreshed_at = $3, ranks_wanted = $4 WHERE id = $1`,
		int64(player), ms(slot), ms(at), true)
}

// due lists the players whose ids the query which selects. The keys and PUUIDs
// are put together here and not by one join, for which PostgreSQL without fresh
// statistics was seen to choose a plan a thousand times slower.
func (s *Store) due(ctx context.Context, what, which string, args ...any) ([]store.DuePlayer, error) {
	var out []store.DuePlayer
	err := s.view(ctx, what, func(r runner) error {
		var err error
		out, err = list(ctx, r, `
			SELECT `+playerColumns+`,
				coalesce((SELECT min(g.since) FROM registrations g WHERE g.player_id = p.id), 0),
				coalesce((SELECT max(n.ended) FROM participations n WHERE n.player_id = p.id), 0)
			FROM players p WHERE p.id IN (`+which+`) ORDER BY p.id`, args,
			func(rows *sql.Rows, d *store.DuePlayer) error {
				return rows.Scan(append(playerInto(&d.Player), when{&d.Since}, when{&d.NewestListed})...)
			})
		if err != nil || len(out) == 0 {
			return err
		}
		return r.keys(ctx, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// keys finds the key to ask with for each of due, which is in order of ids. Of
// several it takes one that knows the player; among equals the first, so that
// it is the same one each time.
func (r runner) keys(ctx context.Context, due []store.DuePlayer) error {
	ids := make([]int64, len(due))
	at := make(map[int64]int, len(due))
	for i := range due {
		ids[i] = int64(due[i].ID)
		at[ids[i]] = i
	}
	// each runs query for the due players: for few by their ids, else for all
	// there are.
	each := func(query, by string, f func(rows *sql.Rows) error) error {
		if len(ids) > batch {
			return r.query(ctx, query, nil, f)
		}
		return in(ids, 1, func(places string, args []any) error {
			return r.query(ctx, query+" AND "+by+" IN "+places, args, f)
		})
	}
	type known struct {
		player int64
		key    string
	}
	puuids := make(map[known]string, len(due))
	if err := each(`SELECT u.player_id, u.key, u.puuid FROM puuids u WHERE u.key <> ''`, `u.player_id`, func(rows *sql.Rows) error {
		var (
			k     known
			puuid string
		)
		if err := rows.Scan(&k.player, &k.key, &puuid); err != nil {
			return err
		}
		puuids[k] = puuid
		return nil
	}); err != nil {
		return err
	}
	return each(`
		SELECT DISTINCT g.player_id, s.key
		FROM registrations g
		JOIN channels c ON c.id = g.channel_id
		JOIN servers s ON s.id = c.server_id
		WHERE s.gone_at = 0 AND s.key <> ''`, `g.player_id`, func(rows *sql.Rows) error {
		var k known
		if err := rows.Scan(&k.player, &k.key); err != nil {
			return err
		}
		i, wanted := at[k.player]
		if !wanted {
			return nil
		}
		d, puuid := &due[i], puuids[k]
		better := d.Key == "" || d.PUUID == "" && puuid != ""
		equal := (d.PUUID == "") == (puuid == "")
		if better || equal && k.key < d.Key {
			d.Key, d.PUUID = k.key, puuid
		}
		return nil
	})
}

// DuePlayers implements store.Players: in the order of their ids.
func (s *Store) DuePlayers(ctx context.Context, slot time.Time) ([]store.DuePlayer, error) {
	return s.due(ctx, "due players", `
		SELECT g.player_id
		FROM channels c
		JOIN registrations g ON g.channel_id = c.id
		JOIN players q ON q.id = g.player_id
		WHERE c.next_slot <= $1 AND q.refreshed_slot <> $1 AND `+served, ms(slot))
}

// DuePlayersOf implements store.Players: in the order of their ids.
func (s *Store) DuePlayersOf(ctx context.Context, channel store.ChannelID) ([]store.DuePlayer, error) {
	return s.due(ctx, "due players of a channel", `SELECT g.player_id FROM registrations g WHERE g.channel_id = $1`, int64(channel))
}
