package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"riftchime/store"
)

func testReasons(t *testing.T, w *world) {
	w.must(w.AddReasons(w.ctx, nil))
	rs := []store.Reason{
		{Channel: 10, Player: 1, Match: "KR_1", Slot: t0, Code: "remake", Detail: "a%s' \"x\"", At: t0},
		{Channel: 10, Player: 2, Slot: t0, Code: "unreadable", At: t0.Add(time.Minute)},
		{Channel: 10, Slot: t0, Code: "quiet", At: t0.Add(2 * time.Minute)},
		{Channel: 11, Code: "paused", At: t0},
	}
	for range 2 { // Twice is as once.
		w.must(w.AddReasons(w.ctx, rs))
	}
	get := func(c store.ChannelID, p store.PlayerID, most int) []store.Reason {
		t.Helper()
		return get[[]store.Reason](w)(w.Reasons(w.ctx, c, p, most))
	}
	equal(t, "newest first", get(10, 0, 10), []store.Reason{rs[2], rs[1], rs[0]})
	equal(t, "at most", get(10, 0, 2), []store.Reason{rs[2], rs[1]})
	equal(t, "of a player", get(10, 1, 10), []store.Reason{rs[0]})
	equal(t, "of another channel", get(11, 0, 10), []store.Reason{rs[3]})
	var many []store.Reason
	for i := range 1000 {
		many = append(many, store.Reason{Channel: 12, Player: store.PlayerID(i), Code: "x", At: t0})
	}
	w.must(w.AddReasons(w.ctx, many))
	if n := len(get(12, 0, 5000)); n != len(many) {
		t.Errorf("%d of many, want %d", n, len(many))
	}
}

func testLatencies(t *testing.T, w *world) {
	equal(t, "of nothing", get[map[string]store.LatencyStats](w)(w.Latencies(w.ctx, t0)), map[string]store.LatencyStats{})
	for i, took := range []time.Duration{2, 4, 4, 4, 5, 5, 7, 9} {
		w.must(w.AddLatency(w.ctx, "report", took*time.Second, t0.Add(time.Duration(i)*time.Second)))
	}
	w.must(w.AddLatency(w.ctx, "list", 1500*time.Microsecond, t0))
	w.must(w.AddLatency(w.ctx, "list", time.Hour, t0.Add(-time.Millisecond))) // Too old.
	for i := range 3 {
		w.must(w.AddLatency(w.ctx, "slow", 14*time.Minute, t0.Add(time.Duration(i)*time.Second)))
	}
	got := get[map[string]store.LatencyStats](w)(w.Latencies(w.ctx, t0))
	equal(t, "list", got["list"], store.LatencyStats{Count: 1, Mean: 1500 * time.Microsecond})
	equal(t, "slow", got["slow"], store.LatencyStats{Count: 3, Mean: 14 * time.Minute})
	r := got["report"]
	if want := time.Duration(math.Sqrt(32.0/7) * float64(time.Second)); r.Count != 8 || r.Mean != 5*time.Second || (r.StdDev-want).Abs() > time.Microsecond {
		t.Errorf("report %+v, want 8, 5s, %v", r, want)
	}
}

func testInteractions(t *testing.T, w *world) {
	const id = 1<<62 + 1
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first int
	)
	for range 8 {
		wg.Go(func() {
			took, err := w.TakeInteraction(w.ctx, id, t0)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			first += b2i(took)
			mu.Unlock()
		})
	}
	wg.Wait()
	if first != 1 {
		t.Errorf("the first time %d times", first)
	}
	if !get[bool](w)(w.TakeInteraction(w.ctx, id+1, t0)) {
		t.Error("another one is not the first")
	}
}

func testFailures(t *testing.T, w *world) {
	noon := t0
	midnight := t0.Truncate(day)
	w.must(w.CountFailures(w.ctx, nil))
	w.must(w.CountFailures(w.ctx, []store.Failure{
		{Day: noon, Endpoint: "match", Cause: "unavailable", Count: 2},
		{Day: midnight, Endpoint: "match", Cause: "unavailable", Count: 3},
		{Day: midnight, Endpoint: "ids", Cause: "limited", Count: 1},
		{Day: midnight.Add(-time.Millisecond), Endpoint: "ids", Cause: "limited", Count: 7},
	}))
	w.must(w.CountFailures(w.ctx, []store.Failure{{Day: midnight, Endpoint: "ids", Cause: "limited", Count: 10}}))
	equal(t, "today", get[[]store.Failure](w)(w.Failures(w.ctx, noon)), []store.Failure{
		{Day: midnight, Endpoint: "ids", Cause: "limited", Count: 11},
		{Day: midnight, Endpoint: "match", Cause: "unavailable", Count: 5},
	})
	equal(t, "yesterday", get[[]store.Failure](w)(w.Failures(w.ctx, noon.Add(-day))), []store.Failure{
		{Day: midnight.Add(-day), Endpoint: "ids", Cause: "limited", Count: 7},
	})
}

