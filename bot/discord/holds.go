package discord

import (
	"context"
	"sync"
	"time"
)

// holds are the buckets of Discord that have no room at present, and until
// when. A bucket that is held delays nobody but those who ask for it.
type holds struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// wait returns when the bucket has room. Like [pacer.wait] it fails at once
// where that would be after ctx's deadline.
func (h *holds) wait(ctx context.Context, bucket string) error {
	for {
		now := time.Now()
		until := h.end(bucket)
		left := until.Sub(now)
		if left <= 0 {
			return nil
		}
		if deadline, ok := ctx.Deadline(); ok && until.After(deadline) {
			return &Error{Kind: Limited, Scope: ScopeUser, RetryAfter: left}
		}
		if err := sleep(ctx, left); err != nil {
			return &Error{Kind: Canceled, Err: err}
		}
	}
}

func (h *holds) end(bucket string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until[bucket]
}

// hold keeps the bucket shut until then, and forgets those that have opened.
func (h *holds) hold(bucket string, now, until time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until == nil {
		h.until = make(map[string]time.Time)
	}
	for key, end := range h.until {
		if !end.After(now) {
			delete(h.until, key)
		}
	}
	if until.After(h.until[bucket]) {
		h.until[bucket] = until
	}
}

// sleep waits for d, or until ctx ends and returns its error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
