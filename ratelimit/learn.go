package ratelimit

import "time"

// outcome is an answer as one of the two buckets sees it.
type outcome struct {
	lost    bool
	refused bool // by anything
	limits  []Limit
	counts  []Usage
}

// answer takes in the answer to a request that left at sent.
func (b *bucket) answer(now, sent moment, m mark, person bool, o outcome, assume []Limit) {
	b.advance(now)
	b.undo(person)
	b.answers.push(newStamp(now, person))
	if person {
		for i := range b.windows {
			b.windows[i].people++
		}
	}
	if o.lost {
		for i := range b.windows {
			b.windows[i].miss()
		}
		return
	}
	if took := now - sent; b.latency == 0 {
		b.latency = took
	} else {
		b.latency += (took - b.latency) / 8
	}
	if !o.refused {
		b.probing = false
		b.strikes = 0
	}
	if !b.learn(now, sent, o.limits) && !b.known && !o.refused {
		if b.bare++; b.bare >= bareAnswers {
			b.setWindows(now, assume)
			b.known, b.assumed = true, true
		}
	}
	for i := range b.windows {
		w := &b.windows[i]
		count := countOf(o.counts, w.length)
		if count <= 0 {
			w.miss()
			continue
		}
		b.counted, b.countedAt = true, now
		b.observe(now, w, count, b.most(m, i))
	}
}

// most returns how many of our requests at most the server had counted in its
// window i when it counted the one with mark m: all that held a slot when that
// one left, and all that left since.
func (b *bucket) most(m mark, i int) int {
	most := m.all
	if m.generation == b.generation && i < markedWindows {
		most = m.used[i]
	}
	return int(most) + int(b.granted-m.granted)
}

func countOf(counts []Usage, length time.Duration) int {
	for _, c := range counts {
		if c.Window == length {
			return c.Count
		}
	}
	return 0
}

// learn takes in the limits of an answer to a request that left at sent, and
// reports whether there were any. Answers may overtake each other: one to a
// request that left before the windows last changed can make them narrower, but
// not wider.
func (b *bucket) learn(now, sent moment, limits []Limit) bool {
	if b.same(limits) {
		b.known, b.assumed = true, false
		return true
	}
	valid := merge(nil, limits)
	if len(valid) == 0 {
		return false
	}
	if b.known && !b.assumed && sent < b.learnedAt {
		valid = merge(b.limits(), valid)
	}
	if !b.same(valid) {
		b.setWindows(now, valid)
	}
	b.known, b.assumed = true, false
	return true
}

// same reports whether limits are the windows of b.
func (b *bucket) same(limits []Limit) bool {
	if len(limits) == 0 || len(limits) != len(b.windows) {
		return false
	}
	for i, l := range limits {
		if w := &b.windows[i]; w.limit != l.Count || w.length != l.Window {
			return false
		}
	}
	return true
}

// limits returns the windows of b as limits.
func (b *bucket) limits() []Limit {
	all := make([]Limit, len(b.windows))
	for i := range b.windows {
		all[i] = Limit{b.windows[i].limit, b.windows[i].length}
	}
	return all
}

// merge adds the valid ones of limits to all: of one window the lowest counts.
func merge(all, limits []Limit) []Limit {
next:
	for _, l := range limits {
		if l.Count <= 0 || l.Window <= 0 {
			continue
		}
		for i := range all {
			if all[i].Window == l.Window {
				all[i].Count = min(all[i].Count, l.Count)
				continue next
			}
		}
		if len(all) < maxWindows {
			all = append(all, l)
		}
	}
	return all
}

// setWindows makes limits the windows of b. What is in use of a window that
// stays, stays in use; a new one starts with the answers that are kept.
func (b *bucket) setWindows(now moment, limits []Limit) {
	windows := make([]window, len(limits))
	sameLengths := len(limits) == len(b.windows)
	b.longest = 0
	for i, l := range limits {
		w := &windows[i]
		w.first = b.answers.first
		old := -1
		for j := range b.windows {
			if b.windows[j].length == l.Window {
				old = j
			}
		}
		if old >= 0 {
			*w = b.windows[old]
			w.limit = l.Count
		} else {
			w.limit, w.length = l.Count, l.Window
			for n := w.first; n != b.answers.next; n++ {
				if b.answers.get(n).person() {
					w.people++
				}
			}
			b.release(now, w)
		}
		sameLengths = sameLengths && old == i
		b.longest = max(b.longest, l.Window)
	}
	b.windows = windows
	b.learnedAt = now
	if !sameLengths {
		b.generation++
	}
}
