package ratelimit_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// recorder is an observer that remembers.
type recorder struct {
	mu       sync.Mutex
	granted  map[ratelimit.Priority]int
	waits    []time.Duration
	refusals []ratelimit.Refusal
	modes    []string
}

func (r *recorder) Granted(_, _, _ string, p ratelimit.Priority, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.granted == nil {
		r.granted = map[ratelimit.Priority]int{}
	}
	r.granted[p]++
	r.waits = append(r.waits, wait)
}

func (r *recorder) Refused(_, _, _ string, kind ratelimit.Refusal, _ time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals = append(r.refusals, kind)
}

func (r *recorder) ModeChanged(_, host, method string, m ratelimit.Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.modes = append(r.modes, host+"/"+method+" "+m.String())
}

// TestModes follows one bucket through both modes, by its use alone: at 70 % it
// throttles, between 50 and 70 % it stays as it is, under 50 % it is normal.
func TestModes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		seen := &recorder{}
		s := newServer().limit("kr", per(1000, time.Second)).limit("kr/league", per(100, time.Minute))
		c := newClient(t, s, ratelimit.Options{Observer: seen, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		use := func(n int) {
			for range n {
				if r := c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond)); r.err != nil {
					t.Fatal(r.err)
				}
			}
		}
		mode := func(used int, want ratelimit.Mode) {
			t.Helper()
			got := c.state("kr", "league")
			if got.Windows[0].Used != used || got.Mode != want {
				t.Errorf("%d used in mode %v, want %d in %v", got.Windows[0].Used, got.Mode, used, want)
			}
		}
		start := time.Now()
		use(30)
		mode(30, ratelimit.Normal)
		time.Sleep(10 * time.Second)
		use(39)
		mode(69, ratelimit.Normal)
		if took := time.Since(start) - 10*time.Second; took != 69*time.Millisecond {
			t.Errorf("69 requests one after the other took %v, want 69ms: nothing is spaced in normal mode", took)
		}
		use(1)
		mode(70, ratelimit.Throttle)
		time.Sleep(51 * time.Second) // the first 30 are free
		mode(40, ratelimit.Normal)
		use(20)
		mode(60, ratelimit.Normal)
		use(10)
		mode(70, ratelimit.Throttle)
		time.Sleep(9500 * time.Millisecond) // the next 40 are free
		mode(30, ratelimit.Normal)

		want := []string{"kr/league throttle", "kr/league normal", "kr/league throttle", "kr/league normal"}
		if !slices.Equal(seen.modes, want) {
			t.Errorf("the observer saw %q, want %q", seen.modes, want)
		}
		if n := strings.Count(log.String(), "limiter mode"); n != len(want) {
			t.Errorf("%d lines in the log, want one a change:\n%s", n, &log)
		}
		s.wantNoRefusal(t)
	})
}

// TestHysteresis stays throttled between the thresholds.
func TestHysteresis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(1000, time.Second)).limit("kr/league", per(100, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		for range 72 {
			c.send("kr", "league", ratelimit.Background, evenly(500*time.Millisecond))
		}
		if got := c.state("kr", "league").Mode; got != ratelimit.Throttle {
			t.Fatalf("mode %v at 72 %%, want throttle", got)
		}
		for used := 72; used > 0; used = c.state("kr", "league").Windows[0].Used {
			want := ratelimit.Throttle
			if used < 50 {
				want = ratelimit.Normal
			}
			if got := c.state("kr", "league").Mode; got != want {
				t.Fatalf("mode %v at %d %%, want %v", got, used, want)
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}

// TestNoStampede has a whole window's worth wait for room: it leaves in order,
// over a fiftieth of the window.
func TestNoStampede(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Limit{per(100, time.Minute), per(500, 10*time.Second), per(2000, time.Second)} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer().limit("kr", per(1_000_000, time.Hour)).limit("kr/league", limit)
			c := newClient(t, s, ratelimit.Options{InFlight: -1})
			learn(t, c.l, s, "kr", "league")
			time.Sleep(2 * limit.Window)
			b := limit.Count - limit.Count/20
			var wg sync.WaitGroup
			results := make([]result, 2*b)
			for i := range results {
				wg.Go(func() { results[i] = c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond)) })
				synctest.Wait() // so that they arrive in order
			}
			wg.Wait()
			second := results[b:]
			spacing := limit.Window / 50 / time.Duration(limit.Count)
			for i, r := range second {
				if r.err != nil {
					t.Fatal(r.err)
				}
				if i == 0 {
					continue
				}
				if gap := r.granted.Sub(second[i-1].granted); gap < spacing-time.Microsecond || gap > 2*spacing {
					t.Fatalf("%v: request %d left %v after the one before, want %v", limit, i, gap, spacing)
				}
			}
			if took := second[len(second)-1].granted.Sub(second[0].granted); took > limit.Window/50 {
				t.Errorf("%v: %d requests took %v to leave, want a fiftieth of the window", limit, b, took)
			}
			s.wantNoRefusal(t)
		})
	}
}
