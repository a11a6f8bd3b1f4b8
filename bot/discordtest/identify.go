package discordtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// gatewayURL is where a client that came with r finds the gateway.
func (s *Server) gatewayURL(r *http.Request) string {
	if s.opt.GatewayURL != "" {
		return s.opt.GatewayURL
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return "ws://gateway.invalid" // in process there is none
	}
	host := r.Host
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	// A client that is redirected by its transport may still name Discord.
	if name == "" || name == "discord.com" || strings.HasSuffix(name, ".discord.com") || strings.HasSuffix(name, "discordapp.com") {
		host = addr.String()
	}
	scheme := "ws://"
	if r.TLS != nil {
		scheme = "wss://"
	}
	return scheme + host
}

func (s *Server) gatewayBot(c *call) answer {
	s.pruneStarts(c.at)
	left := s.opt.SessionStarts - len(s.starts)
	after := time.Duration(0)
	if len(s.starts) > 0 {
		after = s.starts[0].Add(24 * time.Hour).Sub(c.at)
	}
	shards := s.opt.Shards
	if shards == 0 {
		n := 0
		for _, g := range s.guilds {
			if !g.gone {
				n++
			}
		}
		shards = max((n+999)/1000, 1)
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"url": c.baseURL, "shards": shards,
		"session_start_limit": map[string]any{
			"total": s.opt.SessionStarts, "remaining": max(left, 0),
			"reset_after": after.Milliseconds(), "max_concurrency": s.opt.MaxConcurrency,
		},
	})
}

func (s *Server) pruneStarts(now time.Time) {
	for len(s.starts) > 0 && now.Sub(s.starts[0]) >= 24*time.Hour {
		s.starts = s.starts[1:]
	}
}

// tokenOK reports whether the gateway takes token; "Bot " before it is allowed.
func (s *Server) tokenOK(token string) bool {
	token = strings.TrimPrefix(token, "Bot ")
	return token != "" && (s.opt.Token == "" || token == s.opt.Token)
}

