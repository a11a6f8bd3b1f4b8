package hour_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riftchime/bot/hour"
	"riftchime/bot/render"
	"riftchime/bot/report"
	"riftchime/riot"
	"riftchime/store"
)

// fixtureLines says, for each real match body by how its file's name begins,
// the line of a report about its first player. They were written by hand, from
// the bodies. A body that can't be told has none.
var fixtureLines = map[string]string{
	"match_aborted_empty_info":        "",
	"match_aram_450_v15.13":           "🟥 Loss · Chogath 8/8/13 · 18 CS (1.0/min) · ARAM · 17:50",
	"match_arena_1700_v13.14":         "⬜ Arena · Shaco 6/6/2 · 16:50",
	"match_arena_1700_v15.23":         "🟥 7th of 8 · Veigar 4/7/4 · Arena · 21:39 · top damage",
	"match_arena_1710_v14.9":          "🟦 3rd of 8 · Lillia 5/6/11 · Arena · 25:08 · top damage",
	"match_clash_700_v12.5":           "🟦 Win · Zilean (mid) 5/2/7 · 188 CS (7.2/min) · Clash · 26:07",
	"match_complete_but_flagged":      "🟦 Win · Yorick (top) 3/5/3 · 231 CS (8.3/min) · Solo/Duo · 27:48",
	"match_coop_vs_ai_850":            "🟦 Win · Thresh 0/2/7 · 33 CS (1.9/min) · Co-op vs. AI · 17:37",
	"match_info_only_esports":         "", // nobody in it has a PUUID to be followed by
	"match_normal_quickplay_490":      "🟦 Win · Kayle (top) 6/3/3 · 278 CS (10.4/min) · Quickplay · 26:48 (surrender)",
	"match_ranked_flex_440_v14.5":     "🟥 Loss · Poppy (top) 10/4/4 · 244 CS (6.9/min) · Flex · 35:21 · top damage",
	"match_ranked_solo_420_v11.16":    "🟥 Loss · Illaoi (top) 6/9/8 · 197 CS (6.0/min) · Solo/Duo · 32:45",
	"match_ranked_solo_420_v14.6_TH2": "🟦 Win · Darius (top) 3/4/5 · 125 CS (5.7/min) · Solo/Duo · 22:06 (surrender)",
	"match_ranked_solo_420_v15.13":    "🟥 Loss · Gragas (top) 1/5/1 · 144 CS (7.2/min) · Solo/Duo · 20:05 (surrender)",
	"match_ranked_solo_420_v16.4":     "🟥 Loss · Gragas (top) 3/6/7 · 213 CS (7.7/min) · Solo/Duo · 27:50 · top damage",
	"match_remake_420_v12.20":         "⬜ Remake · Aatrox (top) 0/0/0 · Solo/Duo · 03:23",
	"match_swarm_1820_duo":            "🟥 Loss · Xayah 0/2/0 · Swarm · 16:52",
	"match_swiftplay_480_v15.1":       "🟦 Win · Sett (top) 8/4/3 · 125 CS (5.6/min) · Swiftplay · 22:13",
	"match_urf_900_v13.3":             "🟥 Loss · Shaco 5/9/7 · 77 CS (3.7/min) · URF · 20:56",
}

// TestFixtures renders every real match body, with its first player followed,
// and checks it against a line written by hand. The bodies are not part of the
// project: where they are not beside it, the bodies of riot's own tests and the
// goldens of render cover the kinds.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../../../shared/fixtures/riot/match_*.json")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "match_ids") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var want string
			known := false
			for prefix, line := range fixtureLines {
				if strings.HasPrefix(name, prefix) {
					want, known, told[prefix] = line, true, true
				}
			}
			if !known {
				t.Fatal("no line was written for this body")
			}
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, err := riot.DecodeMatch("", body)
			if err != nil {
				if want != "" {
					t.Fatal(err)
				}
				if !riot.IsKind(err, riot.KindAborted) {
					t.Errorf("refused with %v, want a stated reason", err)
				}
				return
			}
			s := hour.Stored(m, "k")
			first := s.Participants[0]
			if want == "" {
				if first.PUUID != "" {
					t.Errorf("player 0 can be followed, want a line")
				}
				return
			}
			game := store.Game{
				Player: 1, Match: s.ID, Platform: s.Platform, Queue: s.Queue, Mode: s.Mode, Map: s.Map,
				Start: s.Start, End: s.End, Duration: s.Duration, Participant: first,
			}
			if !game.End.After(game.Start) || game.End.Sub(game.Start) > game.Duration+15*time.Minute {
				t.Errorf("from %s to %s, of %s", game.Start, game.End, game.Duration)
			}
			slot := game.End.Truncate(time.Hour).Add(time.Hour)
			facts := store.Facts{
				Channel: store.Channel{ID: 1, Zone: "UTC", Language: "en"},
				Follows: []store.Follow{{Player: store.Player{ID: 1, GameName: "Somebody", TagLine: "TAG"}}},
				Games:   []store.Game{game},
			}
			msgs, err := render.Render(report.Compose(report.Input{Facts: facts, Slot: slot, From: slot.Add(-time.Hour), Now: slot}),
				render.Options{Language: "en", Zone: time.UTC, Names: plainNames{}})
			if err != nil || len(msgs) != 1 {
				t.Fatalf("%d messages, %v", len(msgs), err)
			}
			if text := render.Text(msgs[0]); !strings.Contains("\n"+text+"\n", "\n"+want+"\n") {
				t.Errorf("got\n%s\nwant the line\n%s", text, want)
			}
		})
	}
	for prefix := range fixtureLines {
		if len(files) > 0 && !told[prefix] {
			t.Errorf("no body begins with %s", prefix)
		}
	}
}
