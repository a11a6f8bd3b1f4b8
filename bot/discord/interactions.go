package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"
)

// callback is the body of a first answer. discordgo's own leaves an empty list
// of choices out, which Discord refuses.
type callback struct {
	Type discordgo.InteractionResponseType `json:"type"`
	Data any                               `json:"data,omitempty"`
}

// choices is the data of an autocomplete answer.
type choices struct {
	Choices []*discordgo.ApplicationCommandOptionChoice `json:"choices"`
}

// respond makes the first answer to an interaction, in one attempt.
func (c *Client) respond(ctx context.Context, i *discordgo.Interaction, response callback) error {
	const op = "answer interaction"
	body, err := json.Marshal(response)
	if err != nil {
		return &Error{Op: op, Kind: Rejected, Err: err}
	}
	path := "/interactions/" + url.PathEscape(i.ID) + "/" + url.PathEscape(i.Token) + "/callback"
	return c.do(ctx, op, http.MethodPost, path, body, nil)
}

// webhookEdit is the body that replaces the original answer. Empty lists are
// sent, so that nothing of what stood there before stays.
type webhookEdit struct {
	Content         string                            `json:"content"`
	Embeds          []*discordgo.MessageEmbed         `json:"embeds"`
	Components      []discordgo.MessageComponent      `json:"components"`
	AllowedMentions *discordgo.MessageAllowedMentions `json:"allowed_mentions"`
}

// editOriginal replaces the original answer to an interaction, in one attempt.
func (c *Client) editOriginal(ctx context.Context, i *discordgo.Interaction, data *discordgo.InteractionResponseData) error {
	const op = "edit answer"
	edit := webhookEdit{
		Content:         data.Content,
		Embeds:          data.Embeds,
		Components:      data.Components,
		AllowedMentions: nobodyMentioned(),
	}
	if edit.Embeds == nil {
		edit.Embeds = []*discordgo.MessageEmbed{}
	}
	if edit.Components == nil {
		edit.Components = []discordgo.MessageComponent{}
	}
	body, err := json.Marshal(edit)
	if err != nil {
		return &Error{Op: op, Kind: Rejected, Err: err}
	}
	path := "/webhooks/" + url.PathEscape(i.AppID) + "/" + url.PathEscape(i.Token) + "/messages/@original"
	return c.do(ctx, op, http.MethodPatch, path, body, nil)
}

// nobodyMentioned keeps a message from pinging anybody, whatever is in it.
func nobodyMentioned() *discordgo.MessageAllowedMentions {
	return &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
}
