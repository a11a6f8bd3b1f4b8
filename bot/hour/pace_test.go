package hour_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
)

// All first messages go before any second one, a channel's come in order, and
// nobody is always last.
func TestPace(t *testing.T) {
	t.Parallel()
	const channels = 5
	play(t, channels, func(t *testing.T, s *scene) {
		var mu sync.Mutex
		var order []string
		s.discord.OnMessage(func(m discordtest.Message) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, m.Channel)
		})
		var many []riottest.PlayerID
		for range 30 {
			many = append(many, s.player("kr"))
		}
		for i := range channels {
			s.follow(i, "UTC", schedule.All, many...)
		}
		s.start()
		last := map[string]bool{}
		for h := range 3 {
			s.until(fmt.Sprintf("%d:40", h))
			for range 3 {
				for _, p := range many {
					s.game("Ahri", one(p))
				}
			}
			order = nil
			slot := s.at(h+1, 0)
			s.until(fmt.Sprintf("%d:02", h+1))
			if len(order) < 2*channels {
				t.Fatalf("%d messages, want some of each channel", len(order))
			}
			first := map[string]bool{}
			for _, c := range order[:channels] {
				if first[c] {
					t.Fatalf("%s had its second message before all had the first", c)
				}
				first[c] = true
			}
			last[order[channels-1]] = true
			for i := range channels {
				ms := s.messages(i)
				for j := 1; j < len(ms); j++ {
					if ms[j].Arrived.Before(ms[j-1].Arrived) {
						t.Errorf("channel %d: message %d before %d", i, j, j-1)
					}
				}
				for _, m := range ms {
					if m.Arrived.Before(slot) && m.Arrived.After(slot.Add(-50*time.Minute)) {
						t.Errorf("channel %d: a message %s early", i, slot.Sub(m.Arrived))
					}
				}
			}
		}
		if len(last) < 2 {
			t.Errorf("the last of three hours were %v, want not always the same", last)
		}
	})
}

// A rehearsal scales what is the program's own, and not what is Riot's.
func TestRehearsal(t *testing.T) {
	t.Parallel()
	for _, hour := range []time.Duration{2 * time.Second, 15 * time.Second, 20 * time.Second} {
		t.Run(hour.String(), func(t *testing.T) {
			t.Parallel()
			playWith(t, 2, riottest.Options{}, schedule.Clock{Hour: hour}, func(t *testing.T, s *scene) {
				a, b := s.player("kr"), s.player("euw1")
				s.follow(0, "Asia/Kolkata", schedule.All, a)
				s.follow(1, "UTC", schedule.All, a, b)
				s.start()
				slot := s.began
				wait := func(after time.Duration) {
					time.Sleep(time.Until(slot.Add(after)))
					synctest.Wait()
				}
				for n := range 5 {
					slot = s.began.Add(time.Duration(n+1) * hour)
					wait(-hour / 2)
					s.game(champions[n], []riottest.PlayerID{a, b})
					wait(hour / 10)
					for i := range 2 {
						s.posted(i, n+1, map[string]int{champions[n]: 1})
						m := s.messages(i)[n]
						if late := m.Arrived.Sub(slot); late < 0 || late > 100*time.Millisecond {
							t.Errorf("channel %d in hour %d: %s late", i, n+1, late)
						}
					}
				}
				// What is missing is awaited for a quarter of an hour of these.
				slot = slot.Add(hour)
				wait(-hour / 2)
				s.game(champions[5], one(a))
				s.game(champions[6], one(b))
				s.down(riottest.FaultStatus, 503, slot.Add(hour/2), "europe")
				wait(hour / 10)
				s.posted(1, 6, map[string]int{champions[5]: 1, champions[6]: 0, "⚠️ EUW": 1})
				wait(2*hour + hour/10)
				s.posted(1, 7, map[string]int{champions[5]: 1, champions[6]: 1})
				// Down over some hours, back within a half: one report of them all.
				s.stop()
				s.game(champions[7], one(a))
				slot = slot.Add(5 * hour)
				wait(hour / 4)
				s.start()
				wait(hour * 3 / 4)
				s.posted(0, 7, map[string]int{champions[7]: 1})
			})
		})
	}
}
