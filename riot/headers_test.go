package riot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/ratelimit"
	"riftchime/riot"
)

func TestParseLimits(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]ratelimit.Limit{
		"20:1,100:120":               {{Count: 20, Window: time.Second}, {Count: 100, Window: 2 * time.Minute}},
		"500:10,30000:600":           {{Count: 500, Window: 10 * time.Second}, {Count: 30000, Window: 10 * time.Minute}},
		" 165:60 ":                   {{Count: 165, Window: time.Minute}},
		"20 : 1 , 100 : 120":         {{Count: 20, Window: time.Second}, {Count: 100, Window: 2 * time.Minute}},
		"":                           nil,
		",":                          nil,
		"20":                         nil,
		"20:":                        nil,
		":1":                         nil,
		"20:1,":                      nil,
		"20:1,x:120":                 nil,
		"-20:1":                      nil,
		"20:-1":                      nil,
		"20:0":                       nil,
		"0:1":                        nil,
		"20:1:2":                     nil,
		"20:1,30:1":                  nil,
		"99999999999999999999:1":     nil,
		"1:99999999999999999999":     nil,
		"1:4294967295":               nil,
		"20;1":                       nil,
		strings.Repeat("1:1,", 1000): nil,
	} {
		if diff := cmp.Diff(want, riot.ParseLimits(in)); diff != "" {
			t.Errorf("ParseLimits(%.40q): (-want +got)\n%s", in, diff)
		}
	}
}

func TestParseCounts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]ratelimit.Usage{
		"1:10,26:600":  {{Count: 1, Window: 10 * time.Second}, {Count: 26, Window: 10 * time.Minute}},
		"0:60":         {{Count: 0, Window: time.Minute}},
		"113:120":      {{Count: 113, Window: 2 * time.Minute}},
		"":             nil,
		"1:10,26":      nil,
		"many:of them": nil,
	} {
		if diff := cmp.Diff(want, riot.ParseCounts(in)); diff != "" {
			t.Errorf("ParseCounts(%q): (-want +got)\n%s", in, diff)
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for in, want := range map[string]struct {
		wait time.Duration
		ok   bool
	}{
		"2":                             {2 * time.Second, true},
		"0":                             {0, true},
		" 21 ":                          {21 * time.Second, true},
		"0.5":                           {500 * time.Millisecond, true},
		"86400":                         {time.Hour, true},
		"99999999999999999999":          {time.Hour, true},
		"":                              {0, false},
		"-1":                            {0, false},
		"soon":                          {0, false},
		"NaN":                           {0, false},
		"Inf":                           {0, false},
		"Tue, 03 Feb 2026 04:05:16 GMT": {10 * time.Second, true},
		"Tue, 03 Feb 2026 04:05:00 GMT": {0, true},
		"Tue, 03 Feb 2036 04:05:00 GMT": {time.Hour, true},
		"Tue, 03 Feb":                   {0, false},
		strings.Repeat("1", 1000):       {0, false},
	} {
		wait, ok := riot.ParseRetryAfter(in, now)
		if wait != want.wait || ok != want.ok {
			t.Errorf("ParseRetryAfter(%.40q) is %v, %v; want %v, %v", in, wait, ok, want.wait, want.ok)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"20:1,100:120", "0:1", "1:1,1:1", "2", "0.5", "NaN", "Tue, 03 Feb 2026 04:05:16 GMT", "1e400", ",:,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range riot.ParseLimits(s) {
			if l.Count <= 0 || l.Window < time.Second || l.Window > 31*24*time.Hour {
				t.Errorf("ParseLimits(%q) has %+v", s, l)
			}
		}
		for _, u := range riot.ParseCounts(s) {
			if u.Count < 0 || u.Window < time.Second || u.Window > 31*24*time.Hour {
				t.Errorf("ParseCounts(%q) has %+v", s, u)
			}
		}
		if wait, ok := riot.ParseRetryAfter(s, time.Unix(1_700_000_000, 0)); wait < 0 || wait > time.Hour || !ok && wait != 0 {
			t.Errorf("ParseRetryAfter(%q) is %v, %v", s, wait, ok)
		}
	})
}
