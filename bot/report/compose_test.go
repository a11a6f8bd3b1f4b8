package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/bot/report"
	"riftchime/store"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

const (
	win    = store.OutcomeWin
	loss   = store.OutcomeLoss
	remake = store.OutcomeRemake
	place  = store.OutcomePlacement
	none   = store.OutcomeNone
)

// world is an input that grows.
type world struct{ report.Input }

func newWorld(names ...string) *world {
	w := &world{report.Input{Slot: noon, From: noon.Add(-time.Hour), Now: noon}}
	for i, n := range names {
		name, tag, found := strings.Cut(n, "#")
		if !found {
			tag = "KR1"
		}
		w.Facts.Follows = append(w.Facts.Follows, store.Follow{
			Player:    store.Player{ID: store.PlayerID(i + 1), Platform: "kr", GameName: name, TagLine: tag},
			ShownName: name + "#" + tag,
		})
	}
	return w
}

// play adds player's part in a match that ended so many minutes before noon.
func (w *world) play(player int, match string, before int, outcome uint8, change ...func(*store.Game)) *world {
	g := store.Game{
		Player: store.PlayerID(player), Match: match, Platform: "kr", Queue: 420, Mode: "CLASSIC", Map: 11,
		End: noon.Add(-time.Duration(before) * time.Minute), Duration: 20 * time.Minute,
		Participant: store.Participant{ChampionID: 103, ChampionName: "Ahri", Team: 100, Kills: 1, Deaths: 2, Assists: 3, Outcome: outcome},
	}
	for _, c := range change {
		c(&g)
	}
	g.Start = g.End.Add(-g.Duration)
	w.Facts.Games = append(w.Facts.Games, g)
	return w
}

func queue(id int) func(*store.Game) { return func(g *store.Game) { g.Queue = id } }
func team(n int) func(*store.Game)   { return func(g *store.Game) { g.Team = n } }
func placing(n, of int) func(*store.Game) {
	return func(g *store.Game) { g.Placement, g.PlacementOf, g.Mode, g.Queue = n, of, "CHERRY", 1700 }
}

// ranked gives a player the rank shown a day ago and the one of a minute before
// noon; each is "GOLD II 45 40-38", and "-" means none.
func (w *world) ranked(player int, queue, shown, now string) *world {
	read := func(s string, id store.SnapshotID, at time.Time) *store.Rank {
		if s == "-" {
			return nil
		}
		f := strings.Fields(s)
		r := &store.Rank{ID: id, Queue: queue, At: at}
		if _, err := fmt.Sscanf(f[len(f)-1], "%d-%d", &r.Wins, &r.Losses); err != nil {
			panic(s)
		}
		if len(f) > 1 {
			r.Tier = f[0]
			if _, err := fmt.Sscanf(f[len(f)-2], "%d", &r.LP); err != nil {
				panic(s)
			}
		}
		if len(f) == 4 {
			r.Division = f[1]
		}
		return r
	}
	f := &w.Facts.Follows[player-1]
	id := store.SnapshotID(player * 10)
	f.Ranks = append(f.Ranks, store.RankPair{
		Queue: queue, Shown: read(shown, id+1, noon.Add(-24*time.Hour)), Now: read(now, id+2, noon.Add(-time.Minute)),
	})
	return w
}

