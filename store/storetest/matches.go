package storetest

import (
	"fmt"
	"testing"
	"time"

	"riftchime/store"
)

// toRead are the ids of what Listed wants fetched.
func (w *world) toRead(player store.PlayerID, key string, ids ...string) []string {
	w.t.Helper()
	var out []string
	for _, m := range get[[]store.MatchToRead](w)(w.Listed(w.ctx, player, key, ids, t0)) {
		out = append(out, m.ID)
	}
	return out
}

func testListed(t *testing.T, w *world) {
	a := w.home("a", "b")[0]
	equal(t, "nothing", w.toRead(a, "k1"), []string(nil))
	equal(t, "unknown", w.toRead(a, "k1", "KR_3", "KR_1", "KR_2", "KR_1"), []string{"KR_3", "KR_1", "KR_2"})
	equal(t, "states", get[map[string]store.MatchState](w)(w.MatchStates(w.ctx, []string{"KR_1", "KR_9", "KR_3"})),
		map[string]store.MatchState{"KR_1": store.MatchWanted, "KR_3": store.MatchWanted})
	equal(t, "states of none", get[map[string]store.MatchState](w)(w.MatchStates(w.ctx, nil)), map[string]store.MatchState{})

	w.play("KR_3", t0.Add(-time.Hour), "a")
	w.must(w.MatchFailed(w.ctx, "KR_1", store.MatchForbidden, t0))
	w.must(w.MatchFailed(w.ctx, "KR_4", store.MatchEmpty, t0))
	equal(t, "read, forbidden and empty are done", w.toRead(a, "k1", "KR_3", "KR_1", "KR_2", "KR_4"), []string{"KR_2"})

	// An absent one is tried so often.
	for try := range store.MaxAbsentTries {
		got := get[[]store.MatchToRead](w)(w.Listed(w.ctx, a, "k1", []string{"KR_2"}, t0))
		equal(t, fmt.Sprint("after tries: ", try), got, []store.MatchToRead{{ID: "KR_2", Tries: try}})
		at := t0.Add(time.Duration(try) * time.Hour)
		w.must(w.MatchFailed(w.ctx, "KR_2", store.MatchAbsent, at))
		w.must(w.MatchFailed(w.ctx, "KR_2", store.MatchAbsent, at)) // Told twice, it counts once.
	}
	equal(t, "given up", w.toRead(a, "k1", "KR_2"), []string(nil))
	// A list longer than one statement takes.
	var many []string
	for i := range 1000 {
		many = append(many, fmt.Sprint("KR_10", i))
	}
	equal(t, "many", w.toRead(a, "k1", many...), many)
}

func testListedFills(t *testing.T, w *world) {
	w.home("a")
	w.play("KR_1", t0.Add(-time.Hour), "a", "late")
	late := w.register(10, "late", "k1")
	games := func() (n int) {
		for _, g := range get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0)).Games {
			n += b2i(g.Player == late)
		}
		return n
	}
	if games() != 0 {
		t.Fatal("a participation before the list was read")
	}
	equal(t, "to read", w.toRead(late, "k1", "KR_1"), []string(nil))
	if games() != 1 {
		t.Error("the participation was not filled in from the body")
	}
	equal(t, "to read again", w.toRead(late, "k1", "KR_1"), []string(nil))

	// Under another key the PUUIDs of the body say nothing: it is read again,
	// until the player's participation is there.
	other := npc("other", "k2")
	p, _, err := w.Register(w.ctx, 10, other, t0.Add(-day), nil, 50)
	w.must(err)
	w.play("KR_2", t0.Add(-time.Hour), "a", "other")
	equal(t, "read under another key", w.toRead(p.ID, "k2", "KR_2"), []string{"KR_2"})
	w.must(w.PutMatch(w.ctx, match("KR_2", t0.Add(-time.Hour), "k2", "a", "other"), t0))
	equal(t, "read under both keys", w.toRead(p.ID, "k2", "KR_2"), []string(nil))
	// Who is not in the body is not waited for.
	equal(t, "not in it", w.toRead(late, "k1", "KR_2"), []string(nil))
}

