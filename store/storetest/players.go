package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riftchime/store"
)

func testRegister(t *testing.T, w *world) {
	_, _, err := w.Register(w.ctx, 10, npc("a", "k1"), t0, nil, 50)
	w.want(err, store.ErrNotFound) // No such channel.
	_, err = w.PlayerByRiotID(w.ctx, "", "a", "KR1")
	w.want(err, store.ErrNotFound) // And no player left behind.

	w.home()
	p, what, err := w.Register(w.ctx, 10, npc("Calm in rain", "k1"), t0, []string{"KR_1", "KR_2", "KR_1"}, 2)
	w.must(err)
	if what != store.RegisteredNew {
		t.Errorf("registered %d, want a new one", what)
	}
	equal(t, "player", p, store.Player{ID: p.ID, Platform: "kr", GameName: "Calm in rain", TagLine: "KR1"})
	if p.ID == 0 || p.Name() != "Calm in rain#KR1" {
		t.Errorf("player %d %q", p.ID, p.Name())
	}
	equal(t, "player read", get[store.Player](w)(w.Player(w.ctx, p.ID)), p)

	// Again: the name follows, since and the baseline stay.
	np := npc("Calm in rain", "k1")
	np.GameName = "CALM IN RAIN"
	again, what, err := w.Register(w.ctx, 10, np, t0.Add(time.Hour), []string{"KR_3"}, 2)
	w.must(err)
	if what != store.RegisteredAlready || again.ID != p.ID || again.GameName != "CALM IN RAIN" {
		t.Errorf("again: %d, %+v", what, again)
	}
	f := get[[]store.Follow](w)(w.Registrations(w.ctx, 10))
	if len(f) != 1 || !f[0].Since.Equal(t0) || f[0].ShownName != "Calm in rain#KR1" {
		t.Errorf("registrations %+v", f)
	}

	w.register(10, "b", "k1")
	_, what, err = w.Register(w.ctx, 10, npc("c", "k1"), t0, nil, 2)
	w.must(err)
	if what != store.RegisteredFull {
		t.Errorf("third of two: %d, want full", what)
	}
	_, err = w.PlayerByRiotID(w.ctx, "kr", "c", "KR1")
	w.want(err, store.ErrNotFound) // Nothing changed.
	// Who is there already is told so, full or not.
	_, what, err = w.Register(w.ctx, 10, npc("b", "k1"), t0, nil, 2)
	w.must(err)
	if what != store.RegisteredAlready {
		t.Errorf("registered %d, want already", what)
	}
	// A name is not changed by what did not happen.
	w.channel(11, 1)
	full := npc("b", "k1")
	full.GameName = "renamed"
	if _, what, err = w.Register(w.ctx, 11, full, t0, nil, 0); err != nil || what != store.RegisteredFull {
		t.Errorf("none of none: %d, %v, want full", what, err)
	}
	_, err = w.PlayerByRiotID(w.ctx, "kr", "renamed", "KR1")
	w.want(err, store.ErrNotFound)
}

func testRegisterFinds(t *testing.T, w *world) {
	w.home()
	w.server(2, "k2")
	w.channel(20, 2)
	a := w.register(10, "a", "k1")

	// By PUUID, whatever the name and platform.
	np := npc("a", "k1")
	np.GameName, np.TagLine, np.Platform = "새 이름", "0000", "jp1"
	p, what, err := w.Register(w.ctx, 20, np, t0, nil, 50)
	w.must(err)
	if p.ID != a || what != store.RegisteredNew || p.Name() != "새 이름#0000" || p.Platform != "jp1" {
		t.Errorf("by PUUID: %d, %+v, want player %d with the new name", what, p, a)
	}
	equal(t, "former names", get[[]string](w)(w.FormerNames(w.ctx, a)), []string{"a#KR1"})

	// By Riot ID where the PUUID is another key's, which is then known too.
	np.Key, np.PUUID = "k2", "a/k2"
	p, _, err = w.Register(w.ctx, 20, np, t0, nil, 50)
	w.must(err)
	if p.ID != a {
		t.Errorf("by Riot ID: player %d, want %d", p.ID, a)
	}
	for _, key := range []string{"k1", "k2"} {
		if got := get[string](w)(w.PUUID(w.ctx, a, key)); got != "a/"+key {
			t.Errorf("PUUID under %s: %q", key, got)
		}
	}
	// Another platform's is another player.
	np.Platform, np.Key, np.PUUID = "euw1", "k3", "x"
	p, _, err = w.Register(w.ctx, 20, np, t0, nil, 50)
	w.must(err)
	if p.ID == a {
		t.Error("a player of another platform is taken for the same")
	}
	// Without a PUUID the Riot ID decides.
	p, _, err = w.Register(w.ctx, 20, store.NewPlayer{Platform: "jp1", GameName: "새 이름", TagLine: "0000"}, t0, nil, 50)
	w.must(err)
	if p.ID != a {
		t.Errorf("without a PUUID: player %d, want %d", p.ID, a)
	}
}

