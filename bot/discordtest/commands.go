package discordtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The types of commands and options that are simulated.
const (
	commandChatInput = 1

	optionSubcommand = 1
	optionGroup      = 2
	optionString     = 3
	optionInteger    = 4
	optionBoolean    = 5
	optionNumber     = 10
	optionMax        = 11
)

// Command is a registered application command.
type Command struct {
	ID                       string            `json:"id"`
	ApplicationID            string            `json:"application_id"`
	GuildID                  string            `json:"guild_id,omitempty"`
	Version                  string            `json:"version"`
	Type                     int               `json:"type"`
	Name                     string            `json:"name"`
	NameLocalizations        map[string]string `json:"name_localizations"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations"`
	// DefaultMemberPermissions is a number as text; nil: everyone.
	DefaultMemberPermissions *string         `json:"default_member_permissions"`
	DMPermission             bool            `json:"dm_permission"`
	Contexts                 []int           `json:"contexts"`
	IntegrationTypes         []int           `json:"integration_types"`
	NSFW                     bool            `json:"nsfw"`
	Options                  []CommandOption `json:"options,omitempty"`
}

// CommandOption is an option of a [Command], or a subcommand.
type CommandOption struct {
	Type                     int               `json:"type"`
	Name                     string            `json:"name"`
	NameLocalizations        map[string]string `json:"name_localizations,omitempty"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations,omitempty"`
	Required                 bool              `json:"required,omitempty"`
	Choices                  []CommandChoice   `json:"choices,omitempty"`
	Options                  []CommandOption   `json:"options,omitempty"`
	ChannelTypes             []int             `json:"channel_types,omitempty"`
	MinValue                 *float64          `json:"min_value,omitempty"`
	MaxValue                 *float64          `json:"max_value,omitempty"`
	MinLength                *int              `json:"min_length,omitempty"`
	MaxLength                *int              `json:"max_length,omitempty"`
	Autocomplete             bool              `json:"autocomplete,omitempty"`
}

// CommandChoice is a value that an option may have.
type CommandChoice struct {
	Name              string            `json:"name"`
	NameLocalizations map[string]string `json:"name_localizations,omitempty"`
	Value             any               `json:"value"` // a string or a float64
}

// commandSet is the commands of one scope: a guild, or "" for global ones.
type commandSet struct {
	list    []*Command
	creates window // of the last day
	used    bool   // something was registered once
}

// locales are those that Discord knows.
// https://discord.com/developers/docs/reference#locales
var locales = strings.Fields("id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko")

// commandName is Discord's pattern of names of commands and options.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]{1,32}$`)

// Commands returns the commands that are registered for a guild, or the global
// ones if guildID is empty.
func (s *Server) Commands(guildID string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Command
	if set := s.commands[guildID]; set != nil {
		for _, cmd := range set.list {
			out = append(out, *cmd)
		}
	}
	return out
}

func (s *Server) serveCommands(c *call) answer {
	scope := c.param("guild_id")
	if g := s.guilds[scope]; scope != "" && (g == nil || g.gone) {
		return missingAccess()
	}
	set := s.commands[scope]
	if set == nil {
		set = &commandSet{creates: window{per: 24 * time.Hour}}
		s.commands[scope] = set
	}
	i := slices.IndexFunc(set.list, func(x *Command) bool { return x.ID == c.param("command_id") })
	if c.param("command_id") != "" && i < 0 {
		return unknownCommand()
	}
	switch c.route {
	case RouteCommandList:
		with := c.query.Get("with_localizations")
		out := []any{}
		for _, cmd := range set.list {
			out = append(out, shownCommand(cmd, with == "true" || with == "1" || with == "True"))
		}
		return jsonAnswer(http.StatusOK, out)
	case RouteCommandGet:
		return jsonAnswer(http.StatusOK, set.list[i])
	case RouteCommandDelete:
		set.list = slices.Delete(set.list, i, i+1)
		return noContent()
	case RouteCommandPut:
		return s.putCommands(c, set, scope)
	case RouteCommandEdit:
		return s.editCommand(c, set, i)
	}
	return s.createCommand(c, set, scope)
}

