package discord

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Command is a slash command. Its functions may be called from many goroutines;
// what they panic with, a wrong type of option for one, becomes an apology.
type Command struct {
	// Name is the default one, which interactions carry whatever the locale.
	Name string
	// Slow commands are deferred at once, others when they have not returned
	// after 700 ms.
	Slow bool
	// Ephemeral answers are seen by the person only. A command that is not may
	// set the flag on a single answer; it is lost where the answer was deferred.
	Ephemeral bool
	// Run returns the answer, which mentions nobody, whatever it allows. Its
	// context ends 14.5 minutes after the interaction came, or when the bot
	// stops. Nil becomes an apology.
	Run func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData
	// Autocomplete returns choices for the option that has the focus; after
	// 300 ms none are shown. The first 25 count. Nil: there are none.
	Autocomplete func(ctx context.Context, i *discordgo.Interaction) []*discordgo.ApplicationCommandOptionChoice
}

// Component answers buttons, menus and modals. Who may press them is for Run to
// check: Discord's own gate is for slash commands only.
type Component struct {
	// Update replaces the message that the component is on; else the answer is
	// a new message.
	Update bool
	// Slow and Ephemeral are as in [Command].
	Slow, Ephemeral bool
	// Run is as in [Command].
	Run func(ctx context.Context, i *discordgo.Interaction) *discordgo.InteractionResponseData
}

// Press is one use of a command, as a [Guard] sees it.
type Press struct {
	// Interaction is its id. Server is 0 in a direct message.
	Interaction, User, Channel, Server int64
	// Command is its default name.
	Command string
	// Options holds names and values in an order of their own, so that two
	// presses with the same options have the same text.
	Options string
	// Locale is the person's.
	Locale string
}

// Guard is asked before a command runs. If instead is not nil it becomes the
// answer, ephemeral, and the command does not run. Done, unless nil, is called
// once when the command has ended. A guard must return within milliseconds.
type Guard func(ctx context.Context, p Press) (instead *discordgo.InteractionResponseData, done func())

// RouterOptions are the settings of a [Router].
type RouterOptions struct {
	Commands []Command
	// Components by the part of the custom id before its first colon.
	Components map[string]Component
	// Apology is what a person gets when a command has failed. Nil: a sentence
	// in English.
	Apology func(locale string) string
	// Busy is what a person gets when too many commands are running. Nil: a
	// sentence in English.
	Busy func(locale string) string
	// First reports whether an interaction's id is new, and remembers it, so
	// that one that Discord replays after a resume is not carried out twice,
	// not even by the next process. The ids of this process are remembered in
	// any case. Nil: only they are.
	First func(ctx context.Context, id int64) bool
	// Guard may be nil.
	Guard Guard
	// Done is told how long each command's or component's function took, after
	// its answer is on its way. It may be nil.
	Done func(command string, took time.Duration)
	// Most is how many interactions are worked on at a time. 0: 256.
	Most int
	// Logger may be nil: [slog.Default].
	Logger *slog.Logger
}

// The times of an interaction, from when it came
// (https://discord.com/developers/docs/interactions/receiving-and-responding).
const (
	deferAfter    = 700 * time.Millisecond
	answerWithin  = 2500 * time.Millisecond // Discord: 3 s
	attemptWithin = time.Second
	handlerWithin = 14*time.Minute + 30*time.Second
	tokenLife     = 15*time.Minute - 5*time.Second // Discord: 15 min
	choiceWithin  = 300 * time.Millisecond
	firstWithin   = 300 * time.Millisecond
	// handlerGrace is how long a function may take to see that its context has
	// ended, and stopGrace how long both that and its answer may take while the
	// bot stops.
	handlerGrace = 2 * time.Second
	stopGrace    = 5 * time.Second
)

// Router answers interactions with what the commands return. Each interaction
// ends in exactly one answer, whatever fails.
type Router struct {
	client   *Client
	o        RouterOptions
	log      *slog.Logger
	commands map[string]Command
	places   chan struct{}
	refusals chan struct{} // places of those who are told that it is full
	seen     seen

	mu      sync.Mutex // guards running and idle
	running int
	idle    []chan struct{}
}

