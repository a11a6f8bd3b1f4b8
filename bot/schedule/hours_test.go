package schedule_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"riftchime/bot/schedule"
)

// of makes Hours of a list.
func of(list ...int) schedule.Hours {
	var h schedule.Hours
	for _, n := range list {
		h |= 1 << n
	}
	return h
}

func TestParseHours(t *testing.T) {
	t.Parallel()
	office := of(9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
	for typed, want := range map[string]schedule.Hours{
		"12": of(12), "0": of(0), "23": of(23), "09": of(9), " 7 ": of(7),
		"0,6,12,18": of(0, 6, 12, 18), "0, 6 ,12 , 18": of(0, 6, 12, 18), "0 6 12 18": of(0, 6, 12, 18),
		"12,12,12": of(12), "12,,13,": of(12, 13), "0;6/12": of(0, 6, 12),
		"9-23": office, "9 - 23": office, "9~23": office, "9–23": office, "9시-23시": office, "9:00-23:00": office, "9시 ~ 23시": office,
		"22-2": of(22, 23, 0, 1, 2), "5-5": of(5), "23-0": of(23, 0), "1-0": schedule.All, "0-23": schedule.All,
		"0,9-12": of(0, 9, 10, 11, 12), "9-12,10-13": of(9, 10, 11, 12, 13),
		"all": schedule.All, "ALL": schedule.All, " All ": schedule.All, "전체": schedule.All, "매시간": schedule.All, "*": schedule.All,
		"off": 0, "Off": 0, "끄기": 0, "끔": 0, "none": 0,
		"\u206612\u2069": of(12), "12시": of(12), "12,\n13": of(12, 13), "12、13，14": of(12, 13, 14),
	} {
		got, err := schedule.ParseHours(typed)
		if err != nil || got != want {
			t.Errorf("%q: %s (%v), want %s", typed, got, err, want)
		}
	}
}

func TestParseHoursRefuses(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]schedule.HoursError{
		"":                        {Reason: schedule.HoursEmpty},
		" \n\u200b":               {Reason: schedule.HoursEmpty},
		"25":                      {Reason: schedule.HoursRange, Part: "25"},
		"24":                      {Reason: schedule.HoursRange, Part: "24"},
		"9-24":                    {Reason: schedule.HoursRange, Part: "24"},
		"12,99":                   {Reason: schedule.HoursRange, Part: "99"},
		"99999999999999999999":    {Reason: schedule.HoursSyntax, Part: "99999999999999999999"},
		"9-":                      {Reason: schedule.HoursSyntax, Part: "9-"},
		"-1":                      {Reason: schedule.HoursSyntax, Part: "-1"},
		"-":                       {Reason: schedule.HoursSyntax, Part: "-"},
		"1-2-3":                   {Reason: schedule.HoursSyntax, Part: "1-2-3"},
		"noon":                    {Reason: schedule.HoursSyntax, Part: "noon"},
		"12pm":                    {Reason: schedule.HoursSyntax, Part: "12pm"},
		"9:30":                    {Reason: schedule.HoursSyntax, Part: "9:30"},
		"all,off":                 {Reason: schedule.HoursSyntax, Part: "all"},
		",":                       {Reason: schedule.HoursSyntax, Part: ","},
		"1.5":                     {Reason: schedule.HoursSyntax, Part: "1.5"},
		strings.Repeat("1,", 500): {Reason: schedule.HoursTooLong},
	} {
		h, err := schedule.ParseHours(typed)
		var got *schedule.HoursError
		if !errors.As(err, &got) || h != 0 {
			t.Errorf("%q: %s, %v", typed, h, err)
			continue
		}
		if got.Reason != want.Reason || got.Part != want.Part {
			t.Errorf("%q: %s, part %q; want %s, part %q", typed, got.Reason, got.Part, want.Reason, want.Part)
		}
		if n := len([]rune(got.Input)); n > 41 || got.Error() == "" {
			t.Errorf("%q: input of %d characters, %q", typed, n, got.Error())
		}
	}
}

func TestHoursString(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]schedule.Hours{
		"off": 0, "all": schedule.All, "12": of(12), "0,6,12,18": of(0, 6, 12, 18), "9,10": of(9, 10), "9-11": of(9, 10, 11),
		"22-2": of(22, 23, 0, 1, 2), "0,23": of(0, 23), "2-0": schedule.All &^ of(1), "0,9-12,20": of(0, 9, 10, 11, 12, 20), "1-23": schedule.All &^ 1,
	} {
		if got := h.String(); got != want && !(want == "0,23" && got == "23,0") {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := (1<<30 | of(3)).String(); got != "3" {
		t.Errorf("got %s with a bit that means nothing", got)
	}
}

func TestHoursAreReadBack(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	check := func(h schedule.Hours) {
		got, err := schedule.ParseHours(h.String())
		if err != nil || got != h {
			t.Fatalf("%s was read as %s (%v)", h, got, err)
		}
	}
	for range 5000 {
		check(schedule.Hours(r.Uint32()) & schedule.All)
	}
	for first := range 24 {
		h := schedule.Hours(0)
		for n := range 24 {
			h |= 1 << ((first + n) % 24)
			check(h)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	h := of(0, 23)
	for hour, want := range map[int]bool{-1: false, 0: true, 1: false, 23: true, 24: false, 1000: false} {
		if got := h.Has(hour); got != want {
			t.Errorf("%d: %t", hour, got)
		}
	}
}

func FuzzParseHours(f *testing.F) {
	for _, s := range []string{"12", "0,6,12,18", "9-23", "22-2", "all", "off", "25", "9-", "-1", "", "0,9-12", "전체", "9시~23시", "\u20669\u2069"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := schedule.ParseHours(s)
		if err != nil {
			var e *schedule.HoursError
			if !errors.As(err, &e) || e.Reason == "" || h != 0 {
				t.Fatalf("%q: %s, %v", s, h, err)
			}
			return
		}
		if h > schedule.All {
			t.Fatalf("%q: bits that are no hours: %b", s, h)
		}
		if again, err := schedule.ParseHours(h.String()); err != nil || again != h {
			t.Fatalf("%q: %s was read back as %s (%v)", s, h, again, err)
		}
	})
}
