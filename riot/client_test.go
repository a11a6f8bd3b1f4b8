package riot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/ratelimit"
	"riftchime/riot"
)

const (
	testKey   = "RGAPI-00000000-secret"
	testPUUID = "n3qmkv-lOt6U_J9UuBYvrH96v6Qgg-puuid"
)

func newLimiter(t testing.TB) *ratelimit.Limiter {
	t.Helper()
	return ratelimit.New(ratelimit.Options{})
}

// fake answers in process, in the goroutine that asks, and keeps count. It is
// no test server: it knows nothing of Riot.
type fake struct {
	t      testing.TB
	answer func(n int, r *http.Request) (*http.Response, error)

	mu   sync.Mutex // guards what follows
	urls []string
	open int // bodies not closed
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.urls = append(f.urls, r.URL.String())
	n := len(f.urls)
	f.mu.Unlock()
	if got := r.Header.Get("X-Riot-Token"); got != testKey && got != testKey+"2" {
		f.t.Errorf("the token is %q", got)
	}
	if r.Header.Get("User-Agent") == "" || r.Method != http.MethodGet {
		f.t.Errorf("%s by %q", r.Method, r.Header.Get("User-Agent"))
	}
	res, err := f.answer(n, r)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.open++
	f.mu.Unlock()
	res.Body = &closing{ReadCloser: res.Body, f: f}
	res.Request = r
	return res, nil
}

func (f *fake) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.urls...)
}

type closing struct {
	io.ReadCloser
	f    *fake
	once sync.Once
}

func (c *closing) Close() error {
	c.once.Do(func() {
		c.f.mu.Lock()
		c.f.open--
		c.f.mu.Unlock()
	})
	return c.ReadCloser.Close()
}

// reply is an answer with a status, a body and headers in pairs.
func reply(status int, body string, header ...string) *http.Response {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, Header: h, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// newClient is a client of f and its caller. edit may be nil.
func newClient(t testing.TB, f *fake, edit func(*riot.Options)) (*riot.Client, riot.Caller) {
	t.Helper()
	f.t = t
	o := riot.Options{Keys: []string{testKey}, Transport: f, Limiter: newLimiter(t)}
	if edit != nil {
		edit(&o)
	}
	c, err := riot.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.open != 0 {
			t.Errorf("%d bodies were left open", f.open)
		}
	})
	return c, c.As(riot.FingerprintOf(testKey), ratelimit.Background)
}

// always answers every request alike.
func always(status int, body string, header ...string) *fake {
	return &fake{answer: func(int, *http.Request) (*http.Response, error) { return reply(status, body, header...), nil }}
}

