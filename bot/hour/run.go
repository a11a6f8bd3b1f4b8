package hour

import (
	"context"
	"errors"
	"sync"
	"time"

	"riftchime/store"
)

// run serves one slot: refresh, compose, deliver, and what comes late.
type run struct {
	h    *Hour
	slot time.Time
	// late: the slot was over before it began (after a stop); what can still be
	// told is told at once.
	late bool
	r    *refresher

	pokes chan struct{}

	mu sync.Mutex // guards what follows
	// open are the channels without an end yet, by id.
	open map[store.ChannelID]*open
	// total is how many players the slot needs, for Progress.
	total map[store.PlayerID]bool
	done  int
	// dirty channels got a new player since they were rendered.
	dirty map[store.ChannelID]bool
	// noted are the reasons for /why that were recorded, or are about to be:
	// each once a slot. toNote are those still to record.
	noted  map[notedKey]bool
	toNote []store.Reason
}

type notedKey struct {
	channel store.ChannelID
	player  store.PlayerID
	match   string
	code    string
}

// open is a channel whose report for the slot is not over.
type open struct {
	channel store.Channel
	// ready: rendered, so its parts are in the store.
	ready bool
	// known: composed when everybody was known.
	known bool
	// facts are those of the first rendering: what was shown before this slot.
	facts store.Facts
	// missing players at the newest rendering, and why.
	missing map[store.PlayerID]string
	// unseen is the newest rendering that may have been edited in though no
	// answer said so; nil: none.
	unseen *pendingEdit
	// edited is when news was last edited in for sure.
	edited time.Time
}

func newRun(h *Hour, slot time.Time, late bool) *run {
	r := &run{
		h: h, slot: slot, late: late,
		r:     newRefresher(h, slot, ForSlot),
		pokes: make(chan struct{}, 1),
		open:  map[store.ChannelID]*open{},
		total: map[store.PlayerID]bool{},
		dirty: map[store.ChannelID]bool{},
		noted: map[notedKey]bool{},
	}
	r.r.onRead = r.progress
	return r
}

// poke says that what is due may have changed. It never blocks.
func (r *run) poke() {
	select {
	case r.pokes <- struct{}{}:
	default:
	}
}

func (r *run) progress() {
	r.mu.Lock()
	r.done++
	done, total := r.done, len(r.total)
	r.mu.Unlock()
	if r.h.o.Hooks.Progress != nil {
		r.h.o.Hooks.Progress(r.slot, done, total)
	}
}

// renderTime is how long before the slot fetching ends, for composing and
// rendering n channels: some milliseconds each, and room.
func (r *run) renderTime(n int) time.Duration {
	return min(400*time.Millisecond+time.Duration(n)*12*time.Millisecond, r.h.o.Clock.Scale(5*time.Minute))
}

