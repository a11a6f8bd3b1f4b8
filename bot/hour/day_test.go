package hour_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
)

// TestDay lets a day of 260 channels and 1,200 players pass in virtual time
// (issue 2): every hour is posted on the hour, each game once, nothing is
// refused. It logs what that cost in calls.
func TestDay(t *testing.T) {
	t.Parallel()
	const (
		channels = 260
		players  = 1200
	)
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, channels, riottest.Options{
			Seed: 7,
			Latency: func(riottest.Call) (before, after time.Duration) {
				return 5*time.Millisecond + rand.N(40*time.Millisecond), 5*time.Millisecond + rand.N(80*time.Millisecond)
			},
			Live: riottest.Live{GamesPerHour: 0.35, Late: 0.05, Remakes: 0.03},
		}, schedule.Clock{})
		groups, err := p.world.Populate(players, 7)
		if err != nil {
			t.Fatal(err)
		}
		zones := []string{"Asia/Seoul", "Europe/Berlin", "America/New_York", "UTC"}
		follows := make([][]riottest.PlayerID, channels)
		for i, g := range groups {
			follows[i%channels] = append(follows[i%channels], g.Players...)
		}
		for i := range channels {
			// Some friends are followed in two channels.
			if i%5 == 0 {
				follows[i] = append(follows[i], follows[(i+1)%channels][0])
			}
			p.follow(i, zones[i%len(zones)], schedule.All, follows[i]...)
		}

		type post struct {
			slot, arrived time.Time
			channel       string
		}
		var mu sync.Mutex
		var posts []post
		p.discord.OnMessage(func(m discordtest.Message) {
			mu.Lock()
			defer mu.Unlock()
			posts = append(posts, post{m.Arrived.Truncate(time.Hour), m.Arrived, m.Channel})
		})

		ctx := t.Context()
		var world sync.WaitGroup
		world.Go(func() { _ = p.world.RunWorld(ctx, time.Hour) })
		stop := p.run()
		first := time.Now().Truncate(time.Hour).Add(time.Hour)
		last := first.Add((dayHours - 1) * time.Hour)
		hourly := make([]map[string]int, 0, dayHours)
		was := map[string]int{}
		for slot := first; !slot.After(last); slot = slot.Add(time.Hour) {
			time.Sleep(time.Until(slot.Add(8 * time.Minute)))
			now := p.world.Stats().ByMethod
			diff := map[string]int{}
			for m, n := range now {
				diff[m] = n - was[m]
			}
			was = now
			hourly = append(hourly, diff)
		}
		stop()

		st := p.world.Stats()
		if st.Refusals() != 0 || st.Overshoot != 0 {
			t.Errorf("Riot refused %v, overshoot %d, want none", st.Refused, st.Overshoot)
		}
		for id, n := range st.Matches {
			if n != 1 {
				t.Errorf("match %s was fetched %d times, want once", id, n)
			}
		}
		ds := p.discord.Stats()
		if ds.Global429+ds.Bucket429 != 0 || len(ds.Violations) != 0 {
			t.Errorf("Discord refused %d and %d, violations %v, want none", ds.Global429, ds.Bucket429, ds.Violations)
		}

		// On the hour, at Discord's pace.
		bySlot := map[time.Time][]time.Duration{}
		lasts := map[time.Time]string{}
		for _, x := range posts { // in the order of arrival
			bySlot[x.slot] = append(bySlot[x.slot], x.arrived.Sub(x.slot))
			lasts[x.slot] = x.channel
		}
		// The order turns, so that nobody is always last.
		wasLast := map[string]int{}
		for _, c := range lasts {
			if wasLast[c]++; wasLast[c] > max(1, dayHours/6) {
				t.Errorf("channel %s was the last %d times", c, wasLast[c])
			}
		}
		if len(bySlot) != dayHours {
			t.Errorf("posted in %d hours, want %d", len(bySlot), dayHours)
		}
		for slot, lates := range bySlot {
			slices.Sort(lates)
			bound := time.Duration(len(lates))*time.Second/45 + 300*time.Millisecond
			if lates[0] > 50*time.Millisecond || lates[len(lates)-1] > bound {
				t.Errorf("%s: %d messages from %s to %s, want from 50ms to %s", slot, len(lates), lates[0], lates[len(lates)-1], bound)
			}
		}

		// Each game once in each channel that follows one of its players.
		missed, told := 0, 0
		for i := range channels {
			got := p.db.told[channelID(i)]
			want := map[string]bool{}
			for _, id := range follows[i] {
				known, _ := p.world.Player(id)
				for _, g := range known.Games {
					want[g] = true
				}
			}
			for g, n := range got {
				told++
				if n != 1 || !want[g] {
					t.Errorf("channel %d was told %s %d times, want once and only if its players played it (%v)", i, g, n, want[g])
				}
			}
			for g := range want {
				if got[g] == 0 {
					missed++ // ended, or was listed, after the last fetch
				}
			}
		}
		if told == 0 {
			t.Error("no game was told")
		}
		// Games go on until minutes after the last report, and 1 in 20 is listed
		// up to half an hour late: those wait for the next.
		if limit := told/dayHours + channels/20; missed > limit {
			t.Errorf("%d games were not told, want at most an hour's (%d)", missed, limit)
		}

		report := &strings.Builder{}
		methods := []string{"ids", "match", "league", "region", "account-by-riot-id", "summoner"}
		fmt.Fprintf(report, "calls an hour, of %d channels and %d players\n%5s", channels, players, "hour")
		for _, m := range methods {
			fmt.Fprintf(report, " %8s", strings.TrimSuffix(m, "-by-riot-id"))
		}
		fmt.Fprintf(report, " %8s %8s\n", "all", "naive")
		ours, naive := 0, 0
		for i, h := range hourly {
			fmt.Fprintf(report, "%5d", i+1)
			sum := 0
			for _, m := range methods {
				fmt.Fprintf(report, " %8d", h[m])
			}
			for _, n := range h {
				sum += n
			}
			// Once for the rank and twice for the list of each player, and once a
			// game, counted once however many friends played it.
			n := 3*players + h["match"]
			fmt.Fprintf(report, " %8d %8d\n", sum, n)
			ours, naive = ours+sum, naive+n
		}
		fmt.Fprintf(report, "  all calls %d, asking naively at least %d; games told %d, left for the next hour %d", ours, naive, told, missed)
		t.Log(report)
	})
	t.Logf("%d hours took %s", dayHours, time.Since(start).Round(time.Millisecond))
}
