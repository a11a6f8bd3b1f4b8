package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"riftchime/store"
)

// Failures counts failed requests a day, by endpoint and cause. Its zero value
// is ready; it is safe for concurrent use.
type Failures struct {
	mu     sync.Mutex // guards counts
	counts map[failure]int
}

type failure struct {
	day             int64 // Unix seconds of UTC midnight
	endpoint, cause string
}

// Add counts one failed request.
func (f *Failures) Add(endpoint, cause string) {
	day := time.Now().Unix() / 86400 * 86400
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[failure]int{}
	}
	f.counts[failure{day, endpoint, cause}]++
}

// take hands over what was counted since the last time.
func (f *Failures) take() []store.Failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	fs := make([]store.Failure, 0, len(f.counts))
	for k, n := range f.counts {
		fs = append(fs, store.Failure{Day: time.Unix(k.day, 0).UTC(), Endpoint: k.endpoint, Cause: k.cause, Count: n})
	}
	f.counts = nil
	return fs
}

// Run writes the counts to the store each minute, and a line to the log at
// midnight UTC, until ctx ends; then once more.
func (f *Failures) Run(ctx context.Context, s store.Records, log *slog.Logger) {
	flush := func(ctx context.Context) {
		fs := f.take()
		if len(fs) == 0 {
			return
		}
		if err := s.CountFailures(ctx, fs); err != nil {
			log.WarnContext(ctx, "failed requests not recorded", "err", err)
			for _, x := range fs {
				f.put(x)
			}
		}
	}
	for {
		now := time.Now().UTC()
		midnight := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
		wait := min(time.Minute, midnight.Sub(now))
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			flush(last)
			cancel()
			return
		case <-timer.C:
		}
		flush(ctx)
		if !time.Now().Before(midnight) {
			f.tell(ctx, s, log, midnight.Add(-24*time.Hour))
		}
	}
}

// put gives counts back that could not be written.
func (f *Failures) put(x store.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = map[failure]int{}
	}
	f.counts[failure{x.Day.Unix(), x.Endpoint, x.Cause}] += x.Count
}

// tell logs a day's failed requests.
func (f *Failures) tell(ctx context.Context, s store.Records, log *slog.Logger, day time.Time) {
	fs, err := s.Failures(ctx, day)
	if err != nil {
		log.WarnContext(ctx, "failed requests of the day not read", "err", err)
		return
	}
	total := 0
	attrs := make([]any, 0, 2*len(fs)+4)
	for _, x := range fs {
		total += x.Count
		attrs = append(attrs, x.Endpoint+"."+x.Cause, x.Count)
	}
	log.InfoContext(ctx, "failed requests of the day", "day", day.Format(time.DateOnly), "total", total, slog.Group("by", attrs...))
}
