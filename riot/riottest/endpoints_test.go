package riottest_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/riot/riottest"
)

func TestAccountByRiotID(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	names := []string{
		"Plain#KR1", "두 단어#한국", "a b  c#EUW", "sla/sh#1/2", "per%cent#100%", "ques?tion#why?",
		"ha#sh#TAG", "plus+and&#a=b", "é#ø", "😀#🎉1", "..#...",
	}
	for _, name := range names {
		addPlayer(t, s, name, "kr")
	}
	for i, name := range names {
		at := strings.LastIndex(name, "#")
		game, tag := name[:at], name[at+1:]
		want := map[string]any{"puuid": s.PUUID(key, riottest.PlayerID(i+1)), "gameName": game, "tagLine": tag}
		if game != ".." { // a client would take the step
			for _, spelt := range []string{game, strings.ToUpper(game), strings.ReplaceAll(game, " ", "")} {
				var got map[string]any
				c.json(t, "asia", byRiotID(spelt, tag), &got)
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("%q (-got +want):\n%s", spelt+"#"+tag, diff)
				}
			}
		}
		var got map[string]any
		c.json(t, "europe", "/riot/account/v1/accounts/by-puuid/"+want["puuid"].(string), &got)
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%q by puuid (-got +want):\n%s", name, diff)
		}
	}
	a := c.get(t, "asia", byRiotID("No \"One", "KR1"))
	if want := `{"status":{"status_code":404,"message":"Data not found - No results found for player with riot id No \"One#KR1"}}`; a.status != 404 || string(a.body) != want {
		t.Errorf("unknown: %d %s, want 404 %s", a.status, a.body, want)
	}
	nameless := add(t, s, riottest.Player{GameName: "Hidden", TagLine: "KR1", Platform: "kr", Nameless: true})
	var got map[string]any
	c.json(t, "asia", "/riot/account/v1/accounts/by-puuid/"+s.PUUID(key, nameless), &got)
	if len(got) != 1 {
		t.Errorf("nameless: %v, want the puuid alone", got)
	}
}

