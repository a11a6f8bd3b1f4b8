package riottest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/riot/riottest"
)

const statusPath = "/lol/status/v4/platform-data"

func TestWindowOpensWithItsFirstCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Limits: riottest.Limits{
			App:     "3:10,100:600",
			Methods: map[string]string{"status": "50:60"},
		}})
		c := caller{s, key}
		begin := time.Now()
		for _, step := range []struct {
			at         time.Duration
			status     int
			app, retry string
		}{
			{0, 200, "1:10,1:600", ""},
			{3 * time.Second, 200, "2:10,2:600", ""},
			{9999 * time.Millisecond, 200, "3:10,3:600", ""},
			// The window is full until 10 s, so a wait of 1 ms is a second in the header.
			{9999 * time.Millisecond, 429, "4:10,4:600", "1"},
			// It was opened at 0, not at the call before: here the next one opens, and
			// the refused call is counted in the long one.
			{10 * time.Second, 200, "1:10,5:600", ""},
			{19500 * time.Millisecond, 200, "2:10,6:600", ""},
			{19500 * time.Millisecond, 200, "3:10,7:600", ""},
			{19500 * time.Millisecond, 429, "4:10,8:600", "1"},
			{19500 * time.Millisecond, 429, "5:10,9:600", "1"},
			// Nothing opens a window but a call: 25 s later, not at 20 s.
			{45 * time.Second, 200, "1:10,10:600", ""},
			{46 * time.Second, 200, "2:10,11:600", ""},
			{47 * time.Second, 200, "3:10,12:600", ""},
			{47600 * time.Millisecond, 429, "4:10,13:600", "8"},
			{55 * time.Second, 200, "1:10,14:600", ""},
			{600 * time.Second, 200, "1:10,1:600", ""},
		} {
			time.Sleep(time.Until(begin.Add(step.at)))
			a := c.get(t, "kr", statusPath)
			h := a.header
			if a.status != step.status || h.Get("X-App-Rate-Limit-Count") != step.app || h.Get("Retry-After") != step.retry {
				t.Errorf("at %s: %d, count %s, Retry-After %q; want %d, %s, %q", step.at,
					a.status, h.Get("X-App-Rate-Limit-Count"), h.Get("Retry-After"), step.status, step.app, step.retry)
			}
			if got := h.Get("X-App-Rate-Limit"); got != "3:10,100:600" {
				t.Errorf("X-App-Rate-Limit: %q", got)
			}
			if got := h.Get("X-Method-Rate-Limit"); got != "50:60" {
				t.Errorf("X-Method-Rate-Limit: %q", got)
			}
			wantType := ""
			if step.status == 429 {
				wantType = "application"
			}
			if got := h.Get("X-Rate-Limit-Type"); got != wantType {
				t.Errorf("at %s: X-Rate-Limit-Type %q, want %q", step.at, got, wantType)
			}
		}
		st := s.Stats()
		if st.Refused["application"] != 4 || st.Refusals() != 4 || st.Overshoot != 2 || st.ByStatus[429] != 4 || st.Requests != 15 {
			t.Errorf("stats: %+v", st)
		}
	})
}

func TestMethodLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Limits: riottest.Limits{
			App: "100:1",
			Methods: map[string]string{
				"league": "2:60", "euw1/league": "1:60",
				"account": "1:60", "account-by-puuid": "3:30",
			},
		}})
		c, other := caller{s, key}, caller{s, "RGAPI-two"}
		p := addPlayer(t, s, "One#KR1", "kr")
		league := "/lol/league/v4/entries/by-puuid/" + s.PUUID(key, p)
		check := func(a answer, status int, limit, count, kind string) {
			t.Helper()
			h := a.header
			if a.status != status || h.Get("X-Method-Rate-Limit") != limit || h.Get("X-Method-Rate-Limit-Count") != count ||
				h.Get("X-Rate-Limit-Type") != kind {
				t.Errorf("%d %v; want %d %s %s %s", a.status, h, status, limit, count, kind)
			}
		}
		check(c.get(t, "kr", league), 200, "2:60", "1:60", "")
		check(c.get(t, "kr", league), 200, "2:60", "2:60", "")
		time.Sleep(17500 * time.Millisecond)
		refused := c.get(t, "kr", league)
		check(refused, 429, "2:60", "3:60", "method")
		if got := refused.header.Get("Retry-After"); got != "43" {
			t.Errorf("Retry-After %q, want 42.5 s rounded up", got)
		}
		if got, want := string(refused.body), `{"status":{"message":"Rate limit exceeded","status_code":429}}`; got != want {
			t.Errorf("body %s, want %s", got, want)
		}
		// Another method, host or key has windows of its own; a route may have its own
		// limit.
		check(c.get(t, "kr", "/lol/summoner/v4/summoners/by-puuid/"+s.PUUID(key, p)), 200, "20000:10,1200000:600", "1:10,1:600", "")
		check(c.get(t, "euw1", league), 404, "1:60", "1:60", "")
		check(other.get(t, "kr", "/lol/league/v4/entries/by-puuid/"+s.PUUID("RGAPI-two", p)), 200, "2:60", "1:60", "")
		// Both methods of accounts are counted apart, and a 404 counts.
		check(c.get(t, "asia", byRiotID("Nobody", "KR1")), 404, "1:60", "1:60", "")
		check(c.get(t, "asia", byRiotID("One", "KR1")), 429, "1:60", "2:60", "method")
		check(c.get(t, "asia", "/riot/account/v1/accounts/by-puuid/"+s.PUUID(key, p)), 200, "3:30", "1:30", "")
		check(c.get(t, "americas", byRiotID("One", "KR1")), 200, "1:60", "1:60", "")
	})
}

func TestLimitsMayChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Limits: riottest.Limits{App: "5:10"}})
		c, other := caller{s, key}, caller{s, "RGAPI-two"}
		for range 4 {
			c.get(t, "kr", statusPath)
		}
		s.SetLimits("", riottest.Limits{App: "2:10,50:60"})
		s.SetLimits("RGAPI-two", riottest.DevelopmentLimits())
		a := c.get(t, "kr", statusPath)
		if a.status != 429 || a.header.Get("X-App-Rate-Limit-Count") != "5:10,1:60" {
			t.Errorf("%d %v, want the open window to keep its count", a.status, a.header)
		}
		if got := other.get(t, "kr", statusPath).header.Get("X-App-Rate-Limit"); got != "20:1,100:120" {
			t.Errorf("the other key's limit is %q", got)
		}
		if got := s.Stats().Overshoot; got != 3 {
			t.Errorf("overshoot %d, want 5 of 2", got)
		}
		s.Reset()
		if st := s.Stats(); st.Requests != 0 || st.Overshoot != 3 || len(st.Windows) == 0 {
			t.Errorf("after Reset, windows still open: %+v", st)
		}
		time.Sleep(11 * time.Minute)
		s.Reset()
		if st := s.Stats(); st.Overshoot != 0 || len(st.Windows) != 0 {
			t.Errorf("after Reset, windows closed: %+v", st)
		}
	})
}

// The counting is done again by hand, from what Observe tells of the instants.
func TestWindowsAgainstArithmetic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var calls []riottest.Call
				rng, pauses := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
				const limit, window = 7, 2 * time.Second
				s := riottest.NewServer(riottest.Options{
					Limits: riottest.Limits{App: "7:2"},
					Latency: func(riottest.Call) (before, after time.Duration) {
						mu.Lock()
						defer mu.Unlock()
						return time.Duration(rng.IntN(1e9)), time.Duration(rng.IntN(1e9))
					},
					Observe: func(c riottest.Call) {
						mu.Lock()
						defer mu.Unlock()
						calls = append(calls, c)
					},
				})
				var wg sync.WaitGroup
				for range 300 {
					time.Sleep(time.Duration(pauses.IntN(4e8)))
					wg.Go(func() {
						if _, err := (caller{s, key}).try(t.Context(), "kr", statusPath); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if len(calls) != 300 {
					t.Fatalf("%d calls observed, want 300", len(calls))
				}
				slices.SortStableFunc(calls, func(a, b riottest.Call) int { return a.Counted.Compare(b.Counted) })
				refused, highest := 0, 0
				var opened time.Time
				inside := 0
				for _, c := range calls {
					if inside == 0 || c.Counted.Sub(opened) >= window {
						opened, inside = c.Counted, 0
					}
					inside++
					highest = max(highest, inside)
					if (inside > limit) != (c.Status == 429) {
						t.Fatalf("call %d of a window of %d answered %d", inside, limit, c.Status)
					}
					if inside > limit {
						refused++
					}
				}
				st := s.Stats()
				if st.Refused["application"] != refused || st.Overshoot != max(0, highest-limit) || st.Windows[0].Highest != highest {
					t.Errorf("stats %+v, want %d refused and %d at most", st, refused, highest)
				}
				if refused == 0 || st.Most < 2 || st.Now != 0 {
					t.Errorf("%d refused, %d at once, %d now: the test tests nothing", refused, st.Most, st.Now)
				}
			})
		})
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{Keys: []string{key}})
	for _, c := range []struct {
		key    string
		status int
		body   string
	}{
		{key, 200, ""},
		{"", 401, `{"status":{"message":"Unauthorized","status_code":401}}`},
		{"RGAPI-other", 403, `{"status":{"message":"Forbidden","status_code":403}}`},
	} {
		a := caller{s, c.key}.get(t, "kr", statusPath)
		if a.status != c.status || c.body != "" && string(a.body) != c.body {
			t.Errorf("key %q: %d %s, want %d %s", c.key, a.status, a.body, c.status, c.body)
		}
		if counted := a.header.Get("X-App-Rate-Limit-Count") != ""; counted != (c.status == 200) {
			t.Errorf("key %q: counted: %t", c.key, counted)
		}
	}
	if got := s.Stats().BadKeys; got != 2 {
		t.Errorf("%d bad keys, want 2", got)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"1", "x:1", "1:x", "0:1", "1:0", "1:1,", "-1:1", "1.5:1", " 1:1"} {
		if (riottest.Limits{App: bad}).Check() == nil {
			t.Errorf("App %q is taken", bad)
		}
		if err := (riottest.Limits{Methods: map[string]string{"league": bad}}).Check(); err == nil || !strings.Contains(err.Error(), "league") {
			t.Errorf("league %q: %v", bad, err)
		}
	}
	for _, l := range []riottest.Limits{{}, riottest.ProductionLimits(), riottest.DevelopmentLimits()} {
		if err := l.Check(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestNoLimitNoHeader(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{Limits: riottest.Limits{Methods: map[string]string{"status": ""}}})
	for name := range (caller{s, key}).get(t, "kr", statusPath).header {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), "X-") {
			t.Errorf("header %s without a limit", name)
		}
	}
}
