package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/discordtest"
	"riftchime/bot/hour"
	"riftchime/bot/render"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

// onTime is how late a report may be in the demo, on a busy machine too.
const onTime = 250 * time.Millisecond

// demoCmd shows RiftChime at work between two local test servers.
type demoCmd struct {
	Hours    int           `default:"0" placeholder:"N" help:"End after so many hours; 0: with Ctrl-C."`
	Hour     time.Duration `default:"20s" help:"How long an hour lasts (${default}; 10s at least)."`
	Players  int           `default:"24" help:"How many players live in the demo's world (${default}; 6 to 200)."`
	Seed     uint64        `default:"1" help:"Another seed is another world (${default})."`
	Keep     string        `placeholder:"FILE" help:"Keep the database in FILE, for riftchime report."`
	LogLevel string        `env:"LOG_LEVEL" default:"warn" enum:"debug,info,warn,error" help:"debug, info, warn or error (${default})."`
}

// Run lets the hours pass, printing each report as it is posted, and sums up.
func (c *demoCmd) Run(ctx context.Context, s streams) error {
	if c.Hour < 10*time.Second || c.Hour > time.Hour {
		return settingsErrorf("--hour %s: the demo's hour lasts 10s at least and 1h at most", c.Hour)
	}
	if c.Players < 6 || c.Players > 200 {
		return settingsErrorf("--players %d: the demo's world has 6 to 200 players", c.Players)
	}
	if c.Hours < 0 {
		return settingsErrorf("--hours %d: it must be 0 or more", c.Hours)
	}
	dir, err := os.MkdirTemp("", "riftchime-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d := &demo{cmd: c, clock: schedule.Clock{Hour: c.Hour}, file: filepath.Join(dir, "demo.db"), out: &screen{w: s.out, live: isTerminal(s.out)}}
	if c.Keep != "" {
		d.file = c.Keep
	}
	if err := d.run(ctx, s); err != nil {
		return err
	}
	return d.summary()
}

// demo is one showing.
type demo struct {
	cmd     *demoCmd
	clock   schedule.Clock
	file    string
	out     *screen
	world   *riottest.Server
	discord *discordtest.Server
	groups  []riottest.Group

	mu       sync.Mutex // guards what follows
	first    time.Time  // the first slot that counts
	lateness []time.Duration
	ages     []time.Duration
	posts    map[int64]int // by slot
	quiet    int
	edits    int
}

// channelOf is the id of a group's channel.
func channelOf(group int) string { return strconv.Itoa(2_000_000_000_000_000_000 + group) }

const (
	demoKey   = "RGAPI-demo"
	demoToken = "demo.token.of-no-account"
	demoGuild = "1000000000000000001"
)

func (d *demo) run(ctx context.Context, s streams) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.posts = map[int64]int{}
	d.world = riottest.NewServer(riottest.Options{
		Keys: []string{demoKey}, Seed: d.cmd.Seed,
		Latency: func(riottest.Call) (before, after time.Duration) {
			return 10*time.Millisecond + rand.N(30*time.Millisecond), 10*time.Millisecond + rand.N(60*time.Millisecond)
		},
		Live: riottest.Live{GamesPerHour: 0.6, Remakes: 0.05},
	})
	var err error
	if d.groups, err = d.world.Populate(d.cmd.Players, d.cmd.Seed); err != nil {
		return err
	}
	riotAt, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	riotServer := &http.Server{Handler: d.world, ReadHeaderTimeout: 5 * time.Second}
	defer riotServer.Close()
	d.discord = discordtest.New(discordtest.Options{Token: demoToken, Latency: 20 * time.Millisecond})
	defer d.discord.Close()
	discordURL, err := d.discord.Start("")
	if err != nil {
		return err
	}
	guild := discordtest.Guild{ID: demoGuild, Name: "Demo", OwnerID: "1"}
	for i, g := range d.groups {
		guild.Channels = append(guild.Channels, discordtest.Channel{ID: channelOf(i), Name: fmt.Sprintf("friends-%s-%d", g.Platform, i+1)})
	}
	d.discord.AddGuild(guild)
	d.discord.OnMessage(d.posted)

	log := logSettings{LogLevel: d.cmd.LogLevel, LogFormat: "text"}.logger(d.out)
	db, err := openStore(ctx, "sqlite:"+d.file, false, log)
	if err != nil {
		return err
	}
	defer db.Close()

	riotURL := "http://" + riotAt.Addr().String()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		if err := riotServer.Serve(riotAt); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		err := serve(ctx, service{
			token: demoToken, keys: []string{demoKey}, clock: d.clock, db: db, log: log, hooks: d.hooks(),
			discordURL: discordURL, riotURL: riotURL + "/{route}", ddragonURL: riotURL + "/ddragon",
		})
		if err == nil && ctx.Err() == nil {
			err = errors.New("the bot stopped by itself")
		}
		return err
	})
	g.Go(func() error {
		defer riotServer.Close()
		defer cancel()
		return d.play(ctx)
	})
	return g.Wait()
}

