package riot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/riot/riottest"
)

// sharing is a client and another program that use one key, in virtual time.
type sharing struct {
	t        *testing.T
	server   *riottest.Server
	caller   riot.Caller
	stranger http.RoundTripper
	players  []string

	// answered and refused count our requests for ranks, theirs and
	// theirsRefused those of the other program.
	answered, refused, theirs, theirsRefused atomic.Int64
}

func newSharing(t *testing.T, seed uint64) *sharing {
	t.Helper()
	sh := &sharing{t: t}
	sh.server = riottest.NewServer(riottest.Options{Latency: latency(seed, longestLatency), Seed: seed})
	on, err := fill(sh.server, 20, 0)
	if err != nil {
		t.Fatal(err)
	}
	sh.players, sh.stranger = on.Players, sh.server.Transport()
	c, err := riot.New(riot.Options{
		Keys: []string{testKey}, Transport: sh.server.Transport(), Limiter: newLimiter(t),
		Observe: func(s riot.Sent) {
			if s.Status == http.StatusTooManyRequests {
				sh.refused.Add(1)
			} else {
				sh.answered.Add(1)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	sh.caller = c.As(c.Fingerprints()[0], ratelimit.Background)
	return sh
}

// ours asks for one rank.
func (sh *sharing) ours(ctx context.Context, i int) {
	if _, err := sh.caller.LeagueEntries(ctx, "kr", riot.PUUID(sh.players[i%len(sh.players)])); err != nil && ctx.Err() == nil {
		sh.t.Errorf("a rank: %v", err)
	}
}

// other lets the other program ask for one.
func (sh *sharing) other(i int) {
	wait, err := sendRaw(sh.t.Context(), sh.stranger, question{riot.MethodLeague, sh.players[i%len(sh.players)]})
	if err != nil {
		sh.t.Errorf("the other program: %v", err)
	}
	sh.theirs.Add(1)
	if wait > 0 {
		sh.theirsRefused.Add(1)
	}
}

// TestStrangerThatStops has another program use as much of the key as there is,
// before we start or while we ask but little, and stop. Nothing of ours is
// refused when we then want everything.
func TestStrangerThatStops(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		for _, beside := range []bool{false, true} {
			t.Run(fmt.Sprintf("seed %d, beside us %t", seed, beside), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					sh := newSharing(t, seed)
					rng := rand.New(rand.NewPCG(seed, 2))
					if beside {
						sh.ours(t.Context(), 0)
					}
					time.Sleep(time.Duration(rng.Int64N(int64(time.Minute))))
					var theirs sync.WaitGroup
					for i := range 1 + rng.IntN(90) {
						theirs.Go(func() { sh.other(i) })
						time.Sleep(time.Duration(rng.Int64N(int64(300 * time.Millisecond))))
					}
					theirs.Wait()
					if beside {
						sh.ours(t.Context(), 0)
					}
					start := time.Now()
					var wg sync.WaitGroup
					for i := range 285 {
						wg.Go(func() { sh.ours(t.Context(), i) })
					}
					wg.Wait()
					if n := sh.refused.Load(); n != 0 {
						t.Errorf("%d of our requests were refused after %d of theirs, want none", n, sh.theirs.Load())
					}
					// The window they used is lost at worst. In the next ones, as
					// long as they might come back, slots come free with the
					// last of their window, a fiftieth of it later.
					if took, most := time.Since(start), least(285, share{95, time.Minute})+time.Minute; took > most+most/20 {
						t.Errorf("took %v, want %v at most and a twentieth", took, most)
					}
					noViolation(t, sh.server)
				})
			})
		}
	}
}

// TestStrangerThatGoesOn has another program use half of a limit evenly for half
// an hour, while we want everything. One of our requests may be refused; from
// then on what we use fits beside it.
func TestStrangerThatGoesOn(t *testing.T) {
	t.Parallel()
	seeds := uint64(20)
	if underRace {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const span = 30 * time.Minute
				sh := newSharing(t, seed)
				rng := rand.New(rand.NewPCG(seed, 3))
				ctx, cancel := context.WithTimeout(t.Context(), span)
				defer cancel()
				var wg sync.WaitGroup
				before := time.Duration(rng.Int64N(int64(2 * time.Minute)))
				wg.Go(func() {
					time.Sleep(before)
					ticker := time.NewTicker(time.Minute / 50)
					defer ticker.Stop()
					for i := 0; ; i++ {
						select {
						case <-ticker.C:
							wg.Go(func() { sh.other(i) })
						case <-ctx.Done():
							return
						}
					}
				})
				for i := range poolSize {
					wg.Go(func() {
						// Without a deadline, which would have the limiter turn
						// the last ones away.
						for n := i; ctx.Err() == nil; n += poolSize {
							sh.ours(t.Context(), n)
						}
					})
				}
				wg.Wait()
				ours, theirs := sh.answered.Load(), sh.theirs.Load()-sh.theirsRefused.Load()
				if n := sh.refused.Load(); n > 1 {
					t.Errorf("%d of our requests were refused, want 1 at most", n)
				}
				// Half of the limit is ours. A window whose opening is not known
				// is left half empty at times; a third is used at the least.
				if each := float64(ours) / span.Minutes(); each < 100.0/6 {
					t.Errorf("%.1f of ours a minute beside %.1f of theirs, want a third of the rest at least", each, float64(theirs)/span.Minutes())
				}
				t.Logf("%d of ours and %d of theirs answered, %d and %d refused",
					ours, theirs, sh.refused.Load(), sh.theirsRefused.Load())
			})
		})
	}
}

