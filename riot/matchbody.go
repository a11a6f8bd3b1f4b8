package riot

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	modeArena = "CHERRY"
	modeSwarm = "STRAWBERRY"
)

// maxParticipants is far above any mode's.
const maxParticipants = 64

// matchBody is what is used of a match. Of the many fields whose type Riot
// changed over the years none is among them.
type matchBody struct {
	Metadata struct {
		MatchID string `json:"matchId"`
	} `json:"metadata"`
	Info *infoBody `json:"info"`
}

type infoBody struct {
	GameCreation       number            `json:"gameCreation"`
	GameDuration       number            `json:"gameDuration"`
	GameEndTimestamp   number            `json:"gameEndTimestamp"`
	GameID             number            `json:"gameId"`
	GameMode           string            `json:"gameMode"`
	GameStartTimestamp number            `json:"gameStartTimestamp"`
	GameVersion        string            `json:"gameVersion"`
	MapID              number            `json:"mapId"`
	Participants       []participantBody `json:"participants"`
	PlatformID         string            `json:"platformId"`
	QueueID            number            `json:"queueId"`
}

type participantBody struct {
	Assists                     number `json:"assists"`
	ChampionID                  number `json:"championId"`
	ChampionName                string `json:"championName"`
	Deaths                      number `json:"deaths"`
	GameEndedInEarlySurrender   bool   `json:"gameEndedInEarlySurrender"`
	GameEndedInSurrender        bool   `json:"gameEndedInSurrender"`
	Kills                       number `json:"kills"`
	LargestMultiKill            number `json:"largestMultiKill"`
	NeutralMinionsKilled        number `json:"neutralMinionsKilled"`
	PentaKills                  number `json:"pentaKills"`
	Placement                   number `json:"placement"`
	PlayerSubteamID             number `json:"playerSubteamId"`
	PUUID                       string `json:"puuid"`
	RiotIDGameName              string `json:"riotIdGameName"`
	RiotIDName                  string `json:"riotIdName"`
	RiotIDTagline               string `json:"riotIdTagline"`
	SubteamPlacement            number `json:"subteamPlacement"`
	TeamID                      number `json:"teamId"`
	TeamPosition                string `json:"teamPosition"`
	TimePlayed                  number `json:"timePlayed"`
	TotalDamageDealtToChampions number `json:"totalDamageDealtToChampions"`
	TotalMinionsKilled          number `json:"totalMinionsKilled"`
	Win                         bool   `json:"win"`
}

// DecodeMatch reads the body of a match and takes Riot's units and oddities out
// of it. id is what was asked for; empty: the body's own. Bodies of the years
// before 2021 that are the info alone are read too, their participants have no
// PUUIDs.
//
// A match without participants was never played out: its error is an *Error of
// KindAborted. (Whatever endOfGameResult says of a match that has them is not to
// be trusted.) A body that is something else is refused, so is a match without
// any time.
func DecodeMatch(id MatchID, body []byte) (*Match, error) {
	var raw matchBody
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	info := raw.Info
	if info == nil {
		info = new(infoBody)
		if err := json.Unmarshal(body, info); err != nil {
			return nil, err
		}
		if len(info.Participants) == 0 {
			return nil, errForeign
		}
	}
	if id == "" {
		id = MatchID(raw.Metadata.MatchID)
	}
	if id == "" {
		id = MatchID(strings.ToUpper(info.PlatformID) + "_" + strconv.Itoa(info.GameID.count()))
	}
	switch n := len(info.Participants); {
	case n == 0:
		return nil, &Error{Kind: KindAborted, Method: MethodMatch, Route: string(id.Region())}
	case n > maxParticipants:
		return nil, errors.New("a match with more participants than any mode has")
	}
	m := &Match{
		ID:       id,
		Platform: Platform(strings.ToLower(info.PlatformID)),
		Queue:    info.QueueID.count(),
		Mode:     info.GameMode,
		Map:      info.MapID.count(),
	}
	if m.Platform == "" {
		m.Platform = id.Platform()
	}
	m.Start, m.End, m.Duration = info.times()
	if m.End.IsZero() {
		return nil, errors.New("a match without any time")
	}
	m.Participants = info.participants()
	return m, nil
}

// maxGame is longer than any game. What comes out longer is a mistake in a body.
const maxGame = 24 * time.Hour

// times are the beginning, end and length of the game. The length is in
// milliseconds where gameEndTimestamp is missing (before patch 11.20), else in
// seconds. That timestamp may be much too late, so the end is the beginning and
// the longest time that anybody played. Both rules are Riot's, of the match-v5
// reference.
func (b *infoBody) times() (start, end time.Time, length time.Duration) {
	start, stamp := b.GameStartTimestamp.time(), b.GameEndTimestamp.time()
	if start.IsZero() {
		start = b.GameCreation.time()
	}
	if stamp.IsZero() {
		length = span(b.GameDuration, time.Millisecond)
	} else {
		length = span(b.GameDuration, time.Second)
	}
	var played time.Duration
	for i := range b.Participants {
		played = max(played, span(b.Participants[i].TimePlayed, time.Second))
	}
	switch {
	case start.IsZero() && stamp.IsZero():
		return start, end, length
	case start.IsZero():
		return stamp.Add(-length), stamp, length
	case stamp.IsZero():
		return start, start.Add(max(length, played)), length
	case played == 0 && !stamp.Before(start) && stamp.Sub(start) < maxGame:
		return start, stamp, length
	case played == 0:
		return start, start.Add(length), length
	}
	end = start.Add(played)
	if late := stamp.Sub(end); late > 0 && late < time.Second {
		// Whole seconds were cut off: the stamp is the better of the two.
		end = stamp
	}
	return start, end, length
}

