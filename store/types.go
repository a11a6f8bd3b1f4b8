// Package store holds the types that RiftChime keeps and the contract that
// both stores, SQLite and PostgreSQL, fulfil. Times are UTC in whole
// milliseconds (anything finer is dropped on the way in); a zero time.Time
// means "none". All methods are safe for concurrent use.
package store

import (
	"errors"
	"time"
)

// Ids of Discord are snowflakes below 2^63.
type (
	ServerID  int64
	ChannelID int64
	MessageID int64
)

// PlayerID is the store's own id of a player; nothing else of a player travels
// beyond the refresh.
type PlayerID int64

// SnapshotID is the store's id of a rank snapshot.
type SnapshotID int64

var (
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not in the store")
	// ErrNewer: the database was written by a newer program.
	ErrNewer = errors.New("the database is newer than this program")
	// ErrHeld: another process leads on this database.
	ErrHeld = errors.New("another process holds this database")
	// ErrTaken: a game is in a report of another slot, or a PUUID is another
	// player's.
	ErrTaken = errors.New("taken by another one in the store")
	// ErrNotEmpty: an import is for an empty store only.
	ErrNotEmpty = errors.New("the store is not empty")
	// ErrDamaged: an export is cut, was changed, or never was one.
	ErrDamaged = errors.New("the export is cut or damaged")
	// ErrVersion: an export is of a version that this program does not know.
	ErrVersion = errors.New("the export is of an unknown version")
	// ErrUnavailable: the database can't be reached or can't be written now.
	ErrUnavailable = errors.New("database unavailable")
)

// Server is a Discord server that invited the bot.
type Server struct {
	ID   ServerID
	Name string
	// Key is the fingerprint of the Riot key that its players use; "" where
	// none was given yet.
	Key string
	// Locale is Discord's preferred locale, such as "en-US" or "ko".
	Locale   string
	JoinedAt time.Time
	// GoneAt is when the server removed the bot; zero while it is there.
	GoneAt time.Time
}

// Channel is a channel with settings. It exists from its first /register or
// /schedule.
type Channel struct {
	ID     ChannelID
	Server ServerID
	// Zone is an IANA name.
	Zone string
	// Language is "ko" or "en".
	Language string
	// Hours has bit n set where the channel chimes at hour n of its zone; 0 is
	// off.
	Hours uint32
	// Quiet: nothing is posted when nobody played. The default is true.
	Quiet bool
	// NextSlot is the hour it chimes next; zero: never.
	NextSlot time.Time
	// LastSlot is the newest slot that is over (sent or skipped); zero: none.
	LastSlot time.Time
	// PausedAt and PausedWhy: Discord refused the channel; PausedWhy is a code
	// such as "missing_access".
	PausedAt  time.Time
	PausedWhy string
	// Refusals counts slots in a row that Discord refused for good; RefusedSlot
	// is the newest of them.
	Refusals    int
	RefusedSlot time.Time
	CreatedAt   time.Time
}

// Player is a League of Legends player somebody follows.
type Player struct {
	ID       PlayerID
	Platform string
	GameName string
	TagLine  string
	// RefreshedAt is when the list was last read whole, RefreshedSlot for which
	// slot; zero: never.
	RefreshedAt   time.Time
	RefreshedSlot time.Time
	// RanksAt is when the ranks were last read; zero: unknown.
	RanksAt time.Time
	// RanksWanted: a ranked game was listed that the ranks do not show yet.
	RanksWanted bool
	// UnfollowedAt is since when nobody follows the player; zero while somebody
	// does.
	UnfollowedAt time.Time
}

// Name is the Riot ID, "name#tag".
func (p Player) Name() string { return p.GameName + "#" + p.TagLine }

// NewPlayer is a player as found at Riot.
type NewPlayer struct {
	Platform string
	GameName string
	TagLine  string
	// Key is the fingerprint under which PUUID holds.
	Key   string
	PUUID string
}

// Registered is what became of a registration.
type Registered uint8

const (
	RegisteredNew Registered = iota + 1
	// RegisteredAlready: the player was there; nothing changed but the name.
	RegisteredAlready
	// RegisteredFull: the channel has as many players as it may have.
	RegisteredFull
)

// DuePlayer is a player to refresh before a slot.
type DuePlayer struct {
	Player
	// Key and PUUID to ask with; PUUID is "" where it is not known under Key.
	Key   string
	PUUID string
	// Since is the earliest registration over all channels.
	Since time.Time
	// NewestListed is the end of the newest game known; zero: none.
	NewestListed time.Time
}

// MatchState is how far a match is known.
type MatchState uint8

const (
	// MatchWanted: listed, not read yet.
	MatchWanted MatchState = iota + 1
	MatchRead
	// MatchAbsent: listed, but Riot has no body (404); tried at most
	// MaxAbsentTries times.
	MatchAbsent
	// MatchForbidden: Riot keeps it to itself (403); never asked again.
	MatchForbidden
	// MatchEmpty: never played out; nothing to tell.
	MatchEmpty
)

// MaxAbsentTries bounds how often an absent match is asked for.
const MaxAbsentTries = 6

// Match is a finished game as it is kept: immutable, only the fields in use.
type Match struct {
	ID       string
	Platform string
	Queue    int
	Mode     string
	Map      int
	Start    time.Time
	End      time.Time
	// Duration is kept in milliseconds.
	Duration time.Duration
	// Key is the fingerprint under which the PUUIDs of the participants hold.
	Key          string
	Participants []Participant
}

