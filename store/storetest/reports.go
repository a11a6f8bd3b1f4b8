package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"riftchime/store"
)

func testPlanReports(t *testing.T, w *world) {
	w.home()
	w.channel(11, 1)
	_, err := w.Report(w.ctx, 10, t0)
	w.want(err, store.ErrNotFound)
	w.must(w.PlanReports(w.ctx, t0, nil))
	w.must(w.PlanReports(w.ctx, t0, []store.ChannelID{10, 11, 99})) // 99 is no channel, any more.
	equal(t, "planned", w.report(t0), store.Report{Channel: 10, Slot: t0, State: store.ReportPlanned})
	w.put(ready(1))
	w.must(w.PlanReports(w.ctx, t0, []store.ChannelID{11, 10}))
	equal(t, "planned again", w.report(t0), store.Report{Channel: 10, Slot: t0, State: store.ReportReady})
	_, err = w.Report(w.ctx, 99, t0)
	w.want(err, store.ErrNotFound)
}

func testPutReady(t *testing.T, w *world) {
	_, err := w.PutReady(w.ctx, ready(1))
	w.want(err, store.ErrNotFound) // No such channel.
	w.home("a")
	if _, err := w.PutReady(w.ctx, ready(0)); err == nil {
		t.Error("a report without parts was taken")
	}
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_2", t0.Add(-time.Hour), "a")

	r := ready(3, "KR_1", "KR_2", "KR_1")
	r.Partial = true
	w.put(r)
	equal(t, "report", w.report(t0), store.Report{Channel: 10, Slot: t0, State: store.ReportReady, Partial: true})
	var want []store.Part
	for i, p := range r.Parts {
		p.PartKey, p.State = store.PartKey{Channel: 10, Slot: t0, Part: i}, store.PartReady
		want = append(want, p)
	}
	equal(t, "parts", get[[]store.Part](w)(w.Parts(w.ctx, 10, t0)), want)
	equal(t, "ready parts", get[[]store.Part](w)(w.ReadyParts(w.ctx, t0)), want)
	equal(t, "games of other slots", w.games(10, t0.Add(time.Hour), t0), []string(nil))

	// Replaced whole.
	r = ready(1, "KR_1")
	r.Parts[0].Body, r.Parts[0].Nonce = []byte{0, 255, 1}, "other"
	w.put(r)
	want = []store.Part{{PartKey: store.PartKey{Channel: 10, Slot: t0}, Body: []byte{0, 255, 1}, Nonce: "other", State: store.PartReady}}
	equal(t, "parts of the second", get[[]store.Part](w)(w.Parts(w.ctx, 10, t0)), want)
	equal(t, "games of other slots", w.games(10, t0.Add(time.Hour), t0), []string{"KR_2"})
	if r := w.report(t0); r.Partial {
		t.Error("partial, as the first one was")
	}

	// Not any more once a part went into sending.
	w.claim(0)
	refused := func(what string) {
		t.Helper()
		if get[bool](w)(w.PutReady(w.ctx, ready(2, "KR_2"))) {
			t.Errorf("%s: taken", what)
		}
		if n := len(get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))); n > 1 {
			t.Errorf("%s: %d parts", what, n)
		}
		equal(t, what+": games of other slots", w.games(10, t0.Add(time.Hour), t0), []string{"KR_2"})
	}
	refused("sending")
	w.sent(0)
	refused("sent")
	w.must(w.Skip(w.ctx, 10, t0.Add(time.Hour), "quiet", t0, t0.Add(day)))
	late := ready(1)
	late.Slot = t0.Add(time.Hour)
	if get[bool](w)(w.PutReady(w.ctx, late)) {
		t.Error("skipped: taken")
	}
}

