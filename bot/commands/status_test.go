package commands_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/commands"
	"riftchime/store"
)

const canPost = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages

func (w *world) player(name string) store.PlayerID {
	w.t.Helper()
	p, err := w.store.PlayerByRiotID(w.t.Context(), "", name, "111")
	if err != nil {
		w.t.Fatal(err)
	}
	return p.ID
}

func (w *world) reasons(rs ...store.Reason) {
	w.t.Helper()
	for i := range rs {
		rs[i].Channel = 200
	}
	if err := w.store.AddReasons(w.t.Context(), rs); err != nil {
		w.t.Fatal(err)
	}
}

// sent posts a report of one part, as far as the store knows.
func (w *world) sent(slot time.Time, lateness time.Duration) {
	w.t.Helper()
	ctx := w.t.Context()
	key := store.PartKey{Channel: 200, Slot: slot}
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(w.store.PlanReports(ctx, slot, []store.ChannelID{200}))
	_, err := w.store.PutReady(ctx, store.ReadyReport{Channel: 200, Slot: slot, Parts: []store.Part{{PartKey: key, Body: []byte("{}"), Nonce: "n"}}})
	must(err)
	_, err = w.store.Claim(ctx, []store.PartKey{key}, slot)
	must(err)
	must(w.store.Sent(ctx, key, 1, slot.Add(lateness), lateness, slot.Add(24*time.Hour)))
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.status = commands.StatusInfo{
		Version: "1.2.3", Champions: "16.4.1",
		Limits: []commands.LimitInfo{{Host: "kr", Throttled: true, Queued: 2}, {Host: "asia"}},
	}
	contains(t, w.do(press{command: "status"}), "Nobody is registered", "RiftChime 1.2.3", "16.4.1", "asia normal, kr throttled, 2 requests wait")
	w.register("Fern#111", "Birches#111")
	contains(t, w.do(press{command: "status"}), "2 players registered", "none yet", "12:00", "<t:")
	w.sent(start.Add(-20*time.Minute), 30*time.Millisecond)
	w.reasons(
		store.Reason{Player: w.player("Fern"), Match: "EUW1_7", Code: "match_absent", At: start.Add(-time.Minute)},
		store.Reason{Player: w.player("Birches"), Code: "riot", At: start.Add(-48 * time.Hour)},
		store.Reason{Code: "missed", Slot: start.Add(-time.Hour), At: start.Add(-time.Hour)},
	)
	got := w.do(press{command: "status"})
	contains(t, got, "posted, 0.03 s after the hour", "Could not be read in the last day", `**Fern#111** · `+"`EUW1_7`: Riot lists the game")
	lacks(t, got, "Birches", "not running then")
	w.status.KeyRefused = true
	contains(t, w.do(press{command: "status", locale: "ko"}), "이 채널의 상태", "받아 주지 않습니다", "정각 0.03 s 후")
}

func TestWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "why"}), "Nobody is registered")
	w.register("Fern#111", "Birches#111")
	contains(t, w.do(press{command: "why"}), "Nothing was recorded")
	slot := start.Truncate(time.Hour)
	w.sent(slot.Add(-3*time.Hour), 2*time.Second)
	for i, reason := range []string{"quiet", "discord_down"} {
		at := slot.Add(time.Duration(i-2) * time.Hour)
		if err := w.store.Skip(t.Context(), 200, at, reason, at, at.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.reasons(store.Reason{Slot: at, Code: reason, At: at})
	}
	w.reasons(
		store.Reason{Player: w.player("Fern"), Match: "EUW1_7", Code: "match_forbidden", Slot: slot, At: slot},
		store.Reason{Player: w.player("Birches"), Code: "of a later *version*", Detail: "@everyone", Slot: slot, At: slot.Add(-30 * time.Minute)},
	)
	got := w.do(press{command: "why"})
	order := []string{"does not give this game", `of a later \*version\* (\@everyone)`, "Discord took no message", "nobody played", "posted, 2.00 s after"}
	last := -1
	for _, part := range order {
		at := strings.Index(got, part)
		if at <= last {
			t.Errorf("%q is not behind the newer ones in %q", part, got)
		}
		last = at
	}
	if n := strings.Count(got, "nobody played"); n != 1 {
		t.Errorf("the quiet hour is told %d times", n)
	}
	got = w.do(press{command: "why", options: map[string]any{"riot_id": "fern#111"}})
	contains(t, got, `What happened to Fern#111`, "Registered since <t:", "not read yet", "does not give this game")
	lacks(t, got, "later", "nobody played")
	contains(t, w.do(press{command: "why", options: map[string]any{"riot_id": "Cabs#111"}}), `Did you mean **Fern#111**`)
	contains(t, w.do(press{command: "why", locale: "ko"}), "이 채널에서 있었던 일", "올리지 않음: 아무도 게임을 하지 않아")
}

