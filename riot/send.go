package riot

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"riftchime/ratelimit"
)

const (
	// maxTries is how often a question is sent, the first time included.
	maxTries = 3
	// maxBodyBytes is far above any answer that is asked for: a match is about
	// 150 KB.
	maxBodyBytes = 8 << 20
	// firstBackoff doubles with each try, to maxBackoff at most. Half of it is
	// left to chance.
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second

	userAgent = "RiftChime"
)

// cause is why there is no usable answer, in words that can be a label. Text of
// the net packages is kept out of errors, since it has addresses in it.
type cause string

func (c cause) Error() string { return string(c) }

const (
	causeTimeout   cause = "time-out"
	causeName      cause = "host name not found"
	causeRefused   cause = "connection refused"
	causeReset     cause = "connection lost"
	causeConnect   cause = "no connection"
	causeCut       cause = "body cut short"
	causeTooLarge  cause = "body too large"
	causeForeign   cause = "foreign body"
	causeServer    cause = "server error"
	causeRedirect  cause = "unexpected status"
	causeRefusal   cause = "key refused"
	causeForbidden cause = "forbidden"
	causeDecrypt   cause = "decrypting"
	causeRejected  cause = "rejected"
	causeLimited   cause = "limited"
	causeGivenUp   cause = "given up"
)

// get sends r, and sends it again where that may help.
func (c *Client) get(ctx context.Context, k *key, p ratelimit.Priority, r request, decode func([]byte) error) error {
	for try := 1; ; try++ {
		if ok, again := k.enter(time.Now()); !ok {
			e := r.fail(KindBadKey, errRefused)
			e.RetryAt = again
			return e
		}
		check, err := c.send(ctx, k, p, r, decode)
		if check {
			c.askStatus(ctx, k, retryPriority(p), r.route)
		}
		if err == nil {
			return nil
		}
		var e *Error
		if !errors.As(err, &e) || try == maxTries && e.Kind != KindForbidden {
			return err
		}
		switch {
		case e.Kind == KindForbidden:
			return c.forbidden(ctx, k, p, r, e)
		case e.Kind == KindUnavailable:
			wait := max(backoff(try), time.Until(e.RetryAt))
			if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
				return err
			}
			if err := sleep(ctx, wait); err != nil {
				return err
			}
		case e.Kind == KindLimited && e.Status == http.StatusTooManyRequests:
			// The limiter knows how long to wait.
		default:
			return err
		}
		p = retryPriority(p)
	}
}

// retryPriority is the priority of another try, never lower than p.
func retryPriority(p ratelimit.Priority) ratelimit.Priority {
	if p == ratelimit.Person {
		return p
	}
	return ratelimit.Retry
}

