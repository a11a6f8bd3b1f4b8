package riottest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// question is a request that has been read. Its method is empty where the path
// does not exist on that host.
type question struct {
	method string
	route  string
	verb   string
	// name and tag are a Riot ID, puuid and match what they are called.
	name, tag string
	puuid     string
	match     string
	game      string
	query     url.Values
}

// parseQuestion reads the paths of https://developer.riotgames.com/apis that are
// served here.
func parseQuestion(r *http.Request, route string, path []string) question {
	q := question{route: route, verb: r.Method}
	is := func(pattern ...string) bool {
		if len(path) != len(pattern) {
			return false
		}
		for i, p := range pattern {
			if path[i] == "" || p != "*" && p != path[i] {
				return false
			}
		}
		return true
	}
	switch {
	case servesAccounts(route) && is("riot", "account", "v1", "accounts", "by-riot-id", "*", "*"):
		q.method, q.name, q.tag = MethodAccountByRiotID, path[5], path[6]
	case servesAccounts(route) && is("riot", "account", "v1", "accounts", "by-puuid", "*"):
		q.method, q.puuid = MethodAccountByPUUID, path[5]
	case servesAccounts(route) && is("riot", "account", "v1", "region", "by-game", "*", "by-puuid", "*") &&
		(path[5] == "lol" || path[5] == "tft"):
		q.method, q.game, q.puuid = MethodRegion, path[5], path[7]
	case isPlatform(route) && is("lol", "summoner", "v4", "summoners", "by-puuid", "*"):
		q.method, q.puuid = MethodSummoner, path[5]
	case isPlatform(route) && is("lol", "league", "v4", "entries", "by-puuid", "*"):
		q.method, q.puuid = MethodLeague, path[5]
	case isPlatform(route) && is("lol", "status", "v4", "platform-data"):
		q.method = MethodStatus
	case isRegion(route) && is("lol", "match", "v5", "matches", "by-puuid", "*", "ids"):
		q.method, q.puuid = MethodMatchIDs, path[5]
		q.query = r.URL.Query()
	case isRegion(route) && is("lol", "match", "v5", "matches", "*"):
		q.method, q.match = MethodMatch, path[4]
	}
	return q
}

// playerAsked is the player of the world that a question is about. The caller
// holds mu.
func (s *Server) playerAsked(q question, seal *sealer) PlayerID {
	switch {
	case q.name != "":
		return s.world.byName[nameKey(q.name, q.tag)]
	case q.puuid != "":
		if n, ok := seal.open(q.puuid); ok && s.world.player(n) != nil {
			return PlayerID(n)
		}
	}
	return 0
}

// lookUp answers a question. The caller holds mu.
func (s *Server) lookUp(q question, seal *sealer, now time.Time) reply {
	switch {
	case q.method == "":
		return problem(http.StatusForbidden, "Forbidden")
	case q.verb != http.MethodGet:
		return problem(http.StatusMethodNotAllowed, "Method not allowed")
	case q.method == MethodAccountByRiotID:
		return s.accountByRiotID(q, seal)
	case q.method == MethodStatus:
		return s.platformData(q.route)
	case q.method == MethodMatch:
		return s.matchByID(q, now)
	}

	n, ok := seal.open(q.puuid)
	if !ok {
		return problem(http.StatusBadRequest, "Bad Request - Exception decrypting "+q.puuid)
	}
	p := s.world.player(n)
	if p == nil {
		// Strangers can be met in matches, and nowhere is anything kept of them.
		if p = strangerByNumber(n); p == nil {
			return accountMissing("Data not found")
		}
	}
	switch q.method {
	case MethodAccountByPUUID:
		return account(p, n, seal)
	case MethodRegion:
		return activeRegion(p, q, seal, n)
	case MethodSummoner:
		return summoner(p, q.route, seal, n)
	case MethodLeague:
		return s.leagueEntries(p, q.route, seal, n)
	default:
		return s.matchIDs(p, q, now)
	}
}

// accountMissing has the order of fields in which account-v1 says so.
func accountMissing(message string) reply {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err) // a string
	}
	return reply{
		status: http.StatusNotFound,
		body:   append(append([]byte(`{"status":{"status_code":404,"message":`), text...), "}}"...),
	}
}

func (s *Server) accountByRiotID(q question, seal *sealer) reply {
	if id, ok := s.world.byName[nameKey(q.name, q.tag)]; ok {
		p := s.world.players[id-1]
		return account(p, uint64(id), seal)
	}
	if p, n := strangerByName(q.name, q.tag); p != nil {
		return account(p, n, seal)
	}
	return accountMissing("Data not found - No results found for player with riot id " + q.name + "#" + q.tag)
}

