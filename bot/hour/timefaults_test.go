package hour_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discord"
	"riftchime/bot/discordtest"
	"riftchime/bot/hour"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

func TestRestart(t *testing.T) {
	t.Parallel()
	t.Run("before the hour, in the middle of fetching", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.world.AddFault(riottest.Fault{Route: "europe", Kind: riottest.FaultHang, Until: s.at(0, 59)})
			s.until("0:59")
			s.stop()
			if n := s.calls(); n["ids"] < 2 {
				t.Fatalf("calls %v, want both lists asked for by now", n)
			}
			s.start()
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
			if n := s.calls(); n["ids"] != 1 {
				t.Errorf("%d lists after the restart, want that of the player who was not read", n["ids"])
			}
		})
	})
	t.Run("ready, a second before the hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.until("0:59:58")
			s.stop()
			s.calls()
			s.until("0:59:59")
			s.start()
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			if late := s.report(0, s.at(1, 0)).Lateness; late > 100*time.Millisecond {
				t.Errorf("%s late", late)
			}
			if n := s.calls(); n["ids"] != 0 {
				t.Errorf("%d lists, want none: all were read", n["ids"])
			}
		})
	})
	for _, c := range []struct {
		name string
		kind discordtest.FaultKind
		down time.Duration
	}{
		{"in the middle of sending, message sent, 30 s", discordtest.FaultHangAfter, 30 * time.Second},
		{"in the middle of sending, message not sent, 30 s", discordtest.FaultHang, 30 * time.Second},
		{"in the middle of sending, message sent, 5 minutes", discordtest.FaultHangAfter, 5 * time.Minute},
		{"in the middle of sending, message not sent, 5 minutes", discordtest.FaultHang, 5 * time.Minute},
		{"in the middle of sending, message sent, 50 minutes", discordtest.FaultHangAfter, 50 * time.Minute},
		{"in the middle of sending, message not sent, 50 minutes", discordtest.FaultHang, 50 * time.Minute},
		{"in the middle of sending, message sent, a day", discordtest.FaultHangAfter, 25 * time.Hour},
		{"in the middle of sending, message not sent, a day", discordtest.FaultHang, 25 * time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 2, func(t *testing.T, s *scene) {
				p := s.player("kr")
				s.follow(0, "UTC", schedule.All, p)
				s.follow(1, "UTC", schedule.All, p)
				s.start()
				s.until("0:40")
				s.game("Ahri", one(p))
				s.discord.Fail(discordtest.Fault{Kind: c.kind, Route: discordtest.RouteMessageCreate, Channel: fmt.Sprint(channelID(0))})
				s.until("1:00:03")
				s.stop()
				s.game("Lux", one(p))
				time.Sleep(c.down)
				s.start()
				time.Sleep(2 * time.Hour)
				messages := 2
				if c.kind == discordtest.FaultHang && c.down > 30*time.Minute {
					messages = 1 // too old to be finished: its game comes with the next
				}
				s.posted(0, messages, map[string]int{"Ahri": 1, "Lux": 1})
				s.posted(1, 2, map[string]int{"Ahri": 1, "Lux": 1})
				if left, err := s.db.Unfinished(t.Context()); err != nil || slices.ContainsFunc(left, func(r store.Report) bool { return r.Slot.Before(time.Now()) }) {
					t.Errorf("left open: %v, %v", left, err)
				}
				s.reasons(0, map[string]int{"taken_as_sent": 0})
			})
		})
	}
	for _, c := range []struct {
		name     string
		down, up string
		at       time.Duration // of the report that comes then
	}{
		{"down over one hour, back within 30 minutes", "0:50", "1:20", 80 * time.Minute},
		{"down over three hours, back within 30 minutes", "0:50", "3:20", 200 * time.Minute},
		{"down over one hour, back after 40 minutes", "0:50", "1:40", 120 * time.Minute},
		{"down over a day", "0:50", "25:40", 26 * 60 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				p := s.friend()
				s.until(c.down)
				s.stop()
				s.game("Lux", one(p))
				s.until(c.up)
				s.start()
				time.Sleep(time.Until(s.began.Add(c.at + 2*time.Minute)))
				s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1})
				if m := s.messages(0); len(m) == 1 && m[0].Arrived.Sub(s.began) < c.at {
					t.Errorf("posted %s after midnight, want not before %s", m[0].Arrived.Sub(s.began), c.at)
				}
				time.Sleep(3 * time.Hour)
				s.posted(0, 1, nil)
			})
		})
	}
}

