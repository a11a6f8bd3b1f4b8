package discord_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/discord"
)

// FuzzInteraction sends what could come over the gateway through the router.
// Whatever can be answered gets one answer, and nothing panics.
func FuzzInteraction(f *testing.F) {
	for _, i := range []any{
		interaction(1),
		map[string]any{"id": "1", "token": "t", "type": 2},
		map[string]any{"id": "1", "token": "t", "type": 3, "data": map[string]any{"custom_id": "more:1"}},
		map[string]any{"id": "1", "token": "t", "type": 4, "data": map[string]any{"name": "go", "options": []any{nil}}},
		map[string]any{"id": "1", "token": "t", "type": 5, "data": map[string]any{"custom_id": "more", "components": []any{map[string]any{"type": 18}}}},
		map[string]any{"id": 1, "type": 2, "data": map[string]any{"name": "go", "options": []any{map[string]any{"name": "a", "type": 3, "value": 5}}}},
	} {
		raw, err := json.Marshal(i)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	read := func(_ context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData {
		text := i.ApplicationCommandData().Options[0].StringValue()
		return &discordgo.InteractionResponseData{Content: text}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := &api{answer: func(call) reply { return reply{status: 204} }}
		r := discord.NewRouter(newClient(t, a), discord.RouterOptions{
			Commands: []discord.Command{{Name: "go", Run: read, Autocomplete: func(ctx context.Context, i *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice {
				return []*discordgo.ApplicationCommandOptionChoice{{Name: i.ApplicationCommandData().Options[0].StringValue()}}
			}}},
			Components: map[string]discord.Component{"more": {Update: true, Run: say("more")}},
			Guard: func(context.Context, discord.Press) (*discordgo.InteractionResponseData, func()) {
				return nil, nil
			},
			Logger: (&logbook{}).logger(),
		})
		var event discordgo.InteractionCreate
		_ = json.Unmarshal(raw, &event) // discordgo goes on after an error, too.
		i := discord.Whole(event.Interaction, raw)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r.Handle(ctx, i)
		if err := r.Wait(ctx); err != nil {
			t.Fatal(err)
		}
		if n := len(a.seen()); n > 1 {
			t.Errorf("%d answers, want 1 at most", n)
		}
	})
}

// FuzzEvent checks that what the gateway lets through to discordgo does not
// make it panic.
func FuzzEvent(f *testing.F) {
	f.Add("READY", []byte(`{"session_id":"1","guilds":[null]}`))
	f.Add("READY", []byte(`{"session_id":"1","guilds":[{"id":"1","channels":[{}]}]}`))
	f.Add("GUILD_CREATE", []byte(`{"id":"1","channels":[null]}`))
	f.Add("GUILD_CREATE", []byte(`{"id":"1","members":[{}],"voice_states":[{}]}`))
	f.Add("GUILD_DELETE", []byte(`null`))
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		if !json.Valid(raw) || !discord.Wanted(kind, raw) {
			return
		}
		// What discordgo does with an event, in setGuildIds.
		fill := func(g *discordgo.Guild) {
			for _, c := range g.Channels {
				c.GuildID = g.ID
			}
			for _, m := range g.Members {
				m.GuildID = g.ID
			}
			for _, v := range g.VoiceStates {
				v.GuildID = g.ID
			}
		}
		switch kind {
		case "READY":
			var e discordgo.Ready
			_ = json.Unmarshal(raw, &e)
			for _, g := range e.Guilds {
				fill(g)
			}
		case "GUILD_CREATE":
			var e discordgo.GuildCreate
			_ = json.Unmarshal(raw, &e)
			fill(e.Guild)
		case "GUILD_UPDATE":
			var e discordgo.GuildUpdate
			_ = json.Unmarshal(raw, &e)
			fill(e.Guild)
		}
	})
}
