package riottest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"riftchime/riot/riottest"
)

const fixtures = "../../../shared/fixtures/riot"

// kinds collects the kind of JSON of every place in v, such as "string" at
// "info.participants[].puuid". Numbers are one kind: Riot itself is not strict
// about fractions.
func kinds(v any, at string, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		into[at] = "object"
		for k, x := range v {
			kinds(x, at+"."+k, into)
		}
	case []any:
		into[at] = "array"
		for _, x := range v {
			kinds(x, at+"[]", into)
		}
	case string:
		into[at] = "string"
	case float64:
		into[at] = "number"
	case bool:
		into[at] = "bool"
	case nil:
		into[at] = "null"
	}
}

func kindsOf(t *testing.T, body []byte) map[string]string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %.200s", err, body)
	}
	all := make(map[string]string)
	kinds(v, "", all)
	return all
}

// The fields that a client reads are there, and of the kind that Riot sends.
func TestFieldsThatAreRead(t *testing.T) {
	t.Parallel()
	for _, full := range []bool{false, true} {
		s := riottest.NewServer(riottest.Options{FullBodies: full})
		p := addPlayer(t, s, "One#KR1", "kr")
		id := addGame(t, s, riottest.Game{Queue: 420, Seats: []riottest.Seat{{Player: p}}})
		got := kindsOf(t, caller{s, key}.get(t, "asia", "/lol/match/v5/matches/"+id).body)
		for kind, fields := range map[string][]string{
			"string": {".metadata.matchId", ".metadata.participants[]", ".info.gameMode", ".info.gameVersion", ".info.platformId",
				".info.participants[].puuid", ".info.participants[].championName", ".info.participants[].riotIdGameName",
				".info.participants[].riotIdTagline", ".info.participants[].teamPosition"},
			"number": {".info.gameDuration", ".info.gameEndTimestamp", ".info.gameId", ".info.gameStartTimestamp", ".info.mapId", ".info.queueId",
				".info.participants[].championId", ".info.participants[].kills", ".info.participants[].placement",
				".info.participants[].PlayerScore2", ".info.participants[].timePlayed", ".info.participants[].teamId",
				".info.participants[].challenges.kda", ".info.participants[].challenges.legendaryItemUsed[]", ".info.teams[].bans[].pickTurn"},
			"bool": {".info.participants[].win", ".info.participants[].gameEndedInEarlySurrender", ".info.teams[].win"},
		} {
			for _, at := range fields {
				if got[at] != kind {
					t.Errorf("full: %t: %s is a %q, want a %s", full, at, got[at], kind)
				}
			}
		}
	}
}

