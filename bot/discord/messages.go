package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// maxNonce is how long a nonce may be
// (https://discord.com/developers/docs/resources/message#create-message).
const maxNonce = 25

// Post sends one message and returns its id. It makes exactly one attempt, when
// its turn comes: after [Unavailable] with Maybe the caller may send the same
// nonce again within two minutes, and Discord returns the first message instead
// of making a second. Where that one was deleted meanwhile it answers
// [NotFound] with code 10008.
//
// Body is a JSON object. The nonce (25 bytes at most; empty: none) and
// enforce_nonce are added to it, and allowed_mentions that mention nobody
// unless it has some; nothing else of it is touched. Discord compares the
// nonces of one author, whatever the channel: the channel must be in it.
func (c *Client) Post(ctx context.Context, channel int64, body json.RawMessage, nonce string) (message int64, err error) {
	const op = "post message"
	sent, err := messageBody(body, nonce)
	if err != nil {
		return 0, &Error{Op: op, Kind: Rejected, Err: err}
	}
	var answer struct {
		ID snowflake `json:"id"`
	}
	if err := c.do(ctx, op, http.MethodPost, channelPath(channel)+"/messages", sent, &answer); err != nil {
		return 0, err
	}
	if answer.ID == 0 {
		return 0, &Error{Op: op, Kind: Unavailable, Maybe: true, Err: errors.New("the answer has no message id")}
	}
	return int64(answer.ID), nil
}

// Edit changes a message of the bot's: what body names is replaced. It is tried
// four times at most while Discord is unavailable or limits it, within ctx.
func (c *Client) Edit(ctx context.Context, channel, message int64, body json.RawMessage) error {
	const op = "edit message"
	sent, err := messageBody(body, "")
	if err != nil {
		return &Error{Op: op, Kind: Rejected, Err: err}
	}
	path := channelPath(channel) + "/messages/" + strconv.FormatInt(message, 10)
	return retry(ctx, func() error {
		return c.do(ctx, op, http.MethodPatch, path, sent, nil)
	})
}

// Message is what can be read of a message in a channel.
type Message struct {
	ID, AuthorID int64
	// Nonce is what the message was posted with, or empty.
	Nonce string
	// Timestamp is when Discord received it.
	Timestamp time.Time
	// Edited is when it was last edited, zero where it never was.
	Edited time.Time
	// EmbedTimestamps are those that embeds carry, in order; an embed without
	// one has none here.
	EmbedTimestamps []time.Time
	// Content is the text outside embeds. For messages of others it is empty
	// without a privileged intent.
	Content string
}

// Newest reads the channel's newest messages, the newest first, 1 to 100 of
// them. It is tried like [Client.Edit]. Discord answers a bot that lacks Read
// Message History with an empty list, not with an error.
func (c *Client) Newest(ctx context.Context, channel int64, most int) ([]Message, error) {
	const op = "read messages"
	path := channelPath(channel) + "/messages?limit=" + strconv.Itoa(min(max(most, 1), 100))
	var answer []struct {
		ID     snowflake `json:"id"`
		Author struct {
			ID snowflake `json:"id"`
		} `json:"author"`
		Nonce     any        `json:"nonce"` // A string or a number.
		Timestamp time.Time  `json:"timestamp"`
		Edited    *time.Time `json:"edited_timestamp"`
		Content   string     `json:"content"`
		Embeds    []struct {
			Timestamp *time.Time `json:"timestamp"`
		} `json:"embeds"`
	}
	err := retry(ctx, func() error {
		answer = nil
		return c.do(ctx, op, http.MethodGet, path, nil, &answer)
	})
	if err != nil {
		return nil, err
	}
	messages := make([]Message, 0, len(answer))
	for _, m := range answer {
		message := Message{ID: int64(m.ID), AuthorID: int64(m.Author.ID), Timestamp: m.Timestamp, Content: m.Content}
		if m.Edited != nil {
			message.Edited = *m.Edited
		}
		switch nonce := m.Nonce.(type) {
		case string:
			message.Nonce = nonce
		case float64:
			message.Nonce = strconv.FormatFloat(nonce, 'f', -1, 64)
		}
		for _, embed := range m.Embeds {
			if embed.Timestamp != nil {
				message.EmbedTimestamps = append(message.EmbedTimestamps, *embed.Timestamp)
			}
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// Channel is what [Client.Channel] tells of a channel.
type Channel struct {
	ID, ServerID int64
	Name         string
	// LastMessage is the id of the newest message, 0 where there never was one.
	// The message may be deleted by now.
	LastMessage int64
}

// Channel reads a channel. It costs a request, and tells whether the bot can see
// the channel (again) and when something was last posted there, for which it
// needs not read the history; whether it may write there, Discord does not say. It is tried like [Client.Edit].
func (c *Client) Channel(ctx context.Context, id int64) (Channel, error) {
	var answer struct {
		ID      snowflake `json:"id"`
		GuildID snowflake `json:"guild_id"`
		Name    string    `json:"name"`
		Last    snowflake `json:"last_message_id"`
	}
	err := retry(ctx, func() error {
		return c.do(ctx, "read channel", http.MethodGet, channelPath(id), nil, &answer)
	})
	if err != nil {
		return Channel{}, err
	}
	return Channel{ID: int64(answer.ID), ServerID: int64(answer.GuildID), Name: answer.Name, LastMessage: int64(answer.Last)}, nil
}

// epoch is the first millisecond of 2015, where Discord's ids start
// (https://discord.com/developers/docs/reference#snowflakes).
const epoch = 1_420_070_400_000

// TimeOf is when Discord made the id.
func TimeOf(id int64) time.Time { return time.UnixMilli(id>>22 + epoch).UTC() }

func channelPath(channel int64) string { return "/channels/" + strconv.FormatInt(channel, 10) }

// messageBody adds to a body what Post promises.
func messageBody(body json.RawMessage, nonce string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return nil, errors.New("the body is not a JSON object")
	}
	if len(nonce) > maxNonce {
		return nil, fmt.Errorf("a nonce of %d bytes, %d at most", len(nonce), maxNonce)
	}
	for _, name := range []string{"nonce", "enforce_nonce"} {
		if _, ok := fields[name]; ok {
			return nil, fmt.Errorf("the body has a field %q of its own", name)
		}
	}
	var added bytes.Buffer
	if nonce != "" {
		quoted, err := json.Marshal(nonce)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&added, `"nonce":%s,"enforce_nonce":true,`, quoted)
	}
	if _, ok := fields["allowed_mentions"]; !ok {
		added.WriteString(`"allowed_mentions":{"parse":[]},`)
	}
	rest := bytes.TrimLeft(body, " \t\r\n")[1:]
	if len(fields) == 0 {
		added.Truncate(max(added.Len()-1, 0)) // No field follows the last comma.
	}
	return append(append([]byte{'{'}, added.Bytes()...), rest...), nil
}

// snowflake is an id as Discord sends it: a decimal number in a string.
type snowflake int64

// UnmarshalJSON takes a string or a number, and 0 for null.
func (s *snowflake) UnmarshalJSON(raw []byte) error {
	text := string(bytes.Trim(raw, `"`))
	if text == "null" || text == "" {
		*s = 0
		return nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("an id that is not a number")
	}
	*s = snowflake(id)
	return nil
}

// String returns the id in decimal.
func (s snowflake) String() string { return strconv.FormatInt(int64(s), 10) }
