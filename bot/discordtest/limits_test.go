package discordtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/discordtest"
)

// bubble runs f in virtual time with a Server and its client.
func bubble(t *testing.T, opt discordtest.Options, f func(t *testing.T, s *discordtest.Server, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, opt)
		f(t, s, newClient(t, s))
		synctest.Wait() // what answers interactions is done before t.Context ends
	})
}

func TestGlobalLimitHoldsInAnySecond(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		// 25 at 0.5 s and 25 at 0.9 s: a fixed second would forget them at 1.0 s.
		time.Sleep(500 * time.Millisecond)
		for range 25 {
			c.want(200, 0, "GET", "/users/@me", nil)
		}
		time.Sleep(400 * time.Millisecond)
		for range 25 {
			c.want(200, 0, "GET", "/users/@me", nil)
		}
		time.Sleep(300 * time.Millisecond) // 1.2 s
		r := c.do("GET", "/users/@me", nil)
		if r.status != 429 || r.body["global"] != true || r.header.Get("X-Ratelimit-Global") != "true" ||
			r.header.Get("X-Ratelimit-Scope") != "global" || r.header.Get("Retry-After") != "1" {
			t.Errorf("got %d %v %s", r.status, r.header, r.raw)
		}
		for _, h := range []string{"X-Ratelimit-Reset-After", "X-Ratelimit-Reset", "X-Ratelimit-Bucket", "X-Ratelimit-Remaining"} {
			if v := r.header.Get(h); v != "" {
				t.Errorf("%s: got %q, want none on a global 429", h, v)
			}
		}
		if after, _ := r.body["retry_after"].(float64); after < 0.3 || after > 0.302 {
			t.Errorf("retry_after: got %v, want 0.3 s, when the first of them is a second old", after)
		}
		time.Sleep(300*time.Millisecond + 1)
		c.want(200, 0, "GET", "/users/@me", nil)
		st := s.Stats()
		if st.Global429 != 1 || st.ViolationCounts[discordtest.ViolationGlobalLimit] != 1 || st.MaxPerSecond != 51 {
			t.Errorf("got %d refusals, %v, %d in a second", st.Global429, st.ViolationCounts, st.MaxPerSecond)
		}
	})
}

// TestBurstsASecondApart is the experiment of discord-api-docs issue 5144: 50,
// a second's pause, 50, a second's pause, 1.
func TestBurstsASecondApart(t *testing.T) {
	t.Parallel()
	for pause, refused := range map[time.Duration]bool{time.Second: true, 1100 * time.Millisecond: false} {
		bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
			for range 2 {
				for range 50 {
					c.do("GET", "/users/@me", nil)
				}
				time.Sleep(pause)
			}
			c.do("GET", "/users/@me", nil)
			if got := s.Stats().Global429 > 0; got != refused {
				t.Errorf("pause %v: got refused %v, want %v", pause, got, refused)
			}
			if got := s.Stats().MaxPerSecond; (got == 100) != refused {
				t.Errorf("pause %v: got %d at most in a second", pause, got)
			}
		})
	}
}

func TestEvenPaceIsNeverRefused(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{ChannelLimit: -1}, func(t *testing.T, s *discordtest.Server, c *client) {
		for i := range 450 {
			c.want(200, 0, "POST", messagesOf(chat), object{"content": fmt.Sprint(i)})
			time.Sleep(time.Second / 45)
		}
		clean(t, s)
		if got := s.Stats().MaxPerSecond; got < 45 || got > 46 {
			t.Errorf("most in a second: got %d, want 45 or 46", got)
		}
	})
}

func TestInteractionEndpointsAreOutsideOfTheGlobalLimit(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		anon := c.anonymous()
		for range 200 {
			anon.want(404, 10062, "POST", "/interactions/1/x/callback", object{"type": 5})
		}
		for range 50 {
			c.want(200, 0, "GET", "/users/@me", nil)
		}
		clean(t, s)
		// With the bot's token they count, and it is a violation to send it.
		if r := c.do("POST", "/interactions/1/x/callback", object{"type": 5}); r.status != 429 {
			t.Errorf("with a token: got %d, want 429", r.status)
		}
		if n := s.Stats().InteractionAuth; n != 1 {
			t.Errorf("got %d with a token, want 1", n)
		}
	})
}

