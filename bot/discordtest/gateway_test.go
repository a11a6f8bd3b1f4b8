package discordtest_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"riftchime/bot/discordtest"
)

// payload is what the gateway sends.
type payload struct {
	Op int             `json:"op"`
	T  string          `json:"t"`
	S  int             `json:"s"`
	D  json.RawMessage `json:"d"`
}

// peer is a bare gateway client.
type peer struct {
	t       *testing.T
	ws      *websocket.Conn
	stream  *bytes.Buffer // of zlib-stream
	inflate io.Reader
	binary  int // binary frames read
}

func dial(t *testing.T, address, query string) (*peer, error) {
	t.Helper()
	ws, res, err := websocket.DefaultDialer.DialContext(timeout(t), address+"/?v=10&encoding=json"+query, nil)
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = ws.Close() })
	_ = ws.SetReadDeadline(time.Now().Add(20 * time.Second))
	return &peer{t: t, ws: ws}, nil
}

func (p *peer) next() (payload, error) {
	var out payload
	kind, raw, err := p.ws.ReadMessage()
	if err != nil {
		return out, err
	}
	if kind == websocket.BinaryMessage {
		p.binary++
		if raw, err = p.unpack(raw); err != nil {
			return out, err
		}
	}
	return out, json.Unmarshal(raw, &out)
}

func (p *peer) unpack(raw []byte) ([]byte, error) {
	if p.stream == nil {
		z, err := zlib.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}
	p.stream.Write(raw)
	if p.inflate == nil {
		z, err := zlib.NewReader(p.stream)
		if err != nil {
			return nil, err
		}
		p.inflate = z
	}
	var one json.RawMessage
	err := json.NewDecoder(p.inflate).Decode(&one)
	return one, err
}

// want reads the next payload and checks its op and event.
func (p *peer) want(op int, event string) payload {
	p.t.Helper()
	got, err := p.next()
	if err != nil {
		p.t.Fatalf("got %v, want op %d %s", err, op, event)
	}
	if got.Op != op || got.T != event {
		p.t.Fatalf("got op %d %q %s, want op %d %q", got.Op, got.T, got.D, op, event)
	}
	return got
}

// wantClose reads until the connection ends and checks the code.
func (p *peer) wantClose(code int) {
	p.t.Helper()
	for {
		_, err := p.next()
		if err == nil {
			continue
		}
		var ce *websocket.CloseError
		if !errors.As(err, &ce) || ce.Code != code {
			p.t.Fatalf("got %v, want close %d", err, code)
		}
		return
	}
}

func (p *peer) send(op int, d any) {
	p.t.Helper()
	if err := p.ws.WriteJSON(object{"op": op, "d": d}); err != nil {
		p.t.Fatalf("send op %d: %v", op, err)
	}
}

func identity(more object) object {
	d := object{"token": token, "intents": 1, "properties": object{"os": "linux"}}
	for k, v := range more {
		d[k] = v
	}
	return d
}

// ready is READY's d, as far as it is used.
type ready struct {
	SessionID string `json:"session_id"`
	ResumeURL string `json:"resume_gateway_url"`
	User      struct{ ID string }
	Guilds    []struct {
		ID          string
		Unavailable bool
	}
	Application struct{ ID string }
	Shard       [2]int
}

// gateway starts s and returns its gateway's address, asked for over REST.
func gateway(t *testing.T, s *discordtest.Server) string {
	t.Helper()
	base, err := s.Start("")
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v9/gateway", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "DiscordBot (https://example.invalid, 1)")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var body struct{ URL string }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(body.URL, "ws://127.0.0.1:") {
		t.Fatalf("gateway: got %q", body.URL)
	}
	return body.URL
}

// connect identifies and reads up to the last GUILD_CREATE.
func connect(t *testing.T, address, query string, more object, guilds int) (*peer, ready, int) {
	t.Helper()
	p, err := dial(t, address, query)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(query, "zlib-stream") {
		p.stream = &bytes.Buffer{}
	}
	hello := p.want(10, "")
	var h struct {
		Interval int `json:"heartbeat_interval"`
	}
	if err := json.Unmarshal(hello.D, &h); err != nil || h.Interval <= 0 {
		t.Fatalf("hello: %s", hello.D)
	}
	p.send(2, identity(more))
	first := p.want(0, "READY")
	var r ready
	if err := json.Unmarshal(first.D, &r); err != nil {
		t.Fatal(err)
	}
	seq := first.S
	for range guilds {
		seq = p.want(0, "GUILD_CREATE").S
	}
	return p, r, seq
}

