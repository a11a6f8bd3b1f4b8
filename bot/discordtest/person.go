package discordtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// prepare checks what a person does and makes its payload.
func (s *Server) prepare(in Interaction, now time.Time) (*interaction, error) {
	if in.Type == "" {
		in.Type = TypeCommand
	}
	if in.MemberPermissions == 0 {
		in.MemberPermissions = Manager
	}
	if in.User.ID == "" {
		in.User.ID = "200000000000000001"
	}
	in.Locale = firstOf(in.Locale, firstOf(in.User.Locale, "en-US"))
	if in.Guild == "" && in.Channel == "" {
		in.Channel = s.openDM(in.User.ID, now)
	}
	ch := s.channels[in.Channel]
	if ch == nil || ch.deleted {
		return nil, fmt.Errorf("discordtest: no channel %q", in.Channel)
	}
	if ch.Guild != in.Guild {
		return nil, fmt.Errorf("discordtest: channel %s is not of guild %q", in.Channel, in.Guild)
	}
	if in.AppPermissions == 0 {
		in.AppPermissions = Member &^ ch.Missing
	}
	id := s.newID(now)
	it := &interaction{
		in: in, id: id, token: "aW50ZXJhY3Rpb246" + id + "x" + strconv.FormatUint(s.lastID*2654435761, 36),
		at: now, changed: make(chan struct{}),
	}
	data, err := s.interactionData(in, now)
	if err != nil {
		return nil, err
	}
	p := map[string]any{
		"id": id, "application_id": s.opt.AppID, "type": in.Type.number(), "token": it.token, "version": 1,
		"data": data, "channel_id": in.Channel, "channel": s.channelBody(ch, true),
		"app_permissions": in.AppPermissions.String(), "locale": in.Locale, "entitlements": []any{},
		"attachment_size_limit": 10 << 20,
	}
	user := userBody(in.User)
	if in.Guild == "" {
		p["user"], p["context"] = user, 1
		p["authorizing_integration_owners"] = map[string]string{"0": "0"}
	} else {
		g := s.guilds[in.Guild]
		if g == nil || g.gone {
			return nil, fmt.Errorf("discordtest: the bot is not in guild %q", in.Guild)
		}
		in.GuildLocale = firstOf(in.GuildLocale, g.PreferredLocale)
		features := g.Features
		if features == nil {
			features = []string{}
		}
		p["guild_id"], p["guild_locale"], p["context"] = in.Guild, in.GuildLocale, 0
		p["guild"] = map[string]any{"id": in.Guild, "locale": in.GuildLocale, "features": features}
		p["authorizing_integration_owners"] = map[string]string{"0": in.Guild}
		p["member"] = map[string]any{
			"user": user, "roles": []string{}, "joined_at": timestamp(g.joined), "deaf": false, "mute": false,
			"nick": nil, "avatar": nil, "pending": false, "premium_since": nil, "flags": 0,
			"permissions": in.MemberPermissions.String(), "communication_disabled_until": nil,
		}
	}
	if in.Type == TypeComponent {
		if m := s.messageOf(in.Channel, in.Message); m != nil {
			p["message"] = s.messageBody(m)
		} else if in.Message != "" {
			return nil, fmt.Errorf("discordtest: no message %q", in.Message)
		} else {
			p["message"] = s.messageBody(&Message{ID: s.newID(now), Channel: in.Channel, Arrived: now})
		}
	}
	it.payload = p
	return it, nil
}

