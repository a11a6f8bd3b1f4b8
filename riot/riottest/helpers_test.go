package riottest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"riftchime/riot/riottest"
)

const key = "RGAPI-one"

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// caller calls a server under one key.
type caller struct {
	server *riottest.Server
	key    string
}

func (c caller) try(ctx context.Context, route, path string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+route+".api.riotgames.com"+path, nil)
	if err != nil {
		return answer{}, err
	}
	if c.key != "" {
		req.Header.Set("X-Riot-Token", c.key)
	}
	resp, err := (&http.Client{Transport: c.server.Transport()}).Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body}, err
}

func (c caller) get(t *testing.T, route, path string) answer {
	t.Helper()
	a, err := c.try(t.Context(), route, path)
	if err != nil {
		t.Fatalf("GET %s on %s: %v", path, route, err)
	}
	return a
}

// json reads a 200.
func (c caller) json(t *testing.T, route, path string, into any) {
	t.Helper()
	a := c.get(t, route, path)
	if a.status != http.StatusOK {
		t.Fatalf("GET %s on %s: %d %s", path, route, a.status, a.body)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("GET %s on %s: %v in %s", path, route, err, a.body)
	}
}

func (c caller) ids(t *testing.T, route string, p riottest.PlayerID, query string) []string {
	t.Helper()
	var ids []string
	c.json(t, route, "/lol/match/v5/matches/by-puuid/"+c.server.PUUID(c.key, p)+"/ids"+query, &ids)
	return ids
}

// entry is what is compared of a rank.
type entry struct {
	QueueType    string `json:"queueType"`
	Tier         string `json:"tier"`
	Rank         string `json:"rank"`
	LeaguePoints int    `json:"leaguePoints"`
	Wins         int    `json:"wins"`
	Losses       int    `json:"losses"`
}

func (c caller) entries(t *testing.T, route string, p riottest.PlayerID) map[string]entry {
	t.Helper()
	var list []entry
	c.json(t, route, "/lol/league/v4/entries/by-puuid/"+c.server.PUUID(c.key, p), &list)
	all := make(map[string]entry)
	for _, e := range list {
		all[e.QueueType] = e
	}
	return all
}

func byRiotID(name, tag string) string {
	return "/riot/account/v1/accounts/by-riot-id/" + url.PathEscape(name) + "/" + url.PathEscape(tag)
}

func addPlayer(t *testing.T, s *riottest.Server, riotID, platform string) riottest.PlayerID {
	t.Helper()
	at := strings.LastIndex(riotID, "#")
	return add(t, s, riottest.Player{GameName: riotID[:at], TagLine: riotID[at+1:], Platform: platform})
}

func add(t *testing.T, s *riottest.Server, p riottest.Player) riottest.PlayerID {
	t.Helper()
	id, err := s.AddPlayer(p)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func addGame(t *testing.T, s *riottest.Server, g riottest.Game) string {
	t.Helper()
	id, err := s.AddGame(g)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