func account(p *player, n uint64, seal *sealer) reply {
	b := append(make([]byte, 0, 192), `{"puuid":"`...)
	b = append(seal.seal(b, n), '"')
	if !p.Nameless {
		b = appendString(append(b, `,"gameName":`...), p.GameName)
		b = appendString(append(b, `,"tagLine":`...), p.TagLine)
	}
	return reply{status: http.StatusOK, body: append(b, '}')}
}

func activeRegion(p *player, q question, seal *sealer, n uint64) reply {
	if p.NoLoL {
		return problem(http.StatusInternalServerError, "Internal server error")
	}
	b := append(make([]byte, 0, 160), `{"puuid":"`...)
	b = append(seal.seal(b, n), `","game":`...)
	b = appendString(b, q.game)
	b = appendString(append(b, `,"region":`...), p.Platform)
	return reply{status: http.StatusOK, body: append(b, '}')}
}

func summoner(p *player, route string, seal *sealer, n uint64) reply {
	if p.NoLoL || p.Platform != route {
		return problem(http.StatusNotFound, "Data not found - summoner not found")
	}
	b := append(make([]byte, 0, 192), `{"puuid":"`...)
	b = append(seal.seal(b, n), `","profileIconId":`...)
	b = strconv.AppendInt(b, int64(p.Icon), 10)
	b = append(b, `,"revisionDate":`...)
	b = strconv.AppendInt(b, p.revised.UnixMilli(), 10)
	b = append(b, `,"summonerLevel":`...)
	b = strconv.AppendInt(b, int64(p.Level), 10)
	return reply{status: http.StatusOK, body: append(b, '}')}
}

func (s *Server) leagueEntries(p *player, route string, seal *sealer, n uint64) reply {
	if p.NoLoL || p.Platform != route {
		return problem(http.StatusNotFound, "Data not found - summoner not found")
	}
	b := append(make([]byte, 0, 640), '[')
	entry := func(queue string, r Rank, tiered bool) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '{')
		if tiered {
			b = append(b, `"leagueId":"`...)
			b = appendLeagueID(b, queue, r)
			b = append(b, `",`...)
		}
		b = append(b, `"queueType":"`...)
		b = append(append(b, queue...), '"')
		if tiered {
			b = appendString(append(b, `,"tier":`...), r.Tier)
			b = appendString(append(b, `,"rank":`...), r.Division)
		}
		b = append(b, `,"puuid":"`...)
		b = seal.seal(b, n)
		b = fmt.Appendf(b, `","leaguePoints":%d,"wins":%d,"losses":%d,"veteran":%t,"inactive":false,"freshBlood":%t,"hotStreak":%t}`,
			r.LP, r.Wins, r.Losses, r.Wins+r.Losses > 100, r.Wins+r.Losses < 20, p.streak >= 3)
	}
	if p.arenaWins+p.arenaLosses > 0 {
		// Arena's entries have no tier, rank and league.
		entry("CHERRY", Rank{Wins: p.arenaWins, Losses: p.arenaLosses}, false)
	}
	solo, flex := p.solo.rank, p.flex.rank
	// The order is not fixed.
	if n%2 == 0 && flex != nil {
		entry(QueueFlex, *flex, true)
		flex = nil
	}
	if solo != nil {
		entry(QueueSolo, *solo, true)
	}
	if flex != nil {
		entry(QueueFlex, *flex, true)
	}
	return reply{status: http.StatusOK, body: append(b, ']')}
}

// appendLeagueID spells a UUID that is the same for all of one tier and queue.
func appendLeagueID(b []byte, queue string, r Rank) []byte {
	h := hash(uint64(len(queue)), uint64(tierIndex(r.Tier)))
	return fmt.Appendf(b, "%08x-%04x-4%03x-a%03x-%012x", uint32(h), uint16(h>>32), h>>48&0xfff, h>>52&0xfff, mix(h)&0xffffffffffff)
}