func testListedLeavesOut(t *testing.T, w *world) {
	w.home()
	w.channel(11, 1)
	p, _, err := w.Register(w.ctx, 10, npc("a", "k1"), t0.Add(-time.Hour), []string{"KR_1", "KR_2"}, 50)
	w.must(err)
	equal(t, "baseline of the one registration", w.toRead(p.ID, "k1", "KR_1", "KR_2", "KR_3"), []string{"KR_3"})
	_, _, err = w.Register(w.ctx, 11, npc("a", "k1"), t0.Add(-2*time.Hour), []string{"KR_2"}, 50)
	w.must(err)
	equal(t, "baseline of both", w.toRead(p.ID, "k1", "KR_1", "KR_2", "KR_3"), []string{"KR_1", "KR_3"})

	// Known to have ended before the earliest registration.
	w.must(w.PutMatch(w.ctx, match("KR_4", t0.Add(-2*time.Hour-time.Millisecond), "k2"), t0))
	w.must(w.PutMatch(w.ctx, match("KR_5", t0.Add(-90*time.Minute), "k2"), t0))
	equal(t, "ended before", w.toRead(p.ID, "k1", "KR_4", "KR_5"), []string{"KR_5"})
}

func testPutMatch(t *testing.T, w *world) {
	ids := w.home("a", "b", "gone")
	get[bool](w)(w.Unregister(w.ctx, 10, ids[2], t0))
	m := match("KR_1", t0.Add(-time.Hour), "k1", "a", "b", "gone", "stranger")
	m.Participants[0] = store.Participant{
		PUUID: "a/k1", GameName: "이름", TagLine: "😀", ChampionID: 222, ChampionName: "Jinx", Team: 200, Kills: 1, Deaths: 2, Assists: 3,
		CS: 4, Damage: 5, Outcome: store.OutcomePlacement, Placement: 6, PlacementOf: 8, Position: "BOTTOM",
		LargestMultiKill: 5, PentaKills: 1, TopDamage: true, Surrendered: true,
	}
	for range 5 {
		m.Participants = append(m.Participants, store.Participant{PUUID: "BOT", Bot: true, ChampionName: "Lucian"})
	}
	m.Participants = append(m.Participants, m.Participants[1], store.Participant{})
	w.must(w.PutMatch(w.ctx, m, t0))
	f := get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0))
	want := store.Game{
		Player: ids[0], Match: "KR_1", Platform: "kr", Queue: 420, Mode: "CLASSIC", Map: 11,
		Start: m.Start, End: m.End, Duration: 30 * time.Minute, Participant: m.Participants[0],
	}
	want.PUUID = ""
	if len(f.Games) != 2 || f.Games[1].Player != ids[1] {
		t.Fatalf("games %+v, want one each of a and b", f.Games)
	}
	equal(t, "game", f.Games[0], want)

	// A body that was read is kept; a participation is still added.
	c := w.register(10, "c", "k1")
	again := match("KR_1", t0, "k1", "a", "c")
	again.Queue = 450
	w.must(w.PutMatch(w.ctx, again, t0))
	f = get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0))
	if len(f.Games) != 3 || f.Games[2].Player != c || f.Games[2].Queue != 420 || !f.Games[2].End.Equal(m.End) {
		t.Fatalf("games %+v, want c's besides, in the match that is kept", f.Games)
	}
	equal(t, "a's game", f.Games[0], want)

	// From absent to read.
	w.must(w.MatchFailed(w.ctx, "KR_2", store.MatchAbsent, t0))
	w.play("KR_2", t0.Add(-time.Minute), "a")
	equal(t, "states", get[map[string]store.MatchState](w)(w.MatchStates(w.ctx, []string{"KR_2"})),
		map[string]store.MatchState{"KR_2": store.MatchRead})
	equal(t, "games", w.games(10, t0, t0), []string{"KR_1", "KR_1", "KR_1", "KR_2"})
}

