package discordtest_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/bot/discordtest"
)

func embed(more object) object {
	e := object{"title": "t"}
	for k, v := range more {
		e[k] = v
	}
	return e
}

func embeds(list ...object) object { return object{"embeds": list} }

func repeat[T any](n int, v T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestMessageSizes(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("가", n) }
	field := func(name, value int) object { return object{"name": x(name), "value": x(value)} }
	row := func(c ...object) object {
		return object{"content": "x", "components": []any{object{"type": 1, "components": c}}}
	}
	for name, tc := range map[string]struct {
		body any
		path string // of the fault in the errors object; "" accepts
	}{
		"content of 2000":       {object{"content": x(2000)}, ""},
		"content of 2001":       {object{"content": x(2001)}, "content"},
		"1001 emoji are 2002":   {object{"content": strings.Repeat("🐉", 1001)}, "content"},
		"ten embeds":            {embeds(repeat(10, embed(nil))...), ""},
		"eleven embeds":         {embeds(repeat(11, embed(nil))...), "embeds"},
		"title of 256":          {embeds(object{"title": x(256)}), ""},
		"title of 257":          {embeds(object{"title": x(257)}), "embeds.0.title"},
		"description of 4096":   {embeds(object{"description": x(4096)}), ""},
		"description of 4097":   {embeds(embed(nil), object{"description": x(4097)}), "embeds.1.description"},
		"25 fields":             {embeds(object{"fields": repeat(25, field(1, 1))}), ""},
		"26 fields":             {embeds(object{"fields": repeat(26, field(1, 1))}), "embeds.0.fields"},
		"field of 256 and 1024": {embeds(object{"fields": []object{field(256, 1024)}}), ""},
		"field name of 257":     {embeds(object{"fields": []object{field(257, 1)}}), "embeds.0.fields.0.name"},
		"field value of 1025":   {embeds(object{"fields": []object{field(1, 1025)}}), "embeds.0.fields.0.value"},
		"blank field value":     {embeds(object{"fields": []object{{"name": "n", "value": " "}}}), "embeds.0.fields.0.value"},
		"footer of 2049":        {embeds(embed(object{"footer": object{"text": x(2049)}})), "embeds.0.footer.text"},
		"author of 257":         {embeds(embed(object{"author": object{"name": x(257)}})), "embeds.0.author.name"},
		"6000 in all":           {embeds(object{"description": x(4096)}, object{"description": x(1904)}), ""},
		"6001 in all": {embeds(object{"description": x(3000)}, object{"title": x(200), "description": x(2000),
			"footer": object{"text": x(300)}, "author": object{"name": x(200)}, "fields": []object{field(100, 201)}}), "embeds"},
		"an empty embed":              {embeds(object{"color": 3}), "embeds.0.description"},
		"a colour too large":          {embeds(embed(object{"color": 0x1000000})), "embeds.0.color"},
		"a timestamp of another kind": {embeds(embed(object{"timestamp": "noon"})), "embeds.0.timestamp"},
		"a thumbnail by ftp":          {embeds(embed(object{"thumbnail": object{"url": "ftp://x/y"}})), "embeds.0.thumbnail.url"},
		"content as a number":         {object{"content": 3}, "content"},
		"a nonce of 25":               {object{"content": "x", "nonce": strings.Repeat("n", 25)}, ""},
		"a nonce of 26":               {object{"content": "x", "nonce": strings.Repeat("n", 26)}, "nonce"},
		"a number as nonce":           {object{"content": "x", "nonce": 12345}, ""},
		"a list as nonce":             {object{"content": "x", "nonce": []int{1}}, "nonce"},
		"unknown kind of mention":     {object{"content": "x", "allowed_mentions": object{"parse": []string{"all"}}}, "allowed_mentions.parse.0"},
		"users twice": {object{"content": "x", "allowed_mentions": object{"parse": []string{"users"}, "users": []string{"1"}}},
			"allowed_mentions"},
		"nulls":    {object{"content": "x", "embeds": nil, "components": nil, "nonce": nil, "allowed_mentions": nil, "flags": nil}, ""},
		"a button": {row(object{"type": 2, "style": 1, "label": "x", "custom_id": "a"}), ""},
		"two buttons of one id": {row(object{"type": 2, "style": 1, "label": "x", "custom_id": "a"},
			object{"type": 2, "style": 1, "label": "x", "custom_id": "a"}), "components.0.components.1.custom_id"},
		"a label of 81":          {row(object{"type": 2, "style": 1, "label": x(81), "custom_id": "a"}), "components.0.components.0.label"},
		"a link without address": {row(object{"type": 2, "style": 5, "label": "x"}), "components.0.components.0.url"},
		"26 choices": {row(object{"type": 3, "custom_id": "a", "options": repeat(26, object{"label": "x", "value": "y"})}),
			"components.0.components.0.options"},
		"text beside components v2": {object{"content": "x", "flags": 1 << 15, "components": []any{object{"type": 10, "content": "x"}}}, "content"},
		"components v2":             {object{"flags": 1 << 15, "components": []any{object{"type": 10, "content": "x"}}}, ""},
		"v2's text without the flag": {object{"content": "x", "components": []any{object{"type": 10, "content": "x"}}},
			"components.0.type"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
				r := c.do("POST", messagesOf(chat), tc.body)
				if tc.path == "" {
					if r.status != 200 {
						t.Errorf("got %d %s", r.status, r.raw)
					}
					clean(t, s)
					return
				}
				if r.status != 400 || r.code() != 50035 || r.str("message") != "Invalid Form Body" {
					t.Fatalf("got %d %s, want 50035", r.status, r.raw)
				}
				var at any = r.body["errors"]
				for _, p := range strings.Split(tc.path, ".") {
					m, _ := at.(map[string]any)
					at = m[p]
				}
				m, _ := at.(map[string]any)
				if list, _ := m["_errors"].([]any); len(list) == 0 {
					t.Errorf("nothing at %s: %s", tc.path, r.raw)
				}
				if n := s.Stats().ViolationCounts[discordtest.ViolationForm]; n != 1 || len(s.Messages(chat)) != 0 {
					t.Errorf("got %d violations, %d messages", n, len(s.Messages(chat)))
				}
			})
		})
	}
}

