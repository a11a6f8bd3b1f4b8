package discordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is a REST request on its way through the Server.
type call struct {
	at        time.Time
	method    string
	route     Route
	path      string // the OpenAPI document's
	params    map[string]string
	query     url.Values
	header    http.Header
	channel   string
	body      []byte   // JSON
	files     []string // names of the files of a multipart body
	malformed bool     // the body could not be taken apart
	baseURL   string   // of the gateway
	after     []func() // run when mu is free
}

func (c *call) param(name string) string { return c.params[name] }

// fate is what happens to an answer on its way.
type fate int

const (
	delivered fate = iota
	broken         // the connection is reset
	held           // nothing comes until the client gives up
)

// maxBody is Discord's limit of a request.
const maxBody = 25 << 20

// ServeHTTP serves REST under /api, control under /_sim/ and the gateway for
// every request that asks for a websocket.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		s.serveGateway(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/_sim/"):
		s.serveControl(w, r)
		return
	}
	a, end := s.serveREST(r)
	switch end {
	case broken:
		reset(w)
	case held:
		select {
		case <-r.Context().Done():
		case <-s.done:
			reset(w)
		}
	case delivered:
		for k, v := range a.header {
			w.Header()[k] = v
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // the client may be gone
	}
}

// reset breaks the connection under w, with RST where that is possible.
func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
		return
	}
	panic(http.ErrAbortHandler) // the server's own way to break off
}

// serveREST acts on a request and returns its answer after the latency.
func (s *Server) serveREST(r *http.Request) (answer, fate) {
	at := time.Now()
	path, ok := stripVersion(r.URL.EscapedPath())
	if !ok {
		return notFound(), delivered
	}
	rule, params, known := match(r.Method, path)
	c := &call{
		at: at, method: r.Method, route: rule.route, path: rule.path, params: params,
		query: r.URL.Query(), header: r.Header, baseURL: s.gatewayURL(r),
	}
	for k, v := range params {
		if u, err := url.PathUnescape(v); err == nil {
			params[k] = u
		}
	}
	c.channel = c.param("channel_id")
	if err := c.read(r); err != nil {
		return answer{}, broken
	}
	a, end, delay := s.act(c, known)
	for _, f := range c.after {
		f()
	}
	if !s.sleep(r.Context(), s.opt.Latency+delay) {
		return answer{}, held
	}
	return a, end
}

// sleep waits d. It reports whether the client was still there at the end.
func (s *Server) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

// read takes the JSON out of the body. Only a broken connection is an error.
func (c *call) read(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return err
	}
	if len(raw) > maxBody {
		c.malformed = true
		return nil
	}
	if len(raw) == 0 {
		return nil
	}
	kind, p, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		c.body = raw
	case "multipart/form-data":
		c.malformed = c.readParts(multipart.NewReader(bytes.NewReader(raw), p["boundary"])) != nil
	default:
		c.malformed = true
	}
	return nil
}

func (c *call) readParts(parts *multipart.Reader) error {
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.FormName() == "payload_json" {
			if c.body, err = io.ReadAll(part); err != nil {
				return err
			}
			continue
		}
		c.files = append(c.files, part.FileName())
	}
}

// act decides everything about c under the lock.
func (s *Server) act(c *call, known bool) (a answer, end fate, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	auth := c.header.Get("Authorization")
	if it := s.interactions[firstOf(c.param("interaction_token"), c.param("webhook_token"))]; it != nil {
		c.channel = it.in.Channel
	}
	rec := &Request{
		At: c.at, Route: c.route, Method: c.method, Path: c.path, Channel: c.channel,
		Authorized: auth != "", Body: bounded(c.body),
	}
	s.stats.record(rec)
	defer func() {
		status := a.status
		if end != delivered {
			status = 0
		}
		rec.Status = status
		s.stats.count(c.route, status)
	}()

	if c.at.Before(s.limits.bannedUntil) {
		return cloudflare(), delivered, 0
	}
	a, end, delay = s.judge(c, auth, known)
	if end == delivered && s.limits.countInvalid(a, c.at) {
		s.stats.violation(ViolationBan, c.at, fmt.Sprintf("%d invalid requests in %v", s.opt.InvalidLimit, s.opt.InvalidWindow))
	}
	return a, end, delay
}