// calls are all that a Caller can ask, each with valid arguments.
var calls = map[string]func(context.Context, riot.Caller) error{
	riot.MethodAccountByRiotID: func(ctx context.Context, c riot.Caller) error {
		_, err := c.AccountByRiotID(ctx, riot.Asia, riot.RiotID{GameName: "Calm in rain", TagLine: "KR1"})
		return err
	},
	riot.MethodAccountByPUUID: func(ctx context.Context, c riot.Caller) error {
		_, err := c.AccountByPUUID(ctx, riot.Asia, testPUUID)
		return err
	},
	riot.MethodActivePlatform: func(ctx context.Context, c riot.Caller) error {
		_, err := c.ActivePlatform(ctx, riot.Asia, testPUUID)
		return err
	},
	riot.MethodSummoner: func(ctx context.Context, c riot.Caller) error {
		_, err := c.Summoner(ctx, "kr", testPUUID)
		return err
	},
	riot.MethodLeague: func(ctx context.Context, c riot.Caller) error {
		_, err := c.LeagueEntries(ctx, "kr", testPUUID)
		return err
	},
	riot.MethodMatchIDs: func(ctx context.Context, c riot.Caller) error {
		_, err := c.MatchIDs(ctx, "kr", testPUUID, riot.MatchIDsQuery{})
		return err
	},
	riot.MethodMatch: func(ctx context.Context, c riot.Caller) error {
		_, err := c.Match(ctx, "KR_1")
		return err
	},
	riot.MethodStatus: func(ctx context.Context, c riot.Caller) error {
		_, err := c.Status(ctx, "kr")
		return err
	},
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const base = "https://kr.api.riotgames.com/lol"
	for method, want := range map[string]string{
		riot.MethodAccountByRiotID: "https://asia.api.riotgames.com/riot/account/v1/accounts/by-riot-id/Calm%20in%20rain/KR1",
		riot.MethodAccountByPUUID:  "https://asia.api.riotgames.com/riot/account/v1/accounts/by-puuid/" + testPUUID,
		riot.MethodActivePlatform:  "https://asia.api.riotgames.com/riot/account/v1/region/by-game/lol/by-puuid/" + testPUUID,
		riot.MethodSummoner:        base + "/summoner/v4/summoners/by-puuid/" + testPUUID,
		riot.MethodLeague:          base + "/league/v4/entries/by-puuid/" + testPUUID,
		riot.MethodMatchIDs:        "https://asia.api.riotgames.com/lol/match/v5/matches/by-puuid/" + testPUUID + "/ids",
		riot.MethodMatch:           "https://asia.api.riotgames.com/lol/match/v5/matches/KR_1",
		riot.MethodStatus:          base + "/status/v4/platform-data",
	} {
		f := always(http.StatusNotFound, "")
		_, caller := newClient(t, f, nil)
		err := calls[method](t.Context(), caller)
		if !riot.IsKind(err, riot.KindNotFound) {
			t.Errorf("%s: %v, want not found", method, err)
		}
		var e *riot.Error
		if errors.As(err, &e) && (e.Method != method || e.Status != 404) {
			t.Errorf("%s: the error is about %s with status %d", method, e.Method, e.Status)
		}
		if diff := cmp.Diff([]string{want}, f.sent()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", method, diff)
		}
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	f := always(http.StatusNotFound, "")
	_, caller := newClient(t, f, nil)
	for _, id := range []riot.RiotID{
		{GameName: "a/b?c%d#e", TagLine: "x#y"}, {GameName: "페이커 짱", TagLine: "한국"}, {GameName: "../x", TagLine: ";&"},
	} {
		_, _ = caller.AccountByRiotID(t.Context(), riot.Europe, id)
	}
	const base = "https://europe.api.riotgames.com/riot/account/v1/accounts/by-riot-id/"
	want := []string{
		base + "a%2Fb%3Fc%25d%23e/x%23y",
		base + "%ED%8E%98%EC%9D%B4%EC%BB%A4%20%EC%A7%B1/%ED%95%9C%EA%B5%AD",
		base + "..%2Fx/%3B&",
	}
	if diff := cmp.Diff(want, f.sent()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	f := always(http.StatusOK, "[]")
	_, caller := newClient(t, f, nil)
	since := time.UnixMilli(1_700_000_000_999)
	for _, q := range []riot.MatchIDsQuery{
		{}, {Since: since, Count: 100}, {Since: since, Start: 100, Count: 100}, {Count: 5000, Start: -1}, {Since: time.Unix(-5, 0)},
	} {
		if ids, err := caller.MatchIDs(t.Context(), "oc1", testPUUID, q); err != nil || ids == nil || len(ids) != 0 {
			t.Errorf("%+v: %v, %v; want an empty list", q, ids, err)
		}
	}
	const base = "https://sea.api.riotgames.com/lol/match/v5/matches/by-puuid/" + testPUUID + "/ids"
	want := []string{
		base, base + "?count=100&startTime=1700000000", base + "?count=100&start=100&startTime=1700000000", base + "?count=100", base,
	}
	if diff := cmp.Diff(want, f.sent()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRoutesOfEveryPlatform(t *testing.T) {
	t.Parallel()
	for p, routes := range wantRoutes {
		f := always(http.StatusNotFound, "")
		_, caller := newClient(t, f, nil)
		_, _ = caller.AccountByPUUID(t.Context(), p.AccountRegion(), testPUUID)
		_, _ = caller.MatchIDs(t.Context(), p, testPUUID, riot.MatchIDsQuery{})
		_, _ = caller.Match(t.Context(), riot.MatchID(strings.ToUpper(string(p))+"_1"))
		_, _ = caller.Summoner(t.Context(), p, testPUUID)
		var hosts []string
		for _, u := range f.sent() {
			host, _, _ := strings.Cut(strings.TrimPrefix(u, "https://"), ".")
			hosts = append(hosts, host)
		}
		want := []string{string(routes[0]), string(routes[1]), string(routes[1]), string(p)}
		if diff := cmp.Diff(want, hosts); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", p, diff)
		}
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "https://kr.api.riotgames.com/lol/status/v4/platform-data",
		"http://127.0.0.1:9/{route}":     "http://127.0.0.1:9/kr/lol/status/v4/platform-data",
		"http://127.0.0.1:9/{route}/":    "http://127.0.0.1:9/kr/lol/status/v4/platform-data",
		"http://127.0.0.1:9":             "http://127.0.0.1:9/lol/status/v4/platform-data",
		" http://{route}.localhost:9/x ": "http://kr.localhost:9/x/lol/status/v4/platform-data",
	} {
		f := always(http.StatusNotFound, "")
		_, caller := newClient(t, f, func(o *riot.Options) { o.URL = in })
		_, _ = caller.Status(t.Context(), "kr")
		if diff := cmp.Diff([]string{want}, f.sent()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", in, diff)
		}
	}
}

func TestBucket(t *testing.T) {
	t.Parallel()
	f := always(http.StatusNotFound, "")
	fp := riot.FingerprintOf(testKey)
	c, _ := newClient(t, f, nil)
	if got, want := c.Bucket(fp, riot.MethodMatch, "asia"), (ratelimit.Request{Key: string(fp), Host: "asia", Method: "match"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	c, _ = newClient(t, f, func(o *riot.Options) { o.URL = "http://127.0.0.1:9" })
	if got, want := c.Bucket(fp, riot.MethodMatch, "asia").Host, c.Bucket(fp, riot.MethodStatus, "kr").Host; got != want || got != "127.0.0.1:9" {
		t.Errorf("two routes to one place are counted as %q and %q", got, want)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	limiter := newLimiter(t)
	for name, o := range map[string]riot.Options{
		"no limiter":   {Keys: []string{testKey}},
		"no key":       {Limiter: limiter},
		"empty key":    {Limiter: limiter, Keys: []string{testKey, " "}},
		"broken key":   {Limiter: limiter, Keys: []string{testKey + "\nx"}},
		"hangul key":   {Limiter: limiter, Keys: []string{testKey + "한"}},
		"key twice":    {Limiter: limiter, Keys: []string{testKey, testKey}},
		"no scheme":    {Limiter: limiter, Keys: []string{testKey}, URL: "{route}.api.riotgames.com"},
		"ftp":          {Limiter: limiter, Keys: []string{testKey}, URL: "ftp://{route}.api.riotgames.com"},
		"no host":      {Limiter: limiter, Keys: []string{testKey}, URL: "https://"},
		"query":        {Limiter: limiter, Keys: []string{testKey}, URL: "https://{route}.x?api_key=" + testKey},
		"user":         {Limiter: limiter, Keys: []string{testKey}, URL: "https://" + testKey + "@{route}.x"},
		"control code": {Limiter: limiter, Keys: []string{testKey}, URL: "https://x\x7f/" + testKey},
	} {
		c, err := riot.New(o)
		if err == nil {
			t.Errorf("%s: got %v, want an error", name, c)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error has the key in it: %v", name, err)
		}
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	// printf abc | sha256sum
	if got, want := riot.FingerprintOf("abc"), riot.Fingerprint("ba7816bf"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c, _ := newClient(t, always(404, ""), func(o *riot.Options) { o.Keys = []string{testKey, " " + testKey + "2 "} })
	want := []riot.Fingerprint{riot.FingerprintOf(testKey), riot.FingerprintOf(testKey + "2")}
	if diff := cmp.Diff(want, c.Fingerprints()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", c, c, c, slog.AnyValue(c)); strings.Contains(text, "secret") {
		t.Errorf("printing a client gives its key away: %s", text)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	const decrypting = `{"status":{"message":"Bad Request - Exception decrypting ` + testPUUID + `","status_code":400}}`
	for name, tt := range map[string]struct {
		status int
		body   string
		method string // any where empty
		want   riot.Kind
		tries  int
	}{
		"400":                     {400, `{"status":{"message":"Bad request"}}`, "", riot.KindRejected, 1},
		"400 without a body":      {400, "", "", riot.KindRejected, 1},
		"400 decrypting":          {400, decrypting, "", riot.KindDecrypting, 1},
		"400 unknown key":         {400, `{"status":{"message":"Unknown apikey","status_code":400}}`, "", riot.KindBadKey, 1},
		"401":                     {401, `{"status":{"message":"Unauthorized","status_code":401}}`, "", riot.KindBadKey, 1},
		"403":                     {403, `{"status":{"message":"Forbidden","status_code":403}}`, riot.MethodLeague, riot.KindBadKey, 1},
		"403 of a list":           {403, `{}`, riot.MethodMatchIDs, riot.KindBadKey, 1},
		"403 of a match":          {403, `{"status":{"message":"Forbidden","status_code":403}}`, riot.MethodMatch, riot.KindForbidden, 2},
		"401 of a match":          {401, ``, riot.MethodMatch, riot.KindBadKey, 1},
		"404":                     {404, `{"status":{"message":"Data not found"}}`, "", riot.KindNotFound, 1},
		"404 of another shape":    {404, `{"httpStatus":404,"errorCode":"NOT_FOUND"}`, "", riot.KindNotFound, 1},
		"404 in HTML":             {404, `<html>`, "", riot.KindNotFound, 1},
		"405":                     {405, ``, "", riot.KindRejected, 1},
		"408":                     {408, ``, "", riot.KindUnavailable, 3},
		"415":                     {415, ``, "", riot.KindRejected, 1},
		"429":                     {429, `{}`, "", riot.KindLimited, 3},
		"500":                     {500, `{"status":{"message":"Internal server error"}}`, "", riot.KindUnavailable, 3},
		"502 in HTML":             {502, `<html>Bad Gateway</html>`, "", riot.KindUnavailable, 3},
		"503":                     {503, ``, "", riot.KindUnavailable, 3},
		"504":                     {504, ``, "", riot.KindUnavailable, 3},
		"599":                     {599, ``, "", riot.KindUnavailable, 3},
		"204":                     {204, ``, "", riot.KindUnavailable, 3},
		"302":                     {302, ``, "", riot.KindUnavailable, 3},
		"200 in HTML":             {200, `<html>Please wait</html>`, "", riot.KindUnavailable, 3},
		"200 without a body":      {200, ``, "", riot.KindUnavailable, 3},
		"200 with an error":       {200, `{"status":{"message":"Internal server error","status_code":500}}`, "", riot.KindUnavailable, 3},
		"200 with null":           {200, `null`, "", riot.KindUnavailable, 3},
		"200 with another type":   {200, `"text"`, "", riot.KindUnavailable, 3},
		"200 cut":                 {200, `{"puuid":"x","gameNa`, "", riot.KindUnavailable, 3},
		"200 too large":           {200, `{"puuid":"` + strings.Repeat("x", 8<<20) + `"}`, riot.MethodSummoner, riot.KindUnavailable, 3},
		"an aborted match":        {200, `{"metadata":{},"info":{"participants":[]}}`, riot.MethodMatch, riot.KindAborted, 1},
		"a platform nobody knows": {200, `{"puuid":"x","game":"lol","region":"mars1"}`, riot.MethodActivePlatform, riot.KindRejected, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for method, call := range calls {
				if tt.method != "" && method != tt.method || tt.method == "" && tt.want == riot.KindBadKey && tt.status == 403 {
					continue
				}
				synctest.Test(t, func(t *testing.T) {
					f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
						if tt.want == riot.KindForbidden && strings.Contains(r.URL.Path, "/status/") {
							return reply(200, `{"id":"KR"}`), nil // the key is good
						}
						return reply(tt.status, tt.body), nil
					}}
					var told []riot.Sent
					_, caller := newClient(t, f, func(o *riot.Options) {
						o.Observe = func(s riot.Sent) { told = append(told, s) }
					})
					err := call(t.Context(), caller)
					var e *riot.Error
					if !errors.As(err, &e) || e.Kind != tt.want {
						t.Fatalf("%s: got %v, want the kind %v", method, err, tt.want)
					}
					if e.Status != tt.status || e.Method != method || e.Route == "" {
						t.Errorf("%s: the error says status %d, method %q, route %q", method, e.Status, e.Method, e.Route)
					}
					if got := len(f.sent()); got != tt.tries {
						t.Errorf("%s: %d tries, want %d", method, got, tt.tries)
					}
					checkSecrets(t, err)
					if len(told) != tt.tries {
						t.Errorf("%s: %d tries observed, want %d", method, len(told), tt.tries)
					}
					for _, s := range told {
						if s.Method != method && s.Method == riot.MethodStatus {
							continue
						}
						fine := tt.want == riot.KindNotFound || tt.want == riot.KindAborted
						if s.Method != method || s.Status != tt.status || s.Route != e.Route || (s.Cause == "") != fine {
							t.Errorf("%s: observed %+v", method, s)
						}
					}
				})
			}
		})
	}
}

// checkSecrets looks for what must not be in an error, all the way down.
func checkSecrets(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
			for _, secret := range []string{testKey, testPUUID, "secret", "http", "://", "riotgames", "Calm", "127.0.0.1"} {
				if strings.Contains(text, secret) {
					t.Errorf("%q has %q in it", text, secret)
				}
			}
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ask := func(body string) riot.Caller {
		_, caller := newClient(t, always(200, body), nil)
		return caller
	}
	check := func(name string, got, want any, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}

	account, err := ask(`{"puuid":"p","gameName":"Ixkane","tagLine":"YEBJ"}`).AccountByPUUID(ctx, riot.Asia, "p")
	check("account", account, riot.Account{PUUID: "p", RiotID: riot.RiotID{GameName: "Ixkane", TagLine: "YEBJ"}}, err)
	account, err = ask(`{"puuid":"p"}`).AccountByRiotID(ctx, riot.Asia, riot.RiotID{GameName: "a", TagLine: "b"})
	check("account without a name", account, riot.Account{PUUID: "p"}, err)

	for in, want := range map[string]riot.Platform{"kr": "kr", "EUW1": "euw1", "th2": "sg2"} {
		platform, err := ask(`{"puuid":"p","game":"lol","region":"`+in+`"}`).ActivePlatform(ctx, riot.Asia, "p")
		check("platform "+in, platform, want, err)
	}

	summoner, err := ask(`{"puuid":"p","profileIconId":6793,"revisionDate":1754635977000,"summonerLevel":340}`).Summoner(ctx, "na1", "p")
	check("summoner", summoner, riot.Summoner{PUUID: "p", ProfileIconID: 6793, Level: 340, Revised: time.Date(2025, 8, 8, 6, 52, 57, 0, time.UTC)}, err)
	summoner, err = ask(`{"puuid":"p"}`).Summoner(ctx, "na1", "p")
	check("summoner with zeros left out", summoner, riot.Summoner{PUUID: "p"}, err)

	ids, err := ask(`["KR_2","TH2_1","","nonsense","KR_1/../3"]`).MatchIDs(ctx, "kr", "p", riot.MatchIDsQuery{})
	check("ids", ids, []riot.MatchID{"KR_2", "TH2_1"}, err)

	match, err := ask(string(body(t, nil))).Match(ctx, "KR_1")
	if err != nil || match.ID != "KR_1" || len(match.Participants) != 4 {
		t.Errorf("match: %+v, %v", match, err)
	}

	entries, err := ask(`[]`).LeagueEntries(ctx, "kr", "p")
	check("unranked", entries, []riot.LeagueEntry{}, err)
	entries, err = ask(`[
		{"queueType":"CHERRY","leaguePoints":0,"wins":7,"losses":11},
		{"queueType":"RANKED_FLEX_SR","tier":"PLATINUM","rank":"I","leaguePoints":0,"wins":9,"losses":2,"miniSeries":{"target":3}},
		{"queueType":"RANKED_TFT","tier":"GOLD","rank":"I"},
		{"queueType":"RANKED_SOLO_5x5","tier":"GRANDMASTER","rank":"I","leaguePoints":1023.0,"wins":29,"losses":23}]`).LeagueEntries(ctx, "kr", "p")
	check("ranked", entries, []riot.LeagueEntry{
		{Queue: riot.QueueSolo, Tier: "GRANDMASTER", LP: 1023, Wins: 29, Losses: 23},
		{Queue: riot.QueueFlex, Tier: "PLATINUM", Division: "I", Wins: 9, Losses: 2},
	}, err)
	entries, err = ask(`[{"queueType":"RANKED_SOLO_5x5","tier":"OBSIDIAN","rank":"II","leaguePoints":5}, {"queueType":"RANKED_FLEX_SR"}]`).LeagueEntries(ctx, "kr", "p")
	check("a tier nobody knows", entries, []riot.LeagueEntry{{Queue: riot.QueueSolo, Tier: "OBSIDIAN", Division: "II", LP: 5}}, err)

	status, err := ask(`{"id":"KR","maintenances":[{"maintenance_status":null,"titles":[{"locale":"ko_KR","content":"점검"},{"locale":"en_US","content":"Patch"}]}],
		"incidents":[{"incident_severity":null,"titles":[{"locale":"ko_KR","content":"장애"}]},{"titles":[]}]}`).Status(ctx, "kr")
	check("status", status, riot.Status{Platform: "kr", Maintenances: []string{"Patch"}, Incidents: []string{"장애"}}, err)
}

func TestRealBodies(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ask := func(name string) riot.Caller {
		_, caller := newClient(t, always(200, string(fixture(t, name))), nil)
		return caller
	}
	if got, err := ask("account_v1_by_riot_id_KR.json").AccountByPUUID(ctx, riot.Asia, "p"); err != nil || got.RiotID.String() != "Ixkane#YEBJ" || got.PUUID == "" {
		t.Errorf("account: %+v, %v", got, err)
	}
	if got, err := ask("account_v1_region_lol_KR.json").ActivePlatform(ctx, riot.Asia, "p"); err != nil || got != "kr" {
		t.Errorf("platform: %q, %v", got, err)
	}
	if got, err := ask("match_ids_KR_20.json").MatchIDs(ctx, "kr", "p", riot.MatchIDsQuery{}); err != nil || len(got) != 20 || got[0] != "KR_2319770362" {
		t.Errorf("ids: %v, %v", got, err)
	}
	if got, err := ask("summoner_v4_2025_no_id_NA1.json").Summoner(ctx, "na1", "p"); err != nil || got.Level != 340 || got.ProfileIconID != 6793 {
		t.Errorf("summoner: %+v, %v", got, err)
	}
	if got, err := ask("league_v4_entries_CHERRY_no_tier_rank_leagueId.json").LeagueEntries(ctx, "kr", "p"); err != nil || len(got) != 0 || got == nil {
		t.Errorf("a league of Arena: %+v, %v; want none", got, err)
	}
	got, err := ask("league_v4_entries_by_summoner_2019_solo_flex_EUN1.json").LeagueEntries(ctx, "eun1", "p")
	want := []riot.LeagueEntry{
		{Queue: riot.QueueSolo, Tier: "PLATINUM", Division: "III", LP: 6, Wins: 29, Losses: 23},
		{Queue: riot.QueueFlex, Tier: "PLATINUM", Division: "I", LP: 0, Wins: 9, Losses: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("leagues: %v (-want +got)\n%s", err, diff)
	}
}

func TestNotSent(t *testing.T) {
	t.Parallel()
	f := always(200, "[]")
	c, caller := newClient(t, f, nil)
	ctx := t.Context()
	errs := map[string]error{}
	_, errs["sea has no accounts"] = caller.AccountByPUUID(ctx, riot.Sea, testPUUID)
	_, errs["sea has no platforms"] = caller.ActivePlatform(ctx, riot.Sea, testPUUID)
	_, errs["no region"] = caller.AccountByPUUID(ctx, "", testPUUID)
	_, errs["no name"] = caller.AccountByRiotID(ctx, riot.Asia, riot.RiotID{TagLine: "KR1"})
	_, errs["no tag"] = caller.AccountByRiotID(ctx, riot.Asia, riot.RiotID{GameName: "a"})
	_, errs["a step up"] = caller.AccountByRiotID(ctx, riot.Asia, riot.RiotID{GameName: "..", TagLine: "."})
	_, errs["no PUUID"] = caller.Summoner(ctx, "kr", "")
	_, errs["a long PUUID"] = caller.Summoner(ctx, "kr", riot.PUUID(strings.Repeat("x", 10_000)))
	_, errs["no platform"] = caller.Summoner(ctx, "evil.example/", testPUUID)
	_, errs["an old platform"] = caller.LeagueEntries(ctx, "th2", testPUUID)
	_, errs["status of none"] = caller.Status(ctx, "")
	_, errs["ids of none"] = caller.MatchIDs(ctx, "mars1", testPUUID, riot.MatchIDsQuery{})
	_, errs["no match id"] = caller.Match(ctx, "")
	_, errs["a match of nowhere"] = caller.Match(ctx, "ESPORTSTMNT02_1")
	for name, err := range errs {
		if !riot.IsKind(err, riot.KindRejected) {
			t.Errorf("%s: %v, want rejected", name, err)
		}
		checkSecrets(t, err)
	}
	for name, caller := range map[string]riot.Caller{
		"another key": c.As("00000000", ratelimit.Person), "nothing": {},
	} {
		if _, err := caller.Status(ctx, "kr"); !riot.IsKind(err, riot.KindBadKey) {
			t.Errorf("%s: %v, want the key refused", name, err)
		}
	}
	if got := f.sent(); len(got) != 0 {
		t.Errorf("sent %q", got)
	}
}

func TestRetryThenAnswer(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func() (*http.Response, error){
		"500":       func() (*http.Response, error) { return reply(500, ""), nil },
		"cut":       func() (*http.Response, error) { return reply(200, `["KR_1"`), nil },
		"lost":      func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"429":       func() (*http.Response, error) { return reply(429, "", "X-Rate-Limit-Type", "service"), nil },
		"429 plain": func() (*http.Response, error) { return reply(429, ""), nil },
		"429 of a new type": func() (*http.Response, error) {
			return reply(429, "", "X-Rate-Limit-Type", "server", "Retry-After", "5"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: func(n int, _ *http.Request) (*http.Response, error) {
					if n < 3 {
						return first()
					}
					return reply(200, `["KR_1"]`), nil
				}}
				_, caller := newClient(t, f, nil)
				ids, err := caller.MatchIDs(t.Context(), "kr", testPUUID, riot.MatchIDsQuery{})
				if err != nil || len(ids) != 1 || len(f.sent()) != 3 {
					t.Errorf("got %v, %v after %d tries", ids, err, len(f.sent()))
				}
			})
		})
	}
}

func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		f := &fake{answer: func(int, *http.Request) (*http.Response, error) {
			at = append(at, time.Now())
			return reply(503, ""), nil
		}}
		_, caller := newClient(t, f, nil)
		if _, err := caller.Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindUnavailable) {
			t.Error(err)
		}
		for i, bounds := range [][2]time.Duration{{250 * time.Millisecond, 500 * time.Millisecond}, {500 * time.Millisecond, time.Second}} {
			if gap := at[i+1].Sub(at[i]); gap < bounds[0] || gap > bounds[1]+50*time.Millisecond {
				t.Errorf("wait %d was %v, want %v to %v", i+1, gap, bounds[0], bounds[1])
			}
		}
	})
}

