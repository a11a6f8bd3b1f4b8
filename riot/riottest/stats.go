package riottest

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Stats is what a server has counted since it was made or last Reset. Calls of
// Data Dragon and of the control are not in it.
type Stats struct {
	// Requests are all that arrived.
	Requests int            `json:"requests"`
	ByMethod map[string]int `json:"byMethod"`
	ByRoute  map[string]int `json:"byRoute"`
	// ByKey has the first 8 hex digits of each API key's SHA-256.
	ByKey map[string]int `json:"byKey"`
	// ByStatus counts answers, 0 those that were never sent: the client gave up, or
	// a fault cut the connection.
	ByStatus map[int]int `json:"byStatus"`
	// Refused counts refusals for a limit that was overstepped, by "application"
	// and "method". Those that a Fault makes are not among them.
	Refused map[string]int `json:"refused"`
	// Injected counts faults that were met.
	Injected map[FaultKind]int `json:"injected"`
	// BadKeys are requests without a key or with one that is not known,
	// UnknownPaths those of paths that do not exist: enough of either gets a key
	// blacklisted.
	BadKeys      int `json:"badKeys"`
	UnknownPaths int `json:"unknownPaths"`
	// Matches counts how often each match's body was asked for, the answers 200
	// only.
	Matches map[string]int `json:"-"`
	// Repeats are bodies of matches that had been sent before.
	Repeats int `json:"repeats"`
	// Now and Most are requests under way, now and at most; MostByRoute at most on
	// one host.
	Now         int            `json:"now"`
	Most        int            `json:"most"`
	MostByRoute map[string]int `json:"mostByRoute"`
	// Windows are all that have counted anything, in order.
	Windows []WindowStats `json:"windows"`
	// Overshoot is the largest excess of any window over its limit.
	Overshoot int `json:"overshoot"`
}

// Refusals are all refusals for a limit that was overstepped.
func (s Stats) Refusals() int {
	n := 0
	for _, c := range s.Refused {
		n += c
	}
	return n
}

// WindowStats is the fullest that one window has been.
type WindowStats struct {
	// Key is the first 8 hex digits of the API key's SHA-256.
	Key   string `json:"key"`
	Route string `json:"route"`
	// Method is empty for the application's windows.
	Method string   `json:"method,omitempty"`
	Limit  int      `json:"limit"`
	Window Duration `json:"window"`
	// Highest is the largest count of calls in one window, refused ones included.
	Highest int `json:"highest"`
}

// counters are the Stats as they are kept, under Server.mu.
type counters struct {
	requests     int
	byMethod     map[string]int
	byRoute      map[string]int
	byKey        map[string]int
	byStatus     map[int]int
	refused      map[string]int
	injected     map[FaultKind]int
	matches      map[string]int
	badKeys      int
	unknownPaths int
	now, most    int
	// nowOn and mostOn are those of each route.
	nowOn, mostOn map[string]int
}

func (c *counters) init() {
	*c = counters{
		byMethod: make(map[string]int),
		byRoute:  make(map[string]int),
		byKey:    make(map[string]int),
		byStatus: make(map[int]int),
		refused:  make(map[string]int),
		injected: make(map[FaultKind]int),
		matches:  make(map[string]int),
		now:      c.now,
		most:     c.now,
		nowOn:    maps.Clone(c.nowOn),
		mostOn:   maps.Clone(c.nowOn),
	}
	if c.nowOn == nil {
		c.nowOn, c.mostOn = make(map[string]int), make(map[string]int)
	}
}

func (c *counters) arrive(route string) {
	c.requests++
	c.nowOn[route]++
	c.mostOn[route] = max(c.mostOn[route], c.nowOn[route])
	c.now++
	c.most = max(c.most, c.now)
}

func (c *counters) leave(call Call) {
	c.now--
	c.nowOn[call.Route]--
	if call.Key != "" {
		c.byKey[call.Key]++
	}
	c.byStatus[call.Status]++
	c.byRoute[call.Route]++
	if call.Method == "" {
		c.unknownPaths++
	} else {
		c.byMethod[call.Method]++
	}
	if call.Method == MethodMatch && call.Status == 200 {
		c.matches[call.Match]++
	}
}

// Stats is a snapshot.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stats
	out := Stats{
		Requests:     c.requests,
		ByMethod:     maps.Clone(c.byMethod),
		ByRoute:      maps.Clone(c.byRoute),
		ByKey:        maps.Clone(c.byKey),
		ByStatus:     maps.Clone(c.byStatus),
		Refused:      maps.Clone(c.refused),
		Injected:     maps.Clone(c.injected),
		Matches:      maps.Clone(c.matches),
		BadKeys:      c.badKeys,
		UnknownPaths: c.unknownPaths,
		Now:          c.now,
		Most:         c.most,
		MostByRoute:  maps.Clone(c.mostOn),
	}
	for _, n := range c.matches {
		out.Repeats += n - 1
	}
	for k, b := range s.apps {
		out.add(WindowStats{Key: k.key, Route: k.route}, b)
	}
	for k, b := range s.methods {
		out.add(WindowStats{Key: k.key, Route: k.route, Method: k.method}, b)
	}
	slices.SortFunc(out.Windows, func(a, b WindowStats) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Route, b.Route),
			cmp.Compare(a.Method, b.Method), cmp.Compare(a.Window, b.Window))
	})
	return out
}

func (s *Stats) add(w WindowStats, b *bucket) {
	for i := range b.windows {
		if b.windows[i].highest == 0 {
			continue
		}
		w.Limit, w.Window, w.Highest = b.windows[i].limit, Duration(b.windows[i].window), b.windows[i].highest
		s.Windows = append(s.Windows, w)
		s.Overshoot = max(s.Overshoot, b.windows[i].overshoot)
	}
}

// Reset sets the counters to zero. Windows stay open, the world stays, faults
// too.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.init()
	for _, b := range s.apps {
		b.forget()
	}
	for _, b := range s.methods {
		b.forget()
	}
}

// forget forgets the highest counts, but for what is in windows that are open.
func (b *bucket) forget() {
	now := time.Now()
	for i := range b.windows {
		w := &b.windows[i]
		w.highest, w.overshoot = 0, 0
		if w.count > 0 && now.Sub(w.opened) < w.window {
			w.highest, w.overshoot = w.count, max(0, w.count-w.limit)
		}
	}
}
