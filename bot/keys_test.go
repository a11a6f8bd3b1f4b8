package bot

import (
	"log/slog"
	"testing"
	"time"

	"riftchime/bot/hour"
	"riftchime/riot"
	"riftchime/store"
)

// TestMoveServers: the servers of a key that stays refused go to the key with
// the fewest players; with nowhere to go, or only for a while, they stay.
func TestMoveServers(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	db := open(t)
	b := &Bot{o: Options{Store: db}, log: slog.New(slog.DiscardHandler), hour: hour.New(hour.Options{})}
	ctx := t.Context()
	add := func(id int64, key string, players ...string) {
		t.Helper()
		if err := db.PutServer(ctx, store.Server{ID: store.ServerID(id), Name: "s", Locale: "ko", Key: key, JoinedAt: now}); err != nil {
			t.Fatal(err)
		}
		c := store.Channel{ID: store.ChannelID(id * 10), Server: store.ServerID(id), Zone: "UTC", Language: "ko", Hours: 1, Quiet: true, CreatedAt: now}
		if err := db.PutChannel(ctx, c); err != nil {
			t.Fatal(err)
		}
		for _, p := range players {
			if _, _, err := db.Register(ctx, c.ID, store.NewPlayer{Platform: "kr", GameName: p, TagLine: "KR1", Key: key, PUUID: p + key}, now, nil, 50); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(1, "dead", "a", "b")
	add(2, "dead", "c")
	add(3, "full", "d", "e", "f", "g", "h")
	add(4, "idle", "i")
	add(5, "gone", "j")
	check := func(what string, want ...string) {
		t.Helper()
		for i, w := range want {
			s, err := db.Server(ctx, store.ServerID(i+1))
			if err != nil {
				t.Fatal(err)
			}
			if s.Key != w {
				t.Errorf("%s: server %d has the key %q, want %q", what, i+1, s.Key, w)
			}
		}
	}
	move := func(keys ...riot.KeyHealth) {
		t.Helper()
		if err := b.moveServers(ctx, keys, now); err != nil {
			t.Fatal(err)
		}
	}
	since := func(d time.Duration) time.Time { return now.Add(-d) }
	move(riot.KeyHealth{Fingerprint: "dead", Refused: true, Since: since(time.Hour)}, riot.KeyHealth{Fingerprint: "full", Refused: true, Since: since(time.Hour)})
	check("no key works", "dead", "dead", "full", "idle", "gone")
	move(riot.KeyHealth{Fingerprint: "dead", Refused: true, Since: since(14 * time.Minute)}, riot.KeyHealth{Fingerprint: "full"},
		riot.KeyHealth{Fingerprint: "idle"}, riot.KeyHealth{Fingerprint: "gone"})
	check("refused for a while", "dead", "dead", "full", "idle", "gone")
	move(riot.KeyHealth{Fingerprint: "dead", Refused: true, Since: since(15 * time.Minute)}, riot.KeyHealth{Fingerprint: "full"}, riot.KeyHealth{Fingerprint: "idle"})
	check("dead, and one no longer given", "idle", "idle", "full", "idle", "idle")
}
