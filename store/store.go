package store

import (
	"context"
	"encoding/json"
	"time"
)

// Store is the contract. store/storetest decides what it means; both stores
// pass it. Each method is one transaction. Errors wrap ErrUnavailable where the
// database can't be reached, is locked or is full; trying again is safe.
type Store interface {
	Settings
	Players
	Matches
	Reports
	Records
	Portable

	// Migrate brings the schema up to date, or says ErrNewer. It is safe for
	// several processes to call at once.
	Migrate(ctx context.Context) error
	// Lead takes the lead on this database. SQLite answers ErrHeld at once
	// where another process holds it; PostgreSQL waits, looking at least every
	// 5 s, until the lead is free or ctx ends.
	Lead(ctx context.Context) (Lease, error)
	// Ping says whether the database answers.
	Ping(ctx context.Context) error
	Close() error
}

// Lease is the lead. Lost is closed when it can no longer be relied on; Release
// gives it back and leaves Lost as it is.
type Lease interface {
	Lost() <-chan struct{}
	Release() error
}

// Settings keeps servers and channels.
type Settings interface {
	// PutServer adds the server, or updates its name and locale and clears
	// GoneAt. A key already there stays; otherwise s.Key is taken.
	PutServer(ctx context.Context, s Server) error
	Server(ctx context.Context, id ServerID) (Server, error)
	// ServersPresent lists the servers that have not gone, by id.
	ServersPresent(ctx context.Context) ([]Server, error)
	ServerGone(ctx context.Context, id ServerID, at time.Time) error
	SetServerKey(ctx context.Context, id ServerID, key string) error
	// KeyLoad counts the players that each key serves.
	KeyLoad(ctx context.Context) (map[string]int, error)

	// PutChannel adds the channel or updates what a person sets: zone,
	// language, hours, quiet, and the next slot. The server must be there.
	PutChannel(ctx context.Context, c Channel) error
	Channel(ctx context.Context, id ChannelID) (Channel, error)
	ChannelsOf(ctx context.Context, server ServerID) ([]Channel, error)
	// AllChannels calls f for each channel of a present server, by id, until f
	// returns an error. f must not call the store.
	AllChannels(ctx context.Context, f func(Channel) error) error
	SetNextSlot(ctx context.Context, id ChannelID, next time.Time) error
	// ChannelRefused counts a slot that Discord refused for good; the same
	// slot counts once. It returns the number of refused slots in a row.
	ChannelRefused(ctx context.Context, id ChannelID, slot time.Time) (int, error)
	// PauseChannel pauses; ResumeChannel ends the pause and the refusals.
	PauseChannel(ctx context.Context, id ChannelID, why string, at time.Time) error
	ResumeChannel(ctx context.Context, id ChannelID, next time.Time) error

	// NextSlotAfter is the earliest next slot after t of a channel that is not
	// paused, has players and is in a present server. Zero: none.
	NextSlotAfter(ctx context.Context, t time.Time) (time.Time, error)
	// DueChannels are those, as above, whose next slot is at or before slot,
	// by id.
	DueChannels(ctx context.Context, slot time.Time) ([]Channel, error)
}

