package discord

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Kind says what a failed request means for the caller.
type Kind uint8

// The kinds of failure. The zero value is an error that is not one of this
// package's.
const (
	// Unknown is what [KindOf] says of nil and of errors from elsewhere.
	Unknown Kind = iota
	// Unavailable is a 5xx, a reset, a time-out or an answer that can't be
	// read. [Error.Maybe] tells whether Discord may have carried it out.
	Unavailable
	// Limited is a 429 of any scope, or a wait for one to pass that would have
	// outlasted the context. Nothing was carried out.
	Limited
	// OutOfBudget means that nothing was sent, because so many requests were
	// refused in the last ten minutes that more could get the address banned.
	OutOfBudget
	// Canceled means that the caller's context ended first.
	Canceled
	// UnknownChannel is code 10003: the channel was deleted.
	UnknownChannel
	// MissingAccess is code 50001: the bot can't see the channel.
	MissingAccess
	// MissingPermission is any other 403, code 50013 above all.
	MissingPermission
	// NotFound is any other 404, and a nonce whose message was deleted (10008).
	NotFound
	// Acknowledged is code 40060: the interaction has been answered before.
	Acknowledged
	// Rejected is a 400 or another 4xx: the request itself is wrong.
	Rejected
	// Unauthorized is a 401: the token is not valid.
	Unauthorized
)

// String returns the kind in a few lower-case words, fit for a log or a metric.
func (k Kind) String() string {
	switch k {
	case Unavailable:
		return "unavailable"
	case Limited:
		return "limited"
	case OutOfBudget:
		return "out of budget"
	case Canceled:
		return "canceled"
	case UnknownChannel:
		return "unknown channel"
	case MissingAccess:
		return "missing access"
	case MissingPermission:
		return "missing permission"
	case NotFound:
		return "not found"
	case Acknowledged:
		return "acknowledged"
	case Rejected:
		return "rejected"
	case Unauthorized:
		return "unauthorized"
	default:
		return "unknown"
	}
}

// Scope says what a 429 limits.
type Scope string

// The scopes of a 429. User, global and shared are Discord's own words
// (https://discord.com/developers/docs/topics/rate-limits#header-format).
const (
	ScopeUser       Scope = "user"       // this bot, on this route and channel
	ScopeGlobal     Scope = "global"     // this bot, everywhere
	ScopeShared     Scope = "shared"     // the resource, whoever asks; not counted against the bot
	ScopeCloudflare Scope = "cloudflare" // this address, everywhere; no JSON comes with it
)

// Error is what every method of [Client] returns when it fails. Its text holds
// neither a URL nor a token.
type Error struct {
	// Op is what was being done, such as "post message".
	Op string
	// Kind is what the failure means.
	Kind Kind
	// Status is the HTTP status, 0 where there was no answer.
	Status int
	// Code is Discord's own code, 0 where there was none
	// (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json).
	Code int
	// Message is Discord's own message, cut to 300 bytes, or empty.
	Message string
	// Scope is set when Kind is Limited.
	Scope Scope
	// RetryAfter is how long to wait before the next try, 0 where nothing is
	// known.
	RetryAfter time.Duration
	// Maybe reports that the request left and may have been carried out.
	Maybe bool
	// Err is the cause, if there was one: a context's error, a network error.
	Err error
}

// Error returns one line without URLs and tokens.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	b.WriteString(e.Kind.String())
	if e.Status != 0 {
		fmt.Fprintf(&b, ", HTTP %d", e.Status)
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, ", code %d", e.Code)
	}
	if e.Scope != "" {
		fmt.Fprintf(&b, ", scope %s", e.Scope)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", retry after %s", e.RetryAfter.Round(time.Millisecond))
	}
	if e.Message != "" {
		b.WriteString(": " + redact(e.Message))
	}
	if e.Err != nil {
		b.WriteString(": " + redact(e.Err.Error()))
	}
	return b.String()
}

// Unwrap returns the cause, so that errors.Is finds a context's error.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error that came from this package, and Unknown
// for any other and for nil.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Unknown
}

// transient reports whether trying again later may help.
func (e *Error) transient() bool { return e.Kind == Unavailable || e.Kind == Limited }

// Discord's JSON error codes that are told apart.
const (
	codeUnknownChannel     = 10003
	codeUnknownMessage     = 10008
	codeMissingAccess      = 50001
	codeAcknowledged       = 40060
	codeInvalidWebhook     = 50027
	maxErrorMessage        = 300
	cloudflareBlockedCode  = 40333
	serviceResourceLimited = 40062
	apiResourceOverloaded  = 130000
)

// kindOfStatus maps an answer that is neither 2xx nor 429.
func kindOfStatus(status, code int) Kind {
	switch {
	case code == apiResourceOverloaded || code == serviceResourceLimited, status >= 500:
		return Unavailable
	case status == http.StatusUnauthorized:
		return Unauthorized
	case code == codeUnknownChannel:
		return UnknownChannel
	case code == codeMissingAccess:
		return MissingAccess
	case code == codeAcknowledged:
		return Acknowledged
	case status == http.StatusForbidden && code == cloudflareBlockedCode:
		return Unavailable
	case status == http.StatusForbidden:
		return MissingPermission
	case status == http.StatusNotFound, code == codeUnknownMessage:
		return NotFound
	case status == http.StatusRequestTimeout:
		return Unavailable
	case status >= 400:
		return Rejected
	default: // 1xx and 3xx: somebody else than Discord answered.
		return Unavailable
	}
}

// noAnswer makes an error of a round trip that brought no whole answer.
// callers is the context of the caller, without the attempt's own time-out.
func noAnswer(callers context.Context, err error) *Error {
	e := &Error{Kind: Unavailable, Maybe: true, Err: err}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		e.Maybe = false
	}
	if cause := callers.Err(); cause != nil {
		e.Kind, e.Err = Canceled, cause
	}
	return e
}