func TestRetryAfterOfUnavailable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 1 {
				return reply(503, "", "Retry-After", "7"), nil
			}
			return reply(404, ""), nil
		}}
		_, caller := newClient(t, f, nil)
		start := time.Now()
		if _, err := caller.Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindNotFound) {
			t.Error(err)
		}
		if took := time.Since(start); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("took %v, want 7 s", took)
		}
	})
}

func TestNoRetryBeyondDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := always(503, "", "Retry-After", "60")
		_, caller := newClient(t, f, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		_, err := caller.Status(ctx, "kr")
		var e *riot.Error
		if !errors.As(err, &e) || e.Kind != riot.KindUnavailable || !e.RetryAt.Equal(start.Add(time.Minute)) {
			t.Errorf("got %#v, want unavailable until a minute from now", err)
		}
		if took := time.Since(start); took != 0 || len(f.sent()) != 1 {
			t.Errorf("%d tries in %v, want one at once", len(f.sent()), took)
		}
	})
}

func TestTimeoutFromLeaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		_, caller := newClient(t, f, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		start := time.Now()
		_, err := caller.Match(ctx, "KR_1")
		// The second try begins within a second and ends with the context.
		if !errors.Is(err, context.DeadlineExceeded) || riot.IsKind(err, riot.KindUnavailable) {
			t.Errorf("got %v, want the context's own error", err)
		}
		if took := time.Since(start); took != 12*time.Second || len(f.sent()) != 2 {
			t.Errorf("%d tries in %v, want 2 in 12 s", len(f.sent()), took)
		}
	})
}

