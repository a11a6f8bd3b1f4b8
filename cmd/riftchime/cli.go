package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"riftchime/bot/discord"
	"riftchime/bot/schedule"
	"riftchime/riot"
)

// Exit codes.
const (
	exitFailed   = 1 // something went wrong while running
	exitSettings = 2 // a setting, or what it points to, must be changed
	exitFatal    = 3 // Discord refuses the bot for good
)

// settingsError is an error that the operator mends by changing a setting. Its
// text says what to do, in one line.
type settingsError struct{ text string }

func (e settingsError) Error() string { return e.text }

func settingsErrorf(format string, args ...any) error {
	return settingsError{fmt.Sprintf(format, args...)}
}

// exitCode prints err as one line and returns what to exit with.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "riftchime: "+strings.Join(strings.Fields(err.Error()), " "))
	var fatal *discord.FatalError
	switch {
	case errors.As(err, new(settingsError)):
		return exitSettings
	case errors.As(err, &fatal):
		return exitFatal
	}
	return exitFailed
}

// cli is the command line. Every setting is a flag and an environment
// variable; secrets are also read from the file that …_FILE names.
type cli struct {
	Run      runCmd      `cmd:"" help:"Run the bot."`
	Demo     demoCmd     `cmd:"" help:"Show it all without an account, a key or a database."`
	Report   reportCmd   `cmd:"" help:"Print one channel's report as it stands, without posting it."`
	Migrate  migrateCmd  `cmd:"" help:"Bring the database up to date (run does so by itself)."`
	Export   exportCmd   `cmd:"" help:"Write all that the database holds to a file (the bot may run)."`
	Import   importCmd   `cmd:"" help:"Put what export wrote into an empty database, of either kind."`
	Forget   forgetCmd   `cmd:"" help:"Delete a player and all that is kept of them."`
	Invite   inviteCmd   `cmd:"" help:"Print the link with which a server invites the bot."`
	Simulate simulateCmd `cmd:"" help:"Run a stand-in for Riot or Discord, for trying bots without accounts."`
	Version  versionCmd  `cmd:"" help:"Print the version."`
}

// discordSettings say how to reach Discord.
type discordSettings struct {
	DiscordToken     string `env:"DISCORD_TOKEN" placeholder:"TOKEN" help:"Bot token (needed)."`
	DiscordTokenFile string `env:"DISCORD_TOKEN_FILE" placeholder:"FILE" help:"File that holds the bot token."`
	DiscordAPIURL    string `name:"discord-api-url" env:"DISCORD_API_URL" default:"https://discord.com" placeholder:"URL" help:"Origin of Discord's API (${default})."`
}

func (s discordSettings) token() (string, error) {
	return secret("DISCORD_TOKEN", s.DiscordToken, s.DiscordTokenFile,
		"create a bot at https://discord.com/developers/applications and copy its token from the page Bot")
}

// riotSettings say how to reach Riot.
type riotSettings struct {
	RiotAPIKey     string `name:"riot-api-key" env:"RIOT_API_KEY" placeholder:"KEY" help:"Riot API key (needed), or several separated by commas."`
	RiotAPIKeyFile string `name:"riot-api-key-file" env:"RIOT_API_KEY_FILE" placeholder:"FILE" help:"File that holds the Riot API key."`
	RiotAPIURL     string `name:"riot-api-url" env:"RIOT_API_URL" default:"https://{route}.api.riotgames.com" placeholder:"URL" help:"Riot's API (${default}); {route} becomes kr, asia, …"`
	DDragonURL     string `name:"ddragon-url" env:"DDRAGON_URL" default:"https://ddragon.leagueoflegends.com" placeholder:"URL" help:"Data Dragon (${default})."`
}

func (s riotSettings) keys() ([]string, error) {
	all, err := secret("RIOT_API_KEY", s.RiotAPIKey, s.RiotAPIKeyFile,
		"get a key at https://developer.riotgames.com")
	if err != nil {
		return nil, err
	}
	var keys []string
	for k := range strings.SplitSeq(all, ",") {
		if k = strings.TrimSpace(k); k != "" {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, settingsErrorf("RIOT_API_KEY holds no key: get one at https://developer.riotgames.com")
	}
	return keys, nil
}

// secret reads a secret from its setting or from the file that …_FILE names.
func secret(name, value, file, where string) (string, error) {
	switch {
	case value != "" && file != "":
		return "", settingsErrorf("%s and %s_FILE are both set: set only one of them", name, name)
	case file != "":
		b, err := os.ReadFile(file)
		if err != nil {
			return "", settingsErrorf("%s_FILE: the file %s cannot be read: check its path and permissions", name, file)
		}
		value = string(b)
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return "", settingsErrorf("%s is not set: %s, then set %s or %s_FILE", name, where, name, name)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' && r != ' ' || r == 0x7f }) {
		return "", settingsErrorf("%s holds line breaks or control characters: %s", name, where)
	}
	return value, nil
}

// storeSettings say where the database is.
type storeSettings struct {
	DatabaseURL string `env:"DATABASE_URL" default:"sqlite:riftchime.db" placeholder:"URL" help:"sqlite:FILE or postgres://… (${default})."`
}

// logSettings say what is logged, to standard error.
type logSettings struct {
	LogLevel  string `env:"LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error (${default})."`
	LogFormat string `env:"LOG_FORMAT" default:"text" enum:"text,json" help:"text or json (${default})."`
}

func (s logSettings) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	o := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// hourSettings shorten the hour.
type hourSettings struct {
	Hour time.Duration `placeholder:"DURATION" help:"Rehearse: an hour lasts this long, such as 20s (2s at least)."`
}

func (s hourSettings) clock() (schedule.Clock, error) {
	switch {
	case s.Hour == 0:
		return schedule.Clock{}, nil
	case s.Hour < 2*time.Second || s.Hour > time.Hour:
		return schedule.Clock{}, settingsErrorf("--hour %s: a rehearsal's hour lasts 2s at least and 1h at most", s.Hour)
	}
	return schedule.Clock{Hour: s.Hour}, nil
}

// checkURL checks a setting that is an address.
func checkURL(name, value string) error {
	u, err := url.Parse(strings.ReplaceAll(value, "{route}", "route"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return settingsErrorf("%s is not an address: it must begin with http:// or https:// and name a host", name)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return settingsErrorf("%s must hold no user, password, query or fragment", name)
	}
	return nil
}

// streams are where a command writes.
type streams struct {
	out, err io.Writer
}

// run parses args and carries the command out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("riftchime"),
		kong.Description("Reports League of Legends games to Discord channels, exactly on the hour.\n\n"+notice),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code }),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return fmt.Errorf("command line: %w", err)
	}
	kctx, err := parser.Parse(args)
	if exited == 0 {
		return nil // help was printed
	}
	if err != nil {
		return settingsErrorf("%s (riftchime --help lists commands and settings)", err)
	}
	kctx.BindTo(ctx, (*context.Context)(nil))
	return kctx.Run(streams{stdout, stderr})
}

// fingerprints of keys, for logs.
func fingerprints(keys []string) []riot.Fingerprint {
	fs := make([]riot.Fingerprint, len(keys))
	for i, k := range keys {
		fs[i] = riot.FingerprintOf(k)
	}
	return fs
}
