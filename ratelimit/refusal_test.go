package ratelimit_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// refused is an answer of 429.
func refused(kind ratelimit.Refusal, after time.Duration, has bool) ratelimit.Answer {
	return ratelimit.Answer{Refusal: kind, RetryAfter: after, HasRetryAfter: has}
}

// warm returns a client that knows the limits of kr's league and match, and of
// asia's match.
func warm(t *testing.T, o ratelimit.Options) *client {
	t.Helper()
	s := newServer()
	for _, host := range []string{"kr", "asia"} {
		s.limit(host, per(500, 10*time.Second)).limit(host+"/league", per(100, time.Minute)).limit(host+"/match", per(2000, time.Minute))
	}
	c := newClient(t, s, o)
	learn(t, c.l, s, "kr", "league")
	learn(t, c.l, s, "kr", "match")
	learn(t, c.l, s, "asia", "match")
	return c
}

func (c *client) ask(host, method string) *ratelimit.Permit {
	c.t.Helper()
	return acquire(c.t, c.l, ratelimit.Request{Key: key, Host: host, Method: method, Priority: ratelimit.Background})
}

// TestRefusalScope holds up what a refusal is about, and nothing else.
func TestRefusalScope(t *testing.T) {
	t.Parallel()
	type waits struct{ league, match, asia time.Duration }
	const asked = 7*time.Second + 250*time.Millisecond // and the slack
	for _, tt := range []struct {
		kind   ratelimit.Refusal
		want   waits
		budget [2]float64 // of the host, of the method
	}{
		{ratelimit.RefusedApplication, waits{asked, asked, 0}, [2]float64{0.8, 1}},
		{ratelimit.RefusedMethod, waits{asked, 0, 0}, [2]float64{1, 0.8}},
		{ratelimit.RefusedService, waits{asked, 0, 0}, [2]float64{1, 1}},
	} {
		t.Run(tt.kind.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				seen := &recorder{}
				c := warm(t, ratelimit.Options{Observer: seen})
				c.ask("kr", "league").Done(refused(tt.kind, 7*time.Second, true))
				if len(seen.refusals) != 1 || seen.refusals[0] != tt.kind {
					t.Errorf("the observer saw the refusals %v, want %v", seen.refusals, tt.kind)
				}
				until := time.Now().Add(asked)
				app, method := c.state("kr", ""), c.state("kr", "league")
				if got := [2]float64{app.Budget, method.Budget}; got != tt.budget {
					t.Errorf("budgets %v, want %v", got, tt.budget)
				}
				held := method
				if tt.kind == ratelimit.RefusedApplication {
					held = app
				}
				if !held.PenaltyUntil.Equal(until) || held.NextFree.Before(until) {
					t.Errorf("held up until %v, next free at %v, want %v", held.PenaltyUntil, held.NextFree, until)
				}
				var got waits
				var wg sync.WaitGroup
				for _, w := range []struct {
					host, method string
					wait         *time.Duration
				}{{"kr", "league", &got.league}, {"kr", "match", &got.match}, {"asia", "match", &got.asia}} {
					wg.Go(func() { *w.wait = c.send(w.host, w.method, ratelimit.Background, trip{}).wait })
				}
				wg.Wait()
				// Those that waited together leave spaced.
				const spacing = 10 * time.Second / 50 / 500
				if got.league-tt.want.league > spacing || got.match-tt.want.match > spacing || got.asia != 0 ||
					got.league < tt.want.league || got.match < tt.want.match {
					t.Errorf("waits %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// TestRetryAfter handles each thing that a Retry-After can be.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		answer   ratelimit.Answer
		min, max time.Duration
	}{
		{"method, 3 s", refused(ratelimit.RefusedMethod, 3*time.Second, true), 3 * time.Second, 3500 * time.Millisecond},
		{"method, absent", refused(ratelimit.RefusedMethod, 0, false), 500 * time.Millisecond, time.Second},
		{"method, 0", refused(ratelimit.RefusedMethod, 0, true), 500 * time.Millisecond, time.Second},
		{"method, negative", refused(ratelimit.RefusedMethod, -5*time.Second, true), 500 * time.Millisecond, time.Second},
		{"method, absurd", refused(ratelimit.RefusedMethod, 1<<62, true), time.Hour, time.Hour + time.Second},
		{"application, absent", refused(ratelimit.RefusedApplication, 0, false), 500 * time.Millisecond, time.Second},
		{"service, absent", refused(ratelimit.RefusedService, 0, false), 500 * time.Millisecond, time.Second},
		{"service, 21 s", refused(ratelimit.RefusedService, 21*time.Second, true), 21 * time.Second, 22 * time.Second},
		{"service, 0", refused(ratelimit.RefusedService, 0, true), 500 * time.Millisecond, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := warm(t, ratelimit.Options{})
				c.ask("kr", "league").Done(tt.answer)
				if got := c.send("kr", "league", ratelimit.Background, trip{}).wait; got < tt.min || got > tt.max {
					t.Errorf("waited %v, want %v to %v", got, tt.min, tt.max)
				}
			})
		})
	}
}

