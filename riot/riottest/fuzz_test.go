package riottest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"riftchime/riot/riottest"
)

// Whatever is asked for, the answer is one of Riot's, and JSON.
func FuzzPath(f *testing.F) {
	for _, path := range []string{
		"/", "", "//", "/kr/lol/status/v4/platform-data", "/asia" + byRiotID("a/b %#?", "한글"), "/asia/lol/match/v5/matches/KR_1",
		"/asia/lol/match/v5/matches/by-puuid/x/ids", "/europe/riot/account/v1/region/by-game/lol/by-puuid/\xff\"\\\x00",
	} {
		f.Add(path, "count=1&startTime=2&type=ranked")
	}
	s := riottest.NewServer(riottest.Options{})
	if _, err := s.Populate(5, 1); err != nil {
		f.Fatal(err)
	}
	s.SetLimits("", riottest.Limits{App: "1000000000:1"})
	f.Fuzz(func(t *testing.T, path, query string) {
		r := &http.Request{Method: http.MethodGet, Host: "localhost", URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{"X-Riot-Token": {key}}}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r.WithContext(t.Context()))
		if len(path) > 5 && path[:5] == "/_sim" || len(path) > 7 && path[:8] == "/ddragon" {
			return
		}
		if !slices.Contains([]int{200, 400, 403, 404, 405, 429}, w.Code) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %q", path, w.Code, w.Body)
		}
	})
}