func testRegisterTakenOver(t *testing.T, w *world) {
	old := w.home("x")[0]
	// x was renamed, unknown to us, and somebody else took the Riot ID.
	np := npc("x", "k1")
	np.PUUID = "somebody else"
	p, what, err := w.Register(w.ctx, 10, np, t0, nil, 50)
	w.must(err)
	if what != store.RegisteredNew || p.ID == old {
		t.Errorf("registered %d as player %d: the Riot ID changed hands, it is not player %d", what, p.ID, old)
	}
	if got := get[string](w)(w.PUUID(w.ctx, old, "k1")); got != "x/k1" {
		t.Errorf("PUUID of the first one: %q", got)
	}
	if by := get[store.Player](w)(w.PlayerByRiotID(w.ctx, "kr", "X", "kr1")); by.ID != p.ID {
		t.Errorf("by Riot ID: player %d, want the newer one, %d", by.ID, p.ID)
	}
}

func testRegisterAtOnce(t *testing.T, w *world) {
	const most = 5
	w.home()
	for c := store.ChannelID(11); c < 15; c++ {
		w.channel(c, 1)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[store.Registered]int{}
		ids  = map[store.PlayerID]bool{}
	)
	for i := range 24 {
		wg.Go(func() {
			// 12 players in channel 10, and "shared" twice in four others.
			channel, name := store.ChannelID(10), fmt.Sprint("p", i/2)
			if i >= 16 {
				channel, name = store.ChannelID(11+i%4), "shared"
			}
			p, what, err := w.Register(w.ctx, channel, npc(name, "k1"), t0, []string{"KR_1"}, most)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if channel == 10 {
				seen[what]++
			} else {
				ids[p.ID] = true
			}
		})
	}
	wg.Wait()
	if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, 10))); n != most || seen[store.RegisteredNew] != most {
		t.Errorf("%d registered, %d of them new, want %d", n, seen[store.RegisteredNew], most)
	}
	if len(ids) != 1 {
		t.Errorf("one player registered in several channels at once became %d", len(ids))
	}
	for c := store.ChannelID(11); c < 15; c++ {
		if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, c))); n != 1 {
			t.Errorf("channel %d has %d players, want 1", c, n)
		}
	}
}

func testUnregister(t *testing.T, w *world) {
	a := w.home("a")[0]
	w.channel(11, 1)
	if _, _, err := w.Register(w.ctx, 11, npc("a", "k1"), t0.Add(-day), []string{"KR_1"}, 50); err != nil {
		t.Fatal(err)
	}
	get2 := func(channel store.ChannelID, id store.PlayerID, at time.Time) bool {
		return get[bool](w)(w.Unregister(w.ctx, channel, id, at))
	}
	if get2(12, a, t0) || get2(10, a+99, t0) {
		t.Error("unregistered what was not registered")
	}
	if !get2(10, a, t0) || get2(10, a, t0) {
		t.Error("want true once, then false")
	}
	if p := get[store.Player](w)(w.Player(w.ctx, a)); !p.UnfollowedAt.IsZero() {
		t.Errorf("unfollowed at %v while channel 11 follows", p.UnfollowedAt)
	}
	if !get2(11, a, t0.Add(time.Minute)) {
		t.Error("want true")
	}
	if p := get[store.Player](w)(w.Player(w.ctx, a)); !p.UnfollowedAt.Equal(t0.Add(time.Minute)) {
		t.Errorf("unfollowed at %v, want %v", p.UnfollowedAt, t0.Add(time.Minute))
	}
	// Followed again: the baseline of before is gone.
	if id := w.register(11, "a", "k1"); id != a {
		t.Errorf("player %d, want %d again", id, a)
	}
	if p := get[store.Player](w)(w.Player(w.ctx, a)); !p.UnfollowedAt.IsZero() {
		t.Errorf("unfollowed at %v, followed again", p.UnfollowedAt)
	}
	w.play("KR_1", t0.Add(-time.Hour), "a")
	equal(t, "games", w.games(11, t0, t0), []string{"KR_1"})
}