func testMatchFailed(t *testing.T, w *world) {
	state := func() store.MatchState {
		return get[map[string]store.MatchState](w)(w.MatchStates(w.ctx, []string{"KR_1"}))["KR_1"]
	}
	for _, s := range []store.MatchState{store.MatchAbsent, store.MatchForbidden, store.MatchEmpty, store.MatchAbsent} {
		w.must(w.MatchFailed(w.ctx, "KR_1", s, t0))
		if got := state(); got != s {
			t.Errorf("state %d, want %d", got, s)
		}
	}
	w.play("KR_1", t0)
	w.must(w.MatchFailed(w.ctx, "KR_1", store.MatchAbsent, t0))
	if got := state(); got != store.MatchRead {
		t.Errorf("state %d of a match that was read", got)
	}
	for _, s := range []store.MatchState{0, store.MatchWanted, store.MatchRead} {
		if w.MatchFailed(w.ctx, "KR_1", s, t0) == nil {
			t.Errorf("state %d is no failure, but was taken", s)
		}
	}
}

func testRanks(t *testing.T, w *world) {
	a := w.home("a")[0]
	gold := store.Rank{Queue: store.QueueSolo, Tier: "GOLD", Division: "II", LP: 40, Wins: 10, Losses: 9}
	flex := store.Rank{Queue: store.QueueFlex, Tier: "MASTER", LP: 312, Wins: 100, Losses: 90}
	step := func(what string, at time.Time, ranks []store.Rank, wantBefore, wantAfter []store.Rank) []store.Rank {
		t.Helper()
		before, after, err := w.PutRanks(w.ctx, a, ranks, at)
		w.must(err)
		plain := func(ranks []store.Rank) (out []store.Rank) {
			for _, k := range ranks {
				if k.ID == 0 {
					t.Errorf("%s: no id: %+v", what, k)
				}
				k.ID = 0
				out = append(out, k)
			}
			return out
		}
		equal(t, what+": before", plain(before), wantBefore)
		equal(t, what+": after", plain(after), wantAfter)
		return after
	}
	at := func(k store.Rank, at time.Time) store.Rank { k.At = at; return k }
	none := store.Rank{Queue: store.QueueFlex}
	h := func(n int) time.Time { return t0.Add(time.Duration(n) * time.Hour) }

	first := step("first", h(0), []store.Rank{gold}, nil, []store.Rank{at(gold, h(0)), at(none, h(0))})
	same := step("the same", h(1), []store.Rank{gold}, []store.Rank{at(gold, h(0)), at(none, h(0))}, []store.Rank{at(gold, h(0)), at(none, h(0))})
	equal(t, "ids of the same", same, first)
	won := gold
	won.LP, won.Wins = 60, 11
	step("solo won, flex placed", h(2), []store.Rank{flex, won},
		[]store.Rank{at(gold, h(0)), at(none, h(0))}, []store.Rank{at(won, h(2)), at(flex, h(2))})
	// A clock that went back: what came last counts.
	lost := won
	lost.Losses, lost.LP = 10, 41
	step("lost, an hour back", h(1), []store.Rank{lost, flex},
		[]store.Rank{at(won, h(2)), at(flex, h(2))}, []store.Rank{at(lost, h(1)), at(flex, h(2))})
	step("a season later", h(3), nil,
		[]store.Rank{at(lost, h(1)), at(flex, h(2))}, []store.Rank{at(store.Rank{Queue: store.QueueSolo}, h(3)), at(none, h(3))})
	if p := get[store.Player](w)(w.Player(w.ctx, a)); !p.RanksAt.Equal(h(3)) {
		t.Errorf("ranks read at %v, want %v", p.RanksAt, h(3))
	}
	_, _, err := w.PutRanks(w.ctx, 9999, nil, t0)
	w.want(err, store.ErrNotFound)
}

