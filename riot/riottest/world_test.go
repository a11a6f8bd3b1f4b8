package riottest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/riot/riottest"
)

// match is what is read of a match here.
type match struct {
	Metadata struct {
		MatchID      string   `json:"matchId"`
		Participants []string `json:"participants"`
	} `json:"metadata"`
	Info struct {
		EndOfGameResult    string        `json:"endOfGameResult"`
		GameCreation       int64         `json:"gameCreation"`
		GameDuration       int64         `json:"gameDuration"`
		GameEndTimestamp   int64         `json:"gameEndTimestamp"`
		GameStartTimestamp int64         `json:"gameStartTimestamp"`
		GameID             int64         `json:"gameId"`
		GameMode           string        `json:"gameMode"`
		MapID              int           `json:"mapId"`
		QueueID            int           `json:"queueId"`
		PlatformID         string        `json:"platformId"`
		Participants       []participant `json:"participants"`
		Teams              []struct {
			TeamID int  `json:"teamId"`
			Win    bool `json:"win"`
		} `json:"teams"`
	} `json:"info"`
}

type participant struct {
	PUUID          string `json:"puuid"`
	RiotIDGameName string `json:"riotIdGameName"`
	RiotIDTagline  string `json:"riotIdTagline"`
	SummonerName   string `json:"summonerName"`
	ChampionName   string `json:"championName"`
	ChampionID     int    `json:"championId"`
	TeamID         int    `json:"teamId"`
	TeamPosition   string `json:"teamPosition"`
	Individual     string `json:"individualPosition"`
	Kills          int    `json:"kills"`
	Deaths         int    `json:"deaths"`
	Assists        int    `json:"assists"`
	Minions        int    `json:"totalMinionsKilled"`
	Neutral        int    `json:"neutralMinionsKilled"`
	Damage         int    `json:"totalDamageDealtToChampions"`
	PentaKills     int    `json:"pentaKills"`
	LargestMulti   int    `json:"largestMultiKill"`
	Placement      int    `json:"placement"`
	Subteam        int    `json:"playerSubteamId"`
	Win            bool   `json:"win"`
	EarlySurrender bool   `json:"gameEndedInEarlySurrender"`
	TeamEarly      bool   `json:"teamEarlySurrendered"`
	Surrender      bool   `json:"gameEndedInSurrender"`
	TimePlayed     int    `json:"timePlayed"`
}

func (c caller) match(t *testing.T, route, id string) match {
	t.Helper()
	var m match
	c.json(t, route, "/lol/match/v5/matches/"+id, &m)
	return m
}

func (m match) of(t *testing.T, c caller, p riottest.PlayerID) participant {
	t.Helper()
	id := c.server.PUUID(c.key, p)
	for _, x := range m.Info.Participants {
		if x.PUUID == id {
			return x
		}
	}
	t.Fatalf("player %d is not in %s", p, m.Metadata.MatchID)
	return participant{}
}

func TestGameIsAsItWasAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{})
		c := caller{s, key}
		a, b := addPlayer(t, s, "가나 다라#KR1", "kr"), addPlayer(t, s, "Foe#KR2", "kr")
		end := time.Now().Add(-time.Minute)
		id := addGame(t, s, riottest.Game{
			Queue: 420, End: end, Length: riottest.Duration(31*time.Minute + 7*time.Second),
			Surrendered: true,
			Seats: []riottest.Seat{
				{Player: a, Champion: "fiddlesticks", Position: "JUNGLE", Result: riottest.Win,
					Score: &riottest.Score{Kills: 12, Deaths: 0, Assists: 3, CS: 211, Damage: 30111, Pentas: 1}},
				{RiotID: "foe#kr2", Champion: "MonkeyKing", Result: riottest.Loss, Position: "TOP"},
			},
		})
		if err := s.Rename(a, "새 이름", "KR9"); err != nil {
			t.Fatal(err)
		}
		m := c.match(t, "asia", id)
		got := m.of(t, c, a)
		if cs := got.Minions + got.Neutral; cs != 211 {
			t.Errorf("CS %d, want 211", cs)
		}
		got.Minions, got.Neutral = 0, 0
		want := participant{
			PUUID: s.PUUID(key, a), RiotIDGameName: "가나 다라", RiotIDTagline: "KR1",
			ChampionName: "FiddleSticks", ChampionID: 9, TeamID: 100, TeamPosition: "JUNGLE", Individual: "JUNGLE",
			Kills: 12, Assists: 3, Damage: 30111, PentaKills: 1, LargestMulti: 5, Win: true, Surrender: true, TimePlayed: 31*60 + 7,
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("participant (-got +want):\n%s", diff)
		}
		if foe := m.of(t, c, b); foe.TeamID != 200 || foe.Win || foe.ChampionName != "MonkeyKing" || foe.ChampionID != 62 || foe.TeamPosition != "TOP" {
			t.Errorf("the other side: %+v", foe)
		}
		i := m.Info
		if i.GameEndTimestamp != end.UnixMilli() || i.GameStartTimestamp != end.UnixMilli()-1867_000 || i.GameDuration != 1867 ||
			i.GameCreation >= i.GameStartTimestamp || i.PlatformID != "KR" || i.QueueID != 420 || i.MapID != 11 ||
			m.Metadata.MatchID != id || id != fmt.Sprintf("KR_%d", i.GameID) {
			t.Errorf("info: %+v", i)
		}
		teams := map[int]int{}
		seen := map[string]bool{}
		for _, p := range i.Participants {
			teams[p.TeamID]++
			if seen[p.PUUID] || seen[p.ChampionName] || p.Win != (p.TeamID == 100) {
				t.Errorf("participant %+v", p)
			}
			seen[p.PUUID], seen[p.ChampionName] = true, true
			if !slices.Contains(m.Metadata.Participants, p.PUUID) {
				t.Errorf("%s is not in the metadata", p.PUUID)
			}
		}
		if teams[100] != 5 || teams[200] != 5 || len(m.Metadata.Participants) != 10 {
			t.Errorf("teams %v", teams)
		}
		// Under another key the same players have other PUUIDs.
		two := caller{s, "RGAPI-two"}
		if other := two.match(t, "asia", id); other.of(t, two, a).PUUID == want.PUUID {
			t.Error("the same PUUID under two keys")
		}
	})
}

