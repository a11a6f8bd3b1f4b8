package discordtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/bot/discordtest"
)

// received is an INTERACTION_CREATE as a bot reads it.
type received struct {
	ID, Token      string
	Type           int
	Locale         string
	GuildLocale    string `json:"guild_locale"`
	AppPermissions string `json:"app_permissions"`
	Member         struct{ Permissions string }
	User           *struct{ ID string }
	Data           struct {
		Name     string
		CustomID string `json:"custom_id"`
		Options  []struct {
			Name    string
			Type    int
			Value   any
			Focused bool
		}
	}
	Message *struct{ ID string }
}

func (r received) callback() string { return "/interactions/" + r.ID + "/" + r.Token + "/callback" }

func (r received) original(s *discordtest.Server) string {
	return "/webhooks/" + s.AppID() + "/" + r.Token + "/messages/@original"
}

// listen answers every interaction with f, in virtual time.
func listen(t *testing.T, s *discordtest.Server, f func(received)) {
	t.Helper()
	s.OnEvent(func(event string, data []byte) {
		if event != "INTERACTION_CREATE" {
			return
		}
		var r received
		if err := json.Unmarshal(data, &r); err != nil {
			t.Error(err)
			return
		}
		f(r)
	})
}

var command = discordtest.Interaction{Guild: guildID, Channel: chat, Command: "list"}

func TestDeferAndEdit(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		anon := c.anonymous()
		listen(t, s, func(r received) {
			if r.Type != 2 || r.Data.Name != "list" || r.Locale != "en-US" || r.GuildLocale != "ko" || r.Member.Permissions != discordtest.Manager.String() {
				t.Errorf("got %+v", r)
			}
			time.Sleep(2 * time.Second)
			anon.want(204, 0, "POST", r.callback(), object{"type": 5, "data": object{"flags": 64}})
			anon.want(400, 40060, "POST", r.callback(), object{"type": 5})
			thinking := anon.want(200, 0, "GET", r.original(s), nil)
			if thinking.body["flags"] != 192.0 {
				t.Errorf("while it thinks: got flags %v, want loading and ephemeral", thinking.body["flags"])
			}
			time.Sleep(time.Minute)
			anon.want(200, 0, "PATCH", r.original(s), object{"content": "done <@1> @everyone"})
			anon.want(200, 0, "POST", "/webhooks/"+s.AppID()+"/"+r.Token, object{"content": "more"})
		})
		start := time.Now()
		res, err := s.Interact(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		if ack, after := res.Acked(); ack != discordtest.AnswerDeferred || after != 2*time.Second || !res.Ephemeral() {
			t.Errorf("ack: got %d after %v, ephemeral %v", ack, after, res.Ephemeral())
		}
		if _, ok := res.Message(); ok {
			t.Error("it is still thinking")
		}
		m, err := res.Final(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != time.Minute+2*time.Second {
			t.Errorf("final after %v", got)
		}
		if m.MentionsEveryone || !cmp.Equal(m.Mentions, []string{"1"}) {
			t.Errorf("mentions: got %v %v; an interaction mentions users only", m.MentionsEveryone, m.Mentions)
		}
		synctest.Wait()
		if got := res.Followups(); len(got) != 1 || got[0].Content != "more" {
			t.Errorf("followups: got %v", got)
		}
		if n := len(res.Answers()); n != 3 {
			t.Errorf("answers: got %d, want 3", n)
		}
		if got := s.Messages(chat); len(got) != 0 {
			t.Errorf("messages created by POST: got %v", got)
		}
		clean(t, s, discordtest.ViolationSecondAnswer)
		if n := s.Stats().ViolationCounts[discordtest.ViolationSecondAnswer]; n != 1 {
			t.Errorf("second answers: got %d", n)
		}
	})
}