func testChampions(t *testing.T, w *world) {
	version, at, cs, err := w.Champions(w.ctx, "ko")
	if err != nil || version != "" || !at.IsZero() || len(cs) != 0 {
		t.Errorf("none: %q, %v, %v, %v", version, at, cs, err)
	}
	ko := []store.Champion{{ID: 103, Key: "Ahri", Name: "아리"}, {ID: 1, Key: "Annie", Name: "애니"}}
	w.must(w.PutChampions(w.ctx, "ko", "16.1.1", append(ko, store.Champion{ID: 2, Key: "Olaf", Name: "올라프"}), t0))
	w.must(w.PutChampions(w.ctx, "en", "16.1.1", []store.Champion{{ID: 103, Key: "Ahri", Name: "Ahri"}}, t0))
	w.must(w.PutChampions(w.ctx, "ko", "16.2.1", ko, t0.Add(time.Hour)))
	version, at, cs, err = w.Champions(w.ctx, "ko")
	w.must(err)
	if version != "16.2.1" || !at.Equal(t0.Add(time.Hour)) {
		t.Errorf("version %q at %v", version, at)
	}
	equal(t, "replaced, by id", cs, []store.Champion{ko[1], ko[0]})
	_, _, cs, err = w.Champions(w.ctx, "en")
	w.must(err)
	equal(t, "the other language", len(cs), 1)
}

func testNotes(t *testing.T, w *world) {
	note := func() string { t.Helper(); return get[string](w)(w.Note(w.ctx, "n")) }
	if got := note(); got != "" {
		t.Errorf("note %q before any", got)
	}
	w.must(w.PutNote(w.ctx, "n", "1"))
	w.must(w.PutNote(w.ctx, "n", "둘"))
	w.must(w.PutNote(w.ctx, "m", "x"))
	if got := note(); got != "둘" {
		t.Errorf("note %q", got)
	}
}

func testCounts(t *testing.T, w *world) {
	equal(t, "of nothing", get[store.Counts](w)(w.Counts(w.ctx)), store.Counts{})
	ids := w.home("a", "b")
	w.channel(11, 1)
	w.register(11, "a", "k1")
	w.server(2, "k1")
	w.channel(20, 2)
	w.register(20, "c", "k1")
	w.must(w.ServerGone(w.ctx, 2, t0))
	get[bool](w)(w.Unregister(w.ctx, 10, ids[1], t0))
	w.play("KR_1", t0, "a")
	equal(t, "counts", get[store.Counts](w)(w.Counts(w.ctx)), store.Counts{Servers: 1, Channels: 2, Players: 2, Registrations: 2, Matches: 1})
}

