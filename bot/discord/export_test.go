package discord

import (
	"context"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Whole is how the gateway reads an interaction, for the fuzz test.
func Whole(i *discordgo.Interaction, raw []byte) *discordgo.Interaction { return whole(i, raw) }

// Wanted is the gateway's check of events, for the fuzz test.
func Wanted(kind string, raw []byte) bool { return wanted(payload{Type: kind, Data: raw}) }

// Identify takes a permit of the budget and uses it.
func (b *identifyBudget) Identify(ctx context.Context, shard int) error {
	p, err := b.acquire(ctx, shard)
	if err != nil {
		return err
	}
	p.spend()
	p.release()
	return nil
}

// NewIdentifyBudget is for the tests of a day.
func NewIdentifyBudget(concurrency, left int, reset time.Time) *identifyBudget {
	return newIdentifyBudget(identifyEvery, concurrency, left, reset)
}
