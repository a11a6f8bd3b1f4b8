package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// callback is POST /interactions/{id}/{token}/callback.
func (s *Server) callback(c *call) answer {
	it := s.interactions[c.param("interaction_token")]
	if it == nil || it.id != c.param("interaction_id") {
		return unknownInteraction()
	}
	if it.ack != 0 {
		s.stats.violation(ViolationSecondAnswer, c.at, it.describe())
		return alreadyAcknowledged()
	}
	if age := c.at.Sub(it.at); age > s.opt.AnswerDeadline {
		s.stats.violation(ViolationLateAnswer, c.at, fmt.Sprintf("%s after %v", it.describe(), age))
		return unknownInteraction()
	}
	var body struct {
		Type AnswerType      `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	f := &form{}
	if err := json.Unmarshal(c.body, &body); err != nil {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the body is not a JSON object")
		return invalidJSON()
	}
	if !it.takes(body.Type) {
		s.stats.violation(ViolationAnswerType, c.at, fmt.Sprintf("%s: type %d", it.describe(), body.Type))
		f.add("INTERACTION_RESPONSE_TYPE_INVALID", fmt.Sprintf("Response type %d is not valid for this interaction.", body.Type), "type")
		return f.answer()
	}
	if len(body.Data) == 0 || string(body.Data) == "null" {
		body.Data = json.RawMessage("{}")
	}
	m, a, ok := s.firstAnswer(c, it, body.Type, body.Data)
	if !ok {
		return a
	}
	it.ack, it.ackAt = body.Type, c.at
	s.stats.Unanswered--
	it.answered(Answer{At: c.at, Route: c.route, Type: body.Type, Body: bounded(c.body)})
	if c.query.Get("with_response") != "true" {
		return noContent()
	}
	out := map[string]any{}
	in := map[string]any{"id": it.id, "type": it.in.Type.number()}
	if m != nil {
		in["response_message_id"], in["response_message_loading"], in["response_message_ephemeral"] = m.ID, it.pending, it.ephemeral
	}
	if body.Type == AnswerMessage || body.Type == AnswerUpdate {
		out["resource"] = map[string]any{"type": body.Type, "message": s.messageBody(m)}
	}
	out["interaction"] = in
	return jsonAnswer(http.StatusOK, out)
}

func (it *interaction) describe() string {
	switch it.in.Type {
	case TypeComponent, TypeModal:
		return string(it.in.Type) + " " + it.in.CustomID
	}
	return string(it.in.Type) + " " + it.in.Command
}

// takes reports whether an interaction can be answered so.
func (it *interaction) takes(t AnswerType) bool {
	switch t {
	case AnswerMessage, AnswerDeferred:
		return it.in.Type != TypeAutocomplete
	case AnswerDeferredUpdate, AnswerUpdate:
		return it.in.Type == TypeComponent || it.in.Type == TypeModal && it.in.Message != ""
	case AnswerAutocomplete:
		return it.in.Type == TypeAutocomplete
	case AnswerModal:
		return it.in.Type == TypeCommand || it.in.Type == TypeComponent
	}
	return false
}

// firstAnswer applies the data of a callback. m is the message that it made or
// changed.
func (s *Server) firstAnswer(c *call, it *interaction, t AnswerType, data json.RawMessage) (m *Message, a answer, ok bool) {
	f := &form{}
	switch t {
	case AnswerMessage:
		d, f, ok := parseMessage(data, true, 0, "data")
		if !ok {
			return nil, invalidJSON(), false
		}
		if !f.ok() {
			return nil, s.refuseForm(c, f), false
		}
		if d.empty(len(c.files)) {
			s.stats.violation(ViolationForm, c.at, string(c.route)+": the message is empty")
			return nil, emptyMessage(), false
		}
		it.ephemeral = d.flags&FlagEphemeral != 0
		it.original = s.interactionMessage(c, it, d, data)
		return it.original, answer{}, true
	case AnswerDeferred:
		var body struct {
			Flags int `json:"flags"`
		}
		f.decode(data, &body, "data")
		if body.Flags&^FlagEphemeral != 0 {
			f.add("INTERACTION_DEFERRED_FLAGS", "Only EPHEMERAL may be set on a deferred response.", "data", "flags")
		}
		if !f.ok() {
			return nil, s.refuseForm(c, f), false
		}
		it.ephemeral, it.pending = body.Flags&FlagEphemeral != 0, true
		it.original = s.interactionMessage(c, it, &draft{flags: body.Flags | FlagLoading}, data)
		return it.original, answer{}, true
	case AnswerDeferredUpdate, AnswerUpdate:
		it.original = s.messageOf(it.in.Channel, it.in.Message)
		if it.original == nil { // the component of a message that the test did not name
			it.original = &Message{ID: s.newID(c.at), Channel: it.in.Channel, Interaction: it.id, Arrived: c.at, Content: "\u200b"}
		}
		it.ephemeral = it.original.Flags&FlagEphemeral != 0
		if t == AnswerDeferredUpdate {
			it.pending = true
			return it.original, answer{}, true
		}
		sent := *c
		sent.body = data
		if a, ok := s.change(&sent, it.original, true); !ok {
			return nil, a, false
		}
		return it.original, answer{}, true
	case AnswerAutocomplete:
		choices := s.checkChoices(f, data)
		if !f.ok() {
			return nil, s.refuseForm(c, f), false
		}
		it.choices = choices
		return nil, answer{}, true
	}
	s.checkModal(f, data)
	if !f.ok() {
		return nil, s.refuseForm(c, f), false
	}
	it.modal = bounded(data)
	return nil, answer{}, true
}

func (s *Server) checkChoices(f *form, data json.RawMessage) []Choice {
	var body struct {
		Choices []json.RawMessage `json:"choices"`
	}
	f.decode(data, &body, "data")
	if len(body.Choices) > 25 {
		f.add("BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.", "data", "choices")
	}
	out := []Choice{}
	for i, raw := range body.Choices {
		at := []string{"data", "choices", strconv.Itoa(i)}
		var ch Choice
		if !f.decode(raw, &ch, at...) {
			continue
		}
		f.describe(ch.Name, sub(at, "name"))
		switch v := ch.Value.(type) {
		case string:
			if length(v) > 100 {
				f.add("BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.", sub(at, "value")...)
			}
		case float64:
		default:
			f.add("BASE_TYPE_REQUIRED", "This field is required", sub(at, "value")...)
		}
		out = append(out, ch)
	}
	return out
}

func (s *Server) checkModal(f *form, data json.RawMessage) {
	var body struct {
		CustomID   string            `json:"custom_id"`
		Title      string            `json:"title"`
		Components []json.RawMessage `json:"components"`
	}
	f.decode(data, &body, "data")
	f.text(body.CustomID, 100, true, "data", "custom_id")
	f.text(body.Title, 45, true, "data", "title")
	if n := len(body.Components); n < 1 || n > 5 {
		f.add("BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.", "data", "components")
	}
}

// interactionMessage makes a message that answers it. A public one is seen in
// the channel too.
func (s *Server) interactionMessage(c *call, it *interaction, d *draft, body []byte) *Message {
	m := &Message{
		ID: s.newID(c.at), Channel: it.in.Channel, Interaction: it.id, Arrived: c.at, Body: bounded(body),
		Content: d.content, Embeds: d.embeds, Components: d.components, Files: c.files,
		Flags:            d.flags & (allowedCreateFlags | FlagEphemeral | FlagLoading),
		MentionsEveryone: d.everyone, Mentions: d.mentions,
	}
	if ch := s.channels[it.in.Channel]; m.Flags&FlagEphemeral == 0 && ch != nil {
		s.keep(ch, m)
	}
	return m
}

// webhook is everything under /webhooks/{app}/{token}.
func (s *Server) webhook(c *call) answer {
	it := s.interactions[c.param("webhook_token")]
	if it == nil || c.param("webhook_id") != s.opt.AppID {
		return unknownWebhook()
	}
	if c.at.Sub(it.at) > s.opt.TokenLifetime {
		s.stats.violation(ViolationToken15Minutes, c.at, it.describe())
		return badWebhookToken()
	}
	if it.ack == 0 {
		return unknownWebhook()
	}
	if c.route == RouteFollowup {
		return s.followup(c, it)
	}
	m := it.original
	id := c.param("message_id")
	if id != "@original" && (m == nil || m.ID != id) {
		m = nil
		for _, x := range it.followups {
			if x.ID == id {
				m = x
			}
		}
	}
	if m == nil || m.Deleted {
		return unknownMessage()
	}
	switch c.route {
	case RouteOriginalGet:
		return s.messageAnswer(m)
	case RouteOriginalDelete:
		m.Deleted = true
		it.answered(Answer{At: c.at, Route: c.route})
		return noContent()
	}
	return s.editOriginal(c, it, m)
}

func (s *Server) editOriginal(c *call, it *interaction, m *Message) answer {
	if a, ok := s.change(c, m, true); !ok {
		return a
	}
	if m == it.original {
		it.pending = false
		m.Flags &^= FlagLoading
	}
	it.answered(Answer{At: c.at, Route: c.route, Body: bounded(c.body)})
	return s.messageAnswer(m)
}

// followup creates a message beside the original. Where that is still a
// deferral, it takes its place, which Discord has deprecated.
func (s *Server) followup(c *call, it *interaction) answer {
	if it.pending && it.ack == AnswerDeferred {
		s.stats.violation(ViolationFollowupForEdit, c.at, it.describe())
		return s.editOriginal(c, it, it.original)
	}
	d, f, ok := parseMessage(c.body, true, 0)
	if !ok {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the body is not a JSON object")
		return invalidJSON()
	}
	if !f.ok() {
		return s.refuseForm(c, f)
	}
	if d.empty(len(c.files)) {
		s.stats.violation(ViolationForm, c.at, string(c.route)+": the message is empty")
		return emptyMessage()
	}
	m := s.interactionMessage(c, it, d, c.body)
	it.followups = append(it.followups, m)
	it.answered(Answer{At: c.at, Route: c.route, Body: bounded(c.body)})
	return s.messageAnswer(m)
}
