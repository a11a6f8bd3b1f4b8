// Package bot is RiftChime itself: the session with Discord, the commands and
// the hour, under one roof.
package bot

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/commands"
	"riftchime/bot/discord"
	"riftchime/bot/hour"
	"riftchime/bot/schedule"
	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/store"
)

// Options are the parts that a bot is made of. All but Hooks and Logger are
// needed.
type Options struct {
	Store     store.Store
	Riot      *riot.Client
	Limiter   *ratelimit.Limiter
	Discord   *discord.Client
	Clock     schedule.Clock
	Champions ChampionSource
	Version   string
	Hooks     hour.Hooks
	Failures  *Failures
	Logger    *slog.Logger
}

// Bot serves one Discord application. Use New, then Run once.
type Bot struct {
	o         Options
	log       *slog.Logger
	champions *Champions
	hour      *hour.Hour
	router    *discord.Router
	gateway   *discord.Gateway
	commands  []commands.Command
	presses   *presses

	self  atomic.Int64 // the bot's user id, 0 until it is known
	known chan int64   // the application's id
}

// New wires the parts. It starts nothing.
func New(o Options) (*Bot, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bot{o: o, log: o.Logger, champions: NewChampions(o.Store, o.Champions, o.Logger), presses: newPresses(), known: make(chan int64, 1)}
	b.hour = hour.New(hour.Options{
		Store:      o.Store,
		Riot:       b.caller,
		DefaultKey: func() string { return string(o.Riot.Fingerprints()[0]) },
		Estimate:   b.estimate,
		Discord:    o.Discord,
		Self:       b.self.Load,
		Clock:      o.Clock,
		Names:      b.champions,
		Hooks:      o.Hooks,
		Logger:     o.Logger,
	})
	c, err := commands.New(commands.Options{
		Store:     o.Store,
		Riot:      func(key riot.Fingerprint) commands.Caller { return o.Riot.As(key, ratelimit.Person) },
		Keys:      o.Riot.Fingerprints,
		Clock:     o.Clock,
		Refresh:   b.hour.Refresh,
		RanksSoon: b.hour.RanksSoon,
		Changed:   b.hour.Changed,
		Names:     b.champions,
		Status:    b.status,
		Logger:    o.Logger,
	})
	if err != nil {
		return nil, err
	}
	b.commands = c.All()
	routed := make([]discord.Command, len(b.commands))
	for i, cmd := range b.commands {
		routed[i] = discord.Command{
			Name: cmd.Def.Name, Slow: cmd.Slow, Ephemeral: cmd.Ephemeral, Run: cmd.Run, Autocomplete: cmd.Autocomplete,
		}
	}
	b.router = discord.NewRouter(o.Discord, discord.RouterOptions{
		Commands: routed,
		Apology:  commands.Apology,
		Busy:     commands.Busy,
		Guard:    discord.Hold(b.guard),
		First:    b.first,
		Done:     b.done,
		Logger:   o.Logger,
	})
	b.gateway = discord.NewGateway(discord.GatewayOptions{
		Client:   o.Discord,
		OnReady:  b.ready,
		OnServer: b.server,
		Router:   b.router,
		Logger:   o.Logger,
	})
	return b, nil
}

// caller asks Riot under a key, as urgently as the hour needs it.
func (b *Bot) caller(key string, u hour.Urgency) hour.Riot {
	p := ratelimit.NextSlot
	switch u {
	case hour.ForPerson:
		p = ratelimit.Person
	case hour.ForRetry:
		p = ratelimit.Retry
	case hour.Background:
		p = ratelimit.Background
	}
	return b.o.Riot.As(riot.Fingerprint(key), p)
}

// estimate asks the limiter how long calls take on one route.
func (b *Bot) estimate(key, route string, calls map[string]int) time.Duration {
	at := b.o.Riot.Bucket(riot.Fingerprint(key), "", route)
	return b.o.Limiter.Estimate(at.Key, at.Host, calls)
}

