package discord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"riftchime/bot/discord"
)

const interactionToken = "aW50ZXJhY3Rpb246dG9rZW4"

func press(id int, command string, options ...*discordgo.ApplicationCommandInteractionDataOption) *discordgo.Interaction {
	return &discordgo.Interaction{
		ID: fmt.Sprint(id), AppID: "5", Token: interactionToken, Type: discordgo.InteractionApplicationCommand,
		GuildID: "50", ChannelID: "60", Locale: discordgo.Korean,
		Member: &discordgo.Member{User: &discordgo.User{ID: "70"}},
		Data:   discordgo.ApplicationCommandInteractionData{Name: command, Options: options},
	}
}

func say(text string) func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
	return func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
		return &discordgo.InteractionResponseData{Content: text}
	}
}

// routed runs f in a bubble with a router on an api, and waits for the rest.
func routed(t *testing.T, o discord.RouterOptions, answer func(call) reply, f func(t *testing.T, r *discord.Router, a *api)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &api{answer: answer}
		if answer == nil {
			a.answer = func(call) reply { return reply{status: 204} }
		}
		var book logbook
		o.Logger = book.logger()
		r := discord.NewRouter(newClient(t, a), o)
		f(t, r, a)
		if err := r.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		for _, secret := range []string{interactionToken, testToken} {
			if strings.Contains(book.String(), secret) {
				t.Errorf("the log holds a token:\n%s", book.String())
			}
		}
	})
}

// answers describes the requests of an interaction: when, what kind of answer,
// its flags and text.
func answers(t *testing.T, start time.Time, calls []call) []string {
	t.Helper()
	var got []string
	for _, c := range calls {
		if c.Header.Get("Authorization") != "" {
			t.Errorf("%s carries the bot's authorization", c.Method)
		}
		body := fields(t, c.Body)
		kind, data := "edit", body
		if c.Method == "POST" {
			kind = fmt.Sprintf("type %v", body["type"])
			data, _ = body["data"].(map[string]any)
		}
		text, _ := data["content"].(string)
		if flags, ok := data["flags"]; ok {
			kind += fmt.Sprintf(" flags %v", flags)
		}
		if text != "" {
			mentions, _ := data["allowed_mentions"].(map[string]any)
			if diff := cmp.Diff([]any{}, mentions["parse"]); diff != "" {
				t.Errorf("allowed_mentions of %q (-want +got):\n%s", text, diff)
			}
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%v %s %s", c.At.Sub(start).Round(10*time.Millisecond), kind, text)))
	}
	return got
}

func TestRouterAnswers(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration, text string) func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
		return func(ctx context.Context, _ *discordgo.Interaction) *discordgo.InteractionResponseData {
			time.Sleep(d)
			return &discordgo.InteractionResponseData{Content: text}
		}
	}
	tests := []struct {
		name    string
		command discord.Command
		want    []string
	}{
		{"fast", discord.Command{Run: say("done")}, []string{"0s type 4 done"}},
		{"fast and ephemeral", discord.Command{Run: say("done"), Ephemeral: true}, []string{"0s type 4 flags 64 done"}},
		{"slow by itself", discord.Command{Run: after(5*time.Second, "done")}, []string{"700ms type 5", "5s edit done"}},
		{"slow and ephemeral", discord.Command{Run: after(5*time.Second, "done"), Ephemeral: true}, []string{"700ms type 5 flags 64", "5s edit done"}},
		{"marked slow", discord.Command{Run: after(time.Second, "done"), Slow: true}, []string{"0s type 5", "1s edit done"}},
		{"panics at once", discord.Command{Run: func(_ context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData {
			i.ApplicationCommandData().Options[0].StringValue()
			return nil
		}}, []string{"0s type 4 flags 64 sorry ko"}},
		{"panics late", discord.Command{Run: func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
			time.Sleep(2 * time.Second)
			panic(interactionToken)
		}}, []string{"700ms type 5", "2s edit sorry ko"}},
		{"no answer", discord.Command{Run: func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData { return nil }}, []string{"0s type 4 flags 64 sorry ko"}},
		{"until its context ends", discord.Command{Run: func(ctx context.Context, _ *discordgo.Interaction) *discordgo.InteractionResponseData {
			<-ctx.Done()
			return &discordgo.InteractionResponseData{Content: "late"}
		}}, []string{"700ms type 5", "14m30s edit late"}},
		{"past its context", discord.Command{Run: after(20*time.Minute, "too late")}, []string{"700ms type 5", "14m32s edit sorry ko"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.command.Name = "go"
			o := discord.RouterOptions{
				Commands: []discord.Command{tt.command},
				Apology:  func(locale string) string { return "sorry " + locale },
			}
			routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
				start := time.Now()
				number := &discordgo.ApplicationCommandInteractionDataOption{Name: "n", Type: discordgo.ApplicationCommandOptionInteger, Value: 1.0}
				r.Handle(t.Context(), press(1, "go", number))
				r.Wait(t.Context())
				if diff := cmp.Diff(tt.want, answers(t, start, a.seen())); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRouterBypassesThePaceAndBlocks(t *testing.T) {
	t.Parallel()
	answer := func(c call) reply {
		if strings.HasPrefix(c.Path, "/channels") {
			return reply{status: 429, header: map[string]string{"X-RateLimit-Scope": "global", "Retry-After": "60"}, body: `{"global":true,"retry_after":60}`}
		}
		return reply{status: 204}
	}
	routed(t, discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("done")}}}, answer, func(t *testing.T, _ *discord.Router, a *api) {
		c := newClient(t, a)
		r := discord.NewRouter(c, discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("done")}}})
		c.Post(t.Context(), 1, post, "")
		start := time.Now()
		for i := range 20 {
			r.Handle(t.Context(), press(i+1, "go"))
		}
		r.Wait(t.Context())
		if took := time.Since(start); took != 0 {
			t.Errorf("20 answers took %v during a global block, want 0", took)
		}
		if n := len(a.only("/interactions/")); n != 20 {
			t.Errorf("%d answers, want 20", n)
		}
	})
}

