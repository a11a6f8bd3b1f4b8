package riot_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/riot/riottest"
)

// newWorld is a Riot API that enforces its limits, and a client of it. Both are
// to be made in a bubble.
func newWorld(t *testing.T, o riottest.Options) (*riottest.Server, *riot.Client) {
	t.Helper()
	s := riottest.NewServer(o)
	c, err := riot.New(riot.Options{
		Keys: []string{testKey, testKey + "2"}, Transport: s.Transport(), Limiter: newLimiter(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// noViolation checks that nothing was asked that Riot would mind.
func noViolation(t *testing.T, s *riottest.Server) {
	t.Helper()
	st := s.Stats()
	if st.Refusals() != 0 || st.Overshoot != 0 || st.UnknownPaths != 0 || st.BadKeys != 0 {
		t.Errorf("%d refusals, %d over a limit, %d unknown paths, %d bad keys", st.Refusals(), st.Overshoot, st.UnknownPaths, st.BadKeys)
	}
}

func add(t *testing.T, s *riottest.Server, p riottest.Player) riottest.PlayerID {
	t.Helper()
	id, err := s.AddPlayer(p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestEveryPlatformEndToEnd(t *testing.T) {
	t.Parallel()
	for _, platform := range riot.Platforms() {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, c := newWorld(t, riottest.Options{FullBodies: true})
				name := riot.RiotID{GameName: "갓 a/b?c%d", TagLine: "T#1"}
				who := add(t, s, riottest.Player{
					GameName: name.GameName, TagLine: name.TagLine, Platform: string(platform), Level: 77,
					Solo: &riottest.Rank{Tier: "MASTER", Division: "I", LP: 12, Wins: 30, Losses: 20},
				})
				id, err := s.Play(420, riottest.Win, who)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) // until it is listed

				ctx := t.Context()
				caller := c.As(c.Fingerprints()[0], ratelimit.NextSlot)
				account, err := caller.AccountByRiotID(ctx, platform.AccountRegion(), riot.RiotID{GameName: strings.ToUpper(name.GameName), TagLine: "t#1"})
				if err != nil || account.RiotID != name {
					t.Fatalf("account: %+v, %v", account, err)
				}
				if got, err := caller.AccountByPUUID(ctx, platform.AccountRegion(), account.PUUID); err != nil || got != account {
					t.Errorf("account by PUUID: %+v, %v", got, err)
				}
				if got, err := caller.ActivePlatform(ctx, platform.AccountRegion(), account.PUUID); err != nil || got != platform {
					t.Errorf("platform: %q, %v", got, err)
				}
				if got, err := caller.Summoner(ctx, platform, account.PUUID); err != nil || got.Level != 77 || got.PUUID != account.PUUID || got.Revised.IsZero() {
					t.Errorf("summoner: %+v, %v", got, err)
				}
				if got, err := caller.LeagueEntries(ctx, platform, account.PUUID); err != nil || len(got) != 1 || got[0].Tier != "MASTER" || got[0].Division != "" || got[0].Wins != 31 {
					t.Errorf("league: %+v, %v", got, err)
				}
				ids, err := caller.MatchIDs(ctx, platform, account.PUUID, riot.MatchIDsQuery{Count: 100, Since: time.Now().Add(-5 * time.Hour)})
				if err != nil || len(ids) != 1 || string(ids[0]) != id {
					t.Fatalf("ids: %v, %v; want %s", ids, err, id)
				}
				m, err := caller.Match(ctx, ids[0])
				if err != nil {
					t.Fatal(err)
				}
				checkMatch(t, m)
				found := 0
				for _, p := range m.Participants {
					if p.PUUID == account.PUUID {
						found++
						if p.Outcome != riot.OutcomeWin || p.RiotID != name {
							t.Errorf("got %+v", p)
						}
					}
				}
				if found != 1 || m.Platform != platform || m.Queue != 420 {
					t.Errorf("found %d times in %+v", found, m)
				}
				s.SetNotices(string(platform), []string{"Patch"}, nil)
				if got, err := caller.Status(ctx, platform); err != nil || len(got.Maintenances) != 1 || got.Maintenances[0] != "Patch" {
					t.Errorf("status: %+v, %v", got, err)
				}

				// Under the other key the account has another PUUID.
				other := c.As(c.Fingerprints()[1], ratelimit.NextSlot)
				if _, err := other.Summoner(ctx, platform, account.PUUID); !riot.IsKind(err, riot.KindDecrypting) {
					t.Errorf("a PUUID of another key: %v", err)
				}
				if _, err := caller.AccountByRiotID(ctx, platform.AccountRegion(), riot.RiotID{GameName: "nobody", TagLine: "x"}); !riot.IsKind(err, riot.KindNotFound) {
					t.Errorf("nobody: %v", err)
				}
				noViolation(t, s)
			})
		})
	}
}

func TestForbiddenModesEndToEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := newWorld(t, riottest.Options{})
		who := add(t, s, riottest.Player{GameName: "a", TagLine: "KR1", Platform: "kr"})
		for _, queue := range []int{2300, 2400, 450} {
			id, err := s.Play(queue, riottest.Win, who)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.As(c.Fingerprints()[0], ratelimit.NextSlot).Match(t.Context(), riot.MatchID(id))
			if forbidden := queue != 450; riot.IsKind(err, riot.KindForbidden) != forbidden || !forbidden && err != nil {
				t.Errorf("queue %d: %v", queue, err)
			}
		}
		if h := c.Health(); h[0].Refused {
			t.Errorf("health is %+v", h)
		}
	})
}