func testPutReadyTaken(t *testing.T, w *world) {
	w.home("a")
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_2", t0.Add(-time.Hour), "a")
	w.put(ready(1, "KR_1"))
	next := ready(1, "KR_1", "KR_2")
	next.Slot = t0.Add(time.Hour)
	_, err := w.PutReady(w.ctx, next)
	w.want(err, store.ErrTaken)
	_, err = w.Report(w.ctx, 10, next.Slot)
	w.want(err, store.ErrNotFound) // Nothing changed.
	equal(t, "free games", w.games(10, time.Time{}, t0), []string{"KR_2"})
	next.Games = []string{"KR_2"}
	w.put(next)
	// In another channel it is another matter.
	w.channel(11, 1)
	other := ready(1, "KR_1")
	other.Channel = 11
	w.put(other)
}

func testReplace(t *testing.T, w *world) {
	w.home("a")
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_2", t0.Add(-time.Hour), "a")
	w.put(ready(2, "KR_1"))
	w.claim(0, 1)
	// Though it is in sending.
	if !get[bool](w)(w.Replace(w.ctx, ready(1, "KR_2"))) {
		t.Fatal("a report in sending was not replaced")
	}
	equal(t, "report", w.report(t0), store.Report{Channel: 10, Slot: t0, State: store.ReportReady})
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if len(parts) != 1 || parts[0].State != store.PartReady || !parts[0].FirstTry.IsZero() {
		t.Errorf("parts %+v, want one, ready", parts)
	}
	equal(t, "games of other slots", w.games(10, t0.Add(time.Hour), t0), []string{"KR_1"})

	// Not once a part was sent, nor when it is over.
	if !get[bool](w)(w.Replace(w.ctx, ready(2, "KR_2"))) {
		t.Fatal("a ready report was not replaced")
	}
	w.claim(0, 1)
	w.sent(0)
	if get[bool](w)(w.Replace(w.ctx, ready(1))) {
		t.Error("replaced though a part was sent")
	}
	w.sent(1)
	if get[bool](w)(w.Replace(w.ctx, ready(1))) {
		t.Error("replaced though it was sent")
	}
	equal(t, "games of other slots", w.games(10, t0.Add(time.Hour), t0), []string{"KR_1"})
}

func testClaim(t *testing.T, w *world) {
	w.home()
	w.put(ready(3))
	equal(t, "claimed none", get[[]store.PartKey](w)(w.Claim(w.ctx, nil, t0)), []store.PartKey(nil))
	k := func(part int) store.PartKey { return store.PartKey{Channel: 10, Slot: t0, Part: part} }
	equal(t, "claimed", w.claim(1, 0, 0, 7), []store.PartKey{k(0), k(1)})
	if r := w.report(t0); r.State != store.ReportSending {
		t.Errorf("report in state %d, want sending", r.State)
	}
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	for i, want := range []store.PartState{store.PartSending, store.PartSending, store.PartReady} {
		if parts[i].State != want {
			t.Errorf("part %d in state %d, want %d", i, parts[i].State, want)
		}
	}
	if first := parts[0].FirstTry; !first.Equal(t0.Add(-time.Second)) || !parts[2].FirstTry.IsZero() {
		t.Errorf("first tries %v and %v", first, parts[2].FirstTry)
	}
	again := get[[]store.PartKey](w)(w.Claim(w.ctx, []store.PartKey{k(0), k(1), k(2)}, t0.Add(time.Minute)))
	equal(t, "claimed again", again, []store.PartKey{k(2)})
	parts = get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if first := parts[0].FirstTry; !first.Equal(t0.Add(-time.Second)) {
		t.Errorf("first try moved to %v", first)
	}
	w.sent(0)
	equal(t, "claimed what was sent", w.claim(0), []store.PartKey(nil))
	equal(t, "ready parts", len(get[[]store.Part](w)(w.ReadyParts(w.ctx, t0))), 2)
}