// judge applies token, limits and faults, in the order in which Discord does,
// then lets the route answer.
func (s *Server) judge(c *call, auth string, known bool) (answer, fate, time.Duration) {
	if !userAgentOK(c.header) {
		s.stats.violation(ViolationUserAgent, c.at, string(c.route))
	}
	interactive := interactionRoute(c.route)
	if interactive && auth != "" {
		s.stats.InteractionAuth++
		s.stats.violation(ViolationInteractionAuth, c.at, string(c.route))
	}
	token, isBot := strings.CutPrefix(auth, "Bot ")
	if !interactive && c.route != RouteGateway && (!isBot || token == "" || s.opt.Token != "" && token != s.opt.Token) {
		s.stats.violation(ViolationToken, c.at, string(c.route))
		return unauthorized(), delivered, 0
	}
	b := s.limits.bucketOf(c, c.at)
	if a, ok := s.limit(c, b, interactive, auth, token); !ok {
		return a, delivered, 0
	}
	f := s.faults.take(c)
	var a answer
	end := delivered
	var delay time.Duration
	if f != nil {
		s.stats.Injected++
		delay = f.Delay
		a, end = s.inject(c, f, b)
	}
	if f == nil || f.Kind == FaultLatency || f.Kind == FaultHangAfter || f.Kind == FaultResetAfter {
		a = s.dispatchRoute(c, known)
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	if b != nil && a.header.Get("X-RateLimit-Scope") == "" {
		b.headers(a.header, c.at)
	}
	return a, end, delay
}

// limit counts c against the global limit and its bucket.
func (s *Server) limit(c *call, b *bucket, interactive bool, auth, token string) (answer, bool) {
	// An interaction's endpoints are outside of the global limit; with the bot's
	// token on them they have been seen to count nevertheless.
	if !interactive || auth != "" {
		s.stats.MaxPerSecond = max(s.stats.MaxPerSecond, s.limits.arrivals.add(c.at))
		if d := s.limits.globalUntil.Sub(c.at); d > 0 {
			s.stats.Blocked++
			return limited("global", d), false
		}
		if d := s.limits.takeGlobal(token, c.at); d > 0 {
			s.stats.Global429++
			s.stats.violation(ViolationGlobalLimit, c.at, string(c.route))
			return limited("global", d), false
		}
	}
	if b == nil {
		return answer{}, true
	}
	if d := b.blocked.Sub(c.at); d > 0 {
		s.stats.Blocked++
		a := limited("user", d)
		b.headers(a.header, c.at)
		return a, false
	}
	if d := b.taken.wait(c.at, b.limit); d > 0 {
		s.stats.Bucket429++
		s.stats.violation(ViolationBucketLimit, c.at, string(c.route)+" "+c.channel)
		a := limited("user", d)
		b.headers(a.header, c.at)
		return a, false
	}
	b.taken.add(c.at)
	return answer{}, true
}

// inject is the part of a fault that comes in place of acting on the request.
func (s *Server) inject(c *call, f *Fault, b *bucket) (answer, fate) {
	switch f.Kind {
	case FaultBucket:
		a := limited("user", f.RetryAfter)
		if b != nil {
			b.taken.at, b.blocked = nil, c.at.Add(f.RetryAfter)
			b.headers(a.header, c.at)
		}
		return a, delivered
	case FaultGlobal:
		s.limits.globalUntil = c.at.Add(f.RetryAfter)
		return limited("global", f.RetryAfter), delivered
	case FaultShared:
		a := limited("shared", f.RetryAfter)
		if b != nil { // the resource's limit, told in the headers of the bucket
			theirs := bucket{hash: b.hash, limit: b.limit, blocked: c.at.Add(f.RetryAfter)}
			theirs.headers(a.header, c.at)
		}
		return a, delivered
	case FaultCloudflare:
		return cloudflare(), delivered
	case FaultReset, FaultResetAfter:
		return answer{}, broken
	case FaultHang, FaultHangAfter:
		return answer{}, held
	case FaultStatus:
		if f.Status >= 500 && f.Code == 0 {
			return answer{
				status: f.Status,
				header: http.Header{"Content-Type": {"text/plain; charset=UTF-8"}},
				body:   []byte(http.StatusText(f.Status)),
			}, delivered
		}
		message := f.Message
		if message == "" {
			message = fmt.Sprintf("%d: %s", f.Status, http.StatusText(f.Status))
		}
		return refuse(f.Status, f.Code, message), delivered
	}
	return answer{}, delivered
}

// dispatchRoute lets the route act. The caller holds mu.
func (s *Server) dispatchRoute(c *call, known bool) answer {
	for name, v := range c.params {
		original := name == "message_id" && v == "@original" && interactionRoute(c.route)
		if strings.HasSuffix(name, "_id") && !original && !digits(v) {
			var f form
			f.add("NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not snowflake.", v), name)
			return s.refuseForm(c, &f)
		}
	}
	if c.malformed {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the body is not JSON")
		return invalidJSON()
	}
	if app := c.param("application_id"); app != "" && app != s.opt.AppID {
		return missingAccess()
	}
	switch c.route {
	case RouteGateway:
		return jsonAnswer(http.StatusOK, map[string]any{"url": c.baseURL})
	case RouteGatewayBot:
		return s.gatewayBot(c)
	case RouteMe:
		me := s.botUser()
		me["mfa_enabled"], me["locale"], me["verified"], me["email"] = true, "en-US", true, nil
		return jsonAnswer(http.StatusOK, me)
	case RouteApplication:
		return jsonAnswer(http.StatusOK, s.application())
	case RouteGuild:
		return s.getGuild(c)
	case RouteChannel:
		return s.getChannel(c)
	case RouteDM:
		return s.createDM(c)
	case RouteCommandList, RouteCommandCreate, RouteCommandPut, RouteCommandGet, RouteCommandEdit, RouteCommandDelete:
		return s.serveCommands(c)
	case RouteMessageCreate:
		return s.createMessage(c)
	case RouteMessageEdit:
		return s.editMessage(c)
	case RouteMessageList:
		return s.listMessages(c)
	case RouteMessageGet:
		return s.getMessage(c)
	case RouteMessageDelete:
		return s.deleteMessage(c)
	case RouteCallback:
		return s.callback(c)
	case RouteFollowup, RouteOriginalGet, RouteOriginalEdit, RouteOriginalDelete:
		return s.webhook(c)
	}
	s.stats.violation(ViolationUnknownRoute, c.at, c.method)
	if known {
		return methodNotAllowed()
	}
	return notFound()
}

// refuseForm answers what f holds and counts it.
func (s *Server) refuseForm(c *call, f *form) answer {
	s.stats.violation(ViolationForm, c.at, string(c.route)+" "+f.first)
	return f.answer()
}

func bounded(body []byte) json.RawMessage {
	if body == nil {
		return nil
	}
	return json.RawMessage(bytes.Clone(body[:min(len(body), keepBody)]))
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