func TestBodiesThatAreNone(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{ChannelLimit: -1}, func(t *testing.T, _ *discordtest.Server, c *client) {
		c.want(400, 50006, "POST", messagesOf(chat), object{"content": " \n", "embeds": []any{}})
		c.want(400, 50006, "POST", messagesOf(chat), object{})
		for _, text := range []string{"{", "[]", "null", "3", ""} {
			c.want(400, 50109, "POST", messagesOf(chat), text)
		}
	})
}

func TestMessageLife(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		var hooked []string
		s.OnMessage(func(m discordtest.Message) { hooked = append(hooked, m.Content) })
		start := time.Now()
		r := c.want(200, 0, "POST", messagesOf(chat), object{
			"content": "  hello  ", "nonce": "n1",
			"embeds": []object{
				{"title": " a ", "url": "https://x.invalid", "timestamp": "2026-08-01T21:00:00.25+09:00"},
				{"title": "dropped", "url": "https://x.invalid"},
			},
		})
		id := r.str("id")
		time.Sleep(3 * time.Second)
		edited := c.want(200, 0, "PATCH", messagesOf(chat)+"/"+id, object{"embeds": []object{{"title": "b"}}})
		if edited.str("content") != "hello" || edited.body["edited_timestamp"] == nil || edited.str("nonce") != "n1" {
			t.Errorf("edited: got %s", edited.raw)
		}
		got := s.Messages(chat)
		if len(got) != 1 {
			t.Fatalf("got %d messages", len(got))
		}
		m := got[0]
		if m.ID != id || !m.Arrived.Equal(start) || m.Content != "hello" || m.Nonce != "n1" ||
			len(m.Edits) != 1 || m.Edits[0].At.Sub(start) != 3*time.Second {
			t.Errorf("got %+v", m)
		}
		if want := []discordtest.Embed{{Title: "b", Type: "rich"}}; !cmp.Equal(m.Embeds, want) {
			t.Errorf("embeds: %s", cmp.Diff(m.Embeds, want))
		}
		var first struct{ Embeds []discordtest.Embed }
		if err := json.Unmarshal(r.raw, &first); err != nil {
			t.Fatal(err)
		}
		want := []discordtest.Embed{{Title: "a", Type: "rich", URL: "https://x.invalid", Timestamp: "2026-08-01T12:00:00.250000+00:00"}}
		if !cmp.Equal(first.Embeds, want) {
			t.Errorf("as Discord shows them: %s", cmp.Diff(first.Embeds, want))
		}
		c.want(400, 50006, "PATCH", messagesOf(chat)+"/"+id, object{"content": "", "embeds": nil})
		c.want(200, 0, "GET", messagesOf(chat)+"/"+id, nil)
		c.want(204, 0, "DELETE", messagesOf(chat)+"/"+id, nil)
		c.want(404, 10008, "GET", messagesOf(chat)+"/"+id, nil)
		c.want(404, 10008, "PATCH", messagesOf(chat)+"/"+id, object{"content": "x"})
		if !cmp.Equal(hooked, []string{"hello"}) || !s.Messages(chat)[0].Deleted || len(s.History(chat)) != 0 {
			t.Errorf("hook: got %v", hooked)
		}
	})
}

