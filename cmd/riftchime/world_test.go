package main_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/riot/riottest"
	"riftchime/store"
	"riftchime/store/postgres"
	"riftchime/store/sqlite"
)

// world is a Riot and a Discord in the test's own process, which the program
// reaches over the loopback.
type world struct {
	t          *testing.T
	riot       *riottest.Server
	riotURL    string
	discord    *discordtest.Server
	discordURL string
}

func newWorld(t *testing.T, r riottest.Options, d discordtest.Options) *world {
	t.Helper()
	if r.Keys == nil {
		r.Keys = []string{key}
	}
	if d.Token == "" {
		d.Token = token
	}
	w := &world{t: t, riot: riottest.NewServer(r), discord: discordtest.New(d)}
	server := httptest.NewServer(w.riot)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	w.riotURL = server.URL
	var err error
	if w.discordURL, err = w.discord.Start(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.discord.Close() })
	return w
}

// settings are those of a program in this world.
func (w *world) settings(databaseURL string) settings {
	return settings{
		"DISCORD_TOKEN": token, "RIOT_API_KEY": key, "DATABASE_URL": databaseURL, "LISTEN_ADDR": "127.0.0.1:0",
		"DISCORD_API_URL": w.discordURL, "RIOT_API_URL": w.riotURL + "/{route}", "DDRAGON_URL": w.riotURL + "/ddragon",
	}
}

// players adds n players of the platform.
func (w *world) players(n int) []riottest.PlayerID {
	w.t.Helper()
	ids := make([]riottest.PlayerID, n)
	for i := range ids {
		var err error
		if ids[i], err = w.riot.AddPlayer(riottest.Player{GameName: fmt.Sprintf("Player %d", i+1), TagLine: "EUW", Platform: "euw1"}); err != nil {
			w.t.Fatal(err)
		}
	}
	return ids
}

// score is the K/D/A by which the nth game is known again. All are different.
func score(n int) riottest.Score {
	return riottest.Score{Kills: n % 50, Deaths: 1 + n/50%50, Assists: 1 + n/2500, CS: 100}
}

// kda is how a report writes score(n).
func kda(n int) string {
	s := score(n)
	return fmt.Sprintf("%d/%d/%d", s.Kills, s.Deaths, s.Assists)
}

// play has the player play the nth game, which ends now.
func (w *world) play(player riottest.PlayerID, n int) {
	w.t.Helper()
	s := score(n)
	if _, err := w.riot.AddGame(riottest.Game{Queue: 400, Seats: []riottest.Seat{{Player: player, Result: riottest.Win, Score: &s}}}); err != nil {
		w.t.Fatal(err)
	}
}