// shownCommand leaves out the localizations unless they were asked for.
func shownCommand(cmd *Command, localizations bool) any {
	if localizations {
		return cmd
	}
	raw, err := json.Marshal(cmd)
	if err != nil {
		panic("discordtest: " + err.Error()) // a struct of ours
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		panic("discordtest: " + err.Error())
	}
	return withoutLocalizations(tree)
}

func withoutLocalizations(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "name_localizations")
		delete(v, "description_localizations")
		for k, x := range v {
			v[k] = withoutLocalizations(x)
		}
	case []any:
		for i, x := range v {
			v[i] = withoutLocalizations(x)
		}
	}
	return v
}

// wireCommand is a command as a client sends it.
type wireCommand struct {
	Command
	Type             *int  `json:"type"`
	DMPermission     *bool `json:"dm_permission"`
	IntegrationTypes []int `json:"integration_types"`
}

// parseCommand reads and checks a command; base is the one that it changes, or
// nil. It returns nil where raw is no object.
func (s *Server) parseCommand(f *form, raw json.RawMessage, base *Command, at ...string) *Command {
	w := wireCommand{}
	if base != nil {
		w.Command = *base
	}
	if !f.decode(raw, &w, at...) {
		if f.ok() {
			f.add("BASE_TYPE_REQUIRED", "This field is required", at...)
		}
		return nil
	}
	cmd := w.Command
	if base == nil {
		cmd.Type, cmd.DMPermission, cmd.IntegrationTypes = commandChatInput, true, []int{0}
	}
	if w.Type != nil {
		cmd.Type = *w.Type
	}
	if w.DMPermission != nil {
		cmd.DMPermission = *w.DMPermission
	}
	if w.IntegrationTypes != nil {
		cmd.IntegrationTypes = w.IntegrationTypes
	}
	f.command(&cmd, at)
	return &cmd
}

func (s *Server) createCommand(c *call, set *commandSet, scope string) answer {
	f := &form{}
	cmd := s.parseCommand(f, c.body, nil)
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	i := slices.IndexFunc(set.list, func(x *Command) bool { return x.Name == cmd.Name && x.Type == cmd.Type })
	if i >= 0 { // a create with a known name overwrites it
		s.adopted(cmd, set.list[i], c.at)
		set.list[i] = cmd
		return jsonAnswer(http.StatusOK, cmd)
	}
	if a, ok := s.admit(c, set, 1); !ok {
		return a
	}
	s.fresh(cmd, scope, c.at)
	set.list = append(set.list, cmd)
	return jsonAnswer(http.StatusCreated, cmd)
}

func (s *Server) editCommand(c *call, set *commandSet, i int) answer {
	f := &form{}
	cmd := s.parseCommand(f, c.body, set.list[i])
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	s.adopted(cmd, set.list[i], c.at)
	set.list[i] = cmd
	return jsonAnswer(http.StatusOK, cmd)
}

func (s *Server) putCommands(c *call, set *commandSet, scope string) answer {
	f := &form{}
	var raw []json.RawMessage
	if err := json.Unmarshal(c.body, &raw); err != nil {
		f.add("BASE_TYPE_BAD_TYPE", "Only iterables may be used in a ListType")
		return s.refuseForm(c, f)
	}
	var next []*Command
	seen := map[string]bool{}
	fresh, chat := 0, 0
	for i, r := range raw {
		at := strconv.Itoa(i)
		cmd := s.parseCommand(f, r, nil, at)
		if cmd == nil {
			continue
		}
		key := fmt.Sprint(cmd.Type, " ", cmd.Name)
		if seen[key] {
			f.add("APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique", at)
		}
		seen[key] = true
		if cmd.Type == commandChatInput {
			chat++
		}
		next = append(next, cmd)
		if !slices.ContainsFunc(set.list, func(x *Command) bool { return x.Name == cmd.Name && x.Type == cmd.Type }) {
			fresh++
		}
	}
	if chat > 100 {
		f.add("APPLICATION_COMMAND_MAX_COMMANDS", "Maximum number of application commands reached (100)")
	}
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	if a, ok := s.admit(c, set, fresh); !ok {
		return a
	}
	for _, cmd := range next {
		i := slices.IndexFunc(set.list, func(x *Command) bool { return x.Name == cmd.Name && x.Type == cmd.Type })
		if i < 0 {
			s.fresh(cmd, scope, c.at)
		} else {
			s.adopted(cmd, set.list[i], c.at)
		}
	}
	set.list, set.used = next, true
	if next == nil {
		return jsonAnswer(http.StatusOK, []any{})
	}
	return jsonAnswer(http.StatusOK, next)
}