func TestChannelLimit(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		for i := range 5 {
			r := c.want(200, 0, "POST", messagesOf(chat), object{"content": "x"})
			if got, want := r.header.Get("X-Ratelimit-Remaining"), fmt.Sprint(4-i); got != want {
				t.Errorf("remaining: got %s, want %s", got, want)
			}
			if r.header.Get("X-Ratelimit-Limit") != "5" || r.header.Get("X-Ratelimit-Bucket") == "" || r.header.Get("X-Ratelimit-Reset-After") != "5.000" {
				t.Errorf("headers: got %v", r.header)
			}
			if i < 4 {
				time.Sleep(time.Second)
			}
		}
		time.Sleep(time.Second - time.Nanosecond) // the first one is just within the window
		r := c.do("POST", messagesOf(chat), object{"content": "x"})
		if r.status != 429 || r.body["global"] != false || r.header.Get("X-Ratelimit-Scope") != "user" || r.header.Get("Retry-After") != "1" {
			t.Errorf("got %d %v %s", r.status, r.header, r.raw)
		}
		c.want(200, 0, "POST", messagesOf(other), object{"content": "another channel"})
		time.Sleep(time.Nanosecond)
		c.want(200, 0, "POST", messagesOf(chat), object{"content": "x"})
		if st := s.Stats(); st.Bucket429 != 1 || st.Global429 != 0 || st.ViolationCounts[discordtest.ViolationBucketLimit] != 1 {
			t.Errorf("got %+v", st.ViolationCounts)
		}
	})
}

func TestInvalidRequestsAreBanned(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{InvalidLimit: 20}, func(t *testing.T, s *discordtest.Server, c *client) {
		s.Deny(chat, discordtest.ViewChannel)
		bad := &client{t: t, http: c.http, auth: "Bot wrong"}
		for range 10 {
			bad.want(401, 0, "GET", "/users/@me", nil)
			c.want(404, 10003, "GET", "/channels/1", nil) // not counted
		}
		s.Fail(discordtest.Fault{Kind: discordtest.FaultShared, Count: 5})
		for range 5 {
			c.do("GET", "/users/@me", nil) // shared: not counted
		}
		if n := s.Stats().Invalid; n != 10 {
			t.Fatalf("invalid: got %d, want 10", n)
		}
		for range 10 {
			c.want(403, 50001, "POST", messagesOf(chat), object{"content": "x"})
			time.Sleep(time.Second)
		}
		r := c.do("GET", "/users/@me", nil)
		if r.status != 429 || r.header.Get("Retry-After") != "" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/html") ||
			!strings.Contains(string(r.raw), "1015") {
			t.Errorf("banned: got %d %v %s", r.status, r.header, r.raw)
		}
		time.Sleep(10 * time.Minute)
		c.want(200, 0, "GET", "/users/@me", nil)
	})
}

func TestFaults(t *testing.T) {
	t.Parallel()
	type fault = discordtest.Fault
	post := func(c *client, ctx context.Context) (result, error) { //nolint:revive // the client first reads better
		return c.try(ctx, "POST", messagesOf(chat), object{"content": "x"})
	}
	for name, tc := range map[string]struct {
		fault  fault
		status int   // 0: an error
		err    error // then
		sent   int   // messages created
		after  time.Duration
		check  func(t *testing.T, r result)
	}{
		"a status":         {fault: fault{Kind: discordtest.FaultStatus, Status: 400, Code: 200000}, status: 400},
		"a gateway's page": {fault: fault{Kind: discordtest.FaultStatus, Status: 502}, status: 502},
		"a late answer": {fault: fault{Kind: discordtest.FaultLatency, Delay: 2 * time.Second}, status: 200, sent: 1,
			after: 2 * time.Second},
		"latency beyond patience": {fault: fault{Kind: discordtest.FaultLatency, Delay: time.Hour}, err: context.DeadlineExceeded,
			sent: 1, after: 10 * time.Second},
		"a reset":            {fault: fault{Kind: discordtest.FaultReset}, err: syscall.ECONNRESET},
		"an answer lost":     {fault: fault{Kind: discordtest.FaultResetAfter}, err: syscall.ECONNRESET, sent: 1},
		"a hang":             {fault: fault{Kind: discordtest.FaultHang}, err: context.DeadlineExceeded, after: 10 * time.Second},
		"a hang after":       {fault: fault{Kind: discordtest.FaultHangAfter}, err: context.DeadlineExceeded, sent: 1, after: 10 * time.Second},
		"of another channel": {fault: fault{Kind: discordtest.FaultReset, Channel: other}, status: 200, sent: 1},
		"of another route":   {fault: fault{Kind: discordtest.FaultReset, Route: discordtest.RouteMessageEdit}, status: 200, sent: 1},
		"skipping one":       {fault: fault{Kind: discordtest.FaultReset, Skip: 1}, status: 200, sent: 1},
		"a page of Cloudflare's": {fault: fault{Kind: discordtest.FaultCloudflare}, status: 429, check: func(t *testing.T, r result) {
			if r.body != nil || r.header.Get("Retry-After") != "" {
				t.Errorf("got %v %s", r.header, r.raw)
			}
		}},
		"shared": {fault: fault{Kind: discordtest.FaultShared, RetryAfter: 1500 * time.Millisecond}, status: 429, check: func(t *testing.T, r result) {
			if r.header.Get("X-Ratelimit-Scope") != "shared" || r.header.Get("Retry-After") != "2" || r.body["retry_after"] != 1.5 ||
				r.header.Get("X-Ratelimit-Reset-After") != "1.500" || r.header.Get("X-Ratelimit-Remaining") != "0" {
				t.Errorf("got %v %s", r.header, r.raw)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
				s.Fail(tc.fault)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				start := time.Now()
				r, err := post(c, ctx)
				if tc.status != 0 && err != nil || tc.status == 0 && !errors.Is(err, tc.err) || r.status != tc.status {
					t.Errorf("got %d, %v, want %d, %v", r.status, err, tc.status, tc.err)
				}
				if got := time.Since(start); got != tc.after {
					t.Errorf("took %v, want %v", got, tc.after)
				}
				if got := len(s.Messages(chat)); got != tc.sent {
					t.Errorf("messages: got %d, want %d", got, tc.sent)
				}
				if tc.check != nil {
					tc.check(t, r)
				}
				clean(t, s)
			})
		})
	}
}

