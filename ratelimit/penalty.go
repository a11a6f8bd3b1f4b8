package ratelimit

import "time"

const (
	shrinkBy      = 0.8  // a refusal leaves so much of the budget,
	shrinkFloor   = 0.2  // so much at least,
	recoverBy     = 0.05 // and every quiet window gives back so much
	minBackoff    = 500 * time.Millisecond
	maxBackoff    = 30 * time.Second
	maxRetryAfter = time.Hour
)

// refuse takes in a refusal by b of a request that left at sent, and returns
// until when b waits. Requests that were under way together are refused
// together: that is one refusal. jitter draws from [0, 1).
func (b *bucket) refuse(now, sent moment, kind Refusal, a Answer, jitter func() float64) moment {
	if b.strikes == 0 || sent >= b.struckAt {
		b.strikes++
		b.struckAt = now
	}
	b.probing = true
	asked := time.Duration(0)
	if a.HasRetryAfter && a.RetryAfter > 0 {
		asked = min(a.RetryAfter, max(maxRetryAfter, b.longest)) + b.cfg.Slack
	}
	wait := asked
	if kind == RefusedService || asked == 0 {
		top := maxBackoff
		if b.strikes < 6 {
			top = min(top, minBackoff<<b.strikes)
		}
		wait = max(asked, minBackoff+time.Duration(jitter()*float64(top-minBackoff)))
	}
	b.blockedUntil = max(b.blockedUntil, now+wait)
	if kind == RefusedService {
		return b.blockedUntil
	}
	if !b.shrunk || sent >= b.refusedAt {
		b.factor = max(shrinkFloor, b.budget(now)*shrinkBy)
		b.refusedAt, b.shrunk = now, true
	}
	counts := a.AppCounts
	if kind == RefusedMethod {
		counts = a.MethodCounts
	}
	for i := range b.windows {
		// A window that is over its limit stays so until it ends, whoever
		// filled it.
		w := &b.windows[i]
		if count := countOf(counts, w.length); count >= w.limit {
			until := now + w.length + b.cfg.Slack
			if asked > 0 {
				until = min(until, now+asked)
			}
			w.seenAt, w.seen = now, true
			w.sight(count, until)
		}
	}
	return b.blockedUntil
}

// budget returns which part of the limits is used: 1, or less since a refusal.
func (b *bucket) budget(now moment) float64 {
	if !b.shrunk {
		return 1
	}
	quiet := b.longest
	if quiet <= 0 {
		quiet = keepUnknown
	}
	f := b.factor + recoverBy*float64((now-b.refusedAt)/quiet)
	if f >= 1 {
		b.shrunk = false
		return 1
	}
	return f
}