// Run serves until ctx ends, or Discord refuses the bot for good
// (*discord.FatalError). It returns when all is stopped.
func (b *Bot) Run(ctx context.Context) error {
	if _, err := b.champions.Load(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return b.gateway.Run(ctx) })
	g.Go(func() error { return b.hour.Run(ctx) })
	g.Go(func() error { b.champions.Run(ctx); return nil })
	g.Go(func() error { b.presses.run(ctx, b.o.Store, b.log); return nil })
	g.Go(func() error { b.register(ctx); return nil })
	g.Go(func() error { b.housekeep(ctx); return nil })
	g.Go(func() error { b.probe(ctx); return nil })
	g.Go(func() error { b.moveKeys(ctx); return nil })
	if b.o.Failures != nil {
		g.Go(func() error { b.o.Failures.Run(ctx, b.o.Store, b.log); return nil })
	}
	err := g.Wait()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := b.router.Wait(stop); err != nil {
		b.log.WarnContext(ctx, "commands were still running at the end", "err", err)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Ready says why the bot can't serve now, nil when it can.
func (b *Bot) Ready(ctx context.Context) error {
	if err := b.o.Store.Ping(ctx); err != nil {
		return err
	}
	if !b.gateway.Up() {
		return errors.New("not connected to Discord")
	}
	for _, k := range b.o.Riot.Health() {
		if k.Refused {
			return errors.New("Riot refuses the key " + string(k.Fingerprint))
		}
	}
	return nil
}

// ready learns who the bot is. A server that is not listed is not taken as gone:
// only Discord's word that it is (or its refusing the channels) counts.
func (b *Bot) ready(_ context.Context, r discord.Ready) {
	b.self.Store(r.UserID)
	app := r.AppID
	if app == 0 {
		app = r.UserID // the same number for all but the oldest bots
	}
	select {
	case b.known <- app:
	default: // the commands are being registered already
	}
}

// register makes Discord's commands those of this program, once it is known
// which application this is. It tries until it succeeds.
func (b *Bot) register(ctx context.Context) {
	var app int64
	select {
	case <-ctx.Done():
		return
	case app = <-b.known:
	}
	for wait := 5 * time.Second; ; wait = min(2*wait, 10*time.Minute) {
		changed, err := b.o.Discord.SyncCommands(ctx, app, commands.Registered(b.commands))
		if err == nil {
			if changed {
				b.log.InfoContext(ctx, "commands registered")
			}
			return
		}
		if ctx.Err() != nil {
			return
		}
		b.log.ErrorContext(ctx, "commands not registered, trying again", "err", err, "wait", wait)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// server keeps what Discord tells about servers. A server in an outage is still
// there; one that removed the bot is kept for a while.
func (b *Bot) server(ctx context.Context, e discord.ServerEvent) {
	var err error
	switch e.Kind {
	case discord.Here:
		err = b.o.Store.PutServer(ctx, store.Server{
			ID: store.ServerID(e.ID), Name: e.Name, Locale: e.Locale, JoinedAt: time.Now(),
		})
		b.hour.Changed()
	case discord.Gone:
		b.log.InfoContext(ctx, "server removed the bot", "server", e.ID)
		err = b.o.Store.ServerGone(ctx, store.ServerID(e.ID), time.Now())
	case discord.Outage:
		b.log.WarnContext(ctx, "Discord has an outage of a server", "server", e.ID)
	}
	if err != nil {
		b.log.ErrorContext(ctx, "server not kept", "server", e.ID, "err", err)
	}
}

// first reports whether an interaction is new; replays are not carried out
// twice. Where the store can't tell, a person's command matters more.
func (b *Bot) first(ctx context.Context, id int64) bool {
	first, err := b.o.Store.TakeInteraction(ctx, id, time.Now())
	if err != nil {
		b.log.WarnContext(ctx, "interaction not recorded", "err", err)
		return true
	}
	return first
}

// guard answers at once who sends a command again while it still works.
func (b *Bot) guard(_ context.Context, p discord.Press) (string, func()) {
	done, ok := b.presses.begin(press{user: p.User, channel: p.Channel, command: p.Command, options: p.Options}, time.Now())
	if !ok {
		return commands.StillWorking(p.Locale), nil
	}
	return "", done
}

func (b *Bot) done(command string, took time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := b.o.Store.AddLatency(ctx, command, took, time.Now()); err != nil {
		b.log.WarnContext(ctx, "latency not recorded", "command", command, "err", err)
	}
}

// status tells /status what the store does not know.
func (b *Bot) status(ctx context.Context, id store.ServerID, _ store.ChannelID) commands.StatusInfo {
	info := commands.StatusInfo{Version: b.o.Version, Champions: b.champions.Version()}
	s, err := b.o.Store.Server(ctx, id)
	if err != nil {
		return info
	}
	for _, k := range b.o.Riot.Health() {
		if string(k.Fingerprint) == s.Key {
			info.KeyRefused = k.Refused
		}
	}
	byHost := map[string]*commands.LimitInfo{}
	for _, bucket := range b.o.Limiter.Snapshot() {
		if bucket.Key != s.Key {
			continue
		}
		l := byHost[bucket.Host]
		if l == nil {
			l = &commands.LimitInfo{Host: bucket.Host}
			byHost[bucket.Host] = l
		}
		l.Throttled = l.Throttled || bucket.Mode == ratelimit.Throttle
		l.Queued += bucket.Waiting
	}
	for _, l := range byHost {
		info.Limits = append(info.Limits, *l)
	}
	return info
}

// probe asks Riot now and then whether a key that it refused is good again.
func (b *Bot) probe(ctx context.Context) {
	ticker := time.NewTicker(20 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			b.o.Riot.Probe(ctx)
		}
	}
}

// housekeep applies the retention once a day, soon after the start.
func (b *Bot) housekeep(ctx context.Context) {
	timer := time.NewTimer(5 * time.Minute)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		n, err := b.o.Store.Sweep(ctx, time.Now())
		switch {
		case err != nil && ctx.Err() == nil:
			b.log.ErrorContext(ctx, "old rows not deleted", "err", err)
			timer.Reset(time.Hour)
			continue
		case n > 0:
			b.log.InfoContext(ctx, "old rows deleted", "rows", n)
		}
		timer.Reset(24 * time.Hour)
	}
}
