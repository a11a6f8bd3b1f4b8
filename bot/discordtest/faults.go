package discordtest

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// FaultKind is what a [Fault] does to a request.
type FaultKind string

// The kinds of faults. All but the "after" ones keep the request from being
// acted on; FaultLatency only makes the answer late.
const (
	// FaultStatus answers Status with Code and Message in Discord's shape; 5xx
	// without a Code has a body that is not JSON, as a proxy's has.
	FaultStatus FaultKind = "status"
	// FaultBucket answers 429 of scope user, and blocks the request's bucket,
	// where its route has one, until RetryAfter has passed.
	FaultBucket FaultKind = "bucket"
	// FaultGlobal answers 429 of scope global, and does so to every request
	// that a global limit counts until RetryAfter has passed.
	FaultGlobal FaultKind = "global"
	// FaultShared answers 429 of scope shared.
	FaultShared FaultKind = "shared"
	// FaultCloudflare answers 429 with a page and no Retry-After.
	FaultCloudflare FaultKind = "cloudflare"
	// FaultReset breaks the connection.
	FaultReset FaultKind = "reset"
	// FaultHang answers nothing until the client gives up.
	FaultHang FaultKind = "hang"
	// FaultResetAfter acts on the request, then breaks the connection.
	FaultResetAfter FaultKind = "reset_after"
	// FaultHangAfter acts on the request, then answers nothing.
	FaultHangAfter FaultKind = "hang_after"
	// FaultLatency acts on the request at once and answers after Delay.
	FaultLatency FaultKind = "latency"
)

// Fault makes REST requests fail. It is used up after Count requests, or at
// Until, whichever comes first.
type Fault struct {
	Kind FaultKind
	// Route and Channel choose the requests; empty is any.
	Route   Route
	Channel string
	// Skip lets that many of them through first.
	Skip int
	// Count is how many requests are hit; 0 is one if Until is zero, else
	// all until then. Negative is all, until ClearFaults.
	Count int
	Until time.Time
	// Status, Code and Message are FaultStatus's answer.
	Status  int
	Code    int
	Message string
	// RetryAfter is what a 429 says; 1 s if zero.
	RetryAfter time.Duration
	// Delay makes the answer late, whatever the kind.
	Delay time.Duration
}

// Validate says what is wrong with f.
func (f Fault) Validate() error {
	switch f.Kind {
	case FaultStatus:
		if f.Status < 200 || f.Status > 599 {
			return fmt.Errorf("fault %q: status %d is not within 200 and 599", f.Kind, f.Status)
		}
	case FaultLatency:
		if f.Delay <= 0 {
			return fmt.Errorf("fault %q: delay is missing", f.Kind)
		}
	case FaultBucket, FaultGlobal, FaultShared, FaultCloudflare,
		FaultReset, FaultHang, FaultResetAfter, FaultHangAfter:
	default:
		return fmt.Errorf("fault kind %q is unknown", f.Kind)
	}
	if f.Delay < 0 || f.RetryAfter < 0 || f.Skip < 0 {
		return errors.New("fault: delay, retry after and skip must not be negative")
	}
	known := f.Route == "" || f.Route == RouteUnknown ||
		slices.ContainsFunc(routes, func(r routeRule) bool { return r.route == f.Route })
	if !known {
		return fmt.Errorf("fault: route %q is unknown", f.Route)
	}
	return nil
}

// faults are those that are still to hit, oldest first; the first that fits wins.
type faults struct {
	rest    []*Fault
	gateway []*GatewayFault
}

// Fail makes coming requests fail as f says. Several faults may wait; a request
// is hit by the oldest one that fits it. It panics if f is not valid.
func (s *Server) Fail(f Fault) {
	if err := f.Validate(); err != nil {
		panic("discordtest: " + err.Error())
	}
	if f.Count == 0 {
		f.Count = -1
		if f.Until.IsZero() {
			f.Count = 1
		}
	}
	if f.RetryAfter == 0 {
		f.RetryAfter = time.Second
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.rest = append(s.faults.rest, &f)
}

// ClearFaults forgets all faults, of REST and gateway, and ends the blocks that
// they caused. Connections that a fault froze stay frozen.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = faults{}
	s.limits.globalUntil = time.Time{}
	for _, b := range s.limits.buckets {
		b.blocked = time.Time{}
	}
}

// take returns the fault that hits c, or nil.
func (f *faults) take(c *call) *Fault {
	f.rest = slices.DeleteFunc(f.rest, func(x *Fault) bool {
		return !x.Until.IsZero() && !c.at.Before(x.Until)
	})
	for i, x := range f.rest {
		if x.Route != "" && x.Route != c.route || x.Channel != "" && x.Channel != c.channel {
			continue
		}
		if x.Skip > 0 {
			x.Skip--
			continue
		}
		if x.Count > 0 {
			if x.Count--; x.Count == 0 {
				f.rest = slices.Delete(f.rest, i, i+1)
			}
		}
		return x
	}
	return nil
}
