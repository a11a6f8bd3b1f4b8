package hour_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

// lacks takes permissions away from the bot in a channel, or gives them back.
func (s *scene) lacks(i int, p discordtest.Permission) {
	s.discord.SetChannel(fmt.Sprint(testServer), discordtest.Channel{
		ID: fmt.Sprint(channelID(i)), Name: fmt.Sprintf("c%d", i), Missing: p,
	})
}

// friend is a player in channel 0, who just won with Ahri.
func (s *scene) friend() riottest.PlayerID {
	s.t.Helper()
	p := s.player("kr")
	s.follow(0, "UTC", schedule.All, p)
	s.start()
	s.until("0:40")
	s.game("Ahri", one(p))
	return p
}

// A message arrives once, whatever happens to the first tries.
func TestDiscordBlip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		f    discordtest.Fault
		late time.Duration
	}{
		{"429 bucket", discordtest.Fault{Kind: discordtest.FaultBucket, RetryAfter: 3 * time.Second, Count: 1}, 4 * time.Second},
		{"429 global", discordtest.Fault{Kind: discordtest.FaultGlobal, RetryAfter: 3 * time.Second, Count: 1}, 4 * time.Second},
		{"429 shared", discordtest.Fault{Kind: discordtest.FaultShared, RetryAfter: 3 * time.Second, Count: 2}, 8 * time.Second},
		{"429 Cloudflare, a page", discordtest.Fault{Kind: discordtest.FaultCloudflare, Count: 2}, time.Minute},
		{"500", discordtest.Fault{Kind: discordtest.FaultStatus, Status: 500, Count: 3}, 5 * time.Second},
		{"502, a page", discordtest.Fault{Kind: discordtest.FaultStatus, Status: 502, Count: 3}, 5 * time.Second},
		{"503 for 5 minutes", discordtest.Fault{Kind: discordtest.FaultStatus, Status: 503, Count: -1}, 6 * time.Minute},
		{"reset", discordtest.Fault{Kind: discordtest.FaultReset, Count: 3}, 5 * time.Second},
		{"hang", discordtest.Fault{Kind: discordtest.FaultHang, Count: 1}, 12 * time.Second},
		{"hang for 5 minutes", discordtest.Fault{Kind: discordtest.FaultHang, Count: -1}, 6 * time.Minute},
		{"answer lost by a reset", discordtest.Fault{Kind: discordtest.FaultResetAfter, Count: 1}, 2 * time.Second},
		{"answer lost by hanging", discordtest.Fault{Kind: discordtest.FaultHangAfter, Count: 1}, 12 * time.Second},
		{"answers lost for 5 minutes", discordtest.Fault{Kind: discordtest.FaultHangAfter, Count: -1}, 6 * time.Minute},
		{"answer after 5 s", discordtest.Fault{Kind: discordtest.FaultLatency, Delay: 5 * time.Second, Count: 1}, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				s.friend()
				c.f.Route = discordtest.RouteMessageCreate
				if c.f.Count < 0 {
					c.f.Count, c.f.Until = 0, s.at(1, 5)
				}
				s.discord.Fail(c.f)
				s.until("1:12")
				s.posted(0, 1, map[string]int{"Ahri": 1})
				s.ended(0, s.at(1, 0), store.ReportSent, "")
				if late := s.report(0, s.at(1, 0)).Lateness; late > c.late {
					t.Errorf("%s late, want at most %s", late, c.late)
				}
				s.until("2:12")
				s.posted(0, 1, map[string]int{"Ahri": 1})
				s.reasons(0, map[string]int{"taken_as_sent": 0})
			})
		})
	}
}