func TestNonce(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		send := func(status, code int, channel, nonce string, enforce bool) string {
			t.Helper()
			return c.want(status, code, "POST", messagesOf(channel), object{"content": "x", "nonce": nonce, "enforce_nonce": enforce}).str("id")
		}
		first := send(200, 0, chat, "a", true)
		if again := send(200, 0, chat, "a", true); again != first {
			t.Errorf("enforced: got %s, want %s again", again, first)
		}
		if not := send(200, 0, chat, "a", false); not == first {
			t.Error("without enforce_nonce: got the first one again")
		}
		time.Sleep(3*time.Minute - time.Nanosecond)
		if again := send(200, 0, chat, "a", true); again != first {
			t.Error("just within three minutes: got another")
		}
		// Another channel gets the first one's message, and nothing is sent there.
		if there := send(200, 0, other, "a", true); there != first || len(s.Messages(other)) != 0 {
			t.Error("another channel: got a message of its own")
		}
		time.Sleep(time.Nanosecond)
		second := send(200, 0, chat, "a", true)
		if second == first {
			t.Error("after three minutes: got the first one again")
		}
		c.want(204, 0, "DELETE", messagesOf(chat)+"/"+second, nil)
		send(404, 10008, chat, "a", true)
		st := s.Stats()
		if st.Messages != 3 || st.Repeats != 3 || s.Messages(chat)[0].Repeats != 3 {
			t.Errorf("got %d messages, %d repeats", st.Messages, st.Repeats)
		}
		clean(t, s, discordtest.ViolationNonceElsewhere)
		if n := st.ViolationCounts[discordtest.ViolationNonceElsewhere]; n != 1 {
			t.Errorf("in another channel: got %d, want 1", n)
		}
	})
}