// play is what people do: they register their friends, and play.
func (d *demo) play(ctx context.Context) error {
	d.out.say("RiftChime's demo: an hour lasts %s. Nothing leaves this machine.\n", d.cmd.Hour)
	if err := d.discord.WaitConnected(ctx, 1); err != nil {
		return stopped(ctx, err)
	}
	for len(d.discord.Commands("")) == 0 {
		if !pause(ctx, 20*time.Millisecond) {
			return nil
		}
	}
	for i, g := range d.groups {
		if err := d.register(ctx, i, g); err != nil {
			return stopped(ctx, err)
		}
	}
	living, end := context.WithCancel(ctx)
	var world sync.WaitGroup
	defer world.Wait()
	defer end()
	world.Go(func() { _ = d.world.RunWorld(living, d.cmd.Hour) })

	// The first hour that counts leaves the friends time for a game.
	slot := d.clock.Next(time.Now().Add(d.cmd.Hour/3), schedule.All, time.UTC)
	d.mu.Lock()
	d.first = slot
	d.mu.Unlock()
	for n := 0; d.cmd.Hours == 0 || n < d.cmd.Hours; n++ {
		// Somebody plays each hour: a group in turn, in the first half of it.
		if !pause(ctx, time.Until(slot.Add(-d.cmd.Hour*2/3))) {
			return nil
		}
		group := d.groups[n%len(d.groups)]
		result := riottest.Win
		if n%3 == 2 {
			result = riottest.Loss
		}
		if _, err := d.world.Play(420, result, group.Players[:min(2, len(group.Players))]...); err != nil {
			return err
		}
		if !pause(ctx, time.Until(slot)) {
			return nil
		}
		slot = d.clock.Next(slot, schedule.All, time.UTC)
	}
	// What belongs to the last hour is out soon after it.
	pause(ctx, 2*time.Second+time.Duration(len(d.groups))*time.Second/45)
	return nil
}

// register follows a group of friends in their channel, each hour.
func (d *demo) register(ctx context.Context, i int, g riottest.Group) error {
	ids := make([]string, len(g.Players))
	for j, id := range g.Players {
		p, _ := d.world.Player(id)
		ids[j] = p.GameName + "#" + p.TagLine
	}
	locale := "en-US"
	if g.Platform == "kr" {
		locale = "ko"
	}
	for _, in := range []discordtest.Interaction{
		{Command: "register", Options: []discordtest.Option{{Name: "riot_id", Value: strings.Join(ids, ", ")}}},
		{Command: "schedule", Options: []discordtest.Option{{Name: "hours", Value: "all"}}},
	} {
		in.Guild, in.Channel = demoGuild, channelOf(i)
		in.User = discordtest.User{ID: strconv.Itoa(3_000_000_000_000_000_000 + i), Locale: locale}
		res, err := d.discord.Interact(ctx, in)
		if err != nil {
			return fmt.Errorf("/%s: %w", in.Command, err)
		}
		m, err := res.Final(ctx)
		if err != nil {
			return fmt.Errorf("/%s: %w", in.Command, err)
		}
		if i < 2 { // the rest reads the same
			d.out.say("/%s %v\n%s\n", in.Command, in.Options[0].Value, indent(strings.TrimSpace(m.Content+embedText(m))))
		}
	}
	return nil
}

func embedText(m discordtest.Message) string {
	var b strings.Builder
	for _, e := range m.Embeds {
		fmt.Fprintf(&b, "%s\n%s\n", e.Title, e.Description)
		for _, f := range e.Fields {
			fmt.Fprintf(&b, "%s\n%s\n", f.Name, f.Value)
		}
	}
	return b.String()
}

// hooks show what goes on while it is fetched, and keep what the summary needs.
func (d *demo) hooks() hour.Hooks {
	return hour.Hooks{
		Progress: d.out.progress,
		Skipped: func(_ store.ChannelID, slot time.Time, _ string) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.first.IsZero() && !slot.Before(d.first) {
				d.quiet++
			}
		},
		DataAge: func(slot time.Time, age time.Duration) {
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.first.IsZero() && !slot.Before(d.first) {
				d.ages = append(d.ages, age)
			}
		},
		Edited: func(store.ChannelID, time.Time, []byte) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.edits++
		},
	}
}