func TestKindsOfGames(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	p, q := addPlayer(t, s, "One#KR1", "kr"), addPlayer(t, s, "Two#KR1", "kr")
	seats := []riottest.Seat{{Player: p}, {Player: q}}
	play := func(g riottest.Game) match {
		t.Helper()
		g.Seats = slices.Clone(seats)
		return c.match(t, "asia", addGame(t, s, g))
	}

	for _, arena := range []struct{ queue, teams, size int }{{1700, 8, 2}, {1710, 8, 2}, {1750, 6, 3}} {
		m := c.match(t, "asia", addGame(t, s, riottest.Game{Queue: arena.queue, Seats: []riottest.Seat{
			{Player: p, Placement: 3}, {Player: q, Team: 4, Result: riottest.Loss},
		}}))
		placed := map[int]map[int]int{}
		for _, x := range m.Info.Participants {
			if placed[x.Subteam] == nil {
				placed[x.Subteam] = map[int]int{}
			}
			placed[x.Subteam][x.Placement]++
			if x.Win != (x.Placement <= arena.teams/2) || (x.TeamID == 100) != x.Win || x.TeamPosition != "" || x.Individual != "Invalid" {
				t.Errorf("queue %d: %+v", arena.queue, x)
			}
		}
		places := map[int]bool{}
		for team, of := range placed {
			for place, n := range of {
				if len(of) != 1 || n != arena.size || places[place] || place < 1 || place > arena.teams || team < 1 {
					t.Errorf("queue %d: subteams and placements %v", arena.queue, placed)
				}
				places[place] = true
			}
		}
		if len(placed) != arena.teams || m.of(t, c, p).Placement != 3 || m.of(t, c, q).Placement <= arena.teams/2 ||
			m.Info.GameMode != "CHERRY" || m.Info.MapID != 30 || m.Info.Teams[1].TeamID != 0 {
			t.Errorf("queue %d: %+v", arena.queue, m.Info)
		}
	}
	if m := play(riottest.Game{Queue: 1700, NoWinner: true}); m.of(t, c, p).Placement != 0 || m.of(t, c, p).Win {
		t.Errorf("arena without placements: %+v", m.of(t, c, p))
	}
	if m := play(riottest.Game{Queue: 1820}); len(m.Info.Participants) != 2 || m.Info.GameMode != "STRAWBERRY" || m.Info.MapID != 33 ||
		m.of(t, c, p).ChampionName[:11] != "Strawberry_" || m.of(t, c, p).ChampionID < 3000 || len(m.Info.Teams) != 1 {
		t.Errorf("swarm: %+v", m.Info)
	}
	m := play(riottest.Game{Queue: 850})
	bots := 0
	for _, x := range m.Info.Participants {
		if x.PUUID == "BOT" && x.TeamID == 200 && x.SummonerName != "" {
			bots++
		}
	}
	if bots != 5 || len(m.Metadata.Participants) != 5 {
		t.Errorf("%d bots, %d in the metadata", bots, len(m.Metadata.Participants))
	}
	m = play(riottest.Game{Queue: 420, Remake: true, Winner: 200})
	for _, x := range m.Info.Participants {
		if !x.EarlySurrender || x.TeamEarly != (x.TeamID == 100) {
			t.Errorf("remake: %+v", x)
		}
	}
	if m.Info.GameDuration > 300 {
		t.Errorf("a remake of %d s", m.Info.GameDuration)
	}
	m = play(riottest.Game{Queue: 420, Aborted: true})
	if m.Info.EndOfGameResult != "Abort_Unexpected" || m.Info.GameID != 0 || m.Info.Participants == nil || len(m.Info.Participants) != 0 ||
		len(m.Metadata.Participants) != 10 || m.Info.GameEndTimestamp == 0 {
		t.Errorf("aborted: %+v", m)
	}
	if m = play(riottest.Game{Queue: 420, FlaggedAborted: true}); m.Info.EndOfGameResult != "Abort_Unexpected" || len(m.Info.Participants) != 10 {
		t.Errorf("flagged: %+v", m.Info)
	}
	for _, x := range play(riottest.Game{Queue: 420, NoWinner: true, NoNames: true}).Info.Participants {
		if x.Win || x.RiotIDGameName != "" {
			t.Errorf("no winner, no names: %+v", x)
		}
	}
	if m = play(riottest.Game{Queue: 450}); m.Info.MapID != 12 || m.of(t, c, p).TeamPosition != "" {
		t.Errorf("ARAM: %+v", m.Info)
	}
	if m = play(riottest.Game{Queue: 9999, Mode: "NEWMODE", Map: 77}); m.Info.GameMode != "NEWMODE" || m.Info.MapID != 77 || m.Info.QueueID != 9999 {
		t.Errorf("a new mode: %+v", m.Info)
	}
	for queue, g := range map[string]riottest.Game{
		"Brawl": {Queue: 2300}, "Mayhem": {Queue: 2400}, "asked for": {Queue: 420, Forbidden: true},
	} {
		g.Seats = slices.Clone(seats)
		if a := c.get(t, "asia", "/lol/match/v5/matches/"+addGame(t, s, g)); a.status != 403 || a.header.Get("X-App-Rate-Limit") == "" {
			t.Errorf("%s: %d, want a 403 that counts", queue, a.status)
		}
	}
}

func TestWhenAGameIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{})
		c := caller{s, key}
		p := add(t, s, riottest.Player{GameName: "One", TagLine: "KR1", Platform: "kr", Solo: &riottest.Rank{Tier: "GOLD", Division: "IV", LP: 10, Wins: 3, Losses: 4}})
		begin := time.Now()
		at := func(minute int) time.Time { return begin.Add(time.Duration(minute) * time.Minute) }
		seat := []riottest.Seat{{Player: p, Result: riottest.Win, LP: new(25)}}
		late := addGame(t, s, riottest.Game{ID: "KR_1", Queue: 420, End: at(10), ListedAt: at(40), ReadableAt: at(50), RankedAt: at(60), Seats: seat})
		prompt := addGame(t, s, riottest.Game{ID: "KR_2", Queue: 450, End: at(20), ListedTwice: true, Seats: seat})
		gone := addGame(t, s, riottest.Game{ID: "KR_3", Queue: 450, End: at(20), Missing: true, Seats: seat})
		for _, step := range []struct {
			minute      int
			ids         []string
			late, other int
			lp          int
		}{
			{0, []string{}, 404, 404, 10},
			{19, []string{}, 404, 404, 10},
			{20, []string{gone, prompt, prompt}, 404, 200, 10},
			{40, []string{gone, prompt, prompt, late}, 404, 200, 10},
			{50, []string{gone, prompt, prompt, late}, 200, 200, 10},
			{60, []string{gone, prompt, prompt, late}, 200, 200, 35},
		} {
			time.Sleep(time.Until(at(step.minute)))
			got := c.ids(t, "asia", p, "")
			slices.Sort(got)
			slices.Sort(step.ids)
			if !slices.Equal(got, step.ids) {
				t.Errorf("at %d min: %v, want %v", step.minute, got, step.ids)
			}
			for id, want := range map[string]int{late: step.late, prompt: step.other, gone: 404} {
				if a := c.get(t, "asia", "/lol/match/v5/matches/"+id); a.status != want {
					t.Errorf("at %d min: %s is %d, want %d", step.minute, id, a.status, want)
				}
			}
			e := c.entries(t, "kr", p)[riottest.QueueSolo]
			if e.LeaguePoints != step.lp || e.Wins+e.Losses != 7+(step.lp-10)/25 {
				t.Errorf("at %d min: %+v, want %d LP", step.minute, e, step.lp)
			}
		}
		if err := s.FreezeList(p, at(120)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		newest, err := s.Play(400, riottest.Loss, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ids(t, "asia", p, ""); slices.Contains(got, newest) || len(got) != 4 {
			t.Errorf("frozen: %v", got)
		}
		time.Sleep(time.Until(at(120)))
		if got := c.ids(t, "asia", p, ""); got[0] != newest {
			t.Errorf("thawed: %v, want %s first", got, newest)
		}
	})
}

func TestLadder(t *testing.T) {
	t.Parallel()
	for _, step := range []struct {
		from   riottest.Rank
		lp     int
		tier   string
		rank   string
		points int
	}{
		{riottest.Rank{Tier: "GOLD", Division: "IV", LP: 30}, 20, "GOLD", "IV", 50},
		{riottest.Rank{Tier: "GOLD", Division: "IV", LP: 90}, 20, "GOLD", "III", 10},
		{riottest.Rank{Tier: "GOLD", Division: "I", LP: 90}, 20, "PLATINUM", "IV", 10},
		{riottest.Rank{Tier: "GOLD", Division: "IV", LP: 5}, -20, "SILVER", "I", 85},
		{riottest.Rank{Tier: "GOLD", Division: "I", LP: 0}, -17, "GOLD", "II", 83},
		{riottest.Rank{Tier: "IRON", Division: "IV", LP: 5}, -20, "IRON", "IV", 0},
		{riottest.Rank{Tier: "DIAMOND", Division: "I", LP: 95}, 20, "MASTER", "I", 15},
		{riottest.Rank{Tier: "MASTER", LP: 5}, -20, "DIAMOND", "I", 85},
		{riottest.Rank{Tier: "MASTER", LP: 290}, 20, "GRANDMASTER", "I", 310},
		{riottest.Rank{Tier: "GRANDMASTER", LP: 690}, 20, "CHALLENGER", "I", 710},
		{riottest.Rank{Tier: "CHALLENGER", LP: 1400}, 20, "CHALLENGER", "I", 1420},
	} {
		s := riottest.NewServer(riottest.Options{})
		c := caller{s, key}
		step.from.Wins, step.from.Losses = 10, 20
		p := add(t, s, riottest.Player{GameName: "One", TagLine: "KR1", Platform: "kr", Solo: &step.from, Flex: &step.from})
		flexBefore := c.entries(t, "kr", p)[riottest.QueueFlex]
		result, want := riottest.Win, entry{riottest.QueueSolo, step.tier, step.rank, step.points, 11, 20}
		if step.lp < 0 {
			result, want = riottest.Loss, entry{riottest.QueueSolo, step.tier, step.rank, step.points, 10, 21}
		}
		addGame(t, s, riottest.Game{Queue: 420, Seats: []riottest.Seat{{Player: p, Result: result, LP: &step.lp}}})
		// None of these counts.
		for _, g := range []riottest.Game{
			{Queue: 420, Remake: true}, {Queue: 420, Aborted: true}, {Queue: 420, NoWinner: true}, {Queue: 450}, {Queue: 1700},
		} {
			g.Seats = []riottest.Seat{{Player: p, Result: riottest.Win}}
			addGame(t, s, g)
		}
		got := c.entries(t, "kr", p)
		if diff := cmp.Diff(got[riottest.QueueSolo], want); diff != "" {
			t.Errorf("%+v %+d (-got +want):\n%s", step.from, step.lp, diff)
		}
		if diff := cmp.Diff(got[riottest.QueueFlex], flexBefore); diff != "" {
			t.Errorf("flex moved (-got +want):\n%s", diff)
		}
		if arena := got["CHERRY"]; arena.Wins != 1 || arena.Tier != "" {
			t.Errorf("arena's entry: %+v", arena)
		}
	}
}

