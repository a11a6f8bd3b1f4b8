package render

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

// English is the language that stands in for every other.
const English = "en"

// Texts are the sentences of a part of the program, in several languages. They
// never change, and are safe for concurrent use.
type Texts struct {
	localizers map[string]*i18n.Localizer
	// fixed are the texts without places to fill, by language and id: most
	// words of a report, which need no template.
	fixed map[string]map[string]string
	// ids are all ids, by language.
	ids map[string]map[string]bool
}

// LoadTexts reads every locale file in fsys, wherever it is: active.en.json,
// active.ko.json and so on, in go-i18n's format. There must be one in English.
// Whether the languages are complete, Missing tells.
func LoadTexts(fsys fs.FS) (*Texts, error) {
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	t := &Texts{
		localizers: map[string]*i18n.Localizer{},
		fixed:      map[string]map[string]string{},
		ids:        map[string]map[string]bool{},
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".json" {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		file, err := bundle.ParseMessageFileBytes(body, path.Base(name))
		if err != nil {
			return fmt.Errorf("texts %s: %w", name, err)
		}
		t.add(file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.ids[English] == nil {
		return nil, errors.New("texts: none in English")
	}
	for lang := range t.ids {
		t.localizers[lang] = i18n.NewLocalizer(bundle, lang, English)
	}
	return t, nil
}

func (t *Texts) add(file *i18n.MessageFile) {
	lang := file.Tag.String()
	if t.ids[lang] == nil {
		t.ids[lang], t.fixed[lang] = map[string]bool{}, map[string]string{}
	}
	for _, m := range file.Messages {
		t.ids[lang][m.ID] = true
		plural := m.Zero + m.One + m.Two + m.Few + m.Many
		if plural == "" && !strings.Contains(m.Other, "{{") {
			t.fixed[lang][m.ID] = m.Other
		}
	}
}

// Languages lists the languages that there are.
func (t *Texts) Languages() []string { return slices.Sorted(maps.Keys(t.ids)) }

// Missing lists, as "language id", the texts that one language has and another
// has not.
func (t *Texts) Missing() []string {
	var missing []string
	for _, have := range t.ids {
		for id := range have {
			for lang, ids := range t.ids {
				if !ids[id] {
					missing = append(missing, lang+" "+id)
				}
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// Has says whether there is such a text in English.
func (t *Texts) Has(id string) bool { return t.ids[English][id] }

// Get is the text in the language, its places filled from data. Where the
// language lacks it, it is English; where English does too, it is the id.
func (t *Texts) Get(lang, id string, data map[string]any) string {
	if s, ok := t.fixed[t.language(lang)][id]; ok {
		return s
	}
	return t.localize(lang, &i18n.LocalizeConfig{MessageID: id, TemplateData: data})
}

// Plural is Get for a text that depends on how many there are; {{.Count}} in it
// is count.
func (t *Texts) Plural(lang, id string, count int, data map[string]any) string {
	if data == nil {
		data = map[string]any{}
	} else {
		data = maps.Clone(data)
	}
	data["Count"] = count
	return t.localize(lang, &i18n.LocalizeConfig{MessageID: id, TemplateData: data, PluralCount: count})
}

// language is lang, or English where there is no such language.
func (t *Texts) language(lang string) string {
	if t.localizers[lang] == nil {
		return English
	}
	return lang
}

// localize falls back to English, which Localizer reports as an error beside the
// text, and at last to the id.
func (t *Texts) localize(lang string, c *i18n.LocalizeConfig) string {
	s, err := t.localizers[t.language(lang)].Localize(c)
	if err != nil && s == "" {
		return c.MessageID
	}
	return s
}

//go:embed locales/*.json
var locales embed.FS

// reportTexts are the texts of reports. A test reads the same files.
var reportTexts = sync.OnceValues(func() (*Texts, error) { return LoadTexts(locales) })

// voice says things in one language.
type voice struct {
	texts *Texts
	lang  string
}

// say fills the text id from pairs of a name and its value.
func (v voice) say(id string, pairs ...any) string {
	if len(pairs) == 0 {
		return v.texts.Get(v.lang, id, nil)
	}
	return v.texts.Get(v.lang, id, fill(pairs))
}

// count is say for a text that counts.
func (v voice) count(id string, n int, pairs ...any) string {
	return v.texts.Plural(v.lang, id, n, fill(pairs))
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
