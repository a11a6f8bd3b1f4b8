package schedule_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/bot/schedule"
)

func canonicalZones(t *testing.T) []string {
	t.Helper()
	body, err := os.ReadFile("zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(body))
	if len(names) < 400 || !slices.IsSorted(names) {
		t.Fatalf("%d names, sorted: %t", len(names), slices.IsSorted(names))
	}
	return names
}

func TestEveryZoneLoads(t *testing.T) {
	t.Parallel()
	for _, name := range canonicalZones(t) {
		for _, typed := range []string{name, strings.ToLower(name), strings.ToUpper(name), " " + strings.ReplaceAll(name, "_", " ") + "\n"} {
			if got, err := schedule.ParseZone(typed); err != nil || got != name {
				t.Errorf("%q: %s, %v", typed, got, err)
			}
		}
		if found := schedule.SuggestZones(name, 1); !slices.Equal(found, []string{name}) {
			t.Errorf("%s typed in full suggests %s", name, found)
		}
	}
}

func TestLinksLeadToZones(t *testing.T) {
	t.Parallel()
	names := canonicalZones(t)
	body, err := os.ReadFile("links.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(body)) {
		link, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n++
		if _, known := slices.BinarySearch(names, name); !known {
			t.Errorf("%s leads to %s, which is no zone", link, name)
			continue
		}
		if got, err := schedule.ParseZone(link); err != nil || got != name {
			t.Errorf("%s: %s, %v", link, got, err)
		}
		a, err := time.LoadLocation(link)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := time.LoadLocation(name)
		if err != nil {
			t.Error(err)
			continue
		}
		// They may have differed long ago, not now.
		for month := time.January; month <= time.December; month++ {
			at := time.Date(2026, month, 15, 12, 0, 0, 0, time.UTC)
			if x, y := at.In(a).Format("15:04"), at.In(b).Format("15:04"); x != y {
				t.Errorf("%s is at %s when %s is at %s", link, x, name, y)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d links", n)
	}
}

func TestParseZone(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"Asia/Seoul": "Asia/Seoul", "asia/seoul": "Asia/Seoul", "AMERICA/NEW_YORK": "America/New_York", "america/new york": "America/New_York",
		"utc": "UTC", "GMT": "UTC", "Etc/UTC": "UTC", "Asia/Calcutta": "Asia/Kolkata", "US/Pacific": "America/Los_Angeles",
		"rok": "Asia/Seoul", "america/port-au-prince": "America/Port-au-Prince", "\u2066Asia/Seoul\u2069": "Asia/Seoul",
	} {
		if got, err := schedule.ParseZone(typed); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", typed, got, err, want)
		}
	}
}

func TestParseZoneRefuses(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]schedule.ZoneError{
		"":                          {Reason: schedule.ZoneEmpty},
		"  ":                        {Reason: schedule.ZoneEmpty},
		"+09:00":                    {Reason: schedule.ZoneOffset, Suggestions: []string{"Asia/Seoul", "Asia/Tokyo"}},
		"UTC+9":                     {Reason: schedule.ZoneOffset, Suggestions: []string{"Asia/Seoul", "Asia/Tokyo"}},
		"utc -3":                    {Reason: schedule.ZoneOffset},
		"GMT+0100":                  {Reason: schedule.ZoneOffset},
		"Etc/GMT+5":                 {Reason: schedule.ZoneOffset},
		"EST":                       {Reason: schedule.ZoneOffset, Suggestions: []string{"America/New_York"}},
		"KST":                       {Reason: schedule.ZoneOffset, Suggestions: []string{"Asia/Seoul"}},
		"Local":                     {Reason: schedule.ZoneUnknown},
		"Mars/Olympus":              {Reason: schedule.ZoneUnknown},
		"../etc/passwd":             {Reason: schedule.ZoneUnknown},
		"/etc/localtime":            {Reason: schedule.ZoneUnknown},
		"seoul":                     {Reason: schedule.ZoneUnknown, Suggestions: []string{"Asia/Seoul"}},
		strings.Repeat("Asia/", 99): {Reason: schedule.ZoneUnknown},
	} {
		name, err := schedule.ParseZone(typed)
		var got *schedule.ZoneError
		if !errors.As(err, &got) || name != "" {
			t.Errorf("%q: %q, %v", typed, name, err)
			continue
		}
		if got.Reason != want.Reason || !slices.Equal(got.Suggestions, want.Suggestions) {
			t.Errorf("%q: %s, %s; want %s, %s", typed, got.Reason, got.Suggestions, want.Reason, want.Suggestions)
		}
		if len([]rune(got.Input)) > 41 || got.Error() == "" {
			t.Errorf("%q: %q", typed, got.Error())
		}
	}
}

func TestSuggestZones(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"": "Asia/Seoul", "seo": "Asia/Seoul", "서울": "Asia/Seoul", "한국": "Asia/Seoul", "korea": "Asia/Seoul",
		"new york": "America/New_York", "new_y": "America/New_York", "뉴욕": "America/New_York", "미국": "America/New_York",
		"berl": "Europe/Berlin", "독일": "Europe/Berlin", "일본": "Asia/Tokyo", "도쿄": "Asia/Tokyo", "베트남": "Asia/Ho_Chi_Minh",
		"kath": "Asia/Kathmandu", "lord": "Australia/Lord_Howe", "calcutta": "Asia/Kolkata", "LA": "America/Los_Angeles",
		"asia/se": "Asia/Seoul", "europe": "Europe/London", "utc": "UTC", "york": "America/New_York", "sao": "America/Sao_Paulo",
	} {
		got := schedule.SuggestZones(typed, 25)
		if len(got) == 0 || got[0] != want {
			t.Errorf("%q: %s, want %s first", typed, got, want)
		}
		if len(got) > 25 {
			t.Errorf("%q: %d", typed, len(got))
		}
		seen := map[string]bool{}
		for _, name := range got {
			if seen[name] {
				t.Errorf("%q: %s twice", typed, name)
			}
			seen[name] = true
			if again, err := schedule.ParseZone(name); err != nil || again != name {
				t.Errorf("%q: suggests %q, which is read as %q (%v)", typed, name, again, err)
			}
		}
	}
	for _, most := range []int{0, -1} {
		if got := schedule.SuggestZones("a", most); len(got) != 0 {
			t.Errorf("%d at most: %s", most, got)
		}
	}
	if got := schedule.SuggestZones("nowhere at all", 25); len(got) != 0 {
		t.Errorf("nowhere: %s", got)
	}
	if got := schedule.SuggestZones("a", 25); len(got) != 25 {
		t.Errorf("%d for one letter", len(got))
	}
	if got := schedule.SuggestZones(strings.Repeat("a", 5000), 25); len(got) != 0 {
		t.Errorf("%s for a novel", got)
	}
	// What is returned is the caller's.
	schedule.SuggestZones("", 3)[0] = "x"
	if got := schedule.SuggestZones("", 1); got[0] != "Asia/Seoul" {
		t.Errorf("a caller's change came back: %s", got)
	}
}

func FuzzParseZone(f *testing.F) {
	for _, s := range []string{"Asia/Seoul", "asia/seoul", "UTC+9", "", "Local", "../x", "서울"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		schedule.SuggestZones(s, 25)
		name, err := schedule.ParseZone(s)
		if err != nil {
			return
		}
		if _, err := time.LoadLocation(name); err != nil {
			t.Fatalf("%q: %s: %v", s, name, err)
		}
		if again, err := schedule.ParseZone(name); err != nil || again != name {
			t.Fatalf("%q: %s is read as %s (%v)", s, name, again, err)
		}
	})
}
