package ratelimit_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/ratelimit"
)

// exhaust uses up what background work may have of kr's league (95 of 100).
func exhaust(c *client) {
	c.t.Helper()
	for c.state("kr", "league").Windows[0].Used < 95 {
		c.send("kr", "league", ratelimit.Background, trip{})
	}
}

// TestQueueFull turns the next one away at once, but none who need not wait.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{QueueSize: 10})
		exhaust(c)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if r := c.send("kr", "league", ratelimit.Background, trip{}); r.err != nil {
					t.Error(r.err)
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if r := c.send("kr", "league", ratelimit.Background, trip{}); !errors.Is(r.err, ratelimit.ErrQueueFull) {
			t.Errorf("the eleventh got %v, want a full queue", r.err)
		}
		if r := c.send("kr", "match", ratelimit.Background, trip{}); r.err != nil {
			t.Errorf("another method, which has room, got %v", r.err)
		}
		if r := c.send("asia", "league", ratelimit.Background, trip{}); r.err != nil {
			t.Errorf("another host got %v", r.err)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("told after %v, want at once", waited)
		}
		wg.Wait()
		c.s.wantNoRefusal(t)
	})
}

// TestTooLate tells at once when a deadline can't be met, with the time at which
// it could be, and never turns away one that can be.
func TestTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{})
		exhaust(c)
		time.Sleep(30 * time.Second)
		start := time.Now()
		free := c.state("kr", "league").NextFree
		if left := free.Sub(start); left <= 25*time.Second || left > 31*time.Second {
			t.Fatalf("next free in %v, want about 30s", left)
		}
		ask := func(r ratelimit.Request) *ratelimit.TooLateError {
			t.Helper()
			r.Key, r.Host, r.Method = key, "kr", "league"
			res := c.request(r, trip{})
			var late *ratelimit.TooLateError
			if res.err != nil && !errors.As(res.err, &late) {
				t.Errorf("got %v, want too late or a permit", res.err)
			}
			return late
		}
		bg := ratelimit.Background
		if late := ask(ratelimit.Request{Priority: bg, Deadline: start.Add(20 * time.Second)}); late == nil || !late.At.Equal(free) {
			t.Errorf("got %v, want too late with %v", late, free)
		}
		if late := ask(ratelimit.Request{Priority: bg, Deadline: start.Add(-time.Second)}); late == nil {
			t.Error("a deadline that has passed was met")
		}
		if late := ask(ratelimit.Request{Priority: ratelimit.Person, Deadline: start.Add(time.Second)}); late != nil {
			t.Errorf("a person within the share got %v", late)
		}
		// The context's deadline counts as well, the earlier one of the two.
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		c.ctx = ctx
		if late := ask(ratelimit.Request{Priority: bg, Deadline: start.Add(time.Hour)}); late == nil {
			t.Error("the context's deadline can't be met, and it was not told")
		}
		c.ctx = t.Context()
		if waited := time.Since(start); waited != 0 {
			t.Errorf("told after %v, want at once", waited)
		}
		if late := ask(ratelimit.Request{Priority: bg, Deadline: free.Add(time.Second)}); late != nil {
			t.Errorf("a deadline after the next free slot got %v", late)
		}
		// Behind 300 others it is three windows more.
		exhaust(c)
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() { c.send("kr", "league", ratelimit.NextSlot, trip{}) })
		}
		synctest.Wait()
		now := time.Now()
		if late := ask(ratelimit.Request{Priority: bg, Deadline: now.Add(2 * time.Minute)}); late == nil {
			t.Error("the end of a long queue was not told that two minutes are too few")
		}
		if late := ask(ratelimit.Request{Priority: ratelimit.Retry, Deadline: now.Add(2 * time.Minute)}); late != nil {
			t.Errorf("the head of the queue got %v", late)
		}
		wg.Wait()
		c.s.wantNoRefusal(t)
	})
}

