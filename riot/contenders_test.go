package riot_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/riot/riottest"
)

// question is one thing to ask Riot, about a player or a match.
type question struct{ method, id string }

// route is where q is asked: everybody in these tests plays on kr.
func (q question) route() string {
	if q.method == riot.MethodLeague {
		return "kr"
	}
	return "asia"
}

// path is q's path as Riot documents it.
func (q question) path() string {
	switch q.method {
	case riot.MethodLeague:
		return "/lol/league/v4/entries/by-puuid/" + q.id
	case riot.MethodMatchIDs:
		return "/lol/match/v5/matches/by-puuid/" + q.id + "/ids"
	case riot.MethodMatch:
		return "/lol/match/v5/matches/" + q.id
	case riot.MethodAccountByPUUID:
		return "/riot/account/v1/accounts/by-puuid/" + q.id
	}
	panic("no path for " + q.method)
}

// by asks q through the client.
func (q question) by(ctx context.Context, c riot.Caller) error {
	var err error
	switch q.method {
	case riot.MethodLeague:
		_, err = c.LeagueEntries(ctx, "kr", riot.PUUID(q.id))
	case riot.MethodMatchIDs:
		_, err = c.MatchIDs(ctx, "kr", riot.PUUID(q.id), riot.MatchIDsQuery{})
	case riot.MethodMatch:
		_, err = c.Match(ctx, riot.MatchID(q.id))
	case riot.MethodAccountByPUUID:
		_, err = c.AccountByPUUID(ctx, riot.Asia, riot.PUUID(q.id))
	default:
		err = errors.New("nothing asks for " + q.method)
	}
	return err
}

// ask gets an answer to a question, however often it takes sending it.
type ask func(ctx context.Context, q question, person bool) error

// contender is a way to ask within limits.
type contender struct {
	name string
	// atOnce: it is not held to a pool of workers.
	atOnce bool
	// over returns the way to a server with these limits.
	over func(t *testing.T, s *riottest.Server, l limits) ask
}

// limits are those of a key, in words that each contender can be told. RiftChime
// is told nothing.
type limits struct {
	served riottest.Limits
	app    []ratelimit.Limit
	method map[string]ratelimit.Limit
}

const (
	poolSize  = 64
	riftChime = "RiftChime"
)

var contenders = []contender{
	{name: "everything at once, no limiter", atOnce: true, over: overNothing},
	{name: "token bucket (x/time/rate)", over: overTokens},
	{name: "semaphore that reacts to 429", over: overSemaphore},
	{name: riftChime, over: overRiftChime},
}

// overNothing sends everything as it comes, and what was refused once more when
// Riot says so.
func overNothing(_ *testing.T, s *riottest.Server, _ limits) ask {
	transport := s.Transport()
	return func(ctx context.Context, q question, _ bool) error {
		for {
			wait, err := sendRaw(ctx, transport, q)
			if err != nil || wait == 0 {
				return err
			}
			time.Sleep(wait)
		}
	}
}

// overTokens takes a token of a bucket for every limit before each try: a bucket
// holds as many as the limit, and gets them back evenly in its window.
func overTokens(_ *testing.T, s *riottest.Server, l limits) ask {
	transport := s.Transport()
	bucket := func(l ratelimit.Limit) *rate.Limiter {
		return rate.NewLimiter(rate.Limit(float64(l.Count)/l.Window.Seconds()), l.Count)
	}
	app := make(map[string][]*rate.Limiter)
	for _, route := range []string{"kr", "asia"} {
		for _, limit := range l.app {
			app[route] = append(app[route], bucket(limit))
		}
	}
	method := make(map[string]*rate.Limiter)
	for name, limit := range l.method {
		method[name] = bucket(limit)
	}
	return func(ctx context.Context, q question, _ bool) error {
		for {
			for _, b := range append([]*rate.Limiter{method[q.method]}, app[q.route()]...) {
				if err := b.Wait(ctx); err != nil {
					return err
				}
			}
			wait, err := sendRaw(ctx, transport, q)
			if err != nil || wait == 0 {
				return err
			}
			time.Sleep(wait)
		}
	}
}

// overSemaphore has so many places, for people too. Who is refused waits in its
// place for as long as Riot says.
func overSemaphore(_ *testing.T, s *riottest.Server, _ limits) ask {
	transport := s.Transport()
	places := make(chan struct{}, poolSize)
	return func(ctx context.Context, q question, _ bool) error {
		places <- struct{}{}
		defer func() { <-places }()
		for {
			wait, err := sendRaw(ctx, transport, q)
			if err != nil || wait == 0 {
				return err
			}
			time.Sleep(wait)
		}
	}
}

// overRiftChime is the real client.
func overRiftChime(t *testing.T, s *riottest.Server, _ limits) ask {
	t.Helper()
	c, err := riot.New(riot.Options{Keys: []string{testKey}, Transport: s.Transport(), Limiter: newLimiter(t)})
	if err != nil {
		t.Fatal(err)
	}
	return asking(c)
}

// asking asks with the first key of c.
func asking(c *riot.Client) ask {
	fp := c.Fingerprints()[0]
	return func(ctx context.Context, q question, person bool) error {
		p := ratelimit.NextSlot
		if person {
			p = ratelimit.Person
		}
		return q.by(ctx, c.As(fp, p))
	}
}

// sendRaw sends q once. Where it is refused it returns how long to wait.
func sendRaw(ctx context.Context, transport http.RoundTripper, q question) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+q.route()+".api.riotgames.com"+q.path(), nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("X-Riot-Token", testKey)
	res, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, err
	}
	switch res.StatusCode {
	case http.StatusOK:
		return 0, nil
	case http.StatusTooManyRequests:
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		return max(time.Second, time.Duration(seconds)*time.Second), err
	}
	return 0, fmt.Errorf("%s: status %d", q.method, res.StatusCode)
}
