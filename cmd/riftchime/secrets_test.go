package main_test

import (
	"context"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// secretPaths are addresses that hold a token.
var secretPaths = regexp.MustCompile(`/(?:interactions|webhooks)/\d+/[^\s{]`)

// TestSecrets lets everything go wrong that brings texts of others into the log,
// at the level that logs most, and looks for the secrets in it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const hour = 4 * time.Second
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond, AnswerDeadline: time.Second})
	players := w.players(6)
	url := sqliteURL(t)
	w.follow(url, hour, 6, func(i int) []riottest.PlayerID { return players[i : i+1] })
	p := launch(t, w.settings(url).with("LOG_LEVEL", "debug", "LOG_FORMAT", "json"), "run", "--hour", hour.String())
	p.ready(30 * time.Second)
	p.said(20*time.Second, "commands registered")

	command := func(name string, options ...discordtest.Option) {
		t.Helper()
		asked, err := w.discord.Interact(t.Context(), discordtest.Interaction{Guild: "100000000000000000", Channel: channelName(0), Command: name, Options: options})
		if err != nil {
			return // nobody is connected at present
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, _ = asked.Final(ctx) // it may never come: that is the fault
	}
	register := discordtest.Option{Name: "riot_id", Value: "Player 1#EUW, Nobody#0000"}
	game := 0
	play := func() {
		for _, p := range players {
			w.play(p, game)
			game++
		}
	}

	// Riot: the key refused, connections broken, pages in place of JSON that hold
	// what was sent.
	for _, f := range []riottest.Fault{
		{Kind: riottest.FaultStatus, Status: 401, Count: 2, Body: `{"status":{"message":"Unknown apikey ` + key + `","status_code":401}}`},
		{Kind: riottest.FaultReset, Count: 6},
		{Kind: riottest.FaultCut, Count: 4},
		{Kind: riottest.FaultHTML, Count: 4, Body: "<html>api_key=" + key + "</html>"},
		{Kind: riottest.FaultLimited, Count: 2, RetryAfter: "1"},
	} {
		w.riot.AddFault(f)
	}
	play()
	command("register", register)
	command("list")

	// Discord: answers refused, broken, cut off, with the token in the text.
	echo := "401: Unauthorized for Bot " + token
	for _, f := range []discordtest.Fault{
		{Kind: discordtest.FaultReset, Route: discordtest.RouteCallback, Count: 3},
		{Kind: discordtest.FaultStatus, Route: discordtest.RouteCallback, Status: 404, Code: 10062, Message: "Unknown interaction", Count: 2},
		{Kind: discordtest.FaultReset, Route: discordtest.RouteOriginalEdit, Count: 3},
		{Kind: discordtest.FaultStatus, Route: discordtest.RouteOriginalEdit, Status: 401, Code: 50027, Message: "Invalid Webhook Token", Count: 1},
		{Kind: discordtest.FaultStatus, Route: discordtest.RouteMessageCreate, Status: 401, Message: echo, Count: 2},
		{Kind: discordtest.FaultReset, Route: discordtest.RouteMessageCreate, Count: 3},
		{Kind: discordtest.FaultResetAfter, Route: discordtest.RouteMessageCreate, Count: 2},
		{Kind: discordtest.FaultCloudflare, Route: discordtest.RouteMessageCreate, Count: 1},
		{Kind: discordtest.FaultStatus, Route: discordtest.RouteMessageCreate, Status: 502, Count: 2},
		{Kind: discordtest.FaultStatus, Route: discordtest.RouteMessageCreate, Status: 400, Code: 50035, Message: echo, Count: 1},
	} {
		w.discord.Fail(f)
	}
	for range 4 {
		command("register", register)
		command("report")
		command("status")
	}
	until(t, boundary(time.Now(), hour).Add(hour/2))
	play()

	// The gateway: dropped, refused, without an address.
	w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultStatus, Route: discordtest.RouteGateway, Status: 401, Message: echo, Count: 1})
	w.discord.Fail(discordtest.Fault{Kind: discordtest.FaultReset, Route: discordtest.RouteGatewayBot, Count: 1})
	for _, f := range []discordtest.GatewayFault{
		{At: discordtest.StageConnect, Do: discordtest.ActClose},
		{At: discordtest.StageHello, Do: discordtest.ActDrop},
		{At: discordtest.StageResume, Do: discordtest.ActInvalidSession},
		{At: discordtest.StageNow, Do: discordtest.ActDrop},
	} {
		w.discord.FailGateway(f)
	}
	until(t, boundary(time.Now(), hour).Add(hour/2))
	w.riot.ClearFaults()
	w.discord.ClearFaults()
	eventually(t, 30*time.Second, "it is connected again, or gave up", func() bool {
		status, _ := p.web("/readyz")
		return status == 200 || !p.running()
	})
	if p.running() {
		p.stop(syscall.SIGTERM)
	}

	all := p.err.String()
	if found := secretPaths.FindString(all); found != "" {
		t.Errorf("an address with a token is in the log: %s", around(all, found))
	}
	for _, sign := range []string{`"level":"WARN"`, "Unauthorized for Bot [hidden]"} {
		if !strings.Contains(all, sign) {
			t.Errorf("%s is not in the log: the faults did not reach it", sign)
		}
	}
	t.Logf("%d lines logged, %d of them warnings, %d errors; faults met: Riot %v, Discord %d", strings.Count(all, "\n"),
		strings.Count(all, `"level":"WARN"`), strings.Count(all, `"level":"ERROR"`), w.riot.Stats().Injected, w.discord.Stats().Injected)
}
