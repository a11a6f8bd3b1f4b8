package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"riftchime/bot/discord"
)

const testToken = "MTE5ODYyMjQ4MzQ3MTkyNTI0OA.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"

// api is Discord as a RoundTripper, for virtual time: it answers in process and
// remembers what came and when.
type api struct {
	answer  func(call) reply
	latency time.Duration

	mu    sync.Mutex
	calls []call
}

type call struct {
	At     time.Time
	Method string
	Path   string // after /api/v9
	Header http.Header
	Body   []byte
	N      int // how many calls came before this one
}

type reply struct {
	status int
	header map[string]string
	body   string
	err    error
	hang   bool // until the request's context ends
}

func ok(body string) reply { return reply{status: 200, body: body} }

func (a *api) RoundTrip(req *http.Request) (*http.Response, error) {
	body := []byte(nil)
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		req.Body.Close()
	}
	a.mu.Lock()
	_, path, _ := strings.Cut(req.URL.RequestURI(), "/api/v9")
	c := call{At: time.Now(), Method: req.Method, Path: path, Header: req.Header, Body: body, N: len(a.calls)}
	a.calls = append(a.calls, c)
	a.mu.Unlock()
	if a.latency > 0 {
		select {
		case <-time.After(a.latency):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	r := ok(`{"id":"9","url":"wss://gateway.test"}`)
	if a.answer != nil {
		r = a.answer(c)
	}
	if r.hang {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if r.err != nil {
		return nil, r.err
	}
	header := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
	for key, value := range r.header {
		header.Set(key, value)
	}
	return &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(r.body)), Request: req,
	}, nil
}

func (a *api) seen() []call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]call(nil), a.calls...)
}

// only returns the calls whose path contains part.
func (a *api) only(part string) []call {
	var found []call
	for _, c := range a.seen() {
		if strings.Contains(c.Path, part) {
			found = append(found, c)
		}
	}
	return found
}

// logbook is a logger that can be read.
type logbook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logbook) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func newClient(t *testing.T, transport http.RoundTripper, more ...func(*discord.Options)) *discord.Client {
	t.Helper()
	o := discord.Options{Token: testToken, Transport: transport, Logger: slog.New(slog.DiscardHandler)}
	for _, change := range more {
		change(&o)
	}
	c, err := discord.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fields(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return m
}

func wantKind(t *testing.T, err error, want discord.Kind) {
	t.Helper()
	if got := discord.KindOf(err); got != want {
		t.Errorf("got kind %q (%v), want %q", got, err, want)
	}
}

var post = json.RawMessage(`{"content":"hello"}`)

// postAll posts one message in each of n channels at once.
func postAll(ctx context.Context, c *discord.Client, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = c.Post(ctx, int64(1000+i), post, "nonce") })
	}
	wg.Wait()
	return errs
}