// matchIDs lists what was played in the platforms of the host's region: on a host
// of another region that is nothing, and no error. startTime and endTime are
// seconds and compared with the beginning of the game; parameters that are not
// known are passed over.
func (s *Server) matchIDs(p *player, q question, now time.Time) reply {
	number := func(name string, otherwise, most int64) (int64, bool) {
		text := q.query.Get(name)
		if text == "" {
			return otherwise, true
		}
		v, err := strconv.ParseInt(text, 10, 64)
		return v, err == nil && v >= 0 && v <= most
	}
	const far = 1 << 53
	count, ok1 := number("count", 20, 100)
	start, ok2 := number("start", 0, far)
	from, ok3 := number("startTime", 0, far)
	to, ok4 := number("endTime", far, far)
	queue, ok5 := number("queue", -1, far)
	for _, field := range []struct {
		name string
		ok   bool
	}{{"count", ok1}, {"start", ok2}, {"startTime", ok3}, {"endTime", ok4}, {"queue", ok5}} {
		if !field.ok {
			return problem(http.StatusBadRequest, "Bad Request - invalid value for "+field.name)
		}
	}
	kind := q.query.Get("type")
	switch kind {
	case "", "ranked", "normal", "tourney", "tutorial":
	default:
		return problem(http.StatusBadRequest, "Bad Request - invalid value for type")
	}
	if s.options.IgnoreStartTime {
		from = 0
	}

	asOf := now
	if now.Before(p.frozenUntil) {
		asOf = p.frozenAt
	}
	b := append(make([]byte, 0, 512), '[')
	list := func(id string) {
		switch {
		case start > 0:
			start--
			return
		case count == 0:
			return
		}
		count--
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), id...), '"')
	}
	for _, g := range p.games {
		if count == 0 {
			break
		}
		created := g.created().Unix()
		switch {
		case asOf.Before(g.listedAt),
			matchRegion[g.platform] != q.route,
			created < from, created > to,
			queue >= 0 && int64(g.queue) != queue,
			kind != "" && kind != typeOf(g.queue):
			continue
		}
		list(g.id)
		if g.twice {
			list(g.id)
		}
	}
	return reply{status: http.StatusOK, body: append(b, ']')}
}

// typeOf is a queue as the parameter "type" of a match list names it.
func typeOf(queue int) string {
	switch {
	case queue == 420 || queue == 440:
		return "ranked"
	case queue == 0 || queue == 700 || queue == 720:
		return "tourney"
	case queue >= 2000 && queue <= 2020:
		return "tutorial"
	}
	return "normal"
}

func (s *Server) matchByID(q question, now time.Time) reply {
	g := s.world.games[strings.ToUpper(q.match)]
	switch {
	case g == nil, g.missing, matchRegion[g.platform] != q.route, now.Before(g.end), now.Before(g.readableAt):
		return problem(http.StatusNotFound, "Data not found - match file not found")
	case g.forbidden:
		return problem(http.StatusForbidden, "Forbidden")
	}
	return reply{status: http.StatusOK, match: g}
}

// notices are the titles of what a platform's status tells.
type notices struct{ maintenances, incidents []string }

// SetNotices sets what a platform's status tells: titles, in English.
func (s *Server) SetNotices(platform string, maintenances, incidents []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices[platform] = notices{maintenances, incidents}
}

func (s *Server) platformData(platform string) reply {
	type content struct {
		Locale  string `json:"locale"`
		Content string `json:"content"`
	}
	type update struct {
		ID               int       `json:"id"`
		Author           string    `json:"author"`
		Publish          bool      `json:"publish"`
		PublishLocations []string  `json:"publish_locations"`
		Translations     []content `json:"translations"`
		CreatedAt        string    `json:"created_at"`
		UpdatedAt        string    `json:"updated_at"`
	}
	type notice struct {
		ID                int       `json:"id"`
		MaintenanceStatus *string   `json:"maintenance_status"`
		IncidentSeverity  *string   `json:"incident_severity"`
		Titles            []content `json:"titles"`
		Updates           []update  `json:"updates"`
		CreatedAt         string    `json:"created_at"`
		ArchiveAt         *string   `json:"archive_at"`
		UpdatedAt         *string   `json:"updated_at"`
		Platforms         []string  `json:"platforms"`
	}
	const when = "2026-01-01T00:00:00.000000+00:00"
	say := func(titles []string, status, severity *string) []notice {
		all := make([]notice, 0, len(titles))
		for i, t := range titles {
			all = append(all, notice{
				ID:                1000 + i,
				MaintenanceStatus: status,
				IncidentSeverity:  severity,
				Titles:            []content{{"ko_KR", t}, {"en_US", t}},
				Updates: []update{{
					ID: 2000 + i, Author: "Riot Games", Publish: true, PublishLocations: []string{"riotclient"},
					Translations: []content{{"en_US", t}}, CreatedAt: when, UpdatedAt: when,
				}},
				CreatedAt: when,
				Platforms: []string{"windows", "macos"},
			})
		}
		return all
	}
	n := s.notices[platform]
	inProgress, warning := "in_progress", "warning"
	body, err := json.Marshal(struct {
		ID           string   `json:"id"`
		Name         string   `json:"name"`
		Locales      []string `json:"locales"`
		Maintenances []notice `json:"maintenances"`
		Incidents    []notice `json:"incidents"`
	}{
		ID:           strings.ToUpper(platform),
		Name:         strings.ToUpper(platform),
		Locales:      []string{"ko_KR", "en_US"},
		Maintenances: say(n.maintenances, &inProgress, nil),
		Incidents:    say(n.incidents, nil, &warning),
	})
	if err != nil {
		panic(err) // strings and numbers
	}
	return reply{status: http.StatusOK, body: body}
}
