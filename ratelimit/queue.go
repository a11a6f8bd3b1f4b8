package ratelimit

import (
	"container/heap"
	"time"
)

// agesAfter is the wait after which a request moves one class up.
const agesAfter = 10 * time.Minute

// queue holds the requests that wait for one method: a class a priority, in
// each by deadline, then by arrival.
type queue struct {
	classes [priorities]class
	size    int
}

// class is a heap, and the same requests as a list in the order in which they
// were added to the class.
type class struct {
	heap           []*Permit
	oldest, newest *Permit
	latest         moment // no order of those in the heap is later
}

func (c *class) Len() int { return len(c.heap) }

func (c *class) Less(i, j int) bool { return c.heap[i].before(c.heap[j]) }

func (c *class) Swap(i, j int) {
	c.heap[i], c.heap[j] = c.heap[j], c.heap[i]
	c.heap[i].place, c.heap[j].place = int32(i), int32(j)
}

// Push implements heap.Interface.
func (c *class) Push(x any) {
	p := x.(*Permit)
	p.place = int32(len(c.heap))
	c.heap = append(c.heap, p)
}

// Pop implements heap.Interface.
func (c *class) Pop() any {
	last := len(c.heap) - 1
	p := c.heap[last]
	c.heap[last] = nil
	c.heap = c.heap[:last]
	return p
}

// before orders the requests of one class.
func (p *Permit) before(other *Permit) bool {
	if p.order != other.order {
		return p.order < other.order
	}
	return p.arrival < other.arrival
}

// push adds p to its class, as having come to it at since.
func (q *queue) push(since moment, p *Permit) {
	c := &q.classes[p.class]
	if len(c.heap) == 0 {
		c.latest = p.order
	}
	c.latest = max(c.latest, p.order)
	p.inClassSince = since
	p.older, p.newer = c.newest, nil
	if c.newest != nil {
		c.newest.newer = p
	} else {
		c.oldest = p
	}
	c.newest = p
	heap.Push(c, p)
	q.size++
}

// remove takes p out.
func (q *queue) remove(p *Permit) {
	c := &q.classes[p.class]
	heap.Remove(c, int(p.place))
	if p.older != nil {
		p.older.newer = p.newer
	} else {
		c.oldest = p.newer
	}
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		c.newest = p.older
	}
	p.older, p.newer = nil, nil
	q.size--
}

// head returns the first in line, nil if nobody waits.
func (q *queue) head() *Permit {
	for i := range q.classes {
		if c := &q.classes[i]; len(c.heap) > 0 {
			return c.heap[0]
		}
	}
	return nil
}

// age moves those that have waited long one class up, ahead of all whose
// deadline is still to come there.
func (q *queue) age(now moment) {
	for i := Retry + 1; i < priorities; i++ {
		for p := q.classes[i].oldest; p != nil && now-p.inClassSince >= agesAfter; p = q.classes[i].oldest {
			q.remove(p)
			p.class--
			since := p.inClassSince + agesAfter
			p.order = min(p.order, since)
			q.push(since, p)
		}
	}
}

// ahead returns how many of those that wait go before p, which is not among
// them yet.
func (q *queue) ahead(p *Permit) int {
	n := 0
	for i := range p.class {
		n += len(q.classes[i].heap)
	}
	c := &q.classes[p.class]
	if len(c.heap) == 0 || c.latest <= p.order {
		return n + len(c.heap)
	}
	return n + c.before(0, p)
}

// before counts those under heap index i that go before p.
func (c *class) before(i int, p *Permit) int {
	if i >= len(c.heap) || !c.heap[i].before(p) {
		return 0
	}
	return 1 + c.before(2*i+1, p) + c.before(2*i+2, p)
}

// waiting returns all that wait, in no order.
func (q *queue) waiting() []*Permit {
	all := make([]*Permit, 0, q.size)
	for i := range q.classes {
		all = append(all, q.classes[i].heap...)
	}
	return all
}

// deadlines is a heap of the requests that wait and have a deadline.
type deadlines []*Permit

func (d deadlines) Len() int { return len(d) }

func (d deadlines) Less(i, j int) bool { return d[i].deadline < d[j].deadline }

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].expiry, d[j].expiry = int32(i), int32(j)
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	p := x.(*Permit)
	p.expiry = int32(len(*d))
	*d = append(*d, p)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	p := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return p
}
