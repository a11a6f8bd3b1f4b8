package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// simulateCmd runs one of the test servers alone.
type simulateCmd struct {
	Riot    simulateRiotCmd    `cmd:"" help:"A stand-in for Riot's API and Data Dragon."`
	Discord simulateDiscordCmd `cmd:"" help:"A stand-in for Discord's API and gateway."`
}

type simulateRiotCmd struct {
	Addr        string        `default:"127.0.0.1:8091" placeholder:"ADDR" help:"Where it listens (${default})."`
	Key         []string      `placeholder:"KEY" help:"API keys that are known; none: every key is."`
	Development bool          `help:"A development key's limits, 20 a second and 100 in two minutes."`
	Players     int           `placeholder:"N" help:"Populate the world with so many players, in groups of friends."`
	Hour        time.Duration `placeholder:"DURATION" help:"Let the groups play, at the rate of hours of this length."`
	Seed        uint64        `default:"1" help:"Another seed is another world (${default})."`
	Latency     time.Duration `placeholder:"DURATION" help:"How long each answer takes."`
}

// Run serves until ctx ends.
func (c *simulateRiotCmd) Run(ctx context.Context, s streams) error {
	o := riottest.Options{Keys: c.Key, Seed: c.Seed}
	if c.Development {
		o.Limits = riottest.DevelopmentLimits()
	}
	if c.Latency > 0 {
		o.Latency = func(riottest.Call) (before, after time.Duration) { return c.Latency / 2, c.Latency - c.Latency/2 }
	}
	world := riottest.NewServer(o)
	if c.Players > 0 {
		if _, err := world.Populate(c.Players, c.Seed); err != nil {
			return settingsErrorf("--players %d: %s", c.Players, err)
		}
	}
	l, err := listen("--addr", c.Addr)
	if err != nil {
		return err
	}
	if l == nil {
		return settingsErrorf("--addr must name where to listen, such as 127.0.0.1:8091")
	}
	fmt.Fprintf(s.out, "RIOT_API_URL=http://%s/{route} DDRAGON_URL=http://%s/ddragon\nControl: http://%s/_sim/\n", l.Addr(), l.Addr(), l.Addr())
	g, ctx := errgroup.WithContext(ctx)
	server := &http.Server{Handler: world, ReadHeaderTimeout: 5 * time.Second}
	g.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	g.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	if c.Hour > 0 {
		g.Go(func() error { return world.RunWorld(ctx, c.Hour) })
	}
	return g.Wait()
}

type simulateDiscordCmd struct {
	Addr    string        `default:"127.0.0.1:8092" placeholder:"ADDR" help:"Where it listens (${default})."`
	Token   string        `placeholder:"TOKEN" help:"The bot token that is known; empty: every token is."`
	Latency time.Duration `placeholder:"DURATION" help:"How long each answer takes."`
}

// Run serves until ctx ends.
func (c *simulateDiscordCmd) Run(ctx context.Context, s streams) error {
	d := discordtest.New(discordtest.Options{Token: c.Token, Latency: c.Latency})
	l, err := listen("--addr", c.Addr)
	if err != nil {
		return err
	}
	if l == nil {
		return settingsErrorf("--addr must name where to listen, such as 127.0.0.1:8092")
	}
	fmt.Fprintf(s.out, "DISCORD_API_URL=http://%s\nControl: http://%s/_sim/\n", l.Addr(), l.Addr())
	return d.Serve(ctx, l)
}
