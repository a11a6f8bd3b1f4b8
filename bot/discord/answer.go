package discord

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"
)

// response is how an interaction is to be answered.
type response struct {
	slow, ephemeral, update bool
}

// first is the kind of an answer that was not deferred.
func (p response) first() discordgo.InteractionResponseType {
	if p.update {
		return discordgo.InteractionResponseUpdateMessage
	}
	return discordgo.InteractionResponseChannelMessageWithSource
}

// deferral is the answer that keeps the person waiting. Ephemeral is the only
// flag it may have, and decides how the later answer is shown.
func (p response) deferral() callback {
	if p.update {
		return callback{Type: discordgo.InteractionResponseDeferredMessageUpdate}
	}
	d := callback{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}
	if p.ephemeral {
		d.Data = map[string]discordgo.MessageFlags{"flags": discordgo.MessageFlagsEphemeral}
	}
	return d
}

type runner func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData

// result is what a function, or what stood in its place, gave back.
type result struct {
	data *discordgo.InteractionResponseData
	// replayed means that the interaction was carried out before: no answer.
	replayed bool
	// took is how long the function ran, 0 if it did not.
	took time.Duration
}

// run calls a command's function and sees to its answer. The function's context
// comes from ctx; answers are given on answering, which outlives it.
func (r *Router) run(ctx, answering context.Context, c call, run runner, p response) {
	handling, cancel := context.WithDeadline(ctx, c.came.Add(handlerWithin))
	defer cancel()
	results := make(chan result, 1)
	started := make(chan struct{}) // closed when the function of a slow command starts
	r.begin()
	go func() {
		defer r.end()
		res := r.carryOut(handling, c, run, func() {
			if p.slow {
				close(started)
			}
		})
		results <- res
		if r.o.Done != nil && res.took > 0 {
			defer r.recovered(ctx, c.name(), c.Token)
			r.o.Done(c.name(), res.took)
		}
	}()

	timer := time.NewTimer(time.Until(c.came.Add(deferAfter)))
	defer timer.Stop()
	deferred := false
	select {
	case res := <-results:
		r.finish(answering, c, deferred, res, p)
		return
	case <-started:
	case <-timer.C:
	}
	deferred = true
	if err := r.first(answering, c, p.deferral()); err != nil && KindOf(err) != Acknowledged {
		// Discord may have taken it all the same, so the command goes on and
		// its answer will tell.
		r.log.WarnContext(ctx, "deferring failed", "command", c.name(), "err", err)
	}

	select {
	case res := <-results:
		r.finish(answering, c, deferred, res, p)
		return
	case <-handling.Done():
	}
	grace := time.NewTimer(handlerGrace)
	defer grace.Stop()
	select {
	case res := <-results:
		r.finish(answering, c, deferred, res, p)
	case <-grace.C:
		r.log.ErrorContext(ctx, "command did not end in time", "command", c.name())
		r.finish(answering, c, deferred, result{data: r.apology(c)}, p)
	}
}

// carryOut runs the function, unless the interaction is a replay or the guard
// has another answer. A panic becomes an apology.
func (r *Router) carryOut(ctx context.Context, c call, run runner, starts func()) (res result) {
	var began time.Time
	defer func() {
		if v := recover(); v != nil {
			logPanic(ctx, r.log, c.name(), v, c.Token)
			res = result{data: r.apology(c)}
		}
		if !began.IsZero() {
			res.took = max(time.Since(began), 1)
		}
	}()
	if r.o.First != nil {
		asking, cancel := context.WithTimeout(ctx, firstWithin)
		first := r.o.First(asking, c.id)
		late := asking.Err() != nil
		cancel()
		// A store that does not answer must not keep people from an answer.
		if !first && !late {
			return result{replayed: true}
		}
	}
	if r.o.Guard != nil && c.Type == discordgo.InteractionApplicationCommand {
		instead, done := r.o.Guard(ctx, c.press())
		if done != nil {
			defer done()
		}
		if instead != nil {
			instead.Flags |= discordgo.MessageFlagsEphemeral
			return result{data: instead}
		}
	}
	starts()
	began = time.Now()
	res.data = run(ctx, c.Interaction)
	if res.data == nil {
		r.log.ErrorContext(ctx, "command without an answer", "command", c.name())
		res.data = r.apology(c)
	}
	return res
}

