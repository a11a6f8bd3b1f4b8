package schedule

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Hours are the hours of a day at which a channel chimes: bit n is set for hour
// n, 0 to 23. Zero is off. Higher bits mean nothing.
type Hours uint32

// All is every hour of the day.
const All Hours = 1<<24 - 1

// HoursReason tells why hours could not be read.
type HoursReason string

// The reasons of an HoursError.
const (
	// HoursEmpty: nothing was typed.
	HoursEmpty HoursReason = "empty"
	// HoursTooLong: more was typed than hours can need.
	HoursTooLong HoursReason = "too_long"
	// HoursRange: a number is no hour from 0 to 23.
	HoursRange HoursReason = "range"
	// HoursSyntax: a part is neither an hour nor a range of hours.
	HoursSyntax HoursReason = "syntax"
)

// HoursError says which part of what was typed is wrong, and why.
type HoursError struct {
	// Input is what was typed, its first 40 characters at most.
	Input string
	// Part is the piece that is wrong; "" where it is the whole.
	Part   string
	Reason HoursReason
}

func (e *HoursError) Error() string {
	switch e.Reason {
	case HoursEmpty:
		return "no hours given"
	case HoursTooLong:
		return fmt.Sprintf("hours %q: too long", e.Input)
	case HoursRange:
		return fmt.Sprintf("hours %q: %s is not an hour from 0 to 23", e.Input, e.Part)
	}
	return fmt.Sprintf("hours %q: %q is neither an hour (12) nor a range of hours (9-23)", e.Input, e.Part)
}

const (
	// mostTyped bounds what ParseHours looks at, in bytes: all 24 hours, each
	// written out several times, are shorter.
	mostTyped = 400
	// mostShown bounds what an error repeats, in characters.
	mostShown = 40
)

// wholeHours are the words for every hour and for none.
var wholeHours = map[string]Hours{
	"all": All, "every": All, "always": All, "hourly": All, "*": All,
	"전체": All, "모두": All, "매시": All, "매시간": All, "항상": All,
	"off": 0, "none": 0, "never": 0,
	"끄기": 0, "끔": 0, "꺼짐": 0, "없음": 0,
}

// dash joins the ends of a range: a hyphen, a dash, or a tilde as Koreans write
// it, with or without spaces.
var dash = regexp.MustCompile(`\s*[-‐‑‒–—−~∼〜～]\s*`)

// oneHour is an hour as people write it: 9, 09, 9:00, 9시.
var oneHour = regexp.MustCompile(`^([0-9]{1,9})(?::00|시)?$`)

// ParseHours reads hours as people type them: one (12), several (0,6,12,18),
// a range with both its ends (9-23), also over midnight (22-2), mixtures
// (0,9-12), "all" and "off", in English or Korean. Spaces and doubles do no
// harm. The error is a *HoursError.
func ParseHours(s string) (Hours, error) {
	fail := func(part string, why HoursReason) (Hours, error) {
		return 0, &HoursError{Input: clip(s), Part: clip(part), Reason: why}
	}
	if len(s) > mostTyped {
		return fail("", HoursTooLong)
	}
	typed := strings.ToLower(strings.TrimFunc(s, blank))
	if typed == "" {
		return fail("", HoursEmpty)
	}
	if h, ok := wholeHours[typed]; ok {
		return h, nil
	}
	var hours Hours
	found := false
	for part := range strings.FieldsFuncSeq(dash.ReplaceAllString(typed, "-"), separates) {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, why := hour(from)
		if why == "" {
			var last int
			if last, why = hour(to); why == "" {
				for h := first; ; h = (h + 1) % 24 {
					hours |= 1 << h
					if h == last {
						break
					}
				}
				found = true
				continue
			}
			from = to
		}
		if why == HoursRange {
			part = from
		}
		return fail(part, why)
	}
	if !found {
		return fail(typed, HoursSyntax)
	}
	return hours, nil
}

func hour(s string) (int, HoursReason) {
	m := oneHour.FindStringSubmatch(s)
	if m == nil {
		return 0, HoursSyntax
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 23 {
		return 0, HoursRange
	}
	return n, ""
}

// separates says whether r stands between hours.
func separates(r rune) bool {
	return blank(r) || strings.ContainsRune(",;/、，；·", r)
}

// blank is white space, and the invisible format characters that come along
// when text is pasted.
func blank(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

func clip(s string) string {
	n := 0
	for i := range s {
		if n == mostShown {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Has says whether h chimes at that hour, 0 to 23; at any other number it does
// not.
func (h Hours) Has(hour int) bool { return hour >= 0 && hour < 24 && h>>hour&1 == 1 }

// String is the shortest spelling that ParseHours reads back: "all", "off",
// "9-23", "0,6,12,18", "22-2". Two neighbours stay two ("9,10").
func (h Hours) String() string {
	h &= All
	switch h {
	case All:
		return "all"
	case 0:
		return "off"
	}
	var parts []string
	for first := range 24 {
		if !h.Has(first) || h.Has((first+23)%24) {
			continue // no run begins here
		}
		// The run is as long as the rotated bits are set without a break.
		turned := (h>>first | h<<(24-first)) & All
		length := bits.TrailingZeros32(^uint32(turned))
		last := (first + length - 1) % 24
		switch length {
		case 1:
			parts = append(parts, strconv.Itoa(first))
		case 2:
			parts = append(parts, strconv.Itoa(first), strconv.Itoa(last))
		default:
			parts = append(parts, strconv.Itoa(first)+"-"+strconv.Itoa(last))
		}
	}
	return strings.Join(parts, ",")
}
