package render

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/bidi"
)

// longestName bounds what is shown of a name, in characters. A Riot ID has at
// most 16 + 1 + 5, and no champion or mode comes near it.
const longestName = 40

// size is how long s is as Discord counts it, at most: UTF-16 units. (Where it
// counts characters instead, s is shorter.)
func size(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// name makes text of others fit to stand in a line: one line, bounded, without
// invisible marks, its direction kept to itself, and with nothing in it that
// Discord would take for markup, a mention or a link. It is "" where nothing
// visible is left.
func name(s string) string {
	s = clean(s)
	if s == "" {
		return ""
	}
	escaped := escape(s)
	if rightToLeft(s) {
		return "\u2068" + escaped + "\u2069" // first strong isolate … pop
	}
	return escaped
}

// clean drops what can't be seen from s and makes one bounded line of it. The
// joiners that scripts and emoji need stay between two visible characters.
func clean(s string) string {
	var b strings.Builder
	n, visible := 0, false
	var held rune
	for _, r := range s {
		switch {
		case r == '\u200d' || r == '\u200c':
			if b.Len() > 0 {
				held = r
			}
			continue
		case r == unicode.ReplacementChar || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Cs, r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r) || hollow(r):
			r, held = ' ', 0
		default:
			visible = true
		}
		if n++; n > longestName {
			b.WriteRune('…')
			break
		}
		if held != 0 {
			b.WriteRune(held)
			held = 0
		}
		b.WriteRune(r)
	}
	if !visible {
		return ""
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// hollow are letters that show as nothing: the fillers of Hangul, and Braille's
// blank.
func hollow(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800':
		return true
	}
	return false
}

// escape puts a backslash before everything that Discord's markdown would act
// on. Brackets cover links and mentions, slashes and colons bare addresses.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '\\', '*', '_', '~', '|', '`', '<', '>', '[', ']', '(', ')', '@', '/':
			b.WriteByte('\\')
		case ':':
			if strings.HasPrefix(s[i:], "://") {
				b.WriteByte('\\')
			}
		case '#', '-', '+':
			if i == 0 { // a heading, a list
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rightToLeft says whether s has letters that run from right to left.
func rightToLeft(s string) bool {
	for _, r := range s {
		if r < 0x590 {
			continue
		}
		p, _ := bidi.LookupRune(r)
		if c := p.Class(); c == bidi.R || c == bidi.AL {
			return true
		}
	}
	return false
}

// unescape is what a reader sees of markdown as this package writes it: without
// backslashes and the marks of bold text.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == '*':
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
