// Package hour does RiftChime's main job: before each slot it refreshes the
// players that are due, composes and renders each channel's report, and on the
// slot it delivers them.
//
// A slot is an instant at which at least one channel chimes. Slots are served
// side by side, each by a run of its own: the fetching for one may begin while
// late messages of the one before are still being retried.
package hour

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"riftchime/bot/discord"
	"riftchime/bot/render"
	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/store"
)

// Riot is what a refresh asks of Riot, under one key and at one priority.
type Riot interface {
	AccountByRiotID(ctx context.Context, region riot.Region, id riot.RiotID) (riot.Account, error)
	ActivePlatform(ctx context.Context, region riot.Region, puuid riot.PUUID) (riot.Platform, error)
	LeagueEntries(ctx context.Context, platform riot.Platform, puuid riot.PUUID) ([]riot.LeagueEntry, error)
	MatchIDs(ctx context.Context, platform riot.Platform, puuid riot.PUUID, q riot.MatchIDsQuery) ([]riot.MatchID, error)
	Match(ctx context.Context, id riot.MatchID) (*riot.Match, error)
}

// Urgency is how urgent a request to Riot is.
type Urgency uint8

const (
	// ForSlot: the next slot waits for it.
	ForSlot Urgency = iota
	// ForPerson: somebody looks at a screen.
	ForPerson
	// ForRetry: asked before for the slot, and failed: ahead of what was not
	// asked yet.
	ForRetry
	// Background: nobody waits.
	Background
)

// Poster is what a delivery asks of Discord; discord.Client has it.
type Poster interface {
	Post(ctx context.Context, channel int64, body json.RawMessage, nonce string) (int64, error)
	Edit(ctx context.Context, channel, message int64, body json.RawMessage) error
	Newest(ctx context.Context, channel int64, most int) ([]discord.Message, error)
	Channel(ctx context.Context, id int64) (discord.Channel, error)
	Warm(ctx context.Context) error
}

// Store is what the hour keeps and asks; store.Store has it.
type Store interface {
	store.Settings
	store.Players
	store.Matches
	store.Reports
	store.Records
}

// Hooks are told what happens; each may be nil. They are called from several
// goroutines and must return soon.
type Hooks struct {
	// Progress tells how many of a slot's players are read.
	Progress func(slot time.Time, done, total int)
	// Sent tells of each message: late is the answer's arrival after the slot.
	Sent func(p store.Part, late time.Duration)
	// Edited tells of each edit of a partial report.
	Edited func(channel store.ChannelID, slot time.Time, body []byte)
	// Skipped tells of each report that is not sent.
	Skipped func(channel store.ChannelID, slot time.Time, reason string)
	// DataAge tells how old a player's data is at the slot.
	DataAge func(slot time.Time, age time.Duration)
}

// Options are the parts that the hour is made of.
type Options struct {
	Store Store
	// Riot gives the calls under a key's fingerprint.
	Riot func(key string, u Urgency) Riot
	// DefaultKey serves players of servers without a key.
	DefaultKey func() string
	// Estimate is the least time that so many calls a method take on a host.
	// nil means that they take none.
	Estimate func(key, host string, calls map[string]int) time.Duration
	Discord  Poster
	// Self is the bot's own user id, 0 until it is known.
	Self  func() int64
	Clock schedule.Clock
	Names render.Names
	// Workers refresh players of one platform at a time. 0 means 16.
	Workers int
	// Senders post at a time. 0 means 48.
	Senders int
	Hooks   Hooks
	Logger  *slog.Logger
}