func TestMentions(t *testing.T) {
	t.Parallel()
	const text = "<@1> <@!2> <@&3> @everyone"
	for name, tc := range map[string]struct {
		allowed  any
		everyone bool
		who      []string
	}{
		"by default":  {nil, true, []string{"&3", "1", "2"}},
		"none":        {object{"parse": []string{}}, false, nil},
		"users":       {object{"parse": []string{"users"}}, false, []string{"1", "2"}},
		"one of them": {object{"parse": []string{"roles"}, "users": []string{"2"}}, false, []string{"&3", "2"}},
	} {
		bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
			c.want(200, 0, "POST", messagesOf(chat), object{"content": text, "allowed_mentions": tc.allowed})
			m := s.Messages(chat)[0]
			if m.MentionsEveryone != tc.everyone || !cmp.Equal(m.Mentions, tc.who) {
				t.Errorf("%s: got %v %v, want %v %v", name, m.MentionsEveryone, m.Mentions, tc.everyone, tc.who)
			}
		})
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{ChannelLimit: -1}, func(t *testing.T, s *discordtest.Server, c *client) {
		text, rich := object{"content": "x"}, embeds(embed(nil))
		id := c.want(200, 0, "POST", messagesOf(chat), text).str("id")
		s.Deny(chat, discordtest.ViewChannel)
		c.want(403, 50001, "POST", messagesOf(chat), text)
		c.want(403, 50001, "GET", messagesOf(chat), nil)
		c.want(403, 50001, "GET", "/channels/"+chat, nil)
		s.Deny(chat, discordtest.SendMessages)
		c.want(403, 50013, "POST", messagesOf(chat), text)
		c.want(200, 0, "PATCH", messagesOf(chat)+"/"+id, text)
		s.Deny(chat, discordtest.EmbedLinks)
		c.want(200, 0, "POST", messagesOf(chat), text)
		c.want(403, 50013, "POST", messagesOf(chat), rich)
		s.SetChannel(guildID, discordtest.Channel{ID: chat, Missing: discordtest.EmbedLinks, DropEmbeds: true})
		c.want(400, 50006, "POST", messagesOf(chat), rich)
		s.Deny(chat, discordtest.ReadMessageHistory)
		if r := c.do("GET", messagesOf(chat), nil); r.status != 200 || string(r.raw) != "[]" {
			t.Errorf("history: got %d %s, want an empty list", r.status, r.raw)
		}
		s.Deny(chat, 0)
		c.want(200, 0, "POST", messagesOf(chat), rich)

		s.SetChannel(guildID, discordtest.Channel{ID: "33", Type: discordtest.ChannelPublicThread, ParentID: chat, Missing: discordtest.SendMessages})
		c.want(200, 0, "POST", messagesOf("33"), text) // threads have a permission of their own
		s.SetChannel(guildID, discordtest.Channel{ID: "33", Type: discordtest.ChannelPublicThread, Archived: true})
		c.want(400, 50083, "POST", messagesOf("33"), text)
		s.SetChannel(guildID, discordtest.Channel{ID: "34", Type: discordtest.ChannelCategory})
		c.want(400, 50008, "POST", messagesOf("34"), text)
		c.want(404, 10003, "POST", messagesOf("35"), text)
		c.want(400, 50035, "POST", messagesOf("general"), text)
		s.RemoveChannel(chat)
		c.want(404, 10003, "POST", messagesOf(chat), text)
		s.RemoveGuild(guildID)
		c.want(403, 50001, "POST", messagesOf(other), text)
		s.AddGuild(home())
		c.want(200, 0, "POST", messagesOf(other), text)

		dm := c.want(200, 0, "POST", "/users/@me/channels", object{"recipient_id": "77"}).str("id")
		c.want(200, 0, "POST", messagesOf(dm), text)
		if s.DM("77") != dm || len(s.Messages(dm)) != 1 {
			t.Errorf("direct message: got %q, want %q", s.DM("77"), dm)
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{ChannelLimit: -1}, func(t *testing.T, _ *discordtest.Server, c *client) {
		ids := make([]string, 6)
		for i := range ids {
			ids[i] = c.want(200, 0, "POST", messagesOf(chat), object{"content": string(rune('a' + i))}).str("id")
		}
		for query, want := range map[string]string{
			"":                                    "fedcba",
			"?limit=2":                            "fe",
			"?limit=2&before=" + ids[2]:           "ba",
			"?limit=2&after=" + ids[2]:            "ed",
			"?after=" + ids[5]:                    "",
			"?before=" + ids[1]:                   "a",
			"?limit=100&after=1&before=" + ids[3]: "cba",
		} {
			var list []struct{ Content string }
			r := c.do("GET", messagesOf(chat)+query, nil)
			if err := json.Unmarshal(r.raw, &list); err != nil {
				t.Fatalf("%s: %s", query, r.raw)
			}
			got := ""
			for _, m := range list {
				got += m.Content
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
		c.want(400, 50035, "GET", messagesOf(chat)+"?limit=101", nil)
		c.want(400, 50035, "GET", messagesOf(chat)+"?before=x", nil)
	})
}

func TestMultipart(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		_ = w.WriteField("payload_json", `{"content":"x"}`)
		f, err := w.CreateFormFile("files[0]", "a.png")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte("png"))
		_ = w.Close()
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://x/api/v10"+messagesOf(chat), &body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", c.auth)
		req.Header.Set("User-Agent", "DiscordBot (x, 1)")
		req.Header.Set("Content-Type", w.FormDataContentType())
		res, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if m := s.Messages(chat); res.StatusCode != 200 || len(m) != 1 || m[0].Content != "x" || !cmp.Equal(m[0].Files, []string{"a.png"}) {
			t.Errorf("got %d %+v", res.StatusCode, m)
		}
		clean(t, s)
	})
}

