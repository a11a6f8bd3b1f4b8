package discord

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"
)

// The gateway's opcodes
// (https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-opcodes).
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

const (
	maxPayload   = 64 << 20 // of one message from the gateway
	writeWithin  = 5 * time.Second
	leastBeat    = 10 * time.Millisecond
	longestBeat  = 10 * time.Minute
	silenceSlack = 5 * time.Second // on top of two heartbeats
)

// payload is a message of the gateway.
type payload struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// link is one connection to Discord and the Session of discordgo behind it.
// The Session does not talk to Discord but to the link, over a pipe, and sees
// of the protocol only what it handles well: hello, dispatches, answers to
// heartbeats. What it would deadlock on, answer too soon or end the process
// with (reconnect and invalid session in the middle of a handshake, a request
// for a heartbeat while it closes, events without a body) stops here. So a
// Session never hangs: every end of a link is a closed pipe to it.
type link struct {
	shard *shard
	up    *websocket.Conn // to Discord; read by connect's goroutine only
	down  *websocket.Conn // to discordgo; written by connect's goroutine only
	beat  time.Duration   // between heartbeats
	born  time.Time

	received atomic.Int64 // sequence of the last dispatch that came
	handled  atomic.Int64 // sequence of the last that was carried out
	waiting  atomic.Bool  // for the answer to a heartbeat
	stalled  atomic.Bool  // while discordgo takes a message
	since    atomic.Int64 // when stalled last changed, since born
	zombie   atomic.Bool
	writing  sync.Mutex // held for a write to up, bounded by writeWithin
}

// connect makes a connection and returns when it has ended.
func (s *shard) connect(ctx context.Context) (end ending) {
	g, t := s.gateway, s.gateway.o.Timing
	resuming := s.session.id != ""
	var permit *permit
	if !resuming {
		var err error
		if permit, err = s.budget.acquire(ctx, s.number); err != nil {
			return ending{reason: reasonStopped, err: err}
		}
		defer func() { permit.release() }()
	}
	address, err := s.address(ctx)
	if err != nil {
		return ending{reason: reasonAddress, err: err}
	}
	l := &link{shard: s, born: time.Now()}
	if l.up, err = dial(ctx, address, t.Dial, g.o.Client.session.UserAgent); err != nil {
		return ending{reason: reasonDial, err: err}
	}
	defer l.up.Close()
	// Told to stop, say so, that the bot is shown as offline at once.
	stopped := context.AfterFunc(ctx, func() { hangUp(l.up, websocket.CloseNormalClosure) })
	defer stopped()

	hello, first, err := l.hello(t.Hello)
	if err != nil {
		return l.ended(reasonHello, err)
	}
	if hello.Op != opHello {
		return l.unexpected(hello)
	}

	if end := l.open(ctx, first); end != nil {
		return *end
	}
	defer l.down.Close()
	if err := l.introduce(ctx, permit, resuming); err != nil {
		return l.ended(reasonSession, err)
	}
	defer func() {
		// What discordgo had received but not carried out is replayed.
		s.session.seq = l.handled.Load()
	}()

	var beats sync.WaitGroup
	beats.Go(func() { l.heartbeats() })
	defer beats.Wait()
	defer l.up.Close()
	defer l.down.Close()

	var since time.Time
	connected := func() {
		permit.release()
		permit = nil
		since = time.Now()
		g.up.Add(1)
	}
	defer func() {
		if !since.IsZero() {
			g.up.Add(-1)
			end.connected, end.lived = true, time.Since(since)
		}
	}()
	return l.listen(ctx, connected)
}

// dial opens a websocket to a gateway.
func dial(ctx context.Context, address string, within time.Duration, userAgent string) (*websocket.Conn, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "ws" && u.Scheme != "wss") || u.Host == "" {
		return nil, errors.New("the gateway's address is not one of a websocket")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	query := u.Query()
	query.Set("v", discordgo.APIVersion)
	query.Set("encoding", "json")
	u.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: within}
	conn, resp, err := dialer.DialContext(ctx, u.String(), http.Header{"User-Agent": {userAgent}})
	if resp != nil {
		resp.Body.Close()
	}
	if err != nil {
		return nil, withoutURL(err)
	}
	conn.SetReadLimit(maxPayload)
	return conn, nil
}

