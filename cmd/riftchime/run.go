package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot"
	"riftchime/bot/discord"
	"riftchime/bot/hour"
	"riftchime/bot/schedule"
	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/riot/ddragon"
	"riftchime/store"
	"riftchime/store/postgres"
	"riftchime/store/sqlite"
)

// homepage is named in the User-Agent that Discord asks for.
const homepage = "https://github.com/riftchime/riftchime"

type runCmd struct {
	discordSettings
	riotSettings
	storeSettings
	logSettings
	hourSettings
	ListenAddr string `env:"LISTEN_ADDR" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Where /healthz, /readyz and /metrics are served (${default}); empty: nowhere."`
}

// Run serves until ctx ends.
func (c *runCmd) Run(ctx context.Context, s streams) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	keys, err := c.keys()
	if err != nil {
		return err
	}
	clock, err := c.clock()
	if err != nil {
		return err
	}
	for _, u := range [][2]string{
		{"DISCORD_API_URL", c.DiscordAPIURL}, {"RIOT_API_URL", c.RiotAPIURL}, {"DDRAGON_URL", c.DDragonURL},
	} {
		if err := checkURL(u[0], u[1]); err != nil {
			return err
		}
	}
	log := c.logger(s.err)
	listener, err := listen("LISTEN_ADDR", c.ListenAddr)
	if err != nil {
		return err
	}
	if listener != nil {
		defer listener.Close()
	}
	db, err := openStore(ctx, c.DatabaseURL, false, log)
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	defer db.Close()
	return serve(ctx, service{
		token: token, keys: keys, clock: clock, db: db, listener: listener, log: log,
		discordURL: c.DiscordAPIURL, riotURL: c.RiotAPIURL, ddragonURL: c.DDragonURL,
	})
}

// listen opens the address of a setting; empty: none.
func listen(name, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, settingsErrorf("%s: cannot listen on %s (%s): stop what uses it, set another address, or leave it empty for none",
			name, addr, cause(err))
	}
	return l, nil
}

// cause is the innermost error: the part that an operator can act on.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// openStore opens the database that DATABASE_URL names. It says errStopped where
// ctx ended meanwhile.
func openStore(ctx context.Context, databaseURL string, readOnly bool, log *slog.Logger) (store.Store, error) {
	switch scheme, rest, _ := strings.Cut(databaseURL, ":"); scheme {
	case "sqlite":
		db, err := sqlite.Open(ctx, strings.TrimPrefix(rest, "//"), sqlite.Options{ReadOnly: readOnly})
		if err != nil && ctx.Err() != nil {
			return nil, errStopped
		}
		if err != nil {
			return nil, settingsErrorf("DATABASE_URL: the SQLite file cannot be opened (%s): check its path, and that its folder can be written", cause(err))
		}
		return db, nil
	case "postgres", "postgresql":
		if _, err := url.Parse(databaseURL); err != nil {
			return nil, settingsErrorf("DATABASE_URL is not an address that can be read: write postgres://user:password@host/database")
		}
		db, err := postgres.Open(ctx, databaseURL, postgres.Options{ReadOnly: readOnly})
		if err != nil && ctx.Err() != nil {
			return nil, errStopped
		}
		if err != nil {
			return nil, settingsErrorf("DATABASE_URL: PostgreSQL cannot be reached (%s): check the address, the user and that the server runs", cause(err))
		}
		return db, nil
	}
	return nil, settingsErrorf("DATABASE_URL must begin with sqlite: or postgres://, such as sqlite:riftchime.db")
}

// migrate brings the schema up to date. It says errStopped where ctx ended
// meanwhile.
func migrate(ctx context.Context, db store.Store) error {
	err := db.Migrate(ctx)
	switch {
	case errors.Is(err, store.ErrNewer):
		return settingsErrorf("DATABASE_URL: the database was written by a newer RiftChime: update this program, or use another database")
	case err != nil && ctx.Err() != nil:
		return errStopped
	case err != nil:
		return settingsErrorf("DATABASE_URL: the database cannot be brought up to date (%s)", cause(err))
	}
	return nil
}