// TestSlowBody checks that the time-out covers the body too.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			res := reply(200, "")
			res.Body, res.ContentLength = io.NopCloser(hanging{r.Context()}), -1
			return res, nil
		}}
		_, caller := newClient(t, f, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := caller.Match(ctx, "KR_1")
		if !riot.IsKind(err, riot.KindUnavailable) || !strings.Contains(err.Error(), "time-out") {
			t.Errorf("got %v, want a time-out", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want 10 s", took)
		}
	})
}

// hanging is a body that never comes.
type hanging struct{ ctx context.Context }

func (h hanging) Read([]byte) (int, error) {
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, fmt.Errorf("Get %q: %w", r.URL, r.Context().Err())
		}}
		c, caller := newClient(t, f, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := calls[riot.MethodLeague](ctx, caller); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's own error", err)
		}
		if h := c.Health(); h[0].Refused {
			t.Errorf("a call that was given up counts against the key: %+v", h)
		}
	})
}

func TestNetErrorsHaveNoAddress(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"url":     fmt.Errorf("Get \"https://kr.api.riotgames.com/%s\": %w", testPUUID, io.EOF),
		"dns":     &net.DNSError{Err: "no such host", Name: "kr.api.riotgames.com", IsNotFound: true},
		"dial":    &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: errors.New("network is unreachable")},
		"read":    &net.OpError{Op: "read", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: errors.New("broken")},
		"unknown": errors.New("http: something at https://kr.api.riotgames.com/ with " + testKey),
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answer: func(int, *http.Request) (*http.Response, error) { return nil, cause }}
			_, caller := newClient(t, f, nil)
			for method, call := range calls {
				err := call(t.Context(), caller)
				if !riot.IsKind(err, riot.KindUnavailable) {
					t.Errorf("%s, %s: %v, want unavailable", name, method, err)
				}
				checkSecrets(t, err)
			}
		})
	}
}

