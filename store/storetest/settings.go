package storetest

import (
	"errors"
	"testing"
	"time"

	"riftchime/store"
)

func isError(err, want error) bool {
	if want == nil {
		return err == nil
	}
	return errors.Is(err, want)
}

func testServers(t *testing.T, w *world) {
	_, err := w.Server(w.ctx, 1)
	w.want(err, store.ErrNotFound)
	w.want(w.ServerGone(w.ctx, 1, t0), store.ErrNotFound)
	w.want(w.SetServerKey(w.ctx, 1, "k"), store.ErrNotFound)

	s := store.Server{ID: 1 << 62, Name: "소환사의 협곡 ⚔️", Locale: "ko", JoinedAt: t0}
	w.must(w.PutServer(w.ctx, s))
	equal(t, "server", get[store.Server](w)(w.Server(w.ctx, s.ID)), s)

	// The key is taken while there is none, and then stays; so does JoinedAt.
	again := s
	again.Name, again.Locale, again.Key, again.JoinedAt = "new name", "en-US", "k1", t0.Add(time.Hour)
	w.must(w.PutServer(w.ctx, again))
	again.JoinedAt = t0
	equal(t, "server put again", get[store.Server](w)(w.Server(w.ctx, s.ID)), again)
	other := again
	other.Key = "k2"
	w.must(w.PutServer(w.ctx, other))
	equal(t, "server put with another key", get[store.Server](w)(w.Server(w.ctx, s.ID)), again)
	w.must(w.SetServerKey(w.ctx, s.ID, "k3"))
	again.Key = "k3"
	equal(t, "server after SetServerKey", get[store.Server](w)(w.Server(w.ctx, s.ID)), again)

	w.server(2, "")
	equal(t, "present", len(get[[]store.Server](w)(w.ServersPresent(w.ctx))), 2)
	w.must(w.ServerGone(w.ctx, s.ID, t0))
	w.must(w.ServerGone(w.ctx, s.ID, t0.Add(time.Hour)))
	if got := get[store.Server](w)(w.Server(w.ctx, s.ID)).GoneAt; !got.Equal(t0) {
		t.Errorf("gone at %v, want the first time, %v", got, t0)
	}
	present := get[[]store.Server](w)(w.ServersPresent(w.ctx))
	if len(present) != 1 || present[0].ID != 2 {
		t.Errorf("present %v, want server 2 alone", present)
	}
	w.must(w.PutServer(w.ctx, s))
	if got := get[store.Server](w)(w.Server(w.ctx, s.ID)); !got.GoneAt.IsZero() || got.Key != "k3" {
		t.Errorf("back again: %+v, want it present with its key", got)
	}
	present = get[[]store.Server](w)(w.ServersPresent(w.ctx))
	if len(present) != 2 || present[0].ID != 2 || present[1].ID != s.ID {
		t.Errorf("present %v, want both by id", present)
	}
}

func testKeyLoad(t *testing.T, w *world) {
	w.server(1, "k1")
	w.server(2, "k2")
	w.server(3, "")
	w.server(4, "k4")
	w.channel(10, 1)
	w.channel(11, 1)
	w.channel(20, 2)
	w.channel(30, 3)
	w.channel(40, 4)
	w.register(10, "a", "k1")
	w.register(11, "a", "k1")
	w.register(11, "b", "k1")
	w.register(20, "c", "k2")
	w.register(30, "d", "")
	w.register(40, "e", "k4")
	w.must(w.ServerGone(w.ctx, 4, t0))
	equal(t, "load", get[map[string]int](w)(w.KeyLoad(w.ctx)), map[string]int{"k1": 2, "k2": 1})
}

