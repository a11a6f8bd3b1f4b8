package render

import (
	"encoding/json"
	"fmt"

	"github.com/bwmarrin/discordgo"
)

// Discord's sizes for a message
// (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
const (
	maxContent     = 2000
	maxEmbeds      = 10
	maxEmbedsText  = 6000
	maxDescription = 4096
	maxURL         = 2048
)

// Message is the body of one Discord message, all but its nonce.
type Message struct {
	// Body has content or embeds, and allowed_mentions that ping nobody.
	Body json.RawMessage
}

type body struct {
	Content string                    `json:"content,omitempty"`
	Embeds  []*discordgo.MessageEmbed `json:"embeds,omitempty"`
	// AllowedMentions with an empty list pings nobody; without it everyone
	// named would be.
	AllowedMentions allowedMentions `json:"allowed_mentions"`
}

type allowedMentions struct {
	Parse []string `json:"parse"`
}

func newMessage(content string, embeds []*discordgo.MessageEmbed) (Message, error) {
	b, err := json.Marshal(body{
		Content: content, Embeds: embeds, AllowedMentions: allowedMentions{Parse: []string{}},
	})
	if err != nil {
		return Message{}, fmt.Errorf("message body: %w", err)
	}
	return Message{Body: b}, nil
}
