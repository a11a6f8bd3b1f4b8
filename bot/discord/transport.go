package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxBody bounds what is read of an answer.
const maxBody = 8 << 20

// Where a 429 does not say how long: Cloudflare's bans last minutes at least
// and grow while they are ignored, a bucket's are short.
const (
	blockFirst  = 10 * time.Second
	blockMost   = 10 * time.Minute
	bucketGuess = time.Second
	retryMost   = 24 * time.Hour
)

// exchange carries what the transport found out past discordgo, whose errors
// lose most of it, to [Client.do]. It travels in the request's context.
type exchange struct {
	status int
	body   []byte
	err    *Error
}

type exchangeKey struct{}

// transport is the one place where requests leave for Discord. It paces them,
// holds them back while Discord asks for it, keeps the budget of refused ones
// and classifies every answer.
type transport struct {
	base     http.RoundTripper
	origin   *url.URL
	timeout  time.Duration
	observer Observer

	pacer   *pacer
	holds   holds
	budget  budget
	blocks  atomic.Int32 // Cloudflare's blocks without a length in a row
	skew    atomic.Int64 // see [Client.ClockOffset]
	skewSet atomic.Bool
}

// RoundTrip sends one request when its turn comes. The error, if any, is an
// [*Error]. Time-outs count from when the request leaves.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.roundTrip(req)
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok && err != nil {
		x.err = err
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

func (t *transport) roundTrip(req *http.Request) (*http.Response, *Error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	r := routeOf(req.Method, req.URL.Path)
	if err := t.admit(req.Context(), r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), t.timeout)
	defer cancel()
	sent := time.Now()
	resp, body, err := t.send(ctx, req, r)
	came := time.Now()
	if err != nil {
		t.budget.settle(came, false)
		t.observer.Request(r.name, 0, came.Sub(sent))
		return nil, noAnswer(req.Context(), err)
	}
	t.observer.Request(r.name, resp.StatusCode, came.Sub(sent))
	t.readClock(resp.Header, sent, came)

	failure := t.judge(r, resp, body, came)
	t.budget.settle(came, refused(resp.StatusCode, failure))
	// discordgo would act on these, or choke on a value it does not know.
	for key := range resp.Header {
		if strings.HasPrefix(key, "X-Ratelimit-") {
			resp.Header.Del(key)
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok {
		x.status, x.body, x.err = resp.StatusCode, body, failure
	}
	return resp, nil
}

// admit waits until the request may leave and takes its room in the budget.
func (t *transport) admit(ctx context.Context, r route) *Error {
	if !r.interaction {
		for {
			if r.bucket != "" {
				if err := t.holds.wait(ctx, r.bucket); err != nil {
					return err.(*Error)
				}
			}
			if err := t.pacer.wait(ctx, r.urgency); err != nil {
				return err.(*Error)
			}
			// The bucket may have been shut while the request queued.
			if r.bucket == "" || !t.holds.end(r.bucket).After(time.Now()) {
				break
			}
		}
	} else if err := ctx.Err(); err != nil {
		return &Error{Kind: Canceled, Err: err}
	}
	if wait, ok := t.budget.take(time.Now()); !ok {
		return &Error{Kind: OutOfBudget, RetryAfter: wait}
	}
	return nil
}

// send makes one round trip and reads the whole answer.
func (t *transport) send(ctx context.Context, req *http.Request, r route) (*http.Response, []byte, error) {
	out := req.Clone(ctx)
	out.URL.Scheme, out.URL.Host = t.origin.Scheme, t.origin.Host
	out.URL.Path = strings.TrimSuffix(t.origin.Path, "/") + out.URL.Path
	out.URL.RawPath = ""
	out.Host = ""
	if r.interaction {
		// With it, the request would count against the bot's global limit.
		out.Header.Del("Authorization")
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, nil, err
	}
	return resp, body, nil
}

// refused reports whether Discord counts the answer as an invalid request.
func refused(status int, failure *Error) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	case http.StatusTooManyRequests:
		return failure == nil || failure.Scope != ScopeShared
	}
	return false
}

// apiError is the body of a refusal.
type apiError struct {
	Code       int      `json:"code"`
	Message    string   `json:"message"`
	Global     bool     `json:"global"`
	RetryAfter *float64 `json:"retry_after"`
}