// TestRetriesTakePermits lets Riot tell that the limit is nearly used up: the
// third try must wait for room, so that it can't be made before the deadline.
func TestRetriesTakePermits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(n int, _ *http.Request) (*http.Response, error) {
			return reply(500, "", "X-App-Rate-Limit", "20:3600", "X-App-Rate-Limit-Count", fmt.Sprintf("%d:3600", 17+n)), nil
		}}
		c, _ := newClient(t, f, nil)
		caller := c.As(c.Fingerprints()[0], ratelimit.Person)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := caller.Status(ctx, "kr")
		var e *riot.Error
		if !errors.As(err, &e) || e.Kind != riot.KindLimited || e.RetryAt.Before(time.Now().Add(50*time.Minute)) {
			t.Errorf("got %#v, want a limit that ends in an hour", err)
		}
		if got := len(f.sent()); got > 2 {
			t.Errorf("%d tries with room for two", got)
		}
		checkSecrets(t, err)
	})
}

func TestRefusalsAreHonoured(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][]string{
		"application": {"X-Rate-Limit-Type", "application", "Retry-After", "20"},
		"method":      {"X-Rate-Limit-Type", "method", "Retry-After", "20"},
		"other case":  {"x-rate-limit-type", "Application", "retry-after", "20"},
		"service":     {"X-Rate-Limit-Type", "service", "Retry-After", "20"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answer: func(n int, _ *http.Request) (*http.Response, error) {
					if n == 1 {
						return reply(429, `{}`, header...), nil
					}
					return reply(404, ""), nil
				}}
				_, caller := newClient(t, f, nil)
				start := time.Now()
				if _, err := caller.Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindNotFound) {
					t.Error(err)
				}
				if took := time.Since(start); took < 20*time.Second || took > 60*time.Second {
					t.Errorf("took %v, want 20 s and little more", took)
				}
			})
		})
	}
}

func TestBadKeyStopsCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		status := http.StatusForbidden
		f := &fake{answer: func(int, *http.Request) (*http.Response, error) { return reply(status, ""), nil }}
		var logged bytes.Buffer
		c, caller := newClient(t, f, func(o *riot.Options) { o.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
		ctx := t.Context()
		ask := func(method string, want riot.Kind, sent int) {
			t.Helper()
			before := len(f.sent())
			if err := calls[method](ctx, caller); !riot.IsKind(err, want) {
				t.Errorf("%s: %v, want %v", method, err, want)
			}
			if got := len(f.sent()) - before; got != sent {
				t.Errorf("%s: %d requests, want %d", method, got, sent)
			}
		}
		refused := func(want bool) {
			t.Helper()
			if h := c.Health(); len(h) != 1 || h[0].Refused != want || h[0].Fingerprint != c.Fingerprints()[0] {
				t.Errorf("health is %+v, want refused %v", h, want)
			}
		}

		ask(riot.MethodSummoner, riot.KindBadKey, 1)
		ask(riot.MethodLeague, riot.KindBadKey, 1)
		ask(riot.MethodLeague, riot.KindBadKey, 1)
		refused(false)
		ask(riot.MethodMatchIDs, riot.KindBadKey, 1) // the third method
		refused(true)
		since := c.Health()[0].Since
		if !since.Equal(time.Now()) {
			t.Errorf("refused since %v, want now", since)
		}
		for method := range calls {
			ask(method, riot.KindBadKey, 0)
		}
		time.Sleep(time.Minute)
		ask(riot.MethodMatchIDs, riot.KindBadKey, 1) // the probe
		ask(riot.MethodMatchIDs, riot.KindBadKey, 0)
		c.Probe(ctx)
		ask(riot.MethodMatchIDs, riot.KindBadKey, 0)

		time.Sleep(time.Minute)
		status = http.StatusBadGateway
		c.Probe(ctx) // says nothing
		refused(true)
		time.Sleep(time.Minute)
		status = http.StatusNotFound
		c.Probe(ctx)
		refused(false)
		ask(riot.MethodMatchIDs, riot.KindNotFound, 1)
		if got := strings.Count(logged.String(), "\n"); got != 2 || !strings.Contains(logged.String(), "level=ERROR") || strings.Contains(logged.String(), "secret") {
			t.Errorf("logged:\n%s", logged.String())
		}
	})
}