func TestRankFollowsGames(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	p := add(t, s, riottest.Player{GameName: "One", TagLine: "KR1", Platform: "kr", Solo: &riottest.Rank{Tier: "EMERALD", Division: "II", LP: 50, Wins: 9, Losses: 9}})
	before := riottest.Rank{Tier: "EMERALD", Division: "II", LP: 50}.Ladder()
	if before != 5*400+2*100+50 {
		t.Fatalf("Ladder: %d", before)
	}
	for range 100 {
		id, err := s.Play(420, "", p)
		if err != nil {
			t.Fatal(err)
		}
		won := c.match(t, "asia", id).of(t, c, p).Win
		known, _ := s.Player(p)
		now := known.Solo.Ladder()
		switch d := now - before; {
		case won && (d < 18 || d > 22), !won && (d > -16 || d < -20):
			t.Fatalf("%d LP, won: %t", d, won)
		}
		before = now
	}
	known, _ := s.Player(p)
	if n := known.Solo.Wins + known.Solo.Losses; n != 118 || len(known.Games) != 100 {
		t.Errorf("%d games, %d listed", n, len(known.Games))
	}
}

func TestPlacements(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	p := addPlayer(t, s, "One#KR1", "kr")
	for i, result := range []riottest.Result{riottest.Win, riottest.Loss, riottest.Win, riottest.Win, riottest.Loss} {
		if got := c.entries(t, "kr", p); len(got) != 0 {
			t.Errorf("after %d games: %v", i, got)
		}
		if _, err := s.Play(420, result, p); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.entries(t, "kr", p)[riottest.QueueSolo]; got.Wins != 3 || got.Losses != 2 || got.Tier == "" {
		t.Errorf("after 5 games: %+v", got)
	}
	if err := s.SetRank(p, riottest.QueueSolo, nil); err != nil {
		t.Fatal(err)
	}
	if got := c.entries(t, "kr", p); len(got) != 0 {
		t.Errorf("after a reset: %v", got)
	}
}

func TestRenameAndTransfer(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	p, other := addPlayer(t, s, "Old#KR1", "kr"), addPlayer(t, s, "Taken#KR1", "kr")
	old, err := s.Play(420, riottest.Win, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(p, "tak en", "kr1"); err == nil {
		t.Error("a name was given twice")
	}
	if err := s.Rename(p, "New", "KR1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Rename(other, "old", "KR1"); err != nil {
		t.Errorf("a name that is free again: %v", err)
	}
	if err := s.Transfer(p, "euw1"); err != nil {
		t.Fatal(err)
	}
	newer, err := s.Play(420, riottest.Win, p)
	if err != nil {
		t.Fatal(err)
	}
	var account struct{ PUUID string }
	c.json(t, "asia", byRiotID("new", "kr1"), &account)
	if account.PUUID != s.PUUID(key, p) {
		t.Error("the PUUID changed with the name")
	}
	if got := c.ids(t, "asia", p, ""); !slices.Equal(got, []string{old}) {
		t.Errorf("ids where the player was: %v", got)
	}
	if got := c.ids(t, "europe", p, ""); !slices.Equal(got, []string{newer}) || newer[:5] != "EUW1_" {
		t.Errorf("ids where the player is: %v", got)
	}
	var region struct{ Region string }
	c.json(t, "asia", "/riot/account/v1/region/by-game/lol/by-puuid/"+account.PUUID, &region)
	if region.Region != "euw1" {
		t.Errorf("region %q", region.Region)
	}
	if a := c.get(t, "kr", "/lol/summoner/v4/summoners/by-puuid/"+account.PUUID); a.status != 404 {
		t.Errorf("the summoner where the player was: %d", a.status)
	}
}

func TestWhatCannotBe(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	p, q := addPlayer(t, s, "One#KR1", "kr"), addPlayer(t, s, "Two#KR1", "kr")
	for name, bad := range map[string]riottest.Player{
		"no name":      {TagLine: "KR1", Platform: "kr"},
		"no tag":       {GameName: "x", Platform: "kr"},
		"platform":     {GameName: "x", TagLine: "y", Platform: "asia"},
		"old platform": {GameName: "x", TagLine: "y", Platform: "ph2"},
		"taken":        {GameName: "O n e", TagLine: "kr1", Platform: "kr"},
		"tier":         {GameName: "x", TagLine: "y", Platform: "kr", Solo: &riottest.Rank{Tier: "WOOD", Division: "I"}},
		"division":     {GameName: "x", TagLine: "y", Platform: "kr", Flex: &riottest.Rank{Tier: "GOLD", Division: "V"}},
		"LP":           {GameName: "x", TagLine: "y", Platform: "kr", Flex: &riottest.Rank{Tier: "GOLD", Division: "I", LP: 101}},
		"champion":     {GameName: "x", TagLine: "y", Platform: "kr", Main: []string{"Nobody"}},
	} {
		if _, err := s.AddPlayer(bad); err == nil {
			t.Errorf("player with bad %s was taken", name)
		}
	}
	win, loss := riottest.Win, riottest.Loss
	for name, bad := range map[string]riottest.Game{
		"player":     {Queue: 420, Seats: []riottest.Seat{{Player: 99}}},
		"riot id":    {Queue: 420, Seats: []riottest.Seat{{RiotID: "no#one"}}},
		"twice":      {Queue: 420, Seats: []riottest.Seat{{Player: p}, {Player: p}}},
		"champion":   {Queue: 420, Seats: []riottest.Seat{{Player: p, Champion: "Nobody"}}},
		"result":     {Queue: 420, Seats: []riottest.Seat{{Player: p, Result: "draw"}}},
		"position":   {Queue: 420, Seats: []riottest.Seat{{Player: p, Position: "MID"}}},
		"score":      {Queue: 420, Seats: []riottest.Seat{{Player: p, Score: &riottest.Score{Kills: -1}}}},
		"sides":      {Queue: 420, Seats: []riottest.Seat{{Player: p, Team: 100, Result: win}, {Player: q, Team: 100, Result: loss}}},
		"winner":     {Queue: 420, Winner: 200, Seats: []riottest.Seat{{Player: p, Result: win}}},
		"no winner":  {Queue: 420, Winner: 300, Seats: []riottest.Seat{{Player: p}}},
		"team":       {Queue: 420, Seats: []riottest.Seat{{Player: p, Team: 3}}},
		"crowd":      {Queue: 420, Platform: "kr", Seats: make([]riottest.Seat, 6)},
		"id":         {ID: "XX_5", Queue: 420, Seats: []riottest.Seat{{Player: p}}},
		"id number":  {ID: "KR_x", Queue: 420, Seats: []riottest.Seat{{Player: p}}},
		"elsewhere":  {ID: "KR_5", Platform: "euw1", Queue: 420, Seats: []riottest.Seat{{Player: p}}},
		"nowhere":    {Queue: 420},
		"length":     {Queue: 420, Length: -1, Seats: []riottest.Seat{{Player: p}}},
		"bots":       {Queue: 850, Seats: []riottest.Seat{{Player: p, Team: 200}}},
		"subteam":    {Queue: 1700, Seats: []riottest.Seat{{Player: p, Team: 9}}},
		"placement":  {Queue: 1700, Seats: []riottest.Seat{{Player: p, Placement: 9}}},
		"placed":     {Queue: 1700, Seats: []riottest.Seat{{Player: p, Placement: 8, Result: win}}},
		"same place": {Queue: 1700, Seats: []riottest.Seat{{Player: p, Team: 1, Placement: 2}, {Player: q, Team: 2, Placement: 2}}},
		"parted duo": {Queue: 1700, Seats: []riottest.Seat{{Player: p, Team: 1, Result: win}, {Player: q, Team: 1, Result: loss}}},
		"no swarm":   {Queue: 1820, Platform: "kr"},
	} {
		if id, err := s.AddGame(bad); err == nil {
			t.Errorf("game with bad %s was taken: %s", name, id)
		}
	}
	known, _ := s.Player(p)
	if len(known.Games) != 0 {
		t.Errorf("refused games were kept: %v", known.Games)
	}
	if _, ok := s.Player(0); ok {
		t.Error("player 0 exists")
	}
	if s.Rename(99, "a", "b") == nil || s.Transfer(p, "asia") == nil || s.SetRank(p, "ARENA", nil) == nil || s.AddGroup(99) == nil || s.AddGroup() == nil {
		t.Error("a change that can't be was made")
	}
	if _, err := s.AddGame(riottest.Game{ID: "TH2_77", Queue: 420, Seats: []riottest.Seat{{Player: p}}}); err != nil {
		t.Errorf("a game of a platform of former times: %v", err)
	}
}

func TestPopulate(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 7, 8, 30, 1000} {
		s, again := riottest.NewServer(riottest.Options{}), riottest.NewServer(riottest.Options{})
		groups, err := s.Populate(n, 11)
		if err != nil {
			t.Fatal(err)
		}
		players, platforms := 0, map[string]int{}
		for _, g := range groups {
			players += len(g.Players)
			platforms[g.Platform]++
			if n > 5 && (len(g.Players) < 3 || len(g.Players) > 6) {
				t.Errorf("of %d: a group of %d", n, len(g.Players))
			}
		}
		if players != n || len(s.Players()) != n || n >= 30 && len(platforms) < 3 {
			t.Errorf("of %d: %d players on %v", n, players, platforms)
		}
		if _, err := again.Populate(n, 11); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Players(), again.Players()); diff != "" {
			t.Errorf("the same seed, another world:\n%s", diff)
		}
	}
}