func TestDiscordDown(t *testing.T) {
	t.Parallel()
	t.Run("503 for half an hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 503, Until: s.at(1, 30)})
			s.until("1:12")
			s.posted(0, 0, nil)
			s.reasons(0, map[string]int{"discord_down": 1})
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.ended(0, s.at(1, 0), store.ReportSkipped, "discord_down")
			s.ended(0, s.at(2, 0), store.ReportSent, "")
		})
	})
	t.Run("only posting fails for half an hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.game("Lux", one(1))
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultCloudflare, Route: discordtest.RouteMessageCreate, Until: s.at(1, 30)})
			s.until("1:12")
			s.ended(0, s.at(1, 0), store.ReportSkipped, "discord_down")
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
		})
	})
	// The message is there, but no answer says so and nothing can be read.
	t.Run("answer lost, then all hangs for half an hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter, Route: discordtest.RouteMessageCreate})
			s.until("0:59:59")
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Until: s.at(1, 30)})
			s.until("1:20")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			if r := s.report(0, s.at(1, 0)); r.State != store.ReportSending {
				t.Errorf("state %d, want undecided", r.State)
			}
			s.game("Lux", one(p))
			s.until("2:01")
			s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1})
			s.ended(0, s.at(1, 0), store.ReportSent, "")
		})
	})
	t.Run("all hangs for half an hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Until: s.at(1, 30)})
			s.until("1:20")
			s.posted(0, 0, nil)
			s.game("Lux", one(p))
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
			s.ended(0, s.at(1, 0), store.ReportSkipped, "discord_down")
		})
	})
	t.Run("answer lost, nonce forgotten, history not readable", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.lacks(0, discordtest.ReadMessageHistory)
			s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter, Route: discordtest.RouteMessageCreate})
			s.until("0:59:59")
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Route: discordtest.RouteMessageCreate, Until: s.at(1, 6)})
			s.until("1:12")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.ended(0, s.at(1, 0), store.ReportSent, "")
			s.reasons(0, map[string]int{"taken_as_sent": 1})
			s.logged("taken as sent", true)
			s.until("2:12")
			s.posted(0, 1, nil)
		})
	})
	t.Run("down after the first of several messages", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			var many []riottest.PlayerID
			for range 40 {
				many = append(many, s.player("kr"))
			}
			s.follow(0, "UTC", schedule.All, many...)
			s.start()
			s.until("0:40")
			for range 4 {
				for _, p := range many {
					s.game("Ahri", one(p))
				}
			}
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 503, Route: discordtest.RouteMessageCreate, Skip: 1, Until: s.at(1, 30)})
			s.until("1:20")
			s.posted(0, 1, nil)
			parts, err := s.db.Parts(t.Context(), channelID(0), s.at(1, 0))
			if err != nil || len(parts) < 2 {
				t.Fatalf("%d parts, %v, want several", len(parts), err)
			}
			s.until("2:10")
			s.posted(0, len(parts), nil)
			s.ended(0, s.at(1, 0), store.ReportSent, "")
			if n := len(s.db.told[channelID(0)]); n != 160 {
				t.Errorf("%d games told, want 160", n)
			}
			s.until("3:10")
			s.posted(0, len(parts), nil)
		})
	})
	t.Run("rejected", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 400, Code: 50035, Message: "Invalid Form Body", Route: discordtest.RouteMessageCreate})
			s.until("1:01")
			s.ended(0, s.at(1, 0), store.ReportSkipped, "rejected")
			s.logged("Discord rejects the message", true)
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("silent before the hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Until: s.at(1, 0).Add(-time.Millisecond)})
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			if late := s.report(0, s.at(1, 0)).Lateness; late > 100*time.Millisecond {
				t.Errorf("%s late", late)
			}
			s.logged("Discord did not answer before the hour", true)
		})
	})
	t.Run("edit made, answers lost until the end", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter, Route: discordtest.RouteMessageEdit, Until: s.at(1, 30)})
			s.until("2:16")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "⚠️": 0})
		})
	})
	t.Run("edit never made, answers lost until the end", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHang, Route: discordtest.RouteMessageEdit, Until: s.at(1, 30)})
			s.until("2:16")
			s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1})
		})
	})
	t.Run("edit fails at first", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Status: 503, Route: discordtest.RouteMessageEdit, Count: 5})
			s.until("1:16")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "⚠️": 0})
			s.until("2:16")
			s.posted(0, 1, nil)
		})
	})
}

func TestDiscordRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		lacks     discordtest.Permission
	}{
		{"missing access", "missing_access", discordtest.ViewChannel},
		{"missing permission", "missing_permission", discordtest.SendMessages},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 2, func(t *testing.T, s *scene) {
				p := s.player("kr")
				s.follow(0, "UTC", schedule.All, p)
				s.follow(1, "UTC", schedule.All, p)
				s.start()
				s.until("0:40")
				s.lacks(0, c.lacks)
				s.game("Ahri", one(p))
				s.until("2:59")
				s.ended(0, s.at(1, 0), store.ReportSkipped, c.why)
				if ch, _ := s.db.Channel(t.Context(), channelID(0)); !ch.PausedAt.IsZero() || ch.Refusals != 2 {
					t.Errorf("paused at %v after %d refusals, want not yet", ch.PausedAt, ch.Refusals)
				}
				s.until("3:01")
				ch, err := s.db.Channel(t.Context(), channelID(0))
				if err != nil || ch.PausedAt.IsZero() || ch.PausedWhy != c.why || ch.Hours != uint32(schedule.All) {
					t.Errorf("channel %+v, %v, want paused with its settings", ch, err)
				}
				if fs, err := s.db.Registrations(t.Context(), channelID(0)); err != nil || len(fs) != 1 {
					t.Errorf("%d registrations, %v", len(fs), err)
				}
				s.logged("channel paused", true)
				s.posted(1, 1, map[string]int{"Ahri": 1})
				// For a day it is tried now and then, at little cost.
				s.until("23:20")
				if n := s.discord.Stats().Invalid; n > 3 {
					t.Errorf("%d invalid requests in ten minutes", n)
				}
				if ch, _ := s.db.Channel(t.Context(), channelID(0)); ch.PausedAt.IsZero() || ch.PausedAt.After(s.at(3, 1)) {
					t.Errorf("paused since %v, want since 3:00", ch.PausedAt)
				}
				s.posted(0, 0, nil)
				// The permission is back: so are the reports, with all games.
				s.lacks(0, 0)
				s.game("Lux", one(p))
				s.until("25:01")
				s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
				if ch, _ := s.db.Channel(t.Context(), channelID(0)); !ch.PausedAt.IsZero() || ch.Refusals != 0 {
					t.Errorf("channel %+v, want resumed", ch)
				}
			})
		})
	}
	t.Run("unknown channel", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.friend()
			s.discord.RemoveChannel(fmt.Sprint(channelID(0)))
			s.until("3:01")
			ch, err := s.db.Channel(t.Context(), channelID(0))
			if err != nil || ch.PausedWhy != "unknown_channel" || ch.Hours == 0 {
				t.Errorf("channel %+v, %v, want paused with its settings", ch, err)
			}
			s.game("Lux", one(p))
			s.until("30:01")
			if ch, _ := s.db.Channel(t.Context(), channelID(0)); ch.PausedAt.IsZero() {
				t.Error("resumed though it is gone")
			}
			if n := s.discord.Stats().Count(discordtest.RouteMessageCreate, -1); n != 3 {
				t.Errorf("%d tries to post, want 3", n)
			}
		})
	})
	t.Run("two refusals, then it works", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.lacks(0, discordtest.SendMessages)
			s.until("2:30")
			s.lacks(0, 0)
			s.until("3:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			if ch, _ := s.db.Channel(t.Context(), channelID(0)); ch.Refusals != 0 || !ch.PausedAt.IsZero() {
				t.Errorf("channel %+v, want no refusals", ch)
			}
		})
	})
}

func TestDiscordNoEmbedLinks(t *testing.T) {
	t.Parallel()
	t.Run("text instead", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.lacks(0, discordtest.EmbedLinks)
			p := s.friend()
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			if m := s.messages(0)[0]; len(m.Embeds) != 0 || !strings.Contains(m.Content, "Ahri") {
				t.Errorf("message %+v, want text", m)
			}
			if late := s.report(0, s.at(1, 0)).Lateness; late > 500*time.Millisecond {
				t.Errorf("%s late", late)
			}
			s.game("Lux", one(p))
			s.until("2:00:01")
			s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1})
			if n := s.discord.Stats().Count(discordtest.RouteMessageCreate, 403); n != 1 {
				t.Errorf("%d refusals, want 1: the second hour tries no embeds", n)
			}
			s.lacks(0, 0)
			s.until("8:30")
			s.game("Garen", one(p))
			s.until("9:01")
			s.posted(0, 3, nil)
			if m := s.messages(0)[2]; len(m.Embeds) == 0 {
				t.Error("still text, long after embeds are allowed")
			}
			s.until("11:01")
			s.posted(0, 3, map[string]int{"Ahri": 1, "Lux": 1, "Garen": 1})
		})
	})
	t.Run("partial, edited as text", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.lacks(0, discordtest.EmbedLinks)
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.down(riottest.FaultStatus, 503, s.at(1, 2), "asia")
			s.until("1:16")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "⚠️": 0})
			if m := s.messages(0)[0]; len(m.Embeds) != 0 {
				t.Error("edited into embeds")
			}
		})
	})
	t.Run("answer lost, nonce forgotten", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.lacks(0, discordtest.EmbedLinks)
			s.friend()
			// The first is refused, the second arrives unseen.
			s.discord.Fail(discordtest.Fault{Kind: discordtest.FaultHangAfter, Route: discordtest.RouteMessageCreate, Skip: 1})
			s.until("1:00:05")
			s.stop()
			s.until("1:05")
			s.start()
			s.until("1:10")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.ended(0, s.at(1, 0), store.ReportSent, "")
			s.until("2:10")
			s.posted(0, 1, nil)
		})
	})
	t.Run("many games, several messages", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.lacks(0, discordtest.EmbedLinks)
			var all []riottest.PlayerID
			for range 40 {
				all = append(all, s.player("kr"))
			}
			s.follow(0, "UTC", schedule.All, all...)
			s.start()
			s.until("0:40")
			for _, p := range all {
				s.game("Ahri", one(p))
			}
			s.until("1:05")
			if n := len(s.messages(0)); n < 2 {
				t.Errorf("%d messages, want several", n)
			}
			if n := len(s.db.told[channelID(0)]); n != 40 {
				t.Errorf("%d games told, want 40", n)
			}
			s.ended(0, s.at(1, 0), store.ReportSent, "")
		})
	})
}