// serve does the whole slot. When ctx ends it leaves what is not done to the
// next start.
func (r *run) serve(ctx context.Context) {
	h := r.h
	log := h.log.With("slot", r.slot)
	began := time.Now()
	n := 0
	h.retry(ctx, "due channels", func(ctx context.Context) error {
		due, err := r.due(ctx)
		n = len(due)
		return err
	})
	// After a stop there is no hour to be ready for: a minute's worth is read.
	until := r.slot.Add(-r.renderTime(n))
	if r.late {
		until = began.Add(h.margin())
	}
	log.InfoContext(ctx, "fetching", "channels", n, "ahead", time.Until(r.slot).Round(time.Second))

	// The games of a report that was left open belong to it until it is settled.
	var settling sync.WaitGroup
	settling.Go(func() { h.settle(ctx, "discord_down", min(time.Until(until), settleTime)) })
	pause := min(5*time.Second, h.o.Clock.Scale(30*time.Second))
	for first := true; ctx.Err() == nil; first = false {
		fetch, cancel := context.WithDeadline(ctx, until)
		h.retry(fetch, "refresh", r.refresh)
		cancel()
		settling.Wait()
		h.retry(ctx, "compose", func(ctx context.Context) error { return r.compose(ctx, false) })
		if first {
			h.learn(len(r.total), int(r.r.games.Load()), int(r.r.ranks.Load()))
		}
		if r.late {
			break
		}
		// Somebody may register, or change hours, until the last moment, and who
		// could not be read a moment ago perhaps can be now.
		next := until
		if r.waiting() {
			next = earlier(until, time.Now().Add(pause))
			pause *= 2
		}
		sleepUntil(ctx, next, r.pokes)
		if !time.Now().Before(until) {
			break
		}
	}
	if ctx.Err() != nil {
		return
	}
	// Whoever is missing now goes out partial.
	h.retry(ctx, "compose", func(ctx context.Context) error { return r.compose(ctx, true) })

	d := newDelivery(h, r.slot, r.late, r.asText)
	if !r.late {
		if reached, _ := sleepUntil(ctx, r.slot.Add(-min(5*time.Second, h.o.Clock.Scale(5*time.Minute))), nil); reached {
			warm, cancel := context.WithDeadline(ctx, r.slot.Add(-100*time.Millisecond))
			if err := h.o.Discord.Warm(warm); err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "Discord did not answer before the hour", "err", err)
			}
			cancel()
		}
	}
	var delivering sync.WaitGroup
	if h.retry(ctx, "read parts", func(ctx context.Context) error { return d.load(ctx, r.openChannels()) }) {
		delivering.Go(func() { d.run(ctx) })
	}
	if reached, _ := sleepUntil(ctx, r.slot, nil); reached {
		r.ages(ctx)
		r.follow(ctx, d)
	}
	d.close()
	delivering.Wait()
	if ctx.Err() == nil {
		r.end(ctx)
		log.InfoContext(ctx, "slot served", "channels", n, "players", r.r.players.Load(), "games", r.r.games.Load(),
			"ranks", r.r.ranks.Load(), "sent", d.sent.Load(), "last", d.latest().Round(time.Millisecond))
	}
}

// due lists the channels that chime at this very slot.
func (r *run) due(ctx context.Context) ([]store.Channel, error) {
	all, err := r.h.o.Store.DueChannels(ctx, r.slot)
	if err != nil {
		return nil, err
	}
	due := all[:0]
	for _, c := range all {
		if c.NextSlot.Equal(r.slot) {
			due = append(due, c)
		}
	}
	return due, nil
}

// refresh reads the players who are due and not yet read for this slot.
func (r *run) refresh(ctx context.Context) error {
	due, err := r.h.duePlayers(ctx, r.slot)
	if err != nil {
		return err
	}
	return r.readSome(ctx, due)
}

// refreshMissing reads, after the hour, who was missing: their channels are not
// due any more where a partial report is out.
func (r *run) refreshMissing(ctx context.Context) error {
	missing := map[store.PlayerID]bool{}
	var channels []store.ChannelID
	for _, o := range r.snapshot() {
		if len(o.missing) == 0 {
			continue
		}
		channels = append(channels, o.channel.ID)
		for id := range o.missing {
			missing[id] = true
		}
	}
	due, err := r.h.playersOf(ctx, channels)
	if err != nil {
		return err
	}
	late := due[:0]
	for _, p := range due {
		if missing[p.ID] && p.RefreshedSlot.Before(r.slot) {
			late = append(late, p)
		}
	}
	return r.readSome(ctx, late)
}

// readSome reads these players, but those whom Riot said not to know.
func (r *run) readSome(ctx context.Context, players []store.DuePlayer) error {
	known := players[:0]
	for _, p := range players {
		if r.r.failure(p.ID) != CauseName {
			known = append(known, p)
		}
	}
	r.mu.Lock()
	for _, p := range known {
		r.total[p.ID] = true
	}
	r.mu.Unlock()
	r.r.read(ctx, known)
	return nil
}

func (r *run) openChannels() []store.Channel {
	r.mu.Lock()
	defer r.mu.Unlock()
	cs := make([]store.Channel, 0, len(r.open))
	for _, o := range r.open {
		cs = append(cs, o.channel)
	}
	return cs
}

// ages tells how old the data is on the hour.
func (r *run) ages(ctx context.Context) {
	if r.h.o.Hooks.DataAge == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[store.PlayerID]bool{}
	for _, o := range r.open {
		for _, f := range o.facts.Follows {
			if at := f.Player.RefreshedAt; !seen[f.Player.ID] && !at.IsZero() {
				seen[f.Player.ID] = true
				r.h.o.Hooks.DataAge(r.slot, r.slot.Sub(at))
			}
		}
	}
}