func testSweep(t *testing.T, w *world) {
	// Everything twice: once as old as it may get, once a millisecond older.
	now := t0.Add(200 * day)
	ages := func(keep time.Duration) [2]time.Time {
		return [2]time.Time{now.Add(-keep), now.Add(-keep - time.Millisecond)}
	}
	w.server(1, "k1")
	w.channel(10, 1)
	w.register(10, "stays", "k1")
	var players [2]store.PlayerID
	for i, at := range ages(30 * day) {
		w.server(store.ServerID(100+i), "k1")
		w.channel(store.ChannelID(1000+i), store.ServerID(100+i))
		w.register(store.ChannelID(1000+i), fmt.Sprint("theirs", i), "k1")
		w.must(w.ServerGone(w.ctx, store.ServerID(100+i), at))
		players[i] = w.register(10, fmt.Sprint("left", i), "k1")
		get[bool](w)(w.Unregister(w.ctx, 10, players[i], at))
	}
	for i, at := range ages(60 * day) {
		w.play(fmt.Sprint("KR_", i), at, "stays")
		_, err := w.Listed(w.ctx, get[store.Player](w)(w.PlayerByRiotID(w.ctx, "", "stays", "KR1")).ID, "k1", []string{fmt.Sprint("KR_wanted", i)}, at)
		w.must(err)
	}
	for _, at := range ages(90 * day) {
		r := ready(1, fmt.Sprint("KR_old", at.UnixMilli()))
		r.Slot = at
		w.send(r)
	}
	for _, at := range ages(day) {
		r := ready(1)
		r.Slot = at
		w.send(r)
		get[bool](w)(w.TakeInteraction(w.ctx, at.UnixMilli(), at))
	}
	for _, at := range ages(7 * day) {
		w.must(w.AddReasons(w.ctx, []store.Reason{{Channel: 10, Code: "x", At: at}}))
	}
	for i, at := range ages(2 * day) {
		w.must(w.AddLatency(w.ctx, fmt.Sprint("c", i), time.Second, at))
	}
	gone := get[int64](w)(w.Sweep(w.ctx, now))
	// A server, a player, two matches, a report, a reason, a latency, an interaction.
	if gone != 8 {
		t.Errorf("%d rows deleted, want 8", gone)
	}

	_, err := w.Server(w.ctx, 101)
	w.want(err, store.ErrNotFound)
	_, err = w.Channel(w.ctx, 1001)
	w.want(err, store.ErrNotFound)
	get[store.Server](w)(w.Server(w.ctx, 100))
	get[store.Channel](w)(w.Channel(w.ctx, 1000))
	get[store.Player](w)(w.Player(w.ctx, players[0]))
	_, err = w.Player(w.ctx, players[1])
	w.want(err, store.ErrNotFound)
	// Who was followed by the server that went is followed by nobody now.
	if p := get[store.Player](w)(w.PlayerByRiotID(w.ctx, "", "theirs1", "KR1")); !p.UnfollowedAt.Equal(now) {
		t.Errorf("unfollowed at %v, want %v", p.UnfollowedAt, now)
	}
	if p := get[store.Player](w)(w.PlayerByRiotID(w.ctx, "", "theirs0", "KR1")); !p.UnfollowedAt.IsZero() {
		t.Errorf("unfollowed at %v, its server is kept", p.UnfollowedAt)
	}
	equal(t, "matches", get[map[string]store.MatchState](w)(w.MatchStates(w.ctx, []string{"KR_0", "KR_1", "KR_wanted0", "KR_wanted1"})),
		map[string]store.MatchState{"KR_0": store.MatchRead, "KR_wanted0": store.MatchWanted})
	w.report(now.Add(-90 * day))
	_, err = w.Report(w.ctx, 10, now.Add(-90*day-time.Millisecond))
	w.want(err, store.ErrNotFound)
	for i, at := range ages(day) {
		p := get[[]store.Part](w)(w.Parts(w.ctx, 10, at))
		if len(p) != 1 || (len(p[0].Body) == 0) != (i == 1) || p[0].Nonce == "" {
			t.Errorf("part %d: %+v, want the older one without its body", i, p)
		}
		if took := get[bool](w)(w.TakeInteraction(w.ctx, at.UnixMilli(), now)); took != (i == 1) {
			t.Errorf("interaction %d: the first time %v", i, took)
		}
	}
	if rs := get[[]store.Reason](w)(w.Reasons(w.ctx, 10, 0, 9)); len(rs) != 1 || !rs[0].At.Equal(now.Add(-7*day)) {
		t.Errorf("reasons %+v", rs)
	}
	equal(t, "latencies", get[map[string]store.LatencyStats](w)(w.Latencies(w.ctx, t0)), map[string]store.LatencyStats{"c0": {Count: 1, Mean: time.Second}})
	if gone := get[int64](w)(w.Sweep(w.ctx, now)); gone != 0 {
		t.Errorf("%d rows deleted the second time", gone)
	}
}

func testSweepKeeps(t *testing.T, w *world) {
	a := w.home("a")[0]
	put := func(lp int, at time.Time) []store.Rank {
		_, after, err := w.PutRanks(w.ctx, a, []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: lp}}, at)
		w.must(err)
		return after
	}
	put(1, t0)
	w.must(w.ShowRanks(w.ctx, 10, a))
	put(2, t0)
	put(3, t0)
	now := t0.Add(61 * day)
	if gone := get[int64](w)(w.Sweep(w.ctx, now)); gone != 1 {
		t.Errorf("%d rows deleted, want the snapshot that is neither shown nor the newest", gone)
	}
	r := get[[]store.Follow](w)(w.Registrations(w.ctx, 10))[0].Ranks
	if len(r) != 2 || r[0].Shown == nil || r[0].Shown.LP != 1 || r[0].Now.LP != 3 {
		t.Errorf("ranks %+v", r)
	}
	c := get[store.Channel](w)(w.Channel(w.ctx, 10))
	if c.Hours == 0 {
		t.Errorf("channel %+v", c)
	}
}

