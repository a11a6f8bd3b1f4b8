package discordtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
)

const (
	token   = "secret-token"
	guildID = "900000000000000001"
	chat    = "800000000000000001"
	other   = "800000000000000002"
)

// home is a guild with two text channels.
func home() discordtest.Guild {
	return discordtest.Guild{ID: guildID, Name: "home", PreferredLocale: "ko", Channels: []discordtest.Channel{
		{ID: chat, Name: "chat"}, {ID: other, Name: "other"},
	}}
}

// newServer returns a Discord with home in it, closed at the end of the test.
func newServer(t *testing.T, opt discordtest.Options) *discordtest.Server {
	t.Helper()
	if opt.Token == "" {
		opt.Token = token
	}
	s := discordtest.New(opt)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	s.AddGuild(home())
	return s
}

// result is an answer that was read to its end.
type result struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any // nil if raw is not an object
}

func (r result) code() int {
	n, _ := r.body["code"].(float64)
	return int(n)
}

func (r result) str(key string) string {
	s, _ := r.body[key].(string)
	return s
}

// client speaks REST with a Server in process.
type client struct {
	t    *testing.T
	http *http.Client
	auth string
}

func newClient(t *testing.T, s *discordtest.Server) *client {
	t.Helper()
	return &client{t: t, http: &http.Client{Transport: s.Transport()}, auth: "Bot " + token}
}

// anonymous returns the client without a token.
func (c *client) anonymous() *client { return &client{t: c.t, http: c.http} }

// try sends body, as JSON unless it is text or nil.
func (c *client) try(ctx context.Context, method, path string, body any) (result, error) {
	c.t.Helper()
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://discord.com/api/v10"+path, r)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("User-Agent", "DiscordBot (https://example.invalid, 1)")
	if r != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.auth != "" {
		req.Header.Set("Authorization", c.auth)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return result{}, err
	}
	defer func() { _ = res.Body.Close() }()
	out := result{status: res.StatusCode, header: res.Header}
	if out.raw, err = io.ReadAll(res.Body); err != nil {
		return result{}, err
	}
	_ = json.Unmarshal(out.raw, &out.body) // arrays and pages stay raw
	return out, nil
}

func (c *client) do(method, path string, body any) result {
	c.t.Helper()
	r, err := c.try(c.t.Context(), method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// want does a request and checks status and code.
func (c *client) want(status, code int, method, path string, body any) result {
	c.t.Helper()
	r := c.do(method, path, body)
	if r.status != status || r.code() != code {
		c.t.Fatalf("%s %s: got %d, code %d, want %d, code %d: %s", method, path, r.status, r.code(), status, code, r.raw)
	}
	return r
}

func messagesOf(channel string) string { return "/channels/" + channel + "/messages" }

type object = map[string]any

// clean fails the test where a rule was broken that is not among allowed.
func clean(t *testing.T, s *discordtest.Server, allowed ...string) {
	t.Helper()
	st := s.Stats()
	for _, name := range allowed {
		delete(st.ViolationCounts, name)
	}
	if len(st.ViolationCounts) > 0 {
		t.Errorf("violations: got %v, want none: %v", st.ViolationCounts, st.Violations)
	}
}

func timeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}