// finish gives the answer, if there is to be one.
func (r *Router) finish(ctx context.Context, c call, deferred bool, res result, p response) {
	if res.replayed {
		r.log.InfoContext(ctx, "interaction replayed", "command", c.name())
		return
	}
	r.conclude(ctx, c, deferred, res.data, p)
}

// final completes an answer, in a copy: a command may return the same one to
// several people.
func final(data *discordgo.InteractionResponseData, p response) *discordgo.InteractionResponseData {
	whole := *data
	whole.AllowedMentions = nobodyMentioned()
	if p.ephemeral {
		whole.Flags |= discordgo.MessageFlagsEphemeral
	}
	if whole.Embeds == nil {
		whole.Embeds = []*discordgo.MessageEmbed{}
	}
	if whole.Components == nil {
		whole.Components = []discordgo.MessageComponent{}
	}
	return &whole
}

// conclude gives the one final answer. It goes on trying while the token lives,
// that is until ctx ends.
func (r *Router) conclude(ctx context.Context, c call, deferred bool, data *discordgo.InteractionResponseData, p response) {
	data = final(data, p)
	if !deferred {
		err := r.first(ctx, c, callback{Type: p.first(), Data: data})
		switch KindOf(err) {
		case Unknown, Acknowledged:
			return
		case Rejected:
			r.log.ErrorContext(ctx, "answer rejected", "command", c.name(), "err", err)
			if err := r.first(ctx, c, callback{Type: p.first(), Data: final(r.apology(c), p)}); err != nil {
				r.log.WarnContext(ctx, "answer lost", "command", c.name(), "err", err)
			}
			return
		case NotFound:
			// Too late, or shown already and only the report of it was lost.
			r.log.WarnContext(ctx, "interaction unknown to Discord", "command", c.name(), "err", err)
			return
		}
		// The answer may stand there or not; if it does, the edit changes
		// nothing, and if Discord has not seen it, the edit is refused.
		r.log.WarnContext(ctx, "answering failed", "command", c.name(), "err", err)
	}
	if err := r.edit(ctx, c, data); err != nil {
		r.log.WarnContext(ctx, "answer lost", "command", c.name(), "err", err)
	}
}

// outlive returns a context that ends at the deadline, or a few seconds after
// ctx was cancelled, whichever is first.
func outlive(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	var mu sync.Mutex
	var timer *time.Timer
	stop := context.AfterFunc(ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		timer = time.AfterFunc(stopGrace, cancel)
	})
	return longer, func() {
		stop()
		cancel()
		mu.Lock()
		defer mu.Unlock()
		if timer != nil {
			timer.Stop()
		}
	}
}

// first makes the first answer. It is tried again after network errors, 5xx and
// 429, until 2.5 s after the interaction came, and once in any case. That an
// earlier try did arrive shows in the next one's code 40060.
func (r *Router) first(ctx context.Context, c call, answer callback) error {
	last := c.came.Add(answerWithin)
	pause := 100 * time.Millisecond
	sent := false // an earlier try may have arrived
	for {
		attempt, done := context.WithTimeout(ctx, attemptWithin)
		err := r.client.respond(attempt, c.Interaction, answer)
		done()
		if err == nil {
			return nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return err
		}
		if sent && (e.Kind == Acknowledged || e.Kind == NotFound) {
			return nil
		}
		again := e.transient() || e.Kind == Canceled && ctx.Err() == nil
		wait := max(jitter(pause), e.RetryAfter)
		if !again || time.Now().Add(wait).After(last) {
			return err
		}
		sent = sent || e.Maybe
		if sleep(ctx, wait) != nil {
			return err
		}
		pause *= 2
	}
}