func TestRouterSurvivesDiscord(t *testing.T) {
	t.Parallel()
	unknown := reply{status: 404, body: `{"code":10062,"message":"Unknown interaction"}`}
	acknowledged := reply{status: 400, body: `{"code":40060}`}
	rejected := reply{status: 400, body: `{"code":50035}`}
	down := reply{status: 503}
	fine := reply{status: 204}
	tests := []struct {
		name    string
		slow    bool
		replies []reply // the last one repeats
		want    []string
	}{
		{"acknowledged already", false, []reply{acknowledged}, []string{"POST done"}},
		{"unknown at once", false, []reply{unknown}, []string{"POST done"}},
		{"down, then up", false, []reply{down, fine}, []string{"POST done", "POST done"}},
		{"reset, but it had arrived", false, []reply{{err: errors.New("reset")}, acknowledged}, []string{"POST done", "POST done"}},
		{"reset, but it had arrived, told otherwise", false, []reply{{err: errors.New("reset")}, unknown}, []string{"POST done", "POST done"}},
		{"hangs once", false, []reply{{hang: true}, fine}, []string{"POST done", "POST done"}},
		{"limited once", false, []reply{{status: 429, body: `{"retry_after":0.5}`, header: map[string]string{"X-RateLimit-Scope": "user"}}, fine}, []string{"POST done", "POST done"}},
		{"answer rejected", false, []reply{rejected, fine}, []string{"POST done", "POST sorry"}},
		{"deferring unknown, edit refused", true, []reply{unknown, {status: 404, body: `{"code":10015}`}}, []string{"POST", "PATCH done"}},
		{"deferring acknowledged", true, []reply{acknowledged, fine}, []string{"POST", "PATCH done"}},
		{"edit fails thrice", true, []reply{fine, down, down, {err: errors.New("reset")}, fine}, []string{"POST", "PATCH done", "PATCH done", "PATCH done", "PATCH done"}},
		{"edit rejected", true, []reply{fine, rejected, fine}, []string{"POST", "PATCH done", "PATCH sorry"}},
		{"edit with a dead token", true, []reply{fine, {status: 401, body: `{"code":50027}`}}, []string{"POST", "PATCH done"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := discord.RouterOptions{
				Commands: []discord.Command{{Name: "go", Slow: tt.slow, Run: say("done")}},
				Apology:  func(string) string { return "sorry" },
			}
			answer := func(c call) reply { return tt.replies[min(c.N, len(tt.replies)-1)] }
			routed(t, o, answer, func(t *testing.T, r *discord.Router, a *api) {
				r.Handle(t.Context(), press(1, "go"))
				r.Wait(t.Context())
				var got []string
				for _, c := range a.seen() {
					body := fields(t, c.Body)
					if data, ok := body["data"].(map[string]any); ok {
						body = data
					}
					text, _ := body["content"].(string)
					got = append(got, strings.TrimSpace(c.Method+" "+text))
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRouterGivesUpWithTheToken(t *testing.T) {
	t.Parallel()
	answer := func(c call) reply {
		if c.Method == "PATCH" {
			return reply{status: 503}
		}
		return reply{status: 204}
	}
	o := discord.RouterOptions{Commands: []discord.Command{{Name: "go", Slow: true, Run: say("done")}}}
	routed(t, o, answer, func(t *testing.T, r *discord.Router, a *api) {
		start := time.Now()
		r.Handle(t.Context(), press(1, "go"))
		r.Wait(t.Context())
		if took := time.Since(start); took < 14*time.Minute || took > 15*time.Minute {
			t.Errorf("tried for %v, want until the token ends after 15 minutes", took)
		}
		if n := len(a.seen()); n > 60 {
			t.Errorf("%d requests, want a growing pause between them", n)
		}
	})
}

func TestRouterFirstAnswerStopsAfter2500ms(t *testing.T) {
	t.Parallel()
	answer := func(c call) reply {
		if c.Method == "POST" {
			return reply{hang: true}
		}
		return reply{status: 404, body: `{"code":10015}`}
	}
	routed(t, discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("done")}}}, answer, func(t *testing.T, r *discord.Router, a *api) {
		start := time.Now()
		r.Handle(t.Context(), press(1, "go"))
		r.Wait(t.Context())
		calls := a.seen()
		if last := calls[len(calls)-2].At.Sub(start); last > 2500*time.Millisecond {
			t.Errorf("last tried after %v, want 2.5s at most", last)
		}
		if calls[len(calls)-1].Method != "PATCH" {
			t.Error("it was not tried to edit an answer that may have arrived")
		}
	})
}

func TestRouterReplay(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	command := discord.Command{Name: "go", Run: func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData {
		ran.Add(1)
		return say("done")(ctx, i)
	}}
	stored := map[int64]bool{2: true} // by the process before this one
	o := discord.RouterOptions{Commands: []discord.Command{command}, First: func(_ context.Context, id int64) bool { return !stored[id] }}
	routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
		for _, id := range []int{1, 1, 2, 3} {
			r.Handle(t.Context(), press(id, "go"))
		}
		r.Wait(t.Context())
		if n := ran.Load(); n != 2 {
			t.Errorf("the command ran %d times, want 2: for interactions 1 and 3", n)
		}
		if n := len(a.seen()); n != 2 {
			t.Errorf("%d answers, want 2", n)
		}
	})
}

func TestRouterStoreThatHangsKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	o := discord.RouterOptions{
		Commands: []discord.Command{{Name: "go", Run: say("done")}},
		First: func(ctx context.Context, _ int64) bool {
			<-ctx.Done()
			return false
		},
	}
	routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
		start := time.Now()
		r.Handle(t.Context(), press(1, "go"))
		r.Wait(t.Context())
		if diff := cmp.Diff([]string{"300ms type 4 done"}, answers(t, start, a.seen())); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestRouterGuard(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var pressed []discord.Press
	busy, done := map[string]bool{}, 0
	guard := func(_ context.Context, p discord.Press) (*discordgo.InteractionResponseData, func()) {
		mu.Lock()
		defer mu.Unlock()
		pressed = append(pressed, p)
		if busy[p.Options] {
			return &discordgo.InteractionResponseData{Content: "still working"}, nil
		}
		busy[p.Options] = true
		return nil, func() {
			mu.Lock()
			defer mu.Unlock()
			delete(busy, p.Options)
			done++
		}
	}
	var times []time.Duration
	o := discord.RouterOptions{
		Guard: guard,
		Commands: []discord.Command{{Name: "go", Slow: true, Run: func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
			time.Sleep(3 * time.Second)
			return &discordgo.InteractionResponseData{Content: "done"}
		}}},
		Done: func(command string, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took)
		},
	}
	option := func(name string, value any) *discordgo.ApplicationCommandInteractionDataOption {
		return &discordgo.ApplicationCommandInteractionDataOption{Name: name, Value: value}
	}
	routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
		start := time.Now()
		r.Handle(t.Context(), press(1, "go", option("a", "x"), option("b", 1.0)))
		synctest.Wait()
		r.Handle(t.Context(), press(2, "go", option("b", 1.0), option("a", "x")))
		synctest.Wait()
		r.Handle(t.Context(), press(3, "go", option("a", "y"), option("b", 1.0)))
		r.Wait(t.Context())
		want := []string{"0s type 5", "0s type 4 flags 64 still working", "0s type 5", "3s edit done", "3s edit done"}
		if diff := cmp.Diff(want, answers(t, start, a.seen())); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]time.Duration{3 * time.Second, 3 * time.Second}, times); diff != "" {
			t.Errorf("latencies (-want +got):\n%s", diff)
		}
		if done != 2 || len(busy) != 0 {
			t.Errorf("done was called %d times, %d still marked; want 2, 0", done, len(busy))
		}
		wantPress := discord.Press{Interaction: 1, User: 70, Channel: 60, Server: 50, Command: "go", Options: `[["a","x"],["b",1]]`, Locale: "ko"}
		if diff := cmp.Diff(wantPress, pressed[0]); diff != "" {
			t.Errorf("press (-want +got):\n%s", diff)
		}
	})
}

