package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"riftchime/bot/discord"
)

// openAPI is Discord's own description of its API. It is not part of this
// repository; where it is absent, the bodies are checked for what they must
// hold only.
const openAPI = "../../../shared/fixtures/discord/openapi.json"

func requestSchemas(t *testing.T) func(path, method string) *jsonschema.Schema {
	t.Helper()
	file, err := os.ReadFile(openAPI)
	if err != nil {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", document); err != nil {
		t.Fatal(err)
	}
	return func(path, method string) *jsonschema.Schema {
		pointer := "/paths/" + strings.ReplaceAll(path, "/", "~1") + "/" + method + "/requestBody/content/application~1json/schema"
		schema, err := compiler.Compile("openapi.json#" + (&url.URL{Fragment: pointer}).EscapedFragment())
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
}

func TestBodiesAreWhatDiscordDescribes(t *testing.T) {
	t.Parallel()
	a := &api{answer: func(c call) reply {
		if c.Method == "GET" {
			return ok(`[]`)
		}
		return ok(`{"id":"9"}`)
	}}
	c := newClient(t, a)
	embeds := []*discordgo.MessageEmbed{{Title: "title", Description: "text", Color: 255, Timestamp: "2026-08-01T12:00:00Z"}}
	r := discord.NewRouter(c, discord.RouterOptions{
		Commands: []discord.Command{
			{Name: "go", Run: func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
				return &discordgo.InteractionResponseData{Content: "done", Embeds: embeds}
			}, Autocomplete: func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
				return []*discordgo.ApplicationCommandOptionChoice{{Name: "one", Value: "1"}}
			}},
			{Name: "slow", Slow: true, Ephemeral: true, Run: say("done")},
		},
	})
	manage := int64(discordgo.PermissionManageGuild)
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	defs := []*discordgo.ApplicationCommand{{
		Name: "go", Description: "Go", DefaultMemberPermissions: &manage, Contexts: &contexts,
		NameLocalizations: &map[discordgo.Locale]string{discordgo.Korean: "가기"},
		Options: []*discordgo.ApplicationCommandOption{
			{Type: discordgo.ApplicationCommandOptionString, Name: "where", Description: "Where", Autocomplete: true},
			{Type: discordgo.ApplicationCommandOptionString, Name: "how", Description: "How", Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "one", Value: "1"}}},
			{Type: discordgo.ApplicationCommandOptionBoolean, Name: "quiet", Description: "Quiet"},
		},
	}}
	ctx := t.Context()
	embed := json.RawMessage(`{"embeds":[{"title":"x","timestamp":"2026-08-01T12:00:00Z"}]}`)
	if _, err := c.Post(ctx, 1, embed, "nonce"); err != nil {
		t.Fatal(err)
	}
	if err := c.Edit(ctx, 1, 2, embed); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SyncCommands(ctx, 5, defs); err != nil {
		t.Fatal(err)
	}
	complete := press(3, "go")
	complete.Type = discordgo.InteractionApplicationCommandAutocomplete
	for _, i := range []*discordgo.Interaction{press(1, "go"), press(2, "slow"), complete} {
		r.Handle(ctx, i)
	}
	if err := r.Wait(ctx); err != nil {
		t.Fatal(err)
	}

	schema := requestSchemas(t)
	checked := map[string]int{}
	for _, call := range a.seen() {
		if call.Method == "GET" {
			continue
		}
		path := ""
		switch {
		case strings.HasSuffix(call.Path, "/callback"):
			path = "/interactions/{interaction_id}/{interaction_token}/callback"
		case strings.HasPrefix(call.Path, "/webhooks/"):
			path = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
		case strings.HasPrefix(call.Path, "/applications/"):
			path = "/applications/{application_id}/commands"
		case call.Method == "PATCH":
			path = "/channels/{channel_id}/messages/{message_id}"
		default:
			path = "/channels/{channel_id}/messages"
		}
		checked[path]++
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(call.Body))
		if err != nil {
			t.Fatal(err)
		}
		if schema == nil {
			continue
		}
		if strings.HasPrefix(path, "/applications/") {
			// Discord's pages have a string here, its own answers too, and only
			// this description a number; it takes both.
			command := value.([]any)[0].(map[string]any)
			if command["default_member_permissions"] != "32" {
				t.Errorf("got permissions %v, want the string 32", command["default_member_permissions"])
			}
			command["default_member_permissions"] = json.Number("32")
		}
		if err := schema(path, strings.ToLower(call.Method)).Validate(value); err != nil {
			t.Errorf("%s %s: %s\n%v", call.Method, path, call.Body, err)
		}
	}
	want := map[string]int{
		"/interactions/{interaction_id}/{interaction_token}/callback": 3,
		"/webhooks/{webhook_id}/{webhook_token}/messages/@original":   1,
		"/applications/{application_id}/commands":                     1,
		"/channels/{channel_id}/messages/{message_id}":                1,
		"/channels/{channel_id}/messages":                             1,
	}
	for path, n := range want {
		if checked[path] != n {
			t.Errorf("%d bodies for %s, want %d", checked[path], path, n)
		}
	}
}
