package discord_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/discord"
	"riftchime/bot/discordtest"
)

// noViolations fails the test where a rule was broken that is not among allowed.
func noViolations(t *testing.T, s *discordtest.Server, allowed ...string) {
	t.Helper()
	st := s.Stats()
	for _, name := range allowed {
		delete(st.ViolationCounts, name)
	}
	if len(st.ViolationCounts) > 0 {
		t.Errorf("rules of Discord's were broken: %v: %v", st.ViolationCounts, st.Violations)
	}
}

// TestAnHourAgainstDiscord posts 260 messages at once, in virtual time, to a
// Discord that counts, while people use commands.
func TestAnHourAgainstDiscord(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const channels = 260
		s := discordtest.New(discordtest.Options{Token: testToken, Latency: 150 * time.Millisecond})
		guild := discordtest.Guild{ID: "700000000000000001", Name: "home"}
		for i := range channels {
			guild.Channels = append(guild.Channels, discordtest.Channel{ID: strconv.Itoa(800000000000000000 + i), Name: fmt.Sprint("c", i)})
		}
		s.AddGuild(guild)
		c := newClient(t, s.Transport())
		start := time.Now()
		ids := make([]int64, channels)
		done := make(chan error, channels)
		for i := range channels {
			go func() {
				var err error
				ids[i], err = c.Post(t.Context(), int64(800000000000000000+i), post, fmt.Sprint("n", i))
				done <- err
			}()
		}
		for range channels {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		if took, most := time.Since(start), channels*time.Second/45+300*time.Millisecond; took > most {
			t.Errorf("260 posts took %v, want %v at most", took, most)
		}
		// The same nonce again is the same message, one of another channel is not.
		again, err := c.Post(t.Context(), 800000000000000000, post, "n0")
		if err != nil || again != ids[0] {
			t.Errorf("the same nonce gave message %d, %v; want %d again", again, err, ids[0])
		}
		newest, err := c.Newest(t.Context(), 800000000000000000, 5)
		if err != nil || len(newest) != 1 || newest[0].ID != ids[0] || strconv.FormatInt(newest[0].AuthorID, 10) != s.AppID() {
			t.Errorf("got %+v, %v; want the one message by the bot", newest, err)
		}
		if err := c.Edit(t.Context(), 800000000000000000, ids[0], post); err != nil {
			t.Error(err)
		}
		s.RemoveChannel("800000000000000001")
		_, err = c.Post(t.Context(), 800000000000000001, post, "n")
		wantKind(t, err, discord.UnknownChannel)
		s.Deny("800000000000000002", discordtest.SendMessages)
		_, err = c.Post(t.Context(), 800000000000000002, post, "n2b")
		wantKind(t, err, discord.MissingPermission)
		noViolations(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAgainstDiscord goes through the faults of a gateway that keeps to the
// protocol, one after the other, and uses a command after each.
func TestAgainstDiscord(t *testing.T) {
	t.Parallel()
	s := discordtest.New(discordtest.Options{Token: testToken, HeartbeatInterval: time.Second, IdentifyInterval: 200 * time.Millisecond})
	t.Cleanup(func() { s.Close() })
	const guild, channel = "700000000000000001", "800000000000000001"
	s.AddGuild(discordtest.Guild{ID: guild, Name: "home", PreferredLocale: "ko", Channels: []discordtest.Channel{{ID: channel, Name: "chat"}}})
	origin, err := s.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var book logbook
	c := newClient(t, nil, func(o *discord.Options) { o.URL = origin })
	t.Cleanup(c.CloseIdleConnections)
	router := discord.NewRouter(c, discord.RouterOptions{
		Logger: book.logger(),
		Commands: []discord.Command{
			{Name: "fast", Run: say("fast"), Autocomplete: func(context.Context, *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
				return []*discordgo.ApplicationCommandOptionChoice{{Name: "one", Value: "1"}}
			}},
			{Name: "slow", Slow: true, Run: say("slow")},
		},
	})
	defs := []*discordgo.ApplicationCommand{
		{Name: "fast", Description: "Fast", NameLocalizations: &map[discordgo.Locale]string{discordgo.Korean: "빠름"}, Options: []*discordgo.ApplicationCommandOption{
			{Type: discordgo.ApplicationCommandOptionString, Name: "what", Description: "What", Autocomplete: true},
		}},
		{Name: "slow", Description: "Slow", Contexts: &[]discordgo.InteractionContextType{discordgo.InteractionContextGuild}},
	}
	changes := make(chan bool, 20)
	servers := make(chan discord.ServerEvent, 100)
	timing := quick()
	timing.IdentifyEvery = 250 * time.Millisecond
	timing.Hello, timing.Ready = 500*time.Millisecond, 500*time.Millisecond
	gateway := discord.NewGateway(discord.GatewayOptions{
		Client: c, Router: router, Timing: timing, Logger: book.logger(),
		OnReady: func(ctx context.Context, r discord.Ready) {
			changed, err := c.SyncCommands(ctx, r.AppID, defs)
			if err != nil {
				t.Error(err)
			}
			changes <- changed
		},
		OnServer: func(_ context.Context, e discord.ServerEvent) { servers <- e },
	})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- gateway.Run(ctx) }()
	use := func(t *testing.T, command, want string) {
		t.Helper()
		within, done := context.WithTimeout(ctx, 10*time.Second)
		defer done()
		result, err := s.Interact(within, discordtest.Interaction{Guild: guild, Channel: channel, Command: command, Locale: "ko", User: discordtest.User{ID: "900000000000000001"}})
		if err != nil {
			t.Fatal(err)
		}
		message, err := result.Final(within)
		if err != nil || message.Content != want {
			t.Errorf("got %q, %v; want %q", message.Content, err, want)
		}
	}
	connected := func(t *testing.T) {
		t.Helper()
		within, done := context.WithTimeout(ctx, 10*time.Second)
		defer done()
		if err := s.WaitConnected(within, 1); err != nil {
			t.Fatalf("not connected again: %v\n%s", err, book.String())
		}
	}
	connected(t)
	if !<-changes {
		t.Error("the first SyncCommands changed nothing")
	}
	if e := <-servers; e.Name != "home" || e.Locale != "ko" || e.Kind != discord.Here {
		t.Errorf("got %+v, want home", e)
	}
	use(t, "fast", "fast")
	use(t, "slow", "slow")

	for _, f := range []discordtest.GatewayFault{
		{At: discordtest.StageNow, Do: discordtest.ActReconnect},
		{At: discordtest.StageNow, Do: discordtest.ActDrop},
		{At: discordtest.StageNow, Do: discordtest.ActInvalidSession, Resumable: true},
		{At: discordtest.StageNow, Do: discordtest.ActInvalidSession},
		{At: discordtest.StageNow, Do: discordtest.ActClose, Code: 4000},
		{At: discordtest.StageNow, Do: discordtest.ActClose, Code: 4009},
		{At: discordtest.StageHeartbeat, Do: discordtest.ActSilent, Count: 2},
		{At: discordtest.StageHello, Do: discordtest.ActReconnect},
		{At: discordtest.StageHello, Do: discordtest.ActSilent},
		{At: discordtest.StageResume, Do: discordtest.ActReconnect},
		{At: discordtest.StageResume, Do: discordtest.ActInvalidSession},
		{At: discordtest.StageResume, Do: discordtest.ActSilent},
		{At: discordtest.StageConnect, Do: discordtest.ActClose},
	} {
		t.Run(fmt.Sprint(f.At, " ", f.Do, " ", f.Code, f.Resumable), func(t *testing.T) {
			before := lives(s)
			s.FailGateway(f)
			if f.At != discordtest.StageNow && f.At != discordtest.StageHeartbeat {
				s.FailGateway(discordtest.GatewayFault{At: discordtest.StageNow, Do: discordtest.ActDrop})
			}
			eventually(t, "another connection", func() bool { return lives(s) > before })
			connected(t)
			use(t, "fast", "fast")
		})
	}
	for len(changes) > 0 {
		if <-changes {
			t.Error("a later SyncCommands changed something")
		}
	}
	// These two happen in real time on a machine that is busy: a heartbeat every
	// second comes late, an answer takes more than a second and is repeated.
	noViolations(t, s, discordtest.ViolationHeartbeatMissed, discordtest.ViolationSecondAnswer)
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := router.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// lives counts the handshakes that came to their end.
func lives(s *discordtest.Server) int {
	st := s.Stats()
	return st.Identifies + st.Resumes
}
