package storetest

import (
	"fmt"
	"testing"
	"time"

	"riftchime/store"
)

func testFacts(t *testing.T, w *world) {
	_, err := w.Facts(w.ctx, 10, t0, t0)
	w.want(err, store.ErrNotFound)
	ids := w.home("b", "a")
	_, after, err := w.PutRanks(w.ctx, ids[1], []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: 5}}, t0)
	w.must(err)
	w.must(w.ShowRanks(w.ctx, 10, ids[1]))
	w.play("KR_2", t0.Add(-time.Hour), "a", "b")
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_0", t0.Add(-time.Hour), "b")

	f := get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0))
	equal(t, "channel", f.Channel, get[store.Channel](w)(w.Channel(w.ctx, 10)))
	equal(t, "server", f.Server, get[store.Server](w)(w.Server(w.ctx, 1)))
	if len(f.Follows) != 2 || f.Follows[0].Player.ID != ids[0] || f.Follows[1].Player.ID != ids[1] {
		t.Fatalf("follows %+v, want b and a", f.Follows)
	}
	equal(t, "player", f.Follows[1].Player, get[store.Player](w)(w.Player(w.ctx, ids[1])))
	if !f.Follows[1].Since.Equal(t0.Add(-day)) || f.Follows[1].ShownName != "a#KR1" {
		t.Errorf("follow %+v", f.Follows[1])
	}
	equal(t, "ranks", f.Follows[1].Ranks, []store.RankPair{
		{Queue: store.QueueSolo, Now: &after[0], Shown: &after[0]},
		{Queue: store.QueueFlex, Now: &after[1], Shown: &after[1]},
	})
	equal(t, "ranks of who has none", f.Follows[0].Ranks, []store.RankPair(nil))
	type game struct {
		Match  string
		Player store.PlayerID
	}
	var got []game
	for _, g := range f.Games {
		got = append(got, game{g.Match, g.Player})
	}
	equal(t, "games, oldest first", got, []game{{"KR_1", ids[1]}, {"KR_0", ids[0]}, {"KR_2", ids[0]}, {"KR_2", ids[1]}})

	w.channel(11, 1)
	f = get[store.Facts](w)(w.Facts(w.ctx, 11, t0, t0))
	if f.Channel.ID != 11 || f.Server.ID != 1 || len(f.Follows)+len(f.Games) != 0 {
		t.Errorf("facts of an empty channel: %+v", f)
	}
}

func testFactsExclude(t *testing.T, w *world) {
	w.home()
	since := t0.Add(-10 * day)
	for _, c := range []store.ChannelID{10, 11} {
		if c == 11 {
			w.channel(11, 1)
		}
		_, _, err := w.Register(w.ctx, c, npc("a", "k1"), since, map[store.ChannelID][]string{10: {"KR_baseline"}}[c], 50)
		w.must(err)
	}
	_, _, err := w.Register(w.ctx, 10, npc("old", "k1"), t0.Add(-100*day), nil, 50)
	w.must(err)
	w.play("KR_at_since", since, "a")
	w.play("KR_after_since", since.Add(time.Millisecond), "a")
	w.play("KR_baseline", t0.Add(-5*day), "a")
	w.play("KR_taken_elsewhere", t0.Add(-4*day), "a")
	w.play("KR_taken_here", t0.Add(-3*day), "a")
	w.play("KR_free", t0.Add(-2*day), "a")
	w.play("KR_not_theirs", t0.Add(-day), "stranger")
	w.play("KR_14_days", t0.Add(-14*day), "old")
	w.play("KR_too_old", t0.Add(-14*day-time.Millisecond), "old")
	w.must(w.MatchFailed(w.ctx, "KR_forbidden", store.MatchForbidden, t0))
	all := []string{"KR_14_days", "KR_after_since", "KR_taken_elsewhere", "KR_taken_here", "KR_free"}
	equal(t, "before any report", w.games(10, t0, t0), all)

	before := ready(1, "KR_taken_elsewhere")
	before.Slot = t0.Add(-time.Hour)
	w.put(before)
	w.put(ready(1, "KR_taken_here"))
	equal(t, "of this slot", w.games(10, t0, t0), []string{"KR_14_days", "KR_after_since", "KR_taken_here", "KR_free"})
	equal(t, "of the slot before", w.games(10, before.Slot, t0), []string{"KR_14_days", "KR_after_since", "KR_taken_elsewhere", "KR_free"})
	equal(t, "of no slot", w.games(10, time.Time{}, t0), []string{"KR_14_days", "KR_after_since", "KR_free"})
	equal(t, "of the other channel", w.games(11, t0, t0),
		[]string{"KR_after_since", "KR_baseline", "KR_taken_elsewhere", "KR_taken_here", "KR_free"})
	equal(t, "a little later", w.games(10, time.Time{}, t0.Add(time.Millisecond)), []string{"KR_after_since", "KR_free"})
	// A clock that went back loses nothing.
	equal(t, "hours earlier", len(w.games(10, time.Time{}, t0.Add(-day))), 4)
}