// testRanksWanted: a ranked game that is news asks for the ranks, until they are
// read.
func testRanksWanted(t *testing.T, w *world) {
	ids := w.home("a", "b")
	a, b := ids[0], ids[1]
	check := func(what string, wantA, wantB bool) {
		t.Helper()
		gotA := get[store.Player](w)(w.Player(w.ctx, a)).RanksWanted
		gotB := get[store.Player](w)(w.Player(w.ctx, b)).RanksWanted
		if gotA != wantA || gotB != wantB {
			t.Errorf("%s: ranks wanted %v and %v, want %v and %v", what, gotA, gotB, wantA, wantB)
		}
	}
	read := func(p store.PlayerID) {
		t.Helper()
		_, _, err := w.PutRanks(w.ctx, p, nil, t0)
		w.must(err)
	}
	put := func(id string, queue int, outcome uint8, names ...string) {
		t.Helper()
		m := match(id, t0, "k1", names...)
		m.Queue = queue
		for i := range m.Participants {
			m.Participants[i].Outcome = outcome
		}
		w.must(w.PutMatch(w.ctx, m, t0))
	}
	check("at first", false, false)
	put("KR_1", 450, store.OutcomeWin, "a", "b")
	check("an ARAM", false, false)
	put("KR_2", 420, store.OutcomeRemake, "a", "b")
	check("a remake", false, false)
	put("KR_3", 420, store.OutcomeWin, "a")
	check("solo", true, false)
	w.must(w.Refreshed(w.ctx, a, t0, t0, false))
	check("refreshed without a word of ranks", true, false)
	read(a)
	check("read", false, false)
	put("KR_3", 420, store.OutcomeWin, "a")
	check("the same game again", false, false)
	put("KR_4", 440, store.OutcomeLoss, "a", "b")
	check("flex of both", true, true)
	read(a)
	read(b)
	w.must(w.Refreshed(w.ctx, b, t0, t0, true))
	check("asked for", false, true)
	read(b)
	// A body that is there already, listed by somebody registered since.
	w.must(w.PutMatch(w.ctx, match("KR_5", t0, "k1", "a", "c"), t0))
	read(a)
	c := w.register(10, "c", "k1")
	get[[]store.MatchToRead](w)(w.Listed(w.ctx, c, "k1", []string{"KR_5"}, t0))
	if !get[store.Player](w)(w.Player(w.ctx, c)).RanksWanted {
		t.Error("a game filled in from a stored body: ranks not wanted")
	}
}

func testShowRanks(t *testing.T, w *world) {
	a := w.home("a")[0]
	pairs := func() (shown, now int) {
		f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10))
		for _, p := range f[0].Ranks {
			if p.Queue == store.QueueSolo {
				if p.Shown != nil {
					shown = p.Shown.LP
				}
				if p.Now != nil {
					now = p.Now.LP
				}
			}
		}
		return shown, now
	}
	put := func(lp int) {
		t.Helper()
		_, _, err := w.PutRanks(w.ctx, a, []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: lp}}, t0)
		w.must(err)
	}
	check := func(wantShown, wantNow int) {
		t.Helper()
		if shown, now := pairs(); shown != wantShown || now != wantNow {
			t.Errorf("shown %d, now %d LP, want %d and %d", shown, now, wantShown, wantNow)
		}
	}
	w.must(w.ShowRanks(w.ctx, 10, a)) // Nothing is known: nothing is shown.
	check(0, 0)
	put(10)
	check(0, 10)
	w.must(w.ShowRanks(w.ctx, 10, a))
	check(10, 10)
	put(20)
	w.must(w.ShowRanks(w.ctx, 10, a)) // One was shown: it stays.
	check(10, 20)
	w.must(w.ShowRanks(w.ctx, 99, a))
	f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10))
	if len(f[0].Ranks) != 2 || f[0].Ranks[0].Queue != store.QueueSolo || f[0].Ranks[1].Queue != store.QueueFlex {
		t.Errorf("ranks %+v, want solo before flex", f[0].Ranks)
	}
	// Registered anew, nothing was shown yet.
	get[bool](w)(w.Unregister(w.ctx, 10, a, t0))
	w.register(10, "a", "k1")
	check(0, 20)
}
