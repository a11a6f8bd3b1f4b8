package ratelimit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// Limiter hands out permits. It is safe for concurrent use, has no goroutine of
// its own, and needs no closing: while nothing waits it has no timer either.
type Limiter struct {
	opts  Options
	start time.Time

	randMu sync.Mutex // guards opts.Rand

	mu        sync.RWMutex // guards all below; taken before no other lock
	hosts     map[string]*host
	suspended map[string]moment
}

// New returns a limiter that knows no limits yet.
func New(o Options) *Limiter {
	return &Limiter{
		opts:      o.withDefaults(),
		start:     time.Now(),
		hosts:     make(map[string]*host),
		suspended: make(map[string]moment),
	}
}

// Acquire waits until the request may be sent, and returns its permit; the
// caller sends the request at once and calls [Permit.Done] with what came of it.
//
// It returns without waiting *TooLateError if the request can't leave before
// its deadline, ErrQueueFull, or ErrKeySuspended. A wait ends with the first and
// the last of these, or with the error of ctx, wrapped. On any error no slot is
// in use.
func (l *Limiter) Acquire(ctx context.Context, r Request) (*Permit, error) {
	if err := ctx.Err(); err != nil {
		return nil, waitError(r, err)
	}
	h := l.host(r.Host)
	p := &Permit{priority: min(r.Priority, Background)}
	p.class = p.priority
	p.deadline = l.deadline(ctx, r.Deadline)
	p.order = p.deadline

	h.mu.Lock()
	if err := h.admit(l.now(), r, p); err != nil {
		h.unlock()
		return nil, err
	}
	if p.state == waiting {
		p.ready = make(chan struct{}, 1)
	}
	h.unlock()

	if p.ready != nil {
		if err := p.wait(ctx, r); err != nil {
			return nil, err
		}
	}
	if o := l.opts.Observer; o != nil {
		o.Granted(r.Key, r.Host, r.Method, p.priority, p.Waited())
	}
	return p, nil
}

// admit puts p in line and lets it leave if it can, or turns it away.
func (h *host) admit(now moment, r Request, p *Permit) error {
	m := h.method(r.Key, r.Method)
	p.method, p.arrived = m, now
	if now < m.lane.suspendedUntil {
		return ErrKeySuspended
	}
	h.refresh(now, m)
	if p.deadline != never {
		if at := m.reach(now, p); at >= p.deadline {
			return h.limiter.tooLate(at)
		}
	}
	h.enqueue(now, p)
	h.step(now)
	if p.state == waiting && m.lane.waiting > h.limiter.opts.QueueSize {
		// One that can leave at once needs no place in the queue.
		h.dequeue(p, failed)
		return fmt.Errorf("%w: %d wait for %s", ErrQueueFull, m.lane.waiting, h.name)
	}
	return nil
}

// wait waits for p to be granted.
func (p *Permit) wait(ctx context.Context, r Request) error {
	select {
	case <-p.ready:
		return p.err
	case <-ctx.Done():
	}
	h := p.method.lane.host
	h.mu.Lock()
	defer h.unlock()
	now := h.limiter.now()
	switch p.state {
	case waiting:
		h.dequeue(p, failed)
	case granted:
		// It came at the same moment; the request has not left.
		h.undo(p)
	}
	h.refresh(now, p.method)
	h.step(now)
	return waitError(r, ctx.Err())
}

func waitError(r Request, err error) error {
	return fmt.Errorf("ratelimit: wait for %s on %s: %w", r.Method, r.Host, err)
}

// Suspend makes a key step back until then, or, with a zero time, until Resume:
// all that wait for it and all that ask for it get ErrKeySuspended at once.
// Requests under way are not touched, and what is known of its limits stays.
func (l *Limiter) Suspend(key string, until time.Time) {
	at := never
	if !until.IsZero() {
		at = until.Sub(l.start)
	}
	l.setSuspension(key, at)
}

// Resume ends the suspension of a key.
func (l *Limiter) Resume(key string) { l.setSuspension(key, 0) }

func (l *Limiter) setSuspension(key string, until moment) {
	l.mu.Lock()
	if until > 0 {
		l.suspended[key] = until
	} else {
		delete(l.suspended, key)
	}
	hosts := make([]*host, 0, len(l.hosts))
	for _, h := range l.hosts {
		hosts = append(hosts, h)
	}
	l.mu.Unlock()
	for _, h := range hosts {
		h.suspend(key, until)
	}
}

func (h *host) suspend(key string, until moment) {
	h.mu.Lock()
	defer h.unlock()
	lane := h.lanes[key]
	if lane == nil {
		return
	}
	now := h.limiter.now()
	lane.suspendedUntil = until
	if until <= now {
		return
	}
	for _, m := range lane.methods {
		for _, p := range m.queue.waiting() {
			h.fail(p, ErrKeySuspended)
		}
	}
	h.step(now)
}

// suspension returns until when a key is suspended.
func (l *Limiter) suspension(key string) moment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.suspended[key]
}

// host returns the host of that name, made if it is new.
func (l *Limiter) host(name string) *host {
	l.mu.RLock()
	h := l.hosts[name]
	l.mu.RUnlock()
	if h != nil {
		return h
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if h = l.hosts[name]; h == nil {
		h = &host{limiter: l, name: name, lanes: make(map[string]*lane), wakeAt: never}
		l.hosts[name] = h
	}
	return h
}

// now is the only place that reads the clock.
func (l *Limiter) now() moment { return time.Since(l.start) }

// deadline returns the earlier of the context's deadline and at.
func (l *Limiter) deadline(ctx context.Context, at time.Time) moment {
	d := never
	if !at.IsZero() {
		d = at.Sub(l.start)
	}
	if at, ok := ctx.Deadline(); ok {
		d = min(d, at.Sub(l.start))
	}
	return d
}

func (l *Limiter) tooLate(at moment) error {
	return &TooLateError{At: l.start.Add(at)}
}

// random draws from [0, 1).
func (l *Limiter) random() float64 {
	if l.opts.Rand == nil {
		return rand.Float64()
	}
	l.randMu.Lock()
	defer l.randMu.Unlock()
	return l.opts.Rand.Float64()
}

func (l *Limiter) tellModes(host string, events []modeChange) {
	for _, e := range events {
		l.opts.Logger.Info("limiter mode", "key", e.key, "host", host, "method", e.method, "mode", e.mode.String())
		if o := l.opts.Observer; o != nil {
			o.ModeChanged(e.key, host, e.method, e.mode)
		}
	}
}

func (l *Limiter) tellRefusal(host string, m *method, kind Refusal, wait time.Duration) {
	l.opts.Logger.Warn("refused by a limit", "key", m.lane.key, "host", host, "method", m.name,
		"type", kind.String(), "wait", wait)
	if o := l.opts.Observer; o != nil {
		o.Refused(m.lane.key, host, m.name, kind, wait)
	}
}