func TestAnswerDeadline(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]int{3 * time.Second: 204, 3*time.Second + 1: 404} {
		bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
			got := make(chan result, 1)
			listen(t, s, func(r received) {
				time.Sleep(wait)
				got <- c.anonymous().do("POST", r.callback(), object{"type": 4, "data": object{"content": "x"}})
			})
			res, err := s.Interact(t.Context(), command)
			r := <-got
			if r.status != want || want == 404 && r.code() != 10062 {
				t.Errorf("after %v: got %d %s", wait, r.status, r.raw)
			}
			late := s.Stats().ViolationCounts[discordtest.ViolationLateAnswer]
			if want == 404 && (!errors.Is(err, discordtest.ErrUnanswered) || late != 1 || s.Stats().Unanswered != 1) {
				t.Errorf("late: got %v, %d", err, late)
			}
			if want == 204 && late != 0 {
				t.Errorf("in time: got %d late", late)
			}
			if res == nil {
				t.Error("a result must be there")
			}
		})
	}
}

func TestTokenEndsAfterFifteenMinutes(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		anon := c.anonymous()
		tokens := make(chan received, 1)
		listen(t, s, func(r received) {
			anon.want(404, 10015, "PATCH", r.original(s), object{"content": "too early"})
			anon.want(204, 0, "POST", r.callback(), object{"type": 5})
			tokens <- r
		})
		res, err := s.Interact(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		r := <-tokens
		time.Sleep(15 * time.Minute)
		anon.want(200, 0, "PATCH", r.original(s), object{"content": "just in time"})
		time.Sleep(time.Nanosecond)
		anon.want(401, 50027, "PATCH", r.original(s), object{"content": "too late"})
		if m, ok := res.Message(); !ok || m.Content != "just in time" {
			t.Errorf("got %v, %v", m, ok)
		}
		if n := s.Stats().ViolationCounts[discordtest.ViolationToken15Minutes]; n != 1 {
			t.Errorf("got %d", n)
		}
	})
}

func TestAnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	choices := func(n int) object {
		return object{"choices": repeat(n, object{"name": "n", "value": "v"})}
	}
	for name, tc := range map[string]struct {
		in     discordtest.Interaction
		answer object
		status int
	}{
		"25 choices":                    {discordtest.Interaction{Type: discordtest.TypeAutocomplete}, object{"type": 8, "data": choices(25)}, 204},
		"26 choices":                    {discordtest.Interaction{Type: discordtest.TypeAutocomplete}, object{"type": 8, "data": choices(26)}, 400},
		"a choice of 101":               {discordtest.Interaction{Type: discordtest.TypeAutocomplete}, object{"type": 8, "data": object{"choices": []object{{"name": strings.Repeat("n", 101), "value": "v"}}}}, 400},
		"a message for autocomplete":    {discordtest.Interaction{Type: discordtest.TypeAutocomplete}, object{"type": 4, "data": object{"content": "x"}}, 400},
		"deferring autocomplete":        {discordtest.Interaction{Type: discordtest.TypeAutocomplete}, object{"type": 5}, 400},
		"choices for a command":         {discordtest.Interaction{}, object{"type": 8, "data": choices(1)}, 400},
		"updating a command":            {discordtest.Interaction{}, object{"type": 7, "data": object{"content": "x"}}, 400},
		"a pong":                        {discordtest.Interaction{}, object{"type": 1}, 400},
		"an empty message":              {discordtest.Interaction{}, object{"type": 4}, 400},
		"a message too long":            {discordtest.Interaction{}, object{"type": 4, "data": object{"content": strings.Repeat("x", 2001)}}, 400},
		"other flags on a deferral":     {discordtest.Interaction{}, object{"type": 5, "data": object{"flags": 4}}, 400},
		"a modal":                       {discordtest.Interaction{}, object{"type": 9, "data": object{"custom_id": "m", "title": "t", "components": []object{{"type": 18}}}}, 204},
		"a modal for a modal":           {discordtest.Interaction{Type: discordtest.TypeModal}, object{"type": 9, "data": object{"custom_id": "m", "title": "t", "components": []object{{"type": 18}}}}, 400},
		"a modal with a title of 46":    {discordtest.Interaction{}, object{"type": 9, "data": object{"custom_id": "m", "title": strings.Repeat("t", 46), "components": []object{{"type": 18}}}}, 400},
		"deferring a component quietly": {discordtest.Interaction{Type: discordtest.TypeComponent, CustomID: "b"}, object{"type": 6}, 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
				tc.in.Guild, tc.in.Channel, tc.in.Command = guildID, chat, "list"
				tc.in.Options = []discordtest.Option{{Name: "o", Value: "part", Focused: tc.in.Type == discordtest.TypeAutocomplete}}
				listen(t, s, func(r received) {
					got := c.anonymous().do("POST", r.callback(), tc.answer)
					if got.status != tc.status {
						t.Errorf("got %d %s, want %d", got.status, got.raw, tc.status)
					}
				})
				res, err := s.Interact(t.Context(), tc.in)
				if tc.status != 204 {
					if !errors.Is(err, discordtest.ErrUnanswered) {
						t.Errorf("got %v, want no answer", err)
					}
					if len(s.Stats().ViolationCounts) != 1 {
						t.Errorf("got %v, want one kind", s.Stats().ViolationCounts)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if tc.in.Type == discordtest.TypeAutocomplete && len(res.Choices()) != 25 {
					t.Errorf("choices: got %d", len(res.Choices()))
				}
				if ack, _ := res.Acked(); ack == discordtest.AnswerModal || ack == discordtest.AnswerAutocomplete {
					if _, err := res.Final(t.Context()); !errors.Is(err, discordtest.ErrNoMessage) {
						t.Errorf("final: got %v", err)
					}
				}
				clean(t, s)
			})
		})
	}
}