// posted is told by the local Discord of each message, by its own clock.
func (d *demo) posted(m discordtest.Message) {
	// A message counts for the nearest slot: one that is early must show.
	slot := d.clock.Last(m.Arrived.Add(d.cmd.Hour/4), schedule.All, time.UTC)
	late := m.Arrived.Sub(slot)
	d.mu.Lock()
	counts := !d.first.IsZero() && !slot.Before(d.first)
	if counts {
		d.lateness = append(d.lateness, late)
		d.posts[slot.UnixMilli()]++
	}
	d.mu.Unlock()
	name := m.Channel
	for i, g := range d.groups {
		if channelOf(i) == m.Channel {
			name = fmt.Sprintf("#friends-%s-%d", g.Platform, i+1)
		}
	}
	d.out.say("── %s  %s, %d ms after the hour\n%s\n", name, m.Arrived.Local().Format("15:04:05.000"), late.Milliseconds(),
		indent(render.Text(render.Message{Body: m.Body})))
}

// summary prints what was measured and fails where a promise was broken.
func (d *demo) summary() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	riot, disc := d.world.Stats(), d.discord.Stats()
	refusedDiscord := disc.Global429 + disc.Bucket429
	early := 0
	for _, l := range d.lateness {
		if l < 0 {
			early++
		}
	}
	d.out.say("── Summary")
	d.out.say("reports     %d messages in %d hours; %d channels had nothing to tell; %d edits", len(d.lateness), len(d.posts), d.quiet, d.edits)
	d.out.say("lateness    median %s, 99th percentile %s, most %s; early %d",
		quantile(d.lateness, .5), quantile(d.lateness, .99), quantile(d.lateness, 1), early)
	var calls []string
	for method, n := range riot.ByMethod {
		calls = append(calls, fmt.Sprintf("%s %d", method, n))
	}
	slices.Sort(calls)
	d.out.say("Riot        %d calls (%s); refused %d", riot.Requests, strings.Join(calls, ", "), riot.Refusals())
	d.out.say("Discord     %d messages, most %d requests in a second; refused %d, rules broken %d",
		disc.Messages, disc.MaxPerSecond, refusedDiscord, len(disc.Violations))
	d.out.say("data        median %s old on the hour, most %s", quantile(d.ages, .5), quantile(d.ages, 1))
	switch {
	case early > 0:
		return fmt.Errorf("%d messages were early", early)
	case len(d.lateness) > 0 && slices.Max(d.lateness) >= d.bound():
		return fmt.Errorf("a message was %s late", slices.Max(d.lateness))
	case riot.Refusals() > 0 || refusedDiscord > 0:
		return fmt.Errorf("refused %d times by Riot, %d times by Discord", riot.Refusals(), refusedDiscord)
	case len(disc.Violations) > 0:
		return fmt.Errorf("a rule of Discord was broken: %s (%s)", disc.Violations[0].Name, disc.Violations[0].Detail)
	case len(d.posts) < d.cmd.Hours:
		return fmt.Errorf("posted in %d of %d hours", len(d.posts), d.cmd.Hours)
	}
	return nil
}

// bound is how late the last message may be: on time, or, with so many channels
// that Discord's pace alone takes longer, that pace.
func (d *demo) bound() time.Duration {
	return max(onTime, time.Duration(len(d.groups))*time.Second/45+onTime/2)
}

// quantile is the q-th part of ds, rounded for reading.
func quantile(ds []time.Duration, q float64) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(ds))
	return s[min(len(s)-1, int(q*float64(len(s))))].Round(time.Millisecond)
}

func indent(s string) string {
	return "   " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n   ")
}

// stopped is nil where ctx ended, since then err only says so.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// screen writes lines, and one progress line below them that is overwritten. It
// is safe for concurrent use.
type screen struct {
	w    io.Writer
	live bool // a terminal: the progress line can be overwritten

	mu   sync.Mutex // guards what follows
	last string
}

// Write takes log lines.
func (s *screen) Write(p []byte) (int, error) {
	s.say("%s", strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func (s *screen) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != "" && s.live {
		fmt.Fprint(s.w, "\r\x1b[K")
	}
	s.last = ""
	fmt.Fprintf(s.w, format+"\n", args...)
}

// progress shows how far a slot is. Without a terminal only the end is told.
func (s *screen) progress(slot time.Time, done, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := fmt.Sprintf("fetching for %s: %d of %d players", slot.Local().Format(time.TimeOnly), done, total)
	switch {
	case s.live:
		fmt.Fprint(s.w, "\r\x1b[K"+line)
		s.last = line
	case done == total:
		fmt.Fprintln(s.w, line)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