func TestPUUIDs(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	again := riottest.NewServer(riottest.Options{Seed: 5})
	seen := make(map[string]bool)
	for i := range 200 {
		p := addPlayer(t, s, fmt.Sprintf("P%d#KR1", i), "kr")
		for _, k := range []string{key, "RGAPI-two"} {
			id := s.PUUID(k, p)
			if len(id) != 78 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Fatalf("PUUID %q", id)
			}
			if seen[id] {
				t.Fatalf("PUUID %q twice", id)
			}
			seen[id] = true
			if again.PUUID(k, p) != id {
				t.Fatal("a PUUID depends on more than key and player")
			}
		}
	}
	foreign := s.PUUID("RGAPI-two", 1)
	for _, id := range []string{foreign, "BOT", strings.Repeat("A", 78), s.PUUID(key, 1)[:77] + "*"} {
		for _, on := range []struct{ route, path string }{
			{"kr", "/lol/summoner/v4/summoners/by-puuid/%s"},
			{"kr", "/lol/league/v4/entries/by-puuid/%s"},
			{"asia", "/riot/account/v1/accounts/by-puuid/%s"},
			{"asia", "/riot/account/v1/region/by-game/lol/by-puuid/%s"},
			{"asia", "/lol/match/v5/matches/by-puuid/%s/ids"},
		} {
			a := caller{s, key}.get(t, on.route, fmt.Sprintf(on.path, url.PathEscape(id)))
			want := `{"status":{"message":"Bad Request - Exception decrypting ` + id + `","status_code":400}}`
			if a.status != 400 || string(a.body) != want {
				t.Errorf(on.path+": %d %s, want %s", id, a.status, a.body, want)
			}
		}
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	regionOf := map[string]string{
		"br1": "americas", "la1": "americas", "la2": "americas", "na1": "americas",
		"kr": "asia", "jp1": "asia",
		"eun1": "europe", "euw1": "europe", "me1": "europe", "tr1": "europe", "ru": "europe",
		"oc1": "sea", "sg2": "sea", "tw2": "sea", "vn2": "sea",
	}
	regions := []string{"americas", "asia", "europe", "sea"}
	for platform, home := range regionOf {
		p := add(t, s, riottest.Player{GameName: platform, TagLine: "TAG", Platform: platform, Solo: &riottest.Rank{Tier: "gold", Division: "ii", LP: 5}})
		id := s.PUUID(key, p)
		game := addGame(t, s, riottest.Game{Queue: 420, Seats: []riottest.Seat{{Player: p}}})
		for _, region := range regions {
			wantIDs, wantStatus, wantAccount := []string{}, 404, 200
			if region == home {
				wantIDs, wantStatus = []string{game}, 200
			}
			if region == "sea" {
				wantAccount = 403
			}
			if got := c.ids(t, region, p, ""); !slices.Equal(got, wantIDs) {
				t.Errorf("ids of %s on %s: %v, want %v", platform, region, got, wantIDs)
			}
			if a := c.get(t, region, "/lol/match/v5/matches/"+game); a.status != wantStatus {
				t.Errorf("match of %s on %s: %d, want %d", platform, region, a.status, wantStatus)
			}
			a := c.get(t, region, "/riot/account/v1/region/by-game/lol/by-puuid/"+id)
			if want := fmt.Sprintf(`{"puuid":%q,"game":"lol","region":%q}`, id, platform); a.status != wantAccount || a.status == 200 && string(a.body) != want {
				t.Errorf("region of %s on %s: %d %s", platform, region, a.status, a.body)
			}
		}
		for on := range regionOf {
			want := 404
			if on == platform {
				want = 200
			}
			for _, path := range []string{"/lol/summoner/v4/summoners/by-puuid/", "/lol/league/v4/entries/by-puuid/"} {
				if a := c.get(t, on, path+id); a.status != want {
					t.Errorf("%s of %s on %s: %d, want %d", path, platform, on, a.status, want)
				}
			}
		}
	}
	before := s.Stats().UnknownPaths
	for _, wrong := range []struct{ route, path string }{
		{"kr", "/lol/match/v5/matches/KR_1"},
		{"asia", "/lol/league/v4/entries/by-puuid/x"},
		{"kr", "/riot/account/v1/accounts/by-puuid/x"},
		{"kr", "/lol/league/v4/entries/by-summoner/x"},
		{"asia", "/riot/account/v1/region/by-game/val/by-puuid/x"},
		{"kr", "/"},
		{"kr", "/lol/status/v4/platform-data/"},
		{"ph2", statusPath},
		{"asia", "/lol/match/v5/matches/by-puuid//ids"},
	} {
		a := c.get(t, wrong.route, wrong.path)
		if a.status != 403 || string(a.body) != `{"status":{"message":"Forbidden","status_code":403}}` {
			t.Errorf("%s on %s: %d %s, want 403", wrong.path, wrong.route, a.status, a.body)
		}
	}
	if got := s.Stats().UnknownPaths - before; got != 9 {
		t.Errorf("%d unknown paths, want 9", got)
	}
}

func TestMatchIDParameters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := riottest.NewServer(riottest.Options{})
		c := caller{s, key}
		p := addPlayer(t, s, "One#KR1", "kr")
		now := time.Now()
		const games = 130
		want := make([]string, games)
		queues := []int{420, 440, 450, 1700, 0}
		for i := range games { // newest first in want
			want[i] = addGame(t, s, riottest.Game{
				Queue: queues[i%len(queues)], End: now.Add(-time.Duration(i) * time.Hour),
				Length: riottest.Duration(30 * time.Minute), Seats: []riottest.Seat{{Player: p}},
			})
		}
		every := func(keep func(i int) bool) []string {
			all := []string{}
			for i, id := range want {
				if keep(i) {
					all = append(all, id)
				}
			}
			return all
		}
		// A game is made 30 min 40 s before its end.
		made := func(i int) int64 {
			return now.Add(-time.Duration(i)*time.Hour - 30*time.Minute - 40*time.Second).Unix()
		}
		for _, q := range []struct {
			query string
			want  []string
		}{
			{"", want[:20]},
			{"?count=100", want[:100]},
			{"?count=0", []string{}},
			{"?start=100&count=100", want[100:]},
			{"?start=130", []string{}},
			{fmt.Sprint("?count=100&startTime=", made(10)), want[:11]},
			{fmt.Sprint("?count=100&startTime=", made(10)+1), want[:10]},
			{fmt.Sprint("?count=100&startTime=", made(10), "&endTime=", made(5)), want[5:11]},
			{fmt.Sprint("?startTime=", now.UnixMilli()), []string{}}, // milliseconds
			{"?count=100&queue=1700", every(func(i int) bool { return i%5 == 3 })},
			{"?count=100&type=ranked", every(func(i int) bool { return i%5 < 2 })},
			{"?count=100&type=normal", every(func(i int) bool { return i%5 == 2 || i%5 == 3 })},
			{"?count=100&type=ranked&queue=450", []string{}},
			{"?count=2&beginTime=5&x=y", want[:2]},
		} {
			if diff := cmp.Diff(c.ids(t, "asia", p, q.query), q.want); diff != "" {
				t.Errorf("%q (-got +want):\n%s", q.query, diff)
			}
		}
		for _, bad := range []string{"count=101", "count=-1", "count=x", "start=-1", "startTime=x", "type=arena", "queue=x", "endTime=1.5"} {
			if a := c.get(t, "asia", "/lol/match/v5/matches/by-puuid/"+s.PUUID(key, p)+"/ids?"+bad); a.status != 400 {
				t.Errorf("%s: %d, want 400", bad, a.status)
			}
		}

		ignoring := riottest.NewServer(riottest.Options{IgnoreStartTime: true})
		q := addPlayer(t, ignoring, "One#KR1", "kr")
		old := addGame(t, ignoring, riottest.Game{Queue: 420, End: now.Add(-time.Hour), Seats: []riottest.Seat{{Player: q}}})
		if got := (caller{ignoring, key}).ids(t, "asia", q, fmt.Sprint("?startTime=", now.Unix())); !slices.Equal(got, []string{old}) {
			t.Errorf("with IgnoreStartTime: %v, want %s", got, old)
		}
	})
}

