package riottest_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"riftchime/riot/riottest"
)

// BenchmarkAnswer is what a call costs the server, beside its transport.
func BenchmarkAnswer(b *testing.B) {
	for _, c := range []struct {
		name string
		full bool
		path func(puuid, match string) string
	}{
		{"match", false, func(_, m string) string { return "/asia/lol/match/v5/matches/" + m }},
		{"match-full", true, func(_, m string) string { return "/asia/lol/match/v5/matches/" + m }},
		{"ids", false, func(p, _ string) string {
			return "/asia/lol/match/v5/matches/by-puuid/" + p + "/ids?count=100&startTime=1"
		}},
		{"league", false, func(p, _ string) string { return "/kr/lol/league/v4/entries/by-puuid/" + p }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := riottest.NewServer(riottest.Options{FullBodies: c.full, Limits: riottest.Limits{App: "1000000000:600"}})
			rank := &riottest.Rank{Tier: "GOLD", Division: "I"}
			p, err := s.AddPlayer(riottest.Player{GameName: "One", TagLine: "KR1", Platform: "kr", Solo: rank})
			if err != nil {
				b.Fatal(err)
			}
			match := ""
			for range 20 {
				if match, err = s.Play(420, "", p); err != nil {
					b.Fatal(err)
				}
			}
			s.SetLimits("", riottest.Limits{App: "1000000000:600", Methods: map[string]string{"match": "", "ids": "", "league": ""}})
			req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, c.path(s.PUUID(key, p), match), nil)
			req.Header.Set("X-Riot-Token", key)
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, req)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
