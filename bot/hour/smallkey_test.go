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

// TestSmallKey serves the hours of 20 players with a development key (issue 3):
// its limits, 20 a second and 100 in two minutes, are found out from the
// headers. Fetching begins early enough for a whole report on the hour, and no
// earlier than it must; nothing is refused.
func TestSmallKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, 4, riottest.Options{
			Seed: 3, Limits: riottest.DevelopmentLimits(),
			Latency: func(riottest.Call) (before, after time.Duration) { return 30 * time.Millisecond, 60 * time.Millisecond },
		}, schedule.Clock{})
		var players []riottest.PlayerID
		for i := range 20 {
			id, err := p.world.AddPlayer(riottest.Player{
				GameName: fmt.Sprintf("Small %d", i), TagLine: "KEY", Platform: "kr",
				Solo: &riottest.Rank{Tier: "GOLD", Division: "II", LP: 50, Wins: 10, Losses: 10},
			})
			if err != nil {
				t.Fatal(err)
			}
			players = append(players, id)
		}
		for c := range 4 {
			p.follow(c, "UTC", schedule.All, players[c*5:(c+1)*5]...)
		}
		var mu sync.Mutex // guards posted
		posted := map[time.Time]int{}
		p.discord.OnMessage(func(m discordtest.Message) {
			mu.Lock()
			defer mu.Unlock()
			posted[m.Arrived.Truncate(time.Hour)]++
		})
		defer p.run()()
		first := time.Now().Truncate(time.Hour).Add(time.Hour)
		games := 0
		for n := range 3 {
			slot := first.Add(time.Duration(n) * time.Hour)
			time.Sleep(time.Until(slot.Add(-20 * time.Minute)))
			calls := p.world.Stats().Requests
			for _, id := range players {
				// Each plays five games alone: 100 matches, 20 lists, 20 ranks.
				for range 5 {
					if _, err := p.world.Play(420, riottest.Win, id); err != nil {
						t.Fatal(err)
					}
					games++
				}
			}
			time.Sleep(time.Until(slot.Add(2 * time.Minute)))
			synctest.Wait()
			mu.Lock()
			got := posted[slot]
			mu.Unlock()
			if got != 4 {
				t.Errorf("hour %d: %d messages on the hour, want 4", n+1, got)
			}
			told := 0
			p.db.mu.Lock()
			for c := range 4 {
				told += len(p.db.told[channelID(c)])
			}
			p.db.mu.Unlock()
			if told != games {
				t.Errorf("hour %d: %d games told, want all %d on the hour", n+1, told, games)
			}
			t.Logf("hour %d: %d calls", n+1, p.world.Stats().Requests-calls)
		}
		if st := p.world.Stats(); st.Refusals() != 0 || st.Overshoot != 0 {
			t.Errorf("refused %v, overshoot %d, want none", st.Refused, st.Overshoot)
		}
	})
}
