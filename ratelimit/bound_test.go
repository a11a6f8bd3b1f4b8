package ratelimit_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

const key = "0123abcd"

// learn lets one request through, so that the limits of a method are known.
func learn(t *testing.T, l *ratelimit.Limiter, s *server, host, method string) {
	t.Helper()
	p, err := l.Acquire(t.Context(), ratelimit.Request{Key: key, Host: host, Method: method, Priority: ratelimit.Background})
	if err != nil {
		t.Fatal(err)
	}
	s.do(p, host, method, evenly(time.Millisecond))
}

// TestAtTheLimit holds a bucket's whole quota against the least time it can take.
func TestAtTheLimit(t *testing.T) {
	t.Parallel()
	const slack = 250 * time.Millisecond
	for _, limit := range []int{20, 100, 333, 2000} {
		for _, window := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute} {
			for _, latency := range []time.Duration{time.Millisecond, 80 * time.Millisecond, time.Second} {
				for _, cold := range []bool{false, true} {
					b := limit - max(1, int(math.Ceil(float64(limit)/20)))
					for _, n := range []int{1, b, b + 1, 3 * b, 4*b + b/2} {
						if underRace && limit == 2000 && n > b+1 {
							continue
						}
						name := fmt.Sprintf("%d of %d:%v, answered in %v, cold %t", n, limit, window, latency, cold)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							waves := (n + b - 1) / b
							bound := time.Duration(1.02*float64(waves-1)*float64(window+slack+latency)) + window/50 + latency
							if cold {
								bound += latency
							}
							synctest.Test(t, func(t *testing.T) {
								took, s := drain(t, per(limit, window), latency, n, cold)
								s.wantNoRefusal(t)
								if took > bound {
									t.Errorf("took %v, want %v at most", took, bound)
								}
							})
						})
					}
				}
			}
		}
	}
}

// drain sends n background requests that arrive at once.
func drain(t *testing.T, limit ratelimit.Limit, latency time.Duration, n int, cold bool) (time.Duration, *server) {
	t.Helper()
	s := newServer().limit("kr", per(1_000_000, time.Hour)).limit("kr/league", limit)
	l := ratelimit.New(ratelimit.Options{InFlight: -1, QueueSize: n})
	if !cold {
		learn(t, l, s, "kr", "league")
		time.Sleep(2 * limit.Window)
	}
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			p, err := l.Acquire(t.Context(), ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: ratelimit.Background})
			if err != nil {
				t.Error(err)
				return
			}
			s.do(p, "kr", "league", evenly(latency))
		})
	}
	wg.Wait()
	return time.Since(start), s
}

// TestHourOfWork is the workload of a full hour on a production key: 285 ranks
// at 100 a minute beside 1,200 match calls, by a pool of 64, while people ask.
func TestHourOfWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr/league", per(100, time.Minute)).limit("asia/match", per(2000, time.Minute))
		hosts := map[string]string{"league": "kr", "match": "asia"}
		for _, host := range hosts {
			s.limit(host, per(500, 10*time.Second), per(30_000, 10*time.Minute))
		}
		c := newClient(t, s, ratelimit.Options{})
		tasks := make(chan string, 285+1200)
		for i := range cap(tasks) {
			if i%5 == 0 && i/5 < 285 {
				tasks <- "league"
			} else {
				tasks <- "match"
			}
		}
		close(tasks)
		start := time.Now()
		var pool, people sync.WaitGroup
		for range 64 {
			pool.Go(func() {
				for method := range tasks {
					if r := c.send(hosts[method], method, ratelimit.NextSlot, evenly(80*time.Millisecond)); r.err != nil {
						t.Error(r.err)
					}
				}
			})
		}
		var longest time.Duration
		people.Go(func() {
			for i := range 6 {
				method := []string{"league", "match"}[i%2]
				r := c.send(hosts[method], method, ratelimit.Person, evenly(80*time.Millisecond))
				longest = max(longest, r.wait)
				time.Sleep(17 * time.Second)
			}
		})
		pool.Wait()
		took := time.Since(start)
		people.Wait()
		s.wantNoRefusal(t)
		// 285 ranks are three windows' worth, so two windows have to pass.
		const least = 2 * time.Minute
		if ratio := took.Seconds() / least.Seconds(); ratio > 1.02 {
			t.Errorf("took %v, %.3f times the least possible, want 1.02 at most", took, ratio)
		}
		if longest > time.Second {
			t.Errorf("a person waited %v", longest)
		}
		t.Logf("took %v; a person waited %v at most", took, longest)
	})
}
