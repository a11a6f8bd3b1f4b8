package ratelimit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

var onlySeed = flag.Int64("seed", -1, "run the property test with this seed only")

// requestsPerSeed is how many requests every seed of the property test sends.
const requestsPerSeed = 10_000

// seeds returns n seeds, or a fifth of them under the race detector.
func seeds(n uint64) uint64 {
	if underRace {
		n /= 5
	}
	return n
}

// TestNoWindowOverflows tries arrival times against the limiter: whatever
// happens to a request between its grant and its answer, no window holds more
// than its limit.
func TestNoWindowOverflows(t *testing.T) {
	t.Parallel()
	if *onlySeed >= 0 {
		synctest.Test(t, func(t *testing.T) { workload(t, uint64(*onlySeed)) })
		return
	}
	for seed := range seeds(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { workload(t, seed) })
			if t.Failed() {
				t.Logf("again with: go test -run TestNoWindowOverflows -seed %d", seed)
			}
		})
	}
}

// workload sends requestsPerSeed requests of all kinds at random times.
func workload(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := newServer()
	hosts := []string{"kr", "asia"}[:1+rng.IntN(2)]
	methods := []string{"league", "match", "matches", "account"}[:1+rng.IntN(4)]
	for _, h := range hosts {
		s.limit(h, randomLimits(rng, 60, 3, 1)...)
		for _, m := range methods {
			if rng.IntN(8) > 0 { // else it has no limit of its own
				s.limit(h+"/"+m, randomLimits(rng, 20, 2, 1)...)
			}
		}
	}
	o := ratelimit.Options{Rand: rand.New(rand.NewPCG(seed, 4)), QueueSize: 1 << 20}
	if rng.IntN(3) == 0 {
		o.InFlight = -1
	}
	if rng.IntN(3) == 0 {
		o.Slack = -1 // the proof needs none
	}
	l := ratelimit.New(o)
	if rng.IntN(2) == 0 {
		// The windows of the server's are out of step with ours from the start.
		time.Sleep(upTo(rng, time.Minute))
	}
	bursty := rng.IntN(2) == 0

	var sent atomic.Int64
	var wg sync.WaitGroup
	for range 20 + rng.IntN(150) {
		rng := rand.New(rand.NewPCG(seed, rng.Uint64()))
		wg.Go(func() {
			for sent.Load() < requestsPerSeed {
				if bursty && rng.IntN(30) == 0 {
					time.Sleep(upTo(rng, time.Minute))
				} else if !bursty {
					time.Sleep(upTo(rng, 200*time.Millisecond))
				}
				host, method := hosts[rng.IntN(len(hosts))], methods[rng.IntN(len(methods))]
				if one(t, l, s, rng, host, method) {
					sent.Add(1)
				}
			}
		})
	}
	wg.Wait()
	s.wantNoRefusal(t)
	for _, b := range l.Snapshot() {
		if b.Waiting != 0 || b.InFlight != 0 {
			t.Errorf("%s %q: %d wait and %d are under way at the end, want none", b.Host, b.Method, b.Waiting, b.InFlight)
		}
	}
}

// one asks for a permit and sends a request, and reports whether it did.
func one(t *testing.T, l *ratelimit.Limiter, s *server, rng *rand.Rand, host, method string) bool {
	r := ratelimit.Request{Key: key, Host: host, Method: method, Priority: ratelimit.Priority(rng.IntN(4))}
	ctx := t.Context()
	if rng.IntN(10) == 0 {
		r.Deadline = time.Now().Add(upTo(rng, 2*time.Minute))
	}
	if rng.IntN(10) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		timer := time.AfterFunc(upTo(rng, time.Minute), cancel)
		defer timer.Stop()
	}
	p, err := l.Acquire(ctx, r)
	switch {
	case errors.Is(err, context.Canceled):
		return false
	case errors.Is(err, ratelimit.ErrTooLate):
		// Nothing can have it wait for ever to be told so.
		time.Sleep(time.Second)
		return false
	case err != nil:
		t.Error(err)
		return true
	}
	if !r.Deadline.IsZero() && !time.Now().Before(r.Deadline) {
		t.Errorf("granted at %v, after the deadline %v", time.Now(), r.Deadline)
	}
	s.do(p, host, method, randomly(rng))
	return true
}

// randomLimits draws up to most windows of 1 s to 10 min that let through about
// mean requests a second, and least requests in any case.
func randomLimits(rng *rand.Rand, mean, most, least int) []ratelimit.Limit {
	lengths := []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, time.Minute, 2 * time.Minute, 10 * time.Minute}
	from := 0
	var limits []ratelimit.Limit
	for range 1 + rng.IntN(most) {
		if from >= len(lengths) {
			break
		}
		from += rng.IntN(len(lengths) - from)
		w := lengths[from]
		from++
		limits = append(limits, per(max(least, int(w.Seconds()*float64(mean)*(0.05+rng.Float64()))), w))
	}
	return limits
}
