package hour_test

import (
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
)

// TestRestartEditing stops the hour while it edits late news into a message,
// without knowing whether Discord made the edit. The next start finds out.
func TestRestartEditing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		kind discordtest.FaultKind // of the edits before the stop
		// silent is how long Discord does not tell what a channel shows after the
		// start.
		silent   time.Duration
		messages int
		words    map[string]int
		taken    int // as told, since nobody can see
	}{
		{"made", discordtest.FaultHangAfter, 0, 1, map[string]int{"Ahri": 1, "Lux": 1}, 0},
		{"not made", discordtest.FaultHang, 0, 2, map[string]int{"Ahri": 1, "Lux": 1}, 0},
		{"made, seen at the second look", discordtest.FaultHangAfter, 500 * time.Millisecond, 1, map[string]int{"Ahri": 1, "Lux": 1}, 0},
		{"not made, seen at the third look", discordtest.FaultHang, 2 * time.Second, 2, map[string]int{"Ahri": 1, "Lux": 1}, 0},
		{"made, never seen", discordtest.FaultHangAfter, time.Hour, 1, map[string]int{"Ahri": 1, "Lux": 1}, 1},
		{"not made, never seen", discordtest.FaultHang, time.Hour, 1, map[string]int{"Ahri": 1, "Lux": 0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				a, b := s.player("kr"), s.player("euw1")
				s.follow(0, "UTC", schedule.All, a, b)
				s.start()
				s.until("0:40")
				s.game("Lux", one(a))
				s.game("Ahri", one(b))
				s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
				s.discord.Fail(discordtest.Fault{Kind: c.kind, Route: discordtest.RouteMessageEdit, Count: -1})
				s.until("1:04")
				if n := s.discord.Stats().Injected; n == 0 {
					t.Fatal("no edit was tried")
				}
				s.stop()
				s.discord.ClearFaults()
				if c.silent > 0 {
					s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 503, Route: discordtest.RouteMessageList, Until: time.Now().Add(c.silent)})
				}
				s.start()
				s.until("2:01")
				s.posted(0, c.messages, c.words)
				s.reasons(0, map[string]int{"taken_as_sent": c.taken})
				// Once is enough: the next start asks nothing.
				if note, err := s.db.Note(t.Context(), "edits"); note != "" || err != nil {
					t.Errorf("still under way: %q, %v", note, err)
				}
				s.start()
				s.until("3:01")
				s.posted(0, c.messages, c.words)
			})
		})
	}
}

// An edit that Discord answers leaves nothing behind.
func TestEditsCrossedOut(t *testing.T) {
	t.Parallel()
	play(t, 1, func(t *testing.T, s *scene) {
		a, b := s.player("kr"), s.player("euw1")
		s.follow(0, "UTC", schedule.All, a, b)
		s.start()
		s.until("0:40")
		s.game("Lux", one(a))
		s.game("Ahri", one(b))
		s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
		s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 403, Code: 50013, Route: discordtest.RouteMessageEdit, Count: 1})
		s.until("1:16")
		s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
		note, err := s.db.Note(t.Context(), "edits")
		if err != nil || note != "" && note != "[]" {
			t.Errorf("still under way: %q, %v", note, err)
		}
	})
}