func TestComponentChangesItsMessage(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		id := c.want(200, 0, "POST", messagesOf(chat), object{"content": "before"}).str("id")
		listen(t, s, func(r received) {
			if r.Type != 3 || r.Data.CustomID != "page:2" || r.Message == nil || r.Message.ID != id {
				t.Errorf("got %+v", r)
			}
			c.anonymous().want(204, 0, "POST", r.callback(), object{"type": 7, "data": object{"content": "after"}})
		})
		res, err := s.Interact(t.Context(), discordtest.Interaction{
			Type: discordtest.TypeComponent, Guild: guildID, Channel: chat, CustomID: "page:2", Message: id,
		})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := res.Final(t.Context()); err != nil || m.ID != id || m.Content != "after" {
			t.Errorf("got %v, %v", m, err)
		}
		if got := s.Messages(chat); len(got) != 1 || got[0].Content != "after" || len(got[0].Edits) != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestFollowupInPlaceOfAnEdit(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		listen(t, s, func(r received) {
			anon := c.anonymous()
			anon.want(200, 0, "POST", r.callback()+"?with_response=true", object{"type": 5})
			anon.want(200, 0, "POST", "/webhooks/"+s.AppID()+"/"+r.Token, object{"content": "x"})
		})
		res, err := s.Interact(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := res.Final(t.Context()); err != nil || m.Content != "x" {
			t.Errorf("got %v, %v", m, err)
		}
		if n := s.Stats().ViolationCounts[discordtest.ViolationFollowupForEdit]; n != 1 {
			t.Errorf("got %d", n)
		}
	})
}

