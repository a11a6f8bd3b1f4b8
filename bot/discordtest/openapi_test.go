package discordtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"riftchime/bot/discordtest"
)

// openAPI is Discord's own description of its API.
const openAPI = "../../../shared/fixtures/discord/openapi.json"

// shape checks a body against what Discord's OpenAPI document says of an answer.
type shape struct {
	t        *testing.T
	compiler *jsonschema.Compiler
}

func newShape(t *testing.T) *shape {
	t.Helper()
	raw, err := os.ReadFile(openAPI)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("Discord's OpenAPI document is not here; the other tests check the fields that are used")
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("file:///openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return &shape{t, c}
}

// answer checks what was answered with status to a method of a path, spelled as
// the document spells it.
func (s *shape) answer(method, path, status string, r result) {
	s.t.Helper()
	escaped := strings.ReplaceAll(strings.ReplaceAll(path, "~", "~0"), "/", "~1")
	at := "file:///openapi.json#/paths/" + escaped + "/" + strings.ToLower(method) + "/responses/" + status
	if status == "4XX" {
		at = "file:///openapi.json#/components/responses/ClientErrorResponse"
	}
	schema, err := s.compiler.Compile(at + "/content/application~1json/schema")
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.raw))
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	if err := schema.Validate(body); err != nil {
		s.t.Errorf("%s %s: %v\n%s", method, path, err, r.raw)
	}
}

func TestAnswersHaveDiscordsShape(t *testing.T) {
	t.Parallel()
	sh := newShape(t)
	s := newServer(t, discordtest.Options{ChannelLimit: -1, GlobalLimit: 1000, GatewayURL: "wss://gateway.invalid"})
	c := newClient(t, s)
	const (
		messages = "/channels/{channel_id}/messages"
		message  = "/channels/{channel_id}/messages/{message_id}"
		commands = "/applications/{application_id}/commands"
		original = "/webhooks/{webhook_id}/{webhook_token}/messages/@original"
	)
	sh.answer("GET", "/gateway", "200", c.do("GET", "/gateway", nil))
	sh.answer("GET", "/gateway/bot", "200", c.do("GET", "/gateway/bot", nil))
	sh.answer("GET", "/users/@me", "200", c.do("GET", "/users/@me", nil))
	sh.answer("GET", "/applications/@me", "200", c.do("GET", "/applications/@me", nil))
	sh.answer("GET", "/oauth2/applications/@me", "200", c.do("GET", "/oauth2/applications/@me", nil))
	sh.answer("GET", "/guilds/{guild_id}", "200", c.do("GET", "/guilds/"+guildID, nil))
	sh.answer("GET", "/channels/{channel_id}", "200", c.do("GET", "/channels/"+chat, nil))
	s.SetChannel(guildID, discordtest.Channel{ID: "33", Type: discordtest.ChannelPublicThread, ParentID: chat, Missing: discordtest.EmbedLinks})
	sh.answer("GET", "/channels/{channel_id}", "200", c.do("GET", "/channels/33", nil))
	sh.answer("POST", "/users/@me/channels", "200", c.do("POST", "/users/@me/channels", object{"recipient_id": "5"}))
	sent := c.do("POST", messagesOf(chat), object{
		"content": "x <@1>", "nonce": 3,
		"embeds": []object{{
			"title": "t", "url": "https://x.invalid", "color": 5, "timestamp": "2026-08-01T12:00:00Z",
			"footer": object{"text": "f", "icon_url": "https://x.invalid/i"}, "author": object{"name": "a"},
			"thumbnail": object{"url": "https://x.invalid/t.png"}, "fields": []object{{"name": "n", "value": "v"}},
		}},
	})
	sh.answer("POST", messages, "200", sent)
	sh.answer("PATCH", message, "200", c.do("PATCH", messagesOf(chat)+"/"+sent.str("id"), object{"content": "y"}))
	sh.answer("GET", messages, "200", c.do("GET", messagesOf(chat), nil))
	full := []object{cmd(object{
		"name_localizations": object{"ko": "목록"}, "default_member_permissions": "32", "contexts": []int{0},
		"options": []object{
			{"type": 3, "name": "a", "description": "d", "required": true, "autocomplete": true},
			{"type": 3, "name": "b", "description": "d", "choices": []object{{"name": "x", "value": "y", "name_localizations": object{"ko": "z"}}}},
			{"type": 5, "name": "c", "description": "d"},
			{"type": 4, "name": "e", "description": "d", "min_value": 1, "max_value": 5},
		},
	})}
	sh.answer("PUT", commands, "200", c.do("PUT", commandsPath(s), full))
	sh.answer("GET", commands, "200", c.do("GET", commandsPath(s)+"?with_localizations=true", nil))
	sh.answer("POST", commands, "201", c.do("POST", commandsPath(s), cmd(object{"name": "other"})))
	// Not an error of code 50035: the document wants numbers as the codes in its
	// "errors", where Discord documents and sends words.
	for _, r := range []result{
		c.do("GET", "/channels/1", nil),
		c.anonymous().do("GET", "/users/@me", nil),
	} {
		sh.answer("", "", "4XX", r)
	}

	done := make(chan struct{})
	listen(t, s, func(r received) {
		defer close(done)
		anon := c.anonymous()
		sh.answer("POST", "/interactions/{interaction_id}/{interaction_token}/callback", "200",
			anon.do("POST", r.callback()+"?with_response=true", object{"type": 5}))
		sh.answer("PATCH", original, "200", anon.do("PATCH", r.original(s), object{"content": "x"}))
		sh.answer("GET", original, "200", anon.do("GET", r.original(s), nil))
	})
	if _, err := s.Interact(timeout(t), discordtest.Interaction{
		Guild: guildID, Channel: chat, Command: "list", Options: []discordtest.Option{{Name: "a", Value: "x"}},
	}); err != nil {
		t.Fatal(err)
	}
	<-done
}

// TestStatsAreJSON pins the names that scripts read.
func TestStatsAreJSON(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	newClient(t, s).do("GET", "/users/@me", nil)
	raw, err := json.Marshal(s.Stats())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"requests":{"user.me":{"200":1}}`, `"global_429":0`, `"bucket_429":0`, `"violation_counts":{}`, `"max_per_second":1`} {
		if !bytes.Contains(raw, []byte(want)) {
			t.Errorf("got %s, want %s in it", raw, want)
		}
	}
}
