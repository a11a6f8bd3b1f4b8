package ratelimit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// saturate keeps a bucket full of background work until ctx ends.
func saturate(ctx context.Context, c *client, wg *sync.WaitGroup, workers int, latency time.Duration) {
	for range workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				p, err := c.l.Acquire(ctx, ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: ratelimit.Background})
				if err != nil {
					return
				}
				c.s.do(p, "kr", "league", evenly(latency))
			}
		})
	}
}

// TestPeopleFirst has people ask while background work keeps the bucket full for
// ten windows: within their share they don't wait for a window.
func TestPeopleFirst(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Limit{per(20, time.Second), per(60, 10*time.Second), per(100, time.Minute), per(500, 10*time.Second), per(2000, time.Minute)} {
		t.Run(fmt.Sprintf("%d in %v", limit.Count, limit.Window), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const latency = 50 * time.Millisecond
				s := newServer().limit("kr", per(1_000_000, time.Hour)).limit("kr/league", limit)
				c := newClient(t, s, ratelimit.Options{})
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				saturate(ctx, c, &wg, 150, latency)
				time.Sleep(limit.Window / 2)
				share := max(1, limit.Count/20)
				every := (limit.Window + 300*time.Millisecond) / time.Duration(share)
				var waits []time.Duration
				for range 12 * share {
					start := time.Now()
					r := c.send("kr", "league", ratelimit.Person, evenly(latency))
					if r.err != nil {
						t.Fatal(r.err)
					}
					waits = append(waits, r.wait)
					time.Sleep(every - time.Since(start)%every)
				}
				cancel()
				wg.Wait()
				s.wantNoRefusal(t)
				// The last slot of their share is granted to nobody: the limiter
				// gives them another one once they missed it.
				waits = waits[2*share:]
				slices.Sort(waits)
				bound := limit.Window/50 + latency
				if got := waits[len(waits)*99/100]; got > bound {
					t.Errorf("the 99th percentile of %d waits is %v, want %v at most: %v", len(waits), got, bound, waits)
				}
			})
		})
	}
}

// TestPeopleBeyondTheirShare are next in line for every slot that frees, and
// background work goes on behind them.
func TestPeopleBeyondTheirShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(1_000_000, time.Hour)).limit("kr/league", per(100, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		saturate(ctx, c, &wg, 200, 10*time.Millisecond)
		time.Sleep(10 * time.Second)
		var people sync.WaitGroup
		results := make([]result, 99)
		for i := range results {
			people.Go(func() { results[i] = c.send("kr", "league", ratelimit.Person, evenly(10*time.Millisecond)) })
		}
		people.Wait()
		at := 0
		for _, r := range results {
			if r.err != nil {
				t.Fatal(r.err)
			}
			if r.wait < time.Second {
				at++
			}
		}
		if at != 4 {
			t.Errorf("%d people did not wait, want the 4 slots that are left", at)
		}
		// The first slots that freed went to people, all of them.
		if got := s.most("kr/league"); got != 99 {
			t.Errorf("%d in one window, want all but the last slot used", got)
		}
		cancel()
		wg.Wait()
		s.wantNoRefusal(t)
	})
}

// TestOrder serves by priority, then deadline, then arrival.
func TestOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(1000, time.Second)).limit("kr/league", per(1000, time.Second))
		c := newClient(t, s, ratelimit.Options{InFlight: 1})
		learn(t, c.l, s, "kr", "league")
		holder := acquire(t, c.l, ratelimit.Request{Key: key, Host: "kr", Method: "league"})
		soon, later := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		asks := []struct {
			name     string
			priority ratelimit.Priority
			deadline time.Time
		}{
			{"background", ratelimit.Background, time.Time{}},
			{"slot, later", ratelimit.NextSlot, later},
			{"slot, none", ratelimit.NextSlot, time.Time{}},
			{"slot, soon", ratelimit.NextSlot, soon},
			{"slot, soon, second", ratelimit.NextSlot, soon},
			{"retry", ratelimit.Retry, later},
			{"person", ratelimit.Person, time.Time{}},
			{"background, soon", ratelimit.Background, soon},
			{"person, second", ratelimit.Person, time.Time{}},
		}
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		for _, a := range asks {
			wg.Go(func() {
				p := acquire(t, c.l, ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: a.priority, Deadline: a.deadline})
				mu.Lock()
				order = append(order, a.name)
				mu.Unlock()
				s.do(p, "kr", "league", evenly(time.Millisecond))
			})
			synctest.Wait()
		}
		s.do(holder, "kr", "league", evenly(time.Millisecond))
		wg.Wait()
		want := []string{
			"person", "person, second", "retry", "slot, soon", "slot, soon, second", "slot, later", "slot, none",
			"background, soon", "background",
		}
		if !slices.Equal(order, want) {
			t.Errorf("served in the order %q, want %q", order, want)
		}
	})
}

// TestNoStarvation has a request of the lowest priority wait while retries keep
// coming: after ten minutes a class it goes ahead of them.
func TestNoStarvation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(1_000_000, time.Hour)).limit("kr/league", per(20, 10*time.Second))
		c := newClient(t, s, ratelimit.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for ctx.Err() == nil {
					p, err := c.l.Acquire(ctx, ratelimit.Request{
						Key: key, Host: "kr", Method: "league", Priority: ratelimit.Retry,
						Deadline: time.Now().Add(5 * time.Minute),
					})
					if err != nil {
						return
					}
					c.s.do(p, "kr", "league", evenly(10*time.Millisecond))
				}
			})
		}
		time.Sleep(30 * time.Second)
		r := c.send("kr", "league", ratelimit.Background, evenly(10*time.Millisecond))
		if r.err != nil {
			t.Fatal(r.err)
		}
		if r.wait < 20*time.Minute || r.wait > 20*time.Minute+11*time.Second {
			t.Errorf("it waited %v, want 20 minutes and the next slot", r.wait)
		}
		cancel()
		wg.Wait()
		s.wantNoRefusal(t)
	})
}
