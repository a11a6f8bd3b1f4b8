package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

const (
	// promisedHour is that of issue 2; quickHour is enough to see the same.
	// RIFTCHIME_PROMISED_HOUR set to anything takes the former.
	promisedHour = 15 * time.Second
	quickHour    = 7 * time.Second
	// promisedLateness is how late a report may be at most (issue 2).
	promisedLateness = 250 * time.Millisecond
)

func rehearsedHour() time.Duration {
	if os.Getenv("RIFTCHIME_PROMISED_HOUR") != "" {
		return promisedHour
	}
	return quickHour
}

// control is a test server in a process of its own.
type control struct {
	t   *testing.T
	url string
}

// call sends in as JSON, and decodes the answer into out unless that is nil.
func (c control) call(method, path string, in, out any) {
	c.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		c.t.Fatalf("%s %s: %s %v %s", method, path, resp.Status, err, text)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		c.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
}

// TestHour is number 2 of what shows issue 2: three programs that know of each
// other by their addresses only, a registration of three players in one paste,
// two games, and the report at the next boundary.
func TestHour(t *testing.T) {
	hour := rehearsedHour()
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			const guild, channel = "300000000000000001", "300000000000000002"
			simulator := func(args ...string) control {
				p := launch(t, nil, append([]string{"simulate"}, args...)...)
				return control{t, p.said(20*time.Second, `Control: (http://\S+)/_sim/`)[1]}
			}
			riotSim := simulator("riot", "--addr", "127.0.0.1:0", "--key", key)
			discordSim := simulator("discord", "--addr", "127.0.0.1:0", "--token", token)

			riotSim.call("POST", "/_sim/players", []riottest.Player{
				{GameName: "Sleepy Otter", TagLine: "EUW", Platform: "euw1"},
				{GameName: "Brave Toast", TagLine: "1234", Platform: "euw1"},
				{GameName: "Quiet Storm", TagLine: "EUW", Platform: "euw1"},
			}, nil)
			discordSim.call("POST", "/_sim/guilds", discordtest.Guild{
				ID: guild, Name: "Friends", OwnerID: "1", Channels: []discordtest.Channel{{ID: channel, Name: "games"}},
			}, nil)
			databaseURL := d.url(t)
			p := launch(t, settings{
				"DISCORD_TOKEN": token, "RIOT_API_KEY": key, "DATABASE_URL": databaseURL, "LISTEN_ADDR": "127.0.0.1:0",
				"DISCORD_API_URL": discordSim.url, "RIOT_API_URL": riotSim.url + "/{route}", "DDRAGON_URL": riotSim.url + "/ddragon",
			}, "run", "--hour", hour.String())
			p.ready(30 * time.Second)
			p.said(20*time.Second, "commands registered")

			answer := func(command string, options ...discordtest.Option) string {
				t.Helper()
				var got struct {
					Message *discordtest.Message `json:"message"`
				}
				discordSim.call("POST", "/_sim/interactions", map[string]any{
					"guild": guild, "channel": channel, "command": command, "options": options, "wait": "20s",
				}, &got)
				if got.Message == nil {
					t.Fatalf("/%s got no answer", command)
				}
				var text strings.Builder
				text.WriteString(got.Message.Content)
				for _, e := range got.Message.Embeds {
					text.WriteString("\n" + e.Title + "\n" + e.Description)
				}
				return text.String()
			}
			registered := answer("register", discordtest.Option{Name: "riot_id", Value: "Sleepy Otter#EUW, Brave Toast#1234\nQuiet Storm#EUW"})
			names := []string{"Sleepy Otter", "Brave Toast", "Quiet Storm"}
			contains(t, "the answer to /register", registered, names...)
			answer("schedule", discordtest.Option{Name: "hours", Value: "all"})

			slot := early(t, hour)
			riotSim.call("POST", "/_sim/games", []riottest.Game{
				{Queue: 400, Seats: []riottest.Seat{
					{RiotID: "Sleepy Otter#EUW", Result: riottest.Win, Champion: "Ahri", Score: &riottest.Score{Kills: 7, Deaths: 1, Assists: 9, CS: 203}},
					{RiotID: "Brave Toast#1234", Result: riottest.Win, Champion: "LeeSin", Score: &riottest.Score{Kills: 3, Deaths: 2, Assists: 15, CS: 140}},
				}},
				{Queue: 400, Seats: []riottest.Seat{
					{RiotID: "Quiet Storm#EUW", Result: riottest.Loss, Champion: "Garen", Score: &riottest.Score{Kills: 2, Deaths: 8, Assists: 4, CS: 166}},
				}},
			}, nil)

			sent := func() []discordtest.Message {
				t.Helper()
				var all []discordtest.Message
				discordSim.call("GET", "/_sim/messages?channel="+channel, nil, &all)
				return all
			}
			until(t, slot.Add(promisedLateness))
			all := posts(t, sent())
			if len(all) != 1 {
				t.Fatalf("%d messages after the boundary, want one: %v", len(all), all)
			}
			report := all[0]
			if !report.slot.Equal(slot) {
				t.Errorf("it is the report of %s, want %s", report.slot, slot)
			}
			if late := report.arrived.Sub(slot); late < 0 || late >= promisedLateness {
				t.Errorf("it arrived %s after the boundary, want 0 to %s", late, promisedLateness)
			}
			contains(t, "the report", report.text, names...)
			for _, re := range []string{
				`(?s)\*\*Won together\*\*.*Sleepy Otter\*\* · Ahri .*7/1/9 · 203 CS.*Brave Toast\*\* · Lee Sin .*3/2/15 · 140 CS`,
				`(?s)Quiet Storm#EUW\*\*.*\*\*Loss\*\* · Garen .*2/8/4 · 166 CS`,
			} {
				if !regexp.MustCompile(re).MatchString(report.text) {
					t.Errorf("the report does not say %s", re)
				}
			}
			t.Logf("hour %s: the report arrived %s after its boundary:\n%s", hour, report.arrived.Sub(slot).Round(time.Millisecond), report.text)

			// At the boundary after it nothing is new: in a quiet channel, no message.
			until(t, slot.Add(hour+time.Second))
			if all := sent(); len(all) != 1 {
				t.Errorf("%d messages after another hour, want still one: %v", len(all), posts(t, all))
			}
			p.said(time.Second, `msg="slot served" slot="?`+slot.Add(hour).UTC().Format("2006-01-02.15:04:05"))

			took := p.stop(syscall.SIGTERM)
			var riotStats riottest.Stats
			riotSim.call("GET", "/_sim/stats", nil, &riotStats)
			var discordStats discordtest.Stats
			discordSim.call("GET", "/_sim/stats", nil, &discordStats)
			if n := riotStats.Refusals(); n > 0 || riotStats.UnknownPaths > 0 {
				t.Errorf("Riot refused %d calls; %d paths do not exist", n, riotStats.UnknownPaths)
			}
			if len(discordStats.Violations) > 0 {
				t.Errorf("against Discord's rules: %+v", discordStats.Violations)
			}
			t.Logf("stopped in %s; calls of Riot %v", took.Round(time.Millisecond), riotStats.ByMethod)
		})
	}
}

// contains checks that text has each of the parts.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}
