package ratelimit

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// host is everything that shares one cap of requests under way: the keys of a
// host, their application limits, methods and queues, and the one timer that
// wakes them. Nothing waits while it is locked.
type host struct {
	limiter *Limiter
	name    string

	mu       sync.Mutex // guards all below, and the permits of the host
	lanes    map[string]*lane
	busy     []*method // those with requests that wait
	expiring deadlines
	inFlight int
	arrivals uint64
	turn     uint64
	timer    *time.Timer
	wakeAt   moment // what timer is set to; never if it is not
	events   []modeChange
}

// lane is a key on a host.
type lane struct {
	host           *host
	key            string
	app            bucket
	appWaits       bool // something could leave but for app
	methods        map[string]*method
	waiting        int
	suspendedUntil moment
}

// method is an endpoint of a lane.
type method struct {
	lane   *lane
	name   string
	bucket bucket
	queue  queue
	served uint64 // the turn at which it was last served
}

// modeChange is told to the observer after the lock is given back.
type modeChange struct {
	key, method string
	mode        Mode
}

// method returns the method of a key, made if it is new.
func (h *host) method(key, name string) *method {
	l := h.lanes[key]
	if l == nil {
		l = &lane{host: h, key: key, methods: make(map[string]*method), suspendedUntil: h.limiter.suspension(key)}
		l.app.cfg, l.app.start = &h.limiter.opts, h.limiter.start
		h.lanes[key] = l
	}
	m := l.methods[name]
	if m == nil {
		m = &method{lane: l, name: name}
		m.bucket.cfg, m.bucket.start = &h.limiter.opts, h.limiter.start
		l.methods[name] = m
	}
	return m
}

// refresh gives back what is free by now and sets the modes by it.
func (h *host) refresh(now moment, m *method) {
	m.lane.app.advance(now)
	m.bucket.advance(now)
	h.settle(now, m)
}

// settle sets the modes of m's two buckets.
func (h *host) settle(now moment, m *method) {
	l := m.lane
	if l.app.settle(now, l.appWaits) {
		h.events = append(h.events, modeChange{l.key, "", l.app.mode})
	}
	if m.bucket.settle(now, m.queue.size > 0) {
		h.events = append(h.events, modeChange{l.key, m.name, m.bucket.mode})
	}
}

// enqueue puts p in line.
func (h *host) enqueue(now moment, p *Permit) {
	h.arrivals++
	p.arrival = h.arrivals
	m := p.method
	if m.queue.size == 0 {
		h.busy = append(h.busy, m)
	}
	m.queue.push(now, p)
	m.lane.waiting++
	p.state = waiting
	if p.deadline != never {
		heap.Push(&h.expiring, p)
	}
}

// dequeue takes p out of the line, for what state says.
func (h *host) dequeue(p *Permit, state state) {
	m := p.method
	m.queue.remove(p)
	if m.lane.waiting--; m.lane.waiting == 0 {
		m.lane.appWaits = false
	}
	p.state = state
	if p.deadline != never {
		heap.Remove(&h.expiring, int(p.expiry))
	}
	if m.queue.size == 0 {
		h.busy = slices.DeleteFunc(h.busy, func(b *method) bool { return b == m })
	}
}

// fail ends the wait of p with an error.
func (h *host) fail(p *Permit, err error) {
	h.dequeue(p, failed)
	p.err = err
	p.wake()
}

// step does all that is due: it turns away what is too late, lets leave what
// can, and sets the timer for the next time.
func (h *host) step(now moment) {
	for len(h.expiring) > 0 && h.expiring[0].deadline <= now {
		p := h.expiring[0]
		h.dequeue(p, failed)
		p.err = h.limiter.tooLate(p.method.reach(now, p))
		p.wake()
	}
	next := h.dispatch(now)
	if len(h.expiring) > 0 {
		next = min(next, h.expiring[0].deadline)
	}
	h.arm(now, next)
}

