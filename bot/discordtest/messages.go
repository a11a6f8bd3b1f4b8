package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The flags of a message that a bot may set.
const (
	FlagSuppressEmbeds        = 1 << 2
	FlagEphemeral             = 1 << 6
	FlagLoading               = 1 << 7 // set by Discord on a deferral
	FlagSuppressNotifications = 1 << 12
	FlagVoiceMessage          = 1 << 13
	FlagComponentsV2          = 1 << 15
)

// Message is a message as a channel, or the user who sees an ephemeral one,
// shows it now. Its slices are shared: read them only.
type Message struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	// Interaction is the id of the interaction it answers; empty for a message
	// that was created by POST to the channel.
	Interaction string `json:"interaction,omitempty"`
	// Arrived is when the request that created it arrived.
	Arrived time.Time `json:"arrived"`
	// Body is that request's JSON, cut off at 64 KiB.
	Body       json.RawMessage   `json:"body"`
	Content    string            `json:"content"`
	Embeds     []Embed           `json:"embeds"`
	Components []json.RawMessage `json:"components"`
	Files      []string          `json:"files,omitempty"` // names of attachments
	Flags      int               `json:"flags"`
	// Nonce is the string or the number that was sent, without quotes.
	Nonce string `json:"nonce,omitempty"`
	// Repeats counts the requests that enforce_nonce answered with this one.
	Repeats int `json:"repeats"`
	// MentionsEveryone and Mentions say who was notified: what the content
	// mentions and allowed_mentions let through. Roles are written "&id".
	MentionsEveryone bool     `json:"mentions_everyone"`
	Mentions         []string `json:"mentions,omitempty"`
	Edits            []Edit   `json:"edits"`
	Deleted          bool     `json:"deleted"`
}

// Edit is one change of a message.
type Edit struct {
	At   time.Time       `json:"at"`
	Body json.RawMessage `json:"body"`
}

func (m *Message) snapshot() Message {
	c := *m
	c.Edits = slices.Clone(m.Edits)
	return c
}

// nonceEntry is a nonce that enforce_nonce remembers.
type nonceEntry struct {
	m  *Message
	at time.Time
}

// readable finds a channel that the bot can see, or the error.
func (s *Server) readable(id string) (*channel, answer, bool) {
	ch := s.channels[id]
	if ch == nil || ch.deleted {
		return nil, unknownChannel(), false
	}
	if g := s.guilds[ch.Guild]; g != nil && g.gone || ch.Missing&ViewChannel != 0 {
		return nil, missingAccess(), false
	}
	return ch, answer{}, true
}

// writable finds a channel that the bot can write to, or the error.
func (s *Server) writable(id string) (*channel, answer, bool) {
	ch, a, ok := s.readable(id)
	if !ok {
		return nil, a, false
	}
	need := SendMessages
	if ch.thread() {
		need = SendMessagesInThreads
	}
	switch {
	case !ch.text():
		return nil, notText(), false
	case ch.Missing&need != 0:
		return nil, missingPermission(), false
	case ch.Archived:
		return nil, archivedThread(), false
	}
	return ch, answer{}, true
}

// allowedCreateFlags are the flags that POST messages takes; it ignores others.
const allowedCreateFlags = FlagSuppressEmbeds | FlagSuppressNotifications | FlagVoiceMessage | FlagComponentsV2

func (s *Server) createMessage(c *call) answer {
	ch, a, ok := s.writable(c.channel)
	if !ok {
		return a
	}
	d, f, ok := parseMessage(c.body, false, 0)
	if !ok {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the body is not a JSON object")
		return invalidJSON()
	}
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	if len(d.embeds) > 0 && ch.Missing&EmbedLinks != 0 {
		if !ch.DropEmbeds {
			return missingPermission()
		}
		d.embeds = nil
	}
	if len(c.files) > 0 && ch.Missing&AttachFiles != 0 {
		return missingPermission()
	}
	if d.empty(len(c.files)) {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the message is empty")
		return emptyMessage()
	}
	key := ""
	if d.enforce && d.nonce != "" {
		key = d.nonce
		if e, ok := s.nonces[key]; ok && c.at.Sub(e.at) < s.opt.NonceWindow {
			if e.m.Channel != c.channel {
				s.stats.violation(ViolationNonceElsewhere, c.at, "channels "+e.m.Channel+" and "+c.channel)
			}
			if e.m.Deleted {
				return unknownMessage()
			}
			e.m.Repeats++
			s.stats.Repeats++
			return s.messageAnswer(e.m)
		}
	}
	m := &Message{
		ID: s.newID(c.at), Channel: c.channel, Arrived: c.at, Body: bounded(c.body),
		Content: d.content, Embeds: d.embeds, Components: d.components, Files: c.files,
		Flags: d.flags & allowedCreateFlags, Nonce: d.nonce,
		MentionsEveryone: d.everyone, Mentions: d.mentions,
	}
	s.keep(ch, m)
	if key != "" {
		s.rememberNonce(key, m, c.at)
	}
	s.stats.Messages++
	shown := m.snapshot()
	for _, hook := range s.onMessage {
		c.after = append(c.after, func() { hook(shown) })
	}
	return s.messageAnswer(m)
}

