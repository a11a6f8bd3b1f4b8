package riot

import (
	"context"
	"encoding/json"
	"strings"
)

// LeagueEntries asks for an account's ranks in solo and flex, at most one each,
// in this order. An empty list is a result: unranked. Entries of other queues and
// without a tier are passed over; a tier that is not known is handed on as it is.
func (c Caller) LeagueEntries(ctx context.Context, on Platform, id PUUID) ([]LeagueEntry, error) {
	r := request{
		method:   MethodLeague,
		route:    string(on),
		segments: []string{"lol", "league", "v4", "entries", "by-puuid", string(id)},
	}
	if !on.Valid() {
		return nil, r.fail(KindRejected, errNoRoute)
	}
	var entries []LeagueEntry
	err := c.get(ctx, r, func(body []byte) (err error) {
		entries, err = decodeLeague(body)
		return err
	})
	return entries, err
}

func decodeLeague(body []byte) ([]LeagueEntry, error) {
	var raw []struct {
		QueueType    string `json:"queueType"`
		Tier         string `json:"tier"`
		Rank         string `json:"rank"`
		LeaguePoints number `json:"leaguePoints"`
		Wins         number `json:"wins"`
		Losses       number `json:"losses"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, errForeign
	}
	entries := make([]LeagueEntry, 0, 2)
	for _, queue := range []string{QueueSolo, QueueFlex} {
		for _, e := range raw {
			if e.QueueType != queue || e.Tier == "" {
				continue
			}
			entry := LeagueEntry{
				Queue:    queue,
				Tier:     strings.ToUpper(e.Tier),
				Division: strings.ToUpper(e.Rank),
				LP:       e.LeaguePoints.int(),
				Wins:     e.Wins.count(),
				Losses:   e.Losses.count(),
			}
			switch entry.Tier {
			case "MASTER", "GRANDMASTER", "CHALLENGER":
				// Riot says "I" for all of them.
				entry.Division = ""
			}
			entries = append(entries, entry)
			break
		}
	}
	return entries, nil
}
