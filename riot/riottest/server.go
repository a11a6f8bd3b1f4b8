package riottest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Options are the settings of a Server. The zero value is a production key's
// limits, no latency, and every key taken for a good one.
type Options struct {
	// Keys are the API keys that are known. Empty: any key is.
	Keys []string
	// Limits hold for each key. Zero: ProductionLimits.
	Limits Limits
	// Latency says how long a call takes on its way before it is counted, and how
	// long its answer takes. It is called from many goroutines. nil: no time.
	Latency func(Call) (before, after time.Duration)
	// FullBodies sends every field that Riot sends of a match, some 70 KB, in place
	// of those that anybody reads, some 12 KB.
	FullBodies bool
	// IgnoreStartTime lists matches whatever startTime is asked for, as Riot did
	// in February 2026.
	IgnoreStartTime bool
	// Seed makes what the server makes up (names, champions, scores, LP) another.
	Seed uint64
	// Live is how often the groups of the world play in RunWorld.
	Live Live
	// Observe, where it is not nil, is told of each call just before its answer
	// leaves, or when it is given up. It is called from many goroutines.
	Observe func(Call)
}

// Call is one call of the API.
type Call struct {
	// Key is the first 8 hex digits of the API key's SHA-256, empty for none.
	Key string
	// Method is one of the Method constants, empty for a path that does not exist.
	Method string
	// Route is the platform or region, empty where none could be told.
	Route string
	// Player is whom the call is about, 0 where it is about nobody that is known.
	Player PlayerID
	// Match is the id that was asked for.
	Match string
	// Status is the answer's, 0 before it is known and where none was sent.
	Status int
	// Counted is when the call was counted; zero where it was not.
	Counted time.Time
	// Fault says which fault was met, if any.
	Fault FaultKind
}

// Server is a Riot API with a world of players behind it. Make it with NewServer.
// It is safe for concurrent use and starts no goroutine.
type Server struct {
	options Options
	known   map[string]bool // API keys; empty: any
	control http.Handler

	mu       sync.Mutex // guards what follows
	rng      *rand.Rand
	limits   map[string]Limits // by API key, "" for the rest
	latency  func(Call) (before, after time.Duration)
	sealers  map[string]*sealer // by API key
	apps     map[appKey]*bucket
	methods  map[methodKey]*bucket
	faults   []*fault
	faultIDs int
	notices  map[string]notices // by platform
	world    world
	stats    counters
	wake     chan struct{} // told of a new group while RunWorld runs
}

type appKey struct{ key, route string }

type methodKey struct{ key, route, method string }

// NewServer makes a server with an empty world. It panics where o.Limits can't be
// read: Limits.Check tells beforehand.
func NewServer(o Options) *Server {
	if o.Limits.App == "" && o.Limits.Methods == nil {
		o.Limits = ProductionLimits()
	}
	if err := o.Limits.Check(); err != nil {
		panic("riottest: " + err.Error())
	}
	s := &Server{
		options: o,
		known:   make(map[string]bool),
		rng:     rand.New(rand.NewPCG(o.Seed, 0x9e3779b97f4a7c15)),
		limits:  map[string]Limits{"": o.Limits},
		latency: o.Latency,
		sealers: make(map[string]*sealer),
		apps:    make(map[appKey]*bucket),
		methods: make(map[methodKey]*bucket),
		notices: make(map[string]notices),
	}
	for _, k := range o.Keys {
		s.known[k] = true
	}
	s.world.init()
	s.stats.init()
	s.control = s.controlHandler()
	return s
}

// SetLimits changes the limits from the next call on: for one API key, or for
// every key that has none of its own where key is empty. Windows that are open and
// stay of the same length keep their count. It panics where l can't be read.
func (s *Server) SetLimits(key string, l Limits) {
	if err := l.Check(); err != nil {
		panic("riottest: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[key] = l
}

// SetLatency changes Options.Latency from the next call on.
func (s *Server) SetLatency(f func(Call) (before, after time.Duration)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = f
}

// sealerOf is what turns players into PUUIDs for an API key. The caller holds mu.
func (s *Server) sealerOf(key string) *sealer {
	c := s.sealers[key]
	if c == nil {
		c = newSealer(key)
		s.sealers[key] = c
	}
	return c
}

// PUUID is a player's PUUID under an API key.
func (s *Server) PUUID(key string, p PlayerID) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.sealerOf(key).seal(nil, uint64(p)))
}

// reply is an answer before it is sent.
type reply struct {
	status int
	body   []byte
	// typ is the Content-Type, empty for JSON.
	typ string
	// header has limits and counts.
	header http.Header
	// match is encoded into body without the lock being held.
	match *game
}

const typeJSON = "application/json;charset=utf-8"

