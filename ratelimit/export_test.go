package ratelimit

// Timers returns how many timers of l are set.
func (l *Limiter) Timers() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n := 0
	for _, h := range l.hosts {
		h.mu.Lock()
		if h.wakeAt != never {
			n++
		}
		h.mu.Unlock()
	}
	return n
}