// Outcomes of a participation, in the numbers that are stored.
const (
	OutcomeNone uint8 = iota
	OutcomeWin
	OutcomeLoss
	OutcomeRemake
	OutcomePlacement
)

// Participant is one player's part in a match. It is stored as JSON.
type Participant struct {
	PUUID            string `json:"p,omitempty"`
	GameName         string `json:"n,omitempty"`
	TagLine          string `json:"t,omitempty"`
	Bot              bool   `json:"b,omitempty"`
	ChampionID       int    `json:"ci,omitempty"`
	ChampionName     string `json:"c,omitempty"`
	Team             int    `json:"tm,omitempty"`
	Kills            int    `json:"k,omitempty"`
	Deaths           int    `json:"d,omitempty"`
	Assists          int    `json:"a,omitempty"`
	CS               int    `json:"cs,omitempty"`
	Damage           int    `json:"dm,omitempty"`
	Outcome          uint8  `json:"o,omitempty"`
	Placement        int    `json:"pl,omitempty"`
	PlacementOf      int    `json:"po,omitempty"`
	Position         string `json:"ps,omitempty"`
	LargestMultiKill int    `json:"mk,omitempty"`
	PentaKills       int    `json:"pk,omitempty"`
	TopDamage        bool   `json:"td,omitempty"`
	Surrendered      bool   `json:"s,omitempty"`
}

// Game is one player's part in one match, as a report needs it. The
// participant carries no PUUID.
type Game struct {
	Player   PlayerID
	Match    string
	Platform string
	Queue    int
	Mode     string
	Map      int
	Start    time.Time
	End      time.Time
	Duration time.Duration
	Participant
}

// The ranked queues that RiftChime knows, as Riot spells them.
const (
	QueueSolo = "RANKED_SOLO_5x5"
	QueueFlex = "RANKED_FLEX_SR"
)

// Rank is a standing in one ranked queue at one time.
type Rank struct {
	ID SnapshotID
	// Queue is QueueSolo or QueueFlex.
	Queue string
	// Tier is upper case, "" when unranked; Division is empty from Master up.
	Tier     string
	Division string
	LP       int
	Wins     int
	Losses   int
	At       time.Time
}

// RankPair is what one queue's line of a report compares.
type RankPair struct {
	Queue string
	// Now is the newest snapshot, nil where the rank is unknown.
	Now *Rank
	// Shown is the snapshot shown in the channel last, nil where none was.
	Shown *Rank
}

// Follow is one registration with what its report needs.
type Follow struct {
	Player Player
	Since  time.Time
	// ShownName is the Riot ID under which the channel last saw the player.
	ShownName string
	Ranks     []RankPair
	// Recent holds outcomes of games that ended before the first of the new
	// ones, newest first, at most 20.
	Recent []uint8
}

// Facts is all that a channel's report is made of.
type Facts struct {
	Channel Channel
	Server  Server
	Follows []Follow
	// Games are the new ones, oldest first.
	Games []Game
}

// ReportState is a step in a report's life.
type ReportState uint8

const (
	ReportPlanned ReportState = iota + 1
	ReportReady
	ReportSending
	ReportSent
	ReportSkipped
)

// Report is one channel's report for one slot.
type Report struct {
	Channel ChannelID
	Slot    time.Time
	State   ReportState
	// Reason says why it was skipped, a code such as "quiet".
	Reason string
	// Lateness is of the first part: sent minus slot.
	Lateness time.Duration
	SentAt   time.Time
	// Partial: not all players were known when it went out.
	Partial bool
}

// PartState is a step in a part's life.
type PartState uint8

const (
	PartReady PartState = iota + 1
	PartSending
	PartSent
)

// PartKey names a part.
type PartKey struct {
	Channel ChannelID
	Slot    time.Time
	// Part counts from 0.
	Part int
}

// Part is one message of a report.
type Part struct {
	PartKey
	Body  []byte
	Nonce string
	State PartState
	// FirstTry is when it went into sending; zero before.
	FirstTry time.Time
	Message  MessageID
}

// ReadyReport is a rendered report, with all that being sent will change.
type ReadyReport struct {
	Channel ChannelID
	Slot    time.Time
	Partial bool
	// Parts need Body and Nonce only; they are numbered in order.
	Parts []Part
	// Games are the match ids it reports.
	Games []string
	// Ranks become the ones last shown.
	Ranks []ShownRank
	// Names become the ones last shown.
	Names []ShownName
}

// ShownRank is a rank that a report shows.
type ShownRank struct {
	Player   PlayerID
	Queue    string
	Snapshot SnapshotID
}

// ShownName is a Riot ID that a report shows.
type ShownName struct {
	Player PlayerID
	Name   string
}

// Reason is why a game or an hour was or was not reported. Code is a constant
// of the bot; Player 0, Match "" and a zero Slot mean "not about one".
type Reason struct {
	Channel ChannelID
	Player  PlayerID
	Match   string
	Slot    time.Time
	Code    string
	Detail  string
	At      time.Time
}

// LatencyStats is the mean and the sample's standard deviation of a command's
// latencies; of a single one the deviation is 0.
type LatencyStats struct {
	Count  int
	Mean   time.Duration
	StdDev time.Duration
}

// Failure counts failed requests of one UTC day.
type Failure struct {
	// Day is UTC midnight.
	Day      time.Time
	Endpoint string
	Cause    string
	Count    int
}

// Champion is a champion's name in one language.
type Champion struct {
	ID   int
	Key  string
	Name string
}

// Counts are sizes for the operator: servers that are present with their
// channels and registrations, players whom somebody follows, all matches.
type Counts struct {
	Servers, Channels, Players, Registrations, Matches int64
}
