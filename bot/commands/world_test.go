package commands_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/commands"
	"riftchime/bot/report"
	"riftchime/riot"
	"riftchime/store"
	"riftchime/store/sqlite"
)

// What the program passes in fits.
var (
	_ commands.Caller = riot.Caller{}
	_ commands.Store  = store.Store(nil)
)

// start is when every world begins: 2026-03-10 10:20 in Seoul.
var start = time.Date(2026, 3, 10, 1, 20, 0, 0, time.UTC)

// world is the commands on a real store, with a Riot of its own.
type world struct {
	t        testing.TB
	store    store.Store
	riot     *maplEiot
	commands *commands.Commands
	now      time.Time

	mu      sync.Mutex // guards what follows
	changed int
	ranks   []store.PlayerID
	refresh func(ctx context.Context, channel store.ChannelID, olderThan time.Duration) ([]report.Missing, error)
	status  commands.StatusInfo
}

// empty is a database without rows, made once.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "commands")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "empty.db")
	s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Migrate(context.Background()), s.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func migrated(t testing.TB) []byte {
	t.Helper()
	body, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// option changes how a world is wired.
type option func(*commands.Options)

func newWorld(t testing.TB, options ...option) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(path, migrated(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, store: s, riot: newMaplEiot(), now: start}
	o := commands.Options{
		Store: s,
		Riot:  func(key riot.Fingerprint) commands.Caller { return caller{w.riot, key} },
		Keys:  func() []riot.Fingerprint { return []riot.Fingerprint{"aaaaaaaa"} },
		Refresh: func(ctx context.Context, channel store.ChannelID, olderThan time.Duration) ([]report.Missing, error) {
			w.mu.Lock()
			f := w.refresh
			w.mu.Unlock()
			if f == nil {
				return nil, nil
			}
			return f(ctx, channel, olderThan)
		},
		RanksSoon: func(p store.PlayerID, _ store.ChannelID) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ranks = append(w.ranks, p)
		},
		Changed: func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.changed++
		},
		Names:  champions{},
		Now:    func() time.Time { return w.now },
		Status: func(context.Context, store.ServerID, store.ChannelID) commands.StatusInfo { return w.status },
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, f := range options {
		f(&o)
	}
	if w.commands, err = commands.New(o); err != nil {
		t.Fatal(err)
	}
	return w
}

// on is w for a test within a test, such as each run of a fuzz target.
func (w *world) on(t testing.TB) *world {
	return &world{t: t, store: w.store, riot: w.riot, commands: w.commands, now: w.now}
}

// press is one use of a command. The zero value of each field has a default.
type press struct {
	command      string
	server       string // "100"
	channel      string // "200"
	locale       string // "en-US"
	serverLocale string // "en-US"
	member       int64  // permissions of the person; 0: none
	bot          int64  // permissions of the bot; 0: not told
	options      map[string]any
	focus        string
}

const manager = discordgo.PermissionManageGuild

func (p press) interaction(t testing.TB) *discordgo.Interaction {
	t.Helper()
	or := func(s, def string) string {
		if s == "" {
			return def
		}
		return s
	}
	kind := discordgo.InteractionApplicationCommand
	options := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(p.options)) {
		o := map[string]any{"name": name, "type": 3, "value": p.options[name]}
		if _, ok := p.options[name].(bool); ok {
			o["type"] = 5
		}
		if name == p.focus {
			o["focused"] = true
			kind = discordgo.InteractionApplicationCommandAutocomplete
		}
		options = append(options, o)
	}
	body, err := json.Marshal(map[string]any{
		"id": "1", "application_id": "2", "type": kind, "token": "t", "version": 1,
		"guild_id": or(p.server, "100"), "channel_id": or(p.channel, "200"),
		"locale": or(p.locale, "en-US"), "guild_locale": or(p.serverLocale, "en-US"),
		"app_permissions": fmt.Sprint(p.bot),
		"member":          map[string]any{"permissions": fmt.Sprint(p.member), "user": map[string]any{"id": "5"}},
		"data":            map[string]any{"id": "3", "name": p.command, "type": 1, "options": options},
	})
	if err != nil {
		t.Fatal(err)
	}
	var i discordgo.Interaction
	if err := json.Unmarshal(body, &i); err != nil {
		t.Fatal(err)
	}
	return &i
}

// do uses a command and returns all that the person reads.
func (w *world) do(p press) string {
	w.t.Helper()
	return w.text(p, w.command(p.command).Run(w.t.Context(), p.interaction(w.t)))
}