// TestDeadlinePasses ends a wait at the deadline when others were let in front.
func TestDeadlinePasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{InFlight: 1})
		holder := c.ask("kr", "match")
		start := time.Now()
		r := c.request(ratelimit.Request{Key: key, Host: "kr", Method: "match", Deadline: start.Add(time.Minute)}, trip{})
		if !errors.Is(r.err, ratelimit.ErrTooLate) {
			t.Errorf("got %v, want too late", r.err)
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("told after %v, want at the deadline", waited)
		}
		holder.Done(ratelimit.Answer{Lost: true})
		if got := c.state("kr", "match").Waiting; got != 0 {
			t.Errorf("%d wait, want none", got)
		}
	})
}

// TestCancel frees the place of one who gives up, and what it was granted at
// the same moment.
func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{InFlight: 1})
		holder := c.ask("kr", "match")
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.l.Acquire(ctx, ratelimit.Request{Key: key, Host: "kr", Method: "match"})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want canceled", err)
			}
		})
		synctest.Wait()
		if got := c.state("kr", "match").Waiting; got != 1 {
			t.Errorf("%d wait, want 1", got)
		}
		cancel(errors.New("changed my mind"))
		wg.Wait()
		if got := c.state("kr", "match"); got.Waiting != 0 || got.InFlight != 1 {
			t.Errorf("%d wait and %d are under way, want the holder only", got.Waiting, got.InFlight)
		}
		if _, err := c.l.Acquire(ctx, ratelimit.Request{Key: key, Host: "kr", Method: "league"}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that is over: %v, want canceled", err)
		}
		holder.Done(ratelimit.Answer{Lost: true})
		holder.Done(ratelimit.Answer{Lost: true}) // is ignored
		if got := c.state("kr", "match"); got.InFlight != 0 || got.Windows[0].Used != 2 {
			t.Errorf("%d under way and %v, want none and 2 used", got.InFlight, got.Windows)
		}
		c.ask("kr", "match").Done(ratelimit.Answer{Lost: true})
	})
}

// TestCancelAtTheGrant races both, in real time: a permit is handed out or taken
// back, never lost.
func TestCancelAtTheGrant(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Options{InFlight: 1})
	r := ratelimit.Request{Key: key, Host: "kr", Method: "match"}
	acquire(t, l, r).Done(roomy)
	for range 3000 {
		holder := acquire(t, l, r)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if p, err := l.Acquire(ctx, r); err == nil {
				p.Done(roomy)
			} else if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		for waiting(l, "match") == 0 {
			runtime.Gosched()
		}
		cancel()
		holder.Done(roomy)
		wg.Wait()
	}
	for _, b := range l.Snapshot() {
		if b.InFlight != 0 || b.Waiting != 0 {
			t.Errorf("%q: %d under way and %d waiting in the end, want none", b.Method, b.InFlight, b.Waiting)
		}
	}
}

// TestInFlight has no more under way to a host than the cap, of all its keys,
// and takes no slot for one that has no place.
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const places = 8
		c := newClient(t, nil, ratelimit.Options{InFlight: places})
		keys := []string{"one", "two"}
		servers := map[string]*server{}
		for _, k := range keys {
			c.s = newServer().limit("kr", per(500, 10*time.Second)).limit("kr/match", per(2000, time.Minute))
			servers[k] = c.s
			c.request(ratelimit.Request{Key: k, Host: "kr", Method: "match"}, trip{})
		}
		var mu sync.Mutex
		underway, most := 0, 0
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				p := acquire(t, c.l, ratelimit.Request{Key: keys[i%2], Host: "kr", Method: "match", Priority: ratelimit.Background})
				mu.Lock()
				underway++
				most = max(most, underway)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				underway--
				mu.Unlock()
				p.Done(servers[keys[i%2]].count("kr", "match"))
			})
		}
		synctest.Wait()
		used := 0
		for _, b := range c.l.Snapshot() {
			if b.Method == "match" {
				used += b.Windows[0].Used
			}
		}
		if used != places+2 {
			t.Errorf("%d slots are in use, want those of the %d under way and the 2 before", used, places)
		}
		start := time.Now()
		wg.Wait()
		if most != places {
			t.Errorf("%d were under way at most, want %d", most, places)
		}
		if took := time.Since(start); took > 13*time.Second+100*time.Millisecond {
			t.Errorf("100 took %v, want 13 rounds of a second", took)
		}
	})
}

