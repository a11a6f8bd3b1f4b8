package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/google/go-cmp/cmp"

	"riftchime/bot/discord"
)

func TestPostsStartEvenlyAt45ASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{latency: 300 * time.Millisecond}
		c := newClient(t, discordAPI)
		start := time.Now()
		for i, err := range postAll(t.Context(), c, 260) {
			if err != nil {
				t.Fatalf("post %d: %v", i, err)
			}
		}
		for i, call := range discordAPI.seen() {
			want := time.Duration(i) * time.Second / 45
			if got := call.At.Sub(start); got < want-time.Millisecond || got > want+time.Millisecond {
				t.Fatalf("post %d started after %v, want %v", i, got, want)
			}
		}
	})
}

func TestPaceAfterAPauseHasNoBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{}
		c := newClient(t, discordAPI)
		for range 3 {
			postAll(t.Context(), c, 50)
			time.Sleep(700 * time.Millisecond)
		}
		calls := discordAPI.seen()
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].At.Sub(calls[i-1].At); gap < time.Second/45-time.Millisecond {
				t.Fatalf("starts %d and %d are %v apart, want a 45th of a second at least", i-1, i, gap)
			}
		}
	})
}

func TestGlobalLimitStopsEverything(t *testing.T) {
	t.Parallel()
	tests := map[string]reply{
		"Retry-After in seconds":  {status: 429, header: map[string]string{"Retry-After": "2", "X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}, body: `{"message":"You are being rate limited.","global":true}`},
		"retry_after in the body": {status: 429, header: map[string]string{"Retry-After": "9", "X-RateLimit-Scope": "global"}, body: `{"global":true,"retry_after":2.0}`},
		"Retry-After as a float":  {status: 429, header: map[string]string{"Retry-After": "2.000", "X-RateLimit-Scope": "global"}, body: `{}`},
		"Cloudflare, no JSON":     {status: 429, header: map[string]string{"Retry-After": "2"}, body: "error code: 1015"},
	}
	for name, limited := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				discordAPI := &api{answer: func(c call) reply {
					if c.N == 0 {
						return limited
					}
					return ok(`{"id":"9"}`)
				}}
				c := newClient(t, discordAPI)
				start := time.Now()
				errs := postAll(t.Context(), c, 5)
				failed := 0
				for _, err := range errs {
					if err != nil {
						failed++
						wantKind(t, err, discord.Limited)
						if e, _ := errors.AsType[*discord.Error](err); e.RetryAfter != 2*time.Second {
							t.Errorf("got RetryAfter %v, want 2s", e.RetryAfter)
						}
					}
				}
				if failed != 1 {
					t.Errorf("%d posts failed, want the first only", failed)
				}
				for i, call := range discordAPI.seen()[1:] {
					want := 2*time.Second + time.Duration(i)*time.Second/45
					if got := call.At.Sub(start); got < want || got > want+time.Second/45 {
						t.Errorf("request %d left after %v, want about %v", i+1, got, want)
					}
				}
			})
		})
	}
}

func TestBlockOutlastsTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(call) reply { return reply{status: 429, body: "<html>blocked</html>"} }}
		c := newClient(t, discordAPI)
		_, err := c.Post(t.Context(), 1, post, "")
		wantKind(t, err, discord.Limited)
		if e, _ := errors.AsType[*discord.Error](err); e.Scope != discord.ScopeCloudflare || e.RetryAfter != 10*time.Second {
			t.Errorf("got scope %q for %v, want cloudflare for 10s", e.Scope, e.RetryAfter)
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err = c.Post(ctx, 2, post, "")
		wantKind(t, err, discord.Limited)
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v to say that the block outlasts the deadline, want 0", took)
		}
		if n := len(discordAPI.seen()); n != 1 {
			t.Errorf("%d requests left, want 1", n)
		}
	})
}

func TestBucketLimitDelaysOnlyItsChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(c call) reply {
			if c.N == 0 {
				return reply{status: 429, header: map[string]string{
					"Retry-After": "4", "X-RateLimit-Scope": "user", "X-RateLimit-Bucket": "b", "X-RateLimit-Reset-After": "3.5",
				}, body: `{"message":"You are being rate limited.","retry_after":3.5,"global":false}`}
			}
			return ok(`{"id":"9"}`)
		}}
		c := newClient(t, discordAPI)
		start := time.Now()
		if _, err := c.Post(t.Context(), 1, post, ""); discord.KindOf(err) != discord.Limited {
			t.Fatalf("got %v, want limited", err)
		}
		var wg sync.WaitGroup
		var slow, fast time.Duration
		wg.Go(func() {
			if _, err := c.Post(t.Context(), 1, post, ""); err != nil {
				t.Error(err)
			}
			slow = time.Since(start)
		})
		wg.Go(func() {
			if _, err := c.Post(t.Context(), 2, post, ""); err != nil {
				t.Error(err)
			}
			fast = time.Since(start)
		})
		wg.Wait()
		if slow < 3500*time.Millisecond || slow > 3600*time.Millisecond {
			t.Errorf("the limited channel's next post took until %v, want 3.5s", slow)
		}
		if fast > 100*time.Millisecond {
			t.Errorf("the other channel's post took until %v, want no delay", fast)
		}
	})
}

func TestEmptyBucketIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(call) reply {
			return reply{status: 200, body: `{"id":"9"}`, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "5.0", "X-RateLimit-Reset": "nonsense"}}
		}}
		c := newClient(t, discordAPI)
		start := time.Now()
		for range 2 {
			if _, err := c.Post(t.Context(), 1, post, ""); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(start); got != 5*time.Second {
			t.Errorf("two posts took %v, want 5s", got)
		}
	})
}