// edit replaces the deferred answer, again and again until it is done, refused
// for good, or ctx ends with the token.
func (r *Router) edit(ctx context.Context, c call, data *discordgo.InteractionResponseData) error {
	pause := 500 * time.Millisecond
	apologised := false
	for {
		err := r.client.editOriginal(ctx, c.Interaction, data)
		if err == nil {
			return nil
		}
		e, ok := errors.AsType[*Error](err)
		switch {
		case !ok:
			return err
		case e.Kind == Rejected && !apologised:
			// The answer itself is wrong; the person still gets one.
			r.log.ErrorContext(ctx, "answer rejected", "command", c.name(), "err", err)
			data, apologised = r.apology(c), true
			continue
		case !e.transient() && e.Kind != OutOfBudget:
			return err
		}
		wait := max(jitter(pause), e.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return err
		}
		if sleep(ctx, wait) != nil {
			return err
		}
		pause = min(2*pause, 30*time.Second)
	}
}

// The sizes of an autocomplete answer.
const (
	maxChoices    = 25
	maxChoiceName = 100
)

// complete answers an autocomplete, with nothing if the command takes too long.
func (r *Router) complete(ctx, answering context.Context, c call) {
	command := r.commands[c.name()]
	if command.Autocomplete == nil {
		r.choose(answering, c, nil)
		return
	}
	asking, cancel := context.WithDeadline(ctx, c.came.Add(choiceWithin))
	defer cancel()
	results := make(chan []*discordgo.ApplicationCommandOptionChoice, 1)
	r.begin()
	go func() {
		defer r.end()
		var offered []*discordgo.ApplicationCommandOptionChoice
		defer func() { results <- offered }()
		defer r.recovered(ctx, c.name(), c.Token)
		offered = command.Autocomplete(asking, c.Interaction)
	}()
	var offered []*discordgo.ApplicationCommandOptionChoice
	select {
	case offered = <-results:
	case <-asking.Done():
		r.log.WarnContext(ctx, "autocomplete late", "command", c.name())
	}
	r.choose(answering, c, offered)
}

func (r *Router) choose(ctx context.Context, c call, offered []*discordgo.ApplicationCommandOptionChoice) {
	fit := make([]*discordgo.ApplicationCommandOptionChoice, 0, min(len(offered), maxChoices))
	for _, choice := range offered {
		if choice == nil || choice.Name == "" || len(fit) == maxChoices {
			continue
		}
		short := *choice
		if utf8.RuneCountInString(short.Name) > maxChoiceName {
			short.Name = string([]rune(short.Name)[:maxChoiceName])
		}
		fit = append(fit, &short)
	}
	err := r.first(ctx, c, callback{
		Type: discordgo.InteractionApplicationCommandAutocompleteResult,
		Data: choices{fit},
	})
	if err != nil && KindOf(err) != NotFound && KindOf(err) != Acknowledged {
		r.log.WarnContext(ctx, "autocomplete not answered", "command", c.name(), "err", err)
	}
}

// press describes the call to a guard.
func (c call) press() Press {
	p := Press{
		Interaction: c.id,
		User:        c.person(),
		Channel:     number(c.ChannelID),
		Server:      number(c.GuildID),
		Command:     c.name(),
		Locale:      string(c.Locale),
	}
	if data, ok := c.Data.(discordgo.ApplicationCommandInteractionData); ok {
		p.Options = canonical(data.Options)
	}
	return p
}

// canonical writes options as JSON, sorted by name, so that equal options have
// equal texts and different ones can't.
func canonical(options []*discordgo.ApplicationCommandInteractionDataOption) string {
	type pair [2]any
	pairs := make([]pair, 0, len(options))
	for _, o := range options {
		switch {
		case o == nil:
		case len(o.Options) > 0:
			pairs = append(pairs, pair{o.Name, canonical(o.Options)})
		default:
			pairs = append(pairs, pair{o.Name, o.Value})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return strings.Compare(a[0].(string), b[0].(string)) })
	text, err := json.Marshal(pairs)
	if err != nil { // Values come from JSON, so they can go back.
		return ""
	}
	return string(text)
}