// TestOneMethodForbidden refuses one method only, as where Riot takes an endpoint
// away: the key stays good.
func TestOneMethodForbidden(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "/league/") {
				return reply(403, ""), nil
			}
			return reply(404, ""), nil
		}}
		c, caller := newClient(t, f, nil)
		for range 50 {
			if err := calls[riot.MethodLeague](t.Context(), caller); !riot.IsKind(err, riot.KindBadKey) {
				t.Errorf("got %v, want the key refused", err)
			}
		}
		if h := c.Health(); h[0].Refused {
			t.Errorf("one method refused is taken for the key: %+v", h)
		}
		if got := len(f.sent()); got < 51 || got > 52 {
			t.Errorf("%d requests, want the 50 and one or two to find out", got)
		}
	})
}

// TestForbiddenMatches refuses matches as Riot does whole modes: no status is
// asked for while other answers speak for the key.
func TestForbiddenMatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/matches/KR_1") {
				return reply(403, ""), nil
			}
			return reply(404, ""), nil
		}}
		c, caller := newClient(t, f, nil)
		_ = calls[riot.MethodMatchIDs](t.Context(), caller)
		for range 20 {
			if err := calls[riot.MethodMatch](t.Context(), caller); !riot.IsKind(err, riot.KindForbidden) {
				t.Errorf("got %v, want forbidden", err)
			}
		}
		if h := c.Health(); h[0].Refused || h[0].Since != (time.Time{}) {
			t.Errorf("health is %+v", h)
		}
		// Where the limiter spreads them over more than 5 s, one more speaks.
		if got := len(f.sent()); got < 21 || got > 25 {
			t.Errorf("%d requests, want 21 and few more", got)
		}
	})
}

