package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

// SyncCommands makes the application's global slash commands those of defs, and
// reports whether anything had to be changed. It reads what is registered
// first, since new ones count against 200 a day: only where something that defs
// sets differs, or a command is too many, all are written. It is tried like
// [Client.Edit].
func (c *Client) SyncCommands(ctx context.Context, app int64, defs []*discordgo.ApplicationCommand) (changed bool, err error) {
	const op = "register commands"
	path := "/applications/" + strconv.FormatInt(app, 10) + "/commands"
	body, err := json.Marshal(defs)
	if err != nil {
		return false, &Error{Op: op, Kind: Rejected, Err: err}
	}
	// Through JSON, so that numbers in choices have one type on both sides.
	var wanted, present []*discordgo.ApplicationCommand
	if err := json.Unmarshal(body, &wanted); err != nil {
		return false, &Error{Op: op, Kind: Rejected, Err: err}
	}
	var answer json.RawMessage
	err = retry(ctx, func() error {
		return c.do(ctx, op, http.MethodGet, path+"?with_localizations=true", nil, &answer)
	})
	if err != nil {
		return false, err
	}
	// What discordgo can't read is not what these commands look like.
	if json.Unmarshal(answer, &present) == nil && sameCommands(wanted, present) {
		return false, nil
	}
	return true, retry(ctx, func() error {
		return c.do(ctx, op, http.MethodPut, path, body, nil)
	})
}

// sameCommands reports whether present has exactly the commands of wanted, each
// with everything that wanted sets.
func sameCommands(wanted, present []*discordgo.ApplicationCommand) bool {
	if len(wanted) != len(present) {
		return false
	}
	type key struct {
		kind discordgo.ApplicationCommandType
		name string
	}
	keyOf := func(c *discordgo.ApplicationCommand) key {
		return key{cmp.Or(c.Type, discordgo.ChatApplicationCommand), c.Name}
	}
	there := make(map[key]*discordgo.ApplicationCommand, len(present))
	for _, c := range present {
		if c != nil {
			there[keyOf(c)] = c
		}
	}
	for _, want := range wanted {
		got := there[keyOf(want)]
		if got == nil ||
			want.Description != got.Description ||
			!sameTexts(want.NameLocalizations, got.NameLocalizations) ||
			!sameTexts(want.DescriptionLocalizations, got.DescriptionLocalizations) ||
			!samePointer(want.DefaultMemberPermissions, got.DefaultMemberPermissions) ||
			want.NSFW != nil && !samePointer(want.NSFW, got.NSFW) ||
			want.Contexts != nil && !sameSet(*want.Contexts, got.Contexts) ||
			want.IntegrationTypes != nil && !sameSet(*want.IntegrationTypes, got.IntegrationTypes) ||
			!slices.EqualFunc(want.Options, got.Options, sameOption) {
			return false
		}
	}
	return true
}

func sameOption(want, got *discordgo.ApplicationCommandOption) bool {
	return got != nil &&
		want.Type == got.Type &&
		want.Name == got.Name &&
		want.Description == got.Description &&
		maps.Equal(want.NameLocalizations, got.NameLocalizations) &&
		maps.Equal(want.DescriptionLocalizations, got.DescriptionLocalizations) &&
		want.Required == got.Required &&
		want.Autocomplete == got.Autocomplete &&
		want.MaxValue == got.MaxValue &&
		want.MaxLength == got.MaxLength &&
		samePointer(want.MinValue, got.MinValue) &&
		samePointer(want.MinLength, got.MinLength) &&
		slices.Equal(want.ChannelTypes, got.ChannelTypes) &&
		slices.EqualFunc(want.Choices, got.Choices, sameChoice) &&
		slices.EqualFunc(want.Options, got.Options, sameOption)
}

func sameChoice(want, got *discordgo.ApplicationCommandOptionChoice) bool {
	return got != nil && want.Name == got.Name &&
		reflect.DeepEqual(want.Value, got.Value) &&
		maps.Equal(want.NameLocalizations, got.NameLocalizations)
}

// sameTexts compares localizations; none and an empty map are the same.
func sameTexts(want, got *map[discordgo.Locale]string) bool {
	var a, b map[discordgo.Locale]string
	if want != nil {
		a = *want
	}
	if got != nil {
		b = *got
	}
	return maps.Equal(a, b)
}

func samePointer[T comparable](want, got *T) bool {
	if want == nil || got == nil {
		return want == got
	}
	return *want == *got
}

// sameSet compares lists whose order Discord does not keep.
func sameSet[T cmp.Ordered](want []T, got *[]T) bool {
	return got != nil && slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(*got)))
}