// hangUp says goodbye and closes the connection.
func hangUp(conn *websocket.Conn, code int) {
	// The other side may be gone; nothing depends on its hearing this.
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	conn.Close()
}

// read takes one message from Discord.
func (l *link) read() (payload, []byte, error) {
	kind, raw, err := l.up.ReadMessage()
	if err != nil {
		return payload{}, nil, err
	}
	if kind == websocket.BinaryMessage {
		if raw, err = inflate(raw); err != nil {
			return payload{}, nil, err
		}
	}
	var p payload
	if err := unmarshalLoosely(raw, &p); err != nil {
		return payload{}, nil, errors.New("a message that is not JSON")
	}
	return p, raw, nil
}

func inflate(raw []byte) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("a message that is not compressed as it should be")
	}
	defer z.Close()
	return io.ReadAll(io.LimitReader(z, maxPayload))
}

// unmarshalLoosely decodes raw, except for fields of another type than
// expected, which stay as they are.
func unmarshalLoosely(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && len(raw) > 0 && bytes.TrimSpace(raw)[0] == '{' {
		return nil
	}
	return err
}

// write sends one message to Discord.
func (l *link) write(op int, data any) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.up.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return l.up.WriteJSON(map[string]any{"op": op, "d": data})
}

// hello waits for Discord's first message and, if it is the hello, takes the
// interval of heartbeats from it.
func (l *link) hello(within time.Duration) (payload, []byte, error) {
	if err := l.up.SetReadDeadline(time.Now().Add(within)); err != nil {
		return payload{}, nil, err
	}
	p, raw, err := l.read()
	if err != nil || p.Op != opHello {
		return p, raw, err
	}
	var d struct {
		Interval float64 `json:"heartbeat_interval"` // ms
	}
	if err := json.Unmarshal(p.Data, &d); err != nil {
		return p, nil, errors.New("a hello without an interval")
	}
	l.beat = time.Duration(d.Interval * float64(time.Millisecond))
	if l.beat < leastBeat || l.beat > longestBeat {
		return p, nil, fmt.Errorf("a hello with an interval of %s", l.beat)
	}
	return p, raw, nil
}

// unexpected ends a link because of a message that ends one.
func (l *link) unexpected(p payload) ending {
	hangUp(l.up, closeResumable)
	switch p.Op {
	case opReconnect:
		return ending{reason: reasonReconnect}
	case opInvalid:
		return ending{reason: reasonInvalid, resumable: string(bytes.TrimSpace(p.Data)) == "true"}
	}
	return ending{reason: reasonHello, err: fmt.Errorf("op %d in its place", p.Op)}
}

// ended ends a link because of an error from reading or writing.
func (l *link) ended(reason string, err error) ending {
	hangUp(l.up, closeResumable)
	if l.zombie.Load() { // Then the error is of our own making.
		return ending{reason: reasonZombie}
	}
	end := ending{reason: reason, err: err}
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		end.reason, end.code = reasonClosed, closed.Code
		if closed.Code == websocket.CloseAbnormalClosure { // No code came.
			end.code = 0
		}
	} else if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && reason != reasonHello {
		end.reason = reasonSilent
	}
	return end
}

// open starts a Session of discordgo on a pipe and gives it the hello.
func (l *link) open(ctx context.Context, hello []byte) *ending {
	theirs, ours := net.Pipe()
	session, err := l.newSession(ctx, theirs)
	if err != nil {
		theirs.Close()
		ours.Close()
		return &ending{reason: reasonSession, err: err}
	}
	gone := l.shard.gateway.gone.Done
	once := sync.OnceFunc(gone)
	l.shard.gateway.gone.Add(1)
	session.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) { once() })
	go func() {
		// It ends with the pipe at the latest. Later, the Session ends with
		// the event above.
		if err := session.Open(); err != nil {
			theirs.Close()
			once()
		}
	}()
	if l.down, err = accept(ours); err == nil {
		err = l.greet(hello)
	}
	if err != nil {
		ours.Close()
		end := l.ended(reasonSession, err)
		return &end
	}
	return nil
}

// greet gives discordgo the hello.
func (l *link) greet(hello []byte) error {
	if err := l.down.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if err := l.down.WriteMessage(websocket.TextMessage, hello); err != nil {
		return err
	}
	return l.down.SetWriteDeadline(time.Time{})
}

