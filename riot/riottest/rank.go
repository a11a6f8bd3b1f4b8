package riottest

import (
	"fmt"
	"slices"
	"strings"
)

// Ranked queues as league-v4 spells them.
const (
	QueueSolo = "RANKED_SOLO_5x5"
	QueueFlex = "RANKED_FLEX_SR"
)

// Rank is an entry of league-v4. Tier and Division are spelt as there ("GOLD",
// "IV"); from MASTER up the division is "I", and LP is an open scale.
type Rank struct {
	Tier     string `json:"tier"`
	Division string `json:"division"`
	LP       int    `json:"lp"`
	Wins     int    `json:"wins"`
	Losses   int    `json:"losses"`
}

var (
	tiers = []string{
		"IRON", "BRONZE", "SILVER", "GOLD", "PLATINUM", "EMERALD", "DIAMOND",
		"MASTER", "GRANDMASTER", "CHALLENGER",
	}
	divisions = []string{"IV", "III", "II", "I"}
)

const (
	// master is the index of the lowest tier without divisions.
	master = 7
	// perTier and perDivision are what these are worth on the ladder.
	perTier, perDivision = 400, 100
	// grandmasterLP and challengerLP are where these tiers begin in this world. At
	// Riot they move with the best players.
	grandmasterLP, challengerLP = 300, 700
)

// tierIndex is -1 for a tier that does not exist.
func tierIndex(tier string) int { return slices.Index(tiers, tier) }

// check reports what makes no sense in r, and writes it as Riot does.
func (r Rank) check() (Rank, error) {
	r.Tier, r.Division = strings.ToUpper(r.Tier), strings.ToUpper(r.Division)
	i := tierIndex(r.Tier)
	if i >= master && r.Division == "" {
		r.Division = "I"
	}
	switch {
	case i < 0:
		return r, fmt.Errorf("no such tier: %q", r.Tier)
	case i < master && !slices.Contains(divisions, r.Division), i >= master && r.Division != "I":
		return r, fmt.Errorf("no such division: %s %q", r.Tier, r.Division)
	case r.LP < 0, i < master && r.LP > 100:
		return r, fmt.Errorf("no such LP: %s %s %d", r.Tier, r.Division, r.LP)
	case r.Wins < 0 || r.Losses < 0:
		return r, fmt.Errorf("rank with %d wins and %d losses", r.Wins, r.Losses)
	}
	return r, nil
}

// Ladder is where r stands on one scale for all tiers: 400 for each tier, 100 for
// each division, and its LP; from Master up 2800 and the LP.
func (r Rank) Ladder() int {
	i := tierIndex(r.Tier)
	if i >= master {
		return master*perTier + r.LP
	}
	return i*perTier + max(slices.Index(divisions, r.Division), 0)*perDivision + r.LP
}

// at is r moved to a place on the ladder; the lowest is 0.
func (r Rank) at(ladder int) Rank {
	ladder = max(ladder, 0)
	if lp := ladder - master*perTier; lp >= 0 {
		r.Tier, r.Division, r.LP = "MASTER", "I", lp
		switch {
		case lp >= challengerLP:
			r.Tier = "CHALLENGER"
		case lp >= grandmasterLP:
			r.Tier = "GRANDMASTER"
		}
		return r
	}
	r.Tier = tiers[ladder/perTier]
	r.Division = divisions[ladder%perTier/perDivision]
	r.LP = ladder % perDivision
	return r
}

// placements is how many ranked games it takes to have an entry.
const placements = 5

// standing is a player's place in one ranked queue.
type standing struct {
	rank *Rank // nil: unranked
	// wins and losses of the placement games.
	wins, losses int
}

// played books a ranked game that moved the player by lp.
func (s *standing) played(won bool, lp int) {
	if s.rank == nil {
		if won {
			s.wins++
		} else {
			s.losses++
		}
		if s.wins+s.losses >= placements {
			r := Rank{Wins: s.wins, Losses: s.losses}.at(2*perTier + perDivision*s.wins + 40)
			*s = standing{rank: &r}
		}
		return
	}
	r := s.rank.at(s.rank.Ladder() + lp)
	if won {
		r.Wins++
	} else {
		r.Losses++
	}
	s.rank = &r
}