// openDatabase opens a database outside of the program.
func openDatabase(t *testing.T, databaseURL string) store.Store {
	t.Helper()
	var db store.Store
	var err error
	if file, ok := strings.CutPrefix(databaseURL, "sqlite:"); ok {
		db, err = sqlite.Open(t.Context(), file, sqlite.Options{})
	} else {
		db, err = postgres.Open(t.Context(), databaseURL, postgres.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// serverID and channelID are ids of Discord's: two channels on a server.
func serverID(i int) int64  { return 1e17 + int64(i/2) }
func channelID(i int) int64 { return 2e17 + int64(i) }

func channelName(i int) string { return strconv.FormatInt(channelID(i), 10) }

// follow registers players in channels, two on a server: the ith channel follows
// those that players returns. All chime each hour.
func (w *world) follow(databaseURL string, hour time.Duration, channels int, players func(i int) []riottest.PlayerID) {
	t := w.t
	t.Helper()
	ctx := t.Context()
	db := openDatabase(t, databaseURL)
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	fingerprint := string(riot.FingerprintOf(key))
	for i := range channels {
		server := strconv.FormatInt(serverID(i), 10)
		if i%2 == 0 {
			if err := db.PutServer(ctx, store.Server{ID: store.ServerID(serverID(i)), Name: "server " + server, Locale: "en-US", Key: fingerprint, JoinedAt: now}); err != nil {
				t.Fatal(err)
			}
			g := discordtest.Guild{ID: server, Name: "server " + server, OwnerID: "1"}
			for c := i; c < min(i+2, channels); c++ {
				g.Channels = append(g.Channels, discordtest.Channel{ID: channelName(c), Name: "games"})
			}
			w.discord.AddGuild(g)
		}
		if err := db.PutChannel(ctx, store.Channel{
			ID: store.ChannelID(channelID(i)), Server: store.ServerID(serverID(i)), Zone: "UTC", Language: "en",
			Hours: uint32(schedule.All), Quiet: true, NextSlot: schedule.Clock{Hour: hour}.Next(now, schedule.All, time.UTC), CreatedAt: now,
		}); err != nil {
			t.Fatal(err)
		}
		for _, p := range players(i) {
			known, _ := w.riot.Player(p)
			if _, _, err := db.Register(ctx, store.ChannelID(channelID(i)), store.NewPlayer{
				Platform: known.Platform, GameName: known.GameName, TagLine: known.TagLine, Key: fingerprint, PUUID: w.riot.PUUID(key, p),
			}, now, nil, 50); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// boundary is the first boundary of hours after at.
func boundary(at time.Time, hour time.Duration) time.Time {
	return schedule.Clock{Hour: hour}.Next(at, schedule.All, time.UTC)
}

// early waits for the first fifth of an hour, so that what follows is done
// before its fetching begins, and returns the hour's end.
func early(t *testing.T, hour time.Duration) time.Time {
	t.Helper()
	end := boundary(time.Now(), hour)
	if time.Until(end) < hour*4/5 {
		until(t, end.Add(50*time.Millisecond))
		end = end.Add(hour)
	}
	return end
}

// post is a message that the program posted, as the report of a slot.
type post struct {
	slot    time.Time
	arrived time.Time
	text    string
}

var kdas = regexp.MustCompile(`\b\d+/\d+/\d+\b`)

// games are the K/D/As that it tells.
func (p post) games() []string { return kdas.FindAllString(p.text, -1) }

// posts reads a channel's messages. One that is not a report fails the test.
func posts(t *testing.T, messages []discordtest.Message) []post {
	t.Helper()
	var all []post
	for _, m := range messages {
		if len(m.Embeds) == 0 {
			t.Errorf("channel %s: a message without embeds: %q", m.Channel, m.Content)
			continue
		}
		slot, err := time.Parse(time.RFC3339, m.Embeds[0].Timestamp)
		if err != nil {
			t.Errorf("channel %s: the embed's timestamp: %v", m.Channel, err)
		}
		var text strings.Builder
		for _, e := range m.Embeds {
			text.WriteString(e.Title + "\n" + e.Description + "\n")
			for _, f := range e.Fields {
				text.WriteString(f.Name + "\n" + f.Value + "\n")
			}
		}
		all = append(all, post{slot: slot, arrived: m.Arrived, text: text.String()})
	}
	return all
}

// posts are those of the ith channel, oldest first.
func (w *world) posts(i int) []post {
	w.t.Helper()
	return posts(w.t, w.discord.Messages(channelName(i)))
}

// toldOnce counts, in the ith channel, the games of want that were told more than
// once or never, slots with more than one message, and what nobody played.
func (w *world) toldOnce(i int, want []string) (doubles, losses int) {
	w.t.Helper()
	told, slots := map[string]int{}, map[int64]int{}
	for _, p := range w.posts(i) {
		if slots[p.slot.UnixMilli()]++; slots[p.slot.UnixMilli()] > 1 {
			doubles++
			w.t.Errorf("channel %d: message %d of slot %s", i, slots[p.slot.UnixMilli()], p.slot.Format("15:04:05"))
		}
		if p.arrived.Before(p.slot) {
			w.t.Errorf("channel %d: the report of %s came %s early", i, p.slot.Format("15:04:05"), p.slot.Sub(p.arrived))
		}
		for _, g := range p.games() {
			told[g]++
			if !slices.Contains(want, g) {
				w.t.Errorf("channel %d: game %s is told, and nobody who is followed there played it", i, g)
			}
		}
	}
	for _, g := range want {
		switch n := told[g]; {
		case n == 0:
			losses++
			w.t.Errorf("channel %d: game %s is lost", i, g)
		case n > 1:
			doubles++
			w.t.Errorf("channel %d: game %s is told %d times", i, g, n)
		}
	}
	if doubles+losses > 0 {
		for _, p := range w.posts(i) {
			w.t.Logf("channel %d: the report of %s came at %s and tells %v", i, p.slot.Format("05.000"), p.arrived.Format("05.000"), p.games())
		}
	}
	return doubles, losses
}

// orderly checks that the program, however often it was killed, kept Riot's
// limits and Discord's rules.
func (w *world) orderly() {
	w.t.Helper()
	if st := w.riot.Stats(); st.Refusals() > 0 || st.UnknownPaths > 0 {
		w.t.Errorf("Riot refused %v, %d paths that do not exist", st.Refused, st.UnknownPaths)
	}
	st := w.discord.Stats()
	for name, n := range st.ViolationCounts {
		w.t.Errorf("%d times against Discord's rule %s: %+v", n, name, st.Violations)
	}
	if st.Global429+st.Bucket429 > 0 {
		w.t.Errorf("Discord refused %d requests globally, %d by bucket", st.Global429, st.Bucket429)
	}
}

// databases are the kinds that the program keeps its data in; each call is
// another one, empty.
var databases = []struct {
	name string
	url  func(*testing.T) string
}{
	{"sqlite", sqliteURL},
	{"postgres", postgresURL},
}

// testDatabase is the PostgreSQL that the tests use. Without one they fail: a
// test that was not run must not look like one that passed.
func testDatabase(t *testing.T) string {
	t.Helper()
	u := os.Getenv("TEST_DATABASE_URL")
	if u == "" {
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, which starts a PostgreSQL of its own, or name one there")
	}
	return u
}

// postgresURL is the address of a schema of the test's own.
func postgresURL(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testDatabase(t))
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		t.Fatal("TEST_DATABASE_URL must look like postgres://user@host/database")
	}
	name := "process_" + strings.ToLower(rand.Text())
	statement(t, testDatabase(t), `CREATE SCHEMA `+name)
	t.Cleanup(func() { statement(t, testDatabase(t), `DROP SCHEMA `+name+` CASCADE`) })
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// statement runs SQL on a PostgreSQL.
func statement(t *testing.T, databaseURL, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatalf("PostgreSQL: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Errorf("%s: %v", sql, err)
	}
}
