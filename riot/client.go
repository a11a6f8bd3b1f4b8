// Package riot is a typed client for the parts of Riot's API that RiftChime
// uses. It knows Riot's paths, hosts, units and oddities, so that nobody else
// needs to: what it hands on is normalised.
//
// Every request takes a permit of a ratelimit.Limiter, also when it is tried
// again. What went wrong is told by the Kind of an *Error.
package riot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"riftchime/ratelimit"
)

// DefaultURL is Riot's address; "{route}" becomes a platform or a region.
const DefaultURL = "https://{route}.api.riotgames.com"

// DefaultTimeout is how long a request may take from leaving to the last byte
// of its answer.
const DefaultTimeout = 10 * time.Second

// Names of Riot's methods. Riot counts each apart, so they are the Method of a
// ratelimit.Request as well as of an Error.
const (
	MethodAccountByRiotID = "account-by-riot-id"
	MethodAccountByPUUID  = "account-by-puuid"
	MethodActivePlatform  = "active-platform"
	MethodSummoner        = "summoner"
	MethodLeague          = "league"
	MethodMatchIDs        = "ids"
	MethodMatch           = "match"
	MethodStatus          = "status"
)

// Options are the settings of a Client. Keys and Limiter are needed.
type Options struct {
	// Keys are API keys. Each is called by its Fingerprint from then on.
	Keys []string
	// URL is where Riot is, with "{route}" in place of the platform or region.
	// Without "{route}" every route goes to the same place. Empty: DefaultURL.
	URL string
	// Transport sends the requests; nil: one of the client's own, of which
	// Close ends the idle connections.
	Transport http.RoundTripper
	// Limiter hands out permits; several clients of one key must share it.
	Limiter *ratelimit.Limiter
	// Timeout begins when a request leaves, not while it waits for its permit.
	// 0: DefaultTimeout.
	Timeout time.Duration
	// Logger is told when a key is refused and when it is taken again. nil:
	// nothing is logged.
	Logger *slog.Logger
	// Observe, where it is not nil, is told of each request that was sent, after
	// it ended. It is called from many goroutines and must not block.
	Observe func(Sent)
}

// Sent is what Options.Observe is told of one request; a request that is tried
// three times is told three times.
type Sent struct {
	Key    Fingerprint
	Method string
	Route  string
	// Status is the HTTP status, 0 where no answer came.
	Status int
	// Cause is empty where the request got what there is (also "not found"),
	// otherwise why it failed: one of few words that can be a label.
	Cause string
	// Took is the time from leaving to the end of the answer.
	Took time.Duration
}

// Client asks Riot. It is made by New and safe for concurrent use. It starts no
// goroutine.
type Client struct {
	url       template
	keys      []*key
	byPrint   map[Fingerprint]*key
	transport http.RoundTripper
	own       *http.Transport // transport, where it is the client's own
	limiter   *ratelimit.Limiter
	timeout   time.Duration
	log       *slog.Logger
	observe   func(Sent)
}

// New checks o and returns a client. Its errors name no key.
func New(o Options) (*Client, error) {
	c := &Client{
		byPrint:   make(map[Fingerprint]*key),
		transport: o.Transport,
		limiter:   o.Limiter,
		timeout:   o.Timeout,
		log:       o.Logger,
		observe:   o.Observe,
	}
	if c.limiter == nil {
		return nil, errors.New("riot: no limiter given")
	}
	var err error
	if c.url, err = parseTemplate(o.URL); err != nil {
		return nil, err
	}
	if len(o.Keys) == 0 {
		return nil, errors.New("riot: no API key given")
	}
	for i, k := range o.Keys {
		k = strings.TrimSpace(k)
		if !sendable(k) {
			return nil, fmt.Errorf("riot: API key %d of %d is empty or has characters that no key has", i+1, len(o.Keys))
		}
		fp := FingerprintOf(k)
		if c.byPrint[fp] != nil {
			return nil, fmt.Errorf("riot: API key %d of %d is given twice", i+1, len(o.Keys))
		}
		ks := &key{fingerprint: fp, secret: newSecret(k)}
		c.byPrint[fp] = ks
		c.keys = append(c.keys, ks)
	}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.observe == nil {
		c.observe = func(Sent) {}
	}
	if c.transport == nil {
		c.own = newTransport()
		c.transport = c.own
	}
	return c, nil
}