// newSession makes a Session that connects to nothing but the pipe.
func (l *link) newSession(ctx context.Context, pipe net.Conn) (*discordgo.Session, error) {
	g := l.shard.gateway
	session, err := discordgo.New("Bot " + g.o.Client.token)
	if err != nil {
		return nil, err
	}
	session.StateEnabled = false
	session.SyncEvents = true // Or two events of one server could change places.
	session.ShouldReconnectOnError = false
	session.ShouldReconnectVoiceOnSessionError = false
	session.Compress = false
	session.LogLevel = discordgo.LogError
	session.Identify.Intents = g.o.Intents
	session.ShardID, session.ShardCount = l.shard.number, l.shard.of
	session.Client = &http.Client{Transport: pipeAddress{}}
	session.Dialer = &websocket.Dialer{
		NetDialContext: func(context.Context, string, string) (net.Conn, error) { return pipe, nil },
	}
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) {
		l.shard.dispatch(ctx, e)
		l.handled.Store(e.Sequence)
	})
	return session, nil
}

// pipeAddress answers a Session's question for the gateway's address.
type pipeAddress struct{}

// RoundTrip answers every request with an address that stands for the pipe.
func (pipeAddress) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK,
		Status:     "200 OK",
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:  http.Header{},
		Body:    io.NopCloser(strings.NewReader(`{"url":"ws://pipe.invalid/"}`)),
		Request: req,
	}, nil
}

// accept is the server's side of discordgo's handshake.
func accept(pipe net.Conn) (*websocket.Conn, error) {
	if err := pipe.SetDeadline(time.Now().Add(writeWithin)); err != nil {
		return nil, err
	}
	reader := bufio.NewReader(pipe)
	req, err := http.ReadRequest(reader)
	if err != nil {
		return nil, err
	}
	var upgrader websocket.Upgrader
	return upgrader.Upgrade(&hijacked{conn: pipe, reader: reader, header: http.Header{}}, req, nil)
}

// hijacked is a connection of an http.Server that is taken over right away.
type hijacked struct {
	conn   net.Conn
	reader *bufio.Reader
	header http.Header
}

func (h *hijacked) Header() http.Header { return h.header }
func (h *hijacked) WriteHeader(int)     {}
func (h *hijacked) Write(p []byte) (int, error) {
	return len(p), nil // Only a refused handshake writes, and its error says the same.
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(h.reader, bufio.NewWriter(h.conn)), nil
}

