package postgres

import "time"

// Hasten makes all that has to do with the lead so many times as fast.
func (s *Store) Hasten(times time.Duration) {
	s.timing.poll /= times
	s.timing.beat /= times
	s.timing.answer /= times
	s.timing.idle /= times
}

// LeadKey is the key of the lead in a schema.
func LeadKey(schema string) int64 { return lockKey("lead", schema) }
