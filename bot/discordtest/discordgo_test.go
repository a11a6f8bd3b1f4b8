package discordtest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/discordtest"
)

// redirect sends every request to another origin.
type redirect struct{ to *url.URL }

func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = r.to.Scheme, r.to.Host
	return http.DefaultTransport.RoundTrip(req)
}

// TestDiscordgo lets a real client library register a command, connect, receive
// an interaction, defer it and edit its answer.
func TestDiscordgo(t *testing.T) {
	t.Parallel()
	s := newServer(t, discordtest.Options{})
	base, err := s.Start("")
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	session, err := discordgo.New("Bot " + token)
	if err != nil {
		t.Fatal(err)
	}
	session.Client = &http.Client{Transport: redirect{to}}
	session.Identify.Intents = discordgo.IntentsGuilds
	session.StateEnabled = false
	guilds := make(chan *discordgo.GuildCreate, 4)
	session.AddHandler(func(_ *discordgo.Session, g *discordgo.GuildCreate) { guilds <- g })
	failed := make(chan error, 4)
	session.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) {
		if err := s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
			Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		}); err != nil {
			failed <- err
			return
		}
		text := i.ApplicationCommandData().Options[0].StringValue() + " " + string(i.Locale) + " " + string(*i.GuildLocale)
		if _, err := s.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{
			Content: &text,
			Embeds:  &[]*discordgo.MessageEmbed{{Title: "Maple", Timestamp: "2026-08-01T12:00:00Z"}},
		}); err != nil {
			failed <- err
		}
	})
	if _, err := session.ApplicationCommandBulkOverwrite(s.AppID(), "", []*discordgo.ApplicationCommand{{
		Name: "register", Description: "registers",
		NameLocalizations: &map[discordgo.Locale]string{discordgo.Korean: "등록"},
		Options: []*discordgo.ApplicationCommandOption{{
			Type: discordgo.ApplicationCommandOptionString, Name: "riot_id", Description: "who", Required: true,
		}},
	}}); err != nil {
		t.Fatalf("commands: %v", err)
	}
	if err := session.Open(); err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() { _ = session.Close() }()
	ctx := timeout(t)
	select {
	case g := <-guilds:
		if g.ID != guildID || len(g.Channels) != 2 || g.PreferredLocale != "ko" || g.Unavailable {
			t.Errorf("guild: got %+v", g.Guild)
		}
	case <-ctx.Done():
		t.Fatal("no GUILD_CREATE")
	}
	res, err := s.Interact(ctx, discordtest.Interaction{
		Guild: guildID, Channel: chat, Command: "register", Locale: "ko",
		Options: []discordtest.Option{{Name: "riot_id", Value: "Calm in rain#KR1"}},
	})
	if err != nil {
		t.Fatalf("interact: %v", err)
	}
	m, err := res.Final(ctx)
	if err != nil {
		t.Fatalf("final: %v", err)
	}
	select {
	case err := <-failed:
		t.Errorf("handler: %v", err)
	default:
	}
	if ack, _ := res.Acked(); ack != discordtest.AnswerDeferred || res.Ephemeral() {
		t.Errorf("ack: got %d, ephemeral %v, want 5, public", ack, res.Ephemeral())
	}
	if m.Content != "Calm in rain#KR1 ko ko" || len(m.Embeds) != 1 || m.Embeds[0].Title != "Maple" {
		t.Errorf("message: got %q, %v", m.Content, m.Embeds)
	}
	if sent, err := session.ChannelMessageSend(chat, "hello"); err != nil || sent.Content != "hello" {
		t.Errorf("send: got %v, %v", sent, err)
	}
	if got := s.Messages(chat); len(got) != 1 || got[0].Content != "hello" {
		t.Errorf("messages: got %v", got)
	}
	if got := s.History(chat); len(got) != 2 {
		t.Errorf("history: got %d messages, want the answer and the other one", len(got))
	}
	// discordgo sends its token to interaction endpoints, a known fault.
	clean(t, s, discordtest.ViolationInteractionAuth)
	if n := s.Stats().InteractionAuth; n != 2 {
		t.Errorf("interaction requests with the bot's token: got %d, want 2", n)
	}
}
