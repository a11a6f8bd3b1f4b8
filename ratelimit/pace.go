package ratelimit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// catchUp is how late a timer may be for its request to still count as having
// left on time, so that late timers do not slow a bucket down.
const catchUp = 10 * time.Millisecond

// pace spaces the requests that leave a throttled bucket.
type pace struct {
	lim   *rate.Limiter
	every time.Duration
	due   moment // the moment last promised to the next request; 0: none
}

// next returns the moment at which a request may leave when they are spaced by
// every: now, or later.
func (p *pace) next(start time.Time, now moment, every time.Duration) moment {
	if every <= 0 {
		return now
	}
	ref := p.reference(now)
	switch {
	case p.lim == nil:
		p.lim, p.every = rate.NewLimiter(rate.Every(every), 1), every
	case p.every != every:
		p.lim.SetLimitAt(start.Add(ref), rate.Every(every))
		p.every = every
	}
	wait := math.Ceil((1-p.lim.TokensAt(start.Add(ref)))*float64(every) - 1e-3)
	if wait <= 0 {
		return now
	}
	// Where the timer was late by more than one spacing, this one is due too.
	p.due = ref + moment(wait)
	return max(p.due, now)
}

// take counts a request that leaves now, and promises the next its spacing.
func (p *pace) take(start time.Time, now moment) {
	if p.lim == nil {
		return
	}
	ref := p.reference(now)
	p.lim.AllowN(start.Add(ref), 1)
	p.due = ref + p.every
}

// reset forgets what was promised: nobody waits, or for something else.
func (p *pace) reset() { p.due = 0 }

// reference returns the moment from which the next spacing counts: the one that
// was promised, if that has just passed, else now.
func (p *pace) reference(now moment) moment {
	if p.due > 0 && p.due <= now && now-p.due <= catchUp {
		return p.due
	}
	return now
}