// coarse is a Discord that gives timestamps back in whole seconds.
type coarse struct{ hour.Poster }

func (c coarse) Newest(ctx context.Context, channel int64, most int) ([]discord.Message, error) {
	ms, err := c.Poster.Newest(ctx, channel, most)
	for _, m := range ms {
		for i, t := range m.EmbedTimestamps {
			m.EmbedTimestamps[i] = t.Truncate(time.Second)
		}
	}
	return ms, err
}

// Of several messages, it is known which arrived.
func TestRestartAmongParts(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		for _, kind := range []discordtest.FaultKind{discordtest.FaultHang, discordtest.FaultHangAfter} {
			for skip := range 3 {
				if (whole || !thorough) && skip != 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s of message %d, whole seconds %v", kind, skip+1, whole), func(t *testing.T) {
					t.Parallel()
					play(t, 1, func(t *testing.T, s *scene) {
						if whole {
							s.opts.Discord = coarse{s.opts.Discord}
						}
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
						s.discord.Fail(discordtest.Fault{Kind: kind, Route: discordtest.RouteMessageCreate, Skip: skip})
						s.until("1:00:04")
						s.stop()
						parts, err := s.db.Parts(t.Context(), channelID(0), s.at(1, 0))
						if err != nil || len(parts) < 3 {
							t.Fatalf("%d parts, %v, want three at least", len(parts), err)
						}
						s.until("1:10")
						s.start()
						s.until("1:20")
						s.posted(0, len(parts), nil)
						if ds := s.discord.Stats(); ds.Messages != len(parts) {
							t.Errorf("%d messages were made, want %d", ds.Messages, len(parts))
						}
						for i, m := range s.messages(0) {
							if want := fmt.Sprintf("%d/%d", i+1, len(parts)); m.Embeds[len(m.Embeds)-1].Footer.Text != want {
								t.Errorf("message %d is %q, want %q", i+1, m.Embeds[len(m.Embeds)-1].Footer.Text, want)
							}
						}
						s.ended(0, s.at(1, 0), store.ReportSent, "")
					})
				})
			}
		}
	}
}

// A slot may pass without a run: nothing but the next wake finds out.
func TestSlotWithoutRun(t *testing.T) {
	t.Parallel()
	play(t, 2, func(t *testing.T, s *scene) {
		p := s.friend()
		s.until("1:10")
		s.game("Lux", one(p))
		// As if written by somebody who computed it a moment before the hour.
		s.follow(1, "UTC", schedule.All, p)
		s.until("1:11")
		s.game("Garen", one(p))
		if err := s.db.SetNextSlot(t.Context(), channelID(1), s.at(1, 0)); err != nil {
			t.Fatal(err)
		}
		// And one whose report for it is over.
		if err := s.db.SetNextSlot(t.Context(), channelID(0), s.at(1, 0)); err != nil {
			t.Fatal(err)
		}
		s.hour.Changed()
		s.until("1:20")
		for i := range 2 {
			if c, _ := s.db.Channel(t.Context(), channelID(i)); !c.NextSlot.Equal(s.at(2, 0)) {
				t.Errorf("channel %d is due at %v, want 2:00", i, c.NextSlot)
			}
		}
		s.until("2:01")
		s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1, "Garen": 1})
		s.posted(1, 1, map[string]int{"Garen": 1})
	})
}

