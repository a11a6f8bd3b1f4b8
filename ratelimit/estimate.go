package ratelimit

import "time"

// Estimate returns the least time that calls, so many requests a method, take
// from now on, behind all that waits for the host with this key: until the last
// of them has its answer. It goes by what is known: the limits, their use, the
// penalties and how long answers took of late. Unknown limits of the application
// count as 20 a second and 100 in two minutes, unknown ones of a method as none.
// It reserves nothing.
func (l *Limiter) Estimate(key, host string, calls map[string]int) time.Duration {
	h := l.host(host)
	h.mu.Lock()
	defer h.unlock()
	now := l.now()
	var total, known int
	lane := h.lanes[key]
	end := now
	app := &bucket{cfg: &l.opts, start: l.start}
	if lane != nil {
		app = &lane.app
		app.advance(now)
		total = lane.waiting
	}
	for name, n := range calls {
		if n <= 0 {
			continue
		}
		total += n
		known++
		if lane == nil || lane.methods[name] == nil {
			continue
		}
		m := lane.methods[name]
		m.bucket.advance(now)
		end = max(end, m.bucket.finish(now, n+m.queue.size))
	}
	if known == 0 {
		return 0
	}
	if !app.known {
		assumed := &bucket{cfg: &l.opts, start: l.start, latency: app.latency, known: true}
		assumed.setWindows(now, assumedLimits)
		// Until its first answer one request at a time is under way.
		end = max(end, assumed.finish(now, total)+app.tookOf())
	} else {
		end = max(end, app.finish(now, total))
	}
	if places := l.opts.InFlight; places > 0 {
		end = max(end, now+time.Duration((total+places-1)/places)*app.tookOf())
	}
	return end - now
}

// reach returns the earliest moment at which ahead requests and one more can
// have left b, as far as is known.
func (b *bucket) reach(now moment, person bool, ahead int, latency time.Duration) moment {
	at := max(now, b.blockedUntil)
	for i := range b.windows {
		at = max(at, b.windowReach(now, &b.windows[i], person, ahead, latency))
	}
	return at
}

// typicalLatency stands for that of a bucket without answers.
const typicalLatency = 200 * time.Millisecond

// tookOf returns how long an answer takes.
func (b *bucket) tookOf() time.Duration {
	if b.latency > 0 {
		return b.latency
	}
	return typicalLatency
}

// finish returns when the last of n more requests has its answer, if nothing
// else comes between.
func (b *bucket) finish(now moment, n int) moment {
	took := b.tookOf()
	at := max(now, b.blockedUntil)
	for i := range b.windows {
		w := &b.windows[i]
		// Those of one wave leave spaced.
		limit, exempt := b.allowance(now, w, false)
		wave := n
		if short := b.ours(w) - exempt + n - limit; short > 0 {
			wave = (short-1)%limit + 1
		}
		spaced := time.Duration(wave-1) * (w.length / 50 / time.Duration(w.limit))
		at = max(at, b.windowReach(now, w, false, n-1, took)+spaced)
	}
	return at + took
}

// windowReach returns the earliest moment at which w can have let through ahead
// requests and one more, when each answer takes latency and nothing else comes
// between.
func (b *bucket) windowReach(now moment, w *window, person bool, ahead int, latency time.Duration) moment {
	limit, exempt := b.allowance(now, w, person)
	at := now
	if short := b.ours(w) - exempt + ahead - limit + 1; short > 0 {
		// limit slots go round: those of answers come first, in order; then
		// those under way or free now, a whole cycle from now at the earliest.
		cycle := w.length + b.cfg.Slack + latency
		rounds, nth := (short-1)/limit, (short-1)%limit
		at = now + cycle
		if nth < int(b.answers.next-w.first) {
			at = b.freeAt(w, w.first+uint64(nth))
		}
		at += time.Duration(rounds) * cycle
	}
	if b.counts(now, w)-exempt >= limit {
		at = max(at, w.theirs[0].until)
	}
	return at
}