func TestGlobalFaultBlocksEverything(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		s.Fail(discordtest.Fault{Kind: discordtest.FaultGlobal, Route: discordtest.RouteMessageCreate, RetryAfter: 1500 * time.Millisecond})
		c.want(200, 0, "GET", "/users/@me", nil)
		if r := c.do("POST", messagesOf(chat), object{"content": "x"}); r.status != 429 || r.body["global"] != true {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		time.Sleep(time.Second)
		if r := c.do("GET", "/users/@me", nil); r.status != 429 || r.body["retry_after"] != 0.5 {
			t.Errorf("during the block: got %d %s", r.status, r.raw)
		}
		c.anonymous().want(404, 10062, "POST", "/interactions/1/x/callback", object{"type": 5}) // exempt
		time.Sleep(500 * time.Millisecond)
		c.want(200, 0, "POST", messagesOf(chat), object{"content": "x"})
		clean(t, s)
		if st := s.Stats(); st.Blocked != 1 || st.Injected != 1 || st.Global429 != 0 {
			t.Errorf("got %d blocked, %d injected, %d refused", st.Blocked, st.Injected, st.Global429)
		}
	})
}

func TestBucketFaultBlocksOneChannel(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		s.Fail(discordtest.Fault{Kind: discordtest.FaultBucket, Channel: chat, RetryAfter: 3 * time.Second, Until: time.Now().Add(time.Second)})
		r := c.do("POST", messagesOf(chat), object{"content": "x"})
		if r.status != 429 || r.header.Get("X-Ratelimit-Remaining") != "0" || r.header.Get("X-Ratelimit-Reset-After") != "3.000" {
			t.Errorf("got %d %v", r.status, r.header)
		}
		c.want(200, 0, "POST", messagesOf(other), object{"content": "x"})
		time.Sleep(2 * time.Second)
		if r := c.do("POST", messagesOf(chat), object{"content": "x"}); r.status != 429 || r.header.Get("Retry-After") != "1" {
			t.Errorf("after 2 s: got %d %v", r.status, r.header)
		}
		time.Sleep(time.Second)
		c.want(200, 0, "POST", messagesOf(chat), object{"content": "x"})
		clean(t, s)
	})
}

func TestCloseLetsGoOfWhatHangs(t *testing.T) {
	t.Parallel()
	bubble(t, discordtest.Options{}, func(t *testing.T, s *discordtest.Server, c *client) {
		s.Fail(discordtest.Fault{Kind: discordtest.FaultHang})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.try(t.Context(), "GET", "/users/@me", nil); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("got %v, want a reset", err)
			}
		})
		synctest.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for _, f := range []discordtest.Fault{
		{}, {Kind: "x"}, {Kind: discordtest.FaultStatus}, {Kind: discordtest.FaultLatency},
		{Kind: discordtest.FaultHang, Route: "x"}, {Kind: discordtest.FaultHang, Delay: -1},
	} {
		if f.Validate() == nil {
			t.Errorf("%+v: got no error", f)
		}
	}
	for _, f := range []discordtest.GatewayFault{
		{}, {At: "x", Do: discordtest.ActDrop}, {At: discordtest.StageHello, Do: "x"},
		{At: discordtest.StageConnect, Do: discordtest.ActReconnect}, {At: discordtest.StageHello, Do: discordtest.ActClose, Code: 99},
	} {
		if f.Validate() == nil {
			t.Errorf("%+v: got no error", f)
		}
	}
}