// outline says in short what a report tells, block by block: players with their
// games alone, then the games together.
func outline(r report.Report) []string {
	var all []string
	for _, b := range r.Blocks {
		var s []string
		for _, p := range b.Players {
			text := p.Name.RiotID
			for _, g := range p.Alone {
				text += " " + g.Match
			}
			s = append(s, text)
		}
		for _, g := range b.Together {
			text := g.Match + ":"
			for i, side := range g.Sides {
				if i > 0 {
					text += " /"
				}
				for _, p := range side.Parts {
					text += " " + p.RiotID
				}
			}
			s = append(s, text)
		}
		all = append(all, strings.Join(s, "; "))
	}
	return all
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		w    *world
		want []string
		idle []string
	}{
		"nobody":        {newWorld(), nil, nil},
		"nobody played": {newWorld("A", "B"), nil, []string{"A#KR1", "B#KR1"}},
		"alone, oldest first, whatever the order given": {
			newWorld("A").play(1, "m3", 10, win).play(1, "m1", 50, win).play(1, "m2", 30, loss),
			[]string{"A#KR1 m1 m2 m3"}, nil,
		},
		"most active first": {
			newWorld("A", "B", "C").play(1, "m1", 50, win).play(3, "m2", 40, win).play(3, "m3", 30, win),
			[]string{"C#KR1 m2 m3", "A#KR1 m1"}, []string{"B#KR1"},
		},
		"as active: as registered": {
			newWorld("B", "A").play(1, "m1", 10, win).play(2, "m2", 40, win),
			[]string{"B#KR1 m1", "A#KR1 m2"}, nil,
		},
		"friends": {
			newWorld("A", "B").play(1, "m1", 50, win).play(2, "m1", 50, win),
			[]string{"A#KR1; B#KR1; m1: A#KR1 B#KR1"}, nil,
		},
		"friends who played alone too": {
			newWorld("A", "B", "C").play(1, "m1", 50, win).play(3, "m1", 50, win).play(3, "m2", 40, win).play(2, "m3", 30, win),
			[]string{"C#KR1 m2; A#KR1; m1: C#KR1 A#KR1", "B#KR1 m3"}, nil,
		},
		"a chain of friends": {
			newWorld("A", "B", "C", "D").play(1, "m1", 50, win).play(2, "m1", 50, win).play(2, "m2", 40, win).play(3, "m2", 40, win).
				play(3, "m3", 30, win).play(4, "m3", 30, win).play(4, "m4", 20, win).play(1, "m4", 20, win),
			[]string{"A#KR1; B#KR1; C#KR1; D#KR1; m1: A#KR1 B#KR1; m2: B#KR1 C#KR1; m3: C#KR1 D#KR1; m4: A#KR1 D#KR1"}, nil,
		},
		"against each other": {
			newWorld("A", "B", "C").play(1, "m1", 50, loss, team(200)).play(2, "m1", 50, win, team(100)).play(3, "m1", 50, loss, team(200)),
			[]string{"A#KR1; B#KR1; C#KR1; m1: B#KR1 / A#KR1 C#KR1"}, nil,
		},
		"Arena: teams by their number, the better first": {
			newWorld("A", "B", "C").play(1, "m1", 50, place, team(3), placing(5, 8)).play(2, "m1", 50, place, team(1), placing(2, 8)).play(3, "m1", 50, place, team(3), placing(5, 8)),
			[]string{"A#KR1; B#KR1; C#KR1; m1: B#KR1 / A#KR1 C#KR1"}, nil,
		},
		"listed twice": {
			newWorld("A").play(1, "m1", 50, win).play(1, "m1", 50, win),
			[]string{"A#KR1 m1"}, nil,
		},
		"somebody who is not followed any more": {
			newWorld("A").play(1, "m1", 50, win).play(7, "m1", 50, win).play(8, "m2", 40, win),
			[]string{"A#KR1 m1"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := report.Compose(c.w.Input)
			if diff := cmp.Diff(c.want, outline(r)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var idle []string
			for _, n := range r.Idle {
				idle = append(idle, n.RiotID)
			}
			if !slices.Equal(idle, c.idle) {
				t.Errorf("idle %s, want %s", idle, c.idle)
			}
		})
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	w := newWorld("A", "B").
		play(1, "won together", 90, win).play(2, "won together", 90, win).
		play(1, "won", 80, win).play(2, "lost", 70, loss).
		play(1, "remake", 60, remake).
		play(1, "split", 50, win).play(2, "split", 50, loss, team(200)).
		play(1, "arena 4 of 8", 40, place, placing(4, 8)).play(1, "arena 5 of 8", 30, place, placing(5, 8)).
		play(1, "arena 3 of 6", 29, place, placing(3, 6)).play(1, "arena 4 of 6", 28, place, placing(4, 6)).
		play(2, "no winner", 20, none).
		ranked(1, store.QueueSolo, "GOLD II 20 10-10", "GOLD II 55 13-10").
		ranked(2, store.QueueSolo, "DIAMOND IV 75 10-10", "DIAMOND IV 0 10-10").
		ranked(2, store.QueueFlex, "GOLD II 20 10-10", "GOLD II 20 10-10")
	r := report.Compose(w.Input)
	want := report.Totals{Games: 10, Wins: 4, Losses: 3, Split: 1, Remakes: 1, Open: 1, LP: -40, LPKnown: true}
	if r.Totals != want {
		t.Errorf("got %+v, want %+v", r.Totals, want)
	}
	if got, want := r.Blocks[0].Players[0].Record, (report.Record{Games: 8, Wins: 5, Losses: 2, Remakes: 1}); got != want {
		t.Errorf("A: %+v, want %+v", got, want)
	}
	if got, want := r.Blocks[0].Players[1].Record, (report.Record{Games: 4, Wins: 1, Losses: 2, Open: 1}); got != want {
		t.Errorf("B: %+v, want %+v", got, want)
	}
	if want := []string{"won together", "won", "lost", "remake", "split", "arena 4 of 8", "arena 5 of 8", "arena 3 of 6", "arena 4 of 6", "no winner"}; !slices.Equal(r.Games, want) || !r.HasGames() {
		t.Errorf("games %s", r.Games)
	}
	if quiet := report.Compose(newWorld("A").Input); quiet.HasGames() || quiet.Totals.LPKnown {
		t.Errorf("a report of nothing: %+v", quiet.Totals)
	}
}

// TestLPOfGames looks at which games say their LP.
func TestLPOfGames(t *testing.T) {
	t.Parallel()
	type told struct {
		Games   map[string]int // LP by match
		Change  int
		Known   bool
		In      int
		Pending bool
	}
	solo, flex := store.QueueSolo, store.QueueFlex
	for name, c := range map[string]struct {
		w    *world
		want told
	}{
		"one game": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Games: map[string]int{"m": 20}, Change: 20, Known: true, In: 1},
		},
		"one game over a promotion": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "GOLD I 90 10-10", "PLATINUM IV 11 11-10"),
			told{Games: map[string]int{"m": 21}, Change: 21, Known: true, In: 1},
		},
		"one game that changed nothing": {
			newWorld("A").play(1, "m", 10, loss).ranked(1, solo, "GOLD IV 0 10-10", "GOLD IV 0 10-11"),
			told{Games: map[string]int{"m": 0}, Change: 0, Known: true, In: 1},
		},
		"one game and others unranked": {
			newWorld("A").play(1, "m", 10, win).play(1, "aram", 20, win, queue(450)).play(1, "flex", 30, win, queue(440)).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Games: map[string]int{"m": 20}, Change: 20, Known: true, In: 1},
		},
		"one game and a remake": {
			newWorld("A").play(1, "m", 10, win).play(1, "remake", 20, remake).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Games: map[string]int{"m": 20}, Change: 20, Known: true, In: 1},
		},
		"two games": {
			newWorld("A").play(1, "m", 10, win).play(1, "n", 40, loss).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 22 11-11"),
			told{Change: 2, Known: true, In: 2},
		},
		"two games, the rank knows one": {
			newWorld("A").play(1, "m", 10, win).play(1, "n", 40, win).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Change: 20, Known: true, In: 1},
		},
		"one game, the rank knows two": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 60 12-10"),
			told{Change: 40, Known: true, In: 2},
		},
		"one game that was lost, the rank has won": {
			newWorld("A").play(1, "m", 10, loss).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Change: 20, Known: true, In: 1},
		},
		"a game from before the rank shown": {
			newWorld("A").play(1, "m", 25*60, win).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Change: 20, Known: true, In: 1},
		},
		"a game from after the newest rank": {
			newWorld("A").play(1, "m", 0, win).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Change: 20, Known: true, In: 1},
		},
		"a game in the other queue": {
			newWorld("A").play(1, "m", 10, win, queue(440)).ranked(1, solo, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Change: 20, Known: true, In: 1},
		},
		"flex": {
			newWorld("A").play(1, "m", 10, win, queue(440)).ranked(1, flex, "GOLD II 20 10-10", "GOLD II 40 11-10"),
			told{Games: map[string]int{"m": 20}, Change: 20, Known: true, In: 1},
		},
		"a new season": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "GOLD II 20 10-10", "SILVER II 40 1-0"),
			told{},
		},
		"never shown": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "-", "SILVER II 40 1-0"),
			told{},
		},
		"unknown": {
			newWorld("A").play(1, "m", 10, win).ranked(1, solo, "SILVER II 40 1-0", "-"),
			told{},
		},
		"decay beside an ARAM": {
			newWorld("A").play(1, "m", 10, win, queue(450)).ranked(1, solo, "DIAMOND IV 75 10-10", "DIAMOND IV 0 10-10"),
			told{Change: -75, Known: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := report.Compose(c.w.Input).Blocks[0].Players[0]
			var got told
			for _, s := range p.Ranks {
				if s.ChangeKnown {
					got.Change, got.Known, got.In = s.Change, true, s.ChangeGames
				}
				got.Pending = got.Pending || s.Pending
			}
			for _, g := range p.Alone {
				if part := g.Parts()[0]; part.LPKnown {
					if got.Games == nil {
						got.Games = map[string]int{}
					}
					got.Games[g.Match] = part.LP
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		outcome uint8
		now     string
		wanted  bool
		want    bool
	}{
		"a game that the rank lacks":    {win, "GOLD II 20 10-10", true, true},
		"a game that the rank has":      {win, "GOLD II 40 11-10", true, false},
		"a remake":                      {remake, "GOLD II 20 10-10", true, false},
		"listed late, known to be in":   {win, "GOLD II 20 10-10", false, false},
		"a new season began meanwhile":  {win, "SILVER II 20 0-0", true, false},
		"a rank that nobody could read": {win, "-", true, false},
	} {
		w := newWorld("A").play(1, "m", 10, c.outcome).ranked(1, store.QueueSolo, "GOLD II 20 10-10", c.now)
		w.Facts.Follows[0].Player.RanksWanted = c.wanted
		if got := report.Compose(w.Input).Blocks[0].Players[0].Ranks[0].Pending; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	w := newWorld("A").play(1, "m", 10, win, queue(450)).ranked(1, store.QueueFlex, "0-0", "1-2")
	w.ranked(1, "CHERRY", "GOLD II 1 1-1", "GOLD II 50 2-1")
	p := report.Compose(w.Input).Blocks[0].Players[0]
	want := []report.Standing{
		{Queue: store.QueueSolo, State: report.Unknown},
		{Queue: store.QueueFlex, State: report.Unranked, Placements: 3, ChangeGames: 3},
	}
	if diff := cmp.Diff(want, p.Ranks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	w = newWorld("A").play(1, "m", 10, win).ranked(1, store.QueueSolo, "2-2", "EMERALD III 20 3-2")
	p = report.Compose(w.Input).Blocks[0].Players[0]
	want = []report.Standing{
		{Queue: store.QueueSolo, State: report.Ranked, Tier: "EMERALD", Division: "III", LP: 20, Move: report.Placed, ChangeGames: 1},
		{Queue: store.QueueFlex, State: report.Unknown},
	}
	if diff := cmp.Diff(want, p.Ranks); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestChangeWithoutGames: decay is told though nobody played.
func TestChangeWithoutGames(t *testing.T) {
	t.Parallel()
	w := newWorld("A", "B", "C").
		ranked(1, store.QueueSolo, "DIAMOND IV 75 10-10", "DIAMOND IV 0 10-10").
		ranked(2, store.QueueSolo, "DIAMOND IV 75 10-10", "DIAMOND IV 75 10-10").
		play(3, "m", 10, win)
	r := report.Compose(w.Input)
	if want := []string{"C#KR1 m", "A#KR1"}; !slices.Equal(outline(r), want) {
		t.Errorf("got %s, want %s", outline(r), want)
	}
	if r.Totals.LP != -75 || !r.Totals.LPKnown {
		t.Errorf("totals %+v", r.Totals)
	}
}

func TestStreaks(t *testing.T) {
	t.Parallel()
	outcomes := map[byte]uint8{'W': win, 'L': loss, 'R': remake, 'N': none, 'P': place}
	for name, c := range map[string]struct {
		recent string // newest first
		games  string // oldest first; T and B are the top and bottom half of Arena
		want   []int
		open   bool
	}{
		"two are none":               {"", "WW", []int{0, 0}, false},
		"three":                      {"", "WWW", []int{0, 0, 3}, false},
		"three lost":                 {"", "LLL", []int{0, 0, -3}, false},
		"with those before":          {"WWL", "W", []int{3}, false},
		"lost with those before":     {"LLLW", "LL", []int{0, -5}, false},
		"broken":                     {"WWWW", "L", []int{0}, false},
		"two in one report":          {"WW", "WLLL", []int{3, 0, 0, -3}, false},
		"begun anew":                 {"LLLL", "LWWW", []int{-5, 0, 0, 3}, false},
		"a remake does not count":    {"WRW", "RW", []int{0, 3}, false},
		"nor break":                  {"WW", "RLR", []int{0, 0, 0}, false},
		"nor a game without result":  {"WNW", "NW", []int{0, 3}, false},
		"the upper half wins":        {"WW", "T", []int{3}, false},
		"the lower half loses":       {"LL", "B", []int{-3}, false},
		"an Arena before: as far as": {"WWPWWWW", "W", []int{3}, true},
		"all that is remembered":     {strings.Repeat("W", 20), "W", []int{21}, true},
		"open, then broken":          {strings.Repeat("W", 20), "LLL", []int{0, 0, -3}, false},
		"nineteen":                   {strings.Repeat("W", 19), "W", []int{20}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld("A")
			for i := range len(c.recent) {
				w.Facts.Follows[0].Recent = append(w.Facts.Follows[0].Recent, outcomes[c.recent[i]])
			}
			for i := range len(c.games) {
				match, before := fmt.Sprintf("m%02d", i), 60-i
				switch c.games[i] {
				case 'T':
					w.play(1, match, before, place, placing(4, 8))
				case 'B':
					w.play(1, match, before, place, placing(5, 8))
				default:
					w.play(1, match, before, outcomes[c.games[i]])
				}
			}
			var got []int
			open := false
			for _, g := range report.Compose(w.Input).Blocks[0].Players[0].Alone {
				got = append(got, g.Parts()[0].Streak)
				open = open || g.Parts()[0].StreakOpen
			}
			if !slices.Equal(got, c.want) || open != c.open {
				t.Errorf("got %d (open %t), want %d (%t)", got, open, c.want, c.open)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld("New", "Idle", "Same", "Fresh").play(1, "m", 10, win)
	w.Facts.Follows[0].ShownName = "Old#KR1"
	w.Facts.Follows[1].ShownName = "Before#1"
	w.Facts.Follows[3].ShownName = ""
	r := report.Compose(w.Input)
	if got, want := r.Blocks[0].Players[0].Name, (report.Name{RiotID: "New#KR1", Former: "Old#KR1"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want := []report.Name{{RiotID: "Idle#KR1", Former: "Before#1"}, {RiotID: "Same#KR1"}, {RiotID: "Fresh#KR1"}}
	if !slices.Equal(r.Idle, want) {
		t.Errorf("got %+v, want %+v", r.Idle, want)
	}
	shown := []store.ShownName{{Player: 1, Name: "New#KR1"}, {Player: 2, Name: "Idle#KR1"}, {Player: 3, Name: "Same#KR1"}, {Player: 4, Name: "Fresh#KR1"}}
	if !slices.Equal(r.ShownNames, shown) {
		t.Errorf("got %+v, want %+v", r.ShownNames, shown)
	}
	// With that shown, nothing is "formerly" any more.
	for i, n := range r.ShownNames {
		w.Facts.Follows[i].ShownName = n.Name
	}
	r = report.Compose(w.Input)
	for _, n := range append(r.Idle, r.Blocks[0].Players[0].Name) {
		if n.Former != "" {
			t.Errorf("%+v again", n)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	w := newWorld("A", "B", "C", "D").play(2, "m", 10, win).
		ranked(1, store.QueueSolo, "GOLD II 20 10-10", "GOLD II 40 11-10").
		ranked(2, store.QueueSolo, "GOLD II 20 10-10", "GOLD II 40 11-10").
		ranked(4, store.QueueSolo, "-", "GOLD II 40 11-10")
	for i := range w.Facts.Follows {
		w.Facts.Follows[i].ShownName = "Old#KR1"
	}
	w.Missing = []report.Missing{
		{Platform: "euw1", Cause: "riot", Players: []store.PlayerID{1, 2, 99}},
		{Platform: "kr", Cause: "time", Players: []store.PlayerID{3, 1}},
		{Platform: "na1", Cause: "time", Players: []store.PlayerID{98}},
	}
	r := report.Compose(w.Input)
	want := []report.MissingGroup{
		{Platform: "euw1", Cause: "riot", Names: []report.Name{{RiotID: "A#KR1", Former: "Old#KR1"}, {RiotID: "B#KR1"}}},
		{Platform: "kr", Cause: "time", Names: []report.Name{{RiotID: "C#KR1", Former: "Old#KR1"}}},
	}
	if diff := cmp.Diff(want, r.Missing); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !r.Partial || len(r.Idle) != 1 || r.Idle[0].RiotID != "D#KR1" {
		t.Errorf("partial %t, idle %+v", r.Partial, r.Idle)
	}
	// What is known of B is told; the rank of A waits for A's games.
	if got := outline(r); !slices.Equal(got, []string{"B#KR1 m"}) {
		t.Errorf("got %s", got)
	}
	if want := []store.ShownRank{{Player: 2, Queue: store.QueueSolo, Snapshot: 22}, {Player: 4, Queue: store.QueueSolo, Snapshot: 42}}; !slices.Equal(r.ShownRanks, want) {
		t.Errorf("ranks shown %+v, want %+v", r.ShownRanks, want)
	}
	w.Missing = w.Missing[2:]
	if report.Compose(w.Input).Partial {
		t.Error("partial for somebody who is not followed")
	}
}

func TestSides(t *testing.T) {
	t.Parallel()
	// Of an unknown team nobody is said to be with or against anybody.
	g := report.Compose(newWorld("A", "B").play(1, "m", 10, none, team(0)).play(2, "m", 10, none, team(0)).Input).Blocks[0].Together[0]
	if len(g.Sides) != 1 || g.Sides[0].Team != 0 || len(g.Parts()) != 2 {
		t.Errorf("%+v", g)
	}
	if g.Queue != 420 || g.Mode != "CLASSIC" || g.Map != 11 || g.Duration != 20*time.Minute || !g.Start.Equal(g.End.Add(-20*time.Minute)) {
		t.Errorf("%+v", g)
	}
}

func TestDeathless(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		deaths  int
		outcome uint8
		want    bool
	}{{0, win, true}, {0, loss, true}, {1, win, false}, {0, remake, false}, {0, none, true}} {
		p := report.Part{Participant: store.Participant{Deaths: c.deaths, Outcome: c.outcome}}
		if got := p.Deathless(); got != c.want {
			t.Errorf("%d deaths, outcome %d: %t", c.deaths, c.outcome, got)
		}
	}
}

// TestRandomFacts holds any report to what must be true of every one: each
// player's part in each game is told once, every player is named, the totals add
// up, and the input stays as it was.
func TestRandomFacts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		var names []string
		players := 1 + r.IntN(50)
		for i := range players {
			names = append(names, fmt.Sprintf("P%d", i))
		}
		w := newWorld(names...)
		for n := range r.IntN(120) {
			match, before := fmt.Sprintf("m%d", n), r.IntN(10)
			for _, p := range r.Perm(players)[:min(players, 1+r.IntN(3))] {
				w.play(p+1, match, before, uint8(r.IntN(5)), team(r.IntN(3)*100), placing(1+r.IntN(8), 8), queue(400+20*r.IntN(3)))
			}
		}
		for i := range players {
			if r.IntN(2) == 0 {
				wins := r.IntN(4)
				w.ranked(i+1, store.QueueSolo, "GOLD II 20 10-10", fmt.Sprintf("GOLD I %d %d-10", r.IntN(100), 10+wins))
			}
		}
		before, err := json.Marshal(w.Input)
		if err != nil {
			t.Fatal(err)
		}
		rep := report.Compose(w.Input)
		if after, _ := json.Marshal(w.Input); string(after) != string(before) {
			t.Fatal("Compose changed its input")
		}
		told := map[string]int{}
		named := map[string]int{}
		lp := 0
		most := 1 << 30
		for _, b := range rep.Blocks {
			if n := b.Players[0].Record.Games; n > most {
				t.Fatal("a more active player comes later")
			} else {
				most = n
			}
			sum := 0
			for _, p := range b.Players {
				named[p.Name.RiotID]++
				sum += p.Record.Games
				if c := p.Record; c.Games != c.Wins+c.Losses+c.Remakes+c.Open {
					t.Fatalf("record %+v", c)
				}
				for _, g := range p.Alone {
					told[fmt.Sprint(p.ID, g.Match)]++
					sum--
				}
				for _, s := range p.Ranks {
					lp += s.Change
				}
			}
			for _, g := range b.Together {
				if len(g.Parts()) < 2 {
					t.Fatal("together with nobody")
				}
				for _, p := range g.Parts() {
					told[fmt.Sprint(p.Player, g.Match)]++
					sum--
				}
			}
			if sum != 0 {
				t.Fatalf("records and games differ by %d", sum)
			}
		}
		for _, n := range rep.Idle {
			named[n.RiotID]++
		}
		if len(named) != players || len(told) != len(w.Facts.Games) {
			t.Fatalf("%d of %d players, %d of %d parts", len(named), players, len(told), len(w.Facts.Games))
		}
		for what, n := range told {
			if n != 1 {
				t.Fatalf("%s is told %d times", what, n)
			}
		}
		c := rep.Totals
		if c.Games != len(rep.Games) || c.Games != c.Wins+c.Losses+c.Split+c.Remakes+c.Open || c.LP != lp {
			t.Fatalf("totals %+v of %d games, LP %d", c, len(rep.Games), lp)
		}
	}
}
