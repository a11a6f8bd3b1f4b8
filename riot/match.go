package riot

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// MatchIDs asks for the ids of an account's matches, newest first, where matches
// of that platform are kept. Riot may list a match late, and may ignore
// MatchIDsQuery.Since. An empty list is a result. What has not the form of a
// match id is left out.
func (c Caller) MatchIDs(ctx context.Context, on Platform, id PUUID, q MatchIDsQuery) ([]MatchID, error) {
	r := request{
		method:   MethodMatchIDs,
		route:    string(on.MatchRegion()),
		segments: []string{"lol", "match", "v5", "matches", "by-puuid", string(id), "ids"},
		query:    q.values(),
	}
	if !Region(r.route).Valid() {
		return nil, r.fail(KindRejected, errNoRoute)
	}
	var ids []MatchID
	err := c.get(ctx, r, func(body []byte) error {
		var raw []string
		if err := json.Unmarshal(body, &raw); err != nil {
			return err
		}
		if raw == nil {
			return errForeign
		}
		ids = make([]MatchID, 0, len(raw))
		for _, s := range raw {
			if id := MatchID(s); id.Valid() {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

// values spells q as Riot wants it: startTime in seconds, since milliseconds get
// an empty list in answer.
func (q MatchIDsQuery) values() url.Values {
	v := url.Values{}
	if !q.Since.IsZero() && q.Since.Unix() > 0 {
		v.Set("startTime", strconv.FormatInt(q.Since.Unix(), 10))
	}
	if q.Start > 0 {
		v.Set("start", strconv.Itoa(q.Start))
	}
	if q.Count > 0 {
		v.Set("count", strconv.Itoa(min(q.Count, 100)))
	}
	return v
}

// Match asks for one match. These errors are results: KindNotFound (Riot has not
// got it, or not yet), KindForbidden (Riot does not give it to anyone, as with
// some modes) and KindAborted (it was never played out).
func (c Caller) Match(ctx context.Context, id MatchID) (*Match, error) {
	r := request{
		method:   MethodMatch,
		route:    string(id.Region()),
		segments: []string{"lol", "match", "v5", "matches", string(id)},
	}
	if r.route == "" {
		return nil, r.fail(KindRejected, errNoRoute)
	}
	var m *Match
	err := c.get(ctx, r, func(body []byte) (err error) {
		m, err = DecodeMatch(id, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}
