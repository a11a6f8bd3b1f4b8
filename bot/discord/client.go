package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Observer is told what happens between the bot and Discord, for metrics. Its
// methods are called from many goroutines and must not wait.
type Observer interface {
	// Request is called for each request that left. Route is one of few words,
	// status 0 where there was no whole answer.
	Request(route string, status int, took time.Duration)
	// Limited is called for each 429.
	Limited(route string, scope Scope)
	// Gateway is called for what happens to a shard's connection: "identify",
	// "resume", "ready", "resumed", "lost", "zombie", "refused".
	Gateway(shard int, event string)
}

type nobody struct{}

func (nobody) Request(string, int, time.Duration) {}
func (nobody) Limited(string, Scope)              {}
func (nobody) Gateway(int, string)                {}

// Options are the settings of a [Client]. Only Token is needed.
type Options struct {
	// Token is the bot's, with or without "Bot " before it.
	Token string
	// URL is another origin for all REST calls, such as http://127.0.0.1:8090.
	// Empty: https://discord.com.
	URL string
	// Transport makes the round trips. Nil: one of its own with HTTP/2.
	Transport http.RoundTripper
	// Homepage and Version make the User-Agent that Discord asks for. Empty:
	// those of an unnamed build.
	Homepage, Version string
	// Rate is how many requests start in a second at most. 0: 45, since Discord
	// allows 50 by its own clock and the network squeezes them together.
	Rate float64
	// Timeout bounds one round trip from when it leaves. 0: 10 s.
	Timeout time.Duration
	// Logger takes what discordgo logs. Nil: [slog.Default].
	Logger *slog.Logger
	// Observer may be nil.
	Observer Observer
}

// Client is the REST side of Discord. Its methods may be called from many
// goroutines; each returns an [*Error] or nil.
type Client struct {
	session   *discordgo.Session
	transport *transport
	token     string
	log       *slog.Logger
	observer  Observer
}

