package riottest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"riftchime/riot/riottest"
)

// The server as a process of its own is reached: over a socket, the route as the
// first segment.
func TestOverASocket(t *testing.T) {
	t.Parallel()
	s := riottest.NewServer(riottest.Options{})
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	do := func(method, path, body string, status int) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, listener.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Riot-Token", key)
		resp, err := listener.Client().Do(req)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Fatalf("%s %s: %d %s %v, want %d", method, path, resp.StatusCode, got, err, status)
		}
		return strings.TrimSpace(string(got))
	}
	is := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	is(do("POST", "/_sim/players", `{"gameName":"한글 이름","tagLine":"a/b","platform":"kr","solo":{"tier":"GOLD","division":"II","lp":5,"wins":1,"losses":2}}`, 200), `{"players":[1]}`)
	is(do("POST", "/_sim/players", `[{"gameName":"Two","tagLine":"KR1","platform":"kr"},{"gameName":"Three","tagLine":"KR1","platform":"kr"}]`, 200), `{"players":[2,3]}`)
	var account struct{ PUUID, GameName string }
	if err := json.Unmarshal([]byte(do("GET", "/asia"+byRiotID("한글이름", "a/b"), "", 200)), &account); err != nil || account.GameName != "한글 이름" {
		t.Errorf("%+v %v", account, err)
	}
	do("POST", "/_sim/games", `{"id":"KR_77","queue":420,"length":"27m30s","seats":[{"riotId":"한글 이름#a/b","result":"win","lp":20},{"player":2}]}`, 200)
	is(do("GET", "/asia/lol/match/v5/matches/by-puuid/"+account.PUUID+"/ids?count=5", "", 200), `["KR_77"]`)
	if body := do("GET", "/asia/lol/match/v5/matches/KR_77", "", 200); !strings.Contains(body, `"gameDuration":1650`) {
		t.Errorf("match: %s", body)
	}
	if body := do("GET", "/kr/lol/league/v4/entries/by-puuid/"+account.PUUID, "", 200); !strings.Contains(body, `"leaguePoints":25,"wins":2,"losses":2`) {
		t.Errorf("league: %s", body)
	}
	if body := do("PATCH", "/_sim/players/1", `{"gameName":"New","platform":"euw1","solo":null}`, 200); !strings.Contains(body, `"gameName":"New","tagLine":"a/b","platform":"euw1"`) || strings.Contains(body, `"solo"`) {
		t.Errorf("changed: %s", body)
	}
	do("PATCH", "/_sim/players/2", `{"frozenUntil":"2999-01-01T00:00:00Z"}`, 200)
	do("POST", "/_sim/games", `{"id":"KR_78","queue":450,"seats":[{"player":2}]}`, 200)
	is(do("GET", "/asia/lol/match/v5/matches/by-puuid/"+s.PUUID(key, 2)+"/ids", "", 200), `["KR_77"]`)
	is(do("POST", "/_sim/faults", `{"kind":"limited","limitType":"service","count":1}`, 200), `{"faults":[1]}`)
	do("GET", "/kr"+statusPath, "", 429)
	do("GET", "/kr"+statusPath, "", 200)
	is(do("POST", "/_sim/faults", `[{"kind":"status","delay":"1ms"},{"kind":"status","route":"jp1"}]`, 200), `{"faults":[2,3]}`)
	do("GET", "/kr"+statusPath, "", 500)
	do("DELETE", "/_sim/faults/2", "", 200)
	do("DELETE", "/_sim/faults/2", "", 400)
	do("GET", "/kr"+statusPath, "", 200)
	do("GET", "/jp1"+statusPath, "", 500)
	do("DELETE", "/_sim/faults", "", 200)
	do("GET", "/jp1"+statusPath, "", 200)
	do("POST", "/_sim/status/kr", `{"incidents":["Down"]}`, 200)
	if body := do("GET", "/kr"+statusPath, "", 200); !strings.Contains(body, "Down") {
		t.Errorf("status: %s", body)
	}
	do("POST", "/_sim/limits", `{"app":"1:60"}`, 200)
	do("GET", "/br1"+statusPath, "", 200)
	do("GET", "/br1"+statusPath, "", 429)

	var stats riottest.Stats
	if err := json.Unmarshal([]byte(do("GET", "/_sim/stats", "", 200)), &stats); err != nil {
		t.Fatal(err)
	}
	if stats.Requests != 14 || stats.Refused["application"] != 1 || stats.ByMethod[riottest.MethodStatus] != 9 || stats.UnknownPaths != 0 {
		t.Errorf("stats: %+v", stats)
	}
	is(do("POST", "/_sim/reset", "", 200), `{}`)
	if err := json.Unmarshal([]byte(do("GET", "/_sim/stats", "", 200)), &stats); err != nil || stats.Requests != 0 {
		t.Errorf("after a reset: %+v %v", stats, err)
	}
	do("POST", "/_sim/populate", `{"players":12,"seed":3}`, 200)
	var world struct {
		Players []riottest.Known
		Groups  []riottest.Group
		Games   int
	}
	if err := json.Unmarshal([]byte(do("GET", "/_sim/world", "", 200)), &world); err != nil || len(world.Players) != 15 || len(world.Groups) < 2 || world.Games != 2 || world.Players[1].Games[0] != "KR_78" {
		t.Errorf("world: %+v %v", world, err)
	}
	do("PATCH", "/_sim/players/99", `{}`, 400)
	do("PATCH", "/_sim/players/one", `{}`, 400)
	for path, body := range map[string]string{
		"/_sim/players":   `{"gameName":"x","tagLine":"y","platform":"mars"}`,
		"/_sim/games":     `{"queue":420,"seats":[{"riotid":"x","nonsense":1}]}`,
		"/_sim/faults":    `{"kind":"nonsense"}`,
		"/_sim/limits":    `{"app":"many"}`,
		"/_sim/populate":  `{"players":0}`,
		"/_sim/reset":     `{"everything":true}`,
		"/_sim/status/xx": `{}`,
	} {
		if got := do("POST", path, body, 400); !strings.HasPrefix(got, `{"error":"`) {
			t.Errorf("%s: %s", path, got)
		}
	}
	do("GET", "/_sim/nothing", "", 404)
	do("GET", "/lol/status/v4/platform-data", "", 403)
	do("POST", "/kr"+statusPath, "", 405)
	for _, path := range []string{"/ddragon/api/versions.json", "/ddragon/cdn/16.4.1/img/champion/Ahri.png"} {
		do("GET", path, "", 200)
	}

	// A connection that is cut, over a real one.
	s.SetLimits("", riottest.ProductionLimits())
	for kind, whole := range map[riottest.FaultKind]bool{riottest.FaultReset: false, riottest.FaultCut: false, riottest.FaultNone: true} {
		s.ClearFaults()
		s.AddFault(riottest.Fault{Kind: kind})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listener.URL+"/kr"+statusPath, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Riot-Token", key)
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if (err == nil) != whole {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