// admit counts n new commands against the day's limit.
// https://discord.com/developers/docs/interactions/application-commands#registering-a-command
func (s *Server) admit(c *call, set *commandSet, n int) (answer, bool) {
	set.creates.prune(c.at)
	if n > 0 && len(set.creates.at)+n > s.opt.CommandCreates {
		s.stats.violation(ViolationCommandCreates, c.at, fmt.Sprintf("%d more than %d a day", len(set.creates.at)+n-s.opt.CommandCreates, s.opt.CommandCreates))
		return tooManyCreates(), false
	}
	for range n {
		set.creates.add(c.at)
	}
	s.stats.CommandCreates += n
	set.used = true
	return answer{}, true
}

func (s *Server) fresh(cmd *Command, scope string, now time.Time) {
	cmd.ID, cmd.ApplicationID, cmd.GuildID = s.newID(now), s.opt.AppID, scope
	cmd.Version = s.newID(now)
}

// adopted gives cmd the identity of old, and a new version if it differs.
func (s *Server) adopted(cmd, old *Command, now time.Time) {
	cmd.ID, cmd.ApplicationID, cmd.GuildID, cmd.Version = old.ID, old.ApplicationID, old.GuildID, old.Version
	a, _ := json.Marshal(cmd)
	b, _ := json.Marshal(old)
	if !bytes.Equal(a, b) {
		cmd.Version = s.newID(now)
	}
}

// command checks a command.
// https://discord.com/developers/docs/interactions/application-commands#application-command-object
func (f *form) command(cmd *Command, at []string) {
	if cmd.Type < 1 || cmd.Type > 4 {
		f.add("BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4}.", sub(at, "type")...)
		return
	}
	if cmd.DefaultMemberPermissions != nil && !digits(*cmd.DefaultMemberPermissions) {
		f.add("NUMBER_TYPE_COERCE", "Value is not int.", sub(at, "default_member_permissions")...)
	}
	if cmd.Type != commandChatInput {
		f.text(cmd.Name, 32, true, sub(at, "name")...)
		return
	}
	f.name(cmd.Name, sub(at, "name"))
	f.describe(cmd.Description, sub(at, "description"))
	f.localized(cmd.NameLocalizations, sub(at, "name_localizations"), f.name)
	f.localized(cmd.DescriptionLocalizations, sub(at, "description_localizations"), f.describe)
	size := longest(cmd.Name, cmd.NameLocalizations) + longest(cmd.Description, cmd.DescriptionLocalizations)
	size += f.options(cmd.Options, 0, sub(at, "options"))
	if size > 8000 {
		f.add("APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)", at...)
	}
}

func (f *form) name(name string, at []string) {
	switch {
	case !commandName.MatchString(name):
		f.add("APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid", at...)
	case strings.ToLower(name) != name:
		f.add("APPLICATION_COMMAND_INVALID_NAME", "Command name must be lowercase", at...)
	}
}

func (f *form) describe(text string, at []string) {
	if n := length(text); n < 1 || n > 100 {
		f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.", at...)
	}
}

func (f *form) localized(texts map[string]string, at []string, check func(string, []string)) {
	for locale, text := range texts {
		if !slices.Contains(locales, locale) {
			f.add("BASE_TYPE_CHOICES", fmt.Sprintf("%q is not a locale.", locale), sub(at, locale)...)
			continue
		}
		check(text, sub(at, locale))
	}
}

func longest(text string, localized map[string]string) int {
	n := length(text)
	for _, t := range localized {
		n = max(n, length(t))
	}
	return n
}

