package discordtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// draft is the body of a message, checked.
type draft struct {
	has        map[string]json.RawMessage
	content    string
	embeds     []Embed
	components []json.RawMessage
	flags      int
	nonce      string
	enforce    bool
	everyone   bool
	mentions   []string
}

// set reports whether the body names key, be it as null.
func (d *draft) set(key string) bool { _, ok := d.has[key]; return ok }

func (d *draft) empty(files int) bool {
	return strings.TrimSpace(d.content) == "" && len(d.embeds) == 0 && len(d.components) == 0 &&
		files == 0 && !d.set("sticker_ids") && !d.set("poll")
}

// parseMessage checks the body of a message. interaction says that it answers
// one, where mentions have another default. prior are the flags of the message
// that it edits.
func parseMessage(body []byte, interaction bool, prior int, path ...string) (*draft, *form, bool) {
	f := &form{}
	d := &draft{}
	if err := json.Unmarshal(body, &d.has); err != nil || d.has == nil {
		return nil, nil, false
	}
	at := func(name string) []string { return sub(path, name) }
	f.decode(d.has["content"], &d.content, at("content")...)
	if length(d.content) > maxContent {
		f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxContent), at("content")...)
	}
	d.content = strings.TrimSpace(d.content)
	f.decode(d.has["flags"], &d.flags, at("flags")...)
	v2 := (d.flags|prior)&FlagComponentsV2 != 0
	d.embeds = f.embeds(d.has["embeds"], at("embeds")...)
	d.components = f.components(d.has["components"], v2, at("components")...)
	if v2 {
		for _, name := range []string{"content", "embeds", "sticker_ids", "poll"} {
			if raw := string(d.has[name]); raw != "" && raw != "null" && raw != `""` && raw != "[]" {
				f.add("MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
					"The '"+name+"' field cannot be used when using MessageFlags.IS_COMPONENTS_V2", at(name)...)
			}
		}
	}
	f.decode(d.has["enforce_nonce"], &d.enforce, at("enforce_nonce")...)
	d.nonce = f.nonce(d.has["nonce"], at("nonce")...)
	var tts bool
	f.decode(d.has["tts"], &tts, at("tts")...)
	d.everyone, d.mentions = f.mentions(d.has["allowed_mentions"], d.content, interaction, at("allowed_mentions")...)
	return d, f, true
}

// nonce checks a nonce, an integer or a string of up to 25 characters.
func (f *form) nonce(raw json.RawMessage, path ...string) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if length(s) > maxNonce {
			f.add("BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxNonce), path...)
		}
		return s
	}
	var n int64
	if json.Unmarshal(raw, &n) == nil {
		return strconv.FormatInt(n, 10)
	}
	f.add("NONCE_TYPE_INVALID", "Nonce must be an integer or a string.", path...)
	return ""
}

// mentionPattern finds what content mentions: users, roles, everyone and here.
var mentionPattern = regexp.MustCompile(`<@!?(\d{1,20})>|<@&(\d{1,20})>|@(everyone|here)\b`)

// mentions checks allowed_mentions and applies it to content.
// https://discord.com/developers/docs/resources/message#allowed-mentions-object
func (f *form) mentions(raw json.RawMessage, content string, interaction bool, path ...string) (everyone bool, who []string) {
	var a struct {
		Parse       []string `json:"parse"`
		Users       []string `json:"users"`
		Roles       []string `json:"roles"`
		RepliedUser bool     `json:"replied_user"`
	}
	if !f.decode(raw, &a, path...) {
		a.Parse = []string{"users", "roles", "everyone"}
		if interaction {
			a.Parse = []string{"users"}
		}
	}
	for i, p := range a.Parse {
		if p != "users" && p != "roles" && p != "everyone" {
			f.add("BASE_TYPE_CHOICES", "Value must be one of ('everyone', 'roles', 'users').", sub(path, "parse", strconv.Itoa(i))...)
		}
	}
	for name, ids := range map[string][]string{"users": a.Users, "roles": a.Roles} {
		if len(ids) > 100 {
			f.add("BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.", sub(path, name)...)
		}
		if len(ids) > 0 && slices.Contains(a.Parse, name) {
			f.add("MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", fmt.Sprintf("parse:[%q] and %s: [ids...] are mutually exclusive.", name, name), path...)
		}
		for i, id := range ids {
			if !digits(id) {
				f.add("NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not snowflake.", id), sub(path, name, strconv.Itoa(i))...)
			}
		}
	}
	for _, m := range mentionPattern.FindAllStringSubmatch(content, -1) {
		switch {
		case m[1] != "" && (slices.Contains(a.Parse, "users") || slices.Contains(a.Users, m[1])):
			who = append(who, m[1])
		case m[2] != "" && (slices.Contains(a.Parse, "roles") || slices.Contains(a.Roles, m[2])):
			who = append(who, "&"+m[2])
		case m[3] != "" && slices.Contains(a.Parse, "everyone"):
			everyone = true
		}
	}
	slices.Sort(who)
	return everyone, slices.Compact(who)
}
