package schedule

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones are the same on every machine
)

// The two lists were made from the names in Go's zone data
// ($GOROOT/lib/time/zoneinfo.zip) and the links in IANA's tzdata.zi: zones.txt
// has a canonical name a line (no fixed offsets but UTC), links.txt a former or
// other name and the canonical one it stands for. A test loads each of them.
var (
	//go:embed zones.txt
	zonesFile string
	//go:embed links.txt
	linksFile string
)

// ZoneReason tells why a zone could not be read.
type ZoneReason string

// The reasons of a ZoneError.
const (
	// ZoneEmpty: nothing was typed.
	ZoneEmpty ZoneReason = "empty"
	// ZoneOffset: a fixed offset, which knows no summer time.
	ZoneOffset ZoneReason = "offset"
	// ZoneUnknown: no such zone.
	ZoneUnknown ZoneReason = "unknown"
)

// ZoneError says why what was typed is not a zone.
type ZoneError struct {
	// Input is what was typed, its first 40 characters at most.
	Input  string
	Reason ZoneReason
	// Suggestions are zones that may have been meant, three at most.
	Suggestions []string
}

func (e *ZoneError) Error() string {
	s := ""
	if len(e.Suggestions) > 0 {
		s = " (" + strings.Join(e.Suggestions, ", ") + "?)"
	}
	switch e.Reason {
	case ZoneEmpty:
		return "no time zone given"
	case ZoneOffset:
		return fmt.Sprintf("time zone %q: a fixed offset, not a zone such as Asia/Seoul", e.Input) + s
	}
	return fmt.Sprintf("time zone %q: unknown", e.Input) + s
}

// zoneList is what the two files hold, made ready for looking things up.
type zoneList struct {
	names []string // canonical, in alphabetical order
	// canon has the canonical name of every name, in lower case.
	canon map[string]string
	// terms are what SuggestZones looks through, in the order of names.
	terms []zoneTerms
}

// zoneTerms are the words that lead to one zone, folded.
type zoneTerms struct {
	name string
	// full is the whole name, city its last part, words all its parts, also
	// the other names people have for it.
	full, city string
	words      []string
}

var zones = sync.OnceValue(func() *zoneList {
	l := &zoneList{canon: map[string]string{}}
	for name := range strings.FieldsSeq(zonesFile) {
		l.names = append(l.names, name)
		l.canon[strings.ToLower(name)] = name
	}
	other := map[string][]string{}
	for line := range strings.Lines(linksFile) {
		if link, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			l.canon[strings.ToLower(link)] = name
			other[name] = append(other[name], link)
		}
	}
	for name, words := range nicknames {
		other[name] = append(other[name], words...)
	}
	for _, name := range l.names {
		t := zoneTerms{name: name, full: fold(name)}
		t.city = t.full[strings.LastIndexByte(t.full, '/')+1:]
		for part := range strings.SplitSeq(t.full, "/") {
			t.words = append(t.words, part)
			t.words = append(t.words, strings.Fields(part)...)
		}
		for _, word := range other[name] {
			t.words = append(t.words, fold(word))
			t.words = append(t.words, strings.Split(fold(word), "/")...)
		}
		l.terms = append(l.terms, t)
	}
	return l
})

// offsetLike is what a fixed offset looks like: +09:00, UTC+9, GMT-3, Etc/GMT+5.
var offsetLike = regexp.MustCompile(`(?i)^(?:(?:etc/)?(?:utc|gmt)?\s*[+\-−]\s*\d{1,2}(?::?\d{2})?|z)$`)

// ParseZone reads the name of an IANA zone, whatever its letter case, and returns
// it as IANA spells it today: "asia/calcutta" is "Asia/Kolkata". Fixed offsets,
// "Local" and names that nobody knows are a *ZoneError.
func ParseZone(s string) (string, error) {
	typed := strings.TrimFunc(s, blank)
	if name, ok := zones().canon[strings.ToLower(strings.Join(strings.Fields(typed), "_"))]; ok {
		if _, err := time.LoadLocation(name); err != nil {
			return "", fmt.Errorf("time zone %s: %w", name, err)
		}
		return name, nil
	}
	e := &ZoneError{Input: clip(typed), Reason: ZoneUnknown}
	switch {
	case typed == "":
		e.Reason = ZoneEmpty
	case len(typed) <= mostZone && (offsetLike.MatchString(typed) || abbreviations[strings.ToLower(typed)] != nil):
		e.Reason = ZoneOffset
		e.Suggestions = slices.Clone(abbreviations[strings.ToLower(typed)])
	default:
		e.Suggestions = SuggestZones(typed, 3)
	}
	return "", e
}

// mostZone bounds what is looked at of a typed zone, in bytes.
const mostZone = 100

// SuggestZones lists zones for what is typed so far, the best first, most of
// them at most: by city or region, in English or by the Korean names of
// countries and cities. For nothing typed it lists zones that are asked for
// often.
func SuggestZones(typed string, most int) []string {
	if most <= 0 || len(typed) > mostZone {
		return nil
	}
	want := fold(typed)
	if want == "" {
		return slices.Clone(popular[:min(most, len(popular))])
	}
	var ranked [4][]string
	for _, t := range zones().terms {
		if r := t.rank(want); r >= 0 {
			ranked[r] = append(ranked[r], t.name)
		}
	}
	for _, names := range ranked {
		// Those asked for often come first among equals.
		slices.SortStableFunc(names, func(a, b string) int { return popularity(a) - popularity(b) })
	}
	all := slices.Concat(ranked[:]...)
	return all[:min(most, len(all))]
}

// rank is how well want fits, 0 best; -1: not at all.
func (t zoneTerms) rank(want string) int {
	switch {
	case t.full == want || t.city == want || slices.Contains(t.words, want):
		return 0
	case strings.HasPrefix(t.city, want):
		return 1
	case strings.HasPrefix(t.full, want) || slices.ContainsFunc(t.words, func(w string) bool { return strings.HasPrefix(w, want) }):
		return 2
	case strings.Contains(t.full, want):
		return 3
	}
	return -1
}

func popularity(name string) int {
	if i := slices.Index(popular, name); i >= 0 {
		return i
	}
	return len(popular)
}

// fold makes what is typed and what is known alike: lower case, spaces for
// underscores, single spaces.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return ' '
		case blank(r):
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}
