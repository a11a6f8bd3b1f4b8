package ratelimit

import "time"

// state is where a permit is in its life.
type state uint8

const (
	waiting state = iota // in the queue
	granted              // under way
	failed               // turned away while it waited
	done                 // answered, or taken back
)

// Permit is the right to send one request. Its slots stay in use until a full
// window after Done; a permit without Done holds them, and its place under way,
// for ever.
type Permit struct {
	method   *method
	priority Priority // as asked for

	// Guarded by the lock of the host until the permit is handed out.
	class        Priority // as it has become by waiting
	state        state
	place        int32 // in its class's heap
	expiry       int32 // in the heap of deadlines
	arrival      uint64
	order        moment // by which it is ordered in its class: its deadline
	deadline     moment
	arrived      moment
	inClassSince moment
	older, newer *Permit

	ready chan struct{} // gets one element when the wait is over; nil if it did not wait
	err   error         // set before ready gets its element

	grantedAt           moment
	appMark, methodMark mark
}

// wake ends the wait of p's caller.
func (p *Permit) wake() {
	if p.ready != nil {
		p.ready <- struct{}{}
	}
}

// Waited returns how long the request waited for its permit.
func (p *Permit) Waited() time.Duration { return p.grantedAt - p.arrived }

// Done takes in what became of the request. It must be called exactly once, as
// soon as the answer's headers are read or the request is given up and its
// connection closed; a second call is ignored. It does not block.
func (p *Permit) Done(a Answer) {
	h := p.method.lane.host
	h.mu.Lock()
	if p.state != granted {
		h.mu.Unlock()
		return
	}
	now := h.limiter.now()
	wait := h.answer(now, p, a)
	h.step(now)
	h.unlock()
	if a.Refusal != NotRefused && !a.Lost {
		h.limiter.tellRefusal(h.name, p.method, a.Refusal, wait)
	}
}