func testClaimAtOnce(t *testing.T, w *world) {
	const channels = 60
	w.server(1, "k1")
	var keys []store.PartKey
	for c := range store.ChannelID(channels) {
		w.channel(c+1, 1)
		r := ready(1)
		r.Channel = c + 1
		w.put(r)
		keys = append(keys, store.PartKey{Channel: c + 1, Slot: t0})
	}
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		claimed = map[store.PartKey]int{}
	)
	for worker := range 6 {
		wg.Go(func() {
			mine := keys
			if worker%2 == 1 {
				mine = make([]store.PartKey, len(keys))
				for i, k := range keys {
					mine[len(keys)-1-i] = k
				}
			}
			for len(mine) > 0 {
				some := mine[:min(17, len(mine))]
				mine = mine[len(some):]
				got, err := w.Claim(w.ctx, some, t0)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for _, k := range got {
					claimed[k]++
				}
				mu.Unlock()
			}
		})
		wg.Go(func() {
			// Renderings that come too late, or just in time.
			for c := range store.ChannelID(channels) {
				r := ready(1)
				r.Channel = c + 1
				if _, err := w.PutReady(w.ctx, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, k := range keys {
		if claimed[k] != 1 {
			t.Errorf("%v was claimed %d times, want once", k, claimed[k])
		}
	}
}

func testSent(t *testing.T, w *world) {
	ids := w.home("a", "b")
	_, ranks, err := w.PutRanks(w.ctx, ids[0], []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: 7}}, t0)
	w.must(err)
	get[int](w)(w.ChannelRefused(w.ctx, 10, t0.Add(-day)))
	w.play("KR_1", t0.Add(-time.Hour), "a")
	r := ready(2, "KR_1")
	r.Ranks = []store.ShownRank{{Player: ids[0], Queue: store.QueueSolo, Snapshot: ranks[0].ID}}
	r.Names = []store.ShownName{{Player: ids[0], Name: "a2#KR1"}}
	w.put(r)
	w.want(w.Sent(w.ctx, store.PartKey{Channel: 10, Slot: t0, Part: 9}, 1, t0, 0, t0), store.ErrNotFound)
	w.want(w.Sent(w.ctx, store.PartKey{Channel: 10, Slot: t0.Add(time.Hour)}, 1, t0, 0, t0), store.ErrNotFound)
	w.claim(0, 1)

	shown := func() (name string, lp int) {
		f := get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0)).Follows[0]
		for _, p := range f.Ranks {
			if p.Shown != nil {
				lp += p.Shown.LP
			}
		}
		return f.ShownName, lp
	}
	// Part 1 first: nothing is over yet.
	w.must(w.Sent(w.ctx, store.PartKey{Channel: 10, Slot: t0, Part: 1}, 1001, t0.Add(time.Second), time.Second, t0.Add(day)))
	if r := w.report(t0); r.State != store.ReportSending || r.Lateness != 0 || !r.SentAt.IsZero() {
		t.Errorf("with a part left: %+v", r)
	}
	if name, lp := shown(); name != "a#KR1" || lp != 0 {
		t.Errorf("shown %q and %d LP with a part left", name, lp)
	}
	if c := get[store.Channel](w)(w.Channel(w.ctx, 10)); !c.LastSlot.IsZero() || !c.NextSlot.Equal(t0) || c.Refusals != 1 {
		t.Errorf("channel with a part left: %+v", c)
	}
	key := store.PartKey{Channel: 10, Slot: t0}
	for i := range 2 { // The second time changes nothing.
		at := t0.Add(time.Duration(2+i*60) * time.Second)
		w.must(w.Sent(w.ctx, key, store.MessageID(1<<62+i), at, 45*time.Millisecond+999*time.Microsecond, t0.Add(day)))
		equal(t, "report", w.report(t0), store.Report{
			Channel: 10, Slot: t0, State: store.ReportSent, Lateness: 45 * time.Millisecond, SentAt: t0.Add(2 * time.Second),
		})
	}
	if name, lp := shown(); name != "a2#KR1" || lp != 7 {
		t.Errorf("shown %q and %d LP, want what the report showed", name, lp)
	}
	c := get[store.Channel](w)(w.Channel(w.ctx, 10))
	if !c.LastSlot.Equal(t0) || !c.NextSlot.Equal(t0.Add(day)) || c.Refusals != 0 || !c.RefusedSlot.IsZero() {
		t.Errorf("channel: %+v", c)
	}
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if parts[0].Message != 1<<62 || parts[1].Message != 1001 || parts[0].State != store.PartSent || len(parts[0].Body) == 0 {
		t.Errorf("parts %+v", parts)
	}
	equal(t, "ready parts", get[[]store.Part](w)(w.ReadyParts(w.ctx, t0)), []store.Part(nil))
	equal(t, "games", w.games(10, time.Time{}, t0), []string(nil))
}