// testAtOnce is for the race detector, and for locks that wait for each other.
func testAtOnce(t *testing.T, w *world) {
	const channels = 6
	w.server(1, "k1")
	for c := range store.ChannelID(channels) {
		w.channel(c+1, 1)
	}
	var wg sync.WaitGroup
	for worker := range channels {
		c := store.ChannelID(worker + 1)
		wg.Go(func() {
			for i := range 6 {
				slot := t0.Add(time.Duration(i) * time.Hour)
				if err := w.hour(c, i, slot); err != nil {
					t.Errorf("channel %d, hour %d: %v", c, i, err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			_, err := w.Sweep(w.ctx, t0)
			_, err2 := w.DuePlayers(w.ctx, t0)
			_, err3 := w.Counts(w.ctx)
			if err := errors.Join(err, err2, err3); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for c := range store.ChannelID(channels) {
		if got := len(get[[]store.Report](w)(w.LastReports(w.ctx, c+1, 99))); got != 6 {
			t.Errorf("channel %d has %d reports, want 6", c+1, got)
		}
		equal(t, "new games", w.games(c+1, time.Time{}, t0), []string(nil))
	}
}

// hour is an hour of a channel whose players it shares with the others.
func (w *world) hour(c store.ChannelID, i int, slot time.Time) error {
	for _, name := range []string{"x", "y"} {
		p, _, err := w.Register(w.ctx, c, npc(name, "k1"), t0.Add(-day), nil, 50)
		if err != nil {
			return err
		}
		id := fmt.Sprintf("KR_%d", i)
		if _, err := w.Listed(w.ctx, p.ID, "k1", []string{id}, slot); err != nil {
			return err
		}
		if err := w.PutMatch(w.ctx, match(id, slot.Add(-time.Minute), "k1", "x", "y"), slot); err != nil {
			return err
		}
		if _, _, err := w.PutRanks(w.ctx, p.ID, []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", LP: i}}, slot); err != nil {
			return err
		}
		if err := w.Refreshed(w.ctx, p.ID, slot, slot, false); err != nil {
			return err
		}
	}
	f, err := w.Facts(w.ctx, c, slot, slot)
	if err != nil {
		return err
	}
	r := ready(1)
	r.Channel, r.Slot = c, slot
	for _, g := range f.Games {
		r.Games = append(r.Games, g.Match)
	}
	for _, fw := range f.Follows {
		r.Names = append(r.Names, store.ShownName{Player: fw.Player.ID, Name: fw.Player.Name()})
		for _, k := range fw.Ranks {
			r.Ranks = append(r.Ranks, store.ShownRank{Player: fw.Player.ID, Queue: k.Queue, Snapshot: k.Now.ID})
		}
	}
	if put, err := w.PutReady(w.ctx, r); err != nil || !put {
		return errors.Join(err, fmt.Errorf("put: %v", put))
	}
	k := store.PartKey{Channel: c, Slot: slot}
	if moved, err := w.Claim(w.ctx, []store.PartKey{k}, slot); err != nil || len(moved) != 1 {
		return errors.Join(err, fmt.Errorf("claimed %v", moved))
	}
	return w.Sent(w.ctx, k, 1, slot, 0, slot.Add(time.Hour))
}

func testContext(t *testing.T, w *world) {
	w.home("a")
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	calls := map[string]func() error{
		"Ping":         func() error { return w.Ping(ctx) },
		"PutNote":      func() error { return w.PutNote(ctx, "n", "v") },
		"Facts":        func() error { _, err := w.Facts(ctx, 10, t0, t0); return err },
		"Register":     func() error { _, _, err := w.Register(ctx, 10, npc("b", "k1"), t0, nil, 9); return err },
		"AllChannels":  func() error { return w.AllChannels(ctx, func(store.Channel) error { return nil }) },
		"DueChannels":  func() error { _, err := w.DueChannels(ctx, t0); return err },
		"PlanReports":  func() error { return w.PlanReports(ctx, t0, []store.ChannelID{10}) },
		"CountFailure": func() error { return w.CountFailures(ctx, []store.Failure{{Day: t0, Count: 1}}) },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
	}
	// And all goes on.
	w.must(w.Ping(w.ctx))
	if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, 10))); n != 1 {
		t.Errorf("%d registered, want 1", n)
	}
	if note := get[string](w)(w.Note(w.ctx, "n")); note != "" {
		t.Errorf("note %q was put", note)
	}
}

func testMigrate(t *testing.T, w *world) {
	w.home("a")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := w.Migrate(w.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, 10))); n != 1 {
		t.Errorf("%d registered, want 1", n)
	}
}