func TestAccountsWithoutLeague(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	id := s.PUUID(key, add(t, s, riottest.Player{GameName: "Riot", TagLine: "VAL", Platform: "kr", NoLoL: true}))
	for _, on := range []struct {
		route, path string
		status      int
	}{
		{"asia", "/riot/account/v1/accounts/by-puuid/" + id, 200},
		{"asia", "/riot/account/v1/region/by-game/lol/by-puuid/" + id, 500},
		{"kr", "/lol/summoner/v4/summoners/by-puuid/" + id, 404},
	} {
		if a := c.get(t, on.route, on.path); a.status != on.status {
			t.Errorf("%s: %d, want %d", on.path, a.status, on.status)
		}
	}
}

func TestStrangersCanBeAskedFor(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	c := caller{s, key}
	for i, platform := range []string{"br1", "kr", "vn2"} {
		p := addPlayer(t, s, fmt.Sprintf("One#%d00", i+1), platform)
		region := map[string]string{"br1": "americas", "kr": "asia", "vn2": "sea"}[platform]
		var m match
		c.json(t, region, "/lol/match/v5/matches/"+addGame(t, s, riottest.Game{Queue: 420, Seats: []riottest.Seat{{Player: p}}}), &m)
		for _, participant := range m.Info.Participants[1:] {
			var account struct{ PUUID, GameName, TagLine string }
			c.json(t, "asia", byRiotID(participant.RiotIDGameName, participant.RiotIDTagline), &account)
			if account.PUUID != participant.PUUID || account.GameName != participant.RiotIDGameName {
				t.Fatalf("stranger %+v is %+v", participant, account)
			}
			for _, path := range []string{"/lol/summoner/v4/summoners/by-puuid/", "/lol/league/v4/entries/by-puuid/"} {
				if a := c.get(t, platform, path+participant.PUUID); a.status != 200 {
					t.Fatalf("stranger on %s: %d %s", platform, a.status, a.body)
				}
			}
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	s.SetNotices("kr", []string{"Tonight"}, []string{"Ranked is off", "Shop"})
	type status struct {
		ID                      string
		Maintenances, Incidents []struct {
			Titles []struct{ Locale, Content string }
		}
	}
	var got status
	caller{s, key}.json(t, "kr", statusPath, &got)
	if got.ID != "KR" || len(got.Maintenances) != 1 || len(got.Incidents) != 2 || got.Incidents[0].Titles[1].Content != "Ranked is off" {
		t.Errorf("%+v", got)
	}
	var raw map[string]json.RawMessage
	caller{s, key}.json(t, "euw1", statusPath, &raw)
	if string(raw["incidents"]) != "[]" || string(raw["maintenances"]) != "[]" {
		t.Errorf("a quiet platform: %s", raw)
	}
}