// service is all that one process serves with.
type service struct {
	token      string
	keys       []string
	clock      schedule.Clock
	db         store.Store
	listener   net.Listener // nil: none
	log        *slog.Logger
	hooks      hour.Hooks
	discordURL string
	riotURL    string
	ddragonURL string
}

// serve takes the lead, then runs the bot until ctx ends or the lead is lost.
func serve(ctx context.Context, s service) error {
	m := newMetrics()
	limiter := ratelimit.New(ratelimit.Options{Logger: s.log, Observer: m})
	failures := &bot.Failures{}
	client, err := riot.New(riot.Options{
		Keys: s.keys, URL: s.riotURL, Limiter: limiter, Logger: s.log,
		Observe: func(r riot.Sent) {
			m.riot(r)
			if r.Cause != "" {
				failures.Add(r.Method, r.Cause)
			}
		},
	})
	if err != nil {
		return settingsErrorf("RIOT_API_KEY: %s", err) // the address was checked before
	}
	defer client.Close()
	rest, err := discord.New(discord.Options{
		Token: s.token, URL: s.discordURL, Homepage: homepage, Version: programVersion(), Logger: s.log, Observer: m,
	})
	if err != nil {
		return settingsErrorf("DISCORD_TOKEN: %s", err)
	}
	defer rest.CloseIdleConnections()
	champions, err := ddragon.New(ddragon.Options{URL: s.ddragonURL})
	if err != nil {
		return settingsErrorf("DDRAGON_URL: %s", err)
	}

	web := newWeb(m)
	g, ctx := errgroup.WithContext(ctx)
	if s.listener != nil {
		s.log.InfoContext(ctx, "serving /healthz, /readyz and /metrics", "address", s.listener.Addr().String())
		g.Go(func() error { return web.serve(ctx, s.listener) })
	}
	g.Go(func() error {
		lease, err := s.lead(ctx)
		if err != nil || lease == nil {
			return err
		}
		defer lease.Release()
		if err := migrate(ctx, s.db); err != nil {
			return err
		}
		b, err := bot.New(bot.Options{
			Store: s.db, Riot: client, Limiter: limiter, Discord: rest, Clock: s.clock,
			Champions: dragon{champions}, Version: programVersion(), Hooks: m.hooks(s.hooks), Failures: failures, Logger: s.log,
		})
		if err != nil {
			return err
		}
		web.leads(b)
		s.log.InfoContext(ctx, "RiftChime runs", "version", programVersion(), "keys", fingerprints(s.keys), "hour", s.clock.Scale(time.Hour))
		leading, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		go func() {
			select {
			case <-lease.Lost():
				cancel(errLeadLost)
			case <-leading.Done():
			}
		}()
		err = b.Run(leading)
		if err == nil && errors.Is(context.Cause(leading), errLeadLost) {
			err = errLeadLost
		}
		if err == nil && ctx.Err() == nil {
			err = errors.New("the bot stopped by itself")
		}
		if ctx.Err() != nil && err == nil {
			return errStopped // ends the web server too
		}
		return err
	})
	if err := g.Wait(); err != nil && !errors.Is(err, errStopped) {
		return err
	}
	s.log.Info("RiftChime stopped")
	return nil
}

var (
	errLeadLost = errors.New("the database's lead was lost: start again to stand by for it")
	errStopped  = errors.New("stopped")
)

// lead waits for the lead on PostgreSQL; on SQLite it is there or it is not.
func (s service) lead(ctx context.Context) (store.Lease, error) {
	lease, err := s.db.Lead(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, nil
	case errors.Is(err, store.ErrHeld):
		return nil, settingsErrorf("another riftchime runs on this SQLite file: stop it, or set DATABASE_URL to another file")
	case err != nil:
		return nil, fmt.Errorf("taking the lead: %w", err)
	}
	return lease, nil
}

// dragon gives Data Dragon's champions in the store's type.
type dragon struct{ *ddragon.Client }

func (c dragon) Champions(ctx context.Context, language string) (string, []store.Champion, error) {
	version, all, err := c.Client.Champions(ctx, language)
	out := make([]store.Champion, len(all))
	for i, ch := range all {
		out[i] = store.Champion{ID: ch.ID, Key: ch.Key, Name: ch.Name}
	}
	return version, out, err
}