// New checks the options and makes a client. It sends nothing and starts
// nothing. discordgo's log goes to the logger of the last client made.
func New(o Options) (*Client, error) {
	token := strings.TrimSpace(o.Token)
	if rest, ok := strings.CutPrefix(token, "Bot "); ok {
		token = strings.TrimSpace(rest)
	}
	if token == "" {
		return nil, errors.New("no bot token: set DISCORD_TOKEN to the one that https://discord.com/developers/applications shows under Bot")
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the bot token holds a character that no token has: copy it again from https://discord.com/developers/applications")
	}
	keepSecret(token)
	if o.URL == "" {
		o.URL = "https://discord.com"
	}
	origin, err := url.Parse(o.URL)
	if err != nil || origin.Host == "" || (origin.Scheme != "http" && origin.Scheme != "https") {
		return nil, errors.New("the address of Discord must look like https://discord.com or http://127.0.0.1:8090")
	}
	if o.Rate == 0 {
		o.Rate = 45
	}
	if o.Rate < 0 || o.Rate > 50 {
		return nil, fmt.Errorf("a rate of %g requests a second: Discord allows more than 0 and 50 at most", o.Rate)
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Transport == nil {
		o.Transport = newHTTPTransport()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Observer == nil {
		o.Observer = nobody{}
	}
	if o.Homepage == "" {
		o.Homepage = "https://localhost"
	}
	if o.Version == "" {
		o.Version = "0"
	}
	discordgoLog.Store(o.Logger)

	t := &transport{
		base:     o.Transport,
		origin:   origin,
		timeout:  o.Timeout,
		observer: o.Observer,
		pacer:    newPacer(o.Rate),
	}
	session, err := discordgo.New("Bot " + token)
	if err != nil {
		return nil, errors.New("discordgo refuses the bot token")
	}
	session.StateEnabled = false
	session.ShouldRetryOnRateLimit = false
	session.MaxRestRetries = 0
	session.LogLevel = discordgo.LogError
	session.UserAgent = "DiscordBot (" + o.Homepage + ", " + o.Version + ")"
	session.Client = &http.Client{
		Transport: t,
		// Following one would carry the token to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Client{session: session, transport: t, token: token, log: o.Logger, observer: o.Observer}, nil
}

func newHTTPTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
		TLSHandshakeTimeout: 5 * time.Second,
		MaxIdleConns:        128,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
	}
}

// CloseIdleConnections ends the connections that are kept warm.
func (c *Client) CloseIdleConnections() {
	if t, ok := c.transport.base.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// do makes exactly one attempt. The path begins after /api/v9, and out, unless
// nil, takes the decoded answer. An answer of 2xx that does not decode is
// Unavailable, and may have been carried out.
func (c *Client) do(ctx context.Context, op, method, path string, body []byte, out any) error {
	x := &exchange{}
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	// A bucket of discordgo is a lock that is held for the whole round trip and
	// kept for ever. The transport does that work, so each request has its own.
	bucket := discordgo.NewRatelimiter().LockBucket("")
	_, err := c.session.RequestWithLockedBucket(method, discordgo.EndpointAPI+strings.TrimPrefix(path, "/"),
		"application/json", body, bucket, 0,
		discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	switch {
	case x.err != nil:
		x.err.Op = op
		return x.err
	case x.status == 0: // It never came to the transport.
		if cause := ctx.Err(); cause != nil {
			return &Error{Op: op, Kind: Canceled, Err: cause}
		}
		return &Error{Op: op, Kind: Rejected, Err: withoutURL(err)}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(x.body, out); err != nil {
		return &Error{Op: op, Kind: Unavailable, Status: x.status, Maybe: true, Err: errors.New("the answer is not what Discord sends")}
	}
	return nil
}

// withoutURL takes the address off an error of net/http.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// Retries of the calls that may be repeated without harm.
const (
	retryTries = 4
	retryFirst = 500 * time.Millisecond
	retryLong  = 8 * time.Second
)

// retry calls do until it succeeds, fails for good, or has been tried four
// times. It waits with growing, random pauses, or as long as Discord asks, and
// gives up at once where that would be after ctx's deadline.
func retry(ctx context.Context, do func() error) error {
	pause := retryFirst
	for try := 1; ; try++ {
		err := do()
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.transient() || try == retryTries {
			return err
		}
		wait := max(jitter(pause), e.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return err
		}
		if sleep(ctx, wait) != nil {
			return err
		}
		pause = min(2*pause, retryLong)
	}
}

// jitter returns between half of d and d.
func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}

// Warm makes a cheap request, so that a connection is open before the hour, and
// reads Discord's clock on the way.
func (c *Client) Warm(ctx context.Context) error {
	_, err := c.gatewayURL(ctx, "warm")
	return err
}

// ClockOffset returns how far Discord's clock is ahead of ours (negative:
// behind) at least, as of the last answer, and false before the first. Discord
// tells its time in whole seconds, so what is below a second reads as 0.
func (c *Client) ClockOffset() (offset time.Duration, ok bool) {
	return time.Duration(c.transport.skew.Load()), c.transport.skewSet.Load()
}

// BlockedUntil returns when the present global 429 or Cloudflare block ends. It
// is in the past, or zero, when there is none.
func (c *Client) BlockedUntil() time.Time { return c.transport.pacer.blockedUntil() }

// gatewayURL asks for the address of the gateway.
func (c *Client) gatewayURL(ctx context.Context, op string) (string, error) {
	var answer struct {
		URL string `json:"url"`
	}
	if err := c.do(ctx, op, http.MethodGet, "/gateway", nil, &answer); err != nil {
		return "", err
	}
	if answer.URL == "" {
		return "", &Error{Op: op, Kind: Unavailable, Err: errors.New("the answer names no gateway")}
	}
	return answer.URL, nil
}

// gatewayBot asks how many shards Discord recommends and how many identifies
// are left.
func (c *Client) gatewayBot(ctx context.Context) (*discordgo.GatewayBotResponse, error) {
	var answer discordgo.GatewayBotResponse
	if err := c.do(ctx, "gateway limits", http.MethodGet, "/gateway/bot", nil, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}
