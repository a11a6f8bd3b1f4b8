package render

import (
	"encoding/json"
	"strings"
)

// Text is what a reader of m sees, without pictures and colours, for a terminal.
// A body that is not one of Render's is shown as it is.
func Text(m Message) string {
	var b body
	if err := json.Unmarshal(m.Body, &b); err != nil {
		return string(m.Body)
	}
	var parts []string
	if b.Content != "" {
		parts = append(parts, unescape(b.Content))
	}
	for _, e := range b.Embeds {
		var lines []string
		for _, s := range []string{unescape(e.Title), unescape(e.Description)} {
			if s != "" {
				lines = append(lines, s)
			}
		}
		if e.Footer != nil && e.Footer.Text != "" {
			lines = append(lines, "["+e.Footer.Text+"]")
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, gap)
}
