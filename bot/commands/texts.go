package commands

import (
	"embed"
	"sync"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/render"
)

//go:embed locales/*.json
var locales embed.FS

// loadTexts reads the embedded files once; they can't change.
var loadTexts = sync.OnceValues(func() (*render.Texts, error) { return render.LoadTexts(locales) })

// Apology is what a person with that Discord locale gets when a command has
// failed.
func Apology(locale string) string { return spoken(locale, "error.internal") }

// Busy is what a person gets when too many commands are running.
func Busy(locale string) string { return spoken(locale, "error.busy") }

// StillWorking is what a person gets who sends a command again while the first
// one still works.
func StillWorking(locale string) string { return spoken(locale, "error.working") }

func spoken(locale, id string) string {
	t, err := loadTexts()
	if err != nil {
		return id // New has failed with the same error before
	}
	return t.Get(language(discordgo.Locale(locale)), id, nil)
}

// t says id in the language of the person who asks, its places filled from
// pairs of a name and its value.
func (q *request) t(id string, pairs ...any) string {
	return q.texts.Get(q.lang, id, fill(pairs))
}

// n is t for a text that counts.
func (q *request) n(id string, count int, pairs ...any) string {
	return q.texts.Plural(q.lang, id, count, fill(pairs))
}

func fill(pairs []any) map[string]any {
	data := make(map[string]any, len(pairs)/2+1)
	for i := 0; i+1 < len(pairs); i += 2 {
		if name, ok := pairs[i].(string); ok {
			data[name] = pairs[i+1]
		}
	}
	return data
}