// Players keeps players and who follows them.
type Players interface {
	// Register follows a player in a channel. The player is found by key and
	// PUUID, else by platform and Riot ID (letter case aside) unless that one
	// has another PUUID under the key (it is somebody else then), else added;
	// its name and platform become p's. baseline are match ids never to be
	// reported there. With most players already there, nothing changes.
	Register(ctx context.Context, channel ChannelID, p NewPlayer, since time.Time, baseline []string, most int) (Player, Registered, error)
	// Unregister reports whether the player was followed there. A player whom
	// nobody follows any more gets UnfollowedAt = at.
	Unregister(ctx context.Context, channel ChannelID, player PlayerID, at time.Time) (bool, error)
	// Registrations lists a channel's players in the order of registration, with
	// their ranks and without recent outcomes.
	Registrations(ctx context.Context, channel ChannelID) ([]Follow, error)
	Player(ctx context.Context, id PlayerID) (Player, error)
	// PlayerByRiotID finds a player by Riot ID, letter case aside; platform ""
	// means any.
	PlayerByRiotID(ctx context.Context, platform, gameName, tagLine string) (Player, error)
	// PUUID says ErrNotFound where none is known under the key.
	PUUID(ctx context.Context, player PlayerID, key string) (string, error)
	// SetPUUID says ErrTaken where the PUUID is another player's.
	SetPUUID(ctx context.Context, player PlayerID, key, puuid string) error
	// SetName records a Riot ID; the one before goes to the former ones. Same
	// name (to the letter): nothing.
	SetName(ctx context.Context, player PlayerID, gameName, tagLine string, at time.Time) error
	SetPlatform(ctx context.Context, player PlayerID, platform string) error
	// FormerNames lists the names before this one, newest first.
	FormerNames(ctx context.Context, player PlayerID) ([]string, error)
	// Forget deletes a player and all that is kept of them at once. A report
	// that may show them is planned anew where nothing of it went into sending;
	// otherwise its parts lose their bodies, and an unsent part without a body
	// is not to be sent: Skip the report.
	Forget(ctx context.Context, player PlayerID) error

	// DuePlayers lists, once each, the players of DueChannels(slot), whoever
	// was refreshed for the slot already left out; the key is that of a
	// server that follows them.
	DuePlayers(ctx context.Context, slot time.Time) ([]DuePlayer, error)
	// DuePlayersOf is the same for the players given, refreshed or not.
	DuePlayersOf(ctx context.Context, channel ChannelID) ([]DuePlayer, error)
	// Refreshed records that the player's list was read whole. ranksWanted true
	// sets the player's RanksWanted; false leaves it as it is.
	Refreshed(ctx context.Context, player PlayerID, slot, at time.Time, ranksWanted bool) error
}

// MatchToRead is a match to fetch.
type MatchToRead struct {
	ID string
	// Tries is how often it was absent.
	Tries int
}

// Matches keeps matches and ranks.
type Matches interface {
	// Listed takes a player's list. Unknown ids become wanted; for those
	// already read (under the same key) the player's participation is filled
	// from the body. It returns what is to be fetched: wanted, absent with
	// tries left, or read under another key only with no participation of the
	// player's. Ids that are baseline in every registration of the player, or
	// whose known end is before the earliest of them, are left out.
	Listed(ctx context.Context, player PlayerID, key string, ids []string, at time.Time) ([]MatchToRead, error)
	// PutMatch stores a body, and a participation for each followed player in
	// it (those with a PUUID under m.Key). A match already read keeps its
	// body; participations are still added. A participation that is new, here
	// or in Listed, in ranked solo or flex (queues 420 and 440) and no remake
	// sets its player's RanksWanted.
	PutMatch(ctx context.Context, m Match, at time.Time) error
	// MatchFailed records why a listed match has no body; absent counts a try,
	// once for the same at. A match already read stays read.
	MatchFailed(ctx context.Context, id string, state MatchState, at time.Time) error
	// MatchStates tells of the ids that are known.
	MatchStates(ctx context.Context, ids []string) (map[string]MatchState, error)
	// PutRanks stores a reading of the ranks (one entry a queue that RiftChime
	// knows; a queue left out is unranked). A snapshot is added per queue only
	// where it differs from the newest. It clears RanksWanted and sets RanksAt.
	// It returns the newest of each queue before and after.
	PutRanks(ctx context.Context, player PlayerID, ranks []Rank, at time.Time) (before, after []Rank, err error)
	// ShowRanks makes the newest ranks those last shown in the channel, where
	// none was shown yet.
	ShowRanks(ctx context.Context, channel ChannelID, player PlayerID) error
}