// options checks options and returns what they add to the command's 8,000.
func (f *form) options(list []CommandOption, depth int, at []string) int {
	if len(list) > 25 {
		f.add("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", at...)
	}
	size := 0
	names := map[string]bool{}
	optional := false
	for i, o := range list {
		p := sub(at, strconv.Itoa(i))
		f.name(o.Name, sub(p, "name"))
		f.describe(o.Description, sub(p, "description"))
		f.localized(o.NameLocalizations, sub(p, "name_localizations"), f.name)
		f.localized(o.DescriptionLocalizations, sub(p, "description_localizations"), f.describe)
		size += longest(o.Name, o.NameLocalizations) + longest(o.Description, o.DescriptionLocalizations)
		if names[o.Name] {
			f.add("APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists", sub(p, "name")...)
		}
		names[o.Name] = true
		nested := o.Type == optionSubcommand || o.Type == optionGroup
		switch {
		case o.Type < 1 || o.Type > optionMax:
			f.add("BASE_TYPE_CHOICES", "Value must be one of {1, …, 11}.", sub(p, "type")...)
		case nested && depth >= 2, o.Type == optionGroup && depth > 0:
			f.add("APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "Sub-command and sub-command group option types are mutually exclusive to all other types", p...)
		case nested:
			size += f.options(o.Options, depth+1, sub(p, "options"))
		case o.Required && optional:
			f.add("APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options", p...)
		}
		optional = optional || !o.Required && !nested
		size += f.choices(o, p)
	}
	return size
}

func (f *form) choices(o CommandOption, p []string) int {
	ranged := o.Type == optionString || o.Type == optionInteger || o.Type == optionNumber
	if (o.Autocomplete || len(o.Choices) > 0) && !ranged {
		f.add("APPLICATION_COMMAND_OPTIONS_CHOICES_INVALID", "Only string, integer and number options may have choices or autocomplete", p...)
	}
	if o.Autocomplete && len(o.Choices) > 0 {
		f.add("APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES", "Autocomplete and choices are mutually exclusive", p...)
	}
	if len(o.Choices) > 25 {
		f.add("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", sub(p, "choices")...)
	}
	for name, n := range map[string]*int{"min_length": o.MinLength, "max_length": o.MaxLength} {
		if n != nil && (o.Type != optionString || *n < 0 || *n > 6000) {
			f.add("NUMBER_TYPE_MAX", "int value should be between 0 and 6000.", sub(p, name)...)
		}
	}
	size := 0
	for i, c := range o.Choices {
		size += f.choice(c, o.Type, sub(p, "choices", strconv.Itoa(i)))
	}
	return size
}

func (f *form) choice(c CommandChoice, kind int, p []string) int {
	f.describe(c.Name, sub(p, "name"))
	f.localized(c.NameLocalizations, sub(p, "name_localizations"), f.describe)
	size := longest(c.Name, c.NameLocalizations)
	switch v := c.Value.(type) {
	case string:
		if n := length(v); kind != optionString || n < 1 || n > 100 {
			f.add("BASE_TYPE_BAD_LENGTH", "Must be a string between 1 and 100 in length.", sub(p, "value")...)
		}
		size += length(v)
	case float64:
		if kind != optionInteger && kind != optionNumber || kind == optionInteger && v != float64(int64(v)) {
			f.add("NUMBER_TYPE_COERCE", "Value is not of the option's type.", sub(p, "value")...)
		}
	default:
		f.add("BASE_TYPE_REQUIRED", "This field is required", sub(p, "value")...)
	}
	return size
}

// lookup finds the chat command called name that a guild sees: its own first.
// used says whether anything was ever registered that it could have been.
func (s *Server) lookup(guildID, name string) (cmd *Command, used bool) {
	for _, scope := range []string{guildID, ""} {
		set := s.commands[scope]
		if set == nil {
			continue
		}
		used = used || set.used
		for _, c := range set.list {
			if c.Name == name && c.Type == commandChatInput {
				return c, true
			}
		}
	}
	return nil, used
}

// runes is the length that a Discord client enforces on what a person types.
func runes(s string) int { return utf8.RuneCountInString(s) }
