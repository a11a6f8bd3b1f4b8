package commands_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/commands"
	"riftchime/riot"
)

// commandName is Discord's rule for names of commands and options
// (https://discord.com/developers/docs/interactions/application-commands).
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

func definitions(t *testing.T) []*discordgo.ApplicationCommand {
	t.Helper()
	return commands.Registered(newWorld(t).commands.All())
}

func TestDefinitionsKeepDiscordsRules(t *testing.T) {
	t.Parallel()
	for _, def := range definitions(t) {
		t.Run(def.Name, func(t *testing.T) {
			t.Parallel()
			total := longest(t, def.Name, *def.NameLocalizations, name) +
				longest(t, def.Description, *def.DescriptionLocalizations, description)
			if len(def.Options) > 25 {
				t.Errorf("%d options, more than 25", len(def.Options))
			}
			optional := false
			seen := map[string]bool{}
			for _, o := range def.Options {
				if o.Required && optional {
					t.Errorf("%s is required and comes after one that is not", o.Name)
				}
				optional = optional || !o.Required
				for _, n := range []string{o.Name, o.NameLocalizations[discordgo.Korean]} {
					if seen[n] {
						t.Errorf("two options are called %q", n)
					}
					seen[n] = true
				}
				if o.MaxLength > 6000 {
					t.Errorf("%s may be %d long, more than 6000", o.Name, o.MaxLength)
				}
				if o.Autocomplete && len(o.Choices) > 0 {
					t.Errorf("%s has both choices and autocomplete", o.Name)
				}
				if len(o.Choices) > 25 {
					t.Errorf("%s has %d choices, more than 25", o.Name, len(o.Choices))
				}
				total += longest(t, o.Name, o.NameLocalizations, name) +
					longest(t, o.Description, o.DescriptionLocalizations, description)
				for _, c := range o.Choices {
					value, _ := c.Value.(string)
					total += longest(t, c.Name, c.NameLocalizations, choice) + utf8.RuneCountInString(value)
				}
			}
			if total > 8000 {
				t.Errorf("name, descriptions and values are %d long, more than 8000", total)
			}
		})
	}
}

type kind int

const (
	name kind = iota
	description
	choice
)

// longest checks each form of a text and returns the length of the longest,
// which is what Discord counts.
func longest(t *testing.T, text string, localized map[discordgo.Locale]string, k kind) int {
	t.Helper()
	if localized[discordgo.Korean] == "" {
		t.Errorf("%q has no Korean", text)
	}
	most := 0
	for _, s := range append([]string{text}, localized[discordgo.Korean]) {
		n := utf8.RuneCountInString(s)
		most = max(most, n)
		switch {
		case k == name && (!commandName.MatchString(s) || strings.ToLower(s) != s):
			t.Errorf("%q is not a name", s)
		case k != name && (n < 1 || n > 100):
			t.Errorf("%q is %d long, not 1 to 100", s, n)
		}
	}
	return most
}

func TestDefinitionsAreThoseOfTheDesign(t *testing.T) {
	t.Parallel()
	want := []struct {
		name, korean string
		managers     bool
		options      []string
	}{
		{"register", "등록", true, []string{"riot_id", "region"}},
		{"unregister", "해제", true, []string{"riot_id"}},
		{"list", "목록", false, nil},
		{"schedule", "시간", true, []string{"hours", "timezone", "language", "quiet"}},
		{"report", "전적", false, nil},
		{"status", "상태", false, nil},
		{"why", "이유", false, []string{"riot_id"}},
	}
	defs := definitions(t)
	if len(defs) != len(want) {
		t.Fatalf("%d commands, want %d", len(defs), len(want))
	}
	for i, w := range want {
		def := defs[i]
		var options []string
		for _, o := range def.Options {
			options = append(options, o.Name)
		}
		if def.Name != w.name || (*def.NameLocalizations)[discordgo.Korean] != w.korean || !slices.Equal(options, w.options) {
			t.Errorf("command %d is %s (%s) with %v, want %+v", i, def.Name, *def.NameLocalizations, options, w)
		}
		body, err := json.Marshal(def)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(body), `"default_member_permissions":"32"`); got != w.managers {
			t.Errorf("%s needs Manage Server: %t, want %t (%s)", w.name, got, w.managers, body)
		}
		for _, part := range []string{`"contexts":[0]`, `"integration_types":[0]`} {
			if !strings.Contains(string(body), part) {
				t.Errorf("%s has no %s: %s", w.name, part, body)
			}
		}
	}
}

func TestEveryRegionIsAChoice(t *testing.T) {
	t.Parallel()
	var got []riot.Platform
	for _, c := range definitions(t)[0].Options[1].Choices {
		v, _ := c.Value.(string)
		got = append(got, riot.Platform(v))
	}
	slices.Sort(got)
	if want := riot.Platforms(); !slices.Equal(got, want) {
		t.Errorf("regions %v, want %v", got, want)
	}
}

func TestWhoSeesTheAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range newWorld(t).commands.All() {
		private := c.Def.Name == "status" || c.Def.Name == "why"
		if c.Ephemeral != private {
			t.Errorf("%s is ephemeral: %t, want %t", c.Def.Name, c.Ephemeral, private)
		}
		suggests := slices.ContainsFunc(c.Def.Options, func(o *discordgo.ApplicationCommandOption) bool { return o.Autocomplete })
		if (c.Autocomplete != nil) != suggests {
			t.Errorf("%s suggests: %t, want %t", c.Def.Name, c.Autocomplete != nil, suggests)
		}
	}
}