func TestWhatAPersonCannotSend(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		listen(t, s, func(r received) {
			c.anonymous().want(204, 0, "POST", r.callback(), object{"type": 4, "data": object{"content": r.Locale}})
		})
		c.want(200, 0, "PUT", commandsPath(s), []object{{
			"name": "register", "description": "d", "default_member_permissions": "32", "contexts": []int{0},
			"options": []object{
				{"type": 3, "name": "riot_id", "description": "d", "required": true, "max_length": 10},
				{"type": 3, "name": "region", "description": "d", "choices": []object{{"name": "Korea", "value": "kr"}}},
			},
		}})
		good := discordtest.Interaction{
			Guild: guildID, Channel: chat, Command: "register",
			Options: []discordtest.Option{{Name: "riot_id", Value: "a#b"}, {Name: "region", Value: "kr"}},
		}
		change := func(f func(*discordtest.Interaction)) discordtest.Interaction {
			in := good
			f(&in)
			return in
		}
		for name, tc := range map[string]struct {
			in  discordtest.Interaction
			err error // nil: any
		}{
			"another command":    {in: change(func(i *discordtest.Interaction) { i.Command = "x" })},
			"another channel":    {in: change(func(i *discordtest.Interaction) { i.Channel = "1" })},
			"no required option": {in: change(func(i *discordtest.Interaction) { i.Options = nil })},
			"an unknown option": {in: change(func(i *discordtest.Interaction) {
				i.Options = append(i.Options[:1:1], discordtest.Option{Name: "x", Value: "y"})
			})},
			"a choice not there": {in: change(func(i *discordtest.Interaction) {
				i.Options = append(i.Options[:1:1], discordtest.Option{Name: "region", Value: "euw"})
			})},
			"a value too long": {in: change(func(i *discordtest.Interaction) {
				i.Options = []discordtest.Option{{Name: "riot_id", Value: "12345678901"}}
			})},
			"no permission":       {in: change(func(i *discordtest.Interaction) { i.MemberPermissions = discordtest.Member }), err: discordtest.ErrNotAllowed},
			"in a direct message": {in: change(func(i *discordtest.Interaction) { i.Guild, i.Channel = "", "" }), err: discordtest.ErrNotAllowed},
		} {
			res, err := s.Interact(t.Context(), tc.in)
			if err == nil || res != nil || tc.err != nil && !errors.Is(err, tc.err) {
				t.Errorf("%s: got %v, %v", name, res, err)
			}
		}
		res, err := s.Interact(t.Context(), change(func(i *discordtest.Interaction) { i.User.Locale = "ko" }))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := res.Final(t.Context()); err != nil || m.Content != "ko" {
			t.Errorf("got %v, %v", m, err)
		}
		clean(t, s)
	})
}

func TestInteractEndsWithItsContext(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, _ *client) {
		listen(t, s, func(received) {})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res, err := s.Interact(ctx, command); !errors.Is(err, context.DeadlineExceeded) || res == nil {
			t.Errorf("got %v, %v", res, err)
		}
	})
}

func TestAnswersAreEditedAndDeleted(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{WebhookLimit: -1}, func(t *testing.T, s *discordtest.Server, c *client) {
		anon := c.anonymous()
		step := make(chan struct{})
		listen(t, s, func(r received) {
			hook := "/webhooks/" + s.AppID() + "/" + r.Token
			anon.want(204, 0, "POST", r.callback(), object{"type": 4, "data": object{"content": "first"}})
			more := anon.want(200, 0, "POST", hook, object{"content": "more", "flags": 64}).str("id")
			anon.want(200, 0, "PATCH", hook+"/messages/"+more, object{"content": "most"})
			anon.want(404, 10008, "GET", hook+"/messages/1", nil)
			anon.want(404, 10015, "GET", "/webhooks/1/"+r.Token+"/messages/@original", nil)
			anon.want(404, 10015, "GET", "/webhooks/"+s.AppID()+"/x/messages/@original", nil)
			<-step
			anon.want(204, 0, "DELETE", r.original(s), nil)
			anon.want(404, 10008, "PATCH", r.original(s), object{"content": "x"})
			close(step)
		})
		res, err := s.Interact(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := res.Followups(); len(got) != 1 || got[0].Content != "most" {
			t.Errorf("followups: got %v", got)
		}
		// The ephemeral one is nobody else's; the first is the channel's.
		if got := s.History(chat); len(got) != 1 || got[0].Content != "first" || got[0].Interaction != res.ID() {
			t.Errorf("history: got %v", got)
		}
		step <- struct{}{}
		<-step
		if _, err := res.Final(t.Context()); !errors.Is(err, discordtest.ErrNoMessage) {
			t.Errorf("final: got %v", err)
		}
		clean(t, s)
	})
}

func TestWebhookLimit(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		anon := c.anonymous()
		listen(t, s, func(r received) {
			anon.want(204, 0, "POST", r.callback(), object{"type": 5})
			for range 5 {
				anon.want(200, 0, "PATCH", r.original(s), object{"content": "x"})
			}
			if got := anon.do("PATCH", r.original(s), object{"content": "x"}); got.status != 429 || got.body["global"] != false {
				t.Errorf("the sixth: got %d", got.status)
			}
			time.Sleep(2 * time.Second)
			anon.want(200, 0, "PATCH", r.original(s), object{"content": "x"})
		})
		if _, err := s.Interact(t.Context(), command); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		clean(t, s, discordtest.ViolationBucketLimit)
	})
}