// follow waits for what was not known on the hour, edits it into the messages
// that are out, and ends the channels that have nothing to say.
func (r *run) follow(ctx context.Context, d *delivery) {
	h := r.h
	// Nothing happened and everybody is known: that is a result.
	h.retry(ctx, "quiet channels", r.quiet)
	h.retry(ctx, "reasons", r.because)
	until := later(r.slot, time.Now()).Add(h.o.Clock.Scale(15 * time.Minute))
	if r.late {
		until = time.Now().Add(h.o.Clock.Scale(15 * time.Minute))
	}
	pause := min(10*time.Second, h.o.Clock.Scale(time.Minute))
	for r.waiting() && time.Now().Before(until) {
		if reached, _ := sleepUntil(ctx, earlier(time.Now().Add(pause), until), nil); !reached {
			return
		}
		pause = min(2*pause, h.o.Clock.Scale(3*time.Minute))
		fetch, cancel := context.WithDeadline(ctx, until)
		h.retry(fetch, "refresh", r.refreshMissing)
		cancel()
		if ctx.Err() != nil {
			return
		}
		h.retry(ctx, "late news", func(ctx context.Context) error { return r.amend(ctx, d) })
		h.retry(ctx, "quiet channels", r.quiet)
		h.retry(ctx, "reasons", r.because)
	}
	h.retry(ctx, "edits", r.seeEdits)
}

// waiting reports whether somebody's news is still missing.
func (r *run) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.open {
		if len(o.missing) > 0 {
			return true
		}
	}
	return false
}

// quiet ends the channels of which all is known and nothing is to be told.
func (r *run) quiet(ctx context.Context) error {
	for _, o := range r.snapshot() {
		if o.ready || !o.known {
			continue
		}
		r.note(o)
		if err := r.h.skipped(ctx, o.channel, r.slot, "quiet", time.Now()); err != nil {
			return err
		}
		r.forget(o.channel.ID)
	}
	return nil
}

// end closes what is still open.
func (r *run) end(ctx context.Context) {
	for _, o := range r.snapshot() {
		if o.ready {
			continue // the delivery ended it
		}
		reason := "given_up"
		switch n := len(o.missing); {
		case n > 0 && n == len(o.facts.Follows):
			reason = "unknown"
		case n > 0:
			reason = "quiet" // so it was with those who are known
		}
		r.h.retry(ctx, "end", func(ctx context.Context) error {
			return r.h.skipped(ctx, o.channel, r.slot, reason, time.Now())
		})
	}
	// A report that was claimed and never ended, or was given up unseen.
	r.h.retry(ctx, "end", func(ctx context.Context) error {
		left, err := r.due(ctx)
		if err != nil {
			return err
		}
		for _, c := range left {
			if err := r.endLeft(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// endLeft moves on a channel that is still due at this slot. A report that is
// over can't be skipped: then somebody set the channel back to its slot.
func (r *run) endLeft(ctx context.Context, c store.Channel) error {
	rep, err := r.h.o.Store.Report(ctx, c.ID, r.slot)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	switch {
	case err == nil && rep.State >= store.ReportSent:
		return r.h.o.Store.SetNextSlot(ctx, c.ID, r.h.next(c, later(r.slot, time.Now())))
	case err == nil && rep.State == store.ReportSending:
		// Its delivery was given up in the middle: it may have arrived.
		if err := r.h.o.Store.SetNextSlot(ctx, c.ID, r.h.next(c, later(r.slot, time.Now()))); err != nil {
			return err
		}
		return r.h.reason(ctx, store.Reason{Channel: c.ID, Slot: r.slot, Code: "given_up", At: time.Now()})
	}
	return r.h.skipped(ctx, c, r.slot, "given_up", time.Now())
}

func (r *run) snapshot() []*open {
	r.mu.Lock()
	defer r.mu.Unlock()
	os := make([]*open, 0, len(r.open))
	for _, o := range r.open {
		os = append(os, o)
	}
	return os
}

func (r *run) forget(id store.ChannelID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, id)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
