package riottest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Names of Riot's methods: what is counted apart, and what Limits, Fault and Stats
// call it.
const (
	MethodAccountByRiotID = "account-by-riot-id"
	MethodAccountByPUUID  = "account-by-puuid"
	MethodRegion          = "region"
	MethodSummoner        = "summoner"
	MethodLeague          = "league"
	MethodMatchIDs        = "ids"
	MethodMatch           = "match"
	MethodStatus          = "status"
)

// Limits are spelt as in Riot's headers, "500:10,30000:600": so many calls in so
// many seconds, each of them at once. Empty is no limit, and no header.
type Limits struct {
	// App holds for all calls with one key on one host.
	App string `json:"app"`
	// Methods hold for one method with one key on one host. A name is a method's
	// ("league"), "account" for both of its methods, or either after a route and a
	// slash for that route alone ("kr/league"); the narrowest counts. A method that
	// is not named has 20000:10,1200000:600.
	Methods map[string]string `json:"methods,omitempty"`
}

const otherMethods = "20000:10,1200000:600"

// ProductionLimits are those that a production key was seen with.
func ProductionLimits() Limits {
	return Limits{
		App: "500:10,30000:600",
		Methods: map[string]string{
			"account":      "1000:60",
			MethodRegion:   "1000:60",
			MethodSummoner: "1600:60",
			MethodLeague:   "100:60",
			MethodMatchIDs: "2000:60",
			MethodMatch:    "2000:60",
			MethodStatus:   otherMethods,
		},
	}
}

// DevelopmentLimits are those of a development key, whose limit on all calls is
// far below that of any method.
func DevelopmentLimits() Limits {
	l := ProductionLimits()
	l.App = "20:1,100:120"
	return l
}

// Check reports what in l can't be read.
func (l Limits) Check() error {
	if _, err := parseRules(l.App); err != nil {
		return fmt.Errorf("application limit: %w", err)
	}
	for name, rules := range l.Methods {
		if _, err := parseRules(rules); err != nil {
			return fmt.Errorf("limit of %q: %w", name, err)
		}
	}
	return nil
}

// method is the limit of a method on a route.
func (l Limits) method(route, method string) string {
	group := method
	if method == MethodAccountByRiotID || method == MethodAccountByPUUID {
		group = "account"
	}
	for _, name := range []string{route + "/" + method, route + "/" + group, method, group} {
		if rules, ok := l.Methods[name]; ok {
			return rules
		}
	}
	return otherMethods
}

// rule is one limit: so many calls in a window.
type rule struct {
	limit  int
	window time.Duration
}

func parseRules(s string) ([]rule, error) {
	if s == "" {
		return nil, nil
	}
	var rules []rule
	for part := range strings.SplitSeq(s, ",") {
		limit, seconds, ok := strings.Cut(part, ":")
		n, err1 := strconv.Atoi(limit)
		w, err2 := strconv.Atoi(seconds)
		if !ok || err1 != nil || err2 != nil || n < 1 || w < 1 {
			return nil, fmt.Errorf("%q is not like 500:10,30000:600", s)
		}
		rules = append(rules, rule{limit: n, window: time.Duration(w) * time.Second})
	}
	return rules, nil
}

// window counts calls under one rule. It opens with the first call that it counts
// and lasts its length: https://developer.riotgames.com/docs/portal says that "the
// bucket starts when you make your first API call".
type window struct {
	rule
	opened time.Time
	count  int
	// highest is the largest count since the counters were reset, overshoot the
	// largest excess over the limit of that time.
	highest, overshoot int
}

// add counts a call. It returns 0 where there was room, else how long the window
// is still open.
func (w *window) add(now time.Time) time.Duration {
	if w.count == 0 || now.Sub(w.opened) >= w.window {
		w.opened, w.count = now, 0
	}
	w.count++
	w.highest, w.overshoot = max(w.highest, w.count), max(w.overshoot, w.count-w.limit)
	if w.count <= w.limit {
		return 0
	}
	return w.window - now.Sub(w.opened)
}

// bucket holds the windows of one limit: that of a key on a host, or of a method
// of these.
type bucket struct {
	spelt   string
	windows []window
}

// respell makes b a bucket of other limits. Windows that are of the same length
// stay open with what they counted.
func (b *bucket) respell(spelt string) {
	if b.spelt == spelt {
		return
	}
	rules, err := parseRules(spelt)
	if err != nil {
		panic("riottest: " + err.Error()) // Check came first
	}
	old := b.windows
	b.spelt, b.windows = spelt, make([]window, len(rules))
	for i, r := range rules {
		for _, w := range old {
			if w.window == r.window {
				b.windows[i] = w
			}
		}
		b.windows[i].rule = r
	}
}

// add counts a call in every window, also where one of them has no room: refused
// calls go on counting (RiotGames/developer-relations issue 697 saw 113 of 100).
// It returns 0 where all had room, else how long until all have.
func (b *bucket) add(now time.Time) time.Duration {
	var wait time.Duration
	for i := range b.windows {
		wait = max(wait, b.windows[i].add(now))
	}
	return wait
}

// counts spells what is counted so far, as in "1:10,26:600".
func (b *bucket) counts() string {
	out := make([]byte, 0, 24)
	for i := range b.windows {
		w := &b.windows[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, int64(w.count), 10)
		out = append(out, ':')
		out = strconv.AppendInt(out, int64(w.window/time.Second), 10)
	}
	return string(out)
}

// wholeSeconds spells d as Retry-After does, rounded up.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}