func testUnregisterAtOnce(t *testing.T, w *world) {
	w.home()
	const channels = 8
	var id store.PlayerID
	for c := range store.ChannelID(channels) {
		w.channel(100+c, 1)
		id = w.register(100+c, "a", "k1")
	}
	var wg sync.WaitGroup
	for c := range store.ChannelID(channels) {
		wg.Go(func() {
			if was, err := w.Unregister(w.ctx, 100+c, id, t0); err != nil || !was {
				t.Errorf("channel %d: %v, %v", c, was, err)
			}
		})
	}
	wg.Wait()
	if p := get[store.Player](w)(w.Player(w.ctx, id)); !p.UnfollowedAt.Equal(t0) {
		t.Errorf("unfollowed at %v, want %v", p.UnfollowedAt, t0)
	}
}

func testRiotID(t *testing.T, w *world) {
	w.home()
	for _, c := range []struct{ name, tag, asked, askedTag string }{
		{"Calm in rain", "KR1", "cALM IN RAIN", "kr1"},
		{"éÀÖ", "Ñ", "ÉàÖ", "ñ"},
		{"ПРИВЕТ", "RU1", "привет", "ru1"},
		{"한글 이름", "가나", "한글 이름", "가나"},
		{"조합", "KR1", "\u110c\u1169\u1112\u1161\u11b8", "KR1"}, // The same letters, decomposed.
		{"ΣΊΣΥΦΟΣ", "1", "σίσυφος", "1"},
		{"Straße", "DE", "STRASSE", "de"},
		{"😀", "🔥", "😀", "🔥"},
		{"a#b", "c", "A#B", "C"},
		{"50%_", "x", "50%_", "X"},
	} {
		np := npc(c.name, "k1")
		np.TagLine = c.tag
		p, _, err := w.Register(w.ctx, 10, np, t0, nil, 50)
		w.must(err)
		for _, platform := range []string{"", "kr"} {
			got, err := w.PlayerByRiotID(w.ctx, platform, c.asked, c.askedTag)
			if err != nil || got.ID != p.ID || got.GameName != c.name || got.TagLine != c.tag {
				t.Errorf("%q#%q asked on %q as %q#%q: %+v, %v", c.name, c.tag, platform, c.asked, c.askedTag, got, err)
			}
		}
		_, err = w.PlayerByRiotID(w.ctx, "na1", c.asked, c.askedTag)
		w.want(err, store.ErrNotFound)
	}
	_, err := w.PlayerByRiotID(w.ctx, "", "50xx", "x")
	w.want(err, store.ErrNotFound)
}

func testPUUIDs(t *testing.T, w *world) {
	ids := w.home("a", "b")
	_, err := w.PUUID(w.ctx, ids[0], "k2")
	w.want(err, store.ErrNotFound)
	w.must(w.SetPUUID(w.ctx, ids[0], "k2", "a2"))
	w.must(w.SetPUUID(w.ctx, ids[0], "k2", "a2"))
	w.must(w.SetPUUID(w.ctx, ids[0], "k2", "a3"))
	if got := get[string](w)(w.PUUID(w.ctx, ids[0], "k2")); got != "a3" {
		t.Errorf("PUUID %q, want the last one set", got)
	}
	w.want(w.SetPUUID(w.ctx, ids[1], "k2", "a3"), store.ErrTaken)
	w.must(w.SetPUUID(w.ctx, ids[1], "k3", "a3")) // Under another key it is another one.
	w.want(w.SetPUUID(w.ctx, 9999, "k2", "z"), store.ErrNotFound)
}