// backoff is how long to wait after the given try.
func backoff(try int) time.Duration {
	d := min(firstBackoff<<(try-1), maxBackoff)
	return d/2 + rand.N(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer is what came of one request.
type answer struct {
	status int
	header http.Header
	body   []byte
	why    cause // why the body is not to be used; empty: it is whole
}

// send takes a permit, sends r once, gives the permit back with what the answer
// says of limits, and turns the answer into a value or an error. check says that
// the key may be refused and its status is to be asked for.
func (c *Client) send(ctx context.Context, k *key, p ratelimit.Priority, r request, decode func([]byte) error) (check bool, err error) {
	address, ok := r.url(c.url)
	if !ok {
		return false, r.fail(KindRejected, errors.New("an empty or impossible argument"))
	}
	take := c.Bucket(k.fingerprint, r.method, r.route)
	take.Priority = p
	take.Deadline, _ = ctx.Deadline()
	permit, err := c.limiter.Acquire(ctx, take)
	if err != nil {
		return false, notSent(ctx, k, r, err)
	}
	left := time.Now()
	done := false
	answered := func(a answer) {
		if !done {
			done = true
			permit.Done(forLimiter(a, time.Now()))
		}
	}
	// Without an answer, also where the transport panics, it counts as lost.
	defer answered(answer{})
	a := c.exchange(ctx, k, address, answered)
	answered(a)
	now := time.Now()

	sent := Sent{Key: k.fingerprint, Method: r.method, Route: r.route, Status: a.status, Took: now.Sub(left)}
	if a.why != "" && ctx.Err() != nil {
		// The caller left: nobody's fault.
		sent.Cause = string(causeGivenUp)
		c.observe(sent)
		return false, ctx.Err()
	}
	e := c.judge(r, a, now, decode)
	sent.Cause = causeOf(e)
	c.observe(sent)
	check = c.note(ctx, k, r, e, now)
	if e == nil {
		return check, nil
	}
	return check, e
}

// exchange sends one request and reads its answer to the end. The time-out
// begins here. answered is called when the headers are there, if they come.
func (c *Client) exchange(ctx context.Context, k *key, address string, answered func(answer)) (a answer) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	ctx = sentOnce(ctx, abort)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{why: causeRejected}
	}
	req.Header.Set(headerToken, k.secret.reveal())
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	// Not through an http.Client: it would follow redirects, and take the key
	// along.
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return answer{why: causeOfNet(ctx, err)}
	}
	defer res.Body.Close()
	a = answer{status: res.StatusCode, header: res.Header}
	answered(a)
	var b bytes.Buffer
	if res.ContentLength > 0 && res.ContentLength <= maxBodyBytes {
		b.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(res.Body, maxBodyBytes+1))
	switch {
	case err != nil && ctx.Err() != nil:
		a.why = causeTimeout
	case err != nil:
		a.why = causeCut
	case n > maxBodyBytes:
		a.why = causeTooLarge
	default:
		a.body = b.Bytes()
	}
	return a
}

// sentOnce stops a Transport from writing a request a second time, as it does on
// its own where a connection that was used before breaks while it waits for the
// answer: Riot may have counted the first, and there is a permit for one only.
// On HTTP/2 it does so just for requests that the server says it left alone.
func sentOnce(ctx context.Context, abort context.CancelCauseFunc) context.Context {
	var written atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { written.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			if !written.Load() {
				return
			}
			if t, ok := info.Conn.(*tls.Conn); ok && t.ConnectionState().NegotiatedProtocol == "h2" {
				return
			}
			// The transport looks at the context before it tries again, but not
			// before it writes: only a closed connection keeps it from that.
			abort(causeReset)
			info.Conn.Close()
		},
	})
}

// forLimiter is what the limiter wants to know of a.
func forLimiter(a answer, now time.Time) ratelimit.Answer {
	if a.status == 0 {
		return ratelimit.Answer{Lost: true}
	}
	out := ratelimit.Answer{
		AppLimits:    ParseLimits(joined(a.header, headerAppLimit)),
		AppCounts:    ParseCounts(joined(a.header, headerAppCount)),
		MethodLimits: ParseLimits(joined(a.header, headerMethodLimit)),
		MethodCounts: ParseCounts(joined(a.header, headerMethodCount)),
	}
	if a.status == http.StatusTooManyRequests {
		out.Refusal = refusal(a.header.Get(headerLimitType))
		out.RetryAfter, out.HasRetryAfter = ParseRetryAfter(a.header.Get(headerRetryAfter), now)
	}
	return out
}

// refusal reads X-Rate-Limit-Type. Without one the service behind the edge
// refused; a value that is not known is treated like it.
func refusal(kind string) ratelimit.Refusal {
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application":
		return ratelimit.RefusedApplication
	case "method":
		return ratelimit.RefusedMethod
	}
	return ratelimit.RefusedService
}