// TestServiceBackoff grows with every refusal of a service, and starts again
// after a success.
func TestServiceBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{Rand: rand.New(rand.NewPCG(1, 2))})
		longest := map[int]time.Duration{}
		for round := range 40 {
			p := c.ask("kr", "match")
			for n := 1; n <= 9; n++ {
				p.Done(refused(ratelimit.RefusedService, 0, false))
				start := time.Now()
				p = c.ask("kr", "match")
				got := time.Since(start)
				top := min(30*time.Second, 500*time.Millisecond<<n)
				if got < 500*time.Millisecond || got > top {
					t.Fatalf("round %d: waited %v after refusal %d, want 500ms to %v", round, got, n, top)
				}
				longest[n] = max(longest[n], got)
			}
			p.Done(c.s.count("kr", "match"))
			if got := c.state("kr", "match").Budget; got != 1 {
				t.Fatalf("budget %v after refusals that are not ours, want 1", got)
			}
		}
		if longest[1] < 800*time.Millisecond || longest[9] < 25*time.Second {
			t.Errorf("longest waits %v, want them spread up to the top", longest)
		}
	})
}

// TestBudget shrinks once for requests that were refused together, to a fifth at
// the least, and comes back with quiet windows.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{})
		budget := func(want float64) {
			t.Helper()
			if got := c.state("kr", "league").Budget; got < want-1e-9 || got > want+1e-9 {
				t.Errorf("budget %v, want %v", got, want)
			}
		}
		var permits []*ratelimit.Permit
		for range 5 {
			permits = append(permits, c.ask("kr", "league"))
		}
		time.Sleep(time.Millisecond)
		for _, p := range permits {
			p.Done(refused(ratelimit.RefusedMethod, time.Second, true))
		}
		budget(0.8)
		time.Sleep(2 * time.Second)
		// The first after a refusal is alone under way.
		p := c.ask("kr", "league")
		if got := c.state("kr", "league").NextFree; !got.IsZero() {
			t.Errorf("next free at %v after a refusal, want not before the answer", got)
		}
		p.Done(refused(ratelimit.RefusedMethod, time.Second, true))
		budget(0.64)
		for range 20 {
			time.Sleep(2 * time.Second)
			c.ask("kr", "league").Done(refused(ratelimit.RefusedMethod, time.Second, true))
		}
		budget(0.2)
		time.Sleep(time.Minute)
		budget(0.25)
		time.Sleep(time.Minute)
		budget(0.3)
		c.ask("kr", "league").Done(c.s.count("kr", "league"))

		// At 30 % there is room for 28: a twentieth of 30 is kept.
		var wg sync.WaitGroup
		start := time.Now()
		results := make([]result, 40)
		for i := range results {
			wg.Go(func() { results[i] = c.send("kr", "league", ratelimit.Background, trip{}) })
		}
		wg.Wait()
		granted := 0
		for _, r := range results {
			if r.err == nil && r.granted.Sub(start) < 30*time.Second {
				granted++
			}
		}
		if granted != 27 {
			t.Errorf("%d left at once with a budget of 30 in use by 1, want 27", granted)
		}
		time.Sleep(20 * time.Minute)
		budget(1)
	})
}

// TestPenaltyTooLate turns away at once who can't be served any more after a
// refusal.
func TestPenaltyTooLate(t *testing.T) {
	t.Parallel()
	for _, kind := range []ratelimit.Refusal{ratelimit.RefusedApplication, ratelimit.RefusedMethod} {
		synctest.Test(t, func(t *testing.T) {
			c := warm(t, ratelimit.Options{InFlight: 1})
			holder := c.ask("kr", "league")
			start := time.Now()
			var wg sync.WaitGroup
			for _, method := range []string{"league", "match"} {
				wg.Go(func() {
					r := c.request(ratelimit.Request{Key: key, Host: "kr", Method: method, Deadline: start.Add(5 * time.Second)}, trip{})
					if method == "match" && kind == ratelimit.RefusedMethod {
						if r.err != nil {
							t.Errorf("%s after a refusal of the other: %v", method, r.err)
						}
						return
					}
					var late *ratelimit.TooLateError
					if !errors.As(r.err, &late) || !errors.Is(r.err, ratelimit.ErrTooLate) {
						t.Errorf("%s: %v, want too late", method, r.err)
					} else if want := start.Add(10250 * time.Millisecond); !late.At.Equal(want) {
						t.Errorf("%s: possible at %v, want %v", method, late.At, want)
					}
					if waited := time.Since(start); waited != 0 {
						t.Errorf("%s was told after %v, want at once", method, waited)
					}
				})
			}
			synctest.Wait()
			holder.Done(refused(kind, 10*time.Second, true))
			wg.Wait()
		})
	}
}

// TestStrings keeps names stable: metrics and logs go by them.
func TestStrings(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(ratelimit.Person, ratelimit.Retry, ratelimit.NextSlot, ratelimit.Background, ratelimit.Priority(9),
		ratelimit.NotRefused, ratelimit.RefusedApplication, ratelimit.RefusedMethod, ratelimit.RefusedService, ratelimit.Refusal(9),
		ratelimit.Normal, ratelimit.Throttle)
	want := "person retry next_slot background priority(9) none application method service refusal(9) normal throttle"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
