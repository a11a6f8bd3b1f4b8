package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"
)

// Ready tells that a shard has a new session.
type Ready struct {
	AppID, UserID int64
	// Guilds are the servers that the bot is in, of this shard's share. A
	// server that is not among them any more is gone.
	Guilds []int64
	// Shard counts from 0, Shards is their number.
	Shard, Shards int
}

// ServerKind says what happened to a server.
type ServerKind uint8

// What may happen to a server.
const (
	// Here: the bot is in the server, newly or again, or its name has changed.
	Here ServerKind = iota + 1
	// Outage: Discord can't serve it at present; everything stays as it is.
	Outage
	// Gone: the bot was removed, or the server deleted.
	Gone
)

// String returns the kind in a lower-case word.
func (k ServerKind) String() string {
	switch k {
	case Here:
		return "here"
	case Outage:
		return "outage"
	case Gone:
		return "gone"
	default:
		return "unknown"
	}
}

// ServerEvent tells what happened to a server.
type ServerEvent struct {
	ID int64
	// Name and Locale are set with [Here] only. The locale is en-US unless the
	// server is a Community.
	Name, Locale string
	Kind         ServerKind
	Shard        int
}

// ChannelEvent tells that a channel or a thread was deleted.
type ChannelEvent struct {
	ID, Server int64
	Shard      int
}

// GatewayOptions are the settings of a [Gateway]. Client is needed.
type GatewayOptions struct {
	// Client gives the token and the gateway's address.
	Client *Client
	// Intents are what is asked for; interactions come in any case. 0: Guilds.
	Intents discordgo.Intent
	// Shards is their number. 0: as many as Discord recommends where that means
	// more than 2,500 servers, else one.
	Shards int
	// OnReady, OnServer and OnChannel are called one after the other, in the
	// order of the events of a shard, and may take their time: the events
	// queue, and when the queue is full the connections are read more slowly;
	// none is lost. Each may be nil.
	OnReady   func(ctx context.Context, r Ready)
	OnServer  func(ctx context.Context, e ServerEvent)
	OnChannel func(ctx context.Context, e ChannelEvent)
	// Queue is how many events may wait. 0: 4,096.
	Queue int
	// Router gets the interactions. It may be nil.
	Router *Router
	// Logger may be nil: [slog.Default].
	Logger *slog.Logger
	// Timing is for tests; its zero value is right for Discord.
	Timing GatewayTiming
}

// GatewayTiming are the waits of a [Gateway]. Each 0 is the default.
type GatewayTiming struct {
	Address       time.Duration // for the answer that names the gateway; 5 s
	Dial          time.Duration // until the connection stands; 5 s
	Hello         time.Duration // until the first word; 5 s
	Ready         time.Duration // from identify or resume to its answer; 10 s
	IdentifyEvery time.Duration // between two identifies; 5.15 s
	BackoffFirst  time.Duration // after the first failure; doubles; 0.5 s
	BackoffMost   time.Duration // at most; 10 s
	InvalidWait   time.Duration // after an invalid session, up to five times it; 1 s
}

func (t GatewayTiming) withDefaults() GatewayTiming {
	for _, one := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&t.Address, 5 * time.Second},
		{&t.Dial, 5 * time.Second},
		{&t.Hello, 5 * time.Second},
		{&t.Ready, 10 * time.Second},
		{&t.IdentifyEvery, identifyEvery},
		{&t.BackoffFirst, 500 * time.Millisecond},
		{&t.BackoffMost, 10 * time.Second},
		{&t.InvalidWait, time.Second},
	} {
		if *one.value <= 0 {
			*one.value = one.usual
		}
	}
	return t
}

// Gateway keeps a connection to Discord's gateway for each shard, and replaces
// each that hangs, dies or is stale.
type Gateway struct {
	o      GatewayOptions
	log    *slog.Logger
	events chan event
	up     atomic.Int64 // shards that are connected
	shards atomic.Int64 // shards that there should be; 0 before Run
	gone   sync.WaitGroup
}

// event is one of Ready, ServerEvent and ChannelEvent.
type event any