func TestGatewayStartsASession(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		query  string
		more   object
		binary bool
	}{
		"plain":          {},
		"zlib a payload": {more: object{"compress": true}, binary: true},
		"zlib-stream":    {query: "&compress=zlib-stream", binary: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, discordtest.Options{})
			p, r, seq := connect(t, gateway(t, s), tc.query, tc.more, 1)
			if r.User.ID != s.AppID() || r.Application.ID != s.AppID() || r.SessionID == "" || r.ResumeURL == "" {
				t.Errorf("ready: got %+v", r)
			}
			if len(r.Guilds) != 1 || r.Guilds[0].ID != guildID || !r.Guilds[0].Unavailable {
				t.Errorf("guilds: got %+v, want home, unavailable", r.Guilds)
			}
			p.send(1, seq)
			p.want(11, "")
			if (p.binary > 0) != tc.binary {
				t.Errorf("got %d binary frames", p.binary)
			}
			clean(t, s)
		})
	}
}

func TestGatewayTellsWhatChanges(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	p, _, _ := connect(t, gateway(t, s), "", nil, 1)
	unavailable := func(d json.RawMessage) (value, set bool) {
		var m map[string]any
		if err := json.Unmarshal(d, &m); err != nil {
			t.Fatal(err)
		}
		v, set := m["unavailable"]
		b, _ := v.(bool)
		return b, set
	}
	s.Outage(guildID)
	if v, set := unavailable(p.want(0, "GUILD_DELETE").D); !v || !set {
		t.Error("an outage must say unavailable")
	}
	s.Restore(guildID)
	p.want(0, "GUILD_CREATE")
	s.Deny(chat, discordtest.SendMessages)
	if d := p.want(0, "CHANNEL_UPDATE").D; !bytes.Contains(d, []byte(`"deny":"2048"`)) {
		t.Errorf("channel: got %s", d)
	}
	s.RemoveChannel(other)
	p.want(0, "CHANNEL_DELETE")
	s.RemoveGuild(guildID)
	if _, set := unavailable(p.want(0, "GUILD_DELETE").D); set {
		t.Error("a removal must not say unavailable")
	}
	for i := range 300 {
		s.AddGuild(discordtest.Guild{ID: "7000000000000" + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))})
	}
	for range 300 {
		p.want(0, "GUILD_CREATE")
	}
}

func TestGatewayResumes(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	address := gateway(t, s)
	p, r, seq := connect(t, address, "", nil, 1)
	_ = p.ws.UnderlyingConn().Close()
	if err := s.WaitSessions(timeout(t), func(all []discordtest.Session) bool { return len(all) == 1 && !all[0].Connected }); err != nil {
		t.Fatal(err)
	}
	s.Outage(guildID) // missed
	p, err := dial(t, r.ResumeURL, "")
	if err != nil {
		t.Fatal(err)
	}
	p.want(10, "")
	p.send(6, object{"token": token, "session_id": r.SessionID, "seq": seq})
	missed := p.want(0, "GUILD_DELETE")
	if missed.S != seq+1 {
		t.Errorf("replayed: got seq %d, want %d", missed.S, seq+1)
	}
	p.want(0, "RESUMED")
	clean(t, s)
	if st := s.Stats(); st.Resumes != 1 || st.Identifies != 1 || st.ClientCloses[1006] != 1 {
		t.Errorf("got %d resumes, %d identifies, closes %v", st.Resumes, st.Identifies, st.ClientCloses)
	}

	t.Run("1000 ends the session", func(t *testing.T) {
		_ = p.ws.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
		p.wantClose(1000)
		if err := s.WaitSessions(timeout(t), func(all []discordtest.Session) bool { return len(all) == 0 }); err != nil {
			t.Fatal(err)
		}
		q, err := dial(t, r.ResumeURL, "")
		if err != nil {
			t.Fatal(err)
		}
		q.want(10, "")
		q.send(6, object{"token": token, "session_id": r.SessionID, "seq": seq})
		if got := q.want(9, ""); string(got.D) != "false" {
			t.Errorf("op 9: got %s, want false", got.D)
		}
	})
}

func TestGatewayRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op        int
		d         any
		close     int
		violation string
	}{
		"a wrong token":               {2, identity(object{"token": "x"}), 4004, discordtest.ViolationGatewayToken},
		"a privileged intent":         {2, identity(object{"intents": 1 << 15}), 4014, discordtest.ViolationGatewayIntents},
		"an unknown intent":           {2, identity(object{"intents": 1 << 30}), 4013, discordtest.ViolationGatewayIntents},
		"a shard out of range":        {2, identity(object{"shard": []int{2, 2}}), 4010, discordtest.ViolationGatewayShard},
		"too many guilds":             {2, identity(nil), 4011, discordtest.ViolationGatewayShard},
		"a payload too large":         {2, identity(object{"x": strings.Repeat("x", 4096)}), 4002, discordtest.ViolationGatewayPayload},
		"another op first":            {3, object{}, 4003, discordtest.ViolationGatewayPayload},
		"no heartbeat in time":        {0, nil, 4009, discordtest.ViolationHeartbeatMissed},
		"a resume with a wrong token": {6, object{"token": "x", "session_id": "y", "seq": 1}, 4004, discordtest.ViolationGatewayToken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opt := discordtest.Options{HeartbeatInterval: 20 * time.Second}
			if tc.close == 4011 {
				opt.GuildsPerShard = 1
			}
			if tc.close == 4009 {
				opt.HeartbeatInterval = 20 * time.Millisecond
			}
			s := newServer(t, opt)
			s.AddGuild(discordtest.Guild{ID: "5"})
			p, err := dial(t, gateway(t, s), "")
			if err != nil {
				t.Fatal(err)
			}
			p.want(10, "")
			if tc.d != nil {
				p.send(tc.op, tc.d)
			}
			p.wantClose(tc.close)
			if n := s.Stats().ViolationCounts[tc.violation]; n != 1 {
				t.Errorf("%s: got %d, want 1: %v", tc.violation, n, s.Stats().ViolationCounts)
			}
		})
	}
}

func TestGatewayShards(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{MaxConcurrency: 2})
	// (id >> 22) % 2 decides: one guild a shard.
	s.RemoveGuild(guildID)
	s.AddGuild(discordtest.Guild{ID: "8388608", Channels: []discordtest.Channel{{ID: "11"}}}) // 2 << 22
	s.AddGuild(discordtest.Guild{ID: "4194304", Channels: []discordtest.Channel{{ID: "12"}}}) // 1 << 22
	address := gateway(t, s)
	a, ra, _ := connect(t, address, "", object{"shard": []int{0, 2}}, 1)
	b, rb, _ := connect(t, address, "", object{"shard": []int{1, 2}}, 1)
	if ra.Guilds[0].ID != "8388608" || rb.Guilds[0].ID != "4194304" {
		t.Errorf("guilds: got %v and %v", ra.Guilds, rb.Guilds)
	}
	s.Outage("4194304")
	s.Outage("8388608")
	for p, id := range map[*peer]string{a: "8388608", b: "4194304"} {
		if d := p.want(0, "GUILD_DELETE").D; !bytes.Contains(d, []byte(id)) {
			t.Errorf("got %s, want guild %s", d, id)
		}
	}
	clean(t, s)
}

func TestGatewayLimitsIdentifies(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{SessionStarts: 2})
	address := gateway(t, s)
	first, _, _ := connect(t, address, "", nil, 1)
	p, err := dial(t, address, "")
	if err != nil {
		t.Fatal(err)
	}
	p.want(10, "")
	p.send(2, identity(nil))
	if got := p.want(9, ""); string(got.D) != "false" {
		t.Errorf("within 5 s: got d %s, want false", got.D)
	}
	p.send(2, identity(nil)) // the third of two a day
	p.wantClose(4004)
	first.wantClose(4004)
	counts := s.Stats().ViolationCounts
	if counts[discordtest.ViolationIdentifyRate] != 1 || counts[discordtest.ViolationSessionStarts] != 1 {
		t.Errorf("got %v", counts)
	}
}

