package main_test

import (
	"database/sql"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/riot/riottest"
)

// password is what the addresses of databases and servers hold in these tests.
const password = "hunter2-of-the-tests"

// elsewhere are settings that are right, of servers that nobody needs: a
// program with a bad setting must end before it calls anybody.
func elsewhere(t *testing.T) settings {
	t.Helper()
	return settings{
		"DISCORD_TOKEN": token, "RIOT_API_KEY": key, "DATABASE_URL": sqliteURL(t), "LISTEN_ADDR": "127.0.0.1:0",
		"DISCORD_API_URL": "http://127.0.0.1:1", "RIOT_API_URL": "http://127.0.0.1:1/{route}", "DDRAGON_URL": "http://127.0.0.1:1/ddragon",
	}
}

// TestSettings gives the program settings that it can't work with. Each is one
// line on standard error that says which setting it is and what to do, and exit
// code 2 (issue 2).
func TestSettings(t *testing.T) {
	t.Parallel()
	file := func(t *testing.T, content string) string {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct {
		name string
		args string // "run" where it is empty
		// set are pairs of variables and values; an empty value removes one.
		set []string
		// prepare returns more of them.
		prepare func(t *testing.T, env settings) []string
		want    []string
	}{
		{name: "no token", set: []string{"DISCORD_TOKEN", ""},
			want: []string{"DISCORD_TOKEN is not set", "https://discord.com/developers", "DISCORD_TOKEN_FILE"}},
		{name: "a token of spaces", set: []string{"DISCORD_TOKEN", "  "}, want: []string{"DISCORD_TOKEN is not set"}},
		{name: "a token of two lines", set: []string{"DISCORD_TOKEN", token + "\n" + key}, want: []string{"DISCORD_TOKEN", "line breaks"}},
		{name: "a token with a space", set: []string{"DISCORD_TOKEN", "a " + token}, want: []string{"DISCORD_TOKEN", "copy it again"}},
		{name: "no key", set: []string{"RIOT_API_KEY", ""},
			want: []string{"RIOT_API_KEY is not set", "https://developer.riotgames.com", "RIOT_API_KEY_FILE"}},
		{name: "keys without a key", set: []string{"RIOT_API_KEY", " , ,"}, want: []string{"RIOT_API_KEY", "https://developer.riotgames.com"}},
		{name: "a key with a space", set: []string{"RIOT_API_KEY", "a " + key}, want: []string{"RIOT_API_KEY"}},
		{name: "token and file", prepare: func(t *testing.T, _ settings) []string { return []string{"DISCORD_TOKEN_FILE", file(t, token)} },
			want: []string{"DISCORD_TOKEN and DISCORD_TOKEN_FILE", "only one"}},
		{name: "key and file", prepare: func(t *testing.T, _ settings) []string { return []string{"RIOT_API_KEY_FILE", file(t, key)} },
			want: []string{"RIOT_API_KEY and RIOT_API_KEY_FILE", "only one"}},
		{name: "no such token file", set: []string{"DISCORD_TOKEN", "", "DISCORD_TOKEN_FILE", "/nowhere/token"},
			want: []string{"DISCORD_TOKEN_FILE", "/nowhere/token", "check"}},
		{name: "a folder as key file", set: []string{"RIOT_API_KEY", "", "RIOT_API_KEY_FILE", "/"}, want: []string{"RIOT_API_KEY_FILE", "check"}},
		{name: "an empty token file", prepare: func(t *testing.T, _ settings) []string {
			return []string{"DISCORD_TOKEN", "", "DISCORD_TOKEN_FILE", file(t, "\n")}
		}, want: []string{"DISCORD_TOKEN", "https://discord.com/developers"}},

		{name: "log level", set: []string{"LOG_LEVEL", "loud"}, want: []string{"log-level", "debug", "loud"}},
		{name: "log format", set: []string{"LOG_FORMAT", "xml"}, want: []string{"log-format", "json", "xml"}},
		{name: "Discord without a scheme", set: []string{"DISCORD_API_URL", "discord.com"}, want: []string{"DISCORD_API_URL", "https://"}},
		{name: "Discord by ftp", set: []string{"DISCORD_API_URL", "ftp://discord.com"}, want: []string{"DISCORD_API_URL", "https://"}},
		{name: "Discord with a password", set: []string{"DISCORD_API_URL", "https://user:" + password + "@discord.com"}, want: []string{"DISCORD_API_URL", "password"}},
		{name: "Discord with a broken escape", set: []string{"DISCORD_API_URL", "https://user:" + password + "%zz@discord.com"}, want: []string{"DISCORD_API_URL"}},
		{name: "Riot without a host", set: []string{"RIOT_API_URL", "https:///{route}"}, want: []string{"RIOT_API_URL", "host"}},
		{name: "Riot with a key in it", set: []string{"RIOT_API_URL", "https://{route}.api.riotgames.com?api_key=" + password}, want: []string{"RIOT_API_URL", "query"}},
		{name: "Data Dragon is no address", set: []string{"DDRAGON_URL", "::"}, want: []string{"DDRAGON_URL", "https://"}},

		{name: "hour of a second", args: "run --hour 1s", want: []string{"--hour 1s", "2s"}},
		{name: "hour of a day", args: "run --hour 24h", want: []string{"--hour 24h", "1h"}},
		{name: "negative hour", args: "run --hour=-5s", want: []string{"--hour -5s", "2s"}},
		{name: "hour without a unit", args: "run --hour 20", want: []string{"--hour", "20"}},
		{name: "hour in words", args: "run --hour banana", want: []string{"--hour", "banana"}},
		{name: "hour of the demo", args: "demo --hour 1s", want: []string{"--hour 1s", "at least"}},

		{name: "kind of database", set: []string{"DATABASE_URL", "mysql://user:" + password + "@127.0.0.1/x"}, want: []string{"DATABASE_URL", "sqlite:", "postgres://"}},
		{name: "SQLite without a file", set: []string{"DATABASE_URL", "sqlite:"}, want: []string{"DATABASE_URL", "riftchime.db"}},
		{name: "SQLite in memory", set: []string{"DATABASE_URL", "sqlite::memory:"}, want: []string{"DATABASE_URL", "riftchime.db"}},
		{name: "SQLite in a missing folder", set: []string{"DATABASE_URL", "sqlite:/nowhere/riftchime.db"}, want: []string{"DATABASE_URL", "folder"}},
		{name: "SQLite is a folder", prepare: func(t *testing.T, _ settings) []string { return []string{"DATABASE_URL", "sqlite:" + t.TempDir()} },
			want: []string{"DATABASE_URL", "not a file"}},
		{name: "SQLite is something else", prepare: func(t *testing.T, _ settings) []string {
			return []string{"DATABASE_URL", "sqlite:" + file(t, strings.Repeat("This is a shopping list, and no database. ", 200))}
		}, want: []string{"DATABASE_URL", "not a database"}},
		{name: "SQLite of a newer program", prepare: func(t *testing.T, env settings) []string {
			newer(t, env["DATABASE_URL"])
			return nil
		}, want: []string{"DATABASE_URL", "newer RiftChime", "update"}},
		{name: "PostgreSQL on a closed port", set: []string{"DATABASE_URL", "postgres://user:" + password + "@127.0.0.1:1/x"},
			want: []string{"DATABASE_URL", "PostgreSQL cannot be reached", "check"}},
		{name: "PostgreSQL by a bad address", set: []string{"DATABASE_URL", "postgres://user:" + password + "@127.0.0.1:port/x"}, want: []string{"DATABASE_URL"}},
		{name: "PostgreSQL with a broken escape", set: []string{"DATABASE_URL", "postgres://user:" + password + "%zz@127.0.0.1/x"}, want: []string{"DATABASE_URL"}},
		{name: "PostgreSQL without the database", prepare: func(t *testing.T, _ settings) []string {
			u, err := url.Parse(testDatabase(t))
			if err != nil {
				t.Fatal(err)
			}
			u.Path = "/no_such_database"
			return []string{"DATABASE_URL", u.String()}
		}, want: []string{"DATABASE_URL", "no_such_database"}},
		{name: "PostgreSQL of a newer program", prepare: func(t *testing.T, _ settings) []string {
			u := postgresURL(t)
			newer(t, u)
			return []string{"DATABASE_URL", u}
		}, want: []string{"DATABASE_URL", "newer RiftChime", "update"}},
		{name: "migrate a newer database", args: "migrate", prepare: func(t *testing.T, env settings) []string {
			newer(t, env["DATABASE_URL"])
			return nil
		}, want: []string{"DATABASE_URL", "newer RiftChime", "update"}},

		{name: "port in use", prepare: func(t *testing.T, _ settings) []string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return []string{"LISTEN_ADDR", l.Addr().String()}
		}, want: []string{"LISTEN_ADDR", "in use", "another address"}},
		{name: "no address to listen on", set: []string{"LISTEN_ADDR", "everywhere"}, want: []string{"LISTEN_ADDR", "everywhere"}},

		{name: "unknown command", args: "rnu", want: []string{"rnu", "--help"}},
		{name: "no command", args: " ", want: []string{"--help"}},
		{name: "unknown flag", args: "run --discord-tokne=" + password, want: []string{"--discord-tokne", "--help"}},
		{name: "flag without a value", args: "run --hour", want: []string{"--hour", "--help"}},
		{name: "report without a channel", args: "report", want: []string{"--channel"}},
		{name: "report of letters", args: "report --channel general", want: []string{"--channel", "id"}},
		{name: "report without a database", args: "report --channel 1", want: []string{"DATABASE_URL"}},
		{name: "invite without a token", args: "invite", set: []string{"DISCORD_TOKEN", ""}, want: []string{"DISCORD_TOKEN is not set"}},
		{name: "simulate nothing", args: "simulate", want: []string{"riot", "discord"}},
		{name: "simulate nowhere", args: "simulate discord --addr nowhere", want: []string{"--addr", "nowhere"}},
		{name: "simulate too many players", args: "simulate riot --addr 127.0.0.1:0 --players -1", want: []string{"--players"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env := elsewhere(t)
			env = env.with(c.set...)
			if c.prepare != nil {
				env = env.with(c.prepare(t, env)...)
			}
			args := strings.Fields(c.args)
			if c.args == "" {
				args = []string{"run"}
			}
			p := launch(t, env, args...)
			p.secrets = append(p.secrets, password)
			line := p.complaint(20*time.Second, 2)
			for _, want := range c.want {
				if !strings.Contains(line, want) {
					t.Errorf("it does not say %q: %s", want, line)
				}
			}
			if out := p.out.String(); out != "" {
				t.Errorf("on standard output: %q", out)
			}
			t.Log(line)
		})
	}
}

