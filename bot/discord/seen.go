package discord

import (
	"sync"
	"time"
)

// seen remembers the ids of interactions for as long as Discord could replay
// them usefully, that is while their tokens live.
type seen struct {
	mu    sync.Mutex // guards everything below
	ids   map[int64]struct{}
	order []seenID
}

type seenID struct {
	id   int64
	when time.Time
}

// seenMost bounds what is remembered: 70 a second for 15 minutes.
const seenMost = 1 << 16

// first reports whether id is new, and remembers it.
func (s *seen) first(id int64, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[int64]struct{})
	}
	old := 0
	for old < len(s.order) && (now.Sub(s.order[old].when) > tokenLife || len(s.order)-old >= seenMost) {
		delete(s.ids, s.order[old].id)
		old++
	}
	s.order = append(s.order[:0], s.order[old:]...)
	if _, ok := s.ids[id]; ok {
		return false
	}
	s.ids[id] = struct{}{}
	s.order = append(s.order, seenID{id, now})
	return true
}