func testSentMovesOn(t *testing.T, w *world) {
	h := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Hour) }
	for i, c := range []struct {
		name            string
		next, last      time.Time // Set by somebody before it is sent.
		wantNext, wantL time.Time
	}{
		{"as planned", t0, time.Time{}, t0.Add(day), t0},
		{"an earlier hour", h(-3), time.Time{}, t0.Add(day), t0},
		{"moved past the slot", h(2), time.Time{}, h(2), t0},
		{"switched off", time.Time{}, time.Time{}, time.Time{}, t0},
	} {
		w.server(1, "k1")
		id := store.ChannelID(100 + i)
		w.channel(id, 1)
		r := ready(1)
		r.Channel = id
		w.put(r)
		w.must(w.SetNextSlot(w.ctx, id, c.next))
		w.must(w.Sent(w.ctx, store.PartKey{Channel: id, Slot: t0}, 1, t0, 0, t0.Add(day)))
		got := get[store.Channel](w)(w.Channel(w.ctx, id))
		if !got.NextSlot.Equal(c.wantNext) || !got.LastSlot.Equal(c.wantL) {
			t.Errorf("%s: next %v, last %v, want %v and %v", c.name, got.NextSlot, got.LastSlot, c.wantNext, c.wantL)
		}
	}
	// An older slot that ends later moves nothing back.
	old := ready(1)
	old.Channel, old.Slot = 100, h(-5)
	w.put(old)
	w.must(w.Sent(w.ctx, store.PartKey{Channel: 100, Slot: h(-5)}, 1, t0, 0, h(-4)))
	got := get[store.Channel](w)(w.Channel(w.ctx, 100))
	if !got.NextSlot.Equal(t0.Add(day)) || !got.LastSlot.Equal(t0) {
		t.Errorf("after an older slot: next %v, last %v", got.NextSlot, got.LastSlot)
	}
	// The last hour that there is.
	last := ready(1)
	last.Channel, last.Slot = 100, t0.Add(day)
	w.put(last)
	w.must(w.Sent(w.ctx, store.PartKey{Channel: 100, Slot: t0.Add(day)}, 1, t0, 0, time.Time{}))
	if got := get[store.Channel](w)(w.Channel(w.ctx, 100)); !got.NextSlot.IsZero() {
		t.Errorf("next %v, want none", got.NextSlot)
	}
}

func testSkip(t *testing.T, w *world) {
	w.want(w.Skip(w.ctx, 10, t0, "quiet", t0, t0.Add(day)), store.ErrNotFound)
	w.home("a")
	w.play("KR_1", t0.Add(-time.Hour), "a")

	// Without a row.
	w.must(w.Skip(w.ctx, 10, t0.Add(-time.Hour), "missed", t0, t0))
	slot := t0.Add(-time.Hour)
	equal(t, "without a row", w.report(slot), store.Report{Channel: 10, Slot: slot, State: store.ReportSkipped, Reason: "missed"})
	c := get[store.Channel](w)(w.Channel(w.ctx, 10))
	if !c.LastSlot.Equal(slot) || !c.NextSlot.Equal(t0) {
		t.Errorf("channel: last %v, next %v", c.LastSlot, c.NextSlot)
	}

	// A ready one, with a part under way: games are free again.
	w.put(ready(2, "KR_1"))
	w.claim(0)
	for range 2 {
		w.must(w.Skip(w.ctx, 10, t0, "unreachable", t0, t0.Add(day)))
		equal(t, "ready", w.report(t0), store.Report{Channel: 10, Slot: t0, State: store.ReportSkipped, Reason: "unreachable"})
	}
	equal(t, "parts", get[[]store.Part](w)(w.Parts(w.ctx, 10, t0)), []store.Part(nil))
	equal(t, "games are free", w.games(10, time.Time{}, t0), []string{"KR_1"})
	c = get[store.Channel](w)(w.Channel(w.ctx, 10))
	if !c.LastSlot.Equal(t0) || !c.NextSlot.Equal(t0.Add(day)) {
		t.Errorf("channel: last %v, next %v", c.LastSlot, c.NextSlot)
	}
	w.want(w.Sent(w.ctx, store.PartKey{Channel: 10, Slot: t0}, 1, t0, 0, t0), store.ErrNotFound)

	// A sent one stays sent; a reason is not replaced.
	r := ready(1, "KR_1")
	r.Slot = t0.Add(time.Hour)
	w.send(r)
	w.must(w.Skip(w.ctx, 10, r.Slot, "x", t0, t0.Add(2*day)))
	if got := w.report(r.Slot); got.State != store.ReportSent || got.Reason != "" {
		t.Errorf("a sent report was skipped: %+v", got)
	}
	w.must(w.Skip(w.ctx, 10, t0, "another", t0, t0.Add(day)))
	if got := w.report(t0); got.Reason != "unreachable" {
		t.Errorf("reason %q, want the first", got.Reason)
	}
}