func TestPostBody(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, nonce, want string
		kind                    discord.Kind
	}{
		{"nonce and mentions are added", `{"content":"a","embeds":[{"title":"x"}]}`, "n1", `{"nonce":"n1","enforce_nonce":true,"allowed_mentions":{"parse":[]},"content":"a","embeds":[{"title":"x"}]}`, 0},
		{"mentions of its own stay", ` {"allowed_mentions":{"parse":["users"]},"content":"a"}`, "n1", `{"nonce":"n1","enforce_nonce":true,"allowed_mentions":{"parse":["users"]},"content":"a"}`, 0},
		{"no nonce", `{"content":"a"}`, "", `{"allowed_mentions":{"parse":[]},"content":"a"}`, 0},
		{"empty object", `{}`, "n", `{"nonce":"n","enforce_nonce":true,"allowed_mentions":{"parse":[]}}`, 0},
		{"not an object", `[1]`, "n", "", discord.Rejected},
		{"null", `null`, "n", "", discord.Rejected},
		{"nonce too long", `{"content":"a"}`, strings.Repeat("n", 26), "", discord.Rejected},
		{"a nonce already", `{"nonce":"x"}`, "n", "", discord.Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			discordAPI := &api{}
			c := newClient(t, discordAPI)
			id, err := c.Post(t.Context(), 77, json.RawMessage(tt.body), tt.nonce)
			wantKind(t, err, tt.kind)
			if tt.kind != 0 {
				if n := len(discordAPI.seen()); n != 0 {
					t.Errorf("%d requests left, want 0", n)
				}
				return
			}
			if id != 9 {
				t.Errorf("got message %d, want 9", id)
			}
			sent := discordAPI.seen()[0]
			if sent.Method != "POST" || sent.Path != "/channels/77/messages" {
				t.Errorf("got %s %s", sent.Method, sent.Path)
			}
			if got := string(sent.Body); got != tt.want {
				t.Errorf("got body\n%s\nwant\n%s", got, tt.want)
			}
			if got := sent.Header.Get("Authorization"); got != "Bot "+testToken {
				t.Error("the bot's authorization is not what was sent")
			}
			if got, want := sent.Header.Get("User-Agent"), "DiscordBot (https://localhost, 0)"; got != want {
				t.Errorf("got user agent %q, want %q", got, want)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	tests := []struct {
		name  string
		reply reply
		kind  discord.Kind
		code  int
		maybe bool
	}{
		{"unknown channel", reply{status: 404, body: `{"code":10003,"message":"Unknown Channel"}`}, discord.UnknownChannel, 10003, false},
		{"deleted meanwhile", reply{status: 404, body: `{"code":10008}`}, discord.NotFound, 10008, false},
		{"missing access", reply{status: 403, body: `{"code":50001}`}, discord.MissingAccess, 50001, false},
		{"missing permission", reply{status: 403, body: `{"code":50013}`}, discord.MissingPermission, 50013, false},
		{"bad form", reply{status: 400, body: `{"code":50035,"errors":{}}`}, discord.Rejected, 50035, false},
		{"bad token", reply{status: 401, body: `{"code":0,"message":"401: Unauthorized"}`}, discord.Unauthorized, 0, false},
		{"overloaded", reply{status: 503, body: `{"code":130000}`}, discord.Unavailable, 130000, true},
		{"bad gateway, once", reply{status: 502, body: `<html>`}, discord.Unavailable, 0, true},
		{"gateway time-out", reply{status: 504}, discord.Unavailable, 0, true},
		{"cloudflare's own", reply{status: 520, body: "x"}, discord.Unavailable, 0, true},
		{"reset", reply{err: reset}, discord.Unavailable, 0, true},
		{"no connection", reply{err: dial}, discord.Unavailable, 0, false},
		{"hangs", reply{hang: true}, discord.Unavailable, 0, true},
		{"HTML with 200", reply{status: 200, body: "<html>"}, discord.Unavailable, 0, true},
		{"cut short", reply{status: 200, body: `{"id":"9`}, discord.Unavailable, 0, true},
		{"without an id", reply{status: 200, body: `{}`}, discord.Unavailable, 0, true},
		{"redirect", reply{status: 302, header: map[string]string{"Location": "https://elsewhere.test/"}}, discord.Unavailable, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				discordAPI := &api{answer: func(call) reply { return tt.reply }}
				c := newClient(t, discordAPI)
				start := time.Now()
				_, err := c.Post(t.Context(), 1, post, "n")
				wantKind(t, err, tt.kind)
				e, _ := errors.AsType[*discord.Error](err)
				if e == nil {
					t.Fatal("not an *Error")
				}
				if e.Code != tt.code || e.Maybe != tt.maybe {
					t.Errorf("got code %d, maybe %v, want %d, %v", e.Code, e.Maybe, tt.code, tt.maybe)
				}
				if n := len(discordAPI.seen()); n != 1 {
					t.Errorf("Post made %d attempts, want 1", n)
				}
				if tt.reply.hang && time.Since(start) != 10*time.Second {
					t.Errorf("a hanging request took %v, want 10s", time.Since(start))
				}
			})
		})
	}
}

func TestCancelledWhileQueueing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{}
		c := newClient(t, discordAPI)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(100*time.Millisecond, cancel)
		errs := postAll(ctx, c, 100)
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("the queue emptied after %v, want 100ms", took)
		}
		left := 0
		for _, err := range errs {
			if err == nil {
				left++
				continue
			}
			wantKind(t, err, discord.Canceled)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled in it", err)
			}
			if e, _ := errors.AsType[*discord.Error](err); e.Maybe {
				t.Error("a request that never left may have been carried out")
			}
		}
		if n := len(discordAPI.seen()); n != left || n != 5 {
			t.Errorf("%d requests left and %d succeeded, want 5", n, left)
		}
	})
}