// TestFaultsEndToEnd lets each fault happen once: the second try has the answer.
func TestFaultsEndToEnd(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]riottest.Fault{
		"500":               {Kind: riottest.FaultStatus, Status: 500},
		"503":               {Kind: riottest.FaultStatus, Status: 503},
		"application":       {Kind: riottest.FaultLimited, LimitType: "application", RetryAfter: "2"},
		"method":            {Kind: riottest.FaultLimited, LimitType: "method", RetryAfter: "2"},
		"service":           {Kind: riottest.FaultLimited, LimitType: "service"},
		"server":            {Kind: riottest.FaultLimited, LimitType: "server", RetryAfter: "5"},
		"no type":           {Kind: riottest.FaultLimited},
		"retry-after words": {Kind: riottest.FaultLimited, LimitType: "method", RetryAfter: "soon"},
		"retry-after 0":     {Kind: riottest.FaultLimited, LimitType: "method", RetryAfter: "0"},
		"hang":              {Kind: riottest.FaultHang},
		"reset":             {Kind: riottest.FaultReset},
		"cut":               {Kind: riottest.FaultCut},
		"stall":             {Kind: riottest.FaultStall},
		"html":              {Kind: riottest.FaultHTML},
		"html 502":          {Kind: riottest.FaultHTML, Status: 502},
		"error inside":      {Kind: riottest.FaultErrorBody},
		"empty":             {Kind: riottest.FaultEmpty},
		"no headers":        {Kind: riottest.FaultStatus, Status: 500, NoLimitHeaders: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, c := newWorld(t, riottest.Options{})
				who := add(t, s, riottest.Player{GameName: "a", TagLine: "KR1", Platform: "kr"})
				id, err := s.Play(420, riottest.Loss, who)
				if err != nil {
					t.Fatal(err)
				}
				fault.Count = 1
				s.AddFault(fault)
				start := time.Now()
				m, err := c.As(c.Fingerprints()[0], ratelimit.Background).Match(t.Context(), riot.MatchID(id))
				if err != nil || len(m.Participants) != 10 {
					t.Errorf("got %+v, %v", m, err)
				}
				if took := time.Since(start); took > 45*time.Second {
					t.Errorf("took %v", took)
				}
				st := s.Stats()
				if st.Requests != 2 || st.ByMethod[riottest.MethodMatch] != 2 {
					t.Errorf("%d requests, by method %v; want 2", st.Requests, st.ByMethod)
				}
				noViolation(t, s)
			})
		})
	}
}

