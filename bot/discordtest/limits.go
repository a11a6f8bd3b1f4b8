package discordtest

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// window remembers the times of the newest events within per.
type window struct {
	per time.Duration
	// closed: an event exactly per ago still counts.
	closed bool
	at     []time.Time
}

func (w *window) prune(now time.Time) {
	n := 0
	for n < len(w.at) {
		age := now.Sub(w.at[n])
		if age < w.per || w.closed && age == w.per {
			break
		}
		n++
	}
	w.at = w.at[n:]
}

// add counts an event at now and returns how many the window holds.
func (w *window) add(now time.Time) int {
	w.prune(now)
	w.at = append(w.at, now)
	return len(w.at)
}

// wait returns how long it takes until another event fits under limit; 0: now.
func (w *window) wait(now time.Time, limit int) time.Duration {
	w.prune(now)
	if len(w.at) < limit {
		return 0
	}
	d := w.at[len(w.at)-limit].Add(w.per).Sub(now)
	if w.closed {
		d++
	}
	return max(d, 1)
}

// bucket is a route's limit for one major parameter.
type bucket struct {
	hash    string
	limit   int
	taken   window
	blocked time.Time // by a fault, until then
}

// limits counts requests as Discord does, on its own arrival clock.
type limits struct {
	opt         Options
	global      map[string]*window // by bot token; "" is the address
	arrivals    window             // everything that a global limit counts
	globalUntil time.Time          // by a fault
	buckets     map[string]*bucket
	invalid     window
	bannedUntil time.Time
}

func newLimits(opt Options) limits {
	return limits{
		opt:      opt,
		global:   map[string]*window{},
		arrivals: window{per: time.Second, closed: true},
		buckets:  map[string]*bucket{},
		invalid:  window{per: opt.InvalidWindow},
	}
}

// takeGlobal counts a request of who and returns how long it must wait; 0: it
// is let through. The reading is the strictest one: no second whatever, both
// its ends included, holds more than the limit.
func (l *limits) takeGlobal(who string, now time.Time) time.Duration {
	w := l.global[who]
	if w == nil {
		w = &window{per: time.Second, closed: true}
		l.global[who] = w
	}
	if d := w.wait(now, l.opt.GlobalLimit); d > 0 {
		return d
	}
	w.add(now)
	return 0
}

// bucketOf returns the bucket that a request falls into, or nil.
func (l *limits) bucketOf(c *call, now time.Time) *bucket {
	var hash, key string
	limit, per := l.opt.ChannelLimit, l.opt.ChannelWindow
	switch c.route {
	case RouteMessageCreate:
		hash, key = "80c17d2f203122d936070c88c8d10f33", c.param("channel_id")
	case RouteMessageEdit:
		// The same hash as for creating, counted apart.
		hash, key = "80c17d2f203122d936070c88c8d10f33", "edit "+c.param("channel_id")
	case RouteFollowup, RouteOriginalEdit, RouteOriginalGet, RouteOriginalDelete:
		hash, key = "d3ac8a2d3bd5a8e9c1f9b0a47f5c6e21", "webhook "+c.param("webhook_token")
		limit, per = l.opt.WebhookLimit, l.opt.WebhookWindow
	default:
		return nil
	}
	if limit < 0 {
		return nil
	}
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= 16_384 {
			l.sweep(now)
		}
		b = &bucket{hash: hash, limit: limit, taken: window{per: per}}
		l.buckets[key] = b
	}
	return b
}

// sweep forgets the buckets that hold nothing.
func (l *limits) sweep(now time.Time) {
	for key, b := range l.buckets {
		if b.taken.prune(now); len(b.taken.at) == 0 && !b.blocked.After(now) {
			delete(l.buckets, key)
		}
	}
}

// headers writes the state of b. Remaining counts after this request; the
// bucket is whole again when its newest request is a window old.
func (b *bucket) headers(h http.Header, now time.Time) {
	b.taken.prune(now)
	after := time.Duration(0)
	if n := len(b.taken.at); n > 0 {
		after = b.taken.at[n-1].Add(b.taken.per).Sub(now)
	}
	remaining := max(b.limit-len(b.taken.at), 0)
	if d := b.blocked.Sub(now); d > 0 {
		after, remaining = d, 0
	}
	h.Set("X-RateLimit-Bucket", b.hash)
	h.Set("X-RateLimit-Limit", strconv.Itoa(b.limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(now.Add(after).UnixMilli()+1)/1000, 'f', 3, 64))
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(seconds(after), 'f', 3, 64))
}

// seconds is d rounded up to the millisecond, so that who waits it is not early.
func seconds(d time.Duration) float64 {
	return math.Ceil(float64(d)/float64(time.Millisecond)) / 1000
}

// limited is a 429 as Discord's API gives it: scope user or shared with the
// bucket's headers, scope global without any Reset-After.
func limited(scope string, wait time.Duration) answer {
	body := map[string]any{
		"message":     "You are being rate limited.",
		"retry_after": seconds(wait),
		"global":      scope == "global",
	}
	if scope == "shared" {
		body["message"] = "The resource is being rate limited."
	}
	a := jsonAnswer(http.StatusTooManyRequests, body)
	a.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	a.header.Set("X-RateLimit-Scope", scope)
	if scope == "global" {
		a.header.Set("X-RateLimit-Global", "true")
	}
	a.shared = scope == "shared"
	return a
}

// cloudflare is the page that a banned address gets: no JSON, no Retry-After.
func cloudflare() answer {
	return answer{
		status: http.StatusTooManyRequests,
		header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}, "Server": {"cloudflare"}},
		body: []byte("<!doctype html><html><head><title>Access denied | discord.com used Cloudflare to restrict access</title></head>" +
			"<body><h1>Error 1015</h1><p>You are being rate limited</p><!-- error code: 1015 --></body></html>"),
	}
}

// countInvalid counts an answer that counts against the client, and bans it
// when there were too many. It reports whether the ban starts now.
func (l *limits) countInvalid(a answer, now time.Time) (banned bool) {
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden:
	case http.StatusTooManyRequests:
		if a.shared {
			return false
		}
	default:
		return false
	}
	if l.invalid.add(now) < l.opt.InvalidLimit || now.Before(l.bannedUntil) {
		return false
	}
	l.bannedUntil = now.Add(l.opt.InvalidWindow)
	l.invalid.at = nil
	return true
}
