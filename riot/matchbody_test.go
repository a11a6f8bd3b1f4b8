package riot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/riot"
)

const fixtures = "../../shared/fixtures/riot"

// fixture reads a real body. Where the folder is absent the test is skipped:
// each kind of body has a small one of our own besides.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(fixtures, name))
	if os.IsNotExist(err) {
		t.Skip("the folder of real bodies is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// first is what is checked of player 0 of a real body.
type first struct {
	ID           riot.MatchID
	Platform     riot.Platform
	Queue        int
	Mode         string
	Duration     time.Duration
	Start, End   string
	Players      int
	RiotID       string
	Champion     string
	ChampionID   int
	KDA          string
	CS           int
	Outcome      riot.Outcome
	Place        string
	Position     string
	Top, Quit    bool
	TeamOfOthers int // those on the same side
}

// Worked out by hand from the bodies.
var wantFirst = map[string]first{
	"match_aram_450_v15.13_JP1.json": {
		ID: "JP1_703921028", Platform: "jp1", Queue: 450, Mode: "ARAM", Duration: 1070 * time.Second,
		Start: "2025-06-30T05:06:20.776Z", End: "2025-06-30T05:24:11.191Z", Players: 10,
		RiotID: "Funemi#JP1", Champion: "Chogath", ChampionID: 31, KDA: "8/8/13", CS: 18,
		Outcome: riot.OutcomeLoss, Place: "0/0", TeamOfOthers: 4,
	},
	"match_arena_1700_v13.14_8p_launch_placement_all_zero_KR.json": {
		ID: "KR_7148320338", Platform: "kr", Queue: 1700, Mode: "CHERRY", Duration: 1010 * time.Second,
		Start: "2023-07-21T05:30:28.529Z", End: "2023-07-21T05:47:19.035Z", Players: 8,
		Champion: "Shaco", ChampionID: 35, KDA: "6/6/2", Outcome: riot.OutcomeNone, Place: "0/0",
	},
	"match_arena_1700_v15.23_16p_NA1.json": {
		ID: "NA1_9069609231", Platform: "na1", Queue: 1700, Mode: "CHERRY", Duration: 1299 * time.Second,
		Start: "2025-11-25T03:21:56.792Z", End: "2025-11-25T03:43:35.820Z", Players: 16,
		RiotID: "Halgorjo#NA1", Champion: "Veigar", ChampionID: 45, KDA: "4/7/4",
		Outcome: riot.OutcomePlacement, Place: "7/8", Top: true, TeamOfOthers: 1,
	},
	"match_arena_1710_v14.9_16p_JP1.json": {
		ID: "JP1_820543836", Platform: "jp1", Queue: 1710, Mode: "CHERRY", Duration: 1508 * time.Second,
		Start: "2024-05-02T17:26:27.808Z", End: "2024-05-02T17:51:36.364Z", Players: 16,
		RiotID: "Raelivu#JP1", Champion: "Lillia", ChampionID: 876, KDA: "5/6/11", CS: 1,
		Outcome: riot.OutcomePlacement, Place: "3/8", Top: true, TeamOfOthers: 1,
	},
	"match_clash_700_v12.5_EUW1.json": {
		ID: "EUW1_6425650481", Platform: "euw1", Queue: 700, Mode: "CLASSIC", Duration: 1567 * time.Second,
		Start: "2022-03-06T21:33:46.041Z", End: "2022-03-06T21:59:53.626Z", Players: 10,
		Champion: "Zilean", ChampionID: 26, KDA: "5/2/7", CS: 188,
		Outcome: riot.OutcomeWin, Place: "0/0", Position: "MIDDLE", TeamOfOthers: 4,
	},
	"match_complete_but_flagged_Abort_Unexpected_v14.12_FiddleSticks_RU.json": {
		ID: "RU_687615630", Platform: "ru", Queue: 420, Mode: "CLASSIC", Duration: 1668 * time.Second,
		Start: "2024-06-12T18:01:56.038Z", End: "2024-06-12T18:29:44.628Z", Players: 10,
		RiotID: "Haljomi Eli#UKR5", Champion: "Yorick", ChampionID: 83, KDA: "3/5/3", CS: 231,
		Outcome: riot.OutcomeWin, Place: "0/0", Position: "TOP", TeamOfOthers: 4,
	},
	"match_coop_vs_ai_850_bots_v13.6_JP1.json": {
		ID: "JP1_522780635", Platform: "jp1", Queue: 850, Mode: "CLASSIC", Duration: 1057 * time.Second,
		Start: "2023-03-30T03:42:35.657Z", End: "2023-03-30T04:00:13.210Z", Players: 10,
		Champion: "Thresh", ChampionID: 412, KDA: "0/2/7", CS: 33,
		Outcome: riot.OutcomeWin, Place: "0/0", TeamOfOthers: 4,
	},
	"match_info_only_esports_custom_q0_v11.14_duration_ms.json": {
		ID: "ESPORTSTMNT02_1102900047", Platform: "esportstmnt02", Queue: 0, Mode: "CLASSIC", Duration: 1547137 * time.Millisecond,
		Start: "2021-08-04T03:26:12.711Z", End: "2021-08-04T03:51:59.848Z", Players: 10,
		Champion: "Gwen", ChampionID: 887, KDA: "0/2/1", CS: 217,
		Outcome: riot.OutcomeLoss, Place: "0/0", Top: true, TeamOfOthers: 4,
	},
	"match_normal_quickplay_490_v15.2_JP1.json": {
		ID: "JP1_328768411", Platform: "jp1", Queue: 490, Mode: "CLASSIC", Duration: 1608 * time.Second,
		Start: "2025-01-24T04:43:03.270Z", End: "2025-01-24T05:09:52.021Z", Players: 10,
		RiotID: "Joelijo#RF4", Champion: "Kayle", ChampionID: 10, KDA: "6/3/3", CS: 278,
		Outcome: riot.OutcomeWin, Place: "0/0", Position: "TOP", Quit: true, TeamOfOthers: 4,
	},
	"match_ranked_flex_440_v14.5_EUW1.json": {
		ID: "EUW1_7452811092", Platform: "euw1", Queue: 440, Mode: "CLASSIC", Duration: 2121 * time.Second,
		Start: "2024-03-11T19:25:28.979Z", End: "2024-03-11T20:00:50.420Z", Players: 10,
		RiotID: "Neshihal#EUW", Champion: "Poppy", ChampionID: 78, KDA: "10/4/4", CS: 244,
		Outcome: riot.OutcomeLoss, Place: "0/0", Position: "TOP", TeamOfOthers: 4, Top: true,
	},
	"match_ranked_solo_420_v11.16_2021_duration_ms_no_gameEnd.json": {
		ID: "JP1_920540211", Platform: "jp1", Queue: 420, Mode: "CLASSIC", Duration: 1965640 * time.Millisecond,
		Start: "2021-08-16T03:38:57.585Z", End: "2021-08-16T04:11:43.225Z", Players: 10,
		Champion: "Illaoi", ChampionID: 420, KDA: "6/9/8", CS: 197,
		Outcome: riot.OutcomeLoss, Place: "0/0", Position: "TOP", TeamOfOthers: 4,
	},
	"match_ranked_solo_420_v14.6_TH2_merged_platform_TH2.json": {
		ID: "TH2_48015375", Platform: "th2", Queue: 420, Mode: "CLASSIC", Duration: 1326 * time.Second,
		Start: "2024-03-15T04:41:53.123Z", End: "2024-03-15T05:03:59.184Z", Players: 10,
		RiotID: "Benmidar#KQNY", Champion: "Darius", ChampionID: 122, KDA: "3/4/5", CS: 125,
		Outcome: riot.OutcomeWin, Place: "0/0", Position: "TOP", Quit: true, TeamOfOthers: 4,
	},
	"match_ranked_solo_420_v15.13_KR.json": {
		ID: "KR_3439916527", Platform: "kr", Queue: 420, Mode: "CLASSIC", Duration: 1205 * time.Second,
		Start: "2025-06-25T16:16:31.612Z", End: "2025-06-25T16:36:36.620Z", Players: 10,
		RiotID: "Hallofu#QIO0", Champion: "Gragas", ChampionID: 79, KDA: "1/5/1", CS: 144,
		Outcome: riot.OutcomeLoss, Place: "0/0", Position: "TOP", Quit: true, TeamOfOthers: 4,
	},
	"match_ranked_solo_420_v16.4_playerbehavior_JP1.json": {
		ID: "JP1_286199587", Platform: "jp1", Queue: 420, Mode: "CLASSIC", Duration: 1670 * time.Second,
		Start: "2026-02-21T14:48:44.811Z", End: "2026-02-21T15:16:34.966Z", Players: 10,
		RiotID: "Karane Vu#JP1", Champion: "Gragas", ChampionID: 79, KDA: "3/6/7", CS: 213,
		Outcome: riot.OutcomeLoss, Place: "0/0", Position: "TOP", Top: true, TeamOfOthers: 4,
	},
	"match_remake_420_v12.20_203s_BR1.json": {
		ID: "BR1_1514769850", Platform: "br1", Queue: 420, Mode: "CLASSIC", Duration: 203 * time.Second,
		Start: "2022-10-28T01:40:43.579Z", End: "2022-10-28T01:44:07.480Z", Players: 10,
		Champion: "Aatrox", ChampionID: 266, KDA: "0/0/0", CS: 12,
		Outcome: riot.OutcomeRemake, Place: "0/0", Position: "TOP", TeamOfOthers: 4,
	},
	// Its gameEndTimestamp is 280 s after the last of timePlayed, which counts.
	"match_swarm_1820_duo_v14.14_JP1.json": {
		ID: "JP1_633210309", Platform: "jp1", Queue: 1820, Mode: "STRAWBERRY", Duration: 1012 * time.Second,
		Start: "2024-07-20T13:13:34.905Z", End: "2024-07-20T13:30:26.905Z", Players: 2,
		RiotID: "Kanevu#JP1", Champion: "Xayah", ChampionID: 0, KDA: "0/2/0", CS: 2687,
		Outcome: riot.OutcomeLoss, Place: "0/0", TeamOfOthers: 1,
	},
	"match_swiftplay_480_v15.1_EUW1.json": {
		ID: "EUW1_3096149049", Platform: "euw1", Queue: 480, Mode: "SWIFTPLAY", Duration: 1333 * time.Second,
		Start: "2025-01-09T20:40:25.109Z", End: "2025-01-09T21:02:38.756Z", Players: 10,
		RiotID: "Shieliben#WAC", Champion: "Sett", ChampionID: 875, KDA: "8/4/3", CS: 125,
		Outcome: riot.OutcomeWin, Place: "0/0", Position: "TOP", TeamOfOthers: 4,
	},
	"match_urf_900_v13.3_EUW1.json": {
		ID: "EUW1_2900684354", Platform: "euw1", Queue: 900, Mode: "URF", Duration: 1256 * time.Second,
		Start: "2023-02-16T21:09:05.918Z", End: "2023-02-16T21:30:02.390Z", Players: 10,
		Champion: "Shaco", ChampionID: 35, KDA: "5/9/7", CS: 77,
		Outcome: riot.OutcomeLoss, Place: "0/0", TeamOfOthers: 4,
	},
}

func firstOf(m *riot.Match) first {
	p := m.Participants[0]
	f := first{
		ID: m.ID, Platform: m.Platform, Queue: m.Queue, Mode: m.Mode, Duration: m.Duration,
		Start: m.Start.Format("2006-01-02T15:04:05.000Z07:00"), End: m.End.Format("2006-01-02T15:04:05.000Z07:00"),
		Players: len(m.Participants), RiotID: p.RiotID.String(),
		Champion: p.ChampionName, ChampionID: p.ChampionID,
		KDA: fmt.Sprintf("%d/%d/%d", p.Kills, p.Deaths, p.Assists), CS: p.CS,
		Outcome: p.Outcome, Place: fmt.Sprintf("%d/%d", p.Placement, p.PlacementOf),
		Position: p.Position, Top: p.TopDamage, Quit: p.Surrendered,
	}
	for _, q := range m.Participants[1:] {
		if p.Team != 0 && q.Team == p.Team {
			f.TeamOfOthers++
		}
	}
	return f
}

func TestRealMatches(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(fixtures, "match_*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("the folder of real bodies is not here")
	}
	for _, path := range names {
		name := filepath.Base(path)
		if name == "match_ids_KR_20.json" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := riot.DecodeMatch("", fixture(t, name))
			if strings.HasPrefix(name, "match_aborted_empty_info") {
				if !riot.IsKind(err, riot.KindAborted) {
					t.Errorf("got %v, want an aborted game", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want, ok := wantFirst[name]
			if !ok {
				t.Fatal("a body that nobody has worked out by hand")
			}
			if diff := cmp.Diff(want, firstOf(m)); diff != "" {
				t.Errorf("player 0 (-want +got)\n%s", diff)
			}
			checkMatch(t, m)
		})
	}
}

func TestRealBots(t *testing.T) {
	t.Parallel()
	m, err := riot.DecodeMatch("", fixture(t, "match_coop_vs_ai_850_bots_v13.6_JP1.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range m.Participants {
		if want := i >= 5; p.Bot != want || (p.PUUID == "") != want {
			t.Errorf("player %d: bot is %v, PUUID %q", i, p.Bot, p.PUUID)
		}
	}
}

// checkMatch checks what holds for every match.
func checkMatch(t *testing.T, m *riot.Match) {
	t.Helper()
	if m.End.Before(m.Start) || m.Duration < 0 || m.Duration > 24*time.Hour || m.End.Sub(m.Start) > 25*time.Hour {
		t.Errorf("from %v to %v, length %v", m.Start, m.End, m.Duration)
	}
	if m.End.IsZero() || m.Start.Location() != time.UTC || m.End.Location() != time.UTC {
		t.Errorf("start %v and end %v are not both told in UTC", m.Start, m.End)
	}
	remakes, tops := 0, map[int]int{}
	for i, p := range m.Participants {
		switch p.Position {
		case "", "TOP", "JUNGLE", "MIDDLE", "BOTTOM", "UTILITY":
		default:
			t.Errorf("player %d: position %q", i, p.Position)
		}
		if strings.Contains(p.ChampionName, "_") || p.ChampionID < 0 {
			t.Errorf("player %d: champion %q, %d", i, p.ChampionName, p.ChampionID)
		}
		if min(p.Kills, p.Deaths, p.Assists, p.CS, p.Damage, p.Team) < 0 {
			t.Errorf("player %d has a negative count: %+v", i, p)
		}
		if (p.Outcome == riot.OutcomePlacement) != (p.Placement > 0) || p.Placement > p.PlacementOf || p.Placement == 0 && p.PlacementOf != 0 {
			t.Errorf("player %d: outcome %d with placement %d of %d", i, p.Outcome, p.Placement, p.PlacementOf)
		}
		if p.Bot && p.PUUID != "" {
			t.Errorf("player %d: a bot with a PUUID", i)
		}
		if (p.RiotID.GameName == "") != (p.RiotID.TagLine == "") {
			t.Errorf("player %d: half a Riot ID %+v", i, p.RiotID)
		}
		if p.Outcome == riot.OutcomeRemake {
			remakes++
		}
		if p.TopDamage {
			tops[p.Team]++
		}
	}
	if remakes != 0 && remakes != len(m.Participants) {
		t.Errorf("a remake for %d of %d", remakes, len(m.Participants))
	}
	for team, n := range tops {
		if n > 1 || team == 0 {
			t.Errorf("team %d has %d with the top damage", team, n)
		}
	}
}

// body is a small match: two teams of two, in all of Riot's fields that count.
// edit changes it before it is spelt.
func body(t testing.TB, edit func(info map[string]any, players []map[string]any)) []byte {
	t.Helper()
	var players []map[string]any
	for i := range 4 {
		players = append(players, map[string]any{
			"puuid": fmt.Sprintf("puuid-%d", i), "summonerId": "s", "summonerName": "",
			"riotIdGameName": fmt.Sprintf("Player %d", i), "riotIdTagline": "KR1",
			"championId": 100 + i, "championName": "Ahri", "teamId": 100 + i/2*100, "win": i >= 2,
			"kills": i, "deaths": 1, "assists": 2, "totalMinionsKilled": 100, "neutralMinionsKilled": 5,
			"totalDamageDealtToChampions": 1000 * (i + 1), "teamPosition": "TOP", "individualPosition": "TOP",
			"largestMultiKill": 5, "pentaKills": 1, "placement": 0, "playerSubteamId": 0, "subteamPlacement": 0,
			"gameEndedInEarlySurrender": false, "gameEndedInSurrender": false, "timePlayed": 1800,
			"challenges": map[string]any{"legendaryItemUsed": []int{1, 2}, "x": 20.000000029802322},
		})
	}
	info := map[string]any{
		"gameId": 1, "platformId": "KR", "queueId": 420, "gameMode": "CLASSIC", "mapId": 11,
		"gameVersion": "15.13.1", "gameCreation": 1750868180000, "gameStartTimestamp": 1750868190000,
		"gameEndTimestamp": 1750869990500, "gameDuration": 1800, "endOfGameResult": "GameComplete",
		"participants": players, "PlayerScore0": 1.5, "playerScore0": "x",
	}
	if edit != nil {
		edit(info, players)
	}
	b, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"matchId": "KR_1", "participants": []string{"puuid-0"}}, "info": info,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func each(players []map[string]any, key string, values ...any) {
	for i, p := range players {
		if v := values[min(i, len(values)-1)]; v != nil {
			p[key] = v
		} else {
			delete(p, key)
		}
	}
}

// outcomes are those of all participants.
func outcomes(m *riot.Match) []riot.Outcome {
	var all []riot.Outcome
	for _, p := range m.Participants {
		all = append(all, p.Outcome)
	}
	return all
}

func TestDecodeMatch(t *testing.T) {
	t.Parallel()
	const (
		none, win, loss = riot.OutcomeNone, riot.OutcomeWin, riot.OutcomeLoss
		remake, placed  = riot.OutcomeRemake, riot.OutcomePlacement
	)
	for name, tt := range map[string]struct {
		edit func(info map[string]any, players []map[string]any)
		want []riot.Outcome
		// check looks at what the outcomes do not say.
		check func(t *testing.T, m *riot.Match, p riot.Participant)
	}{
		"plain": {want: []riot.Outcome{loss, loss, win, win}, check: func(t *testing.T, m *riot.Match, p riot.Participant) {
			want := riot.Participant{
				PUUID: "puuid-0", RiotID: riot.RiotID{GameName: "Player 0", TagLine: "KR1"}, ChampionID: 100, ChampionName: "Ahri",
				Team: 100, Deaths: 1, Assists: 2, CS: 105, Damage: 1000, Outcome: loss, Position: "TOP", LargestMultiKill: 5, PentaKills: 1,
			}
			if diff := cmp.Diff(want, p); diff != "" {
				t.Errorf("player 0 (-want +got)\n%s", diff)
			}
			if !m.Participants[1].TopDamage || m.Participants[2].TopDamage || !m.Participants[3].TopDamage {
				t.Error("the top damage is not that of players 1 and 3")
			}
			if m.ID != "KR_1" || m.Platform != "kr" || m.Queue != 420 || m.Mode != "CLASSIC" || m.Map != 11 || m.Duration != 30*time.Minute {
				t.Errorf("got %+v", m)
			}
			if got, want := m.End, time.UnixMilli(1750869990500).UTC(); !got.Equal(want) {
				t.Errorf("end %v, want %v", got, want)
			}
		}},
		"remake, however long": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "gameEndedInEarlySurrender", true) },
			want: []riot.Outcome{remake, remake, remake, remake},
		},
		"short, but no remake": {
			edit: func(info map[string]any, p []map[string]any) { info["gameDuration"] = 170; each(p, "timePlayed", 170) },
			want: []riot.Outcome{loss, loss, win, win},
		},
		"surrender": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "gameEndedInSurrender", true, false) },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if !p.Surrendered || !m.Participants[3].Surrendered {
					t.Error("no surrender")
				}
			},
		},
		"nobody won": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "win", false) },
			want: []riot.Outcome{none, none, none, none},
		},
		"flagged, but played": {
			edit: func(info map[string]any, p []map[string]any) { info["endOfGameResult"] = "Abort_Unexpected" },
			want: []riot.Outcome{loss, loss, win, win},
		},
		"arena": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameMode"], info["queueId"] = "CHERRY", 1750
				each(p, "placement", 1, 1, 2, 2)
				each(p, "playerSubteamId", 2, 2, 1, 1)
				each(p, "teamPosition", "")
			},
			want: []riot.Outcome{placed, placed, placed, placed},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.Placement != 1 || p.PlacementOf != 2 || p.Team != 2 || p.Position != "" {
					t.Errorf("got %+v", p)
				}
			},
		},
		"arena with subteamPlacement only": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameMode"] = "CHERRY"
				each(p, "placement", nil, nil)
				each(p, "subteamPlacement", 6, 6, 3, 3)
				each(p, "playerSubteamId", 1, 1, 2, 2)
			},
			want: []riot.Outcome{placed, placed, placed, placed},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.Placement != 6 || p.PlacementOf != 6 {
					t.Errorf("placement %d of %d, want 6 of 6", p.Placement, p.PlacementOf)
				}
			},
		},
		"arena without placements": {
			edit: func(info map[string]any, p []map[string]any) { info["gameMode"] = "CHERRY" },
			want: []riot.Outcome{none, none, none, none},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.Team != 0 || m.Participants[3].TopDamage {
					t.Errorf("teams are made up: %+v", p)
				}
			},
		},
		"swarm": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameMode"] = "STRAWBERRY"
				each(p, "championName", "Strawberry_Jinx", "Jinx")
				each(p, "championId", 3151, 3947)
				each(p, "teamId", 100)
				each(p, "win", true)
				each(p, "teamPosition", "Invalid")
			},
			want: []riot.Outcome{win, win, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if q := m.Participants[1]; p.ChampionName != "Jinx" || p.ChampionID != 0 || q.ChampionName != "Jinx" || q.ChampionID != 0 || p.Position != "" {
					t.Errorf("got %+v and %+v", p, q)
				}
			},
		},
		"numbers of before 11.4": {
			edit: func(info map[string]any, p []map[string]any) { info["gameVersion"] = "11.3.5" },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.ChampionID != 0 || p.ChampionName != "Ahri" {
					t.Errorf("champion %d %q", p.ChampionID, p.ChampionName)
				}
			},
		},
		"numbers of 11.4": {
			edit: func(info map[string]any, p []map[string]any) { info["gameVersion"] = "11.4" },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.ChampionID != 100 {
					t.Errorf("champion %d", p.ChampionID)
				}
			},
		},
		"bots": {
			edit: func(info map[string]any, p []map[string]any) {
				each(p, "puuid", "puuid-0", "puuid-1", "BOT", "BOT")
				each(p, "summonerId", "s", "s", "BOT", "BOT")
			},
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if q := m.Participants[3]; p.Bot || !q.Bot || q.PUUID != "" || q.RiotID != (riot.RiotID{}) {
					t.Errorf("got %+v and %+v", p, q)
				}
			},
		},
		"names of 2023": {
			edit: func(info map[string]any, p []map[string]any) {
				each(p, "riotIdGameName", nil, nil, "", "")
				each(p, "riotIdName", "Old", "", "Old", "Old")
				each(p, "riotIdTagline", "KR1", "KR1", "KR1", "")
			},
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				var got []string
				for _, q := range m.Participants {
					got = append(got, q.RiotID.String())
				}
				if diff := cmp.Diff([]string{"Old#KR1", "", "Old#KR1", ""}, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			},
		},
		"milliseconds": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameDuration"] = 1800123
				delete(info, "gameEndTimestamp")
			},
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if m.Duration != 1800123*time.Millisecond || m.End.Sub(m.Start) != m.Duration {
					t.Errorf("length %v, from %v to %v", m.Duration, m.Start, m.End)
				}
			},
		},
		"end far too late": {
			edit: func(info map[string]any, p []map[string]any) { info["gameEndTimestamp"] = 1750868190000 + 5*3600_000 },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if m.End.Sub(m.Start) != 30*time.Minute || m.Duration != 30*time.Minute {
					t.Errorf("length %v, from %v to %v", m.Duration, m.Start, m.End)
				}
			},
		},
		"no start": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameStartTimestamp"], info["gameCreation"] = 0, 0
			},
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if !m.End.Equal(time.UnixMilli(1750869990500)) || m.End.Sub(m.Start) != 30*time.Minute {
					t.Errorf("from %v to %v", m.Start, m.End)
				}
			},
		},
		"timePlayed is missing": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "timePlayed", nil, nil) },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if !m.End.Equal(time.UnixMilli(1750869990500)) {
					t.Errorf("end %v", m.End)
				}
			},
		},
		"floats and nulls": {
			edit: func(info map[string]any, p []map[string]any) {
				info["gameDuration"], info["queueId"] = 1800.0, json.RawMessage("4.2e2")
				each(p, "kills", 7.0000001)
				each(p, "championName", json.RawMessage("null"))
				each(p, "assists", json.RawMessage("null"))
				each(p, "deaths", -1)
			},
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if m.Queue != 420 || p.Kills != 7 || p.Assists != 0 || p.Deaths != 0 || p.ChampionName != "" {
					t.Errorf("queue %d, %+v", m.Queue, p)
				}
			},
		},
		"afk": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "teamPosition", "AFK") },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.Position != "" {
					t.Errorf("position %q", p.Position)
				}
			},
		},
		"damage level": {
			edit: func(info map[string]any, p []map[string]any) { each(p, "totalDamageDealtToChampions", 5) },
			want: []riot.Outcome{loss, loss, win, win},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				for i, q := range m.Participants {
					if q.TopDamage {
						t.Errorf("player %d has the top damage", i)
					}
				}
			},
		},
		"alone": {
			edit: func(info map[string]any, p []map[string]any) { info["participants"] = p[:1] },
			want: []riot.Outcome{none},
			check: func(t *testing.T, m *riot.Match, p riot.Participant) {
				if p.TopDamage {
					t.Error("the top damage of a team of one")
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := riot.DecodeMatch("KR_1", body(t, tt.edit))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, outcomes(m)); diff != "" {
				t.Errorf("outcomes (-want +got)\n%s", diff)
			}
			if tt.check != nil {
				tt.check(t, m, m.Participants[0])
			}
			checkMatch(t, m)
		})
	}
}

