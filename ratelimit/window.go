package ratelimit

import (
	"math"
	"time"
)

// window is one window of a bucket's limit and what is in use of it.
type window struct {
	limit  int
	length time.Duration

	first  uint64 // number of the oldest answer that still holds its slot
	people int    // how many of the answers that hold one were people's

	// theirs are counts that show requests which are not ours, each for as long
	// as the server's window that showed it may last. They fall from front to
	// back, since a higher one covers all lower ones before it.
	theirs []sighting
	// seenAt is when a count last showed that another program uses the window,
	// where seen.
	seenAt moment
	seen   bool
	// anchor is an early answer of the server's window, against which the pace
	// of the other program is measured: so many requests a nanosecond.
	anchor anchor
	pace   float64

	// kept is how many slots are kept for people until keptUntil: as many as
	// they were short of once, up to their share and one.
	kept      int
	keptUntil moment
}

// sighting is a count that can't be all ours: a window of the server's that
// lasts until then at most holds so many requests, besides ours under way.
type sighting struct {
	count int
	until moment
}

// anchor is what was known at one answer: the server's count, and ours.
type anchor struct {
	count int
	at    moment
	ours  uint64 // the number of the answer
}

// quota is how the slots of a window are shared out.
type quota struct {
	all   int // what people may use up to
	rest  int // what everyone else may use up to
	share int // what is kept for people
}

// quota returns how w is shared out. All but one slot can be used: the last is
// for the first request after a restart.
func (b *bucket) quota(now moment, w *window) quota {
	n := w.limit
	if f := b.budget(now); f < 1 {
		n = max(1, int(float64(n)*f))
	}
	q := quota{
		all:   max(1, n-1),
		share: max(1, int(math.Ceil(float64(n)*b.cfg.PeopleShare-1e-9))),
	}
	q.rest = max(1, n-q.share)
	if now < w.keptUntil {
		q.rest = max(1, min(q.rest, q.all-w.kept))
	}
	return q
}

// allowance returns up to how many slots of w a request may use, and how many of
// those in use don't count against that: people's use of their share is not at
// the expense of the rest.
func (b *bucket) allowance(now moment, w *window, person bool) (limit, exempt int) {
	q := b.quota(now, w)
	if person {
		return q.all, 0
	}
	return q.rest, min(b.inFlightPeople+w.people, q.all-q.rest)
}

// ours returns how many slots of w our own requests hold.
func (b *bucket) ours(w *window) int { return b.inFlight + int(b.answers.next-w.first) }

// used returns how much of w is in use: ours, or what the server counted,
// whichever is more.
func (b *bucket) used(now moment, w *window) int {
	return max(b.ours(w), b.counts(now, w))
}

// counts returns what the server may have counted in its window by the time all
// of ours under way are, if its counts show another program; else 0. That one
// is thought to have gone on at its pace since the last count.
func (b *bucket) counts(now moment, w *window) int {
	if len(w.theirs) == 0 {
		return 0
	}
	since := float64(now-b.countedAt) * w.pace
	return w.theirs[0].count + b.inFlight + int(math.Ceil(since))
}

// roomAt returns when w has room for one more request: now; later; or never, if
// that takes an answer first. It may be early, never late: room is looked for
// again then.
func (b *bucket) roomAt(now moment, w *window, person bool) moment {
	limit, exempt := b.allowance(now, w, person)
	at := now
	if short := b.ours(w) - exempt - limit + 1; short > 0 {
		answered := int(b.answers.next - w.first)
		if short > answered {
			at = never
		} else {
			at = b.freeAt(w, w.first+uint64(short)-1)
		}
	}
	if b.counts(now, w)-exempt >= limit {
		at = max(at, w.theirs[0].until)
	}
	if person && at > now {
		b.keep(now, w)
	}
	return at
}

// keep has one more slot kept for people than they use now: one of them found
// no room. The last slot of their share is granted to nobody, so they miss it
// first. The slot is kept for as long as they use it, and three windows.
func (b *bucket) keep(now moment, w *window) {
	if people := b.inFlightPeople + w.people; people <= b.quota(now, w).share {
		if now >= w.keptUntil {
			w.kept = 0
		}
		w.kept = max(w.kept, people+1)
		w.keptUntil = now + 3*(w.length+b.cfg.Slack)
	}
}

// freeAt returns when answer n gives its slot of w back.
func (b *bucket) freeAt(w *window, n uint64) moment {
	return b.answers.get(n).at() + w.length + b.cfg.Slack
}

// release gives back all slots of w whose time has come.
func (b *bucket) release(now moment, w *window) {
	for w.first != b.answers.next && b.freeAt(w, w.first) <= now {
		if b.answers.get(w.first).person() {
			w.people--
		}
		w.first++
	}
	gone := 0
	for gone < len(w.theirs) && w.theirs[gone].until <= now {
		gone++
	}
	if gone > 0 {
		w.theirs = append(w.theirs[:0], w.theirs[gone:]...)
	}
}

// observe takes in that the server counted count in its window when it counted
// a request of ours, and that at most most of these were ours. More than that
// shows another program; while one is about, every count is held, as ours of an
// earlier window may hide it.
func (b *bucket) observe(now moment, w *window, count, most int) {
	for i := range w.theirs {
		w.theirs[i].count = max(w.theirs[i].count, count)
	}
	if count > most {
		w.seenAt, w.seen = now, true
	}
	if now >= b.sharedUntil(w) {
		w.anchor, w.pace = anchor{}, 0
		return
	}
	w.sight(count, now+w.length+b.cfg.Slack)
	from := w.anchor
	if span := now - from.at; from.count == 0 || count <= from.count || span > w.length {
		// This count is of a new window, or was overtaken.
		w.anchor = anchor{count, now, b.answers.next}
	} else if span > w.length/10 {
		foreign := count - from.count - int(b.answers.next-from.ours)
		w.pace = max(0, float64(foreign)/float64(span))
	}
}

// sight notes that w holds count until then, besides ours under way.
func (w *window) sight(count int, until moment) {
	kept := len(w.theirs)
	for kept > 0 && w.theirs[kept-1].count <= count {
		until = max(until, w.theirs[kept-1].until)
		kept--
	}
	w.theirs = append(w.theirs[:kept], sighting{count, until})
}

// miss takes in that a request of ours ended without a count: it may have been
// counted after any of theirs.
func (w *window) miss() {
	for i := range w.theirs {
		w.theirs[i].count++
	}
}

// sharedUntil returns until when another program is thought to use w.
func (b *bucket) sharedUntil(w *window) moment {
	if !w.seen {
		return 0
	}
	return w.seenAt + 3*(w.length+b.cfg.Slack)
}