// dispatch lets requests leave as long as any can, the most urgent first; of
// equals, the method's turn that was served the longest ago, so that two
// methods share the application's limit. It returns when to look again.
func (h *host) dispatch(now moment) (next moment) {
	if len(h.busy) == 0 {
		return never
	}
	for _, m := range h.busy {
		m.lane.app.advance(now)
		m.bucket.advance(now)
		m.queue.age(now)
	}
	full := h.limiter.opts.InFlight > 0
	for {
		next = never
		var best *method
		var first *Permit
		for _, m := range h.busy {
			m.lane.appWaits = false
		}
		for _, m := range h.busy {
			p := m.queue.head()
			person := p.priority == Person
			at := m.bucket.earliest(now, person)
			if at <= now {
				if at = m.lane.app.earliest(now, person); at > now {
					m.lane.appWaits = true
				}
			}
			if at > now {
				next = min(next, at)
				continue
			}
			if best == nil || goesFirst(p, m, first, best) {
				best, first = m, p
			}
		}
		if best == nil || full && h.inFlight >= h.limiter.opts.InFlight {
			break
		}
		h.dequeue(first, granted)
		h.grant(now, first)
		if len(h.busy) == 0 {
			next = never
			break
		}
	}
	for _, m := range h.busy {
		h.settle(now, m)
	}
	return next
}

// goesFirst orders the heads of two methods.
func goesFirst(p *Permit, m *method, other *Permit, om *method) bool {
	switch {
	case p.class != other.class:
		return p.class < other.class
	case p.order != other.order:
		return p.order < other.order
	case m.served != om.served:
		return m.served < om.served
	}
	return p.arrival < other.arrival
}

// grant gives p its slots and its place.
func (h *host) grant(now moment, p *Permit) {
	m := p.method
	person := p.priority == Person
	h.inFlight++
	h.turn++
	m.served = h.turn
	p.state, p.grantedAt = granted, now
	p.appMark = m.lane.app.take(now, person)
	p.methodMark = m.bucket.take(now, person)
	h.settle(now, m)
	p.wake()
}

// undo takes back a permit whose request did not leave.
func (h *host) undo(p *Permit) {
	person := p.priority == Person
	h.inFlight--
	p.state = done
	p.method.lane.app.undo(person)
	p.method.bucket.undo(person)
}

// reach returns the earliest moment at which p can have left, behind those of
// its own method that go before it.
func (m *method) reach(now moment, p *Permit) moment {
	person := p.priority == Person
	ahead := 0
	if p.state != failed {
		ahead = m.queue.ahead(p)
	}
	return max(m.bucket.reach(now, person, ahead, 0), m.lane.app.reach(now, person, ahead, 0))
}

// answer takes in the answer to p, and returns how long a refusal holds its
// bucket up.
func (h *host) answer(now moment, p *Permit, a Answer) (wait time.Duration) {
	m := p.method
	person := p.priority == Person
	h.inFlight--
	p.state = done
	refused := a.Refusal != NotRefused
	m.lane.app.answer(now, p.grantedAt, p.appMark, person,
		outcome{a.Lost, refused, a.AppLimits, a.AppCounts}, assumedLimits)
	m.bucket.answer(now, p.grantedAt, p.methodMark, person,
		outcome{a.Lost, refused, a.MethodLimits, a.MethodCounts}, nil)
	if a.Lost || !refused {
		h.settle(now, m)
		return 0
	}
	b := &m.bucket
	if a.Refusal == RefusedApplication {
		b = &m.lane.app
	}
	until := b.refuse(now, p.grantedAt, a.Refusal, a, h.limiter.random)
	for _, other := range m.lane.methods {
		if b != &m.lane.app && other != m {
			continue
		}
		for _, w := range other.queue.waiting() {
			if w.deadline <= until {
				h.fail(w, h.limiter.tooLate(until))
			}
		}
	}
	h.settle(now, m)
	return until - now
}

// arm sets the timer to at. It is stopped while there is nothing to wake for.
func (h *host) arm(now, at moment) {
	if at == h.wakeAt {
		return
	}
	h.wakeAt = at
	switch {
	case at == never:
		h.timer.Stop()
	case h.timer == nil:
		h.timer = time.AfterFunc(at-now, h.onTimer)
	default:
		h.timer.Reset(at - now)
	}
}

// onTimer runs in a goroutine of its own when the timer fires.
func (h *host) onTimer() {
	h.mu.Lock()
	h.wakeAt = never
	h.step(h.limiter.now())
	h.unlock()
}

// unlock gives the lock back and tells what happened under it.
func (h *host) unlock() {
	if len(h.events) == 0 {
		h.mu.Unlock()
		return
	}
	events := h.events
	h.events = nil
	h.mu.Unlock()
	h.limiter.tellModes(h.name, events)
}
