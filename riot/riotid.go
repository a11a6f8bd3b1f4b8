package riot

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of what is taken for a Riot ID, in code points. Riot's own are 3 to 16
// and 3 to 5; older and regional names are outside of them, so that Riot
// decides, not this package.
const (
	maxGameName = 32
	maxTagLine  = 8
)

// RiotIDReason says why a text is not a Riot ID.
type RiotIDReason uint8

const (
	// NoHash: there is no "#" in it.
	NoHash RiotIDReason = iota + 1
	// EmptyName: nothing stands before the "#".
	EmptyName
	// EmptyTag: nothing stands behind the "#".
	EmptyTag
	// NameTooLong: more than 32 code points before the "#".
	NameTooLong
	// TagTooLong: more than 8 code points behind the "#".
	TagTooLong
	// EmptyText: nothing visible was typed.
	EmptyText
	// SeveralIDs: one was wanted and there is more.
	SeveralIDs
)

func (r RiotIDReason) String() string {
	switch r {
	case NoHash:
		return "no # in it"
	case EmptyName:
		return "no name before the #"
	case EmptyTag:
		return "no tag behind the #"
	case NameTooLong:
		return "the name is too long"
	case TagTooLong:
		return "the tag is too long"
	case EmptyText:
		return "nothing in it"
	case SeveralIDs:
		return "more than one"
	}
	return "unknown"
}

// RiotIDError says that a text is not a Riot ID, and why. Texts for people are
// chosen by Reason.
type RiotIDError struct {
	// Text is what was typed, without what can't be seen.
	Text   string
	Reason RiotIDReason
}

func (e *RiotIDError) Error() string {
	return fmt.Sprintf("riot id %q: %s", e.Text, e.Reason)
}

// ParseRiotID reads one Riot ID as people type and paste it: the name up to the
// first "#", the tag up to white space, a comma or the end. White space round
// both and characters that can't be seen (the game's client wraps names in
// direction marks) go; spaces inside the name stay. The result is in Unicode
// normal form C. An error is always a *RiotIDError.
func ParseRiotID(s string) (RiotID, error) {
	clean := visible(s)
	var found []piece
	for p := range pieces(clean) {
		found = append(found, p)
		if len(found) > 1 {
			return RiotID{}, &RiotIDError{Text: strings.TrimSpace(clean), Reason: SeveralIDs}
		}
	}
	if len(found) == 0 {
		return RiotID{}, &RiotIDError{Text: strings.TrimSpace(clean), Reason: EmptyText}
	}
	if p := found[0]; p.reason != 0 {
		return RiotID{}, &RiotIDError{Text: p.text, Reason: p.reason}
	}
	return found[0].id, nil
}

// ParseRiotIDs reads any number of Riot IDs, separated by commas, new lines or
// spaces, each as ParseRiotID does. Of those that are equal but for upper and
// lower case only the first is returned. What is not a Riot ID is returned in
// bad, each text once; ParseRiotID tells of each why.
func ParseRiotIDs(s string) (ids []RiotID, bad []string) {
	seenID, seenBad := map[string]bool{}, map[string]bool{}
	for p := range pieces(visible(s)) {
		if p.reason != 0 {
			if !seenBad[p.text] {
				seenBad[p.text] = true
				bad = append(bad, p.text)
			}
			continue
		}
		if key := p.id.Fold(); !seenID[key] {
			seenID[key] = true
			ids = append(ids, p.id)
		}
	}
	return ids, bad
}

// Fold is the same text for Riot IDs that differ in upper and lower case only,
// which Riot takes for one.
func (id RiotID) Fold() string {
	return cases.Fold().String(norm.NFC.String(id.GameName)) + "#" +
		cases.Fold().String(norm.NFC.String(id.TagLine))
}

// piece is one Riot ID of a text, or a part of it that is none.
type piece struct {
	id     RiotID
	text   string       // set where reason is
	reason RiotIDReason // 0: id is one
}

// pieces cuts text, which must be visible, into Riot IDs. Commas and line ends
// always separate; white space only behind a tag, since names have spaces.
func pieces(text string) func(yield func(piece) bool) {
	return func(yield func(piece) bool) {
		for part := range strings.FieldsFuncSeq(text, isSeparator) {
			for rest := strings.TrimSpace(part); rest != ""; {
				var p piece
				p, rest = cutPiece(rest)
				if !yield(p) {
					return
				}
			}
		}
	}
}

// cutPiece takes the first Riot ID off text, which is trimmed and not empty, and
// returns the trimmed rest.
func cutPiece(text string) (piece, string) {
	name, behind, ok := strings.Cut(text, "#")
	if !ok {
		return piece{text: text, reason: NoHash}, ""
	}
	name = strings.TrimSpace(name)
	tag, rest := strings.TrimSpace(behind), ""
	if i := strings.IndexFunc(tag, unicode.IsSpace); i >= 0 {
		tag, rest = tag[:i], strings.TrimSpace(tag[i:])
	}
	p := piece{id: RiotID{GameName: name, TagLine: tag}}
	switch {
	case name == "":
		p.reason = EmptyName
	case tag == "":
		p.reason = EmptyTag
	case utf8.RuneCountInString(name) > maxGameName:
		p.reason = NameTooLong
	case utf8.RuneCountInString(tag) > maxTagLine:
		p.reason = TagTooLong
	default:
		return p, rest
	}
	return piece{text: name + "#" + tag, reason: p.reason}, rest
}

// isSeparator tells commas, those of East Asian keyboards too, and line ends.
func isSeparator(r rune) bool {
	switch r {
	case ',', '\uff0c', '\u3001', '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// visible is s without format and control characters and bytes that are no
// UTF-8, in normal form C. The "#" of East Asian keyboards becomes a plain one.
func visible(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\uff03':
			return '#'
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r) && !unicode.IsSpace(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return norm.NFC.String(s)
}
