package riot

import (
	"errors"
	"fmt"
	"time"
)

// Kind tells errors of this package apart.
type Kind uint8

const (
	// KindUnavailable: no usable answer came (5xx, a time-out, a cut or foreign
	// body). Worth another try later.
	KindUnavailable Kind = iota
	// KindNotFound: Riot answered that there is no such thing. A result.
	KindNotFound
	// KindForbidden: Riot keeps this one thing to itself (a 403 on one match).
	KindForbidden
	// KindBadKey: the key is refused (401, or 403 where nothing else explains
	// it). One alone proves nothing.
	KindBadKey
	// KindDecrypting: the PUUID belongs to another key.
	KindDecrypting
	// KindLimited: refused with 429, or not to be sent before the deadline.
	KindLimited
	// KindRejected: the request was wrong (another 4xx).
	KindRejected
	// KindAborted: the match has nothing in it: it was never played out.
	KindAborted
)

func (k Kind) String() string {
	switch k {
	case KindUnavailable:
		return "unavailable"
	case KindNotFound:
		return "not found"
	case KindForbidden:
		return "forbidden"
	case KindBadKey:
		return "key refused"
	case KindDecrypting:
		return "PUUID of another key"
	case KindLimited:
		return "limited"
	case KindRejected:
		return "rejected"
	case KindAborted:
		return "aborted game"
	}
	return "unknown"
}

// Error is every error that a call to Riot returns, but the context's own. It
// names no key and no URL.
type Error struct {
	Kind Kind
	// Method and Route say what was asked, such as "match" on "asia".
	Method string
	Route  string
	// Status is the HTTP status; 0 where no answer came.
	Status int
	// RetryAt is when another try could succeed; zero where nothing is known.
	RetryAt time.Time
	// Err is the cause; may be nil.
	Err error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("riot %s on %s: %s", e.Method, e.Route, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsKind reports whether err is, or wraps, an Error of kind k.
func IsKind(err error, k Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}
