package main_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// TestCrash is the crash test of issue 5: the program delivers to 40 channels,
// is killed at a random moment round a delivery, and starts again, over and
// over. No channel may get two messages of a slot, and each game must be told
// exactly once in each channel that follows its player.
//
// RIFTCHIME_CRASH_ROUNDS is how many deliveries are killed, half of them on each
// database (5 where it is not set); RIFTCHIME_CRASH_SEED repeats a run's moments.
func TestCrash(t *testing.T) {
	t.Parallel()
	rounds, seed := 5, uint64(time.Now().UnixNano())
	if v := os.Getenv("RIFTCHIME_CRASH_ROUNDS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("RIFTCHIME_CRASH_ROUNDS %q is no number of rounds", v)
		}
		rounds = n
	}
	if v := os.Getenv("RIFTCHIME_CRASH_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("RIFTCHIME_CRASH_SEED %q is no seed", v)
		}
		seed = n
	}
	t.Logf("RIFTCHIME_CRASH_SEED=%d", seed)
	for i, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			crash(t, d.url(t), (rounds+1)/len(databases), rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
}

func crash(t *testing.T, databaseURL string, rounds int, rng *rand.Rand) {
	const (
		hour     = 5 * time.Second
		channels = 40
	)
	// Answers that take a while leave messages that arrived and that nobody
	// knows of. Each start identifies anew, as each program must.
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond, Latency: 80 * time.Millisecond})
	players := w.players(channels)
	w.follow(databaseURL, hour, channels, func(i int) []riottest.PlayerID {
		return []riottest.PlayerID{players[i], players[(i+1)%channels]}
	})
	var (
		want  [channels][]string // the games of each channel
		games int
		spot  = map[string]int{} // where the kills hit
	)
	play := func(share float64) {
		for i, p := range players {
			if rng.Float64() < share {
				w.play(p, games)
				for _, c := range []int{i, (i + channels - 1) % channels} {
					want[c] = append(want[c], kda(games))
				}
				games++
			}
		}
	}
	between := func(least, most time.Duration) time.Duration {
		return least + time.Duration(rng.Int64N(int64(most-least)))
	}
	start := func() *program {
		t.Helper()
		p := launch(t, w.settings(databaseURL), "run", "--hour", hour.String())
		p.said(30*time.Second, "serving")
		return p
	}
	p := start()
	kills := 0
	kill := func() {
		t.Helper()
		if !p.running() {
			t.Fatal("the program ended by itself")
		}
		p.kill()
		kills++
	}
	p.ready(30 * time.Second)
	for range rounds {
		slot := boundary(time.Now(), hour)
		if time.Until(slot) < 2*time.Second { // the start took long
			slot = slot.Add(hour)
		}
		// Some games end in good time, some while their players are being read.
		play(0.5)
		until(t, slot.Add(-between(300*time.Millisecond, 1500*time.Millisecond)))
		play(0.2)
		before := w.discord.Stats().Messages
		if rng.IntN(4) == 0 {
			// From the claim, a second before the slot, to some time after the last.
			until(t, slot.Add(between(-1200*time.Millisecond, 2200*time.Millisecond)))
		} else {
			// While messages leave, whenever that is.
			after := before + 1 + rng.IntN(channels/2)
			for end := slot.Add(hour); w.discord.Stats().Messages < after && time.Now().Before(end); {
				until(t, time.Now().Add(5*time.Millisecond))
			}
			until(t, time.Now().Add(between(0, 100*time.Millisecond)))
		}
		kill()
		switch out := w.discord.Stats().Messages - before; {
		case out == 0:
			spot["before"]++
		case out < channels*3/4:
			spot["within"]++
		default:
			spot["after"]++
		}
		// Down for a moment, or too long for the slot to be served late.
		down := between(0, 400*time.Millisecond)
		if rng.IntN(4) == 0 {
			down = between(2*time.Second, 4*time.Second)
		}
		until(t, time.Now().Add(down))
		p = start()
		if rng.IntN(4) == 0 { // and again, while it makes up for the first time
			until(t, time.Now().Add(between(0, time.Second)))
			kill()
			spot["again"]++
			p = start()
		}
	}
	// Two hours in peace bring what is still to be told, and would bring what was
	// told before.
	p.ready(30 * time.Second)
	early(t, hour)
	play(0.2)
	until(t, boundary(time.Now(), hour).Add(2*hour+3*time.Second))
	took := p.stop(syscall.SIGTERM)

	doubles, losses, messages := 0, 0, 0
	for i := range channels {
		d, l := w.toldOnce(i, want[i])
		doubles, losses, messages = doubles+d, losses+l, messages+len(w.posts(i))
	}
	w.orderly()
	t.Logf("killed %d times (%v the messages); %d games in %d channels, %d messages; Discord dropped %d doubles by their nonce; stopped in %s: %d doubles, %d losses",
		kills, spot, games, channels, messages, w.discord.Stats().Repeats, took.Round(time.Millisecond), doubles, losses)
	if messages == 0 || games == 0 {
		t.Error("nothing happened")
	}
}

// TestCrashEditing kills the program, or stops it, while it edits late news into
// a message that is out: before Discord made the edit, and after. The late game
// is told once, in the message or in the next one.
func TestCrashEditing(t *testing.T) {
	t.Parallel()
	const hour = 10 * time.Second
	for _, c := range []struct {
		name string
		kind discordtest.FaultKind
		end  func(*program)
	}{
		{"killed, not arrived", discordtest.FaultHang, (*program).kill},
		{"killed, arrived", discordtest.FaultHangAfter, (*program).kill},
		{"stopped, not arrived", discordtest.FaultHang, func(p *program) { p.stop(syscall.SIGTERM) }},
		{"stopped, arrived", discordtest.FaultHangAfter, func(p *program) { p.stop(syscall.SIGTERM) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond})
			players := w.players(2)
			url := sqliteURL(t)
			w.follow(url, hour, 1, func(int) []riottest.PlayerID { return players })
			env := w.settings(url)
			p := launch(t, env, "run", "--hour", hour.String())
			p.ready(30 * time.Second)
			early(t, hour)
			w.play(players[0], 0)
			w.play(players[1], 1)
			w.riot.AddFault(riottest.Fault{Method: riottest.MethodMatchIDs, Player: players[1], Kind: riottest.FaultStatus, Status: 503})
			eventually(t, 2*hour, "the report is out without the second player", func() bool { return w.discord.Stats().Messages == 1 })
			w.discord.Fail(discordtest.Fault{Kind: c.kind, Route: discordtest.RouteMessageEdit, Count: -1})
			w.riot.ClearFaults()
			eventually(t, hour/3, "the late news is edited in", func() bool { return w.discord.Stats().Injected > 0 })
			c.end(p)
			w.discord.ClearFaults()

			p = launch(t, env, "run", "--hour", hour.String())
			p.ready(30 * time.Second)
			until(t, boundary(time.Now(), hour).Add(hour+time.Second))
			w.toldOnce(0, []string{kda(0), kda(1)})
			p.stop(syscall.SIGTERM)
		})
	}
}
