package ratelimit

import (
	"log/slog"
	"math/rand/v2"
	"time"
)

// Options of a limiter. The zero value of each field is its default.
type Options struct {
	// Slack is how long beyond a full window after its answer a slot stays in
	// use: for clocks and caches that are not ours. Default: 250 ms. Less than
	// zero: none.
	Slack time.Duration
	// ThrottleAt is the part of a window in use from which a bucket throttles.
	// Default: 0.70.
	ThrottleAt float64
	// NormalAt is the part under which a bucket with an empty queue is back to
	// normal. Default: 0.50, at most ThrottleAt.
	NormalAt float64
	// InFlight is how many requests may be under way to a host, whatever their
	// key. Default: 64. Less than zero: no cap.
	InFlight int
	// QueueSize is how many requests may wait for a host and key. Default: 4096.
	QueueSize int
	// PeopleShare is the part of every window kept for Person, one request at
	// least. Its last slot is granted to nobody: it is for the first request
	// after a restart. Default: 0.05.
	PeopleShare float64
	// Observer is told what happens. Nil: nobody is.
	Observer Observer
	// Logger gets a line for each change of mode and each refusal. Nil: no log.
	Logger *slog.Logger
	// Rand draws the waits after refusals. Nil: the global source. The limiter
	// guards it with its own lock.
	Rand *rand.Rand
}

// Observer is told what the limiter does, for metrics. Its methods are called
// without any lock of the limiter held, from the goroutines of the callers and
// of timers, so several at a time; they must not block. The method is "" for
// the application's bucket.
type Observer interface {
	// Granted tells of a permit and how long its request waited for it.
	Granted(key, host, method string, p Priority, wait time.Duration)
	// Refused tells of a refusal and for how long the bucket now waits.
	Refused(key, host, method string, r Refusal, wait time.Duration)
	// ModeChanged tells of a bucket's new mode. It is found when the bucket is
	// next looked at: by a request, an answer or a snapshot.
	ModeChanged(key, host, method string, m Mode)
}

// withDefaults returns o with every unset field filled.
func (o Options) withDefaults() Options {
	switch {
	case o.Slack == 0:
		o.Slack = 250 * time.Millisecond
	case o.Slack < 0:
		o.Slack = 0
	}
	if o.ThrottleAt <= 0 {
		o.ThrottleAt = 0.70
	}
	if o.NormalAt <= 0 {
		o.NormalAt = 0.50
	}
	o.NormalAt = min(o.NormalAt, o.ThrottleAt)
	if o.InFlight == 0 {
		o.InFlight = 64
	}
	if o.QueueSize <= 0 {
		o.QueueSize = 4096
	}
	if o.PeopleShare <= 0 {
		o.PeopleShare = 0.05
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
