package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"riftchime/bot"
	"riftchime/bot/discord"
	"riftchime/bot/hour"
	"riftchime/bot/render"
	"riftchime/riot/ddragon"
	"riftchime/store"
)

// migrateCmd brings the database up to date.
type migrateCmd struct {
	storeSettings
	logSettings
}

// Run migrates and says so.
func (c *migrateCmd) Run(ctx context.Context, s streams) error {
	db, err := openStore(ctx, c.DatabaseURL, false, c.logger(s.err))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, "The database is up to date.")
	return err
}

// inviteCmd prints the link for servers.
type inviteCmd struct {
	discordSettings
	AppID int64 `name:"app-id" env:"DISCORD_APP_ID" placeholder:"ID" help:"Application id; without it the bot token tells it."`
}

// permissions that the bot asks for: view channel, send messages, embed links,
// read message history, send messages in threads.
const permissions = 1<<10 | 1<<11 | 1<<14 | 1<<16 | 1<<38

// Run prints the link.
func (c *inviteCmd) Run(ctx context.Context, s streams) error {
	app := c.AppID
	if app == 0 {
		token, err := c.token()
		if err != nil {
			return err
		}
		client, err := discord.New(discord.Options{Token: token, URL: c.DiscordAPIURL, Homepage: homepage, Version: programVersion()})
		if err != nil {
			return settingsErrorf("DISCORD_TOKEN: %s", err)
		}
		if app, err = client.Application(ctx); err != nil {
			if discord.KindOf(err) == discord.Unauthorized {
				return settingsErrorf("DISCORD_TOKEN: Discord does not know this token: copy it again from the page Bot of your application")
			}
			return err
		}
	}
	_, err := fmt.Fprintf(s.out, "https://discord.com/oauth2/authorize?client_id=%d&scope=bot+applications.commands&permissions=%d\n", app, int64(permissions))
	return err
}

// reportCmd builds one channel's report once. It only reads.
type reportCmd struct {
	storeSettings
	logSettings
	hourSettings
	Channel    string `required:"" placeholder:"ID" help:"The channel's id."`
	HTML       string `name:"html" placeholder:"FILE" help:"Write it to FILE as Discord would show it."`
	DDragonURL string `name:"ddragon-url" env:"DDRAGON_URL" default:"https://ddragon.leagueoflegends.com" placeholder:"URL" help:"Data Dragon (${default}), for icons in --html."`
}

// Run prints the report.
func (c *reportCmd) Run(ctx context.Context, s streams) error {
	id, err := strconv.ParseInt(c.Channel, 10, 64)
	if err != nil || id <= 0 {
		return settingsErrorf("--channel must be a channel's id, a number: right-click the channel in Discord with developer mode on")
	}
	clock, err := c.clock()
	if err != nil {
		return err
	}
	log := c.logger(s.err)
	db, err := openStore(ctx, c.DatabaseURL, true, log)
	if err != nil {
		return err
	}
	defer db.Close()
	dragonClient, err := ddragon.New(ddragon.Options{URL: c.DDragonURL})
	if err != nil {
		return settingsErrorf("DDRAGON_URL: %s", err)
	}
	names := bot.NewChampions(db, dragon{dragonClient}, log)
	if _, err := names.Load(ctx); err != nil {
		return settingsErrorf("DATABASE_URL: the database cannot be read (%s): has riftchime run on it?", cause(err))
	}
	h := hour.New(hour.Options{Store: db, Clock: clock, Names: names, Logger: log})
	channel, msgs, err := h.Build(ctx, store.ChannelID(id))
	if errors.Is(err, store.ErrNotFound) {
		return settingsErrorf("channel %d is not in this database: register a player there first", id)
	}
	if err != nil {
		return err
	}
	if c.HTML == "" {
		for _, m := range msgs {
			if _, err := fmt.Fprintln(s.out, render.Text(m)); err != nil {
				return err
			}
		}
		return nil
	}
	page := render.HTML(msgs, render.HTMLOptions{
		Language: channel.Language, Zone: zoneOf(channel),
		Icon: func(url string) string {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			return dataURI(ctx, url)
		},
	})
	if err := os.WriteFile(c.HTML, page, 0o644); err != nil {
		return settingsErrorf("--html: %s cannot be written (%s)", c.HTML, cause(err))
	}
	_, err = fmt.Fprintf(s.out, "Written to %s\n", c.HTML)
	return err
}

// zoneOf is the channel's zone, UTC where this program does not know it.
func zoneOf(c store.Channel) *time.Location {
	loc, err := time.LoadLocation(c.Zone)
	if err != nil {
		return time.UTC
	}
	return loc
}
