package discordtest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// Embed is a rich embed as a message shows it.
type Embed struct {
	Title       string       `json:"title,omitempty"`
	Type        string       `json:"type,omitempty"` // "rich"
	Description string       `json:"description,omitempty"`
	URL         string       `json:"url,omitempty"`
	Timestamp   string       `json:"timestamp,omitempty"` // as Discord writes it back
	Color       int          `json:"color,omitempty"`
	Footer      *EmbedFooter `json:"footer,omitempty"`
	Image       *EmbedMedia  `json:"image,omitempty"`
	Thumbnail   *EmbedMedia  `json:"thumbnail,omitempty"`
	Author      *EmbedAuthor `json:"author,omitempty"`
	Fields      []EmbedField `json:"fields,omitempty"`
}

// EmbedFooter is an embed's last line.
type EmbedFooter struct {
	Text    string `json:"text"`
	IconURL string `json:"icon_url,omitempty"`
}

// EmbedMedia is an embed's image or thumbnail.
type EmbedMedia struct {
	URL string `json:"url"`
}

// EmbedAuthor is an embed's first line.
type EmbedAuthor struct {
	Name    string `json:"name"`
	URL     string `json:"url,omitempty"`
	IconURL string `json:"icon_url,omitempty"`
}

// EmbedField is one of an embed's fields.
type EmbedField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

// Discord's limits of a message.
// https://discord.com/developers/docs/resources/message#embed-object-embed-limits
const (
	maxContent     = 2000
	maxEmbeds      = 10
	maxEmbedTotal  = 6000
	maxTitle       = 256
	maxDescription = 4096
	maxFields      = 25
	maxFieldName   = 256
	maxFieldValue  = 1024
	maxFooter      = 2048
	maxAuthor      = 256
	maxURL         = 2048
	maxColor       = 0xFFFFFF
	maxNonce       = 25
)

// length counts text as strictly as any reading of "characters" does: in UTF-16
// code units, before surrounding space is trimmed, so that a character outside
// of the basic plane (an emoji) counts two.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

// text checks a string of an embed and returns it trimmed, as Discord stores it.
func (f *form) text(s string, most int, required bool, path ...string) string {
	if length(s) > most {
		f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", most), path...)
	}
	s = strings.TrimSpace(s)
	if required && s == "" {
		f.add("BASE_TYPE_REQUIRED", "This field is required", path...)
	}
	return s
}

func (f *form) link(s string, attachment bool, path ...string) {
	if s == "" {
		return
	}
	if length(s) > maxURL {
		f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxURL), path...)
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		f.add("URL_TYPE_INVALID_URL", "Not a well formed URL.", path...)
	case attachment && u.Scheme == "attachment":
	case u.Scheme != "http" && u.Scheme != "https":
		f.add("URL_TYPE_INVALID_SCHEME", fmt.Sprintf("Scheme %q is not supported. Scheme must be one of ('http', 'https').", u.Scheme), path...)
	case u.Host == "":
		f.add("URL_TYPE_INVALID_URL", "Not a well formed URL.", path...)
	}
}

// embeds checks raw, an array of embeds or null, and returns them as a message
// shows them: trimmed, the timestamps rewritten, of those with one url only the
// first.
func (f *form) embeds(raw json.RawMessage, path ...string) []Embed {
	var items []json.RawMessage
	if !f.decode(raw, &items, path...) {
		return nil
	}
	if len(items) > maxEmbeds {
		f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxEmbeds), path...)
	}
	total := 0
	seen := map[string]bool{}
	out := []Embed{}
	for i, item := range items {
		at := sub(path, strconv.Itoa(i))
		var e Embed
		if !f.decode(item, &e, at...) {
			continue
		}
		total += f.embed(&e, at)
		if e.URL != "" && seen[e.URL] {
			continue
		}
		seen[e.URL] = true
		out = append(out, e)
	}
	if total > maxEmbedTotal {
		f.add("MAX_EMBED_SIZE_EXCEEDED", fmt.Sprintf("Embed size exceeds maximum size of %d", maxEmbedTotal), path...)
	}
	return out
}

// embed checks and tidies one embed; it returns its share of the 6,000.
func (f *form) embed(e *Embed, at []string) int {
	size := length(e.Title) + length(e.Description)
	e.Type = "rich"
	e.Title = f.text(e.Title, maxTitle, false, sub(at, "title")...)
	e.Description = f.text(e.Description, maxDescription, false, sub(at, "description")...)
	f.link(e.URL, false, sub(at, "url")...)
	if e.Color < 0 || e.Color > maxColor {
		f.add("NUMBER_TYPE_MAX", fmt.Sprintf("int value should be between 0 and %d.", maxColor), sub(at, "color")...)
	}
	if e.Timestamp != "" {
		t, err := time.Parse(time.RFC3339Nano, e.Timestamp)
		if err != nil {
			f.add("DATE_TIME_TYPE_PARSE", fmt.Sprintf("Could not parse %s. Should be ISO8601.", e.Timestamp), sub(at, "timestamp")...)
		} else {
			e.Timestamp = timestamp(t)
		}
	}
	if e.Footer != nil {
		size += length(e.Footer.Text)
		e.Footer.Text = f.text(e.Footer.Text, maxFooter, e.Footer.IconURL != "", sub(at, "footer", "text")...)
		f.link(e.Footer.IconURL, true, sub(at, "footer", "icon_url")...)
		if e.Footer.Text == "" {
			e.Footer = nil
		}
	}
	if e.Author != nil {
		size += length(e.Author.Name)
		e.Author.Name = f.text(e.Author.Name, maxAuthor, true, sub(at, "author", "name")...)
		f.link(e.Author.URL, false, sub(at, "author", "url")...)
		f.link(e.Author.IconURL, true, sub(at, "author", "icon_url")...)
	}
	for _, m := range []struct {
		name  string
		media **EmbedMedia
	}{{"image", &e.Image}, {"thumbnail", &e.Thumbnail}} {
		if *m.media == nil {
			continue
		}
		f.link((*m.media).URL, true, sub(at, m.name, "url")...)
		if (*m.media).URL == "" {
			*m.media = nil
		}
	}
	if len(e.Fields) > maxFields {
		f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxFields), sub(at, "fields")...)
	}
	for i := range e.Fields {
		fld := &e.Fields[i]
		size += length(fld.Name) + length(fld.Value)
		fld.Name = f.text(fld.Name, maxFieldName, true, sub(at, "fields", strconv.Itoa(i), "name")...)
		fld.Value = f.text(fld.Value, maxFieldValue, true, sub(at, "fields", strconv.Itoa(i), "value")...)
	}
	if e.Title == "" && e.Description == "" && len(e.Fields) == 0 && e.Footer == nil &&
		e.Author == nil && e.Image == nil && e.Thumbnail == nil && e.Timestamp == "" {
		f.add("BASE_TYPE_REQUIRED", "This field is required", sub(at, "description")...)
	}
	return size
}

// decode reads raw into dst. It reports whether there is a value of the right
// type; null is none, and no fault.
func (f *form) decode(raw json.RawMessage, dst any, path ...string) bool {
	if len(raw) == 0 || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, dst); err != nil {
		f.add("BASE_TYPE_BAD_TYPE", "The value is not of the right type: "+strings.TrimPrefix(err.Error(), "json: "), path...)
		return false
	}
	return true
}
