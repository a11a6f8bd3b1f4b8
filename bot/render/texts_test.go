package render_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"riftchime/bot/render"
)

func loadOwn(t *testing.T) *render.Texts {
	t.Helper()
	texts, err := render.LoadTexts(os.DirFS("locales"))
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestEveryLocaleHasEveryText(t *testing.T) {
	t.Parallel()
	texts := loadOwn(t)
	if got := texts.Languages(); !slices.Equal(got, []string{"en", "ko"}) {
		t.Errorf("languages %s", got)
	}
	if missing := texts.Missing(); len(missing) > 0 {
		t.Errorf("missing: %s", missing)
	}
}

// TestEveryTextInTheSourceExists looks for the ids that the source names.
func TestEveryTextInTheSourceExists(t *testing.T) {
	t.Parallel()
	texts := loadOwn(t)
	named := regexp.MustCompile(`w\.(?:say|count)\("([^"]+)"[,)]`)
	found := 0
	for _, file := range []string{"writer.go", "game.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(source), -1) {
			found++
			if !texts.Has(m[1]) {
				t.Errorf("%s: no text %q", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\d+: "([a-z]+)"`).FindAllStringSubmatch(string(source), -1) {
			found++
			if !texts.Has("queue." + m[1]) {
				t.Errorf("%s: no text queue.%s", file, m[1])
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d ids found in the source", found)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	texts, err := render.LoadTexts(fstest.MapFS{
		"a/active.en.json": {Data: []byte(`{"plain": "Hello", "filled": "Hello {{.Name}}", "apples": {"one": "{{.Count}} apple of {{.Name}}", "other": "{{.Count}} apples of {{.Name}}"}, "english": "only here {{.Name}}", "english.plain": "only"}`)},
		"a/active.ko.json": {Data: []byte(`{"plain": "안녕", "filled": "{{.Name}} 안녕", "apples": "{{.Name}}의 사과 {{.Count}}개", "korean": "한국어만"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]any{"Name": "Ann"}
	for what, c := range map[string]struct{ got, want string }{
		"plain, Korean":         {texts.Get("ko", "plain", nil), "안녕"},
		"plain, unknown":        {texts.Get("fr", "plain", nil), "Hello"},
		"filled":                {texts.Get("ko", "filled", data), "Ann 안녕"},
		"one":                   {texts.Plural("en", "apples", 1, data), "1 apple of Ann"},
		"none":                  {texts.Plural("en", "apples", 0, data), "0 apples of Ann"},
		"several, Korean":       {texts.Plural("ko", "apples", 3, data), "Ann의 사과 3개"},
		"missing in Korean":     {texts.Get("ko", "english", data), "only here Ann"},
		"plain, missing in ko":  {texts.Get("ko", "english.plain", nil), "only"},
		"missing everywhere":    {texts.Get("ko", "nothing", nil), "nothing"},
		"missing, with a count": {texts.Plural("ko", "nothing", 2, nil), "nothing"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", what, c.got, c.want)
		}
	}
	if _, changed := data["Count"]; changed {
		t.Error("Plural changed the caller's data")
	}
	if got, want := texts.Missing(), []string{"en korean", "ko english", "ko english.plain"}; !slices.Equal(got, want) {
		t.Errorf("missing %s, want %s", got, want)
	}
}

func TestLoadTextsRefuses(t *testing.T) {
	t.Parallel()
	for what, files := range map[string]fstest.MapFS{
		"no files":   {},
		"no English": {"active.ko.json": {Data: []byte(`{"a": "b"}`)}},
		"no JSON":    {"active.en.json": {Data: []byte(`{`)}},
	} {
		if _, err := render.LoadTexts(files); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestKoreanIsKorean finds texts that were left in English.
func TestKoreanIsKorean(t *testing.T) {
	t.Parallel()
	same := map[string]bool{ // names and figures that are the same in both
		"game.versus": true, "lp": true, "missing": true, "mode.other": true, "period": true, "rank.ranked": true, "record.score": true, "total.lp": true, "cs": true,
	}
	body, err := os.ReadFile("locales/active.ko.json")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^\s*"([^"]+)": "(.*)"`)
	for l := range strings.Lines(string(body)) {
		if m := line.FindStringSubmatch(l); m != nil && !same[m[1]] && !regexp.MustCompile(`\p{Hangul}`).MatchString(m[2]) {
			t.Errorf("%s: %s", m[1], m[2])
		}
	}
}
