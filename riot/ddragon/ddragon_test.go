package ddragon_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/riot/ddragon"
	"riftchime/riot/riottest"
)

// files serves bodies by path and fails on any other.
func files(t *testing.T, bodies map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, o ddragon.Options) *ddragon.Client {
	t.Helper()
	c, err := ddragon.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	versions = `["15.13.1","15.12.1","lolpatch_7.20"]`
	korean   = `{"type":"champion","version":"15.13.1","data":{
		"MonkeyKing":{"version":"15.13.1","id":"MonkeyKing","key":"62","name":"오공","stats":{"hp":610.5}},
		"Ahri":{"id":"Ahri","key":"103","name":"아리"},
		"Broken":{"id":"Broken","key":"x","name":"?"},
		"Aatrox":{"id":"Aatrox","key":"266","name":"아트록스"}}}`
	english = `{"data":{"MonkeyKing":{"id":"MonkeyKing","key":"62","name":"Wukong"}}}`
)

func TestChampions(t *testing.T) {
	t.Parallel()
	c := client(t, ddragon.Options{URL: files(t, map[string]string{
		"/api/versions.json":                        versions,
		"/cdn/15.13.1/data/ko_KR/champion.json":     korean,
		"/cdn/15.13.1/data/en_US/champion.json":     english,
		"/cdn/15.12.1/data/en_US/champion.json":     `{"data":{}}`,
		"/cdn/lolpatch_7.20/data/en_US/champion.js": ``,
	}) + "/"})
	for lang, want := range map[string][]ddragon.Champion{
		"ko": {{ID: 62, Key: "MonkeyKing", Name: "오공"}, {ID: 103, Key: "Ahri", Name: "아리"}, {ID: 266, Key: "Aatrox", Name: "아트록스"}},
		"en": {{ID: 62, Key: "MonkeyKing", Name: "Wukong"}},
	} {
		version, got, err := c.Champions(t.Context(), lang)
		if err != nil || version != "15.13.1" {
			t.Errorf("%s: version %q, error %v", lang, version, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", lang, diff)
		}
	}
}

func TestChampionsFails(t *testing.T) {
	t.Parallel()
	const list = "/cdn/15.13.1/data/en_US/champion.json"
	for name, tt := range map[string]struct {
		lang   string
		bodies map[string]string
	}{
		"unknown language":   {"fr", map[string]string{"/api/versions.json": versions, list: english}},
		"nothing there":      {"en", nil},
		"no version":         {"en", map[string]string{"/api/versions.json": `[]`, list: english}},
		"version with steps": {"en", map[string]string{"/api/versions.json": `[".."]`, list: english}},
		"version with slash": {"en", map[string]string{"/api/versions.json": `["15/13"]`, list: english}},
		"not JSON":           {"en", map[string]string{"/api/versions.json": `<html>`}},
		"no list":            {"en", map[string]string{"/api/versions.json": versions}},
		"cut list":           {"en", map[string]string{"/api/versions.json": versions, list: english[:40]}},
		"empty list":         {"en", map[string]string{"/api/versions.json": versions, list: `{"data":{}}`}},
		"too large":          {"en", map[string]string{"/api/versions.json": versions, list: strings.Repeat(" ", 8<<20) + english}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client(t, ddragon.Options{URL: files(t, tt.bodies)})
			if version, got, err := c.Champions(t.Context(), tt.lang); err == nil {
				t.Errorf("got version %q and %v, want an error", version, got)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(s.Close)
	c := client(t, ddragon.Options{URL: s.URL, Timeout: 20 * time.Millisecond})
	_, _, err := c.Champions(t.Context(), "en")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline's error", err)
	}
	if err != nil && strings.Contains(err.Error(), s.URL) {
		t.Errorf("the error has the address in it: %v", err)
	}
}

func TestIconURL(t *testing.T) {
	t.Parallel()
	c := client(t, ddragon.Options{})
	if got, want := c.IconURL("15.13.1", "MonkeyKing"), "https://ddragon.leagueoflegends.com/cdn/15.13.1/img/champion/MonkeyKing.png"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"ddragon", "ftp://host", "http://", "http://user:pass@host", "http://host?x=1", "http://host#x", "http://%zz"} {
		if _, err := ddragon.New(ddragon.Options{URL: u}); err == nil {
			t.Errorf("New(%q): no error", u)
		} else if strings.Contains(err.Error(), "pass") {
			t.Errorf("New(%q): the error has the password in it: %v", u, err)
		}
	}
}

// TestAgainstServer asks the local Data Dragon for both languages and an icon.
func TestAgainstServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(riottest.DDragon())
	t.Cleanup(s.Close)
	c := client(t, ddragon.Options{URL: s.URL})
	names := map[string]string{}
	for _, lang := range []string{"ko", "en"} {
		version, all, err := c.Champions(t.Context(), lang)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %d champions, %v", lang, len(all), err)
		}
		for _, champion := range all {
			if champion.ID == 103 {
				names[lang] = champion.Name
				res, err := http.Get(c.IconURL(version, champion.Key))
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Errorf("the icon's status is %d", res.StatusCode)
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]string{"ko": "아리", "en": "Ahri"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
