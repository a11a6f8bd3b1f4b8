package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"riftchime/store"
)

// How long a command is expected to take is its last day's mean and three
// standard deviations, within these bounds (issue 5).
const (
	expectUnknown = 3 * time.Second
	expectLeast   = time.Second
	expectMost    = 15 * time.Minute
	expectEvery   = 10 * time.Minute
	expectWindow  = 24 * time.Hour
	deviations    = 3
)

// presses tells whether the same person works with the same command and options
// in the same channel already. It is safe for concurrent use.
type presses struct {
	mu       sync.Mutex // guards what follows
	expected map[string]time.Duration
	under    map[press]time.Time // until when a second one is held back
}

// press is what counts as the same command.
type press struct {
	user, channel    int64
	command, options string
}

func newPresses() *presses {
	return &presses{expected: map[string]time.Duration{}, under: map[press]time.Time{}}
}

// begin reports whether p may run, and marks it. done must be called when it
// ends; past the time that it is expected to take another may run too.
func (s *presses) begin(p press, now time.Time) (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until, there := s.under[p]; there && now.Before(until) {
		return nil, false
	}
	expected, known := s.expected[p.command]
	if !known {
		expected = expectUnknown
	}
	until := now.Add(expected)
	s.under[p] = until
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.under[p].Equal(until) {
			delete(s.under, p)
		}
	}, true
}

// learn takes what the commands took.
func (s *presses) learn(stats map[string]store.LatencyStats) {
	expected := make(map[string]time.Duration, len(stats))
	for command, st := range stats {
		if st.Count > 0 {
			expected[command] = min(max(st.Mean+deviations*st.StdDev, expectLeast), expectMost)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = expected
}

// run keeps what is expected up to date until ctx ends.
func (s *presses) run(ctx context.Context, db store.Records, log *slog.Logger) {
	for {
		stats, err := db.Latencies(ctx, time.Now().Add(-expectWindow))
		if err == nil {
			s.learn(stats)
		} else if ctx.Err() == nil {
			log.WarnContext(ctx, "latencies of commands not read", "err", err)
		}
		timer := time.NewTimer(expectEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