// messageOf finds a message of a channel, or an ephemeral one.
func (s *Server) messageOf(channelID, id string) *Message {
	if m := s.channels[channelID].find(id); m != nil {
		return m
	}
	for _, it := range s.interactions {
		if m := it.original; m != nil && m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

func (s *Server) interactionData(in Interaction, now time.Time) (map[string]any, error) {
	switch in.Type {
	case TypeCommand, TypeAutocomplete:
	case TypeComponent:
		kind := componentButton
		data := map[string]any{"custom_id": in.CustomID}
		if in.Values != nil {
			kind = componentString
			data["values"] = in.Values
		}
		data["component_type"] = kind
		return data, nil
	case TypeModal:
		rows := []any{}
		for _, id := range slices.Sorted(maps.Keys(in.Fields)) {
			rows = append(rows, map[string]any{"type": componentRow, "components": []any{
				map[string]any{"type": componentTextInput, "custom_id": id, "value": in.Fields[id]},
			}})
		}
		return map[string]any{"custom_id": in.CustomID, "components": rows}, nil
	default:
		return nil, fmt.Errorf("discordtest: interaction type %q is unknown", in.Type)
	}
	cmd, used := s.lookup(in.Guild, in.Command)
	if cmd == nil && used {
		return nil, fmt.Errorf("discordtest: command %q is not registered", in.Command)
	}
	id := ""
	var known []CommandOption
	if cmd != nil {
		id, known = cmd.ID, cmd.Options
		if err := mayUse(cmd, in); err != nil {
			return nil, err
		}
	} else {
		id = s.newID(now)
	}
	options, err := optionData(in.Options, known, cmd != nil, in.Type == TypeAutocomplete)
	if err != nil {
		return nil, fmt.Errorf("discordtest: command %q: %w", in.Command, err)
	}
	data := map[string]any{"id": id, "name": in.Command, "type": commandChatInput}
	if len(options) > 0 {
		data["options"] = options
	}
	if cmd != nil && cmd.GuildID != "" {
		data["guild_id"] = cmd.GuildID
	}
	return data, nil
}

// mayUse is the gate that Discord itself keeps.
func mayUse(cmd *Command, in Interaction) error {
	place := 0
	if in.Guild == "" {
		place = 1
	}
	if cmd.Contexts != nil && !slices.Contains(cmd.Contexts, place) || cmd.Contexts == nil && place == 1 && !cmd.DMPermission {
		return fmt.Errorf("command %q, context %d: %w", cmd.Name, place, ErrNotAllowed)
	}
	if cmd.DefaultMemberPermissions == nil || in.Guild == "" || in.MemberPermissions&Administrator != 0 {
		return nil
	}
	need, _ := strconv.ParseUint(*cmd.DefaultMemberPermissions, 10, 64)
	if need == 0 || Permission(need)&^in.MemberPermissions != 0 {
		return fmt.Errorf("command %q needs permissions %d: %w", cmd.Name, need, ErrNotAllowed)
	}
	return nil
}

// optionData writes the options of a person, checked against those that the
// command has.
func optionData(given []Option, known []CommandOption, registered, partial bool) ([]any, error) {
	var out []any
	for _, o := range given {
		i := slices.IndexFunc(known, func(k CommandOption) bool { return k.Name == o.Name })
		if registered && i < 0 {
			return nil, fmt.Errorf("option %q is not one of its options", o.Name)
		}
		item := map[string]any{"name": o.Name}
		kind := inferType(o)
		var k CommandOption
		if i >= 0 {
			k = known[i]
			kind = k.Type
		}
		item["type"] = kind
		if kind == optionSubcommand || kind == optionGroup {
			nested, err := optionData(o.Options, k.Options, registered, partial)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.Name, err)
			}
			if nested == nil {
				nested = []any{}
			}
			item["options"] = nested
			out = append(out, item)
			continue
		}
		item["value"] = o.Value
		if o.Focused {
			item["focused"] = true
		}
		if registered && !(partial && o.Focused) {
			if err := fits(k, o.Value); err != nil {
				return nil, err
			}
		}
		out = append(out, item)
	}
	if partial {
		return out, nil
	}
	for _, k := range known {
		if k.Required && !slices.ContainsFunc(given, func(o Option) bool { return o.Name == k.Name }) {
			return nil, fmt.Errorf("option %q is required", k.Name)
		}
	}
	return out, nil
}

func inferType(o Option) int {
	switch o.Value.(type) {
	case nil:
		return optionSubcommand
	case bool:
		return optionBoolean
	case int, int64:
		return optionInteger
	case float64:
		return optionNumber
	}
	return optionString
}

// fits reports what keeps a Discord client from sending v for k.
func fits(k CommandOption, v any) error {
	bad := fmt.Errorf("option %q cannot be %v (%T)", k.Name, v, v)
	switch k.Type {
	case optionString:
		s, ok := v.(string)
		if !ok || s == "" || runes(s) > 6000 ||
			k.MinLength != nil && runes(s) < *k.MinLength || k.MaxLength != nil && runes(s) > *k.MaxLength {
			return bad
		}
	case optionInteger, optionNumber:
		n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
		if err != nil || k.MinValue != nil && n < *k.MinValue || k.MaxValue != nil && n > *k.MaxValue ||
			k.Type == optionInteger && n != float64(int64(n)) {
			return bad
		}
	case optionBoolean:
		if _, ok := v.(bool); !ok {
			return bad
		}
	}
	if len(k.Choices) > 0 && !slices.ContainsFunc(k.Choices, func(c CommandChoice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(v) }) {
		return bad
	}
	return nil
}
