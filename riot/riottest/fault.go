package riottest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	// FaultNone changes nothing but what Fault.Delay, Header and NoLimitHeaders
	// say.
	FaultNone FaultKind = "none"
	// FaultStatus answers Fault.Status, 500 where it is 0.
	FaultStatus FaultKind = "status"
	// FaultLimited answers 429 with Fault.LimitType and RetryAfter, though there was
	// room.
	FaultLimited FaultKind = "limited"
	// FaultHang never answers.
	FaultHang FaultKind = "hang"
	// FaultReset closes the connection in place of an answer.
	FaultReset FaultKind = "reset"
	// FaultCut closes the connection in the middle of the body.
	FaultCut FaultKind = "cut"
	// FaultStall sends half of the body and no more.
	FaultStall FaultKind = "stall"
	// FaultHTML answers with a page, with Fault.Status or 200.
	FaultHTML FaultKind = "html"
	// FaultErrorBody answers 200 with an error inside.
	FaultErrorBody FaultKind = "error-body"
	// FaultEmpty answers with Fault.Status or 200, and no body.
	FaultEmpty FaultKind = "empty"
)

// Fault makes calls go wrong. A call meets the first fault that was added and
// matches it; one that is refused for a limit meets none.
type Fault struct {
	// Route, Method, Key (the API key), Player and Match narrow which calls: an
	// empty or zero one is any. A call by Riot ID is about the player of that name.
	Route  string   `json:"route,omitempty"`
	Method string   `json:"method,omitempty"`
	Key    string   `json:"key,omitempty"`
	Player PlayerID `json:"player,omitempty"`
	Match  string   `json:"match,omitempty"`

	// From and Until narrow when; zero is always.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Count is how many calls go wrong before the fault is gone. 0: all.
	Count int `json:"count,omitempty"`
	// Chance is how likely a call is to go wrong, above 0 to 1. 0 is 1. It comes
	// from the server's seed.
	Chance float64 `json:"chance,omitempty"`

	// Kind is what goes wrong; empty is FaultNone.
	Kind   FaultKind `json:"kind,omitempty"`
	Status int       `json:"status,omitempty"`
	// LimitType is "application", "method", "service", "server" or anything else.
	// Empty: the header is absent, and so it is with every kind but FaultLimited.
	LimitType string `json:"limitType,omitempty"`
	// RetryAfter is the header's value as it is; empty: absent.
	RetryAfter string `json:"retryAfter,omitempty"`
	// Body replaces the kind's own, where it is not empty.
	Body string `json:"body,omitempty"`
	// Delay is between counting and answering.
	Delay Duration `json:"delay,omitempty"`
	// Header sets more headers of the answer; an empty value removes one.
	Header map[string]string `json:"header,omitempty"`
	// NoLimitHeaders leaves out limits and counts. A LimitType of "server" does too.
	NoLimitHeaders bool `json:"noLimitHeaders,omitempty"`
	// NotCounted: the call went wrong before it was counted.
	NotCounted bool `json:"notCounted,omitempty"`
}

// FaultID names a fault that was added.
type FaultID int

// Duration is a time.Duration that is spelt "1m30s" in JSON.
type Duration time.Duration

// Std is d for package time.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.Std().String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is a string like \"1m30s\": %w", err)
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// fault is a Fault in force.
type fault struct {
	Fault
	id   FaultID
	left int
}

// AddFault makes calls go wrong from now on. It panics where f's kind is not
// known, or its status or chance makes no sense: Fault.Check tells beforehand.
func (s *Server) AddFault(f Fault) FaultID {
	if err := f.Check(); err != nil {
		panic("riottest: " + err.Error())
	}
	if f.Kind == "" {
		f.Kind = FaultNone
	}
	if f.LimitType == "server" {
		f.NoLimitHeaders = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultIDs++
	s.faults = append(s.faults, &fault{Fault: f, id: FaultID(s.faultIDs), left: f.Count})
	return FaultID(s.faultIDs)
}

// Check reports what makes no sense in f.
func (f Fault) Check() error {
	switch f.Kind {
	case "", FaultNone, FaultStatus, FaultLimited, FaultHang, FaultReset, FaultCut, FaultStall,
		FaultHTML, FaultErrorBody, FaultEmpty:
	default:
		return fmt.Errorf("no such kind of fault: %q", f.Kind)
	}
	switch {
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("fault with status %d", f.Status)
	case f.Chance < 0 || f.Chance > 1:
		return fmt.Errorf("fault with chance %v", f.Chance)
	case f.Count < 0:
		return fmt.Errorf("fault with count %d", f.Count)
	}
	return nil
}

// RemoveFault ends a fault. It reports whether it was still in force.
func (s *Server) RemoveFault(id FaultID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.faults)
	s.faults = slices.DeleteFunc(s.faults, func(f *fault) bool { return f.id == id })
	return len(s.faults) < before
}

// ClearFaults ends all faults. Calls that hang go on hanging.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// faultFor finds the fault that a call meets. The caller holds mu.
func (s *Server) faultFor(c Call, key string, now time.Time) *fault {
	for _, f := range s.faults {
		switch {
		case f.Route != "" && f.Route != c.Route,
			f.Method != "" && f.Method != c.Method,
			f.Key != "" && f.Key != key,
			f.Player != 0 && f.Player != c.Player,
			f.Match != "" && f.Match != c.Match,
			now.Before(f.From),
			!f.Until.IsZero() && !now.Before(f.Until):
			continue
		case f.Chance > 0 && s.rng.Float64() >= f.Chance:
			continue
		}
		return f
	}
	return nil
}

// use books a fault that a call has met. The caller holds mu.
func (s *Server) use(f *fault) *fault {
	if f == nil {
		return nil
	}
	s.stats.injected[f.Kind]++
	if f.left > 0 {
		f.left--
		if f.left == 0 {
			s.faults = slices.DeleteFunc(s.faults, func(g *fault) bool { return g == f })
		}
	}
	return f
}

// bend makes of an answer what the fault wants.
func (f *fault) bend(out *reply) {
	status := func(otherwise int) int {
		if f.Status != 0 {
			return f.Status
		}
		return otherwise
	}
	was := *out
	switch f.Kind {
	case FaultStatus:
		code := status(http.StatusInternalServerError)
		*out = problem(code, http.StatusText(code))
	case FaultLimited:
		message := "Rate limit exceeded"
		if f.LimitType == "server" {
			message = "server rate limit exceeded"
		}
		*out = problem(http.StatusTooManyRequests, message)
	case FaultHTML:
		*out = reply{
			status: status(http.StatusOK),
			typ:    "text/html",
			body:   []byte("<!DOCTYPE html><html><head><title>Please wait</title></head><body>One moment.</body></html>\n"),
		}
	case FaultErrorBody:
		*out = problem(http.StatusInternalServerError, "Internal server error")
		out.status = http.StatusOK
	case FaultEmpty:
		*out = reply{status: status(http.StatusOK)}
	}
	out.header = was.header
	if f.Body != "" {
		out.body = []byte(f.Body)
	}
	if f.Kind == FaultLimited && f.LimitType != "" {
		out.header["X-Rate-Limit-Type"] = []string{f.LimitType}
	}
	if f.RetryAfter != "" {
		out.header["Retry-After"] = []string{f.RetryAfter}
	}
}