func testChannels(t *testing.T, w *world) {
	c := store.Channel{
		ID: 10, Server: 1, Zone: "Asia/Kathmandu", Language: "en", Hours: 1<<24 - 1, Quiet: true,
		NextSlot: t0.Add(15 * time.Minute), CreatedAt: t0,
	}
	w.want(w.PutChannel(w.ctx, c), store.ErrNotFound) // No such server.
	w.server(1, "k1")
	w.server(2, "k1")
	_, err := w.Channel(w.ctx, 10)
	w.want(err, store.ErrNotFound)
	w.must(w.PutChannel(w.ctx, c))
	equal(t, "channel", get[store.Channel](w)(w.Channel(w.ctx, 10)), c)

	// What a person sets changes; the rest does not.
	changed := c
	changed.Zone, changed.Language, changed.Hours, changed.Quiet, changed.NextSlot = "UTC", "ko", 0, false, time.Time{}
	sent := changed
	sent.Server, sent.CreatedAt, sent.PausedAt, sent.PausedWhy = 2, t0.Add(day), t0, "why"
	sent.Refusals, sent.RefusedSlot, sent.LastSlot = 3, t0, t0
	w.must(w.PutChannel(w.ctx, sent))
	equal(t, "channel put again", get[store.Channel](w)(w.Channel(w.ctx, 10)), changed)

	w.must(w.SetNextSlot(w.ctx, 10, t0.Add(time.Hour)))
	changed.NextSlot = t0.Add(time.Hour)
	equal(t, "channel with a next slot", get[store.Channel](w)(w.Channel(w.ctx, 10)), changed)
	w.want(w.SetNextSlot(w.ctx, 11, t0), store.ErrNotFound)

	w.channel(9, 1)
	w.channel(8, 2)
	of := get[[]store.Channel](w)(w.ChannelsOf(w.ctx, 1))
	if len(of) != 2 || of[0].ID != 9 || of[1].ID != 10 {
		t.Errorf("channels of server 1: %v, want 9 and 10", of)
	}
	equal(t, "channels of no server", get[[]store.Channel](w)(w.ChannelsOf(w.ctx, 99)), []store.Channel(nil))
}