// Reports keeps reports and their parts.
type Reports interface {
	// Facts collects what a channel's report for slot is made of: games that
	// ended after the registration, within 14 days before now, not baseline,
	// and not in a report of another slot of this channel. A zero slot leaves
	// out the games of every report.
	Facts(ctx context.Context, channel ChannelID, slot, now time.Time) (Facts, error)
	// PlanReports adds rows in state planned where there are none.
	PlanReports(ctx context.Context, slot time.Time, channels []ChannelID) error
	Report(ctx context.Context, channel ChannelID, slot time.Time) (Report, error)
	// LastReports lists a channel's newest reports, newest first.
	LastReports(ctx context.Context, channel ChannelID, most int) ([]Report, error)
	// PutReady stores a rendered report: state ready, its parts, its games
	// (taken for this slot). An earlier rendering of the same slot is replaced
	// whole while no part of it went into sending; otherwise, and where the
	// report is over, it reports false and changes nothing. Where a game is in
	// a report of another slot by now, it says ErrTaken and changes nothing:
	// Facts leaves it out then.
	PutReady(ctx context.Context, r ReadyReport) (bool, error)
	// Replace is PutReady for a report of which Discord took nothing: an earlier
	// rendering is replaced also where parts of it are in sending. It reports
	// false where a part was sent or the report is over.
	Replace(ctx context.Context, r ReadyReport) (bool, error)
	// ReadyParts lists the parts of a slot that are not sent, by part, then
	// channel.
	ReadyParts(ctx context.Context, slot time.Time) ([]Part, error)
	// Claim moves parts from ready to sending at time at and returns those it
	// moved. It does not touch parts already sending.
	Claim(ctx context.Context, parts []PartKey, at time.Time) ([]PartKey, error)
	// Sent marks a part sent. With the last one of a report, in the same
	// transaction, the report is sent: ranks and names are shown, the channel's
	// LastSlot is the slot, NextSlot is next (unless a person moved it past
	// the slot already), refusals are none. lateness counts with part 0. It
	// says ErrNotFound where the part is gone, as after Skip.
	Sent(ctx context.Context, p PartKey, m MessageID, at time.Time, lateness time.Duration, next time.Time) error
	// Skip ends a report that is not sent: its unsent parts go, its games are
	// free again unless a part of it was sent (then all of it counts as
	// reported), LastSlot and NextSlot move as with Sent. Without a row, one is
	// added.
	Skip(ctx context.Context, channel ChannelID, slot time.Time, reason string, at, next time.Time) error
	// Amend changes a sent report whose messages were edited or added to:
	// games, ranks and names are added, bodies replaced; parts beyond those
	// already there are stored in state ready. A game that is in a report of
	// another slot stays there. It says ErrNotFound where the report is not
	// sent.
	Amend(ctx context.Context, r ReadyReport) error
	// Parts lists a report's parts, sent or not.
	Parts(ctx context.Context, channel ChannelID, slot time.Time) ([]Part, error)
	// Unfinished lists the reports that are planned, ready or sending, oldest
	// slot first.
	Unfinished(ctx context.Context) ([]Report, error)
}

// Records keeps what is told or measured later.
type Records interface {
	AddReasons(ctx context.Context, rs []Reason) error
	// Reasons lists a channel's reasons, newest first; player 0 means all.
	Reasons(ctx context.Context, channel ChannelID, player PlayerID, most int) ([]Reason, error)
	AddLatency(ctx context.Context, command string, took time.Duration, at time.Time) error
	Latencies(ctx context.Context, since time.Time) (map[string]LatencyStats, error)
	// TakeInteraction reports whether this is the first time the id is seen.
	TakeInteraction(ctx context.Context, id int64, at time.Time) (bool, error)
	CountFailures(ctx context.Context, fs []Failure) error
	Failures(ctx context.Context, day time.Time) ([]Failure, error)
	// PutChampions replaces a language's names ("ko" or "en").
	PutChampions(ctx context.Context, language, version string, cs []Champion, at time.Time) error
	// Champions lists a language's names by id; version is "" where none were
	// put.
	Champions(ctx context.Context, language string) (version string, at time.Time, cs []Champion, err error)
	// Note is a small named value, "" where none was put.
	Note(ctx context.Context, name string) (string, error)
	PutNote(ctx context.Context, name, value string) error
	Counts(ctx context.Context) (Counts, error)
	// Sweep applies the retention of DESIGN section 8: matches 60 days,
	// reports 90, bodies 1, reasons 7, latencies 2, interactions 1, players
	// without followers and servers gone 30; besides, ranks that are neither
	// the newest nor shown last 60, failures 90. It returns the rows deleted,
	// those not counted that go along with one.
	Sweep(ctx context.Context, now time.Time) (int64, error)
}

// Portable carries all that a store keeps from one database to another; Export
// and Import are made of it.
type Portable interface {
	// EachRow calls f with each row of each table as a JSON object of its
	// columns, all as they were at one moment, until f returns an error. A row
	// comes after those it refers to, and the order is the same on every
	// database. The object holds until f returns. Writers are not held up,
	// however long f takes.
	EachRow(ctx context.Context, f func(table string, row json.RawMessage) error) error
	// LoadRows puts the rows that next returns, as EachRow gave them, until
	// next says io.EOF. It is all or nothing: with any other error of next, or
	// of its own, nothing was put. It says ErrNotEmpty where any table has a
	// row, before it asks for the first one, and ErrDamaged for a row that does
	// not fit. Others can read meanwhile, and not write.
	LoadRows(ctx context.Context, next func() (table string, row json.RawMessage, err error)) error
}
