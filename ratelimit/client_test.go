package ratelimit_test

import (
	"context"
	"testing"
	"time"

	"riftchime/ratelimit"
)

// client sends requests to one method of a server through a limiter. All of
// them end when ctx does, as if the process was killed: what is on its way then
// is not counted any more.
type client struct {
	t   *testing.T
	l   *ratelimit.Limiter
	s   *server
	ctx context.Context
}

func newClient(t *testing.T, s *server, o ratelimit.Options) *client {
	return &client{t: t, l: ratelimit.New(o), s: s, ctx: t.Context()}
}

// result is what became of one request.
type result struct {
	granted time.Time
	wait    time.Duration
	answer  ratelimit.Answer
	err     error
}

func (c *client) send(host, method string, p ratelimit.Priority, tr trip) result {
	return c.request(ratelimit.Request{Key: key, Host: host, Method: method, Priority: p}, tr)
}

func (c *client) request(r ratelimit.Request, tr trip) result {
	permit, err := c.l.Acquire(c.ctx, r)
	if err != nil {
		return result{err: err}
	}
	res := result{granted: time.Now(), wait: permit.Waited()}
	if !pause(c.ctx, tr.counted) {
		return result{err: c.ctx.Err()}
	}
	if !tr.unseen {
		res.answer = c.s.count(r.Host, r.Method)
	}
	if !pause(c.ctx, tr.latency-tr.counted) {
		return result{err: c.ctx.Err()}
	}
	if tr.lost {
		res.answer = ratelimit.Answer{Lost: true}
	}
	permit.Done(res.answer)
	return res
}

// state returns a bucket's part of the snapshot.
func (c *client) state(host, method string) ratelimit.BucketState {
	c.t.Helper()
	for _, b := range c.l.Snapshot() {
		if b.Key == key && b.Host == host && b.Method == method {
			return b
		}
	}
	c.t.Fatalf("no bucket %s %q in the snapshot", host, method)
	return ratelimit.BucketState{}
}

// pause sleeps for d, and reports whether ctx lasted that long.
func pause(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