// judge classifies an answer, nil meaning success, and draws the consequences
// for the requests that follow.
func (t *transport) judge(r route, resp *http.Response, body []byte, now time.Time) *Error {
	status := resp.StatusCode
	if status/100 == 2 {
		t.blocks.Store(0)
		if r.bucket != "" && resp.Header.Get("X-Ratelimit-Remaining") == "0" {
			if after, ok := seconds(resp.Header.Get("X-Ratelimit-Reset-After")); ok {
				t.holds.hold(r.bucket, now, now.Add(min(after, time.Minute)))
			}
		}
		return nil
	}
	var answer apiError
	decoded := json.Unmarshal(body, &answer) == nil
	e := &Error{Status: status, Code: answer.Code, Message: cut(answer.Message, maxErrorMessage)}
	if status != http.StatusTooManyRequests {
		e.Kind = kindOfStatus(status, answer.Code)
		e.Maybe = e.Kind == Unavailable && status >= 500
		if after, ok := seconds(resp.Header.Get("Retry-After")); ok && e.Kind == Unavailable {
			e.RetryAfter = after
		}
		return e
	}

	e.Kind = Limited
	after, known := retryAfter(resp.Header, answer)
	e.Scope = scopeOf(resp.Header, answer, decoded, known)
	switch e.Scope {
	case ScopeCloudflare:
		if !known {
			after = min(blockFirst<<min(t.blocks.Add(1)-1, 10), blockMost)
		}
		t.pacer.block(now.Add(after))
	case ScopeGlobal:
		if !known {
			after = bucketGuess
		}
		// What is limited is the bot, or the address where no token is sent;
		// either way the bot's requests had better wait too.
		t.pacer.block(now.Add(after))
	default:
		if !known {
			after = bucketGuess
		}
		if r.bucket != "" {
			t.holds.hold(r.bucket, now, now.Add(after))
		}
	}
	e.RetryAfter = after
	t.observer.Limited(r.name, e.Scope)
	return e
}

// scopeOf tells whose limit a 429 is about.
func scopeOf(h http.Header, answer apiError, decoded, known bool) Scope {
	scope := Scope(strings.ToLower(h.Get("X-Ratelimit-Scope")))
	switch {
	case !decoded:
		return ScopeCloudflare // A page of HTML, or "error code: 1015".
	case scope == ScopeGlobal, answer.Global, strings.EqualFold(h.Get("X-Ratelimit-Global"), "true"):
		return ScopeGlobal
	case scope == ScopeShared:
		return ScopeShared
	case scope == "" && !known && h.Get("X-Ratelimit-Bucket") == "":
		return ScopeCloudflare // {"code":0,"message":"You are being blocked …"}
	default:
		return ScopeUser
	}
}

// retryAfter finds how long a 429 asks to wait. The body is exact, Retry-After
// is rounded up to seconds.
func retryAfter(h http.Header, answer apiError) (time.Duration, bool) {
	if answer.RetryAfter != nil {
		if d, ok := duration(*answer.RetryAfter); ok {
			return d, true
		}
	}
	if d, ok := seconds(h.Get("Retry-After")); ok {
		return d, true
	}
	return seconds(h.Get("X-Ratelimit-Reset-After"))
}

// seconds reads a number of seconds, whole or not.
func seconds(value string) (time.Duration, bool) {
	number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0, false
	}
	return duration(number)
}

func duration(number float64) (time.Duration, bool) {
	if math.IsNaN(number) || number < 0 {
		return 0, false
	}
	if number > retryMost.Seconds() {
		return retryMost, true
	}
	return time.Duration(math.Ceil(number * float64(time.Second))), true
}

// readClock compares our clock with the Date header, whose resolution is a
// second. It keeps the smallest offset that explains what was seen.
func (t *transport) readClock(h http.Header, sent, came time.Time) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	least := date.Sub(came)                 // The header was written at its second's start or after,
	most := date.Add(time.Second).Sub(sent) // before its end, and while the request was under way.
	offset := max(least, min(most, 0))
	t.skew.Store(int64(offset))
	t.skewSet.Store(true)
}

// cut shortens a text to at most n bytes of valid UTF-8.
func cut(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	return strings.ToValidUTF8(text, "")
}
