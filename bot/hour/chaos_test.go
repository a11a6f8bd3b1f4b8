package hour_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

// TestChaos lets Riot, Discord, the database and the machine fail at random, for
// seven hours, and then lets them work: each game was shown once.
func TestChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(chaosSeeds) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			play(t, 4, func(t *testing.T, s *scene) { chaos(t, s, seed) })
		})
	}
}

func chaos(t *testing.T, s *scene, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	db := &flaky{recorder: s.db, rng: rand.New(rand.NewPCG(seed, 1)), share: 0.02}
	s.opts.Store = db
	zones := []string{"UTC", "Asia/Kolkata", "UTC", "Asia/Kathmandu"}
	var all []riottest.PlayerID
	for i, z := range zones {
		own := []riottest.PlayerID{s.player("kr"), s.player("euw1")}
		all = append(all, own...)
		s.follow(i, z, schedule.All, own...)
	}
	s.start()
	games := 0
	for m := 5; m < 7*60; m += 5 {
		s.until(fmt.Sprintf("%d:%d", m/60, m%60))
		if m%20 == 0 && games < len(champions) {
			s.game(champions[games], one(all[games%len(all)]))
			games++
		}
		soon := func() time.Time { return time.Now().Add(time.Duration(rng.IntN(20*60)) * time.Second) }
		if rng.IntN(3) == 0 {
			s.world.AddFault(riottest.Fault{
				Route: []string{"asia", "europe", "kr", "euw1"}[rng.IntN(4)],
				Kind: []riottest.FaultKind{
					riottest.FaultStatus, riottest.FaultHang, riottest.FaultReset, riottest.FaultCut, riottest.FaultHTML, riottest.FaultErrorBody,
				}[rng.IntN(6)],
				From: soon(), Until: soon(), Chance: 0.1 + 0.9*rng.Float64(),
			})
		}
		if rng.IntN(2) == 0 {
			f := discordtest.Fault{
				Kind: []discordtest.FaultKind{
					discordtest.FaultBucket, discordtest.FaultGlobal, discordtest.FaultCloudflare, discordtest.FaultReset, discordtest.FaultHang,
					discordtest.FaultResetAfter, discordtest.FaultHangAfter, discordtest.FaultStatus,
				}[rng.IntN(8)],
				Status: 500 + rng.IntN(5),
				Route:  []discordtest.Route{discordtest.RouteMessageCreate, discordtest.RouteMessageList, discordtest.RouteMessageEdit, ""}[rng.IntN(4)],
				Count:  1 + rng.IntN(20), Until: soon(),
			}
			s.discord.Fail(f)
		}
		if rng.IntN(12) == 0 {
			// A stop in the middle of something, for seconds to a quarter of an hour.
			time.Sleep(time.Duration(rng.IntN(290_000)) * time.Millisecond)
			s.stop()
			if rng.IntN(2) == 0 {
				m += 15
				s.until(fmt.Sprintf("%d:%d", m/60, m%60))
			}
			s.start()
		}
	}
	db.set(0)
	s.world.ClearFaults()
	s.discord.ClearFaults()
	s.until("10:20")
	for i := range games {
		shown := 0
		for c := range zones {
			for _, m := range s.messages(c) {
				shown += strings.Count(text(m), champions[i])
			}
		}
		if shown != 1 {
			t.Errorf("seed %d: game %d, %s, of channel %d is shown %d times", seed, i, champions[i], i%len(all)/2, shown)
		}
	}
	if left, err := s.db.Unfinished(t.Context()); err != nil || slices.ContainsFunc(left, func(r store.Report) bool { return r.Slot.Before(time.Now()) }) {
		t.Errorf("left open: %v, %v", left, err)
	}
	var riot int
	for _, n := range s.world.Stats().Injected {
		riot += n
	}
	t.Logf("%d games; faults: %d of Riot, %d of Discord, %d of the database; reasons %v",
		games, riot, s.discord.Stats().Injected, db.count(), s.codes(0))
	if t.Failed() {
		for c := range zones {
			for _, m := range s.messages(c) {
				t.Logf("channel %d at %s, %d edits, %d repeats, nonce %s: %s", c, m.Arrived.Format(time.TimeOnly), len(m.Edits), m.Repeats, m.Nonce, text(m))
			}
			t.Log(s.codes(c))
		}
	}
}