func TestGatewayFaults(t *testing.T) {
	t.Parallel()
	type fault = discordtest.GatewayFault
	for name, tc := range map[string]struct {
		fault fault
		check func(t *testing.T, s *discordtest.Server, p *peer)
	}{
		"op 7 in place of hello": {fault{At: discordtest.StageHello, Do: discordtest.ActReconnect}, func(t *testing.T, _ *discordtest.Server, p *peer) {
			p.want(7, "")
		}},
		"op 7 in place of READY": {fault{At: discordtest.StageIdentify, Do: discordtest.ActReconnect}, func(t *testing.T, s *discordtest.Server, p *peer) {
			p.want(10, "")
			p.send(2, identity(nil))
			p.want(7, "")
			if n := len(s.Sessions()); n != 0 {
				t.Errorf("got %d sessions, want none", n)
			}
		}},
		"op 9 in place of READY": {fault{At: discordtest.StageIdentify, Do: discordtest.ActInvalidSession}, func(t *testing.T, _ *discordtest.Server, p *peer) {
			p.want(10, "")
			p.send(2, identity(nil))
			if got := p.want(9, ""); string(got.D) != "false" {
				t.Errorf("d: got %s", got.D)
			}
		}},
		"4004 in place of READY": {fault{At: discordtest.StageIdentify, Do: discordtest.ActClose, Code: 4004}, func(_ *testing.T, _ *discordtest.Server, p *peer) {
			p.want(10, "")
			p.send(2, identity(nil))
			p.wantClose(4004)
		}},
		"a broken connection": {fault{At: discordtest.StageHello, Do: discordtest.ActDrop}, func(_ *testing.T, _ *discordtest.Server, p *peer) {
			p.wantClose(1006)
		}},
		"silence": {fault{At: discordtest.StageHello, Do: discordtest.ActSilent}, func(t *testing.T, s *discordtest.Server, p *peer) {
			_ = p.ws.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if got, err := p.next(); err == nil {
				t.Errorf("got %+v, want nothing", got)
			}
			if n := s.Stats().Connections; n != 1 {
				t.Errorf("got %d connections", n)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, discordtest.Options{})
			address := gateway(t, s)
			s.FailGateway(tc.fault)
			p, err := dial(t, address, "")
			if err != nil {
				t.Fatal(err)
			}
			tc.check(t, s, p)
			// It strikes once: the next connection is well.
			if q, err := dial(t, address, ""); err != nil {
				t.Error(err)
			} else {
				q.want(10, "")
			}
		})
	}

	t.Run("503 in place of the handshake", func(t *testing.T) {
		t.Parallel()
		s := newServer(t, discordtest.Options{})
		address := gateway(t, s)
		s.FailGateway(fault{At: discordtest.StageConnect, Do: discordtest.ActClose})
		if _, err := dial(t, address, ""); !errors.Is(err, websocket.ErrBadHandshake) {
			t.Errorf("got %v, want a bad handshake", err)
		}
	})

	t.Run("a zombie sends no ACK but events", func(t *testing.T) {
		t.Parallel()
		s := newServer(t, discordtest.Options{})
		p, _, seq := connect(t, gateway(t, s), "", nil, 1)
		s.FailGateway(fault{At: discordtest.StageHeartbeat, Do: discordtest.ActSilent})
		p.send(1, seq)
		p.send(1, seq)
		p.want(11, "") // only the second one's
		if n := s.Stats().Heartbeats; n != 2 {
			t.Errorf("got %d heartbeats", n)
		}
	})

	t.Run("now, op 7, then a resume that is refused", func(t *testing.T) {
		t.Parallel()
		s := newServer(t, discordtest.Options{})
		p, r, seq := connect(t, gateway(t, s), "", nil, 1)
		s.FailGateway(fault{At: discordtest.StageNow, Do: discordtest.ActReconnect})
		p.want(7, "")
		s.FailGateway(fault{At: discordtest.StageResume, Do: discordtest.ActInvalidSession})
		q, err := dial(t, r.ResumeURL, "")
		if err != nil {
			t.Fatal(err)
		}
		q.want(10, "")
		q.send(6, object{"token": token, "session_id": r.SessionID, "seq": seq})
		q.want(9, "")
		if n := len(s.Sessions()); n != 0 {
			t.Errorf("got %d sessions, want none", n)
		}
	})

	t.Run("mute, and what was missed comes with the resume", func(t *testing.T) {
		t.Parallel()
		s := newServer(t, discordtest.Options{})
		_, r, seq := connect(t, gateway(t, s), "", nil, 1)
		s.FailGateway(fault{At: discordtest.StageNow, Do: discordtest.ActSilent})
		s.Outage(guildID)
		q, err := dial(t, r.ResumeURL, "")
		if err != nil {
			t.Fatal(err)
		}
		q.want(10, "")
		q.send(6, object{"token": token, "session_id": r.SessionID, "seq": seq})
		q.want(0, "GUILD_DELETE")
		q.want(0, "RESUMED")
	})
}

func TestInteractOverTheGateway(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{AnswerDeadline: 200 * time.Millisecond})
	in := discordtest.Interaction{Guild: guildID, Channel: chat, Command: "list"}
	if _, err := s.Interact(t.Context(), in); !errors.Is(err, discordtest.ErrNoSession) {
		t.Fatalf("without a session: got %v", err)
	}
	p, _, _ := connect(t, gateway(t, s), "", nil, 1)
	res, err := s.Interact(t.Context(), in)
	if !errors.Is(err, discordtest.ErrUnanswered) {
		t.Fatalf("nobody answers: got %v", err)
	}
	first := p.want(0, "INTERACTION_CREATE")
	if err := s.Replay(res); err != nil {
		t.Fatal(err)
	}
	second := p.want(0, "INTERACTION_CREATE")
	if !bytes.Equal(first.D, second.D) {
		t.Errorf("replay differs: %s and %s", first.D, second.D)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := res.Final(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("final: got %v", err)
	}
}