// NewRouter makes a router that answers through c. It starts nothing.
func NewRouter(c *Client, o RouterOptions) *Router {
	if o.Most <= 0 {
		o.Most = 256
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Apology == nil {
		o.Apology = func(string) string { return "Something went wrong here. Please try again in a minute." }
	}
	if o.Busy == nil {
		o.Busy = func(string) string { return "Too much is going on at the moment. Please try again in a minute." }
	}
	r := &Router{
		client:   c,
		o:        o,
		log:      o.Logger,
		commands: make(map[string]Command, len(o.Commands)),
		places:   make(chan struct{}, o.Most),
		refusals: make(chan struct{}, o.Most),
	}
	for _, command := range o.Commands {
		r.commands[command.Name] = command
	}
	return r
}

// Handle starts to work on an interaction and returns at once. The context
// should end when the bot stops; functions that run see it. [Router.Wait] waits
// for what was started.
func (r *Router) Handle(ctx context.Context, i *discordgo.Interaction) {
	came := time.Now()
	if i == nil || i.ID == "" || i.Token == "" || i.Type == discordgo.InteractionPing {
		return
	}
	id, err := strconv.ParseInt(i.ID, 10, 64)
	if err != nil || !r.seen.first(id, came) {
		return
	}
	work := r.serve
	place := r.places
	select {
	case place <- struct{}{}:
	default:
		work, place = r.refuse, r.refusals
		select {
		case place <- struct{}{}:
		default:
			r.log.WarnContext(ctx, "interaction dropped", "reason", "too many under way")
			return
		}
	}
	r.begin()
	go func() {
		defer r.end()
		defer func() { <-place }()
		defer r.recovered(ctx, "interaction", i.Token)
		answering, cancel := outlive(ctx, came.Add(tokenLife))
		defer cancel()
		work(ctx, answering, call{Interaction: i, id: id, came: came})
	}()
}

// Wait returns when nothing is under way any more, or with ctx's error.
func (r *Router) Wait(ctx context.Context) error {
	r.mu.Lock()
	if r.running == 0 {
		r.mu.Unlock()
		return nil
	}
	idle := make(chan struct{})
	r.idle = append(r.idle, idle)
	r.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Router) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running++
}

func (r *Router) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	if r.running == 0 {
		for _, idle := range r.idle {
			close(idle)
		}
		r.idle = nil
	}
}

// recovered ends a panic with a line in the log. It must be deferred directly.
func (r *Router) recovered(ctx context.Context, where, secret string) {
	if v := recover(); v != nil {
		logPanic(ctx, r.log, where, v, secret)
	}
}

// logPanic logs what a function panicked with, less the secret, and where.
func logPanic(ctx context.Context, log *slog.Logger, where string, v any, secret string) {
	value := redact(fmt.Sprint(v))
	if secret != "" {
		value = strings.ReplaceAll(value, secret, hidden)
	}
	log.ErrorContext(ctx, "panic", "in", where, "value", value, "stack", string(debug.Stack()))
}

// call is one interaction that is being worked on.
type call struct {
	*discordgo.Interaction
	id   int64
	came time.Time
}

// name is the command's, or the component's prefix.
func (c call) name() string {
	switch data := c.Data.(type) {
	case discordgo.ApplicationCommandInteractionData:
		return data.Name
	case discordgo.MessageComponentInteractionData:
		prefix, _, _ := strings.Cut(data.CustomID, ":")
		return prefix
	case discordgo.ModalSubmitInteractionData:
		prefix, _, _ := strings.Cut(data.CustomID, ":")
		return prefix
	}
	return ""
}

// person returns the id of who pressed; in a direct message Member is nil.
func (c call) person() int64 {
	var id string
	switch {
	case c.Member != nil && c.Member.User != nil:
		id = c.Member.User.ID
	case c.User != nil:
		id = c.User.ID
	}
	return number(id)
}

// number reads an id, 0 where there is none.
func number(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// serve works on an interaction until it is answered.
func (r *Router) serve(ctx, answering context.Context, c call) {
	switch c.Type {
	case discordgo.InteractionApplicationCommandAutocomplete:
		r.complete(ctx, answering, c)
	case discordgo.InteractionApplicationCommand:
		command, ok := r.commands[c.name()]
		if !ok || command.Run == nil {
			r.log.WarnContext(ctx, "unknown command", "command", c.name())
			r.conclude(answering, c, false, r.apology(c), response{})
			return
		}
		r.run(ctx, answering, c, command.Run, response{slow: command.Slow, ephemeral: command.Ephemeral})
	case discordgo.InteractionMessageComponent, discordgo.InteractionModalSubmit:
		component, ok := r.o.Components[c.name()]
		if !ok || component.Run == nil {
			r.log.WarnContext(ctx, "unknown component", "component", c.name())
			r.conclude(answering, c, false, r.apology(c), response{})
			return
		}
		r.run(ctx, answering, c, component.Run, response{
			slow: component.Slow, ephemeral: component.Ephemeral,
			// Only a modal that was opened from a component has a message.
			update: component.Update && c.Message != nil,
		})
	default:
		r.log.WarnContext(ctx, "unknown kind of interaction", "kind", int(c.Type))
		r.conclude(answering, c, false, r.apology(c), response{})
	}
}

// refuse answers an interaction for which there is no place.
func (r *Router) refuse(ctx, answering context.Context, c call) {
	r.log.WarnContext(ctx, "interaction refused", "command", c.name(), "reason", "too many under way")
	if c.Type == discordgo.InteractionApplicationCommandAutocomplete {
		r.choose(answering, c, nil)
		return
	}
	r.conclude(answering, c, false, &discordgo.InteractionResponseData{
		Content: r.o.Busy(string(c.Locale)),
		Flags:   discordgo.MessageFlagsEphemeral,
	}, response{})
}

func (r *Router) apology(c call) *discordgo.InteractionResponseData {
	return &discordgo.InteractionResponseData{
		Content: r.o.Apology(string(c.Locale)),
		Flags:   discordgo.MessageFlagsEphemeral,
	}
}