// NewGateway makes a supervisor. It starts nothing.
func NewGateway(o GatewayOptions) *Gateway {
	if o.Intents == 0 {
		o.Intents = discordgo.IntentsGuilds
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	o.Timing = o.Timing.withDefaults()
	return &Gateway{o: o, log: o.Logger, events: make(chan event, o.Queue)}
}

// Up reports whether every shard is connected.
func (g *Gateway) Up() bool {
	shards := g.shards.Load()
	return shards > 0 && g.up.Load() == shards
}

// Run keeps the connections until ctx ends, and then returns nil. It returns a
// [*FatalError] when Discord says that trying again is pointless. It must be
// called once.
func (g *Gateway) Run(ctx context.Context) error {
	if g.o.Client == nil {
		return errors.New("gateway without a client")
	}
	stopQueue := make(chan struct{})
	var queue sync.WaitGroup
	queue.Go(func() { g.drain(ctx, stopQueue) })
	err := g.keepShards(ctx)
	close(stopQueue)
	queue.Wait()
	g.awaitSessions()
	if ctx.Err() != nil && !isFatal(err) {
		return nil
	}
	return err
}

// keepShards finds out how many shards there are to be and runs them.
func (g *Gateway) keepShards(ctx context.Context) error {
	shards, budget := g.plan(ctx)
	for {
		err := g.runShards(ctx, shards, budget)
		fatal, ok := errors.AsType[*FatalError](err)
		if !ok || fatal.Code != closeShardingRequired || g.o.Shards > 0 || ctx.Err() != nil {
			return err
		}
		// The bot has outgrown its shards while it ran.
		more, _ := g.plan(ctx)
		if more <= shards {
			return err
		}
		g.log.WarnContext(ctx, "more shards are needed", "shards", more)
		shards = more
	}
}

// plan asks Discord how many shards there should be and how many identifies are
// left. Without an answer it is one shard, one identify at a time.
func (g *Gateway) plan(ctx context.Context) (shards int, budget *identifyBudget) {
	every := g.o.Timing.IdentifyEvery
	shards = max(g.o.Shards, 1)
	asking, cancel := context.WithTimeout(ctx, g.o.Timing.Address)
	defer cancel()
	answer, err := g.o.Client.gatewayBot(asking)
	if err != nil {
		if ctx.Err() == nil {
			g.log.WarnContext(ctx, "number of shards unknown", "used", shards, "err", err)
		}
		return shards, newIdentifyBudget(every, 1, -1, time.Time{})
	}
	// Discord recommends one shard for each 1,000 servers or so, and needs more
	// than one above 2,500 servers.
	if g.o.Shards == 0 && answer.Shards > 2 {
		shards = answer.Shards
	}
	limit := answer.SessionStartLimit
	if limit.Total <= 0 {
		return shards, newIdentifyBudget(every, limit.MaxConcurrency, -1, time.Time{})
	}
	reset := time.Duration(limit.ResetAfter) * time.Millisecond
	if limit.Remaining <= identifyReserve {
		g.log.ErrorContext(ctx, "few identifies are left today", "left", limit.Remaining, "of", limit.Total, "for", reset)
	}
	return shards, newIdentifyBudget(every, limit.MaxConcurrency, limit.Remaining, time.Now().Add(reset))
}

func (g *Gateway) runShards(ctx context.Context, shards int, budget *identifyBudget) error {
	g.shards.Store(int64(shards))
	group, ctx := errgroup.WithContext(ctx)
	for number := range shards {
		s := &shard{gateway: g, number: number, of: shards, budget: budget}
		group.Go(func() error { return s.run(ctx) })
	}
	return group.Wait()
}

// push queues an event, and waits while the queue is full.
func (g *Gateway) push(ctx context.Context, e event) {
	select {
	case g.events <- e:
	case <-ctx.Done():
	}
}

// drain works on the queue until ctx ends or stop is closed.
func (g *Gateway) drain(ctx context.Context, stop <-chan struct{}) {
	for {
		select {
		case e := <-g.events:
			g.deliver(ctx, e)
		case <-ctx.Done():
			return
		case <-stop:
			return
		}
	}
}

// deliver calls what the event is for. A panic ends there.
func (g *Gateway) deliver(ctx context.Context, e event) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(ctx, g.log, fmt.Sprintf("%T", e), v, "")
		}
	}()
	switch e := e.(type) {
	case Ready:
		if g.o.OnReady != nil {
			g.o.OnReady(ctx, e)
		}
	case ServerEvent:
		if g.o.OnServer != nil {
			g.o.OnServer(ctx, e)
		}
	case ChannelEvent:
		if g.o.OnChannel != nil {
			g.o.OnChannel(ctx, e)
		}
	}
}

// sessionGrace is how long discordgo may take to end a Session whose connection
// is gone: it sleeps for a second.
const sessionGrace = 3 * time.Second

// awaitSessions waits until discordgo has let go of all Sessions.
func (g *Gateway) awaitSessions() {
	gone := make(chan struct{})
	go func() {
		g.gone.Wait()
		close(gone)
	}()
	timer := time.NewTimer(sessionGrace)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
		g.log.Warn("a session of discordgo did not end")
	}
}