// newer makes a database seem that of a newer program.
func newer(t *testing.T, databaseURL string) {
	t.Helper()
	db := openDatabase(t, databaseURL)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const insert = `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`
	file, ok := strings.CutPrefix(databaseURL, "sqlite:")
	if !ok {
		statement(t, databaseURL, insert)
		return
	}
	raw, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.ExecContext(t.Context(), insert); err != nil {
		t.Fatal(err)
	}
}

// A second program on the same SQLite file ends; the first goes on.
func TestSecondOnSQLite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{})
	env := w.settings(sqliteURL(t))
	first := launch(t, env, "run")
	first.ready(30 * time.Second)
	second := launch(t, env, "run")
	line := second.complaint(20*time.Second, 2)
	contains(t, "the line", line, "another riftchime", "SQLite file", "DATABASE_URL")
	t.Log(line)
	if !first.running() {
		t.Error("the first one ended")
	}
	first.ready(time.Second)
}

// A token that Discord does not take, and an intent that it does not allow, end
// the program with exit code 3 (DESIGN section 7).
func TestFatal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		wrong bool // the token
		code  int
		want  []string
	}{
		{name: "4004", code: 4004, want: []string{"4004", "DISCORD_TOKEN"}},
		{name: "4014", code: 4014, want: []string{"4014", "intent", "https://discord.com/developers"}},
		{name: "unknown token", wrong: true, want: []string{"DISCORD_TOKEN"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, riottest.Options{}, discordtest.Options{})
			if c.code != 0 {
				w.discord.FailGateway(discordtest.GatewayFault{At: discordtest.StageIdentify, Do: discordtest.ActClose, Code: c.code, Count: -1})
			}
			env := w.settings(sqliteURL(t))
			if c.wrong {
				env = env.with("DISCORD_TOKEN", "another."+password)
			}
			p := launch(t, env.with("LOG_LEVEL", "debug"), "run")
			p.secrets = append(p.secrets, password)
			line := p.complaint(30*time.Second, 3)
			contains(t, "the line", line, c.want...)
			t.Logf("after %s: %s", p.ended.Sub(p.began).Round(time.Millisecond), line)
			if n := w.discord.Stats().Identifies; n > 1 {
				t.Errorf("it identified %d times", n)
			}
		})
	}
}

// A program whose token is in a file works, line break at its end and all.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, riottest.Options{}, discordtest.Options{})
	dir := t.TempDir()
	env := w.settings(sqliteURL(t)).with("DISCORD_TOKEN", "", "RIOT_API_KEY", "")
	for name, value := range map[string]string{"DISCORD_TOKEN": token, "RIOT_API_KEY": key} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(value+"\r\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env[name+"_FILE"] = file
	}
	launch(t, env, "run").ready(30 * time.Second)
}
