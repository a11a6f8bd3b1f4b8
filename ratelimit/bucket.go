package ratelimit

import "time"

const (
	// bareAnswers without limits, and a bucket does without: Riot shows the
	// limits with every answer of its edge.
	bareAnswers = 3
	// keepUnknown is for how long answers are kept while no window is known:
	// the longest window that is assumed then.
	keepUnknown = 2 * time.Minute
	// markedWindows is for how many windows a permit remembers the use.
	markedWindows = 4
	// maxWindows is how many windows of a limit are taken in.
	maxWindows = 16
)

// assumedLimits are the application's limits until they are known: those of
// Riot's smallest keys.
var assumedLimits = []Limit{{20, time.Second}, {100, 2 * time.Minute}}

// bucket is what is known of one limit, and the slots in use. It is pure: the
// present is an argument, and it starts and waits for nothing.
type bucket struct {
	cfg   *Options
	start time.Time // of the limiter; only the spacing needs real time

	known      bool   // limits were seen, or assumed
	assumed    bool   // no answer showed them
	bare       int    // answers without limits
	learnedAt  moment // when the windows last changed
	generation uint32 // of the windows
	windows    []window
	longest    time.Duration // of the windows

	granted        uint64 // requests ever
	inFlight       int
	inFlightPeople int
	answers        answers
	counted        bool          // an answer with counts was seen,
	countedAt      moment        // the last one then
	latency        time.Duration // a running mean

	mode Mode
	pace pace

	blockedUntil moment // by a refusal
	probing      bool   // since a refusal: one under way until one succeeds
	strikes      int    // refusals of a kind that tells no limit, in a row
	shrunk       bool   // the budget was cut,
	factor       float64
	refusedAt    moment // at this moment, to factor
	struckAt     moment // when strikes last rose
}

// mark is what a permit remembers of a bucket: how many of our requests the
// server may have counted, at most, when it counts this one.
type mark struct {
	granted    uint64
	generation uint32
	all        int32
	used       [markedWindows]int32
}

// advance gives back what is no longer in use.
func (b *bucket) advance(now moment) {
	for i := range b.windows {
		b.release(now, &b.windows[i])
	}
	horizon := b.longest
	if len(b.windows) == 0 {
		horizon = keepUnknown
	}
	b.answers.forget(now, horizon+b.cfg.Slack)
}

// earliest returns when one more request may leave b: now, later, or never: not
// before an answer arrives.
func (b *bucket) earliest(now moment, person bool) moment {
	at := max(now, b.blockedUntil)
	if b.inFlight > 0 && b.gated(now) {
		at = never
	}
	for i := range b.windows {
		at = max(at, b.roomAt(now, &b.windows[i], person))
	}
	if at > now || b.mode == Normal {
		b.pace.reset()
		return at
	}
	return b.pace.next(b.start, now, b.spacing(now))
}

// gated reports whether one request at a time may be under way: until limits
// are known, after a refusal, and where another program uses them and its use
// is no longer known.
func (b *bucket) gated(now moment) bool {
	if !b.known || b.probing {
		return true
	}
	for i := range b.windows {
		w := &b.windows[i]
		if now < b.sharedUntil(w) && (!b.counted || now-b.countedAt > w.length/4) {
			return true
		}
	}
	return false
}

// spacing returns how far apart requests leave: so that a window's worth takes
// a fiftieth of the window. The widest of the well-used windows decides, else
// the narrowest.
func (b *bucket) spacing(now moment) time.Duration {
	var hot, cold time.Duration
	for i := range b.windows {
		w := &b.windows[i]
		every := w.length / 50 / time.Duration(max(1, w.limit))
		if b.usage(now, w) >= b.cfg.NormalAt {
			hot = max(hot, every)
		} else if cold == 0 || every < cold {
			cold = every
		}
	}
	if hot > 0 {
		return hot
	}
	return cold
}

// usage returns which part of w's budget is in use.
func (b *bucket) usage(now moment, w *window) float64 {
	return float64(b.used(now, w)) / (float64(w.limit) * b.budget(now))
}

// settle sets the mode by the use and by whether anything waits for b, and
// reports whether it changed.
func (b *bucket) settle(now moment, waits bool) bool {
	if !waits {
		b.pace.reset()
	}
	var usage float64
	for i := range b.windows {
		usage = max(usage, b.usage(now, &b.windows[i]))
	}
	was := b.mode
	switch {
	case waits || usage >= b.cfg.ThrottleAt:
		b.mode = Throttle
	case usage < b.cfg.NormalAt:
		b.mode = Normal
	}
	return b.mode != was
}

// take puts a request under way.
func (b *bucket) take(now moment, person bool) mark {
	if b.mode == Throttle {
		b.pace.take(b.start, now)
	}
	b.granted++
	b.inFlight++
	if person {
		b.inFlightPeople++
		for i := range b.windows {
			if w := &b.windows[i]; now < w.keptUntil && b.inFlightPeople+w.people >= w.kept {
				w.keptUntil = now + 3*(w.length+b.cfg.Slack)
			}
		}
	}
	m := mark{granted: b.granted, generation: b.generation, all: int32(b.inFlight + b.answers.len())}
	for i := range min(len(b.windows), markedWindows) {
		m.used[i] = int32(b.ours(&b.windows[i]))
	}
	return m
}

// undo takes back a request that did not leave.
func (b *bucket) undo(person bool) {
	b.inFlight--
	if person {
		b.inFlightPeople--
	}
}
