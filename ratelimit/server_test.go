package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"riftchime/ratelimit"
)

// server counts as Riot does: in fixed windows, each of which opens with the
// first request that is counted in it. It keeps its own books, so that a mistake
// of the limiter's can't hide in it. Refused requests count, too.
type server struct {
	mu       sync.Mutex
	limits   map[string][]*fixedWindow // by host, and by host and method
	initial  map[string][]ratelimit.Limit
	requests int
	refusals []string
}

type fixedWindow struct {
	limit  int
	length time.Duration
	opened time.Time
	count  int
	most   int
}

func newServer() *server {
	return &server{limits: map[string][]*fixedWindow{}, initial: map[string][]ratelimit.Limit{}}
}

// limit sets the limits of a host, "kr", or of a method there, "kr/match".
func (s *server) limit(where string, limits ...ratelimit.Limit) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.limits[where]
	s.limits[where] = nil
	for _, l := range limits {
		w := &fixedWindow{limit: l.Count, length: l.Window}
		for _, o := range old {
			if o.length == l.Window {
				w.opened, w.count = o.opened, o.count
			}
		}
		s.limits[where] = append(s.limits[where], w)
	}
	return s
}

// count counts one request now and returns what its answer shows.
func (s *server) count(host, method string) ratelimit.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.requests++
	var a ratelimit.Answer
	one := func(where string, kind ratelimit.Refusal) (limits []ratelimit.Limit, counts []ratelimit.Usage) {
		for _, w := range s.limits[where] {
			if w.count == 0 || !now.Before(w.opened.Add(w.length)) {
				w.opened, w.count = now, 0
			}
			w.count++
			w.most = max(w.most, w.count)
			if w.count > w.limit {
				if a.Refusal == ratelimit.NotRefused {
					a.Refusal, a.HasRetryAfter = kind, true
					left := w.opened.Add(w.length).Sub(now)
					a.RetryAfter = (left + time.Second - 1).Truncate(time.Second)
				}
				s.refusals = append(s.refusals, fmt.Sprintf("%s: %d in a window of %d:%v", where, w.count, w.limit, w.length))
			}
			limits = append(limits, ratelimit.Limit{Count: w.limit, Window: w.length})
			counts = append(counts, ratelimit.Usage{Count: w.count, Window: w.length})
		}
		return limits, counts
	}
	a.AppLimits, a.AppCounts = one(host, ratelimit.RefusedApplication)
	a.MethodLimits, a.MethodCounts = one(host+"/"+method, ratelimit.RefusedMethod)
	return a
}

// most returns the highest count of any window of where.
func (s *server) most(where string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for _, w := range s.limits[where] {
		most = max(most, w.most)
	}
	return most
}

// refused returns how many requests were refused.
func (s *server) refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.refusals)
}

// wantNoRefusal fails the test if anything was refused.
func (s *server) wantNoRefusal(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.refusals); n > 0 {
		t.Errorf("%d of %d requests were refused, want none; the first: %s", n, s.requests,
			strings.Join(s.refusals[:min(n, 3)], "; "))
	}
}

// trip is how one request travels: counted after a part of the latency.
type trip struct {
	latency time.Duration
	counted time.Duration // since the sending
	lost    bool          // the answer does not arrive, the client gives up
	unseen  bool          // it is lost on its way there, too
}

// do sends one request that has its permit.
func (s *server) do(p *ratelimit.Permit, host, method string, tr trip) ratelimit.Answer {
	time.Sleep(tr.counted)
	var a ratelimit.Answer
	if !tr.unseen {
		a = s.count(host, method)
	}
	time.Sleep(tr.latency - tr.counted)
	if tr.lost {
		a = ratelimit.Answer{Lost: true}
	}
	p.Done(a)
	return a
}

// evenly is a trip of a fixed latency, counted half-way.
func evenly(d time.Duration) trip { return trip{latency: d, counted: d / 2} }

// randomly is a trip of 1 ms to 5 s, most of them short, counted anywhere.
func randomly(rng *rand.Rand) trip {
	d := time.Millisecond + upTo(rng, 300*time.Millisecond)
	if rng.IntN(20) == 0 {
		d = time.Millisecond + upTo(rng, 5*time.Second)
	}
	tr := trip{latency: d}
	switch rng.IntN(4) {
	case 0: // on arrival
	case 1:
		tr.counted = d
	default:
		tr.counted = upTo(rng, d)
	}
	if rng.IntN(50) == 0 {
		tr.lost, tr.unseen = true, rng.IntN(2) == 0
	}
	return tr
}

// per is a limit as the headers spell it.
func per(count int, window time.Duration) ratelimit.Limit {
	return ratelimit.Limit{Count: count, Window: window}
}

// reliably is a random trip that does not get lost.
func reliably(rng *rand.Rand) trip {
	tr := randomly(rng)
	tr.lost, tr.unseen = false, false
	return tr
}

// upTo draws a duration from [0, d).
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d)))
}