// TestDyingKeyForbidsNoMatch refuses everything between the list and the
// matches: they must not be taken for forbidden, which is for good.
func TestDyingKeyForbidsNoMatch(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]struct {
		code int
		want riot.Kind
	}{"key refused": {403, riot.KindBadKey}, "nobody knows": {503, riot.KindUnavailable}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dead := false
				f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
					switch {
					case !dead:
						return reply(404, ""), nil
					case strings.Contains(r.URL.Path, "/status/"):
						return reply(status.code, ""), nil
					}
					return reply(403, ""), nil
				}}
				c, caller := newClient(t, f, nil)
				_ = calls[riot.MethodMatchIDs](t.Context(), caller)
				time.Sleep(time.Minute)
				dead = true
				for range 10 {
					err := calls[riot.MethodMatch](t.Context(), caller)
					if !riot.IsKind(err, status.want) {
						t.Errorf("got %v, want %v", err, status.want)
					}
					checkSecrets(t, err)
				}
				if h := c.Health(); h[0].Refused != (status.want == riot.KindBadKey) {
					t.Errorf("health is %+v", h)
				}
			})
		})
	}
}

// TestBadKeyWithOneMethod asks one method only, as the hour does: the platform's
// status confirms that it is the key.
func TestBadKeyWithOneMethod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := always(401, "")
		c, caller := newClient(t, f, nil)
		for range 50 {
			if err := calls[riot.MethodMatchIDs](t.Context(), caller); !riot.IsKind(err, riot.KindBadKey) {
				t.Errorf("got %v, want the key refused", err)
			}
		}
		if h := c.Health(); !h[0].Refused {
			t.Errorf("health is %+v, want refused", h)
		}
		if got := len(f.sent()); got != 6 {
			t.Errorf("%d requests, want 5 and one for the status", got)
		}
	})
}

// TestKeysAreApart refuses one key of two.
func TestKeysAreApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: func(_ int, r *http.Request) (*http.Response, error) {
			if r.Header.Get("X-Riot-Token") == testKey {
				return reply(401, ""), nil
			}
			return reply(404, ""), nil
		}}
		c, first := newClient(t, f, func(o *riot.Options) { o.Keys = append(o.Keys, testKey+"2") })
		second := c.As(c.Fingerprints()[1], ratelimit.Background)
		for _, call := range calls {
			_ = call(t.Context(), first)
			if err := call(t.Context(), second); !riot.IsKind(err, riot.KindNotFound) {
				t.Errorf("the other key got %v", err)
			}
		}
		if h := c.Health(); !h[0].Refused || h[1].Refused {
			t.Errorf("health is %+v, want the first alone refused", h)
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leaked.Add(1) }))
	t.Cleanup(thief.Close)
	s := httptest.NewServer(http.RedirectHandler(thief.URL, http.StatusFound))
	t.Cleanup(s.Close)
	c, err := riot.New(riot.Options{Keys: []string{testKey}, URL: s.URL + "/{route}", Limiter: newLimiter(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	_, err = c.As(c.Fingerprints()[0], ratelimit.Person).Status(t.Context(), "kr")
	if !riot.IsKind(err, riot.KindUnavailable) || leaked.Load() != 0 {
		t.Errorf("got %v and %d requests elsewhere", err, leaked.Load())
	}
}

// TestTransportDoesNotRepeat breaks a connection that was used before, after it
// took the request: net/http would send it once more on its own, without a
// permit.
func TestTransportDoesNotRepeat(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	var causes []string // of what took a permit; nothing is asked at once here
	c, err := riot.New(riot.Options{
		Keys: []string{testKey}, URL: s.URL + "/{route}", Limiter: newLimiter(t),
		Observe: func(s riot.Sent) { causes = append(causes, s.Cause) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	caller := c.As(c.Fingerprints()[0], ratelimit.Person)
	for range 2 {
		if _, err := caller.Status(t.Context(), "kr"); !riot.IsKind(err, riot.KindNotFound) {
			t.Fatal(err)
		}
	}
	// The third is the client's own, with a permit.
	if diff := cmp.Diff([]string{"", "connection lost", ""}, causes); diff != "" {
		t.Errorf("causes of what was sent (-want +got):\n%s", diff)
	}
	if got := served.Load(); got != 3 {
		t.Errorf("the server saw %d requests, want 3", got)
	}
}
