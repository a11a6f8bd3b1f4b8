package riot

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"riftchime/ratelimit"
)

const (
	// refusedMethods in a row, each another one, are taken for a refused key.
	refusedMethods = 3
	// refusedRow in a row, whatever the methods, are reason to ask for the
	// platform's status, which every key may: its refusal decides.
	refusedRow = 5
	// vouchedFor is how long an answer that only a good key gets speaks for the
	// key.
	vouchedFor = 5 * time.Second
	// probeEvery is how often a refused key is tried, and how often a row of
	// refusals is checked.
	probeEvery = time.Minute
)

// KeyHealth is what is known of a key.
type KeyHealth struct {
	Fingerprint Fingerprint
	// Refused: Riot answered 401 or 403 on several methods in a row. Calls fail
	// with KindBadKey at once, but for one a minute.
	Refused bool
	// Since is when Refused last changed; zero for a key that was never refused.
	Since time.Time
}

// key is an API key and what Riot thinks of it.
type key struct {
	fingerprint Fingerprint
	secret      secret

	mu      sync.Mutex // guards what follows
	refused bool
	since   time.Time
	methods map[string]bool // refused in the present row
	row     int             // refusals since an answer that was none
	route   string          // of the last refusal
	good    time.Time       // when an answer last showed that the key is good
	next    time.Time       // before it no probe and no check
}

// errRefused is the cause of an error about a key that is refused.
var errRefused = errors.New("the key is refused for now")

// enter lets a call pass, or says when one may. Of a refused key's calls it lets
// one pass a minute.
func (k *key) enter(now time.Time) (ok bool, again time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.refused {
		return true, time.Time{}
	}
	if now.Before(k.next) {
		return false, k.next
	}
	k.next = now.Add(probeEvery)
	return true, time.Time{}
}

// isRefused is enter without taking the place of the probe.
func (k *key) isRefused() (refused bool, again time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused, k.next
}

// accepted notes an answer that Riot gives only to a key it knows, and reports
// whether the key was refused until now.
func (k *key) accepted(now time.Time) (changed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed = k.refused
	k.good = now
	k.row, k.methods = 0, nil
	if changed {
		k.refused, k.since = false, now
	}
	return changed
}

// rejected notes a refusal. It reports whether the key counts as refused from
// now on, or else whether that is to be checked by asking for the status.
func (k *key) rejected(method, route string, now time.Time) (changed, check bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.route = route
	k.row++
	if k.methods == nil {
		k.methods = make(map[string]bool)
	}
	k.methods[method] = true
	switch {
	case k.refused:
		return false, false
	case len(k.methods) >= refusedMethods, k.row > refusedRow && k.methods[MethodStatus] && len(k.methods) > 1:
		k.refused, k.since, k.next = true, now, now.Add(probeEvery)
		return true, false
	case k.row >= refusedRow && !now.Before(k.next):
		k.next = now.Add(probeEvery)
		return false, true
	}
	return false, false
}

// vouched reports whether the key was good a moment before now.
func (k *key) vouched(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.refused && k.row == 0 && !k.good.IsZero() && now.Sub(k.good) < vouchedFor
}

// Health is what is known of each key, in the order they were given.
func (c *Client) Health() []KeyHealth {
	all := make([]KeyHealth, len(c.keys))
	for i, k := range c.keys {
		k.mu.Lock()
		all[i] = KeyHealth{Fingerprint: k.fingerprint, Refused: k.refused, Since: k.since}
		k.mu.Unlock()
	}
	return all
}

// suspend sends away all that wait for k, which was just refused.
func (c *Client) suspend(k *key) {
	_, until := k.isRefused()
	c.limiter.Suspend(string(k.fingerprint), until)
	if refused, _ := k.isRefused(); !refused {
		// Accepted in the meantime.
		c.limiter.Resume(string(k.fingerprint))
	}
}

// Probe tries each refused key whose minute has passed, by asking for a
// platform's status, so that a key that works again is found even while nobody
// asks anything. Call it now and then; it returns at once while no key is
// refused. What it finds is in Health.
func (c *Client) Probe(ctx context.Context) {
	for _, k := range c.keys {
		if refused, again := k.isRefused(); !refused || time.Now().Before(again) {
			continue
		}
		if ok, _ := k.enter(time.Now()); ok {
			k.mu.Lock()
			route := k.route
			k.mu.Unlock()
			c.askStatus(ctx, k, ratelimit.Retry, route)
		}
	}
}

// askStatus sends one request that any key may send, near route. What comes of
// it is noted by the sending itself.
func (c *Client) askStatus(ctx context.Context, k *key, p ratelimit.Priority, route string) {
	_, _ = c.send(ctx, k, p, statusRequest(platformNear(route)), func([]byte) error { return nil })
}

// forbidden looks into e, a match that Riot refused with 403. Riot does so for
// whole modes, and such a match is not asked for again; a key that died in this
// very moment must not look like that. So unless the key was just found good,
// the status tells.
func (c *Client) forbidden(ctx context.Context, k *key, p ratelimit.Priority, r request, e *Error) error {
	if k.vouched(time.Now()) {
		return e
	}
	c.askStatus(ctx, k, retryPriority(p), r.route)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case k.vouched(time.Now()):
		return e
	}
	e = r.fail(KindUnavailable, causeForbidden)
	e.Status = http.StatusForbidden
	if k.suspect() {
		e.Kind, e.Err = KindBadKey, causeRefusal
		c.note(ctx, k, r, e, time.Now())
	}
	return e
}

// suspect reports whether Riot's last word on the key was a refusal.
func (k *key) suspect() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused || k.row > 0
}

// platformNear is a platform of the region that route is, or route itself.
func platformNear(route string) Platform {
	if p := Platform(route); p.Valid() {
		return p
	}
	switch Region(route) {
	case Americas:
		return "na1"
	case Europe:
		return "euw1"
	case Sea:
		return "sg2"
	}
	return "kr"
}
