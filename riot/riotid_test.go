package riot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"riftchime/riot"
)

func TestParseRiotID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want riot.RiotID
	}{
		"plain":                {"Maple#KR1", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"inner spaces":         {"Calm in rain#KR1", riot.RiotID{GameName: "Calm in rain", TagLine: "KR1"}},
		"hangul":               {"페이커 짱#한국", riot.RiotID{GameName: "페이커 짱", TagLine: "한국"}},
		"decomposed hangul":    {norm.NFD.String("페이커#한국"), riot.RiotID{GameName: "페이커", TagLine: "한국"}},
		"spaces round it all":  {"  Maple  #  KR1  ", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"direction marks":      {"\u2066Maple\u2069\u2066 #KR1\u2069", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"byte order mark":      {"\ufeffMaple#KR1\u200b", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"mark inside a letter": {"e\u200d\u0301a#KR1", riot.RiotID{GameName: "éa", TagLine: "KR1"}},
		"control characters":   {"Ma\x00ple#K\x1bR1", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"several hashes":       {"a#b#c", riot.RiotID{GameName: "a", TagLine: "b#c"}},
		"wide hash":            {"페이커＃KR1", riot.RiotID{GameName: "페이커", TagLine: "KR1"}},
		"emoji":                {"🐧 penguin#🐧1", riot.RiotID{GameName: "🐧 penguin", TagLine: "🐧1"}},
		"greek":                {"Y Ξ#EUW", riot.RiotID{GameName: "Y Ξ", TagLine: "EUW"}},
		"no-break space":       {"\u00a0Maple\u3000#KR1", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"path characters":      {"a/b?c%d#x&y", riot.RiotID{GameName: "a/b?c%d", TagLine: "x&y"}},
		"comma behind":         {"Maple#KR1,", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
		"32 code points":       {strings.Repeat("가", 32) + "#KR1", riot.RiotID{GameName: strings.Repeat("가", 32), TagLine: "KR1"}},
		"32 and marks":         {strings.Repeat("가\u200b", 32) + "#KR1", riot.RiotID{GameName: strings.Repeat("가", 32), TagLine: "KR1"}},
		"broken UTF-8":         {"Ma\xffple#KR1", riot.RiotID{GameName: "Maple", TagLine: "KR1"}},
	} {
		got, err := riot.ParseRiotID(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%s: ParseRiotID(%q) is %+q, %v; want %+q", name, tt.in, got, err, tt.want)
		}
	}
}

func TestParseRiotIDRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]riot.RiotIDReason{
		"":                               riot.EmptyText,
		" \u200b ,\n":                    riot.EmptyText,
		"Maple":                          riot.NoHash,
		"#KR1":                           riot.EmptyName,
		" \u2066 #KR1":                   riot.EmptyName,
		"Maple#":                         riot.EmptyTag,
		"Maple# \u2069":                  riot.EmptyTag,
		"Maple#,KR1":                     riot.SeveralIDs,
		"#":                              riot.EmptyName,
		strings.Repeat("가", 33) + "#KR1": riot.NameTooLong,
		"Maple#123456789":                riot.TagTooLong,
		"Maple#KR1 and more":             riot.SeveralIDs,
		"Maple#KR1, Aspen#KR2":           riot.SeveralIDs,
	} {
		id, err := riot.ParseRiotID(in)
		var e *riot.RiotIDError
		if !errors.As(err, &e) || e.Reason != want || id != (riot.RiotID{}) {
			t.Errorf("ParseRiotID(%q) is %+q, %v; want the reason %q", in, id, err, want)
		} else if !strings.Contains(err.Error(), want.String()) || want.String() == "unknown" {
			t.Errorf("ParseRiotID(%q): the error %q does not say %q", in, err, want)
		}
	}
}

func TestParseRiotIDs(t *testing.T) {
	t.Parallel()
	id := func(name, tag string) riot.RiotID { return riot.RiotID{GameName: name, TagLine: tag} }
	for name, tt := range map[string]struct {
		in   string
		want []riot.RiotID
		bad  []string
	}{
		"none":                {"", nil, nil},
		"commas":              {"a#1,b c#2 , d#3", []riot.RiotID{id("a", "1"), id("b c", "2"), id("d", "3")}, nil},
		"new lines":           {"a#1\r\nb#2\n\nc#3\n", []riot.RiotID{id("a", "1"), id("b", "2"), id("c", "3")}, nil},
		"spaces":              {"Calm in rain#KR1 Maple#T1 Y Ξ#EUW", []riot.RiotID{id("Calm in rain", "KR1"), id("Maple", "T1"), id("Y Ξ", "EUW")}, nil},
		"spaces round hashes": {"Calm in rain # KR1 Maple # T1", []riot.RiotID{id("Calm in rain", "KR1"), id("Maple", "T1")}, nil},
		"east asian commas":   {"가#1，나#2、다#3", []riot.RiotID{id("가", "1"), id("나", "2"), id("다", "3")}, nil},
		"doubles":             {"Maple#KR1, MAPLE#kr1,maple#Kr1", []riot.RiotID{id("Maple", "KR1")}, nil},
		"lobby": {
			"\u2066Maple\u2069\u2066 #KR1\u2069 joined the lobby\n\u2066Aspen\u2069\u2066 #KR2\u2069 joined the lobby",
			[]riot.RiotID{id("Maple", "KR1"), id("Aspen", "KR2")},
			[]string{"joined the lobby"},
		},
		"bad among good": {"Maple, a#1, #2, b#, c#3", []riot.RiotID{id("a", "1"), id("c", "3")}, []string{"Maple", "#2", "b#"}},
	} {
		got, bad := riot.ParseRiotIDs(tt.in)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: ids (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.bad, bad); diff != "" {
			t.Errorf("%s: bad (-want +got)\n%s", name, diff)
		}
	}
}

func TestParseManyRiotIDs(t *testing.T) {
	t.Parallel()
	for _, separator := range []string{",", ", ", "\n", " ", "\r\n"} {
		var all []string
		for i := range 25 {
			all = append(all, fmt.Sprintf("Spieler %d#EU%d", i, i))
		}
		ids, bad := riot.ParseRiotIDs(strings.Join(all, separator))
		if len(ids) != 25 || len(bad) != 0 {
			t.Errorf("separated by %q: %d ids, bad %q; want 25 and none", separator, len(ids), bad)
		}
		if last := ids[len(ids)-1].String(); last != "Spieler 24#EU24" {
			t.Errorf("separated by %q: the last is %q", separator, last)
		}
	}
}

func FuzzParseRiotIDs(f *testing.F) {
	for _, s := range []string{
		"Maple#KR1", "a#b#c", "\u2066Maple\u2069\u2066 #KR1\u2069", "Calm in rain # KR1 Maple # T1",
		"가＃나，다#라", "#", "a#", "#b", "a\n#b", norm.NFD.String("페이커#한국"), "a#1 \u0301b#2", "\xff#\xfe",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ids, bad := riot.ParseRiotIDs(s)
		seen := map[string]bool{}
		for _, id := range ids {
			if id.GameName == "" || id.TagLine == "" || strings.Contains(id.GameName, "#") {
				t.Errorf("%q gave %+q", s, id)
			}
			for _, r := range id.String() {
				if unicode.Is(unicode.Cf, r) || unicode.IsControl(r) && r != '\t' || r == ',' || r == '\n' {
					t.Errorf("%q gave %+q with %U in it", s, id, r)
				}
			}
			if !norm.NFC.IsNormalString(id.GameName) || !norm.NFC.IsNormalString(id.TagLine) {
				t.Errorf("%q gave %+q, which is not in normal form C", s, id)
			}
			if seen[id.Fold()] {
				t.Errorf("%q gave %+q twice", s, id)
			}
			seen[id.Fold()] = true
			again, err := riot.ParseRiotID(id.String())
			if err != nil || again != id {
				t.Errorf("%+q does not survive being written and read: %+q, %v", id, again, err)
			}
		}
		for _, b := range bad {
			var e *riot.RiotIDError
			if id, err := riot.ParseRiotID(b); !errors.As(err, &e) || e.Reason == riot.SeveralIDs || e.Reason == riot.EmptyText {
				t.Errorf("%q gave the bad %q, which alone is %+q, %v", s, b, id, err)
			}
		}
		if id, err := riot.ParseRiotID(s); err == nil && (len(ids) != 1 || len(bad) != 0 || ids[0] != id) {
			t.Errorf("%q alone is %+q, among several %+q and %q", s, id, ids, bad)
		}
	})
}
