package commands

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"
)

// Sizes of a message as Discord counts them; see "Embed Limits" in Discord's
// documentation of messages. 50 are kept back for the line that tells what was
// left out.
const (
	maxContent     = 2000
	maxDescription = 4096
	maxEmbeds      = 6000
	leftOutLine    = 50
)

// answer is a response in the making: lines, then notes set apart from them, or
// embeds that are already within Discord's sizes.
type answer struct {
	lines  []string
	notes  []string
	embeds []*discordgo.MessageEmbed
}

func say(lines ...string) *answer { return &answer{lines: lines} }

func (a *answer) add(lines ...string) { a.lines = append(a.lines, lines...) }

func (a *answer) note(lines ...string) { a.notes = append(a.notes, lines...) }

// data completes the response. Text that is too long for a message goes into
// embeds, which hold three times as much; lines beyond that are counted in one
// last line.
func (a *answer) data(q *request, ephemeral bool) *discordgo.InteractionResponseData {
	d := &discordgo.InteractionResponseData{
		AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Embeds:          a.embeds,
	}
	if ephemeral {
		d.Flags = discordgo.MessageFlagsEphemeral
	}
	text := strings.Join(a.lines, "\n")
	if notes := strings.Join(a.notes, "\n"); notes != "" {
		if text != "" {
			text += "\n\n"
		}
		text += notes
	}
	switch {
	case units(text) <= maxContent:
		d.Content = text
	case len(a.embeds) > 0:
		kept, left := fit(strings.Split(text, "\n"), maxContent-leftOutLine)
		d.Content = kept + "\n" + q.n("left_out", left)
	default:
		d.Embeds = a.pack(q)
	}
	return d
}

// pack lays the lines into one or two embeds; notes come first to be kept.
func (a *answer) pack(q *request) []*discordgo.MessageEmbed {
	notes, _ := fit(a.notes, maxContent)
	room := maxEmbeds - leftOutLine - units(notes)
	var embeds []*discordgo.MessageEmbed
	lines := a.lines
	for len(lines) > 0 && len(embeds) < 3 && room > 0 {
		text, left := fit(lines, min(room, maxDescription))
		if text == "" {
			break
		}
		embeds = append(embeds, &discordgo.MessageEmbed{Description: text})
		room -= units(text)
		lines = lines[len(lines)-left:]
	}
	if len(lines) > 0 {
		embeds = append(embeds, &discordgo.MessageEmbed{Description: q.n("left_out", len(lines))})
	}
	if notes != "" {
		embeds = append(embeds, &discordgo.MessageEmbed{Description: notes})
	}
	return embeds
}

// fit joins as many whole lines as have room and says how many have not.
func fit(lines []string, room int) (text string, left int) {
	var b strings.Builder
	used := 0
	for i, l := range lines {
		n := units(l)
		if i > 0 {
			n++
		}
		if used+n > room {
			return b.String(), len(lines) - i
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l)
		used += n
	}
	return b.String(), 0
}

// units counts as the strictest reading of Discord's limits does, in UTF-16.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// shown is text of others, made safe to show within a line: at most 40 letters,
// no markdown, no mention, no link, and its direction kept to itself.
func shown(s string) string {
	s = clean(s)
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	if strings.ContainsFunc(s, rightToLeft) {
		return "\u2068" + escape(s) + "\u2069" // first strong isolate … pop
	}
	return escape(s)
}

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Adlam)
}

// escape takes the meaning out of what Discord would read as markdown, a
// mention or a link.
func escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\*_~|`>[]()<@/", r),
			r == ':' && strings.HasPrefix(s[i:], "://"),
			i == 0 && strings.ContainsRune("#-+", r): // a heading, a list
			b.WriteByte('\\')
		case unicode.IsControl(r):
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
