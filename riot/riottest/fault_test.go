package riottest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/riot/riottest"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fault  riottest.Fault
		status int
		body   string            // a part of it; "-" is none
		header map[string]string // "" is absent
	}{
		{"500", riottest.Fault{Kind: riottest.FaultStatus}, 500, `"status_code":500`, map[string]string{"X-App-Rate-Limit-Count": "1:10,1:600"}},
		{"503", riottest.Fault{Kind: riottest.FaultStatus, Status: 503, NoLimitHeaders: true}, 503, "", map[string]string{"X-App-Rate-Limit": "", "X-Method-Rate-Limit": ""}},
		{"401", riottest.Fault{Kind: riottest.FaultStatus, Status: 401}, 401, "Unauthorized", nil},
		{"403", riottest.Fault{Kind: riottest.FaultStatus, Status: 403, Body: `{"a":1}`}, 403, `{"a":1}`, nil},
		{"429 application", riottest.Fault{Kind: riottest.FaultLimited, LimitType: "application", RetryAfter: "7"}, 429, "Rate limit exceeded", map[string]string{"X-Rate-Limit-Type": "application", "Retry-After": "7", "X-App-Rate-Limit-Count": "1:10,1:600"}},
		{"429 bare", riottest.Fault{Kind: riottest.FaultLimited}, 429, "", map[string]string{"X-Rate-Limit-Type": "", "Retry-After": ""}},
		{"429 server", riottest.Fault{Kind: riottest.FaultLimited, LimitType: "server", RetryAfter: "12"}, 429, "server rate limit exceeded", map[string]string{"X-Rate-Limit-Type": "server", "X-App-Rate-Limit": "", "X-Method-Rate-Limit-Count": ""}},
		{"429 absurd", riottest.Fault{Kind: riottest.FaultLimited, LimitType: "service", RetryAfter: "soon"}, 429, "", map[string]string{"Retry-After": "soon"}},
		{"html", riottest.Fault{Kind: riottest.FaultHTML, Status: 502}, 502, "<html>", map[string]string{"Content-Type": "text/html"}},
		{"html 200", riottest.Fault{Kind: riottest.FaultHTML}, 200, "<html>", nil},
		{"error body", riottest.Fault{Kind: riottest.FaultErrorBody}, 200, `"status_code":500`, nil},
		{"empty", riottest.Fault{Kind: riottest.FaultEmpty}, 200, "-", nil},
		{"no headers", riottest.Fault{NoLimitHeaders: true}, 200, `"id":"KR"`, map[string]string{"X-App-Rate-Limit": "", "X-Method-Rate-Limit": ""}},
		{"own headers", riottest.Fault{Header: map[string]string{"X-App-Rate-Limit": "a:b", "X-Method-Rate-Limit": ""}}, 200, `"id":"KR"`, map[string]string{"X-App-Rate-Limit": "a:b", "X-Method-Rate-Limit": ""}},
		{"not counted", riottest.Fault{Kind: riottest.FaultStatus, Status: 504, NotCounted: true}, 504, "", map[string]string{"X-App-Rate-Limit-Count": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := riottest.NewServer(riottest.Options{})
			c.fault.Count = 1
			s.AddFault(c.fault)
			a := caller{s, key}.get(t, "kr", statusPath)
			if a.status != c.status || !strings.Contains(string(a.body), strings.Trim(c.body, "-")) || c.body == "-" && len(a.body) > 0 {
				t.Errorf("%d %s, want %d %s", a.status, a.body, c.status, c.body)
			}
			for name, want := range c.header {
				if got := a.header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			next := caller{s, key}.get(t, "kr", statusPath)
			want := "2:10,2:600"
			if c.fault.NotCounted {
				want = "1:10,1:600"
			}
			if got := next.header.Get("X-App-Rate-Limit-Count"); next.status != 200 || got != want {
				t.Errorf("afterwards: %d, count %s; want 200, %s", next.status, got, want)
			}
			st := s.Stats()
			if st.Refusals() != 0 || len(st.Injected) != 1 {
				t.Errorf("stats: %+v", st)
			}
		})
	}
}

func TestFaultsOfTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{})
		c := caller{s, key}
		within := func(kind riottest.FaultKind) (answer, time.Duration, error) {
			s.ClearFaults()
			s.AddFault(riottest.Fault{Kind: kind})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			begin := time.Now()
			a, err := c.try(ctx, "kr", statusPath)
			synctest.Wait()
			return a, time.Since(begin), err
		}
		if _, took, err := within(riottest.FaultHang); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second {
			t.Errorf("hang: %v after %s", err, took)
		}
		if _, took, err := within(riottest.FaultReset); !errors.Is(err, io.ErrUnexpectedEOF) || took != 0 {
			t.Errorf("reset: %v after %s", err, took)
		}
		if a, took, err := within(riottest.FaultCut); !errors.Is(err, io.ErrUnexpectedEOF) || took != 0 || a.status != 200 || len(a.body) == 0 {
			t.Errorf("cut: %v after %s: %d %s", err, took, a.status, a.body)
		}
		if a, took, err := within(riottest.FaultStall); !errors.Is(err, context.DeadlineExceeded) || took != 10*time.Second || a.status != 200 || len(a.body) == 0 {
			t.Errorf("stall: %v after %s: %d %s", err, took, a.status, a.body)
		}
		st := s.Stats()
		if st.Now != 0 || st.ByStatus[0] != 2 || st.ByStatus[200] != 2 || st.Injected[riottest.FaultHang] != 1 {
			t.Errorf("stats: %+v", st)
		}
		s.ClearFaults()
		s.AddFault(riottest.Fault{Delay: riottest.Duration(3 * time.Second)})
		begin := time.Now()
		if a := c.get(t, "kr", statusPath); a.status != 200 || time.Since(begin) != 3*time.Second {
			t.Errorf("latency: %d after %s", a.status, time.Since(begin))
		}
	})
}

func TestFaultsMatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Seed: 9})
		c, two := caller{s, key}, caller{s, "RGAPI-two"}
		p, q := addPlayer(t, s, "One#KR1", "kr"), addPlayer(t, s, "Two#KR1", "kr")
		game := addGame(t, s, riottest.Game{Queue: 420, Seats: []riottest.Seat{{Player: p}}})
		ids := func(p riottest.PlayerID) string { return "/lol/match/v5/matches/by-puuid/" + s.PUUID(key, p) + "/ids" }
		broken := func(a answer) bool { return a.status == 503 }
		fault := func(f riottest.Fault) riottest.FaultID {
			f.Kind, f.Status = riottest.FaultStatus, 503
			s.ClearFaults()
			return s.AddFault(f)
		}

		fault(riottest.Fault{Player: p})
		if !broken(c.get(t, "asia", ids(p))) || !broken(c.get(t, "asia", byRiotID("one", "kr1"))) || broken(c.get(t, "asia", ids(q))) || broken(c.get(t, "kr", statusPath)) {
			t.Error("a fault of one player")
		}
		fault(riottest.Fault{Route: "asia"})
		if !broken(c.get(t, "asia", ids(q))) || broken(c.get(t, "kr", statusPath)) {
			t.Error("a fault of one route")
		}
		fault(riottest.Fault{Method: riottest.MethodMatchIDs})
		if !broken(c.get(t, "asia", ids(q))) || broken(c.get(t, "asia", byRiotID("one", "kr1"))) {
			t.Error("a fault of one method")
		}
		fault(riottest.Fault{Match: game})
		if !broken(c.get(t, "asia", "/lol/match/v5/matches/"+game)) || broken(c.get(t, "asia", "/lol/match/v5/matches/KR_1")) {
			t.Error("a fault of one match")
		}
		id := fault(riottest.Fault{Key: key})
		if !broken(c.get(t, "kr", statusPath)) || broken(two.get(t, "kr", statusPath)) {
			t.Error("a fault of one key")
		}
		if !s.RemoveFault(id) || s.RemoveFault(id) || broken(c.get(t, "kr", statusPath)) {
			t.Error("a fault that was removed")
		}
		now := time.Now()
		fault(riottest.Fault{From: now.Add(time.Minute), Until: now.Add(2 * time.Minute)})
		for i, want := range []bool{false, true, false} {
			if got := broken(c.get(t, "kr", statusPath)); got != want {
				t.Errorf("minute %d: broken: %t", i, got)
			}
			time.Sleep(time.Minute)
		}
		fault(riottest.Fault{Count: 2})
		for i, want := range []bool{true, true, false} {
			if got := broken(c.get(t, "kr", statusPath)); got != want {
				t.Errorf("call %d of a fault for two: broken: %t", i, got)
			}
		}
		fault(riottest.Fault{Chance: 0.25})
		n := 0
		for range 400 {
			if broken(c.get(t, "kr", statusPath)) {
				n++
			}
		}
		if n < 60 || n > 140 {
			t.Errorf("%d of 400 broken, want about 100", n)
		}
		// A call that has no room meets no fault.
		s.SetLimits("", riottest.Limits{App: "1:1"})
		time.Sleep(time.Hour)
		fault(riottest.Fault{Count: 1, From: time.Now().Add(time.Millisecond)})
		c.get(t, "kr", statusPath)
		time.Sleep(time.Millisecond)
		if a := c.get(t, "kr", statusPath); a.status != 429 {
			t.Errorf("beyond the limit: %d", a.status)
		}
		time.Sleep(time.Second)
		if !broken(c.get(t, "kr", statusPath)) {
			t.Error("a refused call used the fault up")
		}
	})
	for _, bad := range []riottest.Fault{{Kind: "odd"}, {Status: 99}, {Chance: 2}, {Count: -1}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}
