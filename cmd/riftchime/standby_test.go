package main_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// takeover is how soon a program that stands by must lead after the leader was
// killed (issue 5).
const takeover = 15 * time.Second

// TestStandby runs two programs on one PostgreSQL and kills the leader while it
// delivers: the other one takes over, and each channel has each report once.
func TestStandby(t *testing.T) {
	t.Parallel()
	const (
		hour     = 8 * time.Second
		channels = 12
	)
	w := newWorld(t, riottest.Options{}, discordtest.Options{IdentifyInterval: time.Millisecond, Latency: 100 * time.Millisecond})
	players := w.players(channels)
	url := postgresURL(t)
	w.follow(url, hour, channels, func(i int) []riottest.PlayerID {
		return []riottest.PlayerID{players[i], players[(i+1)%channels]}
	})
	env := w.settings(url)
	leader := launch(t, env, "run", "--hour", hour.String())
	leader.ready(30 * time.Second)
	second := launch(t, env, "run", "--hour", hour.String())
	second.said(20*time.Second, "serving")
	standsBy := func() {
		t.Helper()
		if status, body := second.web("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "standing by") {
			t.Errorf("/readyz of the second: %d %q, want 503 and that it stands by", status, body)
		}
	}
	eventually(t, 10*time.Second, "the second is up", func() bool { status, _ := second.web("/healthz"); return status == http.StatusOK })
	standsBy()

	early(t, hour)
	for i, p := range players {
		w.play(p, i)
	}
	eventually(t, 2*hour, "the leader delivers", func() bool { return w.discord.Stats().Messages >= channels/3 })
	standsBy()
	if n := w.discord.Stats().Identifies; n != 1 {
		t.Errorf("%d identifies while one leads, want 1", n)
	}
	leader.kill()
	killed := time.Now()
	before := w.discord.Stats().Messages
	second.ready(takeover)
	t.Logf("killed with %d of %d messages out; the second leads after %s", before, channels, time.Since(killed).Round(time.Millisecond))

	// It serves the hours from now on.
	early(t, hour)
	for i, p := range players {
		w.play(p, channels+i)
	}
	until(t, boundary(time.Now(), hour).Add(hour+time.Second))
	for i := range channels {
		j := (i + 1) % channels
		w.toldOnce(i, []string{kda(i), kda(j), kda(channels + i), kda(channels + j)})
	}
	w.orderly()
	t.Logf("stopped in %s; Discord dropped %d doubles", second.stop(syscall.SIGTERM).Round(time.Millisecond), w.discord.Stats().Repeats)
}

// A program that stands by stops as soon as one that leads.
func TestStopStandingBy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{})
	env := w.settings(postgresURL(t))
	leader := launch(t, env, "run")
	leader.ready(30 * time.Second)
	second := launch(t, env, "run")
	second.said(20*time.Second, "serving")
	eventually(t, 10*time.Second, "the second stands by", func() bool {
		_, body := second.web("/readyz")
		return strings.Contains(body, "standing by")
	})
	t.Logf("stopped in %s", second.stop(syscall.SIGTERM).Round(time.Millisecond))
	leader.ready(time.Second)
}
