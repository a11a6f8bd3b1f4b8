package main_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot"
	"riftchime/riot/riottest"
)

// TestWeb asks for the pages that operators' tools ask for, while all is well
// and while it is not.
func TestWeb(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond})
	w.players(3)
	url := sqliteURL(t)
	w.follow(url, time.Hour, 1, func(int) []riottest.PlayerID { return nil })
	p := launch(t, w.settings(url), "run")
	expect := func(path string, status int, text string) {
		t.Helper()
		if got, body := p.web(path); got != status || !strings.Contains(body, text) {
			t.Errorf("%s: %d %q, want %d and %q", path, got, body, status, text)
		}
	}
	// unready waits until /readyz says why.
	unready := func(why string) {
		t.Helper()
		eventually(t, 20*time.Second, "/readyz says "+why, func() bool {
			status, body := p.web("/readyz")
			return status == http.StatusServiceUnavailable && strings.Contains(body, why)
		})
		expect("/healthz", http.StatusOK, "ok")
	}
	expect("/healthz", http.StatusOK, "ok")
	p.ready(30 * time.Second)
	expect("/readyz", http.StatusOK, "ready")
	expect("/", http.StatusNotFound, "")
	p.said(20*time.Second, "commands registered")

	// The gateway is down, then up again.
	w.discord.FailGateway(discordtest.GatewayFault{At: discordtest.StageConnect, Do: discordtest.ActClose, Count: -1})
	w.discord.FailGateway(discordtest.GatewayFault{At: discordtest.StageNow, Do: discordtest.ActDrop})
	unready("not connected to Discord")
	w.discord.ClearFaults()
	back := time.Now()
	p.ready(20 * time.Second) // issue 5, part 5
	t.Logf("connected again after %s", time.Since(back).Round(time.Millisecond))

	// Riot refuses the key.
	w.riot.AddFault(riottest.Fault{Kind: riottest.FaultStatus, Status: http.StatusForbidden})
	asked, err := w.discord.Interact(t.Context(), discordtest.Interaction{
		Guild: "100000000000000000", Channel: channelName(0), Command: "register",
		Options: []discordtest.Option{{Name: "riot_id", Value: "Player 1#EUW, Player 2#EUW, Player 3#EUW, A#1, B#2, C#3, D#4, E#5"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	unready("Riot refuses the key " + string(riot.FingerprintOf(key)))
	answered, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := asked.Final(answered); err != nil {
		t.Errorf("/register: %v", err)
	}

	_, metrics := p.web("/metrics")
	for _, name := range []string{
		`riftchime_gateway_events_total{event="ready"}`,
		`riftchime_discord_requests_total{`,
		`riftchime_riot_requests_total{`,
		`riftchime_riot_permits_total{`,
		`riftchime_report_lateness_seconds_count`,
		`riftchime_report_edits_total`,
		`riftchime_data_age_seconds_count`,
		`go_goroutines`,
		`process_resident_memory_bytes`,
	} {
		if !strings.Contains(metrics, "\n"+name) {
			t.Errorf("/metrics lacks %s", name)
		}
	}
	for _, secret := range p.secrets {
		if strings.Contains(metrics, secret) {
			t.Errorf("a secret is in /metrics: %s", around(metrics, secret))
		}
	}
}
