package discord

import (
	"context"

	"github.com/bwmarrin/discordgo"
)

// Hold makes a [Guard] of f. Where f returns a text, that is the answer, seen by
// the person only, and the command does not run.
func Hold(f func(ctx context.Context, p Press) (instead string, done func())) Guard {
	return func(ctx context.Context, p Press) (*discordgo.InteractionResponseData, func()) {
		text, done := f(ctx, p)
		if text == "" {
			return nil, done
		}
		return &discordgo.InteractionResponseData{Content: text, Flags: discordgo.MessageFlagsEphemeral}, nil
	}
}
