// Package report makes a channel's report of what the store knows: the new games
// of each player, who played together, the ranks and what became of them. It is
// pure and knows nothing of languages or of Discord.
package report

import (
	"time"

	"riftchime/store"
)

// Input is what a report is made of.
type Input struct {
	Facts store.Facts
	// Slot is the hour the report is for; zero for a report between hours.
	Slot time.Time
	// From is where the period begins that the report covers: the channel's
	// last report. Zero: not known.
	From time.Time
	// Missing are the players whose news could not be had in time.
	Missing []Missing
	// Now ends the period where Slot is zero.
	Now time.Time
}

// Missing are players of one platform whose news could not be had, for one cause.
type Missing struct {
	// Platform is a lower-case platform id, such as "kr".
	Platform string
	Players  []store.PlayerID
	// Cause is a code: "riot" (no answer), "key" (refused the key), "time" (the
	// hour came first), "store" (our database).
	Cause string
}

// Report is all that is said in one channel at one hour. Each game of each player
// is in it exactly once.
type Report struct {
	Slot, From, Now time.Time
	Totals          Totals
	// Blocks hold the players with news, the most active first. Players who
	// shared a game are in one block.
	Blocks []Block
	// Idle are the players without news, in the order of their registration.
	Idle []Name
	// Missing names the players whose news is not known.
	Missing []MissingGroup
	// Partial: somebody is missing.
	Partial bool

	// Games are the match ids that are reported, oldest first.
	Games []string
	// ShownRanks and ShownNames are what the channel has seen once this is sent.
	ShownRanks []store.ShownRank
	ShownNames []store.ShownName
}

// HasGames says whether anybody has a new game in r.
func (r Report) HasGames() bool { return len(r.Games) > 0 }

// Totals sum up a report. Games is Wins + Losses + Split + Remakes + Open: a
// match counts once, however many friends were in it.
type Totals struct {
	// Games are matches.
	Games int
	// Wins and Losses are matches that the friends in them won or lost.
	Wins, Losses int
	// Split are matches in which friends won and lost against each other.
	Split   int
	Remakes int
	// Open are matches without a result.
	Open int
	// LP sums every change of LP in the report; it means something where
	// LPKnown.
	LP      int
	LPKnown bool
}

// Name is how a player is called.
type Name struct {
	// RiotID is "name#tag" as it is now.
	RiotID string
	// Former is the Riot ID that the channel saw last, where it was another;
	// otherwise "".
	Former string
}

// MissingGroup are the names of Missing.
type MissingGroup struct {
	Platform string
	Cause    string
	Names    []Name
}

// Block is one player, or players who shared games with each other.
type Block struct {
	// Players are the most active first; one at least.
	Players []Player
	// Together are the games of several of them, oldest first.
	Together []Game
}

// Player is one player with news.
type Player struct {
	ID     store.PlayerID
	Name   Name
	Record Record
	// Ranks are solo, then flex, as far as there is something to say.
	Ranks []Standing
	// Alone are the games without another player of the channel, oldest first.
	Alone []Game
}

// Record counts one player's new games. Games is Wins + Losses + Remakes + Open.
type Record struct {
	Games, Wins, Losses, Remakes, Open int
}

func (r *Record) count(p Part) {
	r.Games++
	switch won, known := p.Won(); {
	case known && won:
		r.Wins++
	case known:
		r.Losses++
	case p.Outcome == store.OutcomeRemake:
		r.Remakes++
	default:
		r.Open++
	}
}

// Game is one match, with the channel's players in it.
type Game struct {
	Match    string
	Queue    int
	Mode     string
	Map      int
	Start    time.Time
	End      time.Time
	Duration time.Duration
	// Sides has the players, those of one team in one side, the better side
	// first.
	Sides []Side
}

// Parts are all parts of g, side by side.
func (g Game) Parts() []Part {
	var all []Part
	for _, s := range g.Sides {
		all = append(all, s.Parts...)
	}
	return all
}

// Surrendered says whether g ended by a surrender.
func (g Game) Surrendered() bool {
	return len(g.Sides) > 0 && g.Sides[0].Parts[0].Surrendered
}

// Side are the channel's players in one team of a game.
type Side struct {
	// Team is Riot's number; 0 where it is not known who was with whom.
	Team int
	// Parts is never empty.
	Parts []Part
}

// Part is one player's part in a game.
type Part struct {
	Player store.PlayerID
	// RiotID is the player's name now.
	RiotID string
	store.Participant
	// LP is what the game brought; it means something where LPKnown.
	LP      int
	LPKnown bool
	// Streak is how many games the player had won (positive) or lost (negative)
	// in a row with this one, where it is the last of at least three; else 0.
	Streak int
	// StreakOpen: the streak is as long as our memory, or longer.
	StreakOpen bool
}

// Deathless says whether the player did not die in a game that was played.
func (p Part) Deathless() bool {
	return p.Deaths == 0 && p.Outcome != store.OutcomeRemake
}

// Won says whether the part was won; known is false where there is no result.
// In Arena the better half wins.
func (p Part) Won() (won, known bool) {
	switch p.Outcome {
	case store.OutcomeWin:
		return true, true
	case store.OutcomeLoss:
		return false, true
	case store.OutcomePlacement:
		return 2*p.Placement <= p.PlacementOf, p.Placement > 0 && p.PlacementOf > 0
	}
	return false, false
}