// span is n units, 0 where that is no length of a game.
func span(n number, unit time.Duration) time.Duration {
	if !(n > 0) || float64(n) > float64(maxGame/unit) {
		return 0
	}
	return time.Duration(math.Round(float64(n) * float64(unit)))
}

// participants are the players' parts, in the body's order.
func (b *infoBody) participants() []Participant {
	arena := b.GameMode == modeArena
	remake, surrendered, winner := false, false, false
	for i := range b.Participants {
		p := &b.Participants[i]
		remake = remake || p.GameEndedInEarlySurrender
		surrendered = surrendered || p.GameEndedInSurrender
		winner = winner || p.Win
	}
	trusted := championIDsTrusted(b.GameVersion)
	teams := 0
	if arena {
		teams = b.arenaTeams()
	}

	all := make([]Participant, len(b.Participants))
	for i := range b.Participants {
		p := &b.Participants[i]
		out := Participant{
			PUUID:            PUUID(p.PUUID),
			RiotID:           riotIDOf(p.RiotIDGameName, p.RiotIDTagline),
			Bot:              p.bot(),
			ChampionID:       p.ChampionID.count(),
			ChampionName:     p.ChampionName,
			Team:             p.TeamID.count(),
			Kills:            p.Kills.count(),
			Deaths:           p.Deaths.count(),
			Assists:          p.Assists.count(),
			CS:               p.TotalMinionsKilled.count() + p.NeutralMinionsKilled.count(),
			Damage:           p.TotalDamageDealtToChampions.count(),
			Position:         position(p.TeamPosition),
			LargestMultiKill: p.LargestMultiKill.count(),
			PentaKills:       p.PentaKills.count(),
			Surrendered:      surrendered && !remake,
		}
		if out.RiotID == (RiotID{}) {
			out.RiotID = riotIDOf(p.RiotIDName, p.RiotIDTagline)
		}
		if out.Bot {
			// Every bot of a match has the same.
			out.PUUID, out.RiotID = "", RiotID{}
		}
		// A mode's own champions ("Strawberry_Jinx") have numbers of their own.
		// No champion of Data Dragon's has an underscore in its name.
		if i := strings.LastIndexByte(out.ChampionName, '_'); i >= 0 {
			out.ChampionName, out.ChampionID = out.ChampionName[i+1:], 0
		}
		if !trusted || b.GameMode == modeSwarm {
			out.ChampionID = 0
		}
		placement := p.place()
		if arena {
			// teamId only says who came in the better half.
			out.Team = p.PlayerSubteamID.count()
			out.Position = ""
		}
		if laneless(b.QueueID.count()) {
			out.Position = ""
		}
		switch {
		case remake:
			out.Outcome = OutcomeRemake
		case arena && placement > 0:
			out.Outcome, out.Placement, out.PlacementOf = OutcomePlacement, placement, teams
		case arena, !winner && b.GameMode != modeSwarm:
			// Swarm has one team only: where it did not win, it lost.
			out.Outcome = OutcomeNone
		case p.Win:
			out.Outcome = OutcomeWin
		default:
			out.Outcome = OutcomeLoss
		}
		all[i] = out
	}
	markTopDamage(all)
	return all
}

// laneless are the queues in which a lane means nothing, though Riot may name one:
// custom games, co-op against bots, URF of all kinds, One for All, Nexus Blitz.
func laneless(queue int) bool {
	switch queue {
	case 0, 830, 840, 850, 870, 880, 890, 900, 1010, 1020, 1200, 1300, 1900:
		return true
	}
	return false
}

// markTopDamage sets TopDamage. Among those whose team is not known nobody has
// it, nor where two are level.
func markTopDamage(all []Participant) {
	for i := range all {
		p, mates := &all[i], 0
		if p.Team == 0 {
			continue
		}
		top := true
		for j := range all {
			if j == i || all[j].Team != p.Team {
				continue
			}
			mates++
			top = top && p.Damage > all[j].Damage
		}
		p.TopDamage = top && mates > 0
	}
}

// arenaTeams is the number of teams in a game of Arena: there are four, six or
// eight in the modes known so far.
func (b *infoBody) arenaTeams() int {
	seen := map[int]bool{}
	last := 0
	for i := range b.Participants {
		p := &b.Participants[i]
		if id := p.PlayerSubteamID.count(); id > 0 {
			seen[id] = true
		}
		last = max(last, p.place())
	}
	return max(len(seen), last)
}

// place is the placement in Arena, 0 where there is none.
func (p *participantBody) place() int {
	place := p.Placement.count()
	if place == 0 {
		place = p.SubteamPlacement.count()
	}
	return min(place, 1000)
}

func (p *participantBody) bot() bool { return strings.EqualFold(p.PUUID, "BOT") }

// position is p where it is a lane; "", "Invalid" and "AFK" are none.
func position(p string) string {
	switch p {
	case "TOP", "JUNGLE", "MIDDLE", "BOTTOM", "UTILITY":
		return p
	}
	return ""
}

// championIDsTrusted reports whether championId means anything: Riot says that it
// does not before patch 11.4. A version that can't be read is taken for a newer
// one.
func championIDsTrusted(version string) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	if err != nil {
		return true
	}
	b, err := strconv.Atoi(minor)
	if err != nil {
		return true
	}
	return a > 11 || a == 11 && b >= 4
}