// What is sent is compared with real bodies of the same kind.
func TestShapes(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("no real bodies to compare with: TestFieldsThatAreRead has to do")
	}
	answers := func(full bool) map[string][]byte {
		s := riottest.NewServer(riottest.Options{FullBodies: full})
		c := caller{s, key}
		rank := &riottest.Rank{Tier: "GOLD", Division: "I", LP: 3}
		p := add(t, s, riottest.Player{GameName: "One", TagLine: "KR1", Platform: "kr", Solo: rank, Flex: rank})
		id := s.PUUID(key, p)
		play := func(g riottest.Game) []byte {
			g.Seats = []riottest.Seat{{Player: p}}
			return c.get(t, "asia", "/lol/match/v5/matches/"+addGame(t, s, g)).body
		}
		arena := play(riottest.Game{Queue: 1700})
		out := map[string][]byte{
			"account":   c.get(t, "asia", byRiotID("One", "KR1")).body,
			"region":    c.get(t, "asia", "/riot/account/v1/region/by-game/lol/by-puuid/"+id).body,
			"summoner":  c.get(t, "kr", "/lol/summoner/v4/summoners/by-puuid/"+id).body,
			"ids":       c.get(t, "asia", "/lol/match/v5/matches/by-puuid/"+id+"/ids").body,
			"400":       c.get(t, "kr", "/lol/summoner/v4/summoners/by-puuid/x").body,
			"404":       c.get(t, "asia", "/lol/match/v5/matches/KR_1").body,
			"403":       c.get(t, "kr", "/x").body,
			"solo":      play(riottest.Game{Queue: 420}),
			"aram":      play(riottest.Game{Queue: 450}),
			"arena":     arena,
			"aborted":   play(riottest.Game{Queue: 420, Aborted: true}),
			"league":    c.get(t, "kr", "/lol/league/v4/entries/by-puuid/"+id).body,
			"swarm":     play(riottest.Game{Queue: 1820}),
			"bots":      play(riottest.Game{Queue: 850}),
			"swiftplay": play(riottest.Game{Queue: 480}),
			"flex":      play(riottest.Game{Queue: 440}),
		}
		s.SetLimits("", riottest.Limits{App: "1:100"})
		out["429"] = c.get(t, "asia", statusPath).body
		return out
	}
	// Real fields that are not sent even in full bodies: those that only some of the
	// participants have.
	rare := []string{
		".controlWardTimeCoverageInRiverOrEnemyHalf", ".earliestBaron", ".earliestDragonTakedown", ".fasterSupportQuestCompletion",
		".fastestLegendary", ".firstTurretKilledTime", ".hadAfkTeammate", ".highestChampionDamage", ".highestCrowdControlScore",
		".highestWardKills", ".junglerKillsEarlyJungle", ".killsOnLanersEarlyJungleAsJungler", ".shortestTimeToAceFromFirstTakedown",
		".soloTurretsLategame", ".teleportTakedowns",
	}
	for _, full := range []bool{false, true} {
		got := answers(full)
		for _, c := range []struct {
			answer, file string
			// more are fields of ours that the file has not got, since it is older.
			more []string
			// all: every field of the file is in full bodies.
			all bool
		}{
			{answer: "account", file: "account_v1_by_riot_id_KR.json", all: true},
			{answer: "region", file: "account_v1_region_lol_KR.json", all: true},
			{answer: "summoner", file: "summoner_v4_2025_no_id_NA1.json", all: true},
			{answer: "ids", file: "match_ids_KR_20.json", all: true},
			{answer: "400", file: "error_400_exception_decrypting.json", all: true},
			{answer: "403", file: "error_403_forbidden_dummy.json", all: true},
			{answer: "404", file: "error_404_match_file_not_found.json", all: true},
			{answer: "429", file: "error_429_rate_limit_exceeded_2016.json", all: true},
			{answer: "league", file: "league_v4_entries_by_summoner_2019_solo_flex_EUN1.json", more: []string{"[].puuid"}},
			{answer: "solo", file: "match_ranked_solo_420_v16.4_playerbehavior_JP1.json", all: true},
			{answer: "aborted", file: "match_aborted_empty_info_Abort_Unexpected_EUW1.json", all: true},
			{answer: "arena", file: "match_arena_1700_v15.23_16p_NA1.json"},
			{answer: "aram", file: "match_aram_450_v15.13_JP1.json"},
			{answer: "swiftplay", file: "match_swiftplay_480_v15.1_EUW1.json"},
			{answer: "flex", file: "match_ranked_flex_440_v14.5_EUW1.json"},
			{answer: "swarm", file: "match_swarm_1820_duo_v14.14_JP1.json"},
			{answer: "bots", file: "match_coop_vs_ai_850_bots_v13.6_JP1.json"},
		} {
			body, err := os.ReadFile(filepath.Join(fixtures, c.file))
			if err != nil {
				t.Error(err)
				continue
			}
			want, have := kindsOf(t, body), kindsOf(t, got[c.answer])
			// A match of today has fields that an older one has not; they are compared
			// with the newest.
			today, err := os.ReadFile(filepath.Join(fixtures, "match_ranked_solo_420_v16.4_playerbehavior_JP1.json"))
			if err != nil {
				t.Fatal(err)
			}
			newest := kindsOf(t, today)
			for at, kind := range have {
				if slices.Contains(c.more, at) {
					continue
				}
				theirs, ok := want[at]
				if !ok {
					theirs, ok = newest[at]
				}
				if !ok || theirs != kind {
					t.Errorf("full: %t, %s: %s is a %s, in %s %q", full, c.answer, at, kind, c.file, theirs)
				}
			}
			if !full || !c.all {
				continue
			}
			for at := range want {
				if _, ok := have[at]; !ok && !slices.Contains(rare, at[max(0, lastDot(at)):]) {
					t.Errorf("%s: %s of %s is missing", c.answer, at, c.file)
				}
			}
		}
		t.Logf("full: %t: a match of %d bytes, of Arena %d", full, len(got["solo"]), len(got["arena"]))
		if n := len(got["solo"]); full != (n > 60_000 && n < 90_000) || !full && n > 20_000 {
			t.Errorf("full: %t: a match of %d bytes", full, n)
		}
	}
}

func lastDot(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return i
		}
	}
	return -1
}