func TestPausedChannelsAreExplained(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		press   press
		says    []string
		without []string
	}{
		{"to a manager", press{command: "list", member: manager}, []string{"paused** since <t:", "may not write", "Send Messages", "settings are kept"}, nil},
		{"to an administrator", press{command: "list", member: discordgo.PermissionAdministrator}, []string{"paused** since"}, nil},
		{"with what is lacking", press{command: "list", member: manager, bot: discordgo.PermissionViewChannel}, []string{"give the bot in this channel: Send Messages"}, []string{"View Channel"}},
		{"in Korean", press{command: "list", member: manager, locale: "ko"}, []string{"일시 중지", "메시지 보내기"}, nil},
		{"to others not", press{command: "list"}, nil, []string{"settings are kept"}},
		{"in another channel", press{command: "list", member: manager, channel: "201"}, []string{"Reports in <#200> are paused", "may not write"}, nil},
		{"in another server not", press{command: "list", member: manager, server: "101", channel: "301"}, nil, []string{"paused"}},
		{"once in /status", press{command: "status", member: manager}, []string{"paused** since"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.register("Fern#111")
			before := w.channel(200)
			if err := w.store.PauseChannel(t.Context(), 200, "missing_permission", start); err != nil {
				t.Fatal(err)
			}
			got := w.do(tt.press)
			contains(t, got, tt.says...)
			lacks(t, got, tt.without...)
			if n := strings.Count(got, "settings are kept"); n > 1 {
				t.Errorf("told %d times: %s", n, got)
			}
			after := w.channel(200)
			if after.PausedAt.IsZero() || after.Hours != before.Hours || after.Zone != before.Zone {
				t.Errorf("the channel became %+v", after)
			}
		})
	}
}

func TestPausedChannelResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#111")
	if err := w.store.PauseChannel(t.Context(), 200, "missing_permission", start); err != nil {
		t.Fatal(err)
	}
	w.now = start.Add(48 * time.Hour)
	contains(t, w.do(press{command: "list", member: manager, bot: canPost}), "was paused; the bot may post again", "Next: <t:")
	if ch := w.channel(200); !ch.PausedAt.IsZero() || !ch.NextSlot.After(w.now) {
		t.Errorf("the channel is %+v", ch)
	}
	lacks(t, w.do(press{command: "list", member: manager, bot: canPost}), "paused")
}

func TestNobodyTouchesAnotherServersChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#111")
	before := w.channel(200)
	for _, p := range []press{
		{command: "register", options: map[string]any{"riot_id": "Fern#111"}},
		{command: "unregister", options: map[string]any{"riot_id": "Fern#111"}},
		{command: "list"},
		{command: "schedule", options: map[string]any{"hours": "off"}},
		{command: "schedule"},
		{command: "report"},
		{command: "status"},
		{command: "why"},
	} {
		p.server, p.member = "999", manager
		got := w.do(p)
		contains(t, got, "another server")
		lacks(t, got, "Fern")
	}
	if after := w.channel(200); after != before || len(w.names(200)) != 1 {
		t.Errorf("changed to %+v with %v", after, w.names(200))
	}
	if _, err := w.store.Server(t.Context(), 999); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the other server was kept: %v", err)
	}
}

func TestOutsideOfAServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range w.commands.All() {
		for _, i := range []*discordgo.Interaction{nil, {}, {ChannelID: "200", Locale: "ko"}, {GuildID: "x", ChannelID: "y"}, {GuildID: "-1", ChannelID: "1"}} {
			d := c.Run(t.Context(), i)
			checkResponse(t, d, c.Ephemeral)
			if i != nil && i.Locale == "ko" {
				contains(t, d.Content, "서버 채널에서만")
			} else {
				contains(t, d.Content, "of a server only")
			}
		}
	}
}

func TestWordsForTheRouter(t *testing.T) {
	t.Parallel()
	for _, f := range []func(string) string{commands.Apology, commands.Busy, commands.StillWorking} {
		en, ko := f("en-US"), f("ko")
		if en == ko || f("de") != en || f("") != en || strings.Contains(en, "error.") {
			t.Errorf("says %q and %q", en, ko)
		}
	}
	contains(t, commands.StillWorking("ko"), "아직 처리하고 있습니다")
}
