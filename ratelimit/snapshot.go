package ratelimit

import (
	"cmp"
	"slices"
	"time"
)

// BucketState is what is known of one limit at one moment.
type BucketState struct {
	// Key and Host say whose limit it is. Method is "" for the application's.
	Key, Host, Method string
	// Known is unset until limits were seen, or three answers showed none.
	Known bool
	// Windows are the limits and their use. None and Known: no limit.
	Windows []WindowState
	Mode    Mode
	// Waiting counts the requests in the queue; for the application's bucket
	// those of all its methods.
	Waiting int
	// InFlight counts the requests under way.
	InFlight int
	// NextFree is when the next request that no person waits for finds room:
	// the moment of the snapshot, or later. Zero: not before an answer arrives.
	NextFree time.Time
	// PenaltyUntil is until when a refusal holds the bucket up. Zero: it does not.
	PenaltyUntil time.Time
	// Budget is the part of the limits that is used: 1, or less after a refusal.
	Budget float64
	// SuspendedUntil is set while the key steps back.
	SuspendedUntil time.Time
}

// WindowState is one window of a limit and what is in use of it, as far as is
// known: what this limiter sent, or what the server counted, if that is more.
type WindowState struct {
	Limit
	Used int
}

// Snapshot returns the state of every bucket, by key, host and method.
func (l *Limiter) Snapshot() []BucketState {
	l.mu.RLock()
	hosts := make([]*host, 0, len(l.hosts))
	for _, h := range l.hosts {
		hosts = append(hosts, h)
	}
	l.mu.RUnlock()
	var all []BucketState
	for _, h := range hosts {
		all = h.snapshot(all)
	}
	slices.SortFunc(all, func(a, b BucketState) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Method, b.Method))
	})
	return all
}

func (h *host) snapshot(all []BucketState) []BucketState {
	h.mu.Lock()
	defer h.unlock()
	now := h.limiter.now()
	for _, l := range h.lanes {
		for _, m := range l.methods {
			h.refresh(now, m)
			all = append(all, h.state(now, l, m.name, &m.bucket, m.queue.size))
		}
		all = append(all, h.state(now, l, "", &l.app, l.waiting))
	}
	return all
}

func (h *host) state(now moment, l *lane, method string, b *bucket, waiting int) BucketState {
	s := BucketState{
		Key: l.key, Host: h.name, Method: method,
		Known: b.known, Mode: b.mode, Waiting: waiting, InFlight: b.inFlight,
		NextFree:       h.time(now, b.room(now)),
		PenaltyUntil:   h.time(now, b.blockedUntil),
		SuspendedUntil: h.time(now, l.suspendedUntil),
		Budget:         b.budget(now),
	}
	if b.blockedUntil <= now {
		s.PenaltyUntil = time.Time{}
	}
	if l.suspendedUntil <= now {
		s.SuspendedUntil = time.Time{}
	}
	for i := range b.windows {
		w := &b.windows[i]
		s.Windows = append(s.Windows, WindowState{Limit{w.limit, w.length}, b.used(now, w)})
	}
	return s
}

// time returns at as a time, zero for never.
func (h *host) time(now, at moment) time.Time {
	if at == never {
		return time.Time{}
	}
	return h.limiter.start.Add(max(now, at))
}

// room returns when b has room for one more request of nobody in particular,
// spacing aside.
func (b *bucket) room(now moment) moment {
	at := max(now, b.blockedUntil)
	if b.inFlight > 0 && b.gated(now) {
		return never
	}
	for i := range b.windows {
		at = max(at, b.roomAt(now, &b.windows[i], false))
	}
	return at
}