// TestUnderLimits asks a development key's worth several times over, all at once,
// with faults: Riot refuses nothing, and nothing stays under way.
func TestUnderLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{
			Limits:  riottest.DevelopmentLimits(),
			Latency: func(riottest.Call) (before, after time.Duration) { return 30 * time.Millisecond, 50 * time.Millisecond },
		})
		limiter := newLimiter(t)
		c, err := riot.New(riot.Options{Keys: []string{testKey}, Transport: s.Transport(), Limiter: limiter})
		if err != nil {
			t.Fatal(err)
		}
		s.AddFault(riottest.Fault{Kind: riottest.FaultStatus, Status: 503, Chance: 0.05})
		s.AddFault(riottest.Fault{Kind: riottest.FaultHang, Chance: 0.02})
		s.AddFault(riottest.Fault{Kind: riottest.FaultCut, Chance: 0.05})
		var puuids []riot.PUUID
		for i := range 150 {
			who := add(t, s, riottest.Player{GameName: fmt.Sprintf("Player %d", i), TagLine: "KR1", Platform: "kr"})
			puuids = append(puuids, riot.PUUID(s.PUUID(testKey, who)))
		}
		caller := c.As(c.Fingerprints()[0], ratelimit.NextSlot)
		var wg sync.WaitGroup
		for _, id := range puuids {
			wg.Go(func() {
				_, errIDs := caller.MatchIDs(t.Context(), "kr", id, riot.MatchIDsQuery{})
				_, errLeague := caller.LeagueEntries(t.Context(), "kr", id)
				for _, err := range []error{errIDs, errLeague} {
					if err != nil && !riot.IsKind(err, riot.KindUnavailable) {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		wg.Wait()
		noViolation(t, s)
		if got := s.Stats().Requests; got < 300 {
			t.Errorf("%d requests, want 300 and those tried again", got)
		}
		for _, b := range limiter.Snapshot() {
			if b.InFlight != 0 || b.Waiting != 0 {
				t.Errorf("left behind: %+v", b)
			}
		}
	})
}

// TestRefusedKeySendsWaitersAway refuses a key while many wait for room.
func TestRefusedKeySendsWaitersAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := newWorld(t, riottest.Options{Limits: riottest.DevelopmentLimits()})
		s.AddFault(riottest.Fault{Kind: riottest.FaultStatus, Status: 403, Key: testKey, Until: time.Now().Add(90 * time.Second)})
		caller := c.As(c.Fingerprints()[0], ratelimit.NextSlot)
		id := riot.PUUID(s.PUUID(testKey, add(t, s, riottest.Player{GameName: "a", TagLine: "KR1", Platform: "kr"})))
		var wg sync.WaitGroup
		start := time.Now()
		for range 300 {
			wg.Go(func() {
				if _, err := caller.MatchIDs(t.Context(), "kr", id, riot.MatchIDsQuery{}); !riot.IsKind(err, riot.KindBadKey) {
					t.Errorf("got %v, want the key refused", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("the last was sent away after %v", took)
		}
		if got := s.Stats().Requests; got > 30 {
			t.Errorf("%d requests with a refused key", got)
		}
		time.Sleep(time.Minute)
		c.Probe(t.Context())
		if h := c.Health(); !h[0].Refused {
			t.Error("the key was found good too early")
		}
		time.Sleep(time.Minute)
		c.Probe(t.Context())
		if h := c.Health(); h[0].Refused {
			t.Error("the key was not found good again")
		}
		if _, err := caller.MatchIDs(t.Context(), "kr", id, riot.MatchIDsQuery{}); err != nil {
			t.Error(err)
		}
	})
}

// TestDeadlineEndsTheWait asks for more than the limit has room for before the
// deadline.
func TestDeadlineEndsTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := newWorld(t, riottest.Options{Limits: riottest.DevelopmentLimits()})
		caller := c.As(c.Fingerprints()[0], ratelimit.NextSlot)
		id := riot.PUUID(s.PUUID(testKey, add(t, s, riottest.Player{GameName: "a", TagLine: "KR1", Platform: "kr"})))
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		limited := 0
		for range 120 {
			_, err := caller.LeagueEntries(ctx, "kr", id)
			var e *riot.Error
			switch {
			case err == nil:
			case errors.As(err, &e) && e.Kind == riot.KindLimited && e.Status == 0 && e.RetryAt.After(time.Now()):
				limited++
			default:
				t.Fatalf("got %v", err)
			}
		}
		if limited < 20 || limited > 40 {
			t.Errorf("%d of 120 found no room under a limit of 100", limited)
		}
		noViolation(t, s)
	})
}

// granted keeps the priorities of the permits.
type granted struct {
	mu  sync.Mutex
	all []ratelimit.Priority
}

func (g *granted) Granted(_, _, _ string, p ratelimit.Priority, _ time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, p)
}
func (*granted) Refused(_, _, _ string, _ ratelimit.Refusal, _ time.Duration) {}
func (*granted) ModeChanged(_, _, _ string, _ ratelimit.Mode)                 {}