func (s *Server) keep(ch *channel, m *Message) {
	if len(ch.messages) >= s.opt.KeepMessages {
		ch.messages = slices.Delete(ch.messages, 0, 1)
	}
	ch.messages = append(ch.messages, m)
}

func (s *Server) rememberNonce(key string, m *Message, now time.Time) {
	if len(s.nonces) >= 65_536 {
		for k, e := range s.nonces {
			if now.Sub(e.at) >= s.opt.NonceWindow {
				delete(s.nonces, k)
			}
		}
	}
	s.nonces[key] = nonceEntry{m, now}
}

// find returns the message of c's path, or nil.
func (ch *channel) find(id string) *Message {
	for _, m := range slices.Backward(ch.messages) {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

func (s *Server) editMessage(c *call) answer {
	ch, a, ok := s.readable(c.channel)
	if !ok {
		return a
	}
	m := ch.find(c.param("message_id"))
	if m == nil {
		return unknownMessage()
	}
	if ch.Archived {
		return archivedThread()
	}
	if a, ok := s.change(c, m, m.Interaction != ""); !ok {
		return a
	}
	s.stats.Edits++
	return s.messageAnswer(m)
}

// change applies the body of c to m. Fields that it does not name stay.
func (s *Server) change(c *call, m *Message, interaction bool) (answer, bool) {
	d, f, ok := parseMessage(c.body, interaction, m.Flags)
	if !ok {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the body is not a JSON object")
		return invalidJSON(), false
	}
	if !f.ok() {
		return s.refuseForm(c, f), false
	}
	next := *m
	if d.set("content") {
		next.Content = d.content
		if m.Flags&FlagLoading != 0 { // only what is new notifies
			next.MentionsEveryone, next.Mentions = d.everyone, d.mentions
		}
	}
	if d.set("embeds") {
		next.Embeds = d.embeds
	}
	if d.set("components") {
		next.Components = d.components
	}
	if d.set("attachments") {
		next.Files = nil
	}
	next.Files = append(slices.Clone(next.Files), c.files...)
	next.Flags |= d.flags & (FlagSuppressEmbeds | FlagComponentsV2)
	if next.Content == "" && len(next.Embeds) == 0 && len(next.Components) == 0 && len(next.Files) == 0 {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the message is empty")
		return emptyMessage(), false
	}
	next.Edits = append(slices.Clone(m.Edits), Edit{At: c.at, Body: bounded(c.body)})
	*m = next
	return answer{}, true
}

func (s *Server) getMessage(c *call) answer {
	ch, a, ok := s.readable(c.channel)
	if !ok {
		return a
	}
	if ch.Missing&ReadMessageHistory != 0 {
		return missingPermission()
	}
	m := ch.find(c.param("message_id"))
	if m == nil {
		return unknownMessage()
	}
	return s.messageAnswer(m)
}

func (s *Server) deleteMessage(c *call) answer {
	ch, a, ok := s.readable(c.channel)
	if !ok {
		return a
	}
	m := ch.find(c.param("message_id"))
	if m == nil {
		return unknownMessage()
	}
	m.Deleted = true
	return noContent()
}

// listMessages returns the newest first, whichever side of an id was asked for.
func (s *Server) listMessages(c *call) answer {
	ch, a, ok := s.readable(c.channel)
	if !ok {
		return a
	}
	f := &form{}
	limit := 50
	if q := c.query.Get("limit"); q != "" {
		n, err := strconv.Atoi(q)
		if err != nil || n < 1 || n > 100 {
			f.add("NUMBER_TYPE_MAX", "int value should be between 1 and 100.", "limit")
		}
		limit = n
	}
	bound := func(name string) (uint64, bool) {
		q := c.query.Get(name)
		if q == "" {
			return 0, false
		}
		n, err := strconv.ParseUint(q, 10, 64)
		if err != nil {
			f.add("NUMBER_TYPE_COERCE", fmt.Sprintf("Value %q is not snowflake.", q), name)
		}
		return n, true
	}
	before, hasBefore := bound("before")
	after, hasAfter := bound("after")
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	list := []*Message{} // oldest first
	if ch.Missing&ReadMessageHistory == 0 {
		for _, m := range ch.messages {
			id, _ := strconv.ParseUint(m.ID, 10, 64)
			if m.Deleted || hasBefore && id >= before || hasAfter && id <= after {
				continue
			}
			list = append(list, m)
		}
	}
	if len(list) > limit {
		if hasAfter && !hasBefore {
			list = list[:limit] // those right after the id
		} else {
			list = list[len(list)-limit:]
		}
	}
	out := make([]any, 0, len(list))
	for _, m := range slices.Backward(list) {
		out = append(out, s.messageBody(m))
	}
	return jsonAnswer(http.StatusOK, out)
}

func (s *Server) messageAnswer(m *Message) answer {
	return jsonAnswer(http.StatusOK, s.messageBody(m))
}

// messageBody is m as REST and gateway write it.
func (s *Server) messageBody(m *Message) map[string]any {
	var edited any
	if n := len(m.Edits); n > 0 {
		edited = timestamp(m.Edits[n-1].At)
	}
	embeds, components := m.Embeds, m.Components
	if embeds == nil {
		embeds = []Embed{}
	}
	if components == nil {
		components = []json.RawMessage{}
	}
	files := []any{}
	for i, name := range m.Files {
		files = append(files, map[string]any{
			"id": strconv.Itoa(i), "filename": name, "size": 0,
			"url":       "https://cdn.discordapp.com/attachments/" + m.Channel + "/" + m.ID + "/" + name,
			"proxy_url": "https://media.discordapp.net/attachments/" + m.Channel + "/" + m.ID + "/" + name,
		})
	}
	mentions, roles := []any{}, []string{}
	for _, id := range m.Mentions {
		if role, ok := strings.CutPrefix(id, "&"); ok {
			roles = append(roles, role)
		} else {
			mentions = append(mentions, userBody(User{ID: id}))
		}
	}
	out := map[string]any{
		"id": m.ID, "channel_id": m.Channel, "type": 0, "content": m.Content,
		"author": s.botUser(), "timestamp": timestamp(m.Arrived), "edited_timestamp": edited,
		"tts": false, "pinned": false, "mention_everyone": m.MentionsEveryone,
		"mentions": mentions, "mention_roles": roles, "attachments": files,
		"embeds": embeds, "components": components, "flags": m.Flags,
	}
	if m.Nonce != "" {
		out["nonce"] = m.Nonce
	}
	if m.Interaction != "" {
		out["type"] = 20
		out["webhook_id"] = s.opt.AppID
		out["application_id"] = s.opt.AppID
	}
	return out
}

// Messages returns the messages that were created by POST in a channel, oldest
// first, deleted ones too; at most Options.KeepMessages of them.
func (s *Server) Messages(channel string) []Message {
	return s.filter(channel, func(m *Message) bool { return m.Interaction == "" })
}

// History returns what the channel shows, oldest first: the messages created by
// POST and the public answers to interactions, without deleted ones.
func (s *Server) History(channel string) []Message {
	return s.filter(channel, func(m *Message) bool { return !m.Deleted })
}

func (s *Server) filter(channel string, ok func(*Message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[channel]
	if ch == nil {
		return nil
	}
	var out []Message
	for _, m := range ch.messages {
		if ok(m) {
			out = append(out, m.snapshot())
		}
	}
	return out
}

// OnMessage has f called for every message created by POST, before it is
// answered and in the goroutine of its request; not for a repeat of a nonce.
func (s *Server) OnMessage(f func(Message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onMessage = append(s.onMessage, f)
}
