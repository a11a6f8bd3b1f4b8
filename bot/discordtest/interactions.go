package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// InteractionType is what a person did.
type InteractionType string

// The types of interactions. The zero value is a command.
const (
	TypeCommand      InteractionType = "command"
	TypeAutocomplete InteractionType = "autocomplete"
	TypeComponent    InteractionType = "component"
	TypeModal        InteractionType = "modal"
)

func (t InteractionType) number() int {
	switch t {
	case TypeComponent:
		return 3
	case TypeAutocomplete:
		return 4
	case TypeModal:
		return 5
	}
	return 2
}

// AnswerType is the type of a first answer.
// https://discord.com/developers/docs/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type
type AnswerType int

// The answers to interactions. Zero is none yet.
const (
	AnswerMessage        AnswerType = 4
	AnswerDeferred       AnswerType = 5
	AnswerDeferredUpdate AnswerType = 6
	AnswerUpdate         AnswerType = 7
	AnswerAutocomplete   AnswerType = 8
	AnswerModal          AnswerType = 9
)

// The errors of [Server.Interact] and [InteractionResult.Final].
var (
	// ErrNoSession: no gateway session of that guild's shard, and no OnEvent
	// function, is there to receive it.
	ErrNoSession = errors.New("discordtest: no gateway session")
	// ErrUnanswered: "The application did not respond" within 3 s.
	ErrUnanswered = errors.New("discordtest: the application did not respond")
	// ErrNoMessage: the answer is not a message (a modal, autocomplete), or it
	// was deleted.
	ErrNoMessage = errors.New("discordtest: the answer has no message")
	// ErrNotAllowed: Discord itself keeps that person from using the command.
	ErrNotAllowed = errors.New("discordtest: the person may not use this command")
	// ErrClosed: the Server was closed meanwhile.
	ErrClosed = errors.New("discordtest: closed")
)

// Option is an option of a command as a person gave it.
type Option struct {
	Name string `json:"name"`
	// Value is a string, a bool or a number.
	Value any `json:"value,omitempty"`
	// Focused is the option that autocomplete is asked for.
	Focused bool `json:"focused,omitempty"`
	// Options are a subcommand's; it has no Value.
	Options []Option `json:"options,omitempty"`
}

// Interaction is what a person does in Discord.
type Interaction struct {
	Type InteractionType `json:"type"`
	// Guild and Channel are where. An empty Guild is a direct message, whose
	// Channel may be empty too.
	Guild   string `json:"guild"`
	Channel string `json:"channel"`
	User    User   `json:"user"`
	// Locale is the person's language; User.Locale if empty, else "en-US".
	Locale string `json:"locale"`
	// GuildLocale is the guild's PreferredLocale if empty.
	GuildLocale string `json:"guild_locale"`
	// Command and Options are of TypeCommand and TypeAutocomplete.
	Command string   `json:"command"`
	Options []Option `json:"options"`
	// CustomID and Values are of TypeComponent, CustomID and Fields (by their
	// custom ids) of TypeModal. Message is the id of the message whose
	// component was used; needed for AnswerUpdate to change it.
	CustomID string            `json:"custom_id"`
	Values   []string          `json:"values"`
	Fields   map[string]string `json:"fields"`
	Message  string            `json:"message"`
	// MemberPermissions are the person's in the channel; zero is Manager.
	MemberPermissions Permission `json:"member_permissions"`
	// AppPermissions are the bot's; zero is Member without what the channel
	// says is missing.
	AppPermissions Permission `json:"app_permissions"`
}

// Choice is a choice that autocomplete offers.
type Choice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Answer is one request that answered an interaction and was accepted.
type Answer struct {
	At    time.Time `json:"at"`
	Route Route     `json:"route"`
	// Type is a callback's; 0 for webhook requests.
	Type AnswerType      `json:"type,omitempty"`
	Body json.RawMessage `json:"body"`
}

// interaction is an interaction on its way; Server.mu guards it.
type interaction struct {
	in        Interaction
	id, token string
	at        time.Time
	payload   map[string]any

	ack       AnswerType
	ackAt     time.Time
	ephemeral bool
	pending   bool // deferred and not yet answered
	choices   []Choice
	modal     json.RawMessage
	original  *Message
	followups []*Message
	answers   []Answer
	changed   chan struct{} // closed and replaced at every answer
}

func (it *interaction) answered(a Answer) {
	it.answers = append(it.answers, a)
	close(it.changed)
	it.changed = make(chan struct{})
}

// Interact does what a person does, sends INTERACTION_CREATE and waits for the
// first answer, 3 s at most. With ErrUnanswered (and when ctx ends) the result
// is there too and goes on being filled. What Discord would not let the person
// send is an error without a result: an unknown channel, a command that is not
// registered though others are, a missing required option, a choice that is not
// offered, a command that the person may not use.
func (s *Server) Interact(ctx context.Context, in Interaction) (*InteractionResult, error) {
	s.mu.Lock()
	it, err := s.prepare(in, time.Now())
	if err == nil && !s.dispatch(in.Guild, 0, "INTERACTION_CREATE", it.payload) {
		err = ErrNoSession
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	s.stats.Interactions++
	s.stats.Unanswered++ // until it is answered
	s.interactions[it.token] = it
	for token, old := range s.interactions {
		if it.at.Sub(old.at) > s.opt.TokenLifetime+time.Minute {
			delete(s.interactions, token)
		}
	}
	changed := it.changed
	s.mu.Unlock()
	return s.await(ctx, it, changed)
}

func (s *Server) await(ctx context.Context, it *interaction, changed chan struct{}) (*InteractionResult, error) {
	r := &InteractionResult{s, it}
	late := time.NewTimer(s.opt.AnswerDeadline)
	defer late.Stop()
	select {
	case <-changed:
		return r, nil
	case <-late.C:
		// Arrivals on the very last instant still count.
		if ack, _ := r.Acked(); ack != 0 {
			return r, nil
		}
		return r, ErrUnanswered
	case <-ctx.Done():
		return r, ctx.Err()
	case <-s.done:
		return r, ErrClosed
	}
}

// Replay sends an interaction's INTERACTION_CREATE again, with its id and token,
// as the gateway may after a resume. It does not wait for an answer: the first
// one was given, and another gets 40060.
func (s *Server) Replay(r *InteractionResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dispatch(r.it.in.Guild, 0, "INTERACTION_CREATE", r.it.payload) {
		return ErrNoSession
	}
	return nil
}

// OnEvent has f called for every event that the gateway dispatches, whether or
// not a session receives it: the way to see interactions in virtual time, where
// there are no sockets. data is the event's JSON. The calls come in order, one at
// a time, from a goroutine that Close waits for.
func (s *Server) OnEvent(f func(event string, data []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onEvent = append(s.onEvent, f)
}