func testFactsRecent(t *testing.T, w *world) {
	ids := w.home("a", "b", "c")
	outcomes := []uint8{store.OutcomeWin, store.OutcomeLoss, store.OutcomeRemake, store.OutcomePlacement, store.OutcomeNone}
	// 30 games of a, one an hour up to t0, and 3 of b.
	for i := range 30 {
		m := match(fmt.Sprintf("KR_%02d", i), t0.Add(time.Duration(i-29)*time.Hour), "k1", "a")
		m.Participants[0].Outcome = outcomes[i%5]
		w.must(w.PutMatch(w.ctx, m, t0))
	}
	for i := range 3 {
		m := match(fmt.Sprint("KR_b", i), t0.Add(time.Duration(i-50)*time.Hour), "k1", "b")
		m.Participants[0].Outcome = outcomes[i]
		w.must(w.PutMatch(w.ctx, m, t0))
	}
	recent := func(slot time.Time) map[store.PlayerID][]uint8 {
		out := map[store.PlayerID][]uint8{}
		for _, f := range get[store.Facts](w)(w.Facts(w.ctx, 10, slot, t0)).Follows {
			out[f.Player.ID] = f.Recent
		}
		return out
	}
	want := func(newest, n int) (out []uint8) {
		for i := newest; len(out) < n; i-- {
			out = append(out, outcomes[i%5])
		}
		return out
	}
	// Registered a day before t0, so the games from hour -23 on are new; those
	// before count as recent, back to before the registration.
	got := recent(t0)
	equal(t, "a's", got[ids[0]], want(5, 6))
	equal(t, "b's, who has no new game", got[ids[1]], want(2, 3))
	equal(t, "c's, who never played", got[ids[2]], []uint8(nil))
	// With all but the last two reported, the newest 20 before these.
	var games []string
	for i := range 28 {
		games = append(games, fmt.Sprintf("KR_%02d", i))
	}
	r := ready(1, games...)
	r.Slot = t0.Add(-time.Hour)
	w.put(r)
	equal(t, "a's, with two new ones", recent(t0)[ids[0]], want(27, 20))
	// One that was listed late moves the beginning back: never cut short.
	w.play("KR_late", t0.Add(-90*time.Minute), "a")
	equal(t, "a's, with one that came late", recent(t0)[ids[0]], want(27, 20))
	all := ready(1, "KR_28", "KR_29", "KR_late")
	w.put(all)
	got = recent(time.Time{})
	equal(t, "a's, with nothing new", len(got[ids[0]]), 20)
	equal(t, "newest first", got[ids[0]][:2], want(29, 2))
}

func testFactsMany(t *testing.T, w *world) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprint("p", i))
	}
	w.home(names...)
	for g := range 20 {
		for i := 0; i < len(names); i += 5 {
			w.play(fmt.Sprintf("KR_%d_%d", g, i), t0.Add(-time.Duration(g+1)*time.Hour), names[i:i+5]...)
		}
	}
	took := fastest(func() {
		if f := get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0)); len(f.Games) != 1000 || len(f.Follows) != 50 {
			t.Fatalf("%d games of %d players, want 1000 of 50", len(f.Games), len(f.Follows))
		}
	})
	t.Logf("facts of 50 players with 20 games each in %v", took)
	if took > time.Second && !raceEnabled {
		t.Errorf("facts took %v", took)
	}
}