// TestMethodsShare has two methods under one application limit get their turn,
// and a full one not delay another.
func TestMethodsShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServer().limit("kr", per(100, 10*time.Second)).limit("kr/match", per(2000, time.Minute)).limit("kr/summoner", per(2000, time.Minute))
		c := newClient(t, s, ratelimit.Options{})
		learn(t, c.l, s, "kr", "match")
		learn(t, c.l, s, "kr", "summoner")
		start := time.Now()
		var mu sync.Mutex
		first := map[string]int{}
		var wg sync.WaitGroup
		for _, ask := range []struct {
			method string
			n      int
		}{{"match", 600}, {"summoner", 200}} {
			for range ask.n {
				wg.Go(func() {
					r := c.send("kr", ask.method, ratelimit.Background, evenly(10*time.Millisecond))
					mu.Lock()
					defer mu.Unlock()
					if r.granted.Sub(start) > 5*time.Second && r.granted.Sub(start) < 35*time.Second {
						first[ask.method]++
					}
				})
			}
			synctest.Wait() // all of match come first
		}
		wg.Wait()
		s.wantNoRefusal(t)
		if m, n := first["match"], first["summoner"]; m < 120 || n < 120 || m+n < 280 {
			t.Errorf("in three windows match got %d and summoner %d, want about the half of 285 each", m, n)
		}
	})
}

// TestSlowMethodDelaysNoOther has league full and match go on.
func TestSlowMethodDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{})
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() { c.send("kr", "league", ratelimit.Person, evenly(10*time.Millisecond)) })
		}
		time.Sleep(5 * time.Second)
		for range 200 {
			if r := c.send("kr", "match", ratelimit.Background, evenly(10*time.Millisecond)); r.wait > time.Millisecond {
				t.Fatalf("match waited %v behind league", r.wait)
			}
			time.Sleep(time.Second)
		}
		wg.Wait()
		c.s.wantNoRefusal(t)
	})
}

// TestSuspend has a key step back alone: who waits for it is told at once.
func TestSuspend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{})
		exhaust(c)
		start := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if r := c.send("kr", "league", ratelimit.Background, trip{}); !errors.Is(r.err, ratelimit.ErrKeySuspended) {
					t.Errorf("who waited got %v, want a suspended key", r.err)
				}
			})
		}
		synctest.Wait()
		c.l.Suspend(key, start.Add(time.Minute))
		wg.Wait()
		if waited := time.Since(start); waited != 0 {
			t.Errorf("told after %v, want at once", waited)
		}
		ask := func(k, host string) error {
			r := c.request(ratelimit.Request{Key: k, Host: host, Method: "match", Priority: ratelimit.Retry}, trip{})
			return r.err
		}
		for _, host := range []string{"kr", "asia", "europe"} {
			if err := ask(key, host); !errors.Is(err, ratelimit.ErrKeySuspended) {
				t.Errorf("%s: %v, want a suspended key", host, err)
			}
		}
		if err := ask("another", "kr"); err != nil {
			t.Errorf("another key: %v", err)
		}
		if got := c.state("kr", "match").SuspendedUntil; !got.Equal(start.Add(time.Minute)) {
			t.Errorf("suspended until %v in the snapshot, want in a minute", got)
		}
		time.Sleep(time.Minute)
		if err := ask(key, "kr"); err != nil {
			t.Errorf("after the time: %v", err)
		}
		c.l.Suspend(key, time.Time{})
		time.Sleep(time.Hour)
		if err := ask(key, "kr"); !errors.Is(err, ratelimit.ErrKeySuspended) {
			t.Errorf("without a time: %v, want a suspended key", err)
		}
		c.l.Resume(key)
		if err := ask(key, "kr"); err != nil {
			t.Errorf("after Resume: %v", err)
		}
	})
}