func testAllChannels(t *testing.T, w *world) {
	w.server(1, "")
	w.server(2, "")
	for id := range 700 {
		w.channel(store.ChannelID(700-id), store.ServerID(1+b2i(id%7 == 0)))
	}
	w.must(w.ServerGone(w.ctx, 2, t0))
	var last store.ChannelID
	n := 0
	w.must(w.AllChannels(w.ctx, func(c store.Channel) error {
		if c.ID <= last || c.Server != 1 {
			t.Errorf("channel %d of server %d after %d", c.ID, c.Server, last)
		}
		last = c.ID
		n++
		return nil
	}))
	if n != 600 {
		t.Errorf("%d channels, want 600", n)
	}
	stop := errors.New("stop")
	n = 0
	err := w.AllChannels(w.ctx, func(store.Channel) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("after %d calls: %v, want the error of the first", n, err)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func testRefusals(t *testing.T, w *world) {
	w.home()
	_, err := w.ChannelRefused(w.ctx, 99, t0)
	w.want(err, store.ErrNotFound)
	w.want(w.PauseChannel(w.ctx, 99, "x", t0), store.ErrNotFound)
	w.want(w.ResumeChannel(w.ctx, 99, t0), store.ErrNotFound)
	for i, want := range []struct {
		slot time.Time
		n    int
	}{{t0, 1}, {t0, 1}, {t0.Add(time.Hour), 2}, {t0.Add(time.Hour), 2}, {t0.Add(2 * time.Hour), 3}} {
		if n := get[int](w)(w.ChannelRefused(w.ctx, 10, want.slot)); n != want.n {
			t.Errorf("refusal %d: %d in a row, want %d", i, n, want.n)
		}
	}
	w.must(w.PauseChannel(w.ctx, 10, "missing_access", t0))
	c := get[store.Channel](w)(w.Channel(w.ctx, 10))
	if !c.PausedAt.Equal(t0) || c.PausedWhy != "missing_access" || c.Refusals != 3 || !c.RefusedSlot.Equal(t0.Add(2*time.Hour)) || c.Hours == 0 {
		t.Errorf("paused: %+v", c)
	}
	w.must(w.ResumeChannel(w.ctx, 10, t0.Add(5*time.Hour)))
	c = get[store.Channel](w)(w.Channel(w.ctx, 10))
	if !c.PausedAt.IsZero() || c.PausedWhy != "" || c.Refusals != 0 || !c.RefusedSlot.IsZero() || !c.NextSlot.Equal(t0.Add(5*time.Hour)) {
		t.Errorf("resumed: %+v", c)
	}
}

func testDueChannels(t *testing.T, w *world) {
	at := func(h int) time.Time { return t0.Add(time.Duration(h) * time.Hour) }
	if next := get[time.Time](w)(w.NextSlotAfter(w.ctx, t0)); !next.IsZero() {
		t.Errorf("next slot of an empty store: %v", next)
	}
	w.server(1, "k1")
	w.server(2, "k1")
	for id := store.ChannelID(10); id <= 16; id++ {
		w.channel(id, 1)
		if id != 13 {
			w.register(id, "a", "k1")
		}
	}
	w.channel(20, 2)
	w.register(20, "a", "k1")
	w.must(w.SetNextSlot(w.ctx, 11, at(1)))
	w.must(w.SetNextSlot(w.ctx, 12, at(-1)))
	// 13 has no players; 14 is paused; 15 is off; 20 is in a server gone.
	w.must(w.PauseChannel(w.ctx, 14, "x", t0))
	w.must(w.SetNextSlot(w.ctx, 15, time.Time{}))
	w.must(w.SetNextSlot(w.ctx, 16, at(2)))
	w.must(w.ServerGone(w.ctx, 2, t0))

	ids := func(slot time.Time) (ids []store.ChannelID) {
		for _, c := range get[[]store.Channel](w)(w.DueChannels(w.ctx, slot)) {
			ids = append(ids, c.ID)
		}
		return ids
	}
	equal(t, "due at t0", ids(t0), []store.ChannelID{10, 12})
	equal(t, "due an ms before", ids(t0.Add(-time.Millisecond)), []store.ChannelID{12})
	equal(t, "due an hour later", ids(at(1)), []store.ChannelID{10, 11, 12})
	for _, c := range []struct{ after, want time.Time }{
		{at(-2), at(-1)}, {at(-1), t0}, {t0.Add(-time.Millisecond), t0}, {t0, at(1)}, {at(1), at(2)}, {at(2), time.Time{}},
	} {
		if next := get[time.Time](w)(w.NextSlotAfter(w.ctx, c.after)); !next.Equal(c.want) {
			t.Errorf("next slot after %v is %v, want %v", c.after, next, c.want)
		}
	}
}

func testTimes(t *testing.T, w *world) {
	kst := time.FixedZone("KST", 9*3600)
	fine := t0.In(kst).Add(123*time.Millisecond + 999_999*time.Nanosecond)
	w.must(w.PutServer(w.ctx, store.Server{ID: 1, JoinedAt: fine}))
	s := get[store.Server](w)(w.Server(w.ctx, 1))
	if want := t0.Add(123 * time.Millisecond); s.JoinedAt != want {
		t.Errorf("joined %v, want %v: whole milliseconds, UTC", s.JoinedAt, want)
	}
	if s.GoneAt != (time.Time{}) {
		t.Errorf("gone at %v, want the zero time", s.GoneAt)
	}
	// Times that differ by less are the same slot.
	w.channel(10, 1)
	w.must(w.PlanReports(w.ctx, t0.Add(999*time.Microsecond), []store.ChannelID{10}))
	if r := w.report(t0.In(kst)); r.Slot != t0 {
		t.Errorf("slot %v, want %v", r.Slot, t0)
	}
	m := match("KR_1", fine, "k1")
	m.Duration = 1_234_567_890 * time.Nanosecond
	w.must(w.PutMatch(w.ctx, m, t0))
}

func testText(t *testing.T, w *world) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a\x00b", "a\uFFFDb"},
		{"broken \xff", "broken \uFFFD"},
		{"'; DROP TABLE servers; --", "'; DROP TABLE servers; --"},
		{"👨‍👩‍👧‍👦 $1 %s \u2066x\u2069", "👨‍👩‍👧‍👦 $1 %s \u2066x\u2069"},
	} {
		w.must(w.PutServer(w.ctx, store.Server{ID: 1, Name: c.in}))
		if got := get[store.Server](w)(w.Server(w.ctx, 1)).Name; got != c.want {
			t.Errorf("name %q came back %q, want %q", c.in, got, c.want)
		}
		w.must(w.PutNote(w.ctx, "n", c.in))
		if got := get[string](w)(w.Note(w.ctx, "n")); got != c.want {
			t.Errorf("note %q came back %q, want %q", c.in, got, c.want)
		}
	}
}