func TestZones(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla", "Pacific/Chatham", "America/St_Johns"}
	play(t, len(zones), func(t *testing.T, s *scene) {
		shared := s.player("kr")
		want := map[string][]string{}
		for i, z := range zones {
			own := s.player("kr")
			s.follow(i, z, schedule.All, own, shared)
			want[z] = nil
		}
		arrived := map[int][]time.Time{}
		for i := range zones {
			s.t.Helper()
			arrived[i] = nil
		}
		s.start()
		// Somebody plays every ten minutes, so that each hour has news.
		for m := 5; m < 4*60; m += 10 {
			s.until(fmt.Sprintf("%d:%d", m/60, m%60))
			s.game("Ahri", one(shared))
		}
		s.until("4:10")
		for i, z := range zones {
			loc, err := time.LoadLocation(z)
			if err != nil {
				t.Fatal(err)
			}
			ms := s.messages(i)
			if len(ms) < 4 {
				t.Errorf("%s: %d messages in four hours", z, len(ms))
			}
			for _, m := range ms {
				at := m.Arrived.In(loc)
				if at.Minute() != 0 || at.Second() != 0 || at.Nanosecond() > int(200*time.Millisecond) {
					t.Errorf("%s: posted at %s, want on the hour of the place", z, at.Format("15:04:05.000"))
				}
			}
		}
		for c, games := range s.db.told {
			for g, n := range games {
				if n != 1 {
					t.Errorf("channel %d was told %s %d times", c, g, n)
				}
			}
		}
		// Four slots an hour: :00, :15, :30; the shared player is read for each,
		// the others once an hour.
		if n := s.calls()["ids"]; n > 4*(len(zones)+4)+len(zones) {
			t.Errorf("%d lists in four hours", n)
		}
	})
}

func TestSummerTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, zone string
		from       time.Time
		hours      schedule.Hours
		want       []string // UTC
	}{
		{"Berlin, put forward", "Europe/Berlin", time.Date(2026, 3, 28, 23, 30, 0, 0, time.UTC), schedule.All,
			[]string{"00:00", "01:00", "02:00", "03:00"}},
		{"Berlin, put forward, the hour that is skipped", "Europe/Berlin", time.Date(2026, 3, 28, 23, 30, 0, 0, time.UTC), 1 << 2,
			[]string{"01:00"}},
		{"Berlin, put back", "Europe/Berlin", time.Date(2026, 10, 24, 22, 30, 0, 0, time.UTC), schedule.All,
			[]string{"23:00", "00:00", "01:00", "02:00"}},
		{"Berlin, put back, the hour that comes twice", "Europe/Berlin", time.Date(2026, 10, 24, 22, 30, 0, 0, time.UTC), 1 << 2,
			[]string{"00:00"}},
		{"Lord Howe, put back by half an hour", "Australia/Lord_Howe", time.Date(2026, 4, 4, 13, 40, 0, 0, time.UTC), schedule.All,
			[]string{"14:00", "15:30", "16:30", "17:30"}},
		{"Lord Howe, put forward by half an hour", "Australia/Lord_Howe", time.Date(2026, 10, 3, 14, 10, 0, 0, time.UTC), schedule.All,
			[]string{"14:30", "15:30", "16:00", "17:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				time.Sleep(time.Until(c.from))
				p := s.player("kr")
				s.follow(0, c.zone, c.hours, p)
				s.start()
				for end := time.Now().Add(4 * time.Hour); time.Now().Before(end); time.Sleep(10 * time.Minute) {
					s.game("Ahri", one(p))
				}
				var got []string
				for _, m := range s.messages(0) {
					got = append(got, m.Arrived.UTC().Format("15:04"))
				}
				if len(got) > len(c.want) && len(c.want) == 4 {
					got = got[:4]
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("posted at %v, want %v", got, c.want)
				}
			})
		})
	}
}

