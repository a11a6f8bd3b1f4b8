package discord

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pacer lets requests start evenly, the most urgent first. It starts no
// goroutine: a timer grants the next start, and nothing waits under mu.
type pacer struct {
	mu      sync.Mutex // guards everything below
	limiter *rate.Limiter
	// next is the start that the limiter has promised to whoever is first in
	// the queue when it comes. Promising it when the last one is granted, not
	// when the timer fires, keeps late timers from slowing the pace.
	next    *rate.Reservation
	queue   waiters
	arrived uint64
	blocked time.Time // nothing starts before it
	timer   *time.Timer
}

func newPacer(perSecond float64) *pacer {
	return &pacer{limiter: rate.NewLimiter(rate.Limit(perSecond), 1)}
}

// wait returns nil when the request may start. It fails at once with a Limited
// error if everything is blocked until after ctx's deadline, and with the
// context's error as soon as ctx ends.
func (p *pacer) wait(ctx context.Context, urgency int) error {
	if err := ctx.Err(); err != nil {
		return &Error{Kind: Canceled, Err: err}
	}
	w := &waiter{urgency: urgency, ready: make(chan struct{})}
	p.mu.Lock()
	now := time.Now()
	if deadline, ok := ctx.Deadline(); ok && p.blocked.After(now) && p.blocked.After(deadline) {
		left := p.blocked.Sub(now)
		p.mu.Unlock()
		return &Error{Kind: Limited, Scope: ScopeGlobal, RetryAfter: left}
	}
	p.arrived++
	w.arrival = p.arrived
	heap.Push(&p.queue, w)
	p.grant(now)
	p.mu.Unlock()

	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.index < 0 { // Granted in the same moment: the start is used.
		return nil
	}
	heap.Remove(&p.queue, w.index)
	p.grant(time.Now())
	return &Error{Kind: Canceled, Err: ctx.Err()}
}

// block stops every start until then. An earlier end never shortens a block.
func (p *pacer) block(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !until.After(p.blocked) {
		return
	}
	p.blocked = until
	now := time.Now()
	p.drop(now)
	p.grant(now)
}

// blockedUntil returns when the present block ends; it may be in the past.
func (p *pacer) blockedUntil() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocked
}

// grant starts who may start at now, and sets the timer for the next. The
// caller holds mu.
func (p *pacer) grant(now time.Time) {
	for p.queue.Len() > 0 {
		if p.blocked.After(now) {
			p.drop(now)
			p.wake(p.blocked.Sub(now))
			return
		}
		if p.next == nil {
			p.next = p.limiter.ReserveN(now, 1)
		}
		if delay := p.next.DelayFrom(now); delay > 0 {
			p.wake(delay)
			return
		}
		p.next = nil
		close(heap.Pop(&p.queue).(*waiter).ready)
	}
	p.drop(now)
}

// drop gives a promised start back. The caller holds mu.
func (p *pacer) drop(now time.Time) {
	if p.next != nil {
		p.next.CancelAt(now)
		p.next = nil
	}
}

// wake calls grant after d. The caller holds mu.
func (p *pacer) wake(d time.Duration) {
	if p.timer != nil {
		p.timer.Reset(d)
		return
	}
	p.timer = time.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.grant(time.Now())
	})
}

type waiter struct {
	urgency int
	arrival uint64
	ready   chan struct{}
	index   int // in the queue; -1 when it has left it
}

// waiters is a heap, the most urgent and then the oldest first.
type waiters []*waiter

func (w waiters) Len() int { return len(w) }
func (w waiters) Less(i, j int) bool {
	if w[i].urgency != w[j].urgency {
		return w[i].urgency < w[j].urgency
	}
	return w[i].arrival < w[j].arrival
}
func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push is for package heap.
func (w *waiters) Push(x any) {
	one := x.(*waiter)
	one.index = len(*w)
	*w = append(*w, one)
}

// Pop is for package heap.
func (w *waiters) Pop() any {
	old := *w
	one := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	one.index = -1
	return one
}