func TestRouterIsBounded(t *testing.T) {
	t.Parallel()
	o := discord.RouterOptions{
		Most: 2,
		Busy: func(string) string { return "busy" },
		Commands: []discord.Command{{Name: "go", Run: func(context.Context, *discordgo.Interaction) *discordgo.InteractionResponseData {
			time.Sleep(100 * time.Millisecond)
			return &discordgo.InteractionResponseData{Content: "done"}
		}}},
	}
	routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
		start := time.Now()
		for i := range 3 {
			r.Handle(t.Context(), press(i+1, "go"))
		}
		r.Wait(t.Context())
		want := []string{"0s type 4 flags 64 busy", "100ms type 4 done", "100ms type 4 done"}
		if diff := cmp.Diff(want, answers(t, start, a.seen())); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
	})
}

func TestRouterStops(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(ctx context.Context){
		"the command ends with its context": func(ctx context.Context) { <-ctx.Done() },
		"the command goes on":               func(context.Context) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := discord.RouterOptions{
				Commands: []discord.Command{{Name: "go", Run: func(ctx context.Context, _ *discordgo.Interaction) *discordgo.InteractionResponseData {
					run(ctx)
					return &discordgo.InteractionResponseData{Content: "stopped"}
				}}},
				Apology: func(string) string { return "sorry" },
			}
			routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
				ctx, cancel := context.WithCancel(t.Context())
				start := time.Now()
				r.Handle(ctx, press(1, "go"))
				time.Sleep(time.Second)
				cancel()
				time.Sleep(5 * time.Second)
				calls := a.seen()
				if len(calls) != 2 || calls[1].Method != "PATCH" {
					t.Errorf("got %v within 5s of the stop, want a final answer", answers(t, start, calls))
				}
				waiting, done := context.WithTimeout(t.Context(), time.Second)
				defer done()
				err := r.Wait(waiting)
				if goesOn := name == "the command goes on"; goesOn != (err != nil) {
					t.Errorf("Wait returned %v", err)
				}
			})
		})
	}
}