func testNames(t *testing.T, w *world) {
	a := w.home("a")[0]
	name := func(gameName string, after time.Duration) {
		t.Helper()
		w.must(w.SetName(w.ctx, a, gameName, "KR1", t0.Add(after)))
	}
	name("a", 0)
	equal(t, "former names", get[[]string](w)(w.FormerNames(w.ctx, a)), []string(nil))
	name("A", time.Minute) // Letter case is a change.
	name("b", 2*time.Minute)
	name("c", 3*time.Minute)
	equal(t, "former names", get[[]string](w)(w.FormerNames(w.ctx, a)), []string{"b#KR1", "A#KR1", "a#KR1"})
	name("b", 4*time.Minute) // And back.
	equal(t, "former names", get[[]string](w)(w.FormerNames(w.ctx, a)), []string{"c#KR1", "A#KR1", "a#KR1"})
	if p := get[store.Player](w)(w.Player(w.ctx, a)); p.Name() != "b#KR1" {
		t.Errorf("name %q", p.Name())
	}
	if p := get[store.Player](w)(w.PlayerByRiotID(w.ctx, "", "B", "kr1")); p.ID != a {
		t.Errorf("found %d by the new name, want %d", p.ID, a)
	}
	_, err := w.PlayerByRiotID(w.ctx, "", "c", "KR1")
	w.want(err, store.ErrNotFound)
	w.want(w.SetName(w.ctx, 9999, "x", "y", t0), store.ErrNotFound)
	w.must(w.SetPlatform(w.ctx, a, "jp1"))
	if p := get[store.Player](w)(w.Player(w.ctx, a)); p.Platform != "jp1" {
		t.Errorf("platform %q", p.Platform)
	}
	w.want(w.SetPlatform(w.ctx, 9999, "x"), store.ErrNotFound)
	w.want(w.Refreshed(w.ctx, 9999, t0, t0, false), store.ErrNotFound)
}

func testRegistrations(t *testing.T, w *world) {
	ids := w.home("c", "a", "b")
	w.channel(11, 1)
	w.register(11, "d", "k1")
	var got []store.PlayerID
	for _, f := range get[[]store.Follow](w)(w.Registrations(w.ctx, 10)) {
		got = append(got, f.Player.ID)
		if !f.Since.Equal(t0.Add(-day)) || f.ShownName != f.Player.Name() || len(f.Ranks) != 0 {
			t.Errorf("follow %+v", f)
		}
	}
	equal(t, "in the order of registration", got, ids)
	equal(t, "of no channel", get[[]store.Follow](w)(w.Registrations(w.ctx, 99)), []store.Follow(nil))
	get[bool](w)(w.Unregister(w.ctx, 10, ids[0], t0))
	w.register(10, "c", "k1")
	got = nil
	for _, f := range get[[]store.Follow](w)(w.Registrations(w.ctx, 10)) {
		got = append(got, f.Player.ID)
	}
	equal(t, "registered again comes last", got, []store.PlayerID{ids[1], ids[2], ids[0]})
}

func testForget(t *testing.T, w *world) {
	ids := w.home("Secret", "friend")
	secret, friend := ids[0], ids[1]
	w.channel(11, 1)
	w.register(11, "Secret", "k1")
	w.must(w.SetPUUID(w.ctx, secret, "k2", "Secret/k2"))
	w.must(w.SetName(w.ctx, secret, "Renamed", "KR1", t0))
	w.play("KR_1", t0.Add(-time.Hour), "Secret", "friend")
	// Read under a key whose PUUID is not known, in another spelling, and the
	// name of now.
	w.must(w.PutMatch(w.ctx, match("KR_2", t0, "k9", "SECRET", "friend", "renamed"), t0))
	w.must(w.PutMatch(w.ctx, match("KR_3", t0, "k2", "Secret"), t0))
	_, after, err := w.PutRanks(w.ctx, secret, []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I", LP: 1}}, t0)
	w.must(err)
	w.must(w.ShowRanks(w.ctx, 10, secret))
	r := ready(1, "KR_1")
	r.Names = []store.ShownName{{Player: secret, Name: "Renamed#KR1"}, {Player: friend, Name: "friend#KR1"}}
	r.Ranks = []store.ShownRank{{Player: secret, Queue: store.QueueSolo, Snapshot: after[0].ID}}
	r.Parts[0].Body = []byte("Renamed played")
	w.send(r)
	w.must(w.AddReasons(w.ctx, []store.Reason{{Channel: 10, Player: secret, Code: "x", Detail: "Renamed", At: t0}, {Channel: 10, Code: "y", At: t0}}))

	w.must(w.Forget(w.ctx, secret))
	w.want(w.Forget(w.ctx, secret), store.ErrNotFound)
	_, err = w.Player(w.ctx, secret)
	w.want(err, store.ErrNotFound)
	for _, n := range []string{"Secret", "Renamed"} {
		_, err = w.PlayerByRiotID(w.ctx, "", n, "KR1")
		w.want(err, store.ErrNotFound)
	}
	for _, k := range []string{"k1", "k2"} {
		_, err = w.PUUID(w.ctx, secret, k)
		w.want(err, store.ErrNotFound)
	}
	equal(t, "former names", get[[]string](w)(w.FormerNames(w.ctx, secret)), []string(nil))
	if rs := get[[]store.Reason](w)(w.Reasons(w.ctx, 10, 0, 9)); len(rs) != 1 || rs[0].Code != "y" {
		t.Errorf("reasons %+v, want the one about nobody", rs)
	}
	if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, 10))); n != 1 {
		t.Errorf("%d followed in channel 10, want the friend", n)
	}
	if n := len(get[[]store.Follow](w)(w.Registrations(w.ctx, 11))); n != 0 {
		t.Errorf("%d followed in channel 11, want nobody", n)
	}
	if parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0)); len(parts) != 1 || len(parts[0].Body) != 0 || parts[0].State != store.PartSent {
		t.Errorf("parts %+v, want one sent, its body gone", parts)
	}
	// The name is in no body any more: registered again, nothing is found in
	// the matches read before, but for the friend.
	w.register(10, "new friend", "k1")
	again := w.register(10, "Secret", "k1")
	get[[]store.MatchToRead](w)(w.Listed(w.ctx, again, "k1", []string{"KR_1", "KR_2", "KR_3"}, t0))
	f := get[store.Facts](w)(w.Facts(w.ctx, 10, t0, t0))
	if len(f.Games) != 1 || f.Games[0].Player != friend {
		t.Errorf("games %+v, want the friend's", f.Games)
	}
	w.must(w.Forget(w.ctx, again))
	all := w.Dump(t)
	for _, name := range []string{"secret", "renamed"} {
		if i := strings.Index(strings.ToLower(all), name); i >= 0 {
			t.Errorf("the store still holds %q: …%s…", name, all[max(0, i-80):min(len(all), i+80)])
		}
	}
	if !strings.Contains(all, "friend") {
		t.Error("nobody else is in the dump either: it shows nothing")
	}
}