// judge decides on the status, then decodes.
func (c *Client) judge(r request, a answer, now time.Time, decode func([]byte) error) *Error {
	fail := func(kind Kind, why cause) *Error {
		e := r.fail(kind, nil)
		if why != "" {
			e.Err = why
		}
		e.Status = a.status
		if kind == KindLimited || kind == KindUnavailable {
			if wait, ok := ParseRetryAfter(a.header.Get(headerRetryAfter), now); ok {
				e.RetryAt = now.Add(wait)
			}
		}
		return e
	}
	switch s := a.status; {
	case s == 0:
		return fail(KindUnavailable, a.why)
	case s == http.StatusOK && a.why != "":
		return fail(KindUnavailable, a.why)
	case s == http.StatusOK:
		err := decode(a.body)
		if err == nil {
			return nil
		}
		var own *Error
		if errors.As(err, &own) {
			own.Method, own.Route, own.Status = r.method, r.route, s
			return own
		}
		return fail(KindUnavailable, causeForeign)
	case s == http.StatusNotFound:
		return fail(KindNotFound, "")
	case s == http.StatusUnauthorized:
		return fail(KindBadKey, causeRefusal)
	case s == http.StatusForbidden && r.method == MethodMatch:
		return fail(KindForbidden, causeForbidden)
	case s == http.StatusForbidden:
		return fail(KindBadKey, causeRefusal)
	case s == http.StatusTooManyRequests:
		return fail(KindLimited, causeLimited)
	case s == http.StatusBadRequest && says(a.body, "decrypting"):
		return fail(KindDecrypting, causeDecrypt)
	case s == http.StatusBadRequest && (says(a.body, "apikey") || says(a.body, "api key")):
		return fail(KindBadKey, causeRefusal)
	case s == http.StatusRequestTimeout:
		return fail(KindUnavailable, causeTimeout)
	case s >= 500:
		return fail(KindUnavailable, causeServer)
	case s >= 400:
		return fail(KindRejected, causeRejected)
	}
	return fail(KindUnavailable, causeRedirect)
}

// says reports whether body has word, in any case, near its beginning.
func says(body []byte, word string) bool {
	return strings.Contains(strings.ToLower(string(body[:min(len(body), 4096)])), word)
}

// note keeps the key's health, and logs where it changes. A refusal of one match
// says nothing of the key, neither do failures on the way.
func (c *Client) note(ctx context.Context, k *key, r request, e *Error, now time.Time) (check bool) {
	switch {
	case e == nil:
	case e.Kind == KindBadKey:
		changed, check := k.rejected(r.method, r.route, now)
		if changed {
			c.suspend(k)
			c.log.ErrorContext(ctx, "Riot refuses the API key", "key", k.fingerprint, "method", r.method, "status", e.Status)
		}
		return check
	case e.Kind == KindForbidden, e.Kind == KindUnavailable:
		return false
	}
	if k.accepted(now) {
		c.limiter.Resume(string(k.fingerprint))
		c.log.InfoContext(ctx, "Riot takes the API key again", "key", k.fingerprint)
	}
	return false
}

// causeOf is the label of e. That there is no such thing, or nothing in it, is no
// failure.
func causeOf(e *Error) string {
	if e == nil || e.Kind == KindNotFound || e.Kind == KindAborted {
		return ""
	}
	var why cause
	if errors.As(e.Err, &why) {
		return string(why)
	}
	return e.Kind.String()
}

// causeOfNet finds a word for an error of the transport.
func causeOfNet(ctx context.Context, err error) cause {
	var (
		own cause
		dns *net.DNSError
		op  *net.OpError
		to  interface{ Timeout() bool }
	)
	switch {
	case errors.As(context.Cause(ctx), &own):
		return own
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.As(err, &to) && to.Timeout():
		return causeTimeout
	case errors.As(err, &dns):
		return causeName
	case errors.Is(err, syscall.ECONNREFUSED):
		return causeRefused
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return causeReset
	case errors.As(err, &op) && op.Op == "dial":
		return causeConnect
	case errors.As(err, &op):
		return causeReset
	}
	return causeConnect
}

// notSent turns an error of the limiter into one of this package.
func notSent(ctx context.Context, k *key, r request, err error) error {
	var late *ratelimit.TooLateError
	switch {
	case errors.As(err, &late):
		e := r.fail(KindLimited, errors.New("no room before the deadline"))
		e.RetryAt = late.At
		return e
	case errors.Is(err, ratelimit.ErrQueueFull):
		return r.fail(KindLimited, errors.New("too many requests are waiting"))
	case errors.Is(err, ratelimit.ErrKeySuspended):
		e := r.fail(KindBadKey, errRefused)
		_, e.RetryAt = k.isRefused()
		return e
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return r.fail(KindLimited, errors.New("the limiter gave no permit"))
}
