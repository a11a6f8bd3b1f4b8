package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// TestColdStart has one request of each bucket under way until its limits are
// known, and everything else follow at once.
func TestColdStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(500, 10*time.Second)).
			limit("kr/league", per(100, time.Minute)).limit("kr/summoner", per(100, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		start := time.Now()
		var wg sync.WaitGroup
		results := map[string][]result{"league": make([]result, 50), "summoner": make([]result, 50)}
		for method, rs := range results {
			for i := range rs {
				wg.Go(func() { rs[i] = c.send("kr", method, ratelimit.Background, evenly(time.Second)) })
			}
		}
		count := func(from, to time.Duration) (n int) {
			for _, rs := range results {
				for _, r := range rs {
					if at := r.granted.Sub(start); at >= from && at < to {
						n++
					}
				}
			}
			return n
		}
		synctest.Wait()
		if got := c.state("kr", ""); got.Known || got.InFlight != 1 || got.Waiting != 99 {
			t.Errorf("at the start %d are under way and %d wait (known: %t), want 1 and 99", got.InFlight, got.Waiting, got.Known)
		}
		wg.Wait()
		// One of the host first, then the rest of its method, and one of the other.
		if got := count(0, time.Second); got != 1 {
			t.Errorf("%d left in the first second, want 1", got)
		}
		if got := count(time.Second, 2*time.Second); got != 50 {
			t.Errorf("%d left in the next, want the other 49 of that method and 1 of the other", got)
		}
		if took := time.Since(start); took > 3*time.Second+2*time.Minute/50 {
			t.Errorf("took %v, want three answers", took)
		}
		s.wantNoRefusal(t)
	})
}

// TestLostProbe goes on when the first request gets no answer.
func TestLostProbe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(20, time.Second)).limit("kr/league", per(100, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		var wg sync.WaitGroup
		wg.Go(func() {
			c.send("kr", "league", ratelimit.Background, trip{latency: 10 * time.Second, lost: true})
		})
		synctest.Wait()
		start := time.Now()
		if r := c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond)); r.wait != 10*time.Second {
			t.Errorf("the next waited %v, want for the end of the first", r.wait)
		}
		wg.Wait()
		if got := c.state("kr", "league"); !got.Known || got.Windows[0].Used != 2 {
			t.Errorf("%+v after %v, want 2 used", got, time.Since(start))
		}
	})
}

// TestAnswersWithoutLimits never change what is known; three of them at the
// start, and the smallest key is assumed.
func TestAnswersWithoutLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		c := newClient(t, s, ratelimit.Options{})
		for range 3 {
			if got := c.l.Estimate(key, "kr", map[string]int{"league": 19}); got > 2*time.Second {
				t.Errorf("19 calls are estimated at %v under unknown limits, want less than 2s", got)
			}
			c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond))
		}
		app, method := c.state("kr", ""), c.state("kr", "league")
		if fmt.Sprint(app.Windows) != fmt.Sprint([]ratelimit.WindowState{{Limit: per(20, time.Second), Used: 3}, {Limit: per(100, 2*time.Minute), Used: 3}}) {
			t.Errorf("the host's windows are %v, want 20:1,100:120 with 3 used", app.Windows)
		}
		if !method.Known || method.Windows != nil {
			t.Errorf("the method's windows are %v, want known to be none", method.Windows)
		}

		s.limit("kr", per(500, 10*time.Second)).limit("kr/league", per(100, time.Minute))
		c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond))
		want := func() {
			t.Helper()
			if got := c.state("kr", "").Windows; len(got) != 1 || got[0].Limit != per(500, 10*time.Second) {
				t.Errorf("the host's windows are %v, want 500:10", got)
			}
			if got := c.state("kr", "league").Windows; len(got) != 1 || got[0].Limit != per(100, time.Minute) {
				t.Errorf("the method's windows are %v, want 100:60", got)
			}
		}
		want()
		for _, a := range []ratelimit.Answer{
			{},
			{Refusal: ratelimit.RefusedService},
			{AppLimits: []ratelimit.Limit{}, MethodLimits: []ratelimit.Limit{}},
			{AppLimits: []ratelimit.Limit{{}, {Count: -1, Window: time.Second}, {Count: 3}}},
			{AppCounts: []ratelimit.Usage{{Count: 1, Window: 7 * time.Second}, {Count: -4, Window: 10 * time.Second}}},
			{Lost: true, AppLimits: []ratelimit.Limit{per(1, time.Second)}},
		} {
			acquire(t, c.l, ratelimit.Request{Key: key, Host: "kr", Method: "league"}).Done(a)
			want()
		}
	})
}

// TestLimitChanges lowers a limit while requests are under way: nothing is
// granted above the new one from the first answer that shows it, whatever order
// answers come in.
func TestLimitChanges(t *testing.T) {
	t.Parallel()
	for seed := range seeds(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 11))
				s := newServer().limit("kr", per(1000, time.Second)).limit("kr/league", per(100, 10*time.Second))
				c := newClient(t, s, ratelimit.Options{InFlight: -1})
				var mu sync.Mutex
				shownAt := time.Time{} // when an answer first showed the new limit
				changeAt := time.Second + upTo(rng, 40*time.Second)
				var wg sync.WaitGroup
				for range 1500 {
					wg.Go(func() {
						p, err := c.l.Acquire(t.Context(), ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: ratelimit.Background})
						if err != nil {
							t.Error(err)
							return
						}
						granted := time.Now()
						mu.Lock()
						tr := reliably(rng)
						mu.Unlock()
						time.Sleep(tr.counted)
						a := s.count("kr", "league")
						time.Sleep(tr.latency - tr.counted)
						mu.Lock()
						defer mu.Unlock()
						if a.MethodLimits[0].Count == 40 && shownAt.IsZero() {
							shownAt = time.Now()
						}
						if a.Refusal != ratelimit.NotRefused && !shownAt.IsZero() && granted.After(shownAt) {
							t.Errorf("refused at %v, granted %v after the new limit was shown", a.MethodCounts, granted.Sub(shownAt))
						}
						p.Done(a)
					})
				}
				time.Sleep(changeAt)
				s.limit("kr/league", per(40, 10*time.Second))
				wg.Wait()
				if got := c.state("kr", "league").Windows[0].Limit; got != per(40, 10*time.Second) {
					t.Errorf("the limit is %v in the end, want the new one", got)
				}
			})
		})
	}
}