// introduce takes discordgo's identify and sends it on, or a resume in its
// place: a new Session knows nothing of the old one's.
func (l *link) introduce(ctx context.Context, permit *permit, resuming bool) error {
	if err := l.down.SetReadDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	var p payload
	if err := l.down.ReadJSON(&p); err != nil {
		return err
	}
	if p.Op != opIdentify {
		return fmt.Errorf("discordgo began with op %d", p.Op)
	}
	if err := l.down.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	s := l.shard
	if resuming {
		l.received.Store(s.session.seq)
		l.handled.Store(s.session.seq)
		s.gateway.o.Client.observer.Gateway(s.number, "resume")
		return l.write(opResume, map[string]any{
			"token": s.gateway.o.Client.token, "session_id": s.session.id, "seq": s.session.seq,
		})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	permit.spend()
	s.gateway.o.Client.observer.Gateway(s.number, "identify")
	return l.write(opIdentify, p.Data)
}

// heartbeats passes discordgo's heartbeats on, with the sequence that Discord
// has really reached, until the link ends. A heartbeat that is due while the
// last one is unanswered finds a dead connection
// (https://discord.com/developers/docs/events/gateway#heartbeat-interval),
// unless the answer may be under way behind a flood of events: then the next
// heartbeat decides, and while discordgo takes its time none does.
func (l *link) heartbeats() {
	missed := 0
	for {
		var p payload
		if err := l.down.ReadJSON(&p); err != nil {
			l.up.Close() // Wakes listen.
			return
		}
		if p.Op != opHeartbeat {
			continue
		}
		stalled, long := l.stalled.Load(), time.Since(l.born)-time.Duration(l.since.Load()) > min(l.beat/4, time.Second)
		switch {
		case !l.waiting.Swap(true):
			missed = 0
		case !stalled || !long:
			missed++
			if missed > 1 || !stalled && long {
				l.zombie.Store(true)
				hangUp(l.up, closeResumable)
				return
			}
		}
		if err := l.write(opHeartbeat, l.received.Load()); err != nil {
			l.up.Close()
			return
		}
	}
}

// listen passes on what Discord sends until the link ends. It calls connected
// once, after READY or RESUMED.
func (l *link) listen(ctx context.Context, connected func()) ending {
	s, log := l.shard, l.shard.gateway.log
	up := false
	patience := s.gateway.o.Timing.Ready
	for {
		l.stall(false)
		if err := l.up.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return l.ended(reasonClosed, err)
		}
		p, raw, err := l.read()
		if err != nil {
			return l.ended(reasonClosed, err)
		}
		switch p.Op {
		case opReconnect, opInvalid:
			return l.unexpected(p)
		case opHeartbeat:
			if err := l.write(opHeartbeat, l.received.Load()); err != nil {
				return l.ended(reasonClosed, err)
			}
			continue
		case opAck:
			// discordgo deadlocks on one that it has not asked for, in Open.
			if !l.waiting.Swap(false) {
				continue
			}
		case opDispatch:
			before := l.received.Swap(p.Seq)
			if p.Type == "READY" {
				if err := l.ready(p.Data); err != nil {
					return l.ended(reasonSilent, err)
				}
			}
			if (p.Type == "READY" || p.Type == "RESUMED") && !up {
				up = true
				patience = 2*l.beat + silenceSlack
				connected()
				event := strings.ToLower(p.Type)
				s.gateway.o.Client.observer.Gateway(s.number, event)
				log.InfoContext(ctx, "gateway connected", "shard", s.number, "of", s.of, "how", event)
			}
			if !wanted(p) {
				// As good as carried out, if all before it is.
				l.handled.CompareAndSwap(before, p.Seq)
				continue
			}
		default:
			continue
		}
		l.stall(true)
		if err := l.down.WriteMessage(websocket.TextMessage, raw); err != nil {
			return l.ended(reasonSession, errors.New("discordgo is gone"))
		}
	}
}

// stall notes whether it is discordgo or Discord that is waited for.
func (l *link) stall(on bool) {
	l.stalled.Store(on)
	l.since.Store(int64(time.Since(l.born)))
}

// ready remembers the new session.
func (l *link) ready(data json.RawMessage) error {
	var d struct {
		SessionID string `json:"session_id"`
		ResumeURL string `json:"resume_gateway_url"`
	}
	if err := unmarshalLoosely(data, &d); err != nil || d.SessionID == "" {
		return errors.New("a READY without a session")
	}
	l.shard.session = session{id: d.SessionID, url: d.ResumeURL}
	return nil
}

// wanted reports whether discordgo is to see a dispatch: it is of a kind that
// is used here, and nothing is missing that discordgo takes for granted.
func wanted(p payload) bool {
	switch p.Type {
	case "RESUMED": // discordgo waits for it, whatever is in it.
		return true
	case "INTERACTION_CREATE", "CHANNEL_DELETE", "THREAD_DELETE":
		return isObject(p.Data)
	case "READY", "GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE":
	default:
		return false
	}
	if !isObject(p.Data) {
		return false
	}
	type nested struct {
		Channels    []*struct{} `json:"channels"`
		Members     []*struct{} `json:"members"`
		VoiceStates []*struct{} `json:"voice_states"`
	}
	var d struct {
		ID string `json:"id"`
		nested
		Guilds []*nested `json:"guilds"`
	}
	if err := json.Unmarshal(p.Data, &d); err != nil || d.ID == "" && p.Type != "READY" {
		return false
	}
	for _, guild := range append(d.Guilds, &d.nested) {
		if guild == nil || hasNil(guild.Channels) || hasNil(guild.Members) || hasNil(guild.VoiceStates) {
			return false
		}
	}
	return true
}

func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimSpace(raw)
	return len(trimmed) > 0 && trimmed[0] == '{'
}

func hasNil(list []*struct{}) bool {
	for _, one := range list {
		if one == nil {
			return true
		}
	}
	return false
}