// newTransport is made for few hosts with many requests at once each.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       55 * time.Second,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// Close ends the idle connections of a transport that the client made itself. A
// closed client still works.
func (c *Client) Close() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// Fingerprints lists the client's keys in the order they were given.
func (c *Client) Fingerprints() []Fingerprint {
	all := make([]Fingerprint, len(c.keys))
	for i, k := range c.keys {
		all[i] = k.fingerprint
	}
	return all
}

// Bucket is what the limiter counts requests for a method on a route under, for
// asking it how much time so many of them will take. route is a Platform or a
// Region.
func (c *Client) Bucket(fp Fingerprint, method, route string) ratelimit.Request {
	return ratelimit.Request{Key: string(fp), Host: c.url.host(route), Method: method}
}

// As asks with one key and at one priority. The result is a value of a few words,
// to be made and thrown away at will. With a fingerprint that is none of c's
// every call fails with KindBadKey.
func (c *Client) As(fp Fingerprint, p ratelimit.Priority) Caller {
	return Caller{client: c, fingerprint: fp, priority: p}
}

// Caller asks Riot with one key at one priority. Its methods wait for the
// limiter, for Riot and for another try, all within the context's deadline, and
// return an *Error or the context's own error. Make it with Client.As.
type Caller struct {
	client      *Client
	fingerprint Fingerprint
	priority    ratelimit.Priority
}

// template is Riot's address with the place for the route.
type template struct {
	text string
	// single is the host where there is no place for the route.
	single string
}

const placeholder = "{route}"

func parseTemplate(s string) (template, error) {
	s = strings.TrimRight(strings.TrimSpace(s), "/")
	if s == "" {
		s = DefaultURL
	}
	u, err := url.Parse(strings.ReplaceAll(s, placeholder, "kr"))
	switch {
	case err != nil:
		return template{}, errors.New("riot: the URL can't be read; it looks like " + DefaultURL)
	case u.Scheme != "http" && u.Scheme != "https":
		return template{}, fmt.Errorf("riot: the URL must begin with http:// or https://, like %s", DefaultURL)
	case u.Hostname() == "":
		return template{}, fmt.Errorf("riot: the URL names no host; it looks like %s", DefaultURL)
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return template{}, fmt.Errorf("riot: the URL must have no user, query or fragment, like %s", DefaultURL)
	}
	t := template{text: s}
	if !strings.Contains(s, placeholder) {
		t.single = u.Host
	}
	return t, nil
}

// at is the address of route, without a slash at its end.
func (t template) at(route string) string {
	return strings.ReplaceAll(t.text, placeholder, route)
}

// host is the Host that the limiter counts route under. Where all routes go to
// one place it is that place: limits count per host.
func (t template) host(route string) string {
	if t.single != "" {
		return t.single
	}
	return route
}

// request is one question to Riot.
type request struct {
	method string
	route  string
	// segments are the path, escaped when it is built.
	segments []string
	query    url.Values
}

// url builds the address, or reports that there is none: a segment that is empty
// or a path step would ask for something else.
func (r request) url(t template) (string, bool) {
	var b strings.Builder
	b.WriteString(t.at(r.route))
	for _, s := range r.segments {
		if s == "" || s == "." || s == ".." || len(s) > 512 {
			return "", false
		}
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	if len(r.query) > 0 {
		b.WriteByte('?')
		b.WriteString(r.query.Encode())
	}
	return b.String(), true
}

// fail is an error about r.
func (r request) fail(kind Kind, err error) *Error {
	return &Error{Kind: kind, Method: r.method, Route: r.route, Err: err}
}

// get sends r until there is an answer, at most maxTries times, and hands the
// body to decode. An error of decode means that the body is not what was asked
// for.
func (c Caller) get(ctx context.Context, r request, decode func(body []byte) error) error {
	if c.client == nil {
		return r.fail(KindBadKey, errors.New("no client"))
	}
	k := c.client.byPrint[c.fingerprint]
	if k == nil {
		return r.fail(KindBadKey, errors.New("no such key"))
	}
	return c.client.get(ctx, k, c.priority, r, decode)
}
