package commands

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/render"
	"riftchime/store"
)

// request is what the commands use of an interaction. Anything in it may be
// missing or of a wrong type; reading it never fails.
type request struct {
	server  store.ServerID  // 0: not in a server
	channel store.ChannelID // 0: not known
	locale  discordgo.Locale
	guild   discordgo.Locale // the server's; "" where not told
	lang    string           // of the answer: "ko" or "en"
	admin   bool             // may manage the server
	perms   int64            // the bot's permissions in the channel; 0: not told
	options map[string]any
	focused string // what is typed so far, in an autocomplete
	focus   string // the option's name

	known bool // row is the channel's
	row   store.Channel
	// resumed: the channel was paused until this interaction.
	resumed bool

	texts *render.Texts
}

// read never fails: what can't be read is left at its zero value.
func (c *Commands) read(i *discordgo.Interaction) *request {
	q := &request{options: map[string]any{}, texts: c.texts, lang: "en"}
	if i == nil {
		return q
	}
	q.server, q.channel = store.ServerID(snowflake(i.GuildID)), store.ChannelID(snowflake(i.ChannelID))
	q.locale, q.perms = i.Locale, i.AppPermissions
	q.lang = language(i.Locale)
	if i.GuildLocale != nil {
		q.guild = *i.GuildLocale
	}
	if i.Member != nil {
		q.admin = i.Member.Permissions&(discordgo.PermissionAdministrator|discordgo.PermissionManageGuild) != 0
	}
	data, ok := i.Data.(discordgo.ApplicationCommandInteractionData)
	if !ok {
		return q
	}
	for _, o := range data.Options {
		if o == nil {
			continue
		}
		q.options[o.Name] = o.Value
		if o.Focused {
			q.focus = o.Name
			q.focused, _ = o.Value.(string)
		}
	}
	return q
}

// text returns a string option and whether it was given as such.
func (q *request) text(name string) (string, bool) {
	s, ok := q.options[name].(string)
	return s, ok
}

// language picks the language of answers for a Discord locale.
func language(l discordgo.Locale) string {
	if l == "ko" || strings.HasPrefix(string(l), "ko-") {
		return "ko"
	}
	return "en"
}

// snowflake reads an id of Discord's; 0 where s is none.
func snowflake(s string) int64 {
	id, err := strconv.ParseInt(s, 10, 64)
	if err != nil || id < 0 {
		return 0
	}
	return id
}

// clean takes invisible format characters and control characters out of s and
// trims it.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		case unicode.IsControl(r):
			return ' '
		}
		return r
	}, s))
}

// fold is the form in which Riot IDs are compared: Riot tells neither letter
// case nor spaces apart.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, clean(s))
}
