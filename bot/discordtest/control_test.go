package discordtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
)

// socket speaks HTTP over a real connection.
type socket struct {
	t    *testing.T
	base string
}

func (k socket) do(method, path string, body any) (int, []byte, error) {
	k.t.Helper()
	var r io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			k.t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(timeout(k.t), method, k.base+path, r)
	if err != nil {
		k.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bot "+token)
	req.Header.Set("User-Agent", "DiscordBot (x, 1)")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res.StatusCode, raw, err
}

func (k socket) want(status int, method, path string, body any) []byte {
	k.t.Helper()
	got, raw, err := k.do(method, path, body)
	if err != nil || got != status {
		k.t.Fatalf("%s %s: got %d, %v, want %d: %s", method, path, got, err, status, raw)
	}
	return raw
}

// TestControl drives a Server as another process would, with a bot that answers.
func TestControl(t *testing.T) {
	t.Parallel()
	s := discordtest.New(discordtest.Options{Token: token})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	k := socket{t, "http://" + ln.Addr().String()}

	k.want(200, "POST", "/_sim/guilds", []discordtest.Guild{home()})
	k.want(400, "POST", "/_sim/guilds", object{"id": "x"})
	k.want(409, "POST", "/_sim/interactions", object{"guild": guildID, "channel": chat, "command": "list"})
	p, _, _ := connect(t, "ws://"+ln.Addr().String(), "", nil, 1)
	k.want(200, "GET", "/_sim/sessions?connected=1&wait=5s", nil)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		e, err := p.next()
		var in received
		if err != nil || json.Unmarshal(e.D, &in) != nil {
			t.Errorf("got %v, %s", err, e.D)
			return
		}
		k.want(204, "POST", "/api/v9"+in.callback(), object{"type": 5})
		k.want(200, "PATCH", "/api/v9"+in.original(s), object{"content": "all of them"})
	}()
	raw := k.want(200, "POST", "/_sim/interactions", object{
		"guild": guildID, "channel": chat, "command": "list", "locale": "ko", "wait": "10s",
		"user": object{"id": "5"}, "options": []object{{"name": "x", "value": "y"}},
	})
	<-answered
	var out struct {
		Ack     int
		Message discordtest.Message
		Answers []discordtest.Answer
	}
	if err := json.Unmarshal(raw, &out); err != nil || out.Ack != 5 || out.Message.Content != "all of them" || len(out.Answers) != 2 {
		t.Errorf("got %v %s", err, raw)
	}

	k.want(204, "POST", "/_sim/faults", object{"kind": "status", "route": "message.create", "status": 503, "count": 1})
	k.want(400, "POST", "/_sim/faults", object{"kind": "status", "route": "message.creat", "status": 503})
	k.want(400, "POST", "/_sim/faults", object{"kind": "status", "status": 503, "retryafter": "1s"})
	k.want(503, "POST", "/api/v9"+messagesOf(chat), object{"content": "x"})
	k.want(200, "POST", "/api/v9"+messagesOf(chat), object{"content": "x"})
	var list []discordtest.Message
	if err := json.Unmarshal(k.want(200, "GET", "/_sim/messages?channel="+chat, nil), &list); err != nil || len(list) != 1 || list[0].Content != "x" {
		t.Errorf("messages: got %v %v", err, list)
	}
	if err := json.Unmarshal(k.want(200, "GET", "/_sim/messages?all=true&channel="+chat, nil), &list); err != nil || len(list) != 2 {
		t.Errorf("history: got %v %v", err, list)
	}
	var st discordtest.Stats
	if err := json.Unmarshal(k.want(200, "GET", "/_sim/stats", nil), &st); err != nil || st.Messages != 1 || st.Identifies != 1 ||
		st.Count(discordtest.RouteMessageCreate, 503) != 1 || st.Count(discordtest.RouteUnknown, -1) != 0 {
		t.Errorf("stats: got %v %+v", err, st)
	}
	k.want(204, "PUT", "/_sim/guilds/"+guildID+"/channels", object{"id": chat, "missing": discordtest.SendMessages})
	k.want(403, "POST", "/api/v9"+messagesOf(chat), object{"content": "x"})
	k.want(204, "POST", "/_sim/guilds/"+guildID+"/outage", nil)
	k.want(404, "POST", "/_sim/guilds/1/outage", nil)
	k.want(204, "POST", "/_sim/guilds/"+guildID+"/restore", nil)
	k.want(204, "DELETE", "/_sim/channels/"+other, nil)
	k.want(200, "GET", "/_sim/commands", nil)
	k.want(204, "POST", "/_sim/gateway", object{"at": "now", "do": "close", "code": 4000})
	p.wantClose(4000)
	k.want(204, "DELETE", "/_sim/guilds/"+guildID, nil)
	k.want(204, "DELETE", "/_sim/faults", nil)

	cancel()
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}

// TestControlInProcess reaches control through the transport.
func TestControlInProcess(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	h := &http.Client{Transport: s.Transport()}
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodPost: 405} {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://x/_sim/stats", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := h.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: got %d, want %d", method, res.StatusCode, want)
		}
	}
	if n := s.Stats().Count(discordtest.RouteUnknown, -1); n != 0 {
		t.Errorf("control is not counted: got %d", n)
	}
}

// TestFaultsOverSockets has the faults that need a connection to break.
func TestFaultsOverSockets(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	base, err := s.Start("")
	if err != nil {
		t.Fatal(err)
	}
	k := socket{t, base}
	path := "/api/v10" + messagesOf(chat)
	s.Fail(discordtest.Fault{Kind: discordtest.FaultResetAfter})
	if _, _, err := k.do("POST", path, object{"content": "x"}); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	s.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader([]byte(`{"content":"y"}`)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bot "+token)
	req.Header.Set("User-Agent", "DiscordBot (x, 1)")
	if res, err := http.DefaultClient.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		if err == nil {
			_ = res.Body.Close()
		}
		t.Errorf("got %v, want the deadline", err)
	}
	if got := s.Messages(chat); len(got) != 2 {
		t.Errorf("got %d messages, want both", len(got))
	}
	clean(t, s)
}