func (w *world) command(name string) commands.Command {
	w.t.Helper()
	all := w.commands.All()
	i := slices.IndexFunc(all, func(c commands.Command) bool { return c.Def.Name == name })
	if i < 0 {
		w.t.Fatalf("no command %s", name)
	}
	return all[i]
}

// text checks a response against Discord's rules and joins its texts.
func (w *world) text(p press, d *discordgo.InteractionResponseData) string {
	w.t.Helper()
	checkResponse(w.t, d, w.command(p.command).Ephemeral)
	texts := []string{d.Content}
	for _, e := range d.Embeds {
		texts = append(texts, e.Title, e.Description)
		for _, f := range e.Fields {
			texts = append(texts, f.Name, f.Value)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

func checkResponse(t testing.TB, d *discordgo.InteractionResponseData, ephemeral bool) {
	t.Helper()
	if d == nil {
		t.Fatal("no response")
		return // Fatal ends the test; a checker of nil pointers does not know
	}
	if d.Content == "" && len(d.Embeds) == 0 {
		t.Error("an empty response")
	}
	if d.AllowedMentions == nil || d.AllowedMentions.Parse == nil || len(d.AllowedMentions.Parse) > 0 {
		t.Errorf("allowed_mentions %+v, want parse []", d.AllowedMentions)
	}
	if got := d.Flags&discordgo.MessageFlagsEphemeral != 0; got != ephemeral {
		t.Errorf("ephemeral %t, want %t", got, ephemeral)
	}
	if n := size(d.Content); n > 2000 {
		t.Errorf("content of %d, more than 2000", n)
	}
	total := 0
	for _, e := range d.Embeds {
		if n := size(e.Description); n > 4096 {
			t.Errorf("description of %d, more than 4096", n)
		}
		total += size(e.Title) + size(e.Description)
		for _, f := range e.Fields {
			total += size(f.Name) + size(f.Value)
		}
		if e.Footer != nil {
			total += size(e.Footer.Text)
		}
		if e.Author != nil {
			total += size(e.Author.Name)
		}
	}
	if total > 6000 || len(d.Embeds) > 10 {
		t.Errorf("%d embeds of %d in total, more than 10 or 6000", len(d.Embeds), total)
	}
	if strings.Contains(d.Content, "<no value>") {
		t.Errorf("a place was not filled: %s", d.Content)
	}
}

func size(s string) int { return len(utf16.Encode([]rune(s))) }

// names are the channel's players in order, with their platforms.
func (w *world) names(channel store.ChannelID) []string {
	w.t.Helper()
	follows, err := w.store.Registrations(w.t.Context(), channel)
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, f := range follows {
		names = append(names, f.Player.Name()+" "+f.Player.Platform)
	}
	return names
}

func (w *world) channel(id store.ChannelID) store.Channel {
	w.t.Helper()
	c, err := w.store.Channel(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) register(ids ...string) {
	w.t.Helper()
	for _, id := range ids {
		if _, ok := w.riot.find(id); !ok {
			w.riot.add(id, "euw1")
		}
	}
	before := len(ids)
	answer := w.do(press{command: "register", options: map[string]any{"riot_id": strings.Join(ids, ",")}})
	if got := strings.Count(answer, "✅"); got != before {
		w.t.Fatalf("%d of %d registered: %s", got, before, answer)
	}
}

// contains fails unless each part is in s.
func contains(t testing.TB, s string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(s, p) {
			t.Errorf("got %q, want %q in it", s, p)
		}
	}
}

func lacks(t testing.TB, s string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(s, p) {
			t.Errorf("got %q, want no %q in it", s, p)
		}
	}
}

// maplEiot keeps Riot's promises as far as commands see them: Riot IDs whatever
// the letter case, PUUIDs of one key only, profiles where an account played.
type maplEiot struct {
	mu       sync.Mutex // guards what follows
	accounts map[string]*account
	broken   map[string]error // by "method route" or "method"
	hang     map[string]bool  // methods that answer with the context only
	calls    map[string]int   // by "method route"
	running  int
	most     int
}

type account struct {
	id       riot.RiotID
	name     string // of the account, in every key's PUUID
	home     riot.Platform
	profiles []riot.Platform
	noRegion int // status of the region endpoint where it has no answer
	games    []riot.MatchID
	silent   bool // Riot leaves the Riot ID out
}

func newMaplEiot() *maplEiot {
	return &maplEiot{
		accounts: map[string]*account{}, broken: map[string]error{},
		hang: map[string]bool{}, calls: map[string]int{},
	}
}

func (f *maplEiot) add(id string, home riot.Platform) *account {
	f.mu.Lock()
	defer f.mu.Unlock()
	parsed, err := riot.ParseRiotID(id)
	if err != nil {
		panic(err)
	}
	a := &account{id: parsed, name: fmt.Sprintf("account-%d", len(f.accounts)), home: home, profiles: []riot.Platform{home}}
	f.accounts[parsed.Fold()] = a
	return a
}

func (f *maplEiot) find(id string) (*account, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	parsed, err := riot.ParseRiotID(id)
	if err != nil {
		return nil, false
	}
	a, ok := f.accounts[parsed.Fold()]
	return a, ok
}

func (f *maplEiot) called(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for k, v := range f.calls {
		if strings.HasPrefix(k, method+" ") {
			n += v
		}
	}
	return n
}

// begin counts a call and says how it fails.
func (f *maplEiot) begin(ctx context.Context, method, route string) (end func(), err error) {
	f.mu.Lock()
	f.calls[method+" "+route]++
	f.running++
	f.most = max(f.most, f.running)
	hang := f.hang[method]
	err = f.broken[method+" "+route]
	if err == nil {
		err = f.broken[method]
	}
	f.mu.Unlock()
	end = func() {
		f.mu.Lock()
		f.running--
		f.mu.Unlock()
	}
	if hang {
		<-ctx.Done()
		err = ctx.Err()
	}
	return end, err
}

func failure(kind riot.Kind, status int) error {
	return &riot.Error{Kind: kind, Method: "test", Route: "test", Status: status}
}

type caller struct {
	riot *maplEiot
	key  riot.Fingerprint
}

func (c caller) puuid(a *account) riot.PUUID { return riot.PUUID(string(c.key) + "/" + a.name) }

func (c caller) byPUUID(id riot.PUUID) (*account, error) {
	c.riot.mu.Lock()
	defer c.riot.mu.Unlock()
	for _, a := range c.riot.accounts {
		if c.puuid(a) == id {
			return a, nil
		}
	}
	return nil, failure(riot.KindDecrypting, 400)
}

func (c caller) AccountByRiotID(ctx context.Context, on riot.Region, id riot.RiotID) (riot.Account, error) {
	end, err := c.riot.begin(ctx, "account", string(on))
	defer end()
	if err != nil {
		return riot.Account{}, err
	}
	c.riot.mu.Lock()
	defer c.riot.mu.Unlock()
	a, ok := c.riot.accounts[id.Fold()]
	if !ok {
		return riot.Account{}, failure(riot.KindNotFound, 404)
	}
	if a.silent {
		return riot.Account{PUUID: c.puuid(a)}, nil
	}
	return riot.Account{PUUID: c.puuid(a), RiotID: a.id}, nil
}

func (c caller) ActivePlatform(ctx context.Context, on riot.Region, id riot.PUUID) (riot.Platform, error) {
	end, err := c.riot.begin(ctx, "region", string(on))
	defer end()
	if err != nil {
		return "", err
	}
	a, err := c.byPUUID(id)
	switch {
	case err != nil:
		return "", err
	case a.noRegion == 404:
		return "", failure(riot.KindNotFound, 404)
	case a.noRegion != 0:
		return "", failure(riot.KindUnavailable, a.noRegion)
	}
	return a.home, nil
}

func (c caller) Summoner(ctx context.Context, on riot.Platform, id riot.PUUID) (riot.Summoner, error) {
	end, err := c.riot.begin(ctx, "summoner", string(on))
	defer end()
	if err != nil {
		return riot.Summoner{}, err
	}
	a, err := c.byPUUID(id)
	if err != nil {
		return riot.Summoner{}, err
	}
	if !slices.Contains(a.profiles, on) {
		return riot.Summoner{}, failure(riot.KindNotFound, 404)
	}
	return riot.Summoner{PUUID: id, Level: 30}, nil
}

func (c caller) MatchIDs(ctx context.Context, on riot.Platform, id riot.PUUID, q riot.MatchIDsQuery) ([]riot.MatchID, error) {
	end, err := c.riot.begin(ctx, "ids", string(on))
	defer end()
	if err != nil {
		return nil, err
	}
	a, err := c.byPUUID(id)
	if err != nil {
		return nil, err
	}
	count := q.Count
	if count == 0 {
		count = 20
	}
	if on.MatchRegion() != a.home.MatchRegion() {
		return nil, nil // how a wrong route looks
	}
	return a.games[:min(count, len(a.games))], nil
}

// champions have the names of the match.
type champions struct{}

func (champions) Champion(_ int, matchName, _ string) string { return matchName }

func (champions) Icon(int, string) string { return "" }