// identify starts a session.
func (s *Server) identify(c *conn, raw json.RawMessage, now time.Time, baseURL string) {
	var d struct {
		Token      string          `json:"token"`
		Compress   bool            `json:"compress"`
		Intents    *int            `json:"intents"`
		Shard      *[2]int         `json:"shard"`
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(raw, &d); err != nil || d.Properties == nil {
		s.gatewayFoul(c, ViolationGatewayPayload, closeDecode, "identify without properties, or not an object")
		return
	}
	s.stats.Identifies++
	c.compress = d.Compress
	if !s.tokenOK(d.Token) {
		s.gatewayFoul(c, ViolationGatewayToken, closeAuthFailed, "Authentication failed.")
		return
	}
	s.pruneStarts(now)
	s.starts = append(s.starts, now)
	if len(s.starts) > s.opt.SessionStarts {
		s.stats.violation(ViolationSessionStarts, now, fmt.Sprintf("%d a day", len(s.starts)))
		for _, x := range s.sessions {
			if x.conn != nil && x.conn != c {
				s.closeConn(x.conn, closeAuthFailed, "Authentication failed.")
			}
			s.dropSession(x)
		}
		s.closeConn(c, closeAuthFailed, "Authentication failed.")
		return
	}
	shard := [2]int{0, 1}
	if d.Shard != nil {
		shard = *d.Shard
	}
	if shard[1] < 1 || shard[0] < 0 || shard[0] >= shard[1] {
		s.gatewayFoul(c, ViolationGatewayShard, closeInvalidShard, fmt.Sprint("shard ", shard))
		return
	}
	switch {
	case d.Intents == nil || *d.Intents&^intentsKnown != 0 || *d.Intents < 0:
		s.gatewayFoul(c, ViolationGatewayIntents, closeInvalidIntents, "Invalid intent(s).")
		return
	case *d.Intents&intentsPrivileged&^s.opt.PrivilegedIntents != 0:
		s.gatewayFoul(c, ViolationGatewayIntents, closeDisallowed, "Disallowed intent(s).")
		return
	}
	key := shard[0] % s.opt.MaxConcurrency
	last, before := s.identified[key]
	s.identified[key] = now
	if before && now.Sub(last) < s.opt.IdentifyInterval {
		s.stats.violation(ViolationIdentifyRate, now, fmt.Sprintf("shard %d after %v", shard[0], now.Sub(last)))
		c.send(map[string]any{"op": opInvalidSession, "d": false})
		return
	}
	x := &session{id: sessionID(s.newID(now)), shard: shard, intents: *d.Intents, conn: c}
	mine := s.guildsOf(x)
	if len(mine) > s.opt.GuildsPerShard {
		s.gatewayFoul(c, ViolationGatewayShard, closeShardingNeeded, fmt.Sprintf("%d guilds on a shard", len(mine)))
		return
	}
	if f := s.faults.takeGateway(StageIdentify); f != nil {
		s.strike(c, f)
		return
	}
	c.session = x
	s.sessions[x.id] = x
	s.ready(c, x, mine, baseURL)
	s.sessionsChanged()
}

func sessionID(id string) string { return fmt.Sprintf("%032s", id) }

func (s *Server) guildsOf(x *session) []*guild {
	var out []*guild
	for _, id := range s.order {
		if g := s.guilds[id]; !g.gone && x.sees(id) {
			out = append(out, g)
		}
	}
	return out
}

// ready sends READY and a GUILD_CREATE for each guild that is up.
func (s *Server) ready(c *conn, x *session, mine []*guild, baseURL string) {
	guilds := []any{}
	for _, g := range mine {
		guilds = append(guilds, map[string]any{"id": g.ID, "unavailable": true})
	}
	me := s.botUser()
	me["verified"], me["mfa_enabled"], me["email"] = true, true, nil
	s.emit(x, "READY", map[string]any{
		"v": 10, "user": me, "guilds": guilds, "session_id": x.id, "session_type": "normal",
		"resume_gateway_url": baseURL + resumePath, "shard": x.shard,
		"application":      map[string]any{"id": s.opt.AppID, "flags": 0},
		"private_channels": []any{}, "relationships": []any{}, "presences": []any{}, "_trace": []string{"discordtest"},
	})
	if x.intents&intentGuilds == 0 {
		return
	}
	for _, g := range mine {
		if !g.outage {
			s.emit(x, "GUILD_CREATE", s.guildEvent(g))
		}
	}
}

// resume continues a session.
func (s *Server) resume(c *conn, raw json.RawMessage, now time.Time) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int    `json:"seq"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		s.gatewayFoul(c, ViolationGatewayPayload, closeDecode, "resume is not an object")
		return
	}
	s.stats.Resumes++
	if !c.resume {
		s.stats.violation(ViolationResumeElsewhere, now, "")
	}
	if !s.tokenOK(d.Token) {
		s.gatewayFoul(c, ViolationGatewayToken, closeAuthFailed, "Authentication failed.")
		return
	}
	if f := s.faults.takeGateway(StageResume); f != nil {
		if f.Do == ActInvalidSession && !f.Resumable {
			s.dropSession(s.sessions[d.SessionID])
		}
		s.strike(c, f)
		return
	}
	x := s.sessions[d.SessionID]
	if x != nil && x.conn == nil && now.Sub(x.lost) > keepSession {
		s.dropSession(x)
		x = nil
	}
	switch {
	case x == nil, d.Seq < x.trimmed:
		s.dropSession(x)
		c.send(map[string]any{"op": opInvalidSession, "d": false})
		return
	case d.Seq > x.seq:
		s.dropSession(x)
		s.gatewayFoul(c, ViolationGatewaySequence, closeInvalidSeq, fmt.Sprintf("seq %d of %d", d.Seq, x.seq))
		return
	}
	if old := x.conn; old != nil && old != c {
		old.session = nil
		s.closeConn(old, 4000, "resumed elsewhere")
	}
	c.session, x.conn = x, c
	for _, e := range x.events {
		if e.seq > d.Seq {
			c.sendRaw(e.payload)
		}
	}
	s.emit(x, "RESUMED", map[string]any{"_trace": []string{"discordtest"}})
	s.sessionsChanged()
}
