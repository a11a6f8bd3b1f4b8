package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// The gateway's opcodes.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoiceState     = 4
	opResume         = 6
	opReconnect      = 7
	opRequestMembers = 8
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
	opSoundboard     = 31
)

// The gateway's close codes.
const (
	closeUnknownOp        = 4001
	closeDecode           = 4002
	closeNotAuthenticated = 4003
	closeAuthFailed       = 4004
	closeAlready          = 4005
	closeInvalidSeq       = 4007
	closeRateLimited      = 4008
	closeTimedOut         = 4009
	closeInvalidShard     = 4010
	closeShardingNeeded   = 4011
	closeInvalidVersion   = 4012
	closeInvalidIntents   = 4013
	closeDisallowed       = 4014
)

// The intents that matter here.
const (
	intentGuilds      = 1 << 0
	intentsPrivileged = 1<<1 | 1<<8 | 1<<15
	intentsKnown      = 1<<26 - 1
)

const (
	maxGatewayPayload = 4096
	maxGatewaySends   = 120 // a minute and connection
	keepEvents        = 10_000
	keepSession       = 5 * time.Minute // after the connection is lost; not documented
	maxOutbox         = 65_536
)

// closeConn closes c with a code. The caller holds mu.
func (s *Server) closeConn(c *conn, code int, reason string) {
	switch code {
	case closeAuthFailed, closeInvalidSeq, closeTimedOut, closeInvalidShard, closeShardingNeeded,
		closeInvalidVersion, closeInvalidIntents, closeDisallowed:
		s.dropSession(c.session)
	}
	c.closing = true
	c.out.push(frame{code: code, reason: reason})
}

var upgrader = websocket.Upgrader{
	CheckOrigin:     func(*http.Request) bool { return true },
	ReadBufferSize:  4096,
	WriteBufferSize: 4096,
}

// resumePath is the path of resume_gateway_url.
const resumePath = "/resume"

// serveGateway is a gateway connection from handshake to end.
func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		reset(w)
		return
	}
	s.running.Add(1)
	f := s.faults.takeGateway(StageConnect)
	s.mu.Unlock()
	defer s.running.Done()
	if f != nil {
		switch f.Do {
		case ActClose:
			w.WriteHeader(http.StatusServiceUnavailable)
		case ActSilent:
			select {
			case <-r.Context().Done():
			case <-s.done:
			}
		default:
			reset(w)
		}
		return
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{
		s: s, ws: ws, resume: strings.HasPrefix(r.URL.Path, resumePath),
		sends: window{per: time.Minute}, out: outbox{wake: make(chan struct{}, 1)},
	}
	stream := r.URL.Query().Get("compress") == "zlib-stream"
	s.greet(c, r.URL.Query().Get("v"), r.URL.Query().Get("encoding"))
	var writer sync.WaitGroup
	writer.Go(func() { c.write(stream) })
	c.read(s.gatewayURL(r))
	c.out.push(frame{abort: true})
	writer.Wait()
	_ = ws.Close()
}

// greet registers c and says hello.
func (s *Server) greet(c *conn, version, encoding string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Connections++
	s.conns[c] = struct{}{}
	if s.closed {
		c.abort()
		return
	}
	if version != "" && version != "9" && version != "10" || encoding != "" && encoding != "json" {
		s.stats.violation(ViolationGatewayVersion, now, "version "+version+", encoding "+encoding)
		s.closeConn(c, closeInvalidVersion, "Invalid API version")
		return
	}
	// Discord ends a connection that does not beat; twice the interval leaves
	// room for the jitter of the first one.
	c.watchdog = time.AfterFunc(2*s.opt.HeartbeatInterval, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.conns[c]; ok {
			s.stats.violation(ViolationHeartbeatMissed, time.Now(), "")
			s.closeConn(c, closeTimedOut, "Session timed out")
		}
	})
	if f := s.faults.takeGateway(StageHello); f != nil {
		s.strike(c, f)
		return
	}
	c.send(map[string]any{"op": opHello, "s": nil, "t": nil, "d": map[string]any{
		"heartbeat_interval": s.opt.HeartbeatInterval.Milliseconds(), "_trace": []string{"discordtest"},
	}})
}

// read takes what the client sends until the connection ends.
func (c *conn) read(baseURL string) {
	defer c.leave()
	for {
		_, raw, err := c.ws.ReadMessage()
		if err != nil {
			c.ended(err)
			return
		}
		c.s.receive(c, raw, baseURL)
	}
}

// ended notes how the client left.
func (c *conn) ended(err error) {
	code := websocket.CloseAbnormalClosure
	var ce *websocket.CloseError
	if errors.As(err, &ce) {
		code = ce.Code
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closing {
		return
	}
	s.stats.ClientCloses[code]++
	if code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway {
		// https://discord.com/developers/docs/events/gateway#initiating-a-disconnect
		if c.session != nil && c.session.conn == c {
			s.dropSession(c.session)
		}
	}
}

func (c *conn) leave() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.watchdog != nil {
		c.watchdog.Stop()
	}
	delete(s.conns, c)
	if c.session != nil && c.session.conn == c {
		c.session.conn, c.session.lost = nil, time.Now()
	}
	s.sessionsChanged()
}

// receive acts on a payload.
func (s *Server) receive(c *conn, raw []byte, baseURL string) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.closing {
		return
	}
	if len(raw) > maxGatewayPayload {
		s.gatewayFoul(c, ViolationGatewayPayload, closeDecode, fmt.Sprintf("%d bytes", len(raw)))
		return
	}
	if c.sends.add(now) > maxGatewaySends {
		s.gatewayFoul(c, ViolationGatewayRate, closeRateLimited, "more than 120 in a minute")
		return
	}
	var p struct {
		Op *int            `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Op == nil {
		s.gatewayFoul(c, ViolationGatewayPayload, closeDecode, "not a payload")
		return
	}
	if c.session == nil && *p.Op != opIdentify && *p.Op != opResume && *p.Op != opHeartbeat {
		s.gatewayFoul(c, ViolationGatewayPayload, closeNotAuthenticated, fmt.Sprintf("op %d before identify", *p.Op))
		return
	}
	switch *p.Op {
	case opHeartbeat:
		s.stats.Heartbeats++
		c.watchdog.Reset(2 * s.opt.HeartbeatInterval)
		c.session.confirm(p.D)
		if f := s.faults.takeGateway(StageHeartbeat); f != nil {
			if f.Do != ActSilent {
				s.strike(c, f)
			}
			return
		}
		c.send(map[string]any{"op": opHeartbeatAck})
	case opIdentify:
		if c.session != nil && s.sessions[c.session.id] == c.session {
			s.gatewayFoul(c, ViolationGatewayPayload, closeAlready, "identify twice")
			return
		}
		s.identify(c, p.D, now, baseURL)
	case opResume:
		s.resume(c, p.D, now)
	case opPresence, opVoiceState, opRequestMembers, opSoundboard:
	default:
		s.gatewayFoul(c, ViolationGatewayPayload, closeUnknownOp, fmt.Sprintf("op %d", *p.Op))
	}
}

func (s *Server) gatewayFoul(c *conn, violation string, code int, detail string) {
	s.stats.violation(violation, time.Now(), detail)
	s.closeConn(c, code, detail)
}