// TestNewWindow learns a window that was not there before, and what is in use
// of it.
func TestNewWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(50, 10*time.Second))
		c := newClient(t, s, ratelimit.Options{})
		for range 40 {
			c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond))
		}
		s.limit("kr", per(60, 2*time.Second), per(50, 10*time.Second))
		c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond))
		got := c.state("kr", "").Windows
		if len(got) != 2 || got[0].Used != 41 || got[1].Used != 41 {
			t.Errorf("windows %v, want 41 used in both", got)
		}
	})
}

// TestSmallKey works off an hour of 20 players with a development key that
// nobody configured.
func TestSmallKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const latency = 120 * time.Millisecond
		s := newServer().limit("kr", per(20, time.Second), per(100, 2*time.Minute)).limit("kr/league", per(100, time.Minute)).limit("kr/match", per(2000, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		calls := map[string]int{"league": 20, "match": 60}
		estimate := c.l.Estimate(key, "kr", calls)
		start := time.Now()
		var wg sync.WaitGroup
		for method, n := range calls {
			for range n {
				wg.Go(func() {
					if r := c.send("kr", method, ratelimit.NextSlot, evenly(latency)); r.err != nil {
						t.Error(r.err)
					}
				})
			}
		}
		wg.Wait()
		s.wantNoRefusal(t)
		took := time.Since(start)
		// 80 calls are 5 rounds of 18, all within the 94 of two minutes.
		if bound := 4*(1250*time.Millisecond+latency) + 2*time.Minute/50 + 2*latency; took > bound {
			t.Errorf("took %v, want %v at most", took, bound)
		}
		if estimate < took*8/10 || estimate > took*13/10 {
			t.Errorf("estimated at %v, took %v", estimate, took)
		}
		// The next hour finds the window of two minutes used up.
		estimate = c.l.Estimate(key, "kr", calls)
		start = time.Now()
		for method, n := range calls {
			for range n {
				wg.Go(func() { c.send("kr", method, ratelimit.NextSlot, evenly(latency)) })
			}
		}
		wg.Wait()
		took = time.Since(start)
		if took > 2*time.Minute+5*time.Second || estimate < took*9/10 || estimate > took*11/10 {
			t.Errorf("the next took %v, estimated at %v, want two minutes", took, estimate)
		}
		s.wantNoRefusal(t)
	})
}

// TestEstimate goes by what is known: limits, use, queue, penalties, latency.
func TestEstimate(t *testing.T) {
	t.Parallel()
	const cycle = time.Minute + 250*time.Millisecond
	for _, tt := range []struct {
		name     string
		before   func(c *client, wg *sync.WaitGroup)
		host     string
		calls    map[string]int
		min, max time.Duration
	}{
		{"nothing", nil, "kr", map[string]int{"league": 0}, 0, 0},
		{"one", nil, "kr", map[string]int{"league": 1}, 0, time.Second},
		{"a window's worth", nil, "kr", map[string]int{"league": 94}, 0, 2 * time.Second},
		{"one more than that", nil, "kr", map[string]int{"league": 95}, cycle - time.Second, cycle + time.Second},
		{"three windows", nil, "kr", map[string]int{"league": 285}, 3*cycle - time.Second, 3*cycle + time.Second},
		{"the longest method decides", nil, "kr", map[string]int{"league": 200, "match": 100}, 2*cycle - time.Second, 2*cycle + time.Second},
		{"the application's limit", nil, "kr", map[string]int{"match": 1500}, 30 * time.Second, 33 * time.Second},
		{"a method never seen", nil, "kr", map[string]int{"account": 500}, 10 * time.Second, 12 * time.Second},
		{"a host never seen", nil, "europe", map[string]int{"account": 40}, 2500 * time.Millisecond, 4 * time.Second},
		{"behind a queue", func(c *client, wg *sync.WaitGroup) {
			for range 190 {
				wg.Go(func() { c.send("kr", "league", ratelimit.Background, trip{}) })
			}
		}, "kr", map[string]int{"league": 94}, 2*cycle - time.Second, 2*cycle + 2*time.Second},
		{"a penalty", func(c *client, _ *sync.WaitGroup) {
			c.ask("kr", "league").Done(refused(ratelimit.RefusedMethod, 20*time.Second, true))
		}, "kr", map[string]int{"league": 1}, 20 * time.Second, 21 * time.Second},
		{"a slow host", func(c *client, _ *sync.WaitGroup) {
			for range 60 {
				c.send("kr", "match", ratelimit.Background, evenly(2*time.Second))
			}
		}, "kr", map[string]int{"match": 640}, 18 * time.Second, 22 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := warm(t, ratelimit.Options{})
				var wg sync.WaitGroup
				if tt.before != nil {
					tt.before(c, &wg)
					synctest.Wait()
				}
				if got := c.l.Estimate(key, tt.host, tt.calls); got < tt.min || got > tt.max {
					t.Errorf("estimated at %v, want %v to %v", got, tt.min, tt.max)
				}
				wg.Wait()
			})
		})
	}
}
