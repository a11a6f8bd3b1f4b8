package commands_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bwmarrin/discordgo"
)

// FuzzInteraction sends payloads as only a broken or hostile sender would:
// options of any name, type and value, in any number.
func FuzzInteraction(f *testing.F) {
	f.Add(uint64(1), "Fern#EUW", "100", "200", "ko", int64(32))
	f.Add(uint64(2), "\u2066#\u2069", "0", "-1", "", int64(-1))
	f.Add(uint64(3), "**@everyone**,<@1>#<#2>", "100", "200", "en-US", int64(8))
	w := newWorld(f)
	w.riot.add("Fern#EUW", "euw1")
	f.Fuzz(func(t *testing.T, seed uint64, text, server, channel, locale string, permissions int64) {
		r := rand.New(rand.NewPCG(seed, 0))
		names := []string{"riot_id", "region", "hours", "timezone", "language", "quiet", text}
		value := func() any {
			return []any{nil, text, "kr", true, 12.5, -1.0, []any{text}, map[string]any{text: text}, "12", "Fern#EUW"}[r.IntN(10)]
		}
		var options []*discordgo.ApplicationCommandInteractionDataOption
		for range r.IntN(6) {
			o := &discordgo.ApplicationCommandInteractionDataOption{
				Name: names[r.IntN(len(names))], Type: discordgo.ApplicationCommandOptionType(r.IntN(13)),
				Value: value(), Focused: r.IntN(3) == 0,
			}
			if r.IntN(10) == 0 {
				o = nil
			}
			options = append(options, o)
		}
		i := &discordgo.Interaction{
			Type: discordgo.InteractionType(r.IntN(7)), GuildID: server, ChannelID: channel,
			Locale: discordgo.Locale(locale), AppPermissions: permissions,
			Data: discordgo.ApplicationCommandInteractionData{Name: text, Options: options},
		}
		if r.IntN(2) == 0 {
			i.Member = &discordgo.Member{Permissions: permissions}
		}
		if r.IntN(2) == 0 {
			l := discordgo.Locale(text)
			i.GuildLocale = &l
		}
		switch r.IntN(8) {
		case 0:
			i.Data = nil
		case 1:
			i.Data = discordgo.MessageComponentInteractionData{CustomID: text}
		}
		for _, c := range w.commands.All() {
			checkResponse(t, c.Run(t.Context(), i), c.Ephemeral)
			if c.Autocomplete == nil {
				continue
			}
			choices := c.Autocomplete(t.Context(), i)
			if choices == nil || len(choices) > 25 {
				t.Errorf("%d choices (nil: %t)", len(choices), choices == nil)
			}
		}
	})
}