// Hour serves slots. Use New.
type Hour struct {
	o   Options
	log *slog.Logger

	wake chan struct{}

	mu sync.Mutex // guards what follows
	// runs are the slots being served, by Unix milliseconds.
	runs map[int64]*run
	// rates are what the last slots taught, to plan the next one.
	gamesPerPlayer float64
	ranksPerPlayer float64
	// caughtUp are the slots that were served late, by Unix milliseconds: each
	// is once.
	caughtUp map[int64]bool
	// plain are the channels that took no embeds lately, and until when they
	// get text without trying.
	plain map[store.ChannelID]time.Time
	// trials are the channels that were resumed to see whether Discord takes
	// their messages again, with the time of their pause.
	trials map[store.ChannelID]time.Time
	// floors are the numbers of matches that ended before anybody followed the
	// player: those below were played even earlier.
	floors map[floorKey]int64

	soon chan soonRank

	// edits are those under way, as the store's note has them; who holds editing
	// may use them.
	editing chan struct{}
	edits   map[editKey]pendingEdit
}

// New checks nothing and starts nothing; Run does the work.
func New(o Options) *Hour {
	if o.Workers <= 0 {
		o.Workers = 16
	}
	if o.Senders <= 0 {
		o.Senders = 48
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Hour{
		o:              o,
		log:            o.Logger,
		wake:           make(chan struct{}, 1),
		runs:           map[int64]*run{},
		gamesPerPlayer: 1,
		ranksPerPlayer: 0.5,
		caughtUp:       map[int64]bool{},
		plain:          map[store.ChannelID]time.Time{},
		trials:         map[store.ChannelID]time.Time{},
		floors:         map[floorKey]int64{},
		soon:           make(chan soonRank, 1024),
		editing:        make(chan struct{}, 1),
		edits:          map[editKey]pendingEdit{},
	}
}

// Changed says that somebody changed what is due: a registration, hours, a
// zone. It never blocks.
func (h *Hour) Changed() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// quarters wakes the hour each quarter; which channels are due is not cron's
// business.
type quarters struct{ clock schedule.Clock }

func (q quarters) Next(t time.Time) time.Time { return q.clock.Quarter(t) }

// Run serves slots until ctx ends, then waits for messages that are on their
// way, at most for grace. It fails only with ctx.
func (h *Hour) Run(ctx context.Context) error {
	c := cron.New(cron.WithLocation(time.UTC), cron.WithLogger(cron.DiscardLogger))
	c.Schedule(quarters{h.o.Clock}, cron.FuncJob(h.Changed))
	c.Start()
	var work sync.WaitGroup
	work.Go(func() { h.rankSoonLoop(ctx) })
	work.Go(func() { h.probeLoop(ctx) })
	h.retry(ctx, "rehearsal", func(ctx context.Context) error { return h.rehearse(ctx, time.Now()) })
	h.retry(ctx, "edits", h.resumeEdits) // before anything is told
	var late []time.Time
	h.retry(ctx, "resume", func(ctx context.Context) (err error) {
		late, err = h.overdue(ctx, time.Now())
		return err
	})
	// What went out before the stop decides what the late reports may tell.
	h.settle(ctx, "missed", settleTime)
	for _, slot := range late {
		h.start(ctx, &work, slot, true)
	}
	h.loop(ctx, &work)
	<-c.Stop().Done()
	work.Wait()
	return nil
}

// loop starts a run for each slot when its time to fetch has come.
func (h *Hour) loop(ctx context.Context, work *sync.WaitGroup) {
	for ctx.Err() == nil {
		var next time.Time
		h.retry(ctx, "plan", func(ctx context.Context) (err error) {
			next, err = h.launch(ctx, work)
			return err
		})
		h.mu.Lock()
		for _, r := range h.runs {
			r.poke()
		}
		h.mu.Unlock()
		if next.IsZero() {
			next = time.Now().Add(time.Hour) // cron wakes it long before
		}
		timer := time.NewTimer(max(time.Until(next), time.Millisecond))
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// launch starts the runs whose time has come and returns when the next one's
// will, zero where a wake-up by cron comes first anyway.
func (h *Hour) launch(ctx context.Context, work *sync.WaitGroup) (time.Time, error) {
	now := time.Now()
	// A slot may pass without a run: the database was away, the machine slept,
	// or somebody registered in its last moment.
	late, err := h.overdue(ctx, now)
	if err != nil {
		return time.Time{}, err
	}
	for _, slot := range late {
		h.start(ctx, work, slot, true)
	}
	horizon := now.Add(h.earliest() + h.o.Clock.Scale(15*time.Minute))
	var wake time.Time
	for at := now; ; {
		slot, err := h.o.Store.NextSlotAfter(ctx, at)
		if err != nil {
			return time.Time{}, err
		}
		if slot.IsZero() || slot.After(horizon) {
			return wake, nil
		}
		at = slot
		if h.running(slot) {
			continue
		}
		start, err := h.startOf(ctx, slot)
		if err != nil {
			return time.Time{}, err
		}
		if start.After(now) {
			if wake.IsZero() || start.Before(wake) {
				wake = start
			}
			continue
		}
		h.start(ctx, work, slot, false)
	}
}

func (h *Hour) running(slot time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[slot.UnixMilli()] != nil
}

// serving lists the slots that are being served.
func (h *Hour) serving() map[int64]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	slots := make(map[int64]bool, len(h.runs))
	for slot := range h.runs {
		slots[slot] = true
	}
	return slots
}

// start serves slot in a goroutine that work waits for. late: its time is over
// already.
func (h *Hour) start(ctx context.Context, work *sync.WaitGroup, slot time.Time, late bool) {
	r := newRun(h, slot, late)
	h.mu.Lock()
	if h.runs[slot.UnixMilli()] != nil {
		h.mu.Unlock()
		return
	}
	h.runs[slot.UnixMilli()] = r
	h.mu.Unlock()
	work.Go(func() {
		defer func() {
			h.mu.Lock()
			delete(h.runs, slot.UnixMilli())
			h.mu.Unlock()
			h.Changed()
		}()
		r.serve(ctx)
	})
}

// wrongTries is how often something is tried that fails for another reason than
// that the database is away.
const wrongTries = 5

// retry repeats f, with growing pauses, until it succeeds or ctx ends: a
// database that is away comes back. Another error may pass too, since rows come
// and go, but not for ever. It reports whether f succeeded.
func (h *Hour) retry(ctx context.Context, what string, f func(context.Context) error) bool {
	wrong := 0
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := f(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if !errors.Is(err, store.ErrUnavailable) {
			if wrong++; wrong == wrongTries {
				h.log.ErrorContext(ctx, "given up", "doing", what, "err", err)
				return false
			}
		}
		h.log.ErrorContext(ctx, "not done, trying again", "doing", what, "err", err, "wait", wait)
		if !sleep(ctx, wait) {
			return false
		}
	}
}

// sleep waits for d and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// sleepUntil waits for the wall clock to reach t. It reads the clock again each
// second in the last two minutes, so that a clock that is set meanwhile does
// no harm; it never returns true before t. A value on poke ends it early with
// poked.
func sleepUntil(ctx context.Context, t time.Time, poke <-chan struct{}) (reached, poked bool) {
	for {
		left := t.Sub(time.Now().Round(0)) // Round drops the monotonic reading
		if left <= 0 {
			return true, false
		}
		step := min(left, time.Second)
		if left > 2*time.Minute {
			step = min(left-2*time.Minute, 30*time.Second)
		}
		timer := time.NewTimer(step)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false, false
		case <-poke:
			timer.Stop()
			return false, true
		case <-timer.C:
		}
	}
}

// Build composes and renders a channel's report as it stands: the games of no
// report yet. It changes nothing. It returns the channel too.
func (h *Hour) Build(ctx context.Context, channel store.ChannelID) (store.Channel, []render.Message, error) {
	now := time.Now()
	f, err := h.o.Store.Facts(ctx, channel, time.Time{}, now)
	if err != nil {
		return store.Channel{}, nil, err
	}
	_, msgs, err := h.renderFacts(f, time.Time{}, nil, false)
	return f.Channel, msgs, err
}
