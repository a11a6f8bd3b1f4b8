package ratelimit

import (
	"errors"
	"fmt"
	"time"
)

// Priority says who waits for a request. Lower values leave first.
type Priority uint8

// The priorities, the most urgent first. A request that has waited ten minutes
// moves one class up, and again after ten more, but never to Person.
const (
	// Person is for requests that a person waits for. A share of every window
	// ([Options].PeopleShare) is kept for them. It is the zero value.
	Person Priority = iota
	// Retry is for requests that were tried before, also with another key.
	Retry
	// NextSlot is for what the next report needs.
	NextSlot
	// Background is for everything else.
	Background

	priorities = iota
)

// String returns the priority as it is spelled in logs and metrics.
func (p Priority) String() string {
	switch p {
	case Person:
		return "person"
	case Retry:
		return "retry"
	case NextSlot:
		return "next_slot"
	case Background:
		return "background"
	}
	return fmt.Sprintf("priority(%d)", uint8(p))
}

// Limit is one window of a limit: at most Count requests in Window. Both are
// positive; an entry that is not is ignored.
type Limit struct {
	Count  int
	Window time.Duration
}

// Usage is one entry of a count: Count requests so far in the current Window,
// the answered one included.
type Usage struct {
	Count  int
	Window time.Duration
}

// Request asks for a permit.
type Request struct {
	// Key identifies the API key: its fingerprint, never the key itself, as it
	// shows in logs and snapshots.
	Key string
	// Host is the routing value whose application limit counts, as "kr".
	Host string
	// Method is the endpoint whose method limit counts, as "league.entries".
	// It is a name from the code, never a path with parameters: a bucket is
	// kept for each for as long as the limiter lives.
	Method string
	// Priority defaults to Person. Values above Background count as Background.
	Priority Priority
	// Deadline is the time before which the request must leave. Zero: the
	// deadline of the context, or none. The earlier of the two counts. Among
	// requests of one priority the one with the earlier deadline goes first.
	Deadline time.Time
}

// Refusal says what refused a request, by the kind of a 429.
type Refusal uint8

const (
	// NotRefused is any answer but a 429. It is the zero value.
	NotRefused Refusal = iota
	// RefusedApplication is the application's limit: the key waits on this host.
	RefusedApplication
	// RefusedMethod is the method's limit: this method waits.
	RefusedMethod
	// RefusedService is everything else: "service", "server", an unknown type
	// or none. The method waits; no limit of ours was broken.
	RefusedService
)

// String returns the refusal as it is spelled in logs and metrics.
func (r Refusal) String() string {
	switch r {
	case NotRefused:
		return "none"
	case RefusedApplication:
		return "application"
	case RefusedMethod:
		return "method"
	case RefusedService:
		return "service"
	}
	return fmt.Sprintf("refusal(%d)", uint8(r))
}

// Answer is what an answer tells about the limits, or that there was none.
type Answer struct {
	// Lost is set when no answer arrived: a time-out, a reset, or the request
	// never left. It may have been counted, so its slot is held as if it was.
	// The other fields are not read then.
	Lost bool
	// Refusal is the kind of a 429.
	Refusal Refusal
	// RetryAfter is how long the server asked to wait, where HasRetryAfter.
	// Zero or less counts as absent; more than an hour (or the longest known
	// window, if that is longer) is cut to that.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// AppLimits and MethodLimits are the limits shown. Nil or without a valid
	// entry: nothing known changes.
	AppLimits, MethodLimits []Limit
	// AppCounts and MethodCounts are the counts shown, matched to the limits by
	// their window. Absent ones are fine.
	AppCounts, MethodCounts []Usage
}

// Mode is how requests leave a bucket.
type Mode uint8

const (
	// Normal lets requests leave at once and together.
	Normal Mode = iota
	// Throttle lets them leave one by one, evenly spaced.
	Throttle
)

// String returns "normal" or "throttle".
func (m Mode) String() string {
	if m == Throttle {
		return "throttle"
	}
	return "normal"
}

// Errors of [Limiter.Acquire]. No permit was given and no slot is in use.
var (
	// ErrQueueFull says that as many requests as allowed wait for the host
	// with this key.
	ErrQueueFull = errors.New("ratelimit: queue is full")
	// ErrTooLate says that the request can't leave before its deadline. The
	// error is a *TooLateError.
	ErrTooLate = errors.New("ratelimit: no room before the deadline")
	// ErrKeySuspended says that the key stepped back ([Limiter.Suspend]).
	ErrKeySuspended = errors.New("ratelimit: key is suspended")
)

// TooLateError says when a request could have left at the earliest, as far as
// was known when it was turned away. It is [ErrTooLate] to errors.Is.
type TooLateError struct {
	At time.Time
}

// Error implements error.
func (e *TooLateError) Error() string {
	return ErrTooLate.Error() + ": possible at " + e.At.UTC().Format("15:04:05.000")
}

// Unwrap returns ErrTooLate.
func (e *TooLateError) Unwrap() error { return ErrTooLate }
