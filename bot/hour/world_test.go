package hour_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"riftchime/bot/discord"
	"riftchime/bot/discordtest"
	"riftchime/bot/hour"
	"riftchime/bot/schedule"
	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/riot/riottest"
	"riftchime/store"
	"riftchime/store/sqlite"
)

const (
	testKey    = "RGAPI-of-tests"
	testServer = store.ServerID(1_000_000_000_000_000_001)
)

// limits are those of issue 2's day.
func limits() riottest.Limits {
	return riottest.Limits{App: "500:10,30000:600", Methods: map[string]string{
		"league": "100:60", "match": "2000:60", "ids": "2000:60", "account": "1000:60", "summoner": "1600:60",
	}}
}

// place is everything an Hour needs: a world behind Riot, a Discord, a store.
// Make it inside the bubble.
type place struct {
	t       *testing.T
	world   *riottest.Server
	discord *discordtest.Server
	db      *recorder
	hour    *hour.Hour
	limiter *ratelimit.Limiter
	client  *riot.Client
	key     string
	opts    hour.Options
	logs    *logs
}

// logs keeps what was logged.
type logs struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newPlace(t *testing.T, channels int, o riottest.Options, clock schedule.Clock) *place {
	t.Helper()
	o.Keys = []string{testKey}
	if o.Limits.App == "" {
		o.Limits = limits()
	}
	p := &place{t: t, world: riottest.NewServer(o), limiter: ratelimit.New(ratelimit.Options{}), logs: &logs{}}
	p.discord = discordtest.New(discordtest.Options{Token: "t", Latency: 40 * time.Millisecond})
	t.Cleanup(func() { p.discord.Close() })
	guild := discordtest.Guild{ID: fmt.Sprint(testServer), Name: "Tests", OwnerID: "1"}
	for i := range channels {
		guild.Channels = append(guild.Channels, discordtest.Channel{ID: fmt.Sprint(channelID(i)), Name: fmt.Sprintf("c%d", i)})
	}
	p.discord.AddGuild(guild)

	path := filepath.Join(t.TempDir(), "day.db")
	if err := os.WriteFile(path, emptyDB, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	p.db = &recorder{Store: db, ready: map[slotKey][]string{}, told: map[store.ChannelID]map[string]int{}}

	log := slog.New(slog.NewTextHandler(p.logs, nil))
	p.client, err = riot.New(riot.Options{Keys: []string{testKey}, Transport: p.world.Transport(), Limiter: p.limiter, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	p.key = string(p.client.Fingerprints()[0])
	if err := db.PutServer(t.Context(), store.Server{ID: testServer, Name: "Tests", Locale: "en-US", Key: p.key, JoinedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	rest, err := discord.New(discord.Options{Token: "t", Transport: p.discord.Transport(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	p.opts = hour.Options{
		Store: p.db,
		Riot: func(key string, u hour.Urgency) hour.Riot {
			prio := ratelimit.NextSlot
			if u == hour.ForPerson {
				prio = ratelimit.Person
			}
			return p.client.As(riot.Fingerprint(key), prio)
		},
		DefaultKey: func() string { return p.key },
		Estimate: func(key, route string, calls map[string]int) time.Duration {
			at := p.client.Bucket(riot.Fingerprint(key), "", route)
			return p.limiter.Estimate(at.Key, at.Host, calls)
		},
		Discord: rest,
		Self: func() int64 {
			id, _ := strconv.ParseInt(p.discord.AppID(), 10, 64)
			return id
		},
		Clock:  clock,
		Names:  plainNames{},
		Logger: log,
	}
	p.hour = hour.New(p.opts)
	return p
}

func channelID(i int) store.ChannelID { return store.ChannelID(2_000_000_000_000_000_000 + i) }

// follow registers players in a channel that chimes at the given hours.
func (p *place) follow(i int, zone string, hours schedule.Hours, players ...riottest.PlayerID) {
	p.t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		p.t.Fatal(err)
	}
	now := time.Now()
	c := store.Channel{
		ID: channelID(i), Server: testServer, Zone: zone, Language: "en", Hours: uint32(hours), Quiet: true,
		NextSlot: p.opts.Clock.Next(now, hours, loc), CreatedAt: now,
	}
	if err := p.db.PutChannel(p.t.Context(), c); err != nil {
		p.t.Fatal(err)
	}
	for _, id := range players {
		known, ok := p.world.Player(id)
		if !ok {
			p.t.Fatalf("player %d is not in the world", id)
		}
		_, got, err := p.db.Register(p.t.Context(), c.ID, store.NewPlayer{
			Platform: known.Platform, GameName: known.GameName, TagLine: known.TagLine, Key: p.key, PUUID: p.world.PUUID(testKey, id),
		}, now, nil, 50)
		if err != nil || got != store.RegisteredNew {
			p.t.Fatalf("register %s: %v, %v", known.GameName, got, err)
		}
	}
}

// run serves slots until the returned function stops it.
func (p *place) run() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.hour.Run(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}
}

// plainNames names champions as matches do.
type plainNames struct{}

func (plainNames) Champion(_ int, matchName, _ string) string { return matchName }
func (plainNames) Icon(int, string) string                    { return "" }

// recorder notes which games a sent report told.
type recorder struct {
	store.Store
	mu    sync.Mutex
	ready map[slotKey][]string
	told  map[store.ChannelID]map[string]int
	slots []slotKey
}

type slotKey struct {
	channel store.ChannelID
	slot    int64
}

func (r *recorder) PutReady(ctx context.Context, rep store.ReadyReport) (bool, error) {
	ok, err := r.Store.PutReady(ctx, rep)
	if ok && err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ready[slotKey{rep.Channel, rep.Slot.UnixMilli()}] = rep.Games
	}
	return ok, err
}

func (r *recorder) Replace(ctx context.Context, rep store.ReadyReport) (bool, error) {
	ok, err := r.Store.Replace(ctx, rep)
	if ok && err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ready[slotKey{rep.Channel, rep.Slot.UnixMilli()}] = rep.Games
	}
	return ok, err
}

func (r *recorder) Amend(ctx context.Context, rep store.ReadyReport) error {
	err := r.Store.Amend(ctx, rep)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		k := slotKey{rep.Channel, rep.Slot.UnixMilli()}
		r.tell(k, rep.Games, r.ready[k])
		r.ready[k] = rep.Games
	}
	return err
}

func (r *recorder) Sent(ctx context.Context, p store.PartKey, m store.MessageID, at time.Time, late time.Duration, next time.Time) error {
	err := r.Store.Sent(ctx, p, m, at, late, next)
	if err == nil && p.Part == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		k := slotKey{p.Channel, p.Slot.UnixMilli()}
		if !slices.Contains(r.slots, k) { // marking sent is repeated where its answer was lost
			r.slots = append(r.slots, k)
			r.tell(k, r.ready[k], nil)
		}
	}
	return err
}

// tell counts games as told, but those of before. mu is held.
func (r *recorder) tell(k slotKey, games, before []string) {
	if r.told[k.channel] == nil {
		r.told[k.channel] = map[string]int{}
	}
	old := map[string]bool{}
	for _, g := range before {
		old[g] = true
	}
	for _, g := range games {
		if !old[g] {
			r.told[k.channel][g]++
		}
	}
}
