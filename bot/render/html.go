package render

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"
)

// HTMLOptions are how a page looks.
type HTMLOptions struct {
	// Language of the page, "ko" or "en".
	Language string
	// Zone is in which the time beside a message is told; nil is UTC.
	Zone *time.Location
	// Icon turns the address of a picture into a data URI, so that the page
	// needs nothing from elsewhere; "" leaves the picture out. Nil leaves out
	// all of them.
	Icon func(url string) (dataURI string)
}

//go:embed page.tmpl.html
var pageFile string

var pageTemplate = template.Must(template.New("page").Parse(pageFile))

type htmlMessage struct {
	Content template.HTML
	When    string
	Embeds  []htmlEmbed
}

type htmlEmbed struct {
	Title, Description template.HTML
	Color              template.CSS
	Icon               template.URL
	Footer             string
}

// HTML is a page that shows the messages as Discord would, in its dark theme. It
// refers to nothing outside itself.
func HTML(messages []Message, o HTMLOptions) []byte {
	page := struct {
		Language, App string
		Messages      []htmlMessage
	}{Language: English, App: "APP"}
	if o.Language == "ko" {
		page.Language, page.App = "ko", "앱"
	}
	for _, m := range messages {
		page.Messages = append(page.Messages, o.message(m))
	}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, page); err != nil {
		// Writing to memory can't fail, and the template is tested.
		return []byte("<!doctype html><title>RiftChime</title><pre>" + template.HTMLEscapeString(err.Error()) + "</pre>")
	}
	return out.Bytes()
}

func (o HTMLOptions) message(m Message) htmlMessage {
	var b body
	if err := json.Unmarshal(m.Body, &b); err != nil {
		return htmlMessage{Content: markdown(string(m.Body))}
	}
	out := htmlMessage{Content: markdown(b.Content)}
	for _, e := range b.Embeds {
		h := htmlEmbed{
			Title:       markdown(e.Title),
			Description: markdown(e.Description),
			Color:       template.CSS(fmt.Sprintf("#%06x", e.Color&0xffffff)),
		}
		var foot []string
		if e.Footer != nil && e.Footer.Text != "" {
			foot = append(foot, e.Footer.Text)
		}
		if t, err := time.Parse(time.RFC3339, e.Timestamp); err == nil {
			out.When = o.when(t)
			foot = append(foot, out.When)
		}
		h.Footer = strings.Join(foot, " • ")
		if e.Thumbnail != nil && o.Icon != nil {
			if uri := o.Icon(e.Thumbnail.URL); strings.HasPrefix(uri, "data:image/") {
				h.Icon = template.URL(uri)
			}
		}
		out.Embeds = append(out.Embeds, h)
	}
	return out
}

func (o HTMLOptions) when(t time.Time) string {
	if o.Zone == nil {
		return t.UTC().Format("2006-01-02 15:04")
	}
	return t.In(o.Zone).Format("2006-01-02 15:04")
}

// markdown is Discord's markdown, as far as Render writes it: bold text and
// backslashes before what is meant literally. Everything else is text.
func markdown(s string) template.HTML {
	var b strings.Builder
	bold := false
	for len(s) > 0 {
		switch {
		case s[0] == '\\' && len(s) > 1:
			s = s[1:]
			n := nextRune(s)
			b.WriteString(template.HTMLEscapeString(s[:n]))
			s = s[n:]
		case strings.HasPrefix(s, "**"):
			if bold = !bold; bold {
				b.WriteString("<strong>")
			} else {
				b.WriteString("</strong>")
			}
			s = s[2:]
		default:
			n := 1 + strings.IndexAny(s[1:], `\*`)
			if n == 0 {
				n = len(s)
			}
			b.WriteString(template.HTMLEscapeString(s[:n]))
			s = s[n:]
		}
	}
	if bold {
		b.WriteString("</strong>")
	}
	return template.HTML(b.String())
}

// nextRune is how many bytes the first character of s has.
func nextRune(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}
