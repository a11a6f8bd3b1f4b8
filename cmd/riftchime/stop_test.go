package main_test

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// Both signals end a program that has nothing to do.
func TestStopIdle(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": os.Interrupt} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, riottest.Options{}, discordtest.Options{})
			p := launch(t, w.settings(sqliteURL(t)), "run")
			p.ready(30 * time.Second)
			t.Logf("%s: stopped in %s", name, p.stop(sig).Round(time.Millisecond))
			contains(t, "the log", p.err.String(), "RiftChime stopped")
			if st := w.discord.Stats(); len(st.Violations) > 0 {
				t.Errorf("against Discord's rules: %+v", st.Violations)
			}
		})
	}
}

// TestStopBusy stops the program in the middle of what it does, with a server
// that does not answer, and starts it again: every game of each player is told
// once in each channel.
func TestStopBusy(t *testing.T) {
	t.Parallel()
	const (
		hour     = 5 * time.Second
		channels = 6
	)
	for _, c := range []struct {
		name string
		// jam makes something hang, and says when the program is caught in it.
		jam func(w *world) (caught func() bool)
	}{
		{"fetching", func(w *world) func() bool {
			w.riot.AddFault(riottest.Fault{Method: riottest.MethodMatchIDs, Kind: riottest.FaultHang})
			return func() bool { return w.riot.Stats().Now > 0 }
		}},
		{"reading a game", func(w *world) func() bool {
			w.riot.AddFault(riottest.Fault{Method: riottest.MethodMatch, Kind: riottest.FaultStall})
			return func() bool { return w.riot.Stats().Injected[riottest.FaultStall] > 0 }
		}},
		{"delivering, not arrived", func(w *world) func() bool {
			w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Route: discordtest.RouteMessageCreate, Skip: 2, Count: -1})
			return func() bool { return w.discord.Stats().Injected > 0 }
		}},
		{"delivering, arrived", func(w *world) func() bool {
			w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter, Route: discordtest.RouteMessageCreate, Skip: 2, Count: -1})
			return func() bool { return w.discord.Stats().Injected > 0 }
		}},
		{"delivering, slowly", func(w *world) func() bool {
			w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultLatency, Delay: 700 * time.Millisecond, Route: discordtest.RouteMessageCreate, Count: -1})
			return func() bool { return w.discord.Stats().Injected > 0 }
		}},
		{"delivering, refused for a while", func(w *world) func() bool {
			w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultGlobal, RetryAfter: time.Minute, Route: discordtest.RouteMessageCreate})
			return func() bool { return w.discord.Stats().Injected > 0 }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond})
			players := w.players(channels)
			url := sqliteURL(t)
			w.follow(url, hour, channels, func(i int) []riottest.PlayerID {
				return []riottest.PlayerID{players[i], players[(i+1)%channels]}
			})
			env := w.settings(url)
			p := launch(t, env, "run", "--hour", hour.String())
			p.ready(30 * time.Second)
			slot := early(t, hour)
			for i, player := range players {
				w.play(player, i)
			}
			caught := c.jam(w)
			eventually(t, time.Until(slot)+hour/2, "the program is caught", caught)
			took := p.stop(syscall.SIGTERM)
			w.riot.ClearFaults()
			w.discord.ClearFaults()

			launch(t, env, "run", "--hour", hour.String()).ready(30 * time.Second)
			told := func(i int) bool {
				n := 0
				for _, post := range w.posts(i) {
					n += len(post.games())
				}
				return n >= 2
			}
			eventually(t, 4*hour, "all games are told", func() bool {
				for i := range channels {
					if !told(i) {
						return false
					}
				}
				return true
			})
			until(t, boundary(time.Now(), hour).Add(time.Second)) // and not again
			for i := range channels {
				w.toldOnce(i, []string{kda(i), kda((i + 1) % channels)})
			}
			t.Logf("%s: stopped in %s; Discord dropped %d doubles", c.name, took.Round(time.Millisecond), w.discord.Stats().Repeats)
		})
	}
}

// TestStopCommand stops the program while a person waits for an answer: there
// is one, and nothing of the command is half done.
func TestStopCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond})
	w.players(2)
	url := sqliteURL(t)
	w.follow(url, time.Hour, 1, func(int) []riottest.PlayerID { return nil })
	w.riot.AddFault(riottest.Fault{Kind: riottest.FaultHang})
	env := w.settings(url)
	p := launch(t, env, "run")
	p.ready(30 * time.Second)
	p.said(20*time.Second, "commands registered")

	register := discordtest.Interaction{
		Guild: "100000000000000000", Channel: channelName(0), Command: "register",
		Options: []discordtest.Option{{Name: "riot_id", Value: "Player 1#EUW, Player 2#EUW"}},
	}
	asked, err := w.discord.Interact(t.Context(), register)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "Riot is asked", func() bool { return w.riot.Stats().Now > 0 })
	took := p.stop(syscall.SIGTERM)
	final, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	m, err := asked.Final(final)
	if err != nil {
		t.Errorf("the person who waited got no answer: %v", err)
	}
	t.Logf("stopped in %s; the answer: %q", took.Round(time.Millisecond), m.Content)

	w.riot.ClearFaults()
	p = launch(t, env, "run")
	p.ready(30 * time.Second)
	asked, err = w.discord.Interact(t.Context(), register)
	if err != nil {
		t.Fatal(err)
	}
	final, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err = asked.Final(final)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the next time: %q", m.Content)
	p.stop(syscall.SIGTERM)
	db := openDatabase(t, url)
	defer db.Close()
	follows, err := db.Registrations(t.Context(), 2e17)
	if err != nil || len(follows) != 2 {
		t.Errorf("%d players are followed, want 2: %v", len(follows), err)
	}
}

// TestStopAtOnce: the second signal does not wait for anything.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	const hour = 3 * time.Second
	w := newWorld(t, riottest.Options{}, discordtest.Options{})
	players := w.players(1)
	url := sqliteURL(t)
	w.follow(url, hour, 1, func(int) []riottest.PlayerID { return players })
	w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Route: discordtest.RouteMessageCreate, Count: -1})
	p := launch(t, w.settings(url), "run", "--hour", hour.String())
	p.ready(30 * time.Second)
	w.play(players[0], 0)
	eventually(t, 3*hour, "a message hangs", func() bool { return w.discord.Stats().Injected > 0 })
	p.signal(syscall.SIGTERM)
	// It waits for the message: this is what the second signal ends.
	select {
	case <-p.done:
		t.Fatal("it ended with a message on its way")
	case <-time.After(2 * time.Second):
	}
	at := time.Now()
	p.signal(syscall.SIGTERM)
	p.wait(2 * time.Second)
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %s, want by the signal", p.cmd.ProcessState)
	}
	if took := p.ended.Sub(at); took > 500*time.Millisecond {
		t.Errorf("it took %s, want at once", took)
	} else {
		t.Logf("ended %s after the second signal", took.Round(time.Millisecond))
	}
}

// TestStopStart sends signals at every point of the start: none is missed.
func TestStopStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond})
	url := sqliteURL(t)
	most := make(chan time.Duration, 8)
	for i := range cap(most) {
		p := launch(t, w.settings(url), "run")
		p.said(20*time.Second, "serving") // signals are caught from before this on
		until(t, time.Now().Add(time.Duration(i)*10*time.Millisecond))
		most <- p.stop(syscall.SIGTERM)
	}
	close(most)
	var slowest time.Duration
	for d := range most {
		slowest = max(slowest, d)
	}
	t.Logf("the slowest of %d stops took %s", cap(most), slowest.Round(time.Millisecond))
}