func TestDecodeMatchRefuses(t *testing.T) {
	t.Parallel()
	whole := body(t, nil)
	for name, tt := range map[string]struct {
		body    []byte
		aborted bool
	}{
		"empty":                  {nil, false},
		"HTML":                   {[]byte("<html>Bad Gateway</html>"), false},
		"null":                   {[]byte("null"), false},
		"an error inside":        {[]byte(`{"status":{"message":"Internal server error","status_code":500}}`), false},
		"an empty object":        {[]byte(`{}`), false},
		"null info":              {[]byte(`{"metadata":{"matchId":"KR_1"},"info":null}`), false},
		"a list":                 {[]byte(`[]`), false},
		"cut":                    {whole[:len(whole)-1], false},
		"cut early":              {whole[:100], false},
		"another behind it":      {append(append([]byte{}, whole...), whole...), false},
		"text for a number":      {[]byte(`{"info":{"queueId":"x","participants":[{}]}}`), false},
		"no time":                {[]byte(`{"info":{"queueId":1,"participants":[{}]}}`), false},
		"more than any mode has": {[]byte(`{"info":{"gameStartTimestamp":1750868190000,"gameDuration":1,"participants":[{}` + strings.Repeat(",{}", 64) + `]}}`), false},
		"aborted": {body(t, func(info map[string]any, _ []map[string]any) {
			info["participants"], info["gameId"], info["queueId"], info["gameMode"] = []any{}, 0, 0, ""
			info["endOfGameResult"] = "Abort_Unexpected"
		}), true},
		"aborted in 2022": {[]byte(`{"metadata":{"matchId":"KR_1","participants":["a"]},"info":{"gameEndTimestamp":1709066369858}}`), true},
	} {
		m, err := riot.DecodeMatch("KR_1", tt.body)
		if err == nil {
			t.Errorf("%s: got %+v, want an error", name, m)
		} else if got := riot.IsKind(err, riot.KindAborted); got != tt.aborted {
			t.Errorf("%s: %v: aborted is %v, want %v", name, err, got, tt.aborted)
		}
	}
}

func FuzzDecodeMatch(f *testing.F) {
	f.Add(body(f, nil))
	f.Add(body(f, func(info map[string]any, p []map[string]any) {
		info["gameMode"] = "CHERRY"
		each(p, "placement", 1, 1, 2, 2)
		each(p, "playerSubteamId", 2, 2, 1, 1)
	}))
	f.Add([]byte(`{"gameStartTimestamp":1,"participants":[{"puuid":null,"championName":"A_B_"}]}`))
	f.Add([]byte(`{"info":{"gameEndTimestamp":1e15,"gameDuration":-1,"participants":[{"timePlayed":1e308},{"placement":9}]}}`))
	names, _ := filepath.Glob(filepath.Join(fixtures, "match_*.json"))
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && len(b) < 32<<10 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := riot.DecodeMatch("", b); err == nil {
			checkMatch(t, m)
		}
	})
}

func BenchmarkDecodeMatch(b *testing.B) {
	for _, name := range []string{"match_ranked_solo_420_v15.13_KR.json", "match_arena_1700_v15.23_16p_NA1.json"} {
		b.Run(name, func(b *testing.B) {
			body := fixture(b, name)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := riot.DecodeMatch("", body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
