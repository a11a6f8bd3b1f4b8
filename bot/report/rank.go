package report

import (
	"riftchime/store"
)

// State is what is known of a rank. Unknown is never shown as unranked.
type State uint8

// The states of a rank.
const (
	Unknown State = iota
	Unranked
	Ranked
)

// Move is a change of tier or division.
type Move uint8

// The moves.
const (
	Stayed Move = iota
	Promoted
	Demoted
	// Placed: unranked before, ranked now.
	Placed
)

// PlacementGames is how many placement games a season begins with.
const PlacementGames = 5

// Standing is a rank in one queue, and what became of it since the channel saw
// it last.
type Standing struct {
	// Queue is store.QueueSolo or store.QueueFlex.
	Queue string
	State State
	// Tier is in upper case as Riot spells it, Division I to IV or "".
	Tier     string
	Division string
	LP       int
	Move     Move
	// FromTier and FromDivision are where it was Promoted or Demoted from.
	FromTier     string
	FromDivision string
	// Change is how many LP the rank moved; it means something where
	// ChangeKnown.
	Change      int
	ChangeKnown bool
	// ChangeGames is in how many games it moved so; 0: without a game.
	ChangeGames int
	// ChangeInGame: it is the one game of the report that says it too.
	ChangeInGame bool
	// Pending: a ranked game of this report is not in the rank yet.
	Pending bool
	// Placements is how many placement games are played, of PlacementGames; 0
	// where it is not known or none.
	Placements int
}

// news says whether the rank changed.
func (s Standing) news() bool {
	return s.Move != Stayed || s.ChangeKnown && (s.Change != 0 || s.ChangeGames > 0)
}

// tiers with divisions, the lowest first, each 400 above the one before.
var tiers = map[string]int{
	"IRON": 0, "BRONZE": 1, "SILVER": 2, "GOLD": 3, "PLATINUM": 4, "EMERALD": 5, "DIAMOND": 6,
}

// apexTiers have no divisions and share one open scale of LP; the number is
// their order.
var apexTiers = map[string]int{"MASTER": 0, "GRANDMASTER": 1, "CHALLENGER": 2}

var divisions = map[string]int{"IV": 0, "III": 1, "II": 2, "I": 3}

const (
	tierLP     = 400
	divisionLP = 100
	apexLP     = 7 * tierLP
)

// Ladder is where r stands on the one ladder of LP: Iron IV 0 LP is 0, a
// division is 100, a tier 400; Master, Grandmaster and Challenger are one open
// scale from 2,800. It is false where r is unranked or its tier or division is
// not known.
func Ladder(r store.Rank) (lp int, ok bool) {
	if _, apex := apexTiers[r.Tier]; apex {
		return apexLP + r.LP, true
	}
	tier, ok := tiers[r.Tier]
	if !ok {
		return 0, false
	}
	division, ok := divisions[r.Division]
	if !ok {
		return 0, false
	}
	return tier*tierLP + division*divisionLP + r.LP, true
}

// step numbers tiers and divisions in order, whatever the LP.
func step(r store.Rank) (n int, ok bool) {
	if n, apex := apexTiers[r.Tier]; apex {
		return len(tiers)*len(divisions) + n, true
	}
	tier, ok := tiers[r.Tier]
	if !ok {
		return 0, false
	}
	division, ok := divisions[r.Division]
	return tier*len(divisions) + division, ok
}

// Compare says what became of a rank between the one shown last and the newest.
// known is false where the two can't be compared: one of them is not known or
// not ranked, or a season began in between (wins or losses fell). games is how
// many games lie between them.
func Compare(shown, now *store.Rank) (change, games int, move Move, known bool) {
	if shown == nil || now == nil || now.Wins < shown.Wins || now.Losses < shown.Losses {
		return 0, 0, Stayed, false
	}
	games = now.Wins + now.Losses - shown.Wins - shown.Losses
	if shown.Tier == "" {
		if now.Tier != "" {
			move = Placed
		}
		return 0, games, move, false
	}
	a, okA := step(*shown)
	b, okB := step(*now)
	if okA && okB {
		switch {
		case b > a:
			move = Promoted
		case b < a:
			move = Demoted
		}
	}
	from, okFrom := Ladder(*shown)
	to, okTo := Ladder(*now)
	if !okFrom || !okTo {
		return 0, games, move, false
	}
	return to - from, games, move, true
}

// QueueOf is the ranked queue of a queue id; "" where it has no rank.
func QueueOf(id int) string {
	switch id {
	case 420:
		return store.QueueSolo
	case 440:
		return store.QueueFlex
	}
	return ""
}

// standing compares the ranks of one queue. played are the player's new games,
// whose LP it fills in where it is certain.
func standing(queue string, pair store.RankPair, played []*entry, wanted bool) Standing {
	s := Standing{Queue: queue}
	if pair.Now == nil {
		return s
	}
	now := *pair.Now
	s.State, s.Tier, s.Division, s.LP = Ranked, now.Tier, now.Division, now.LP
	if now.Tier == "" {
		s.State, s.Division, s.LP = Unranked, "", 0
		if n := now.Wins + now.Losses; n > 0 && n < PlacementGames {
			s.Placements = n
		}
	}
	s.Division = division(s.Tier, s.Division)
	s.Change, s.ChangeGames, s.Move, s.ChangeKnown = Compare(pair.Shown, pair.Now)
	if s.Move == Promoted || s.Move == Demoted {
		s.FromTier, s.FromDivision = pair.Shown.Tier, division(pair.Shown.Tier, pair.Shown.Division)
	}

	var counted []*entry
	for _, e := range played {
		if QueueOf(e.game.Queue) == queue && (e.part.Outcome == store.OutcomeWin || e.part.Outcome == store.OutcomeLoss) {
			counted = append(counted, e)
		}
	}
	s.Pending = wanted && pair.Shown != nil && len(counted) > s.ChangeGames &&
		now.Wins >= pair.Shown.Wins && now.Losses >= pair.Shown.Losses
	if s.ChangeKnown && s.ChangeGames == 1 && len(counted) == 1 {
		e := counted[0]
		if between(pair, e.game) && agrees(pair, e.part) {
			e.part.LP, e.part.LPKnown = s.Change, true
			s.ChangeInGame = true
		}
	}
	return s
}

// division is the division that is shown: Riot says "I" for tiers that have none.
func division(tier, division string) string {
	if _, apex := apexTiers[tier]; apex {
		return ""
	}
	return division
}

// between says whether the game ended between the two snapshots. A snapshot's
// time is when it was seen first, so it can tell of no later game.
func between(pair store.RankPair, g store.Game) bool {
	if !pair.Shown.At.IsZero() && !g.End.After(pair.Shown.At) {
		return false
	}
	return pair.Now.At.IsZero() || !g.End.After(pair.Now.At)
}

// agrees says whether the one game between the snapshots ended as p did: where a
// loss was added, a game that was won is not the one.
func agrees(pair store.RankPair, p Part) bool {
	return (pair.Now.Wins > pair.Shown.Wins) == (p.Outcome == store.OutcomeWin)
}
