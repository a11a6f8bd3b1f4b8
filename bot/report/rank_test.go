package report_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"riftchime/bot/report"
	"riftchime/store"
)

// standing reads "GOLD II 45", "MASTER 120", "MASTER I 120" or "" (unranked).
func standing(t testing.TB, s string) store.Rank {
	t.Helper()
	f := strings.Fields(s)
	if len(f) == 0 {
		return store.Rank{}
	}
	lp, err := strconv.Atoi(f[len(f)-1])
	if err != nil {
		t.Fatal(err)
	}
	r := store.Rank{Tier: f[0], LP: lp}
	if len(f) == 3 {
		r.Division = f[1]
	}
	return r
}

const (
	up     = report.Promoted
	down   = report.Demoted
	stayed = report.Stayed
	placed = report.Placed
)

// TestRankSteps has steps whose change was worked out by hand: 400 a tier, 100 a
// division, one open scale from Master on.
func TestRankSteps(t *testing.T) {
	t.Parallel()
	steps := []struct {
		from, to string
		change   int
		known    bool
		move     report.Move
	}{
		// Within a division.
		{"GOLD II 27", "GOLD II 45", 18, true, stayed},
		{"GOLD II 45", "GOLD II 27", -18, true, stayed},
		{"GOLD II 45", "GOLD II 45", 0, true, stayed},
		{"IRON IV 0", "IRON IV 0", 0, true, stayed},
		{"IRON IV 0", "IRON IV 99", 99, true, stayed},
		{"IRON IV 12", "IRON IV 0", -12, true, stayed},
		{"DIAMOND I 75", "DIAMOND I 0", -75, true, stayed},
		{"EMERALD III 1", "EMERALD III 100", 99, true, stayed},
		// To the next division.
		{"GOLD II 90", "GOLD I 8", 18, true, up},
		{"GOLD I 8", "GOLD II 90", -18, true, down},
		{"GOLD III 99", "GOLD II 0", 1, true, up},
		{"GOLD II 0", "GOLD III 99", -1, true, down},
		{"GOLD II 10", "GOLD III 85", -25, true, down},
		{"IRON IV 95", "IRON III 20", 25, true, up},
		{"IRON III 5", "IRON IV 80", -25, true, down},
		{"BRONZE IV 80", "BRONZE III 1", 21, true, up},
		{"SILVER III 77", "SILVER II 2", 25, true, up},
		{"PLATINUM II 3", "PLATINUM III 83", -20, true, down},
		{"EMERALD II 88", "EMERALD I 11", 23, true, up},
		{"DIAMOND IV 100", "DIAMOND III 0", 0, true, up},
		{"DIAMOND II 60", "DIAMOND I 60", 100, true, up},
		// Over several divisions.
		{"GOLD IV 0", "GOLD I 0", 300, true, up},
		{"GOLD I 50", "GOLD IV 50", -300, true, down},
		{"GOLD IV 90", "GOLD II 15", 125, true, up},
		{"SILVER I 20", "SILVER III 70", -150, true, down},
		{"IRON IV 30", "IRON II 10", 180, true, up},
		// To another tier.
		{"IRON I 90", "BRONZE IV 5", 15, true, up},
		{"BRONZE I 88", "SILVER IV 9", 21, true, up},
		{"SILVER I 99", "GOLD IV 0", 1, true, up},
		{"GOLD I 80", "PLATINUM IV 1", 21, true, up},
		{"PLATINUM I 95", "EMERALD IV 20", 25, true, up},
		{"EMERALD I 70", "DIAMOND IV 0", 30, true, up},
		{"BRONZE IV 0", "IRON I 75", -25, true, down},
		{"SILVER IV 3", "BRONZE I 84", -19, true, down},
		{"GOLD IV 0", "SILVER I 75", -25, true, down},
		{"PLATINUM IV 0", "GOLD I 25", -75, true, down},
		{"EMERALD IV 10", "PLATINUM I 75", -35, true, down},
		{"DIAMOND IV 0", "EMERALD I 50", -50, true, down},
		// Over a tier and more.
		{"SILVER IV 0", "GOLD IV 0", 400, true, up},
		{"GOLD IV 0", "SILVER IV 0", -400, true, down},
		{"SILVER II 50", "GOLD III 20", 270, true, up},
		{"PLATINUM IV 10", "GOLD III 75", -235, true, down},
		{"SILVER I 30", "PLATINUM IV 5", 475, true, up},
		{"IRON IV 0", "DIAMOND I 100", 2800, true, up},
		{"DIAMOND IV 20", "GOLD IV 20", -1200, true, down},
		{"BRONZE II 40", "EMERALD III 60", 1520, true, up},
		// Into and out of Master.
		{"DIAMOND I 90", "MASTER 5", 15, true, up},
		{"DIAMOND I 100", "MASTER 0", 0, true, up},
		{"DIAMOND II 80", "MASTER 20", 140, true, up},
		{"MASTER 0", "DIAMOND I 75", -25, true, down},
		{"MASTER 10", "DIAMOND II 50", -160, true, down},
		{"EMERALD IV 0", "MASTER 0", 800, true, up},
		// The open scale.
		{"MASTER 0", "MASTER 250", 250, true, stayed},
		{"MASTER 612", "MASTER 590", -22, true, stayed},
		{"MASTER 480", "GRANDMASTER 502", 22, true, up},
		{"GRANDMASTER 502", "MASTER 480", -22, true, down},
		{"GRANDMASTER 690", "CHALLENGER 712", 22, true, up},
		{"CHALLENGER 712", "GRANDMASTER 690", -22, true, down},
		{"GRANDMASTER 700", "CHALLENGER 700", 0, true, up},
		{"CHALLENGER 700", "GRANDMASTER 715", 15, true, down},
		{"MASTER 861", "CHALLENGER 1075", 214, true, up},
		{"CHALLENGER 1200", "MASTER 300", -900, true, down},
		{"CHALLENGER 2117", "CHALLENGER 2099", -18, true, stayed},
		{"GRANDMASTER 5", "DIAMOND I 80", -25, true, down},
		{"DIAMOND I 99", "CHALLENGER 1000", 1001, true, up},
		// Riot writes "I" for tiers without divisions.
		{"MASTER I 100", "MASTER I 120", 20, true, stayed},
		{"DIAMOND I 90", "MASTER I 5", 15, true, up},
		{"MASTER I 100", "GRANDMASTER 230", 130, true, up},
		// Where nothing can be said.
		{"", "GOLD IV 20", 0, false, placed},
		{"", "MASTER 20", 0, false, placed},
		{"", "", 0, false, stayed},
		{"GOLD IV 20", "", 0, false, stayed},
		{"OBSIDIAN IV 20", "OBSIDIAN IV 40", 0, false, stayed},
		{"GOLD IV 20", "OBSIDIAN IV 40", 0, false, stayed},
		{"GOLD V 20", "GOLD IV 40", 0, false, stayed},
	}
	if len(steps) < 60 {
		t.Fatalf("only %d steps", len(steps))
	}
	for _, s := range steps {
		t.Run(s.from+" to "+s.to, func(t *testing.T) {
			t.Parallel()
			from, to := standing(t, s.from), standing(t, s.to)
			from.Wins, to.Wins, from.Losses, to.Losses = 10, 11, 5, 7
			change, games, move, known := report.Compare(&from, &to)
			if change != s.change || known != s.known || move != s.move || games != 3 {
				t.Errorf("change %d (known %t), move %d, %d games; want %d (%t), %d, 3", change, known, move, games, s.change, s.known, s.move)
			}
		})
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"IRON IV 0": 0, "IRON III 0": 100, "IRON II 0": 200, "IRON I 0": 300, "BRONZE IV 0": 400, "SILVER IV 0": 800,
		"GOLD IV 0": 1200, "PLATINUM IV 0": 1600, "EMERALD IV 0": 2000, "DIAMOND IV 0": 2400, "DIAMOND I 100": 2800,
		"MASTER 0": 2800, "GRANDMASTER 0": 2800, "CHALLENGER 1500": 4300, "GOLD II 45": 1445,
	} {
		if got, ok := report.Ladder(standing(t, s)); !ok || got != want {
			t.Errorf("%s: %d (%t), want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "OBSIDIAN IV 1", "GOLD V 1", "GOLD 1", "gold IV 1"} {
		if got, ok := report.Ladder(standing(t, s)); ok {
			t.Errorf("%q: %d", s, got)
		}
	}
}

func TestCompareAcrossSeasons(t *testing.T) {
	t.Parallel()
	r := func(tier string, lp, wins, losses int) *store.Rank {
		return &store.Rank{Tier: tier, Division: "IV", LP: lp, Wins: wins, Losses: losses}
	}
	for name, c := range map[string]struct {
		shown, now *store.Rank
		known      bool
		games      int
	}{
		"nothing shown yet":               {nil, r("GOLD", 1, 1, 1), false, 0},
		"unknown now":                     {r("GOLD", 1, 1, 1), nil, false, 0},
		"both unknown":                    {nil, nil, false, 0},
		"no game":                         {r("GOLD", 75, 10, 10), r("GOLD", 0, 10, 10), true, 0},
		"a new season":                    {r("GOLD", 75, 100, 90), r("SILVER", 20, 3, 2), false, 0},
		"a reset to nothing":              {r("GOLD", 75, 100, 90), r("SILVER", 20, 0, 0), false, 0},
		"a reset, played more already":    {r("GOLD", 75, 10, 1), r("SILVER", 20, 9, 12), false, 0},
		"a reset, won more already":       {r("GOLD", 75, 1, 10), r("SILVER", 20, 12, 9), false, 0},
		"one game":                        {r("GOLD", 20, 10, 10), r("GOLD", 40, 11, 10), true, 1},
		"several games":                   {r("GOLD", 20, 10, 10), r("GOLD", 40, 12, 11), true, 3},
		"from a season that ended at 0:0": {r("GOLD", 20, 0, 0), r("GOLD", 40, 0, 0), true, 0},
	} {
		if _, games, _, known := report.Compare(c.shown, c.now); known != c.known || games != c.games {
			t.Errorf("%s: known %t, %d games; want %t, %d", name, known, games, c.known, c.games)
		}
	}
}

// TestChangesAddUp walks the ladder at random: what Compare says of the steps adds
// up to what it says of the whole way.
func TestChangesAddUp(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tiers := []string{"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND", "MASTER", "GRANDMASTER", "CHALLENGER"}
	for range 2000 {
		var path []store.Rank
		wins, losses := r.IntN(100), r.IntN(100)
		for range 2 + r.IntN(12) {
			tier := r.IntN(len(tiers))
			s := store.Rank{Tier: tiers[tier], LP: r.IntN(101), Wins: wins, Losses: losses}
			if tier < 7 {
				s.Division = []string{"IV", "III", "II", "I"}[r.IntN(4)]
			} else {
				s.LP = r.IntN(2000)
			}
			path = append(path, s)
			wins, losses = wins+r.IntN(3), losses+r.IntN(3)
		}
		sum, games := 0, 0
		for i := 1; i < len(path); i++ {
			change, n, move, known := report.Compare(&path[i-1], &path[i])
			if !known {
				t.Fatalf("%+v to %+v is not known", path[i-1], path[i])
			}
			if move == placed {
				t.Fatalf("%+v to %+v is called placed", path[i-1], path[i])
			}
			sum, games = sum+change, games+n
		}
		change, n, _, _ := report.Compare(&path[0], &path[len(path)-1])
		if sum != change || games != n {
			t.Fatalf("the steps add up to %d in %d games, the way is %d in %d: %+v", sum, games, change, n, path)
		}
	}
}

// TestMovesAreOrdered: of any two standings the higher one is a promotion from
// the lower, and back a demotion.
func TestMovesAreOrdered(t *testing.T) {
	t.Parallel()
	var all []store.Rank
	for _, tier := range []string{"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND"} {
		for _, division := range []string{"IV", "III", "II", "I"} {
			all = append(all, store.Rank{Tier: tier, Division: division, LP: 50})
		}
	}
	for _, tier := range []string{"MASTER", "GRANDMASTER", "CHALLENGER"} {
		all = append(all, store.Rank{Tier: tier, Division: "I", LP: 50})
	}
	for i := range all {
		for j := range all {
			want := stayed
			if j > i {
				want = up
			} else if j < i {
				want = down
			}
			if _, _, got, _ := report.Compare(&all[i], &all[j]); got != want {
				t.Errorf("%s to %s: %d, want %d", fmt.Sprint(all[i].Tier, all[i].Division), fmt.Sprint(all[j].Tier, all[j].Division), got, want)
			}
		}
	}
}
