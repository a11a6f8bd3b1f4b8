package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// TestRestart kills a client in mid-window, with requests under way, and goes on
// with a new one that knows nothing: no request is refused.
func TestRestart(t *testing.T) {
	t.Parallel()
	for seed := range seeds(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 5))
				s := newServer().limit("kr", randomLimits(rng, 4, 2, 2)...).limit("kr/league", randomLimits(rng, 2, 2, 2)...)
				for range 6 {
					// A window at least between the kills.
					life(t, s, rng, 10*time.Minute+upTo(rng, time.Minute), reliably)
				}
				s.wantNoRefusal(t)
			})
		})
	}
}

// TestTwoRestarts kills it twice in one window: the second probe may be one too
// many, and no more.
func TestTwoRestarts(t *testing.T) {
	t.Parallel()
	for seed := range seeds(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 6))
				s := newServer().limit("kr", per(1000, time.Minute)).limit("kr/league", per(100, time.Minute))
				life(t, s, rng, upTo(rng, 30*time.Second), reliably)
				life(t, s, rng, upTo(rng, 30*time.Second), reliably)
				life(t, s, rng, 5*time.Minute, reliably)
				if n := s.refused(); n > 1 {
					t.Errorf("%d requests were refused, want 1 at most: %v", n, s.refusals)
				}
			})
		})
	}
}

// life runs a client that always has something to ask, and kills it after d.
func life(t *testing.T, s *server, rng *rand.Rand, d time.Duration, trips func(*rand.Rand) trip) {
	ctx, kill := context.WithTimeout(t.Context(), d)
	defer kill()
	c := newClient(t, s, ratelimit.Options{})
	c.ctx = ctx
	var wg sync.WaitGroup
	for range 80 {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 7))
		wg.Go(func() {
			for {
				r := c.send("kr", "league", ratelimit.Priority(rng.IntN(4)), trips(rng))
				if errors.Is(r.err, ratelimit.ErrTooLate) || ctx.Err() != nil {
					return
				}
				if r.err != nil {
					t.Error(r.err)
					return
				}
			}
		})
	}
	wg.Wait()
	<-ctx.Done()
}

// TestStrangerThatStops has another program use a part of the key first.
func TestStrangerThatStops(t *testing.T) {
	t.Parallel()
	for seed := range seeds(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 8))
				s := newServer().limit("kr", per(1000, time.Minute)).limit("kr/league", per(100, time.Minute))
				for range rng.IntN(100) {
					s.count("kr", "league")
					time.Sleep(upTo(rng, 500*time.Millisecond))
				}
				life(t, s, rng, 5*time.Minute, randomly)
				s.wantNoRefusal(t)
			})
		})
	}
}

// TestStrangerThatGoesOn has another program use half of the key evenly, for as
// long as we use it: it is refused, perhaps, and we once at most.
func TestStrangerThatGoesOn(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"greedy", "even", "bursts"} {
		for seed := range seeds(60) {
			t.Run(fmt.Sprint(load, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 9))
					s := newServer().limit("kr", per(1000, time.Minute)).limit("kr/league", per(100, time.Minute))
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					c := newClient(t, s, ratelimit.Options{})
					c.ctx = ctx
					var wg sync.WaitGroup
					theirs := 0
					from := upTo(rng, 3*time.Minute)
					wg.Go(func() {
						pause(ctx, from)
						for pause(ctx, 1200*time.Millisecond) {
							if s.count("kr", "league").Refusal != ratelimit.NotRefused {
								theirs++
							}
						}
					})
					for range 100 {
						rng := rand.New(rand.NewPCG(rng.Uint64(), 10))
						wg.Go(func() {
							for ctx.Err() == nil {
								switch load {
								case "even":
									pause(ctx, upTo(rng, 250*time.Second))
								case "bursts":
									pause(ctx, time.Until(time.Now().Truncate(3*time.Minute).Add(3*time.Minute)))
								}
								r := c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond+upTo(rng, 300*time.Millisecond)))
								if errors.Is(r.err, ratelimit.ErrTooLate) {
									return
								}
							}
						})
					}
					wg.Wait()
					ours := s.refused() - theirs
					if ours > 1 {
						t.Errorf("%d of our requests were refused, want 1 at most (%d of theirs)", ours, theirs)
					}
				})
			})
		}
	}
}

// TestLostBesideStrangers holds a lost request against a count that was seen
// before it: the server may have counted it since.
func TestLostBesideStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(1000, time.Minute)).limit("kr/league", per(100, time.Minute))
		for range 59 {
			s.count("kr", "league")
		}
		c := newClient(t, s, ratelimit.Options{})
		c.send("kr", "league", ratelimit.Background, evenly(time.Millisecond))
		for lost := range 30 {
			if got := c.state("kr", "league").Windows[0].Used; got != 60+lost {
				t.Fatalf("%d used after %d lost, want %d", got, lost, 60+lost)
			}
			c.send("kr", "league", ratelimit.Background, trip{latency: time.Millisecond, lost: true})
		}
		s.wantNoRefusal(t)
	})
}