// problem is an error in the shape that most of Riot's services have.
func problem(status int, message string) reply {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // a string
	}
	b := append([]byte(`{"status":{"message":`), text...)
	b = append(b, `,"status_code":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	return reply{status: status, body: append(b, "}}"...)}
}

// ServeHTTP answers a call of the API; paths under /_sim/ are the control of the
// server, and those of the host or first segment "ddragon" are Data Dragon's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, segments := locate(r.Host, r.URL)
	switch {
	case route == "" && len(segments) > 0 && segments[0] == "_sim":
		s.control.ServeHTTP(w, r)
	case route == dataDragon:
		serveDataDragon(w, segments)
	default:
		s.serve(w, r, route, segments)
	}
}

// serve answers one call: it arrives, is counted and looked up in one instant, and
// its answer goes back.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, route string, segments []string) {
	ctx := r.Context()
	q := parseQuestion(r, route, segments)
	key := r.Header.Get("X-Riot-Token")
	call := Call{Method: q.method, Route: route, Match: q.match}

	s.mu.Lock()
	seal := s.sealerOf(key)
	if key != "" {
		call.Key = seal.fingerprint
	}
	call.Player = s.playerAsked(q, seal)
	s.stats.arrive(route)
	latency := s.latency
	s.mu.Unlock()

	// The books are closed before the answer leaves: whoever has read it finds it in
	// Stats.
	closed := false
	finish := func() {
		if closed {
			return
		}
		closed = true
		s.mu.Lock()
		s.stats.leave(call)
		s.mu.Unlock()
		if s.options.Observe != nil {
			s.options.Observe(call)
		}
	}
	defer finish()

	var before, after time.Duration
	if latency != nil {
		before, after = latency(call)
	}
	if !sleep(ctx, before) {
		panic(http.ErrAbortHandler) // it never arrived
	}
	out, f := s.take(&call, q, key, seal)
	if f != nil {
		call.Fault = f.Kind
		if f.Kind == FaultHang {
			<-ctx.Done()
		}
		if !sleep(ctx, f.Delay.Std()) {
			panic(http.ErrAbortHandler)
		}
	}
	if out.match != nil {
		out.body = s.encodeMatch(out.match, seal)
	}
	if !sleep(ctx, after) {
		panic(http.ErrAbortHandler)
	}
	if f != nil {
		f.bend(&out)
	}
	if f == nil || f.Kind != FaultReset {
		call.Status = out.status
	}
	finish()
	send(ctx, w, out, f)
}

// take counts a call and finds its answer, in one instant.
func (s *Server) take(call *Call, q question, key string, seal *sealer) (reply, *fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.settle(now)
	switch {
	case key == "":
		s.stats.badKeys++
		return problem(http.StatusUnauthorized, "Unauthorized"), nil
	case len(s.known) > 0 && !s.known[key]:
		s.stats.badKeys++
		return problem(http.StatusForbidden, "Forbidden"), nil
	case call.Route == "":
		return problem(http.StatusForbidden, "Forbidden"), nil
	}
	f := s.faultFor(*call, key, now)
	var header http.Header
	if f == nil || !f.NotCounted {
		var refused *reply
		header, refused = s.count(call, key, now)
		if refused != nil {
			return *refused, nil
		}
	}
	f = s.use(f)
	if f != nil && (f.NoLimitHeaders || header == nil) {
		header = make(http.Header)
	}
	out := s.lookUp(q, seal, now)
	out.header = header
	return out, f
}

// count counts a call under the limits of its key and host, and of its method.
func (s *Server) count(call *Call, key string, now time.Time) (http.Header, *reply) {
	limits, ok := s.limits[key]
	if !ok {
		limits = s.limits[""]
	}
	call.Counted = now
	header := make(http.Header, 8)

	ak := appKey{call.Key, call.Route}
	app := s.apps[ak]
	if app == nil {
		app = new(bucket)
		s.apps[ak] = app
	}
	app.respell(limits.App)
	appWait := app.add(now)
	if app.spelt != "" {
		header["X-App-Rate-Limit"] = []string{app.spelt}
		header["X-App-Rate-Limit-Count"] = []string{app.counts()}
	}

	var methodWait time.Duration
	if call.Method != "" {
		mk := methodKey{call.Key, call.Route, call.Method}
		method := s.methods[mk]
		if method == nil {
			method = new(bucket)
			s.methods[mk] = method
		}
		method.respell(limits.method(call.Route, call.Method))
		methodWait = method.add(now)
		if method.spelt != "" {
			header["X-Method-Rate-Limit"] = []string{method.spelt}
			header["X-Method-Rate-Limit-Count"] = []string{method.counts()}
		}
	}

	kind, wait := "", time.Duration(0)
	switch {
	case appWait > 0:
		kind, wait = "application", appWait
	case methodWait > 0:
		kind, wait = "method", methodWait
	default:
		return header, nil
	}
	s.stats.refused[kind]++
	header["X-Rate-Limit-Type"] = []string{kind}
	header["Retry-After"] = []string{wholeSeconds(wait)}
	out := problem(http.StatusTooManyRequests, "Rate limit exceeded")
	out.header = header
	return header, &out
}

// send writes an answer, or what a fault makes of it.
func send(ctx context.Context, w http.ResponseWriter, out reply, f *fault) {
	h := w.Header()
	for name, values := range out.header {
		h[name] = values
	}
	if out.typ == "" {
		out.typ = typeJSON
	}
	h["Content-Type"] = []string{out.typ}
	h["Content-Length"] = []string{strconv.Itoa(len(out.body))}
	h["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	if f != nil {
		for name, value := range f.Header {
			if value == "" {
				h.Del(name)
			} else {
				h.Set(name, value)
			}
		}
		switch f.Kind {
		case FaultReset:
			panic(http.ErrAbortHandler)
		case FaultCut, FaultStall:
			w.WriteHeader(out.status)
			_, _ = w.Write(out.body[:len(out.body)/2])
			_ = http.NewResponseController(w).Flush()
			if f.Kind == FaultStall {
				<-ctx.Done()
			}
			panic(http.ErrAbortHandler)
		}
	}
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // a client that is gone needs no answer
}

// sleep waits for d. It reports whether ctx lasted that long.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