func TestAutocomplete(t *testing.T) {
	t.Parallel()
	many := func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
		var choices []*discordgo.ApplicationCommandOptionChoice
		for i := range 30 {
			choices = append(choices, &discordgo.ApplicationCommandOptionChoice{Name: strings.Repeat("가", 120), Value: fmt.Sprint(i)})
		}
		return choices
	}
	tests := []struct {
		name     string
		complete func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice
		n        int
		after    time.Duration
	}{
		{"too many and too long", many, 25, 0},
		{"too slow", func(ctx context.Context, i *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
			time.Sleep(time.Second)
			return many(ctx, i)
		}, 0, 300 * time.Millisecond},
		{"panics", func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice { panic("no") }, 0, 0},
		{"none", nil, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := discord.RouterOptions{Commands: []discord.Command{{Name: "go", Run: say("x"), Autocomplete: tt.complete}}}
			routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
				start := time.Now()
				i := press(1, "go")
				i.Type = discordgo.InteractionApplicationCommandAutocomplete
				r.Handle(t.Context(), i)
				r.Wait(t.Context())
				calls := a.seen()
				if len(calls) != 1 {
					t.Fatalf("%d requests, want 1", len(calls))
				}
				body := fields(t, calls[0].Body)
				list, isList := body["data"].(map[string]any)["choices"].([]any)
				if body["type"] != 8.0 || !isList || len(list) != tt.n {
					t.Errorf("got %s, want type 8 with %d choices", calls[0].Body, tt.n)
				}
				for _, choice := range list {
					if n := len([]rune(choice.(map[string]any)["name"].(string))); n > 100 {
						t.Errorf("a name of %d characters, want 100 at most", n)
					}
				}
				if got := calls[0].At.Sub(start); got != tt.after {
					t.Errorf("answered after %v, want %v", got, tt.after)
				}
			})
		})
	}
}

