//go:build memory

// The measurement behind `make memory`: it takes minutes, so it is no part of
// `make test`.
package main_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/riot/riottest"
	"riftchime/store"
	"riftchime/store/sqlite"
)

// TestMemory runs the program with 2,600 channels on 1,300 servers and 10,000
// registered players, over three rehearsed hours in which each player is
// refreshed and games are reported, and reads its resident memory from /proc
// each second (issue 2: under 150 MiB).
func TestMemory(t *testing.T) {
	const (
		channels = 2600
		servers  = 1300
		players  = 10_000
		hours    = 3
		hour     = 100 * time.Second
		limitKiB = 150 << 10
		key      = "RGAPI-memory"
		token    = "memory.token"
	)
	ctx := t.Context()
	dir := t.TempDir()
	// The limits of method are wide, so that a short hour suffices: what is
	// measured is memory, and more at once is the harder case.
	world := riottest.NewServer(riottest.Options{
		Keys: []string{key}, Limits: riottest.Limits{App: "30000:10", Methods: map[string]string{}}, FullBodies: true,
		Live:    riottest.Live{GamesPerHour: 0.3},
		Latency: func(riottest.Call) (before, after time.Duration) { return 20 * time.Millisecond, 60 * time.Millisecond },
	})
	groups, err := world.Populate(players, 3)
	if err != nil {
		t.Fatal(err)
	}
	riotServer := httptest.NewServer(world)
	defer riotServer.Close()
	disc := discordtest.New(discordtest.Options{Token: token, Latency: 60 * time.Millisecond})
	defer disc.Close()
	discordURL, err := disc.Start("")
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(dir, "memory.db")
	db, err := sqlite.Open(ctx, file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	clock := schedule.Clock{Hour: hour}
	fingerprint := string(riot.FingerprintOf(key))
	id := func(base int64, i int) int64 { return base + int64(i) }
	for i := range servers {
		guild := discordtest.Guild{ID: strconv.FormatInt(id(1e18, i), 10), Name: fmt.Sprintf("server %d", i), OwnerID: "1"}
		if err := db.PutServer(ctx, store.Server{ID: store.ServerID(id(1e18, i)), Name: guild.Name, Locale: "en-US", Key: fingerprint, JoinedAt: now}); err != nil {
			t.Fatal(err)
		}
		for j := range channels / servers {
			c := i*channels/servers + j
			guild.Channels = append(guild.Channels, discordtest.Channel{ID: strconv.FormatInt(id(2e18, c), 10), Name: "games"})
			if err := db.PutChannel(ctx, store.Channel{
				ID: store.ChannelID(id(2e18, c)), Server: store.ServerID(id(1e18, i)), Zone: "UTC", Language: "en",
				Hours: uint32(schedule.All), Quiet: true, NextSlot: clock.Next(now.Add(40*time.Second), schedule.All, time.UTC), CreatedAt: now,
			}); err != nil {
				t.Fatal(err)
			}
		}
		disc.AddGuild(guild)
	}
	for i, g := range groups {
		for _, p := range g.Players {
			known, _ := world.Player(p)
			if _, _, err := db.Register(ctx, store.ChannelID(id(2e18, i%channels)), store.NewPlayer{
				Platform: known.Platform, GameName: known.GameName, TagLine: known.TagLine, Key: fingerprint, PUUID: world.PUUID(key, p),
			}, now, nil, 50); err != nil {
				t.Fatal(err)
			}
		}
	}
	counts, err := db.Counts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.PutNote(ctx, "hour", hour.String()); err != nil {
		t.Fatal(err)
	}
	db.Close()

	binary := filepath.Join(dir, "riftchime")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	end := clock.Next(time.Now(), schedule.All, time.UTC).Add(hours*hour + 70*time.Second)
	run, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	cmd := exec.Command(binary, "run", "--hour", hour.String())
	cmd.Env = append(os.Environ(), "DISCORD_TOKEN="+token, "RIOT_API_KEY="+key, "DATABASE_URL=sqlite:"+file,
		"DISCORD_API_URL="+discordURL, "RIOT_API_URL="+riotServer.URL+"/{route}", "DDRAGON_URL="+riotServer.URL+"/ddragon", "LISTEN_ADDR=127.0.0.1:0")
	cmd.Stderr = os.Stderr
	go world.RunWorld(run, hour)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var most, last int
	field := regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
	for tick := time.NewTicker(time.Second); ; {
		select {
		case <-tick.C:
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if m := field.FindSubmatch(status); err == nil && m != nil {
				last, _ = strconv.Atoi(string(m[1]))
				most = max(most, last)
			}
			continue
		case <-run.Done():
		}
		tick.Stop()
		break
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	st := world.Stats()
	t.Logf("%d channels, %d players registered; %d calls, %d messages; resident memory: most %d MiB, at the end %d MiB",
		counts.Channels, counts.Players, st.Requests, disc.Stats().Messages, most>>10, last>>10)
	if most > limitKiB {
		t.Errorf("%d KiB resident, want at most %d", most, limitKiB)
	}
	if disc.Stats().Messages == 0 || st.ByMethod["ids"] < 2*players {
		t.Errorf("too little was done to measure: %v, %d messages", st.ByMethod, disc.Stats().Messages)
	}
}
