package riot

import (
	"time"
)

// Platform is a platform routing value in lower case, such as "kr" or "euw1".
// Summoner, league and status are asked there.
type Platform string

// Region is a regional routing value in lower case: "americas", "asia",
// "europe" or "sea". Accounts and matches are asked there, by different tables.
type Region string

// PUUID identifies an account. It is encrypted for one API key: under another
// key the same account has another PUUID.
type PUUID string

// MatchID is a match's id, the platform in upper case before a number, such as
// "KR_7000000001". It is the same under every key.
type MatchID string

// RiotID is the name a player is known by: game name and tag line, without the
// "#" between them. Its zero value means "not told".
type RiotID struct {
	GameName string
	TagLine  string
}

// String spells id as players do, "name#tag".
func (id RiotID) String() string {
	if id.TagLine == "" {
		return id.GameName
	}
	return id.GameName + "#" + id.TagLine
}

// Fingerprint names an API key without giving it away: the first 8 hex digits
// of its SHA-256.
type Fingerprint string

// Account is a Riot account. RiotID may be zero: Riot may leave it out.
type Account struct {
	PUUID  PUUID
	RiotID RiotID
}

// Summoner is an account's profile on one platform.
type Summoner struct {
	PUUID         PUUID
	ProfileIconID int
	Level         int
	// Revised is when the profile last changed.
	Revised time.Time
}

// Ranked queue types as league-v4 spells them.
const (
	QueueSolo = "RANKED_SOLO_5x5"
	QueueFlex = "RANKED_FLEX_SR"
)

// LeagueEntry is a rank in one ranked queue. Tier is upper case as Riot spells
// it ("GOLD"); Division is "IV" to "I" and empty from Master up. Entries
// without a tier (Arena's) and of queues other than solo and flex are not
// handed on.
type LeagueEntry struct {
	Queue    string
	Tier     string
	Division string
	LP       int
	Wins     int
	Losses   int
}

// Outcome is how a game ended for one participant.
type Outcome uint8

const (
	// OutcomeNone: nobody is known to have won, so there is no result.
	OutcomeNone Outcome = iota
	OutcomeWin
	OutcomeLoss
	// OutcomeRemake: ended before it counted; neither win nor loss.
	OutcomeRemake
	// OutcomePlacement: Arena; Placement of PlacementOf counts.
	OutcomePlacement
)

// Match is a finished game, with Riot's units and oddities taken out.
type Match struct {
	ID       MatchID
	Platform Platform
	// Queue is Riot's queue id, 0 for a custom game.
	Queue int
	// Mode is Riot's gameMode, such as "CLASSIC", "ARAM", "CHERRY" (Arena).
	Mode string
	Map  int
	// Start and End are in UTC; Duration is the length as Riot gives it.
	Start, End   time.Time
	Duration     time.Duration
	Participants []Participant
}

// Participant is one player's part in a match.
type Participant struct {
	// PUUID is empty for bots, of which every one has the same, and in esports
	// games of before 2021. RiotID is zero where the match does not tell it.
	PUUID  PUUID
	RiotID RiotID
	Bot    bool
	// ChampionID is Data Dragon's key; 0 where Riot's number is not to be
	// trusted (before 11.4, Swarm). ChampionName is the match's own spelling
	// without a mode's prefix.
	ChampionID   int
	ChampionName string
	// Team tells who played with whom: equal within a match for those on the
	// same side (Arena: the subteam). 0: not known (Arena's first weeks).
	Team    int
	Kills   int
	Deaths  int
	Assists int
	// CS counts minions and neutral monsters.
	CS int
	// Damage is the damage dealt to champions.
	Damage  int
	Outcome Outcome
	// Placement counts from 1 of PlacementOf teams; both 0 outside Arena.
	Placement   int
	PlacementOf int
	// Position is TOP, JUNGLE, MIDDLE, BOTTOM or UTILITY, empty where the mode
	// has no lanes.
	Position string
	// LargestMultiKill is 5 for a pentakill.
	LargestMultiKill int
	PentaKills       int
	// TopDamage: more damage to champions than any other of the same team of
	// at least two.
	TopDamage bool
	// Surrendered: the game ended by surrender of either side.
	Surrendered bool
}

// MatchIDsQuery narrows a list of match ids. The zero value asks for the
// newest 20.
type MatchIDsQuery struct {
	// Since is sent in whole seconds and not to be trusted: Riot may ignore it.
	Since time.Time
	// Start counts from 0, the newest.
	Start int
	// Count is 1 to 100; 0 means 20.
	Count int
}

// Status is a platform's state: titles of current maintenances and incidents.
type Status struct {
	Platform     Platform
	Maintenances []string
	Incidents    []string
}