func TestRunWorld(t *testing.T) {
	t.Parallel()
	for _, hour := range []time.Duration{time.Hour, 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := riottest.NewServer(riottest.Options{Live: riottest.Live{GamesPerHour: 0.5, Late: 0.2, Remakes: 0.1}})
			groups, err := s.Populate(200, 3)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 48*hour)
			defer cancel()
			ended := make(chan error)
			begin := time.Now()
			go func() { ended <- s.RunWorld(ctx, hour) }()
			time.Sleep(hour)
			synctest.Wait()
			first := len(s.Players()[0].Games)
			late := addPlayer(t, s, "Late#KR1", "kr")
			if err := s.AddGroup(late); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin); got != 48*hour {
				t.Errorf("RunWorld ended after %s, want %s", got, 48*hour)
			}
			seen := map[string]bool{}
			for _, p := range s.Players() {
				for _, g := range p.Games {
					seen[g] = true
				}
			}
			rate := float64(len(seen)) / float64(len(groups)) / 48
			if rate < 0.4 || rate > 0.6 {
				t.Errorf("%.2f games an hour and group, want about 0.5", rate)
			}
			if known, _ := s.Player(late); len(known.Games) == 0 {
				t.Error("the group that came late never played")
			}
			if first > 3 {
				t.Errorf("%d games in the first hour", first)
			}
		})
	}
	if err := riottest.NewServer(riottest.Options{}).RunWorld(t.Context(), 0); err == nil {
		t.Error("an hour of 0 was taken")
	}
}
