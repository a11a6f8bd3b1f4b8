// Package render turns a report into the bodies of Discord messages, in Korean or
// English, within the sizes that Discord allows; and, for people without Discord
// at hand, into plain text and into a page. It is pure and safe for concurrent
// use.
package render

import (
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/report"
)

// Names knows the champions.
type Names interface {
	// Champion is a champion's name in the language ("ko", "en"); where the
	// number is not known, what it can make of the match's own name.
	Champion(id int, matchName, language string) string
	// Icon is the address of a champion's picture, or "".
	Icon(id int, matchName string) string
}

// Options are how a report is told.
type Options struct {
	// Language is "ko" or "en"; anything else is English.
	Language string
	// Zone is the channel's; nil is UTC.
	Zone *time.Location
	// Names may be nil: then a champion has the name that its match has, and no
	// picture.
	Names Names
	// PlainText: no embeds, for a channel in which the bot may not post them.
	PlainText bool
}

// Colours of embeds: won more, lost more, neither; the head; the rest.
const (
	colorWins   = 0x5383E8
	colorLosses = 0xE84057
	colorEven   = 0x9AA4AF
	colorHead   = 0xC8AA6E
	colorRest   = 0x5C6370
)

// Render makes the messages of a report, in order; one where it fits in one. The
// first embed of each has the slot as its timestamp, and the number of the message
// in its milliseconds, by which our messages are known again.
func Render(r report.Report, o Options) ([]Message, error) {
	texts, err := reportTexts()
	if err != nil {
		return nil, err
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	w := newWriter(r, o, voice{texts: texts, lang: o.Language})
	if o.PlainText {
		return w.plain()
	}
	return w.embeds()
}

// embeds lays the sections out in messages of embeds.
func (w *writer) embeds() ([]Message, error) {
	sections := w.sections()
	pages := paginate(sections, limits{page: maxEmbedsText, piece: maxDescription})
	if len(pages) > 1 {
		// Room for "12/34" at the foot of each.
		pages = paginate(sections, limits{page: maxEmbedsText - footerSize, piece: maxDescription})
	}
	messages := make([]Message, len(pages))
	for i, page := range pages {
		var embeds []*discordgo.MessageEmbed
		for _, p := range merge(page, maxEmbeds) {
			embeds = append(embeds, p.embed())
		}
		if !w.r.Slot.IsZero() {
			embeds[0].Timestamp = timestamp(w.r.Slot.Add(time.Duration(i) * time.Millisecond))
		}
		if len(pages) > 1 {
			embeds[len(embeds)-1].Footer = &discordgo.MessageEmbedFooter{Text: fmt.Sprintf("%d/%d", i+1, len(pages))}
		}
		var err error
		if messages[i], err = newMessage("", embeds); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// footerSize is room for the number of a page and of all.
const footerSize = 16

// boldTitle is what stands round a title in text.
const boldTitle = len("****\n")

// plain lays the sections out in messages of text.
func (w *writer) plain() ([]Message, error) {
	pages := paginate(w.sections(), limits{page: maxContent - boldTitle, piece: maxContent - boldTitle})
	messages := make([]Message, len(pages))
	for i, page := range pages {
		text := ""
		for j, p := range page {
			if j > 0 {
				text += gap
			}
			if p.title != "" {
				text += "**" + p.title + "**\n"
			}
			text += p.text()
		}
		var err error
		if messages[i], err = newMessage(text, nil); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// timestamp is t as Discord writes times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