func TestUrgentRequestsOvertake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(c call) reply {
			if strings.Contains(c.Path, "limit=") {
				return ok(`[]`)
			}
			return ok(`{"id":"9","url":"wss://gateway.test"}`)
		}}
		c := newClient(t, discordAPI)
		var wg sync.WaitGroup
		queue := func(do func()) {
			wg.Go(do)
			synctest.Wait()
		}
		for i := range int64(3) {
			queue(func() { c.Newest(t.Context(), i, 1) })
		}
		queue(func() { c.Edit(t.Context(), 1, 2, post) })
		queue(func() { c.Post(t.Context(), 1, post, "") })
		queue(func() { c.Warm(t.Context()) })
		wg.Wait()
		var got []string
		for _, call := range discordAPI.seen() {
			got = append(got, call.Method+" "+strings.Split(call.Path, "/")[1])
		}
		want := []string{"GET channels", "GET gateway", "POST channels", "PATCH channels", "GET channels", "GET channels"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestRefusedRequestsHaveABudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(call) reply { return reply{status: 403, body: `{"code":50013}`} }}
		c := newClient(t, discordAPI)
		start := time.Now()
		for range 1000 {
			_, err := c.Post(t.Context(), 1, post, "")
			wantKind(t, err, discord.MissingPermission)
		}
		_, err := c.Post(t.Context(), 1, post, "")
		wantKind(t, err, discord.OutOfBudget)
		if n := len(discordAPI.seen()); n != 1000 {
			t.Errorf("%d requests left, want 1000", n)
		}
		time.Sleep(time.Until(start.Add(10*time.Minute + time.Second)))
		_, err = c.Post(t.Context(), 1, post, "")
		wantKind(t, err, discord.MissingPermission)
	})
}

func TestSharedLimitsAreNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		discordAPI := &api{answer: func(call) reply {
			return reply{status: 429, header: map[string]string{"X-RateLimit-Scope": "shared", "Retry-After": "0"}, body: `{"retry_after":0.0,"global":false}`}
		}}
		c := newClient(t, discordAPI)
		for range 1100 {
			_, err := c.Post(t.Context(), 1, post, "")
			wantKind(t, err, discord.Limited)
		}
	})
}

func TestEditIsTriedAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fails []reply
		kind  discord.Kind
		calls int
	}{
		{"5xx twice", []reply{{status: 502}, {status: 503}}, 0, 3},
		{"limited", []reply{{status: 429, header: map[string]string{"X-RateLimit-Scope": "user", "Retry-After": "3"}, body: `{}`}}, 0, 2},
		{"down", []reply{{status: 500}, {status: 500}, {status: 500}, {status: 500}, {status: 500}}, discord.Unavailable, 4},
		{"gone", []reply{{status: 404, body: `{"code":10008}`}}, discord.NotFound, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				discordAPI := &api{answer: func(c call) reply {
					if c.N < len(tt.fails) {
						return tt.fails[c.N]
					}
					return ok(`{}`)
				}}
				err := newClient(t, discordAPI).Edit(t.Context(), 1, 2, post)
				wantKind(t, err, tt.kind)
				calls := discordAPI.seen()
				if len(calls) != tt.calls {
					t.Errorf("%d attempts, want %d", len(calls), tt.calls)
				}
				if got, want := calls[0].Method+" "+calls[0].Path, "PATCH /channels/1/messages/2"; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	discordAPI := &api{answer: func(call) reply {
		return ok(`[{"id":"30","author":{"id":"7"},"nonce":"abc","timestamp":"2026-08-01T12:00:00.123000+00:00","content":"x",
			"embeds":[{"title":"no time"},{"timestamp":"2026-08-01T12:00:00+00:00"}],"components":[{"type":18}]},
			{"id":"29","author":{"id":"8"},"nonce":12,"timestamp":"2026-08-01T11:00:00+00:00","embeds":[]}]`)
	}}
	got, err := newClient(t, discordAPI).Newest(t.Context(), 5, 500)
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	want := []discord.Message{
		{ID: 30, AuthorID: 7, Nonce: "abc", Timestamp: noon.Add(123 * time.Millisecond), EmbedTimestamps: []time.Time{noon}, Content: "x"},
		{ID: 29, AuthorID: 8, Nonce: "12", Timestamp: noon.Add(-time.Hour)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if got, want := discordAPI.seen()[0].Path, "/channels/5/messages?limit=100"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reply{
		"network": {err: errors.New(`Get "https://discord.com/api/v9/webhooks/1/aW50ZXJhY3Rpb246c2VjcmV0": bad, Bot ` + testToken)},
		"message": {status: 400, body: `{"message":"no ` + testToken + ` https://x.test/?token=1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, &api{answer: func(call) reply { return r }})
			_, err := c.Post(t.Context(), 1, post, "")
			for _, secret := range []string{testToken, "aW50ZXJhY3Rpb246c2VjcmV0", "https://"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q holds %q", err, secret)
				}
			}
		})
	}
}

func TestDiscordgoLogsWithoutSecrets(t *testing.T) {
	var book logbook
	newClient(t, &api{}, func(o *discord.Options) { o.Logger = book.logger() })
	discordgo.Logger(discordgo.LogError, 0, "error connecting to gateway %s, token %s", "wss://gateway.test/?x=1", testToken)
	if got := book.String(); !strings.Contains(got, "discordgo") || strings.Contains(got, testToken) || strings.Contains(got, "wss://") {
		t.Errorf("logged %q, want a line of discordgo's without address and token", got)
	}
	newClient(t, &api{}, func(o *discord.Options) { o.Logger = slog.New(slog.DiscardHandler) })
}

func TestWarmMeasuresTheClock(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		ahead time.Duration
		want  time.Duration
	}{
		{"right", 0, 0},
		{"within a second", 600 * time.Millisecond, 0},
		{"ahead", time.Minute, 59 * time.Second},
		{"behind", -time.Minute, -time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				discordAPI := &api{latency: 100 * time.Millisecond}
				discordAPI.answer = func(call) reply {
					return reply{status: 200, body: `{"url":"wss://gateway.test"}`, header: map[string]string{"Date": time.Now().Add(tt.ahead).UTC().Format(http.TimeFormat)}}
				}
				c := newClient(t, discordAPI)
				if _, known := c.ClockOffset(); known {
					t.Error("an offset is known before the first answer")
				}
				if err := c.Warm(t.Context()); err != nil {
					t.Fatal(err)
				}
				got, known := c.ClockOffset()
				if d := (got - tt.want).Abs(); !known || d > time.Second || (tt.want == 0) != (got == 0) {
					t.Errorf("got offset %v, %v, want about %v", got, known, tt.want)
				}
			})
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]discord.Options{
		"no token":       {},
		"a broken token": {Token: "abc\ndef"},
		"no origin":      {Token: "x", URL: "discord.com"},
		"too fast":       {Token: "x", Rate: 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := discord.New(o); err == nil {
				t.Error("got no error")
			}
		})
	}
}

func TestSyncCommands(t *testing.T) {
	t.Parallel()
	manage := int64(discordgo.PermissionManageGuild)
	contexts := []discordgo.InteractionContextType{discordgo.InteractionContextGuild}
	defs := func() []*discordgo.ApplicationCommand {
		return []*discordgo.ApplicationCommand{{
			Name: "register", Description: "Register players", DefaultMemberPermissions: &manage, Contexts: &contexts,
			NameLocalizations: &map[discordgo.Locale]string{discordgo.Korean: "등록"},
			Options: []*discordgo.ApplicationCommandOption{{
				Type: discordgo.ApplicationCommandOptionString, Name: "riot_id", Description: "Name#Tag", Required: true,
				Choices: []*discordgo.ApplicationCommandOptionChoice{{Name: "one", Value: "1"}},
			}},
		}, {Name: "list", Description: "List"}}
	}
	registered := `[{"id":"2","application_id":"5","version":"1","type":1,"name":"list","name_localizations":null,"description":"List","default_member_permissions":null,"contexts":[0,1,2],"integration_types":[0],"nsfw":false},
		{"id":"1","application_id":"5","version":"1","type":1,"name":"register","name_localizations":{"ko":"등록"},"description":"Register players","description_localizations":null,
		"default_member_permissions":"32","contexts":[0],"integration_types":[0],"nsfw":false,"dm_permission":false,
		"options":[{"type":3,"name":"riot_id","description":"Name#Tag","required":true,"choices":[{"name":"one","value":"1"}]}]}]`
	tests := []struct {
		name    string
		change  func([]*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand
		changed bool
	}{
		{"the same", nil, false},
		{"a description", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[1].Description = "Everyone"
			return d
		}, true},
		{"a localization", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[1].NameLocalizations = &map[discordgo.Locale]string{discordgo.Korean: "목록"}
			return d
		}, true},
		{"a permission", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[0].DefaultMemberPermissions = nil
			return d
		}, true},
		{"an option", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[0].Options[0].Autocomplete = true
			return d
		}, true},
		{"a choice", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[0].Options[0].Choices[0].Value = "2"
			return d
		}, true},
		{"one less", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand { return d[:1] }, true},
		{"a renamed one", func(d []*discordgo.ApplicationCommand) []*discordgo.ApplicationCommand {
			d[1].Name = "players"
			return d
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			discordAPI := &api{answer: func(c call) reply { return ok(registered) }}
			wanted := defs()
			if tt.change != nil {
				wanted = tt.change(wanted)
			}
			changed, err := newClient(t, discordAPI).SyncCommands(t.Context(), 5, wanted)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range discordAPI.seen() {
				got = append(got, c.Method+" "+c.Path)
			}
			want := []string{"GET /applications/5/commands?with_localizations=true"}
			if tt.changed {
				want = append(want, "PUT /applications/5/commands")
			}
			if diff := cmp.Diff(want, got); diff != "" || changed != tt.changed {
				t.Errorf("changed %v, requests (-want +got):\n%s", changed, diff)
			}
		})
	}
}

type counter struct {
	mu   sync.Mutex
	seen []string
}

func (c *counter) add(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, s)
}
func (c *counter) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.seen...)
}
func (c *counter) Request(route string, status int, _ time.Duration) {
	c.add(fmt.Sprintf("%s %d", route, status))
}
func (c *counter) Limited(route string, scope discord.Scope) { c.add(route + " " + string(scope)) }
func (c *counter) Gateway(shard int, event string)           { c.add(fmt.Sprintf("%d %s", shard, event)) }

func TestObserver(t *testing.T) {
	t.Parallel()
	var seen counter
	discordAPI := &api{answer: func(c call) reply {
		if c.N == 1 {
			return reply{status: 429, header: map[string]string{"X-RateLimit-Scope": "user"}, body: `{"retry_after":0.01}`}
		}
		return ok(`{"id":"9"}`)
	}}
	c := newClient(t, discordAPI, func(o *discord.Options) { o.Observer = &seen })
	c.Post(t.Context(), 1, post, "")
	c.Edit(t.Context(), 1, 2, post)
	want := []string{"post message 200", "edit message 429", "edit message user", "edit message 200"}
	if diff := cmp.Diff(want, seen.all()); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

func TestAnotherOrigin(t *testing.T) {
	t.Parallel()
	var got string
	through := roundTripper(func(req *http.Request) (*http.Response, error) {
		got = req.URL.Scheme + "://" + req.URL.Host + req.URL.Path
		return (&api{}).RoundTrip(req)
	})
	c := newClient(t, through, func(o *discord.Options) { o.URL = "http://127.0.0.1:9/base/" })
	if _, err := c.Post(t.Context(), 1, post, ""); err != nil {
		t.Fatal(err)
	}
	if want := "http://127.0.0.1:9/base/api/v9/channels/1/messages"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
