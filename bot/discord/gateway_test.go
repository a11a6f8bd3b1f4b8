package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"riftchime/bot/discord"
)

// gatewayServer is Discord's gateway, as far as a script for each connection
// says, and the REST calls that go with it.
type gatewayServer struct {
	t      *testing.T
	url    string
	script func(n int, c *conn)
	shards int

	mu        sync.Mutex
	conns     int
	began     []string // "identify" and "resume <session> seq <n>"
	beganAt   []time.Time
	answered  []string // interaction ids
	addresses int
	changed   chan struct{} // closed and replaced at each change
}

func newGatewayServer(t *testing.T, script func(n int, c *conn)) *gatewayServer {
	s := &gatewayServer{t: t, script: script, shards: 1, changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v9/gateway", func(w http.ResponseWriter, _ *http.Request) {
		s.change(func() { s.addresses++ })
		fmt.Fprintf(w, `{"url":%q}`, s.ws("/main"))
	})
	mux.HandleFunc("GET /api/v9/gateway/bot", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"url":%q,"shards":%d,"session_start_limit":{"total":1000,"remaining":999,"reset_after":1000,"max_concurrency":1}}`, s.ws("/main"), s.shards)
	})
	mux.HandleFunc("POST /api/v9/interactions/{id}/{token}/callback", func(w http.ResponseWriter, r *http.Request) {
		s.change(func() { s.answered = append(s.answered, r.PathValue("id")) })
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/api/", http.NotFound)
	mux.HandleFunc("/{path}/", s.connect)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *gatewayServer) ws(path string) string {
	return "ws" + strings.TrimPrefix(s.url, "http") + path + "/"
}

func (s *gatewayServer) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits for a condition on the server's state.
func (s *gatewayServer) until(what string, holds func() bool) {
	s.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		done, changed := holds(), s.changed
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.t.Fatalf("waited 30 s in vain for %s; began %q, answered %q", what, s.began, s.answered)
		}
	}
}

func (s *gatewayServer) connect(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("v") != "9" || r.URL.Query().Get("encoding") != "json" {
		s.t.Errorf("connected with %q, want v=9 and encoding=json", r.URL.RawQuery)
	}
	var upgrader websocket.Upgrader
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	var n int
	s.change(func() { n = s.conns; s.conns++ })
	s.script(n, &conn{s: s, ws: ws, path: r.PathValue("path")})
}

// conn is the server's side of a connection. Its methods end quietly when the
// connection is gone: what matters is what the bot does then.
type conn struct {
	s    *gatewayServer
	ws   *websocket.Conn
	path string
	seq  int
	mu   sync.Mutex // for writes
}

func (c *conn) send(v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.WriteJSON(v)
}

func (c *conn) raw(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.WriteMessage(websocket.TextMessage, []byte(text))
}

func (c *conn) op(op int, d any) { c.send(map[string]any{"op": op, "d": d}) }

func (c *conn) dispatch(kind string, d any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	_ = c.ws.WriteJSON(map[string]any{"op": 0, "t": kind, "s": c.seq, "d": d})
}

func (c *conn) close(code int) {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "text"), time.Now().Add(time.Second))
}

func (c *conn) hello(interval time.Duration) {
	c.op(10, map[string]any{"heartbeat_interval": interval.Milliseconds()})
}

type message struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
}

// next reads the next message, false when the connection is gone.
func (c *conn) next() (message, bool) {
	var m message
	err := c.ws.ReadJSON(&m)
	return m, err == nil
}

// start reads identify or resume and notes it.
func (c *conn) start() (resumed, ok bool) {
	m, ok := c.next()
	if !ok {
		return false, false
	}
	var d struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     int    `json:"seq"`
		Intents int    `json:"intents"`
		Shard   []int  `json:"shard"`
	}
	if err := json.Unmarshal(m.D, &d); err != nil || !strings.HasSuffix(d.Token, testToken) {
		c.s.t.Errorf("op %d without the token", m.Op)
	}
	what := "identify"
	switch {
	case m.Op == 6:
		what = fmt.Sprintf("resume %s seq %d", d.Session, d.Seq)
		c.seq = d.Seq
	case m.Op != 2 || d.Intents != 1:
		c.s.t.Errorf("began with op %d, intents %d; want op 2 with intent 1", m.Op, d.Intents)
	case len(d.Shard) > 0:
		what = fmt.Sprintf("identify %v", d.Shard)
	}
	c.s.change(func() {
		c.s.began = append(c.s.began, what)
		c.s.beganAt = append(c.s.beganAt, time.Now())
	})
	return m.Op == 6, true
}

func (c *conn) ready(guilds ...any) {
	if guilds == nil {
		guilds = []any{}
	}
	c.dispatch("READY", map[string]any{
		"v": 9, "session_id": "s1", "resume_gateway_url": c.s.ws("/resume"),
		"user": map[string]any{"id": "7"}, "application": map[string]any{"id": "5", "flags": 0}, "guilds": guilds,
	})
}

// open goes through the handshake.
func (c *conn) open(interval time.Duration) bool {
	c.hello(interval)
	resumed, ok := c.start()
	if !ok {
		return false
	}
	if resumed {
		c.dispatch("RESUMED", map[string]any{})
	} else {
		c.ready()
	}
	return true
}

// live answers heartbeats until the connection is gone.
func (c *conn) live() {
	for {
		m, ok := c.next()
		if !ok {
			return
		}
		if m.Op == 1 {
			c.send(map[string]any{"op": 11})
		}
	}
}

// healthy is the script of a connection without faults.
func (c *conn) healthy() {
	if c.open(time.Second) {
		began, _ := c.s.beginnings()
		c.dispatch("INTERACTION_CREATE", interaction(100+len(began)))
		c.live()
	}
}

// beginnings returns what connections began with, and when.
func (s *gatewayServer) beginnings() ([]string, []time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.began), slices.Clone(s.beganAt)
}

func interaction(id int) map[string]any {
	return map[string]any{
		"id": fmt.Sprint(id), "application_id": "5", "type": 2, "token": interactionToken, "channel_id": "60", "guild_id": "50",
		"member": map[string]any{"user": map[string]any{"id": "70"}}, "locale": "ko", "data": map[string]any{"id": "1", "name": "go", "type": 1},
	}
}

// bot is a gateway under test.
type bot struct {
	gateway *discord.Gateway
	events  counter
	log     logbook
	err     chan error // what Run returned
	stop    context.CancelFunc
}

func quick() discord.GatewayTiming {
	return discord.GatewayTiming{
		Dial: 2 * time.Second, Hello: 2 * time.Second, Ready: 2 * time.Second, IdentifyEvery: 200 * time.Millisecond,
		BackoffFirst: 20 * time.Millisecond, BackoffMost: 200 * time.Millisecond, InvalidWait: 20 * time.Millisecond,
	}
}

func (s *gatewayServer) run(t *testing.T, more ...func(*discord.GatewayOptions)) *bot {
	t.Helper()
	b := &bot{err: make(chan error, 1)}
	client := newClient(t, nil, func(o *discord.Options) { o.URL, o.Observer, o.Logger = s.url, &b.events, b.log.logger() })
	t.Cleanup(client.CloseIdleConnections)
	o := discord.GatewayOptions{
		Client: client,
		Router: discord.NewRouter(client, discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("done")}}, Logger: b.log.logger()}),
		Logger: b.log.logger(),
		Timing: quick(),
	}
	for _, change := range more {
		change(&o)
	}
	b.gateway = discord.NewGateway(o)
	ctx, cancel := context.WithCancel(t.Context())
	b.stop = cancel
	var running sync.WaitGroup
	running.Go(func() { b.err <- b.gateway.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		for _, secret := range []string{testToken, interactionToken} {
			if strings.Contains(b.log.String(), secret) {
				t.Errorf("the log holds a token:\n%s", b.log.String())
			}
		}
		if strings.Contains(b.log.String(), "did not end") {
			t.Error("a session of discordgo did not end")
		}
	})
	return b
}

func TestGatewayFaults(t *testing.T) {
	t.Parallel()
	const (
		again  = "identify"
		resume = "resume s1"
	)
	opened := func(c *conn) bool {
		ok := c.open(time.Second)
		c.dispatch("GUILD_CREATE", map[string]any{"id": "50", "name": "one"})
		return ok
	}
	tests := []struct {
		name  string
		fault func(c *conn) // of the first connection
		began []string      // by the end of the second
	}{
		{"no hello", func(c *conn) { c.live() }, []string{again}},
		{"op 7 in place of hello", func(c *conn) { c.op(7, nil); c.live() }, []string{again}},
		{"op 9 in place of hello", func(c *conn) { c.op(9, false); c.live() }, []string{again}},
		{"a close in place of hello", func(c *conn) { c.close(4000) }, []string{again}},
		{"hello without an interval", func(c *conn) { c.op(10, map[string]any{}); c.live() }, []string{again}},
		{"hello with a negative interval", func(c *conn) { c.hello(-time.Second); c.live() }, []string{again}},
		{"hello that is not JSON", func(c *conn) { c.raw("<html>"); c.live() }, []string{again}},
		{"op 7 in place of ready", func(c *conn) { c.hello(time.Second); c.start(); c.op(7, nil); c.live() }, []string{again, again}},
		{"op 9 in place of ready", func(c *conn) { c.hello(time.Second); c.start(); c.op(9, false); c.live() }, []string{again, again}},
		{"no ready", func(c *conn) { c.hello(time.Second); c.start(); c.live() }, []string{again, again}},
		{"ready without a session", func(c *conn) { c.hello(time.Second); c.start(); c.dispatch("READY", nil); c.live() }, []string{again, again}},
		{"an ack in place of ready, then op 7", func(c *conn) {
			c.hello(time.Second)
			c.start()
			c.op(1, nil)
			c.next()
			c.send(map[string]any{"op": 11})
			c.op(7, nil)
			c.live()
		}, []string{again, again}},
		{"op 7", func(c *conn) { opened(c); c.op(7, nil); c.live() }, []string{again, resume}},
		{"op 9, resumable", func(c *conn) { opened(c); c.op(9, true); c.live() }, []string{again, resume}},
		{"op 9, not resumable", func(c *conn) { opened(c); c.op(9, false); c.live() }, []string{again, again}},
		{"zombie", func(c *conn) {
			c.open(150 * time.Millisecond)
			c.dispatch("GUILD_CREATE", map[string]any{"id": "50"})
			for ok := true; ok; {
				_, ok = c.next()
			}
		}, []string{again, resume}},
		{"close 4000", func(c *conn) { opened(c); c.close(4000); c.live() }, []string{again, resume}},
		{"close 4001", func(c *conn) { opened(c); c.close(4001); c.live() }, []string{again, resume}},
		{"close 4008", func(c *conn) { opened(c); c.close(4008); c.live() }, []string{again, resume}},
		{"close 1001", func(c *conn) { opened(c); c.close(1001); c.live() }, []string{again, resume}},
		{"close 4007", func(c *conn) { opened(c); c.close(4007); c.live() }, []string{again, again}},
		{"close 4009", func(c *conn) { opened(c); c.close(4009); c.live() }, []string{again, again}},
		{"the connection breaks", func(c *conn) { opened(c); c.ws.NetConn().Close() }, []string{again, resume}},
		{"rubbish", func(c *conn) { opened(c); c.raw("{"); c.live() }, []string{again, resume}},
	}
	// All at once, since discordgo takes a second to end a Session.
	servers, bots := make([]*gatewayServer, len(tests)), make([]*bot, len(tests))
	for i, tt := range tests {
		servers[i] = newGatewayServer(t, func(n int, c *conn) {
			if n == 0 {
				tt.fault(c)
				return
			}
			c.healthy()
		})
		bots[i] = servers[i].run(t)
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, b := servers[i], bots[i]
			s.t = t
			// Commands work afterwards: that is what connected again means.
			s.until("the answer to a command", func() bool { return len(s.answered) > 0 })
			eventually(t, "Up", b.gateway.Up)
			all, at := s.beginnings()
			var began []string
			for _, one := range all {
				what, _, _ := strings.Cut(one, " seq ")
				began = append(began, what)
			}
			// A machine that is too slow even for these times resumes more often.
			if diff := cmp.Diff(tt.began, began[:min(len(tt.began), len(began))]); diff != "" {
				t.Errorf("beginnings (-want +got):\n%s", diff)
			}
			for i := 1; i < len(began); i++ {
				gap := at[i].Sub(at[i-1])
				if began[i] == again && gap < quick().IdentifyEvery/2 {
					t.Errorf("identified %v after the last time, want %v", gap, quick().IdentifyEvery)
				}
				if gap > 5*time.Second {
					t.Errorf("connected again after %v", gap)
				}
			}
		})
	}
	for _, b := range bots {
		b.stop()
	}
	for i, b := range bots {
		if err := <-b.err; err != nil {
			t.Errorf("%s: Run returned %v after its context ended, want nil", tests[i].name, err)
		}
	}
}

func TestGatewayZombieAtTheSecondHeartbeat(t *testing.T) {
	t.Parallel()
	var heartbeats atomic.Int32
	s := newGatewayServer(t, func(n int, c *conn) {
		if n > 0 {
			c.healthy()
			return
		}
		c.open(200 * time.Millisecond)
		for {
			m, ok := c.next()
			if !ok {
				return
			}
			if m.Op == 1 {
				heartbeats.Add(1)
			}
		}
	})
	b := s.run(t)
	s.until("a resume", func() bool { return len(s.began) >= 2 })
	// The second finds the first unanswered; the third does where this machine
	// was so slow that the answer could have been behind something else.
	if n := heartbeats.Load(); n < 1 || n > 2 {
		t.Errorf("%d heartbeats went out, want 1 or 2", n)
	}
	if !slices.Contains(b.events.all(), "0 zombie") {
		t.Errorf("observed %q, want a zombie", b.events.all())
	}
}

func TestGatewayZombieThatStillTalks(t *testing.T) {
	t.Parallel()
	var heartbeats atomic.Int32
	s := newGatewayServer(t, func(n int, c *conn) {
		if n > 0 {
			c.healthy()
			return
		}
		c.open(200 * time.Millisecond)
		gone := make(chan struct{})
		defer close(gone)
		go func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					c.dispatch("GUILD_CREATE", map[string]any{"id": "50"})
				case <-gone:
					return
				}
			}
		}()
		for {
			m, ok := c.next()
			if !ok {
				return
			}
			if m.Op == 1 {
				heartbeats.Add(1)
			}
		}
	})
	s.run(t)
	s.until("a resume", func() bool { return len(s.began) >= 2 })
	if n := heartbeats.Load(); n < 1 || n > 3 {
		t.Errorf("%d heartbeats went out unanswered, want 3 at most", n)
	}
}

func TestGatewayFatal(t *testing.T) {
	t.Parallel()
	for _, code := range []int{4004, 4010, 4011, 4012, 4013, 4014} {
		for _, when := range []string{"in place of ready", "later"} {
			s := newGatewayServer(t, func(_ int, c *conn) {
				if when == "later" {
					c.open(time.Second)
				} else {
					c.hello(time.Second)
					c.start()
				}
				c.close(code)
				c.live()
			})
			b := s.run(t)
			defer t.Run(fmt.Sprint(code, " ", when), func(t *testing.T) {
				err := <-b.err
				fatal, ok := errors.AsType[*discord.FatalError](err)
				if !ok || fatal.Code != code {
					t.Fatalf("got %v, want a FatalError with code %d", err, code)
				}
				if text := err.Error(); fatal.Advice == "" || strings.Contains(text, "\n") {
					t.Errorf("got %q, want one line with advice", text)
				}
				if began, _ := s.beginnings(); len(began) != 1 {
					t.Errorf("began %q, want once", began)
				}
				if b.gateway.Up() {
					t.Error("Up is true after the end")
				}
			})
		}
	}
}

func TestGatewayOutgrowsItsShards(t *testing.T) {
	t.Parallel()
	var s *gatewayServer
	s = newGatewayServer(t, func(n int, c *conn) {
		if n == 0 {
			c.open(time.Second)
			s.mu.Lock()
			s.shards = 3
			s.mu.Unlock()
			c.close(4011)
			c.live()
			return
		}
		c.healthy()
	})
	s.run(t)
	s.until("three shards", func() bool { return len(s.began) >= 4 })
	began, at := s.beginnings()
	got := slices.Sorted(slices.Values(began[1:4]))
	if diff := cmp.Diff([]string{"identify [0 3]", "identify [1 3]", "identify [2 3]"}, got); diff != "" {
		t.Errorf("beginnings (-want +got):\n%s", diff)
	}
	for i := 2; i < 4; i++ {
		if gap := at[i].Sub(at[i-1]); gap < quick().IdentifyEvery/2 {
			t.Errorf("shards identified %v apart, want %v", gap, quick().IdentifyEvery)
		}
	}
}

func TestGatewayFloodOfServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		servers  int
		queue    int
		interval time.Duration
		stall    time.Duration // of whoever takes the events
	}{
		{"more than a shard holds", 2600, 0, 30 * time.Second, 0},
		{"more than fit into the queue", 5000, 0, 30 * time.Second, time.Second},
		// A full queue is not Discord's silence: two heartbeats come due while
		// nothing is read, and their answers with it.
		{"slower than heartbeats", 300, 50, time.Second, 2500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newGatewayServer(t, func(_ int, c *conn) {
				c.hello(tt.interval)
				c.start()
				var guilds []any
				for i := range tt.servers {
					guilds = append(guilds, map[string]any{"id": fmt.Sprint(1000 + i), "unavailable": true})
				}
				c.ready(guilds...)
				go func() {
					for i := range tt.servers {
						c.dispatch("GUILD_CREATE", map[string]any{"id": fmt.Sprint(1000 + i), "name": "x", "channels": []any{map[string]any{"id": "1", "type": 0}}})
					}
					c.dispatch("INTERACTION_CREATE", interaction(1))
				}()
				c.live()
			})
			var mu sync.Mutex
			var ready discord.Ready
			var seen []int64
			all, gate := make(chan struct{}), make(chan struct{})
			b := s.run(t, func(o *discord.GatewayOptions) {
				o.Queue = tt.queue
				o.Timing.Ready = 10 * time.Second
				o.OnReady = func(_ context.Context, r discord.Ready) {
					mu.Lock()
					defer mu.Unlock()
					ready = r
				}
				o.OnServer = func(_ context.Context, e discord.ServerEvent) {
					<-gate
					mu.Lock()
					defer mu.Unlock()
					if seen = append(seen, e.ID); len(seen) == tt.servers {
						close(all)
					}
				}
			})
			time.AfterFunc(tt.stall, func() { close(gate) })
			select {
			case <-all:
			case <-time.After(30 * time.Second):
				t.Fatalf("servers were lost; observed %q", b.events.all())
			}
			s.until("the answer to a command", func() bool { return len(s.answered) >= 1 })
			mu.Lock()
			defer mu.Unlock()
			if len(ready.Guilds) != tt.servers || ready.AppID != 5 || ready.UserID != 7 {
				t.Errorf("ready told of %d servers, app %d, user %d", len(ready.Guilds), ready.AppID, ready.UserID)
			}
			for i, id := range seen {
				if id != int64(1000+i) {
					t.Fatalf("server %d came in place %d: order was lost; observed %q", id, i, b.events.all())
				}
			}
			if began, _ := s.beginnings(); len(began) != 1 {
				t.Errorf("began %q, observed %q, want one connection", began, b.events.all())
			}
		})
	}
}

func TestGatewayServerEvents(t *testing.T) {
	t.Parallel()
	s := newGatewayServer(t, func(_ int, c *conn) {
		c.open(time.Second)
		c.dispatch("GUILD_CREATE", map[string]any{"id": "50", "name": "one", "preferred_locale": "ko"})
		c.dispatch("GUILD_CREATE", nil)
		c.dispatch("GUILD_CREATE", map[string]any{})
		c.raw(`{"op":0,"t":"GUILD_CREATE","s":3,"d":{"id":"51","channels":[null]}}`)
		c.raw(`{"op":0,"t":"GUILD_CREATE","s":3,"d":[]}`)
		c.dispatch("GUILD_UPDATE", map[string]any{"id": "50", "name": "two", "preferred_locale": "en-US"})
		c.dispatch("GUILD_DELETE", map[string]any{"id": "50", "unavailable": true})
		c.dispatch("GUILD_CREATE", map[string]any{"id": "52", "name": "down", "unavailable": true})
		c.dispatch("TYPING_START", map[string]any{"x": 1})
		c.dispatch("CHANNEL_DELETE", map[string]any{"id": "60", "guild_id": "50", "type": 0})
		c.dispatch("THREAD_DELETE", map[string]any{"id": "61", "guild_id": "50", "type": 11})
		c.dispatch("GUILD_DELETE", map[string]any{"id": "50"})
		c.live()
	})
	events := make(chan any, 20)
	s.run(t, func(o *discord.GatewayOptions) {
		o.OnReady = func(context.Context, discord.Ready) { panic("a handler that panics") }
		o.OnServer = func(_ context.Context, e discord.ServerEvent) { events <- e }
		o.OnChannel = func(_ context.Context, e discord.ChannelEvent) { events <- e }
	})
	for _, want := range []any{
		discord.ServerEvent{ID: 50, Name: "one", Locale: "ko", Kind: discord.Here},
		discord.ServerEvent{ID: 50, Name: "two", Locale: "en-US", Kind: discord.Here},
		discord.ServerEvent{ID: 50, Kind: discord.Outage},
		discord.ServerEvent{ID: 52, Kind: discord.Outage},
		discord.ChannelEvent{ID: 60, Server: 50},
		discord.ChannelEvent{ID: 61, Server: 50},
		discord.ServerEvent{ID: 50, Kind: discord.Gone},
	} {
		select {
		case got := <-events:
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no event, want %v", want)
		}
	}
}

func TestGatewayResumesWhereDiscordSays(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 10)
	s := newGatewayServer(t, func(n int, c *conn) {
		paths <- c.path
		c.open(time.Second)
		if n < 3 {
			c.op(7, nil)
		}
		c.live()
	})
	s.run(t)
	for i, want := range []string{"main", "resume", "resume", "resume"} {
		if got := <-paths; got != want {
			t.Errorf("connection %d went to %q, want %q", i, got, want)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.addresses != 1 {
		t.Errorf("the address was asked for %d times, want once", s.addresses)
	}
}

func TestGatewayResumesElsewhereWhenThatIsDead(t *testing.T) {
	t.Parallel()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	s := newGatewayServer(t, func(n int, c *conn) {
		if n > 0 {
			c.healthy()
			return
		}
		c.hello(time.Second)
		c.start()
		c.dispatch("READY", map[string]any{"session_id": "s1", "resume_gateway_url": "ws" + strings.TrimPrefix(dead.URL, "http"), "guilds": []any{}})
		c.op(7, nil)
		c.live()
	})
	s.run(t)
	s.until("a resume at the first address", func() bool { return len(s.answered) >= 1 })
	if began, _ := s.beginnings(); !strings.HasPrefix(began[1], "resume s1") {
		t.Errorf("began %q, want a resume in the second place", began)
	}
}

func TestGatewayStartsAnewWhenResumesAreIgnored(t *testing.T) {
	t.Parallel()
	s := newGatewayServer(t, func(n int, c *conn) {
		switch n {
		case 0:
			c.open(time.Second)
			c.op(7, nil)
			c.live()
		case 1, 2:
			c.hello(time.Second)
			c.start()
			c.live()
		default:
			c.healthy()
		}
	})
	s.run(t)
	s.until("an answer", func() bool { return len(s.answered) >= 1 })
	if began, _ := s.beginnings(); len(began) < 4 || began[3] != "identify" {
		t.Errorf("began %q, want identify, two resumes, identify", began)
	}
}

func TestGatewayResumesAfterTheLastEventCarriedOut(t *testing.T) {
	t.Parallel()
	carriedOut := make(chan discord.ServerEvent, 10)
	s := newGatewayServer(t, func(n int, c *conn) {
		if n > 0 {
			c.healthy()
			return
		}
		c.open(time.Second)
		c.dispatch("GUILD_CREATE", map[string]any{"id": "50"}) // 2
		c.dispatch("TYPING_START", map[string]any{})           // 3
		c.dispatch("GUILD_CREATE", map[string]any{"id": "51"}) // 4
		<-carriedOut
		<-carriedOut
		c.op(7, nil)
		c.live()
	})
	s.run(t, func(o *discord.GatewayOptions) {
		o.OnServer = func(_ context.Context, e discord.ServerEvent) { carriedOut <- e }
	})
	s.until("a resume", func() bool { return len(s.began) >= 2 })
	// The second event was seen, so the first and what came between count.
	began, _ := s.beginnings()
	if got := began[1]; got != "resume s1 seq 4" && got != "resume s1 seq 3" && got != "resume s1 seq 2" {
		t.Errorf("began with %q, want a resume after 2, 3 or 4", got)
	}
}

func TestGatewayReplayIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	s := newGatewayServer(t, func(n int, c *conn) {
		if n == 0 {
			c.open(time.Second)
			c.dispatch("INTERACTION_CREATE", interaction(1))
			c.op(7, nil)
			c.live()
			return
		}
		c.hello(time.Second)
		c.start()
		c.dispatch("INTERACTION_CREATE", interaction(1))
		c.dispatch("INTERACTION_CREATE", interaction(2))
		c.dispatch("RESUMED", nil)
		c.live()
	})
	s.run(t)
	s.until("the second answer", func() bool { return slices.Contains(s.answered, "2") })
	s.until("the first answer", func() bool { return slices.Contains(s.answered, "1") })
	if diff := cmp.Diff([]string{"1", "2"}, slices.Sorted(slices.Values(s.answered))); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}

func TestGatewayInteractionThatDoesNotDecode(t *testing.T) {
	t.Parallel()
	s := newGatewayServer(t, func(_ int, c *conn) {
		c.open(time.Second)
		odd := interaction(1)
		odd["data"] = map[string]any{"name": 5, "options": "none"}
		c.dispatch("INTERACTION_CREATE", odd)
		c.dispatch("INTERACTION_CREATE", map[string]any{"id": "x"})
		c.dispatch("INTERACTION_CREATE", interaction(2))
		c.live()
	})
	s.run(t)
	s.until("both answers", func() bool { return len(s.answered) >= 2 })
}

func TestGatewayAddressUnavailable(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	s := newGatewayServer(t, func(_ int, c *conn) { c.healthy() })
	refuse := roundTripper(func(req *http.Request) (*http.Response, error) {
		if down.Load() {
			return nil, errors.New("no network")
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	var requests counter
	client := newClient(t, refuse, func(o *discord.Options) { o.URL, o.Observer = s.url, &requests })
	s.run(t, func(o *discord.GatewayOptions) {
		o.Client = client
		o.Router = discord.NewRouter(client, discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("done")}}})
	})
	eventually(t, "five failed requests", func() bool { return len(requests.all()) >= 5 })
	down.Store(false)
	s.until("an answer", func() bool { return len(s.answered) >= 1 })
}

func TestGatewayLeavesNothingBehind(t *testing.T) {
	// Not parallel: it counts goroutines.
	const rounds = 12
	s := newGatewayServer(t, func(n int, c *conn) {
		if n >= rounds {
			c.healthy()
			return
		}
		switch n % 3 {
		case 0:
			c.open(time.Second)
			c.op(7, nil)
		case 1:
			c.hello(time.Second)
			c.start()
			c.op(7, nil)
		default:
			c.op(7, nil)
		}
		c.live()
	})
	before := runtime.NumGoroutine()
	b := s.run(t, func(o *discord.GatewayOptions) {
		o.Timing.BackoffMost = 20 * time.Millisecond
		o.Timing.IdentifyEvery = 20 * time.Millisecond
	})
	s.until("the last connection", func() bool { return len(s.answered) >= 1 })
	b.stop()
	if err := <-b.err; err != nil {
		t.Fatal(err)
	}
	// Some are left: idle connections, and what the test framework adds.
	eventually(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before+4 })
}

// eventually looks every few milliseconds whether a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			stacks := make([]byte, 1<<20)
			t.Fatalf("waited 10 s in vain for %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