func testSkipHalfSent(t *testing.T, w *world) {
	a := w.home("a")[0]
	w.play("KR_1", t0.Add(-time.Hour), "a")
	r := ready(3, "KR_1")
	r.Names = []store.ShownName{{Player: a, Name: "seen#KR1"}}
	w.put(r)
	w.claim(0, 1)
	w.sent(0)
	w.must(w.Skip(w.ctx, 10, t0, "unreachable", t0.Add(10*time.Minute), t0.Add(day)))
	got := w.report(t0)
	if got.State != store.ReportSkipped || got.Lateness != 30*time.Millisecond {
		t.Errorf("report %+v", got)
	}
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if len(parts) != 1 || parts[0].State != store.PartSent {
		t.Errorf("parts %+v, want the sent one", parts)
	}
	equal(t, "games count as reported", w.games(10, time.Time{}, t0), []string(nil))
	if f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10)); f[0].ShownName != "seen#KR1" {
		t.Errorf("shown name %q: all of it counts as reported", f[0].ShownName)
	}
}

func testAmend(t *testing.T, w *world) {
	ids := w.home("a", "b")
	w.want(w.Amend(w.ctx, ready(1)), store.ErrNotFound)
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_2", t0.Add(-time.Hour), "b")
	_, ranks, err := w.PutRanks(w.ctx, ids[1], []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: 7}}, t0)
	w.must(err)
	r := ready(1, "KR_1")
	r.Partial = true
	w.put(r)
	w.want(w.Amend(w.ctx, ready(1)), store.ErrNotFound) // Not sent yet.
	w.claim(0)
	w.sent(0)
	if !w.report(t0).Partial {
		t.Error("not partial")
	}

	full := ready(2, "KR_1", "KR_2")
	full.Parts[0].Body, full.Parts[0].Nonce = []byte("whole"), "not used"
	full.Ranks = []store.ShownRank{{Player: ids[1], Queue: store.QueueSolo, Snapshot: ranks[0].ID}}
	full.Names = []store.ShownName{{Player: ids[1], Name: "b2#KR1"}}
	for range 2 { // Twice is as once.
		w.must(w.Amend(w.ctx, full))
	}
	if got := w.report(t0); got.Partial || got.State != store.ReportSent || got.Lateness != 30*time.Millisecond {
		t.Errorf("report %+v", got)
	}
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if len(parts) != 2 || string(parts[0].Body) != "whole" || parts[0].Nonce != "nonce-0" || parts[0].State != store.PartSent ||
		parts[0].Message != 1000 || parts[1].State != store.PartReady || parts[1].Nonce != "nonce-1" {
		t.Errorf("parts %+v", parts)
	}
	equal(t, "games", w.games(10, time.Time{}, t0), []string(nil))
	f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10))
	if f[1].ShownName != "b2#KR1" || f[1].Ranks[0].Shown == nil {
		t.Errorf("follow %+v, want what the edit showed", f[1])
	}
	// The part that was added is sent like any other.
	if got := get[[]store.Part](w)(w.ReadyParts(w.ctx, t0)); len(got) != 1 || got[0].Part != 1 {
		t.Errorf("ready parts %+v", got)
	}
	if got := w.claim(1); len(got) != 1 {
		t.Errorf("claimed %v", got)
	}
	w.sent(1)
	if got := w.report(t0); got.State != store.ReportSent || !got.SentAt.Equal(t0.Add(30*time.Millisecond)) {
		t.Errorf("report %+v", got)
	}
	w.must(w.Skip(w.ctx, 10, t0.Add(time.Hour), "quiet", t0, t0.Add(day)))
	late := ready(1)
	late.Slot = t0.Add(time.Hour)
	w.want(w.Amend(w.ctx, late), store.ErrNotFound) // Skipped.
}

