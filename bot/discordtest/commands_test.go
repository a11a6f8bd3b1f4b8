package discordtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
)

func commandsPath(s *discordtest.Server) string { return "/applications/" + s.AppID() + "/commands" }

func cmd(more object) object {
	c := object{"name": "list", "description": "d"}
	for k, v := range more {
		c[k] = v
	}
	return c
}

func TestCommandsAreOverwritten(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		list := func(query string) []map[string]any {
			t.Helper()
			var out []map[string]any
			r := c.do("GET", commandsPath(s)+query, nil)
			if err := json.Unmarshal(r.raw, &out); err != nil || r.status != 200 {
				t.Fatalf("got %d %s", r.status, r.raw)
			}
			return out
		}
		if got := list(""); len(got) != 0 {
			t.Fatalf("got %v", got)
		}
		body := []object{
			cmd(object{"name_localizations": object{"ko": "목록"}, "options": []object{
				{"type": 3, "name": "a", "description": "d", "required": false, "autocomplete": true},
			}}),
			cmd(object{"name": "report"}),
		}
		c.want(200, 0, "PUT", commandsPath(s), body)
		if got := s.Stats().CommandCreates; got != 2 {
			t.Errorf("creates: got %d, want 2", got)
		}
		first := list("?with_localizations=true")
		if loc, _ := first[0]["name_localizations"].(map[string]any); loc["ko"] != "목록" {
			t.Errorf("got %v", first[0])
		}
		if _, ok := list("")[0]["name_localizations"]; ok {
			t.Error("localizations come only when asked for")
		}
		options, _ := first[0]["options"].([]any)
		if o, _ := options[0].(map[string]any); o["required"] != nil || o["autocomplete"] != true {
			t.Errorf("option: got %v; what is false is not said", o)
		}
		// The same again creates nothing and keeps ids and versions.
		c.want(200, 0, "PUT", commandsPath(s), body)
		body[1]["description"] = "other"
		c.want(200, 0, "PUT", commandsPath(s), body)
		second := list("?with_localizations=true")
		if first[0]["id"] != second[0]["id"] || first[0]["version"] != second[0]["version"] ||
			first[1]["id"] != second[1]["id"] || first[1]["version"] == second[1]["version"] {
			t.Errorf("got %v, then %v", first, second)
		}
		c.want(200, 0, "PUT", commandsPath(s), body[:1])
		if got := s.Commands(""); len(got) != 1 || got[0].Name != "list" || s.Stats().CommandCreates != 2 {
			t.Errorf("got %v", got)
		}
		created := c.want(201, 0, "POST", commandsPath(s), cmd(object{"name": "why"}))
		c.want(200, 0, "PATCH", commandsPath(s)+"/"+created.str("id"), object{"description": "e"})
		if got := c.want(200, 0, "GET", commandsPath(s)+"/"+created.str("id"), nil); got.str("description") != "e" || got.str("name") != "why" {
			t.Errorf("got %s", got.raw)
		}
		c.want(204, 0, "DELETE", commandsPath(s)+"/"+created.str("id"), nil)
		c.want(404, 10063, "GET", commandsPath(s)+"/"+created.str("id"), nil)
		c.want(403, 50001, "GET", "/applications/1/commands", nil)
		clean(t, s)
	})
}

func TestCommandCreatesADay(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{CommandCreates: 3}, func(t *testing.T, s *discordtest.Server, c *client) {
		put := func(status, code int, names ...string) {
			t.Helper()
			var list []object
			for _, n := range names {
				list = append(list, cmd(object{"name": n}))
			}
			c.want(status, code, "PUT", commandsPath(s), list)
		}
		put(200, 0, "a", "b")
		put(400, 30034, "a", "b", "c", "d")
		if got := len(s.Commands("")); got != 2 {
			t.Errorf("refused: got %d commands, want the 2 of before", got)
		}
		put(200, 0, "a", "b", "c")
		c.want(200, 0, "PUT", "/applications/"+s.AppID()+"/guilds/"+guildID+"/commands", []object{cmd(nil)}) // a guild counts apart
		time.Sleep(24 * time.Hour)
		put(200, 0, "d", "e", "f")
	})
}

func TestCommandsThatDiscordRefuses(t *testing.T) {
	t.Parallel()
	option := func(more object) object {
		o := object{"type": 3, "name": "o", "description": "d"}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	many := func(n int) []object {
		out := make([]object, n)
		for i := range out {
			out[i] = option(object{"name": fmt.Sprint("o", i)})
		}
		return out
	}
	long := strings.Repeat("d", 100)
	for name, tc := range map[string]struct {
		more object
		ok   bool
	}{
		"a Hangul name":               {object{"name": "등록"}, true},
		"an upper-case name":          {object{"name": "List"}, false},
		"a name with a space":         {object{"name": "a b"}, false},
		"a name of 32":                {object{"name": strings.Repeat("a", 32)}, true},
		"a name of 33":                {object{"name": strings.Repeat("a", 33)}, false},
		"a description of 101":        {object{"description": long + "d"}, false},
		"an empty description":        {object{"description": ""}, false},
		"an unknown locale":           {object{"name_localizations": object{"kr": "목록"}}, false},
		"a localized name too long":   {object{"name_localizations": object{"ko": strings.Repeat("가", 33)}}, false},
		"25 options":                  {object{"options": many(25)}, true},
		"26 options":                  {object{"options": many(26)}, false},
		"required after optional":     {object{"options": []object{option(nil), option(object{"name": "p", "required": true})}}, false},
		"an option twice":             {object{"options": []object{option(nil), option(nil)}}, false},
		"choices and autocomplete":    {object{"options": []object{option(object{"autocomplete": true, "choices": []object{{"name": "a", "value": "b"}}})}}, false},
		"26 choices":                  {object{"options": []object{option(object{"choices": repeat(26, object{"name": "a", "value": "b"})})}}, false},
		"a number among texts":        {object{"options": []object{option(object{"choices": []object{{"name": "a", "value": 3}}})}}, false},
		"a type of option unheard of": {object{"options": []object{option(object{"type": 12})}}, false},
		"8000 and more": {object{"options": func() []object {
			o := option(object{"choices": repeat(25, object{"name": long, "value": long})})
			p := option(object{"name": "p", "choices": repeat(25, object{"name": long, "value": long})})
			return []object{o, p}
		}()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
				status, code := 400, 50035
				if tc.ok {
					status, code = 200, 0
				}
				c.want(status, code, "PUT", commandsPath(s), []object{cmd(tc.more)})
			})
		})
	}
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		c.want(400, 50035, "PUT", commandsPath(s), []object{cmd(nil), cmd(nil)})
	})
}