func testForgetReports(t *testing.T, w *world) {
	ids := w.home("a", "b")
	w.play("KR_1", t0.Add(-time.Hour), "a")
	w.put(ready(2, "KR_1"))
	w.must(w.Forget(w.ctx, ids[0]))
	if r := w.report(t0); r.State != store.ReportPlanned {
		t.Errorf("state %d, want planned anew", r.State)
	}
	equal(t, "parts", get[[]store.Part](w)(w.Parts(w.ctx, 10, t0)), []store.Part(nil))

	// Under way: what went into sending stays so, without its body.
	w.put(ready(2))
	w.claim(0)
	w.must(w.Forget(w.ctx, ids[1]))
	parts := get[[]store.Part](w)(w.Parts(w.ctx, 10, t0))
	if len(parts) != 2 || parts[0].State != store.PartSending || len(parts[0].Body)+len(parts[1].Body) != 0 {
		t.Errorf("parts %+v, want both without a body", parts)
	}
}

func testDuePlayers(t *testing.T, w *world) {
	w.server(1, "k1")
	w.server(2, "k1")
	w.channel(10, 1)
	w.channel(11, 1)
	w.channel(20, 2)
	w.must(w.SetNextSlot(w.ctx, 20, t0.Add(time.Hour)))
	a := w.register(10, "a", "k1")
	w.register(11, "a", "k1")
	_, _, err := w.Register(w.ctx, 20, npc("a", "k1"), t0.Add(-3*day), nil, 50)
	w.must(err)
	b := w.register(11, "b", "k1")
	c := w.register(20, "c", "k1")
	w.play("KR_1", t0.Add(-2*time.Hour), "a")
	w.play("KR_2", t0.Add(-time.Hour), "a")

	due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0))
	equal(t, "due", due, []store.DuePlayer{
		{
			Player: get[store.Player](w)(w.Player(w.ctx, a)), Key: "k1", PUUID: "a/k1",
			Since: t0.Add(-3 * day), NewestListed: t0.Add(-time.Hour),
		},
		{Player: get[store.Player](w)(w.Player(w.ctx, b)), Key: "k1", PUUID: "b/k1", Since: t0.Add(-day)},
	})

	w.must(w.Refreshed(w.ctx, a, t0, t0.Add(-5*time.Minute), true))
	p := get[store.Player](w)(w.Player(w.ctx, a))
	if !p.RefreshedAt.Equal(t0.Add(-5*time.Minute)) || !p.RefreshedSlot.Equal(t0) || !p.RanksWanted {
		t.Errorf("refreshed: %+v", p)
	}
	if due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0)); len(due) != 1 || due[0].ID != b {
		t.Errorf("due after a was refreshed: %+v, want b", due)
	}
	// At the next hour a is due again, and c.
	due = get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0.Add(time.Hour)))
	if len(due) != 3 || due[0].ID != a || due[1].ID != b || due[2].ID != c {
		t.Errorf("due an hour later: %+v, want all three", due)
	}
	// A clock that went back leaves nobody out.
	w.must(w.Refreshed(w.ctx, a, t0.Add(day), t0.Add(day), false))
	if due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0)); len(due) != 2 {
		t.Errorf("due after the clock went back: %+v, want a and b", due)
	}
	// Of one channel: refreshed or not, due or not.
	of := get[[]store.DuePlayer](w)(w.DuePlayersOf(w.ctx, 20))
	if len(of) != 2 || of[0].ID != a || of[1].ID != c {
		t.Errorf("of channel 20: %+v, want a and c", of)
	}
	// Channels that are not due do not count.
	w.must(w.PauseChannel(w.ctx, 11, "x", t0))
	w.must(w.SetNextSlot(w.ctx, 10, time.Time{}))
	if due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0)); len(due) != 0 {
		t.Errorf("due of channels paused and off: %+v", due)
	}
}