// TestKeysCountApart gives each key limits of its own.
func TestKeysCountApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := newServer().limit("kr", per(20, time.Minute)), newServer().limit("kr", per(50, time.Minute))
		c := newClient(t, one, ratelimit.Options{})
		start := time.Now()
		for k, s := range map[string]*server{"one": one, "two": two} {
			for range s.limits["kr"][0].limit - 3 {
				c.s = s
				if r := c.request(ratelimit.Request{Key: k, Host: "kr", Method: "match", Priority: ratelimit.Background}, trip{}); r.err != nil {
					t.Fatal(r.err)
				}
			}
		}
		if took := time.Since(start); took > time.Minute/50*2 {
			t.Errorf("took %v, want no window to be waited for", took)
		}
		for _, b := range c.l.Snapshot() {
			if b.Method == "" && b.Windows[0].Used != b.Windows[0].Count-3 {
				t.Errorf("key %s: %+v", b.Key, b)
			}
		}
	})
}

// TestIdle leaves nothing behind when nobody waits: no goroutine, no timer. And
// one timer is set for a host, however many wait.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := warm(t, ratelimit.Options{})
		timers := func(want int) {
			t.Helper()
			synctest.Wait()
			if got := c.l.Timers(); got != want {
				t.Errorf("%d timers are set, want %d", got, want)
			}
		}
		timers(0)
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() {
				c.request(ratelimit.Request{
					Key: key, Host: "kr", Method: "league", Priority: ratelimit.Background, Deadline: time.Now().Add(time.Hour),
				}, evenly(time.Millisecond))
			})
		}
		time.Sleep(30 * time.Second)
		timers(1)
		wg.Wait()
		timers(0)
		if got := c.state("kr", "league").Windows[0].Used; got == 0 {
			t.Error("no slot is in use, want the timer gone before they are free")
		}
		// What gives up leaves no timer either.
		ctx, cancel := context.WithCancel(t.Context())
		c.ctx = ctx
		exhaust(c)
		wg.Go(func() { c.send("kr", "league", ratelimit.Background, trip{}) })
		timers(1)
		cancel()
		wg.Wait()
		timers(0)
	})
}

// TestConcurrentUse calls everything from everywhere, in real time, for the race
// detector and for what is left in the end.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Options{Slack: -1, Observer: &recorder{}})
	keys := []string{"one", "two"}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 200 {
				r := ratelimit.Request{
					Key: keys[(i+n)%2], Host: []string{"kr", "asia"}[n%2], Method: []string{"match", "matches"}[n/2%2],
					Priority: ratelimit.Priority(n % 4),
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%7+1)*10*time.Millisecond)
				p, err := l.Acquire(ctx, r)
				if err == nil {
					p.Done(ratelimit.Answer{
						AppLimits: []ratelimit.Limit{per(200, 20*time.Millisecond)}, MethodLimits: []ratelimit.Limit{per(100, 20*time.Millisecond)},
						Refusal: ratelimit.Refusal(n / 190 % 4),
					})
				}
				cancel()
				switch n % 50 {
				case 10:
					l.Suspend(r.Key, time.Now().Add(5*time.Millisecond))
				case 20:
					l.Resume(r.Key)
				case 30:
					l.Snapshot()
				case 40:
					l.Estimate(r.Key, r.Host, map[string]int{"match": 10})
				}
			}
		})
	}
	wg.Wait()
	for _, b := range l.Snapshot() {
		if b.InFlight != 0 || b.Waiting != 0 {
			t.Errorf("%s %s %q: %d under way and %d waiting in the end, want none", b.Key, b.Host, b.Method, b.InFlight, b.Waiting)
		}
	}
	if got := l.Timers(); got != 0 {
		t.Errorf("%d timers are set in the end, want none", got)
	}
}