func TestPersonBeforeTheHour(t *testing.T) {
	t.Parallel()
	register := func(s *scene, i int, p riottest.PlayerID) {
		known, _ := s.world.Player(p)
		got, _, err := s.db.Register(s.t.Context(), channelID(i), store.NewPlayer{
			Platform: known.Platform, GameName: known.GameName, TagLine: known.TagLine, Key: s.key, PUUID: s.world.PUUID(testKey, p),
		}, time.Now(), nil, 50)
		if err != nil {
			s.t.Fatal(err)
		}
		s.hour.RanksSoon(got.ID, channelID(i))
		s.hour.Changed()
	}
	change := func(s *scene, i int, f func(*store.Channel)) {
		c, err := s.db.Channel(s.t.Context(), channelID(i))
		if err != nil {
			s.t.Fatal(err)
		}
		f(&c)
		if err := s.db.PutChannel(s.t.Context(), c); err != nil {
			s.t.Fatal(err)
		}
		s.hour.Changed()
	}
	t.Run("somebody registers in the last seconds", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.friend()
			q := s.player("kr")
			s.until("0:59:57")
			register(s, 0, q)
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "⚠️": 0, "Friend 2": 1})
			s.game("Lux", []riottest.PlayerID{q, p})
			s.until("2:01")
			s.posted(0, 2, map[string]int{"Lux": 1})
			s.reasons(0, map[string]int{"time": 0, "riot": 0})
		})
	})
	t.Run("the first registration of a channel, in the last second", func(t *testing.T) {
		t.Parallel()
		play(t, 2, func(t *testing.T, s *scene) {
			s.friend()
			q := s.player("kr")
			time.Sleep(time.Until(s.at(1, 0).Add(-200 * time.Millisecond)))
			s.follow(1, "UTC", schedule.All, q)
			s.hour.Changed()
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.until("1:30")
			s.game("Lux", one(q))
			s.until("2:01")
			s.posted(1, 1, map[string]int{"Lux": 1})
		})
	})
	t.Run("registered while late news is awaited", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			a, b := s.player("kr"), s.player("euw1")
			s.follow(0, "UTC", schedule.All, a, b)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(a))
			s.game("Lux", one(b))
			s.down(riottest.FaultStatus, 503, s.at(1, 5), "asia")
			s.until("1:01")
			register(s, 0, s.player("kr"))
			s.until("1:16")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "⚠️": 0})
		})
	})
	t.Run("hours off after rendering", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.until("0:59:30")
			change(s, 0, func(c *store.Channel) { c.Hours, c.NextSlot = 0, time.Time{} })
			s.until("1:30")
			s.posted(0, 0, nil)
			s.reasons(0, map[string]int{"unscheduled": 1})
			change(s, 0, func(c *store.Channel) { c.Hours, c.NextSlot = uint32(schedule.All), s.at(2, 0) })
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("hours off and on again", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.until("0:59:30")
			change(s, 0, func(c *store.Channel) { c.Hours, c.NextSlot = 0, time.Time{} })
			s.until("0:59:40")
			change(s, 0, func(c *store.Channel) { c.Hours, c.NextSlot = uint32(schedule.All), s.at(1, 0) })
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("language changed after rendering", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			s.friend()
			s.until("0:59:30")
			change(s, 0, func(c *store.Channel) { c.Language = "ko" })
			s.until("1:00:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Win": 0})
		})
	})
}

// With the database failing at random, before or after it did what was asked,
// nothing is lost, nothing is told twice, and all of it ends by itself.
func TestStoreUnavailable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			play(t, 3, func(t *testing.T, s *scene) {
				f := &flaky{recorder: s.db, rng: rand.New(rand.NewPCG(seed, 1)), share: 0.08}
				s.opts.Store = f
				var all []riottest.PlayerID
				for i := range 3 {
					own := []riottest.PlayerID{s.player("kr"), s.player("euw1")}
					all = append(all, own...)
					s.follow(i, "UTC", schedule.All, own...)
				}
				s.start()
				games := 0
				for m := 10; m < 5*60; m += 20 {
					s.until(fmt.Sprintf("%d:%d", m/60, m%60))
					s.game(champions[games], one(all[games%len(all)]))
					games++
					if m == 130 {
						s.start() // restarted besides
					}
				}
				f.set(0)
				s.until("7:30")
				n := 0
				for c, told := range s.db.told {
					for g, times := range told {
						n++
						if times != 1 {
							t.Errorf("channel %d was told %s %d times", c, g, times)
						}
					}
				}
				if n != games {
					t.Errorf("%d games told, want %d", n, games)
				}
				for i := range games {
					shown := 0
					for c := range 3 {
						for _, m := range s.messages(c) {
							shown += strings.Count(text(m), champions[i])
						}
					}
					if shown != 1 {
						t.Errorf("game %d is shown %d times", i, shown)
					}
				}
				if t.Failed() {
					for c := range 3 {
						for _, m := range s.messages(c) {
							t.Logf("channel %d at %s, %d edits, nonce %s: %s", c, m.Arrived.Format(time.TimeOnly), len(m.Edits), m.Nonce, text(m))
						}
					}
				}
				if f.count() == 0 {
					t.Error("the database never failed")
				}
			})
		})
	}
	t.Run("away over the hour", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			f := &flaky{recorder: s.db, rng: rand.New(rand.NewPCG(1, 1))}
			s.opts.Store = f
			s.friend()
			s.until("0:59:50")
			f.set(1)
			s.until("1:20")
			f.set(0)
			s.until("1:40")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.until("2:01")
			s.posted(0, 1, nil)
		})
	})
}