func TestRequestsAreRecordedWithoutTokens(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{KeepRequests: 2}, func(t *testing.T, s *discordtest.Server, c *client) {
		c.do("GET", "/users/@me", nil)
		c.do("POST", messagesOf(chat), object{"content": "x"})
		c.anonymous().do("POST", "/interactions/1/secret/callback", object{"type": 5})
		got := s.Requests()
		if len(got) != 2 {
			t.Fatalf("got %d, want the newest 2", len(got))
		}
		if r := got[0]; r.Route != discordtest.RouteMessageCreate || r.Path != "/channels/{channel_id}/messages" || r.Channel != chat ||
			string(r.Body) != `{"content":"x"}` || r.Status != 200 || !r.Authorized {
			t.Errorf("got %+v", r)
		}
		if r := got[1]; strings.Contains(r.Path, "secret") || r.Status != 404 || r.Authorized {
			t.Errorf("got %+v", r)
		}
		if n := s.Stats().Count(discordtest.RouteMessageCreate, 200); n != 1 {
			t.Errorf("count: got %d", n)
		}
	})
}

func TestTokenAndPaths(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		for _, auth := range []string{"", token, "Bearer " + token, "Bot ", "Bot x"} {
			(&client{t: t, http: c.http, auth: auth}).want(401, 0, "GET", "/users/@me", nil)
		}
		(&client{t: t, http: c.http}).want(200, 0, "GET", "/gateway", nil)
		c.want(404, 0, "GET", "/nonsense", nil)
		c.want(405, 0, "PUT", "/users/@me", nil)
		if me := c.want(200, 0, "GET", "/users/@me", nil); me.str("id") != s.AppID() || me.body["bot"] != true {
			t.Errorf("got %s", me.raw)
		}
		for _, p := range []string{"/applications/@me", "/oauth2/applications/@me"} {
			if app := c.want(200, 0, "GET", p, nil); app.str("id") != s.AppID() {
				t.Errorf("got %s", app.raw)
			}
		}
		bot := c.want(200, 0, "GET", "/gateway/bot", nil)
		limit, _ := bot.body["session_start_limit"].(map[string]any)
		if bot.body["shards"] != 1.0 || limit["remaining"] != 1000.0 || limit["max_concurrency"] != 1.0 {
			t.Errorf("got %s", bot.raw)
		}
		st := s.Stats()
		if st.ViolationCounts[discordtest.ViolationToken] != 5 || st.ViolationCounts[discordtest.ViolationUnknownRoute] != 2 {
			t.Errorf("got %v", st.ViolationCounts)
		}
	})
}

func TestIDsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the bubble's clock starts before Discord's epoch
		s := newServer(t, discordtest.Options{ChannelLimit: -1, GlobalLimit: 1000})
		c := newClient(t, s)
		last := ""
		for range 100 {
			id := c.do("POST", messagesOf(chat), object{"content": "x"}).str("id")
			if len(id) < len(last) || len(id) == len(last) && id <= last {
				t.Fatalf("%s after %s", id, last)
			}
			last = id
		}
	})
}