func testAmendOlder(t *testing.T, w *world) {
	a := w.home("a")[0]
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	name := func(slot time.Time, name string) store.ReadyReport {
		r := ready(1)
		r.Slot, r.Names = slot, []store.ShownName{{Player: a, Name: name}}
		return r
	}
	w.send(name(t0, "first"))
	next := name(t0.Add(time.Hour), "second")
	next.Games = []string{"KR_1"}
	w.send(next)
	// What the later report showed stays shown, and its game stays its own.
	older := name(t0, "older")
	older.Games = []string{"KR_1"}
	w.must(w.Amend(w.ctx, older))
	if f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10)); f[0].ShownName != "second" {
		t.Errorf("shown name %q, want the later report's", f[0].ShownName)
	}
	equal(t, "games of the later slot", w.games(10, next.Slot, t0), []string{"KR_1"})
}

func testReadyParts(t *testing.T, w *world) {
	w.home()
	w.channel(11, 1)
	w.channel(12, 1)
	for _, c := range []store.ChannelID{12, 10, 11} {
		r := ready(int(c) - 9)
		r.Channel = c
		w.put(r)
	}
	other := ready(1)
	other.Slot = t0.Add(time.Hour)
	w.put(other)
	got := ""
	for _, p := range get[[]store.Part](w)(w.ReadyParts(w.ctx, t0)) {
		got += fmt.Sprint(p.Part, "/", p.Channel, " ")
	}
	if want := "0/10 0/11 0/12 1/11 1/12 2/12 "; got != want {
		t.Errorf("parts %s, want %s", got, want)
	}
}

func testUnfinished(t *testing.T, w *world) {
	w.home()
	w.channel(9, 1)
	h := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Hour) }
	at := func(n int) store.ReadyReport {
		r := ready(1)
		r.Slot = h(n)
		return r
	}
	w.send(at(-2))
	w.must(w.Skip(w.ctx, 10, h(-1), "quiet", t0, t0))
	w.put(at(0))
	w.claim(0)
	w.put(at(1))
	w.must(w.PlanReports(w.ctx, h(0), []store.ChannelID{9}))
	w.must(w.PlanReports(w.ctx, h(-3), []store.ChannelID{10}))
	got := ""
	for _, r := range get[[]store.Report](w)(w.Unfinished(w.ctx)) {
		got += fmt.Sprint(r.Slot.Sub(t0).Hours(), "/", r.Channel, "/", r.State, " ")
	}
	if want := "-3/10/1 0/9/1 0/10/3 1/10/2 "; got != want {
		t.Errorf("unfinished %s, want %s", got, want)
	}
	got = ""
	for _, r := range get[[]store.Report](w)(w.LastReports(w.ctx, 10, 4)) {
		got += fmt.Sprint(r.Slot.Sub(t0).Hours(), "/", r.State, r.Reason, " ")
	}
	if want := "1/2 0/3 -1/5quiet -2/4 "; got != want {
		t.Errorf("last reports %s, want %s", got, want)
	}
}