// TestKeyThatDiesWhileManyWait lets a key be refused while 205 of 300 requests
// wait for its next window. They are told in that instant, and asked again with
// another key they go ahead of what waits there, within its limits.
func TestKeyThatDiesWhileManyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const (
			both   = 100 * time.Millisecond
			second = testKey + "2"
		)
		s, c := newWorld(t, riottest.Options{
			Keys:    []string{testKey, second},
			Latency: func(riottest.Call) (before, after time.Duration) { return both / 2, both / 2 },
		})
		who := add(t, s, riottest.Player{GameName: "a", TagLine: "KR1", Platform: "kr"})
		id := map[riot.Fingerprint]riot.PUUID{
			riot.FingerprintOf(testKey): riot.PUUID(s.PUUID(testKey, who)),
			riot.FingerprintOf(second):  riot.PUUID(s.PUUID(second, who)),
		}
		first, other := c.Fingerprints()[0], c.Fingerprints()[1]
		ask := func(fp riot.Fingerprint, p ratelimit.Priority) error {
			_, err := c.As(fp, p).LeagueEntries(t.Context(), "kr", id[fp])
			return err
		}

		var (
			wg                           sync.WaitGroup
			mu                           sync.Mutex // guards what follows
			told                         []time.Time
			lastRetried, firstAfterwards time.Time
		)
		start := time.Now()
		for range 300 {
			wg.Go(func() {
				err := ask(first, ratelimit.NextSlot)
				if err == nil {
					return
				}
				if !riot.IsKind(err, riot.KindBadKey) {
					t.Errorf("got %v, want the key refused", err)
				}
				at := time.Now()
				if err := ask(other, ratelimit.Retry); err != nil {
					t.Errorf("with the other key: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				told = append(told, at)
				lastRetried = time.Now()
			})
		}
		for range 150 {
			wg.Go(func() {
				if err := ask(other, ratelimit.Background); err != nil {
					t.Errorf("of the other key: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if time.Since(start) > 30*time.Second && firstAfterwards.IsZero() {
					firstAfterwards = time.Now()
				}
			})
		}
		time.Sleep(30 * time.Second)

		fault := s.AddFault(riottest.Fault{Kind: riottest.FaultStatus, Status: http.StatusForbidden, Key: testKey})
		caller := c.As(first, ratelimit.Person)
		_, errAccount := caller.AccountByPUUID(t.Context(), riot.Asia, id[first])
		_, errIDs := caller.MatchIDs(t.Context(), "kr", id[first], riot.MatchIDsQuery{})
		_, errSummoner := caller.Summoner(t.Context(), "kr", id[first])
		died := time.Now()
		for _, err := range []error{errAccount, errIDs, errSummoner} {
			if !riot.IsKind(err, riot.KindBadKey) {
				t.Errorf("got %v, want the key refused", err)
			}
		}
		wg.Wait()
		took := time.Since(start)

		if len(told) != 300-95 {
			t.Errorf("%d were sent away, want all 205 that waited", len(told))
		}
		for _, at := range told {
			if at != died {
				t.Errorf("told %v after the key died, want at once", at.Sub(died))
			}
		}
		if lastRetried.After(firstAfterwards) {
			t.Errorf("the last that was asked again had its answer %v after the first that waited for the other key", lastRetried.Sub(firstAfterwards))
		}
		// 150 and 205 with one key are four windows of 95.
		if least := least(150+205, share{95, time.Minute}); took.Seconds() > mostTimesLeast*least.Seconds() {
			t.Errorf("took %v, want %v at most and 2 %%", took, least)
		}
		st := s.Stats()
		if st.Refusals() != 0 || st.Overshoot != 0 {
			t.Errorf("%d refusals %v", st.Refusals(), st.Refused)
		}
		if h := c.Health(); !h[0].Refused || h[1].Refused {
			t.Errorf("health is %+v", h)
		}

		// The key lives again: it is found out, and used at once.
		s.RemoveFault(fault)
		c.Probe(t.Context())
		if h := c.Health(); h[0].Refused {
			t.Error("the key was not found good again")
		}
		start = time.Now()
		if err := ask(first, ratelimit.NextSlot); err != nil || time.Since(start) != both {
			t.Errorf("a call with the key that lives again: %v after %v", err, time.Since(start))
		}
	})
}
