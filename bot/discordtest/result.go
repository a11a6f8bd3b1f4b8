package discordtest

import (
	"context"
	"encoding/json"
	"slices"
	"time"
)

// InteractionResult follows what becomes of an interaction. Its methods show
// its present state and may be called at any time.
type InteractionResult struct {
	s  *Server
	it *interaction
}

// ID is the interaction's id, a snowflake.
func (r *InteractionResult) ID() string { return r.it.id }

// Acked returns the type of the first answer and how long after the dispatch it
// arrived; 0 and 0 if there is none yet.
func (r *InteractionResult) Acked() (AnswerType, time.Duration) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.it.ack == 0 {
		return 0, 0
	}
	return r.it.ack, r.it.ackAt.Sub(r.it.at)
}

// Ephemeral reports whether only the person sees the answer, as the first one
// decided.
func (r *InteractionResult) Ephemeral() bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.it.ephemeral
}

// Choices returns what autocomplete was answered.
func (r *InteractionResult) Choices() []Choice {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return slices.Clone(r.it.choices)
}

// Modal returns the data of a modal that was opened, or nil.
func (r *InteractionResult) Modal() json.RawMessage {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.it.modal
}

// Answers returns every accepted answer, in order.
func (r *InteractionResult) Answers() []Answer {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return slices.Clone(r.it.answers)
}

// Followups returns the messages beside the original, oldest first.
func (r *InteractionResult) Followups() []Message {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var out []Message
	for _, m := range r.it.followups {
		out = append(out, m.snapshot())
	}
	return out
}

// Message returns the answer as it is shown now. It reports false while there
// is none: nothing answered yet, "thinking", deleted, or not a message.
func (r *InteractionResult) Message() (Message, bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.message()
}

func (r *InteractionResult) message() (Message, bool) {
	if r.it.original == nil || r.it.pending || r.it.original.Deleted {
		return Message{}, false
	}
	return r.it.original.snapshot(), true
}

// Final waits until the person sees an answer that is not "thinking", and
// returns it. Later edits are seen through Message. It fails with ErrNoMessage
// where none can come, and with ErrUnanswered when the token has run out.
func (r *InteractionResult) Final(ctx context.Context) (Message, error) {
	r.s.mu.Lock()
	left := time.Until(r.it.at.Add(r.s.opt.TokenLifetime))
	r.s.mu.Unlock()
	expired := time.NewTimer(left)
	defer expired.Stop()
	for {
		r.s.mu.Lock()
		m, ok := r.message()
		none := r.it.ack == AnswerAutocomplete || r.it.ack == AnswerModal || r.it.original != nil && r.it.original.Deleted
		changed := r.it.changed
		r.s.mu.Unlock()
		if ok {
			return m, nil
		}
		if none {
			return Message{}, ErrNoMessage
		}
		select {
		case <-changed:
		case <-expired.C:
			return Message{}, ErrUnanswered
		case <-ctx.Done():
			return Message{}, ctx.Err()
		case <-r.s.done:
			return Message{}, ErrClosed
		}
	}
}