// TestPriorityOfRetries looks at the permits of three tries.
func TestPriorityOfRetries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, later ratelimit.Priority }{
		{ratelimit.Person, ratelimit.Person},
		{ratelimit.Retry, ratelimit.Retry},
		{ratelimit.NextSlot, ratelimit.Retry},
		{ratelimit.Background, ratelimit.Retry},
	} {
		synctest.Test(t, func(t *testing.T) {
			var g granted
			c, _ := newClient(t, always(500, ""), func(o *riot.Options) {
				o.Limiter = ratelimit.New(ratelimit.Options{Observer: &g})
			})
			if _, err := c.As(c.Fingerprints()[0], tt.first).Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindUnavailable) {
				t.Error(err)
			}
			if diff := cmp.Diff([]ratelimit.Priority{tt.first, tt.later, tt.later}, g.all); diff != "" {
				t.Errorf("%v: (-want +got)\n%s", tt.first, diff)
			}
		})
	}
}

// TestFullQueue asks while as many as allowed wait.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Latency: func(riottest.Call) (before, after time.Duration) { return 0, time.Second }})
		c, err := riot.New(riot.Options{
			Keys: []string{testKey}, Transport: s.Transport(), Limiter: ratelimit.New(ratelimit.Options{QueueSize: 1}),
		})
		if err != nil {
			t.Fatal(err)
		}
		caller := c.As(c.Fingerprints()[0], ratelimit.Background)
		var wg sync.WaitGroup
		for range 2 { // one under way, one waiting
			wg.Go(func() {
				if _, err := caller.Status(t.Context(), "kr"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		_, err = caller.Status(t.Context(), "kr")
		if !riot.IsKind(err, riot.KindLimited) {
			t.Errorf("got %v, want limited", err)
		}
		checkSecrets(t, err)
		wg.Wait()
	})
}

// TestGivenUpWhileWaiting ends the context, then the key, of a call that waits for
// room.
func TestGivenUpWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{Latency: func(riottest.Call) (before, after time.Duration) { return 0, 5 * time.Second }})
		limiter := newLimiter(t)
		c, err := riot.New(riot.Options{Keys: []string{testKey}, Transport: s.Transport(), Limiter: limiter})
		if err != nil {
			t.Fatal(err)
		}
		caller := c.As(c.Fingerprints()[0], ratelimit.Background)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := caller.Status(t.Context(), "kr"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := caller.Status(ctx, "kr"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the context's own error", err)
			}
		})
		wg.Go(func() {
			if _, err := caller.Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindBadKey) {
				t.Errorf("got %v, want the key refused", err)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		limiter.Suspend(string(c.Fingerprints()[0]), time.Time{})
		wg.Wait()
		if got := s.Stats().Requests; got != 1 {
			t.Errorf("%d requests, want the first alone", got)
		}
	})
}

// TestStatusIsAskedNearby refuses a key in each region: what confirms it and finds
// it back is asked on a platform there.
func TestStatusIsAskedNearby(t *testing.T) {
	t.Parallel()
	for platform, near := range map[riot.Platform]string{"la1": "na1", "tr1": "euw1", "oc1": "sg2", "jp1": "kr"} {
		synctest.Test(t, func(t *testing.T) {
			f := always(403, "")
			_, caller := newClient(t, f, nil)
			for range 5 {
				_, _ = caller.MatchIDs(t.Context(), platform, testPUUID, riot.MatchIDsQuery{})
			}
			sent := f.sent()
			if got, want := sent[len(sent)-1], "https://"+near+".api.riotgames.com/lol/status/v4/platform-data"; got != want {
				t.Errorf("%s: asked %s, want %s", platform, got, want)
			}
		})
	}
}

// TestPanicGivesThePermitBack lets a transport panic.
func TestPanicGivesThePermitBack(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t)
	c, caller := newClient(t, &fake{answer: func(int, *http.Request) (*http.Response, error) { panic("transport") }}, func(o *riot.Options) {
		o.Limiter = limiter
	})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = caller.Status(t.Context(), "kr")
	}()
	for _, b := range limiter.Snapshot() {
		if b.InFlight != 0 {
			t.Errorf("key %v: left under way: %+v", c.Fingerprints(), b)
		}
	}
}