func testDuePlayersKeys(t *testing.T, w *world) {
	w.server(1, "k1")
	w.server(2, "k2")
	w.server(3, "")
	for _, s := range []store.ServerID{1, 2, 3} {
		w.channel(store.ChannelID(s*10), s)
	}
	a := w.register(30, "a", "k2") // Server 3 has no key.
	one := func() store.DuePlayer {
		t.Helper()
		due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0))
		if len(due) != 1 || due[0].ID != a {
			t.Fatalf("due %+v, want player %d once", due, a)
		}
		return due[0]
	}
	if d := one(); d.Key != "" || d.PUUID != "" {
		t.Errorf("key %q, PUUID %q, want none", d.Key, d.PUUID)
	}
	_, _, err := w.Register(w.ctx, 10, npc("a", "k2"), t0, nil, 50)
	w.must(err)
	if d := one(); d.Key != "k1" || d.PUUID != "" {
		t.Errorf("key %q, PUUID %q, want k1, where it is not known yet", d.Key, d.PUUID)
	}
	_, _, err = w.Register(w.ctx, 20, npc("a", "k2"), t0, nil, 50)
	w.must(err)
	if d := one(); d.Key != "k2" || d.PUUID != "a/k2" {
		t.Errorf("key %q, PUUID %q, want k2, where it is known", d.Key, d.PUUID)
	}
	w.must(w.SetPUUID(w.ctx, a, "k1", "a/k1"))
	if d := one(); d.Key != "k1" || d.PUUID != "a/k1" {
		t.Errorf("key %q, PUUID %q, want the first of two that know it", d.Key, d.PUUID)
	}
	w.must(w.ServerGone(w.ctx, 1, t0))
	if d := one(); d.Key != "k2" {
		t.Errorf("key %q, want that of a server that is there", d.Key)
	}
}

func testDuePlayersMany(t *testing.T, w *world) {
	const channels, each = 20, 50
	for s := range store.ServerID(channels) {
		w.server(s+1, "k1")
		w.channel(store.ChannelID(s+1), s+1)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for c := worker; c < channels; c += 4 {
				for p := range each {
					if _, _, err := w.Register(w.ctx, store.ChannelID(c+1), npc(fmt.Sprint(c, ".", p), "k1"), t0, nil, each); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	took := fastest(func() {
		if due := get[[]store.DuePlayer](w)(w.DuePlayers(w.ctx, t0)); len(due) != channels*each {
			t.Fatalf("%d due, want %d", len(due), channels*each)
		}
	})
	t.Logf("%d due players in %v", channels*each, took)
	if took > time.Second && !raceEnabled {
		t.Errorf("%d due players took %v, want a few hundredths of a second", channels*each, took)
	}
}

// fastest is how long the fastest of three runs of f took.
func fastest(f func()) time.Duration {
	var took []time.Duration
	for range 3 {
		start := time.Now()
		f()
		took = append(took, time.Since(start))
	}
	return slices.Min(took)
}