func TestOddInteractions(t *testing.T) {
	t.Parallel()
	o := discord.RouterOptions{
		Apology:  func(string) string { return "sorry" },
		Commands: []discord.Command{{Name: "go", Run: say("done")}},
		Components: map[string]discord.Component{
			"more": {Update: true, Run: say("more")},
			"new":  {Slow: true, Ephemeral: true, Run: say("new")},
		},
	}
	component := func(customID string) *discordgo.Interaction {
		i := press(1, "")
		i.Type, i.Message = discordgo.InteractionMessageComponent, &discordgo.Message{ID: "3"}
		i.Data = discordgo.MessageComponentInteractionData{CustomID: customID}
		return i
	}
	direct := press(1, "go")
	direct.Member, direct.GuildID, direct.User = nil, "", &discordgo.User{ID: "70"}
	nobody := press(1, "go")
	nobody.Member = nil
	empty := press(1, "go")
	empty.Data = nil
	modal := press(1, "")
	modal.Type, modal.Data = discordgo.InteractionModalSubmit, discordgo.ModalSubmitInteractionData{CustomID: "more:1"}
	strange := press(1, "go")
	strange.Type = 77
	noID := press(1, "go")
	noID.ID = ""
	tests := []struct {
		name string
		i    *discordgo.Interaction
		want []string
	}{
		{"a direct message", direct, []string{"0s type 4 done"}},
		{"from nobody", nobody, []string{"0s type 4 done"}},
		{"an unknown command", press(1, "went"), []string{"0s type 4 flags 64 sorry"}},
		{"no data", empty, []string{"0s type 4 flags 64 sorry"}},
		{"an unknown kind", strange, []string{"0s type 4 flags 64 sorry"}},
		{"a button that updates", component("more:1:2"), []string{"0s type 7 more"}},
		{"a button with a new answer", component("new"), []string{"0s type 5 flags 64", "0s edit new"}},
		{"an unknown button", component("less:1"), []string{"0s type 4 flags 64 sorry"}},
		{"a modal", modal, []string{"0s type 4 more"}},
		{"no id", noID, nil},
		{"nil", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			guard := func(context.Context, discord.Press) (*discordgo.InteractionResponseData, func()) { return nil, nil }
			o := o
			o.Guard = guard
			routed(t, o, nil, func(t *testing.T, r *discord.Router, a *api) {
				start := time.Now()
				r.Handle(t.Context(), tt.i)
				r.Wait(t.Context())
				if diff := cmp.Diff(tt.want, answers(t, start, a.seen())); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}
