package hour

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"riftchime/bot/discord"
	"riftchime/store"
)

const (
	// nonceTrust is how long Discord is trusted to drop a double by its nonce
	// (DESIGN section 8; Discord says "the past few minutes").
	nonceTrust = 2 * time.Minute
	// claimAhead is how long before the slot the first second's parts are
	// claimed.
	claimAhead = time.Second
	// batch is how many parts are claimed at a time: a second's worth.
	batch = 45
	// tryTime bounds one try.
	tryTime = 10 * time.Second
	// grace is how long messages that are on their way may still take when the
	// program stops.
	grace = 8 * time.Second
	// proofs is how many slots in a row Discord must refuse a channel before it
	// is paused.
	proofs = 3
)

// delivery sends a slot's parts: all first parts before any second one, each
// channel's in order, starting on the slot and never before it.
type delivery struct {
	h        *Hour
	slot     time.Time
	deadline time.Time
	// replain puts the text of a report in place of its embeds, and reports
	// whether it could.
	replain func(ctx context.Context, channel store.ChannelID) (bool, error)

	sent atomic.Int64
	last atomic.Int64 // greatest lateness, nanoseconds

	mu       sync.Mutex // guards what follows
	queue    []*item    // in the order of sending
	byKey    map[store.PartKey]*item
	channels map[store.ChannelID]store.Channel
	dead     map[store.ChannelID]bool // ended without being sent
	flying   int
	closed   bool
	emptied  bool // the queue was empty once
	wake     chan struct{}
}

// item is a part on its way.
type item struct {
	store.Part
	notBefore time.Time
	deadline  time.Time
	tries     int
	flying    bool
	done      bool
	// maybe: an earlier try may have arrived, though no answer said so.
	maybe bool
}

func newDelivery(h *Hour, slot time.Time, late bool, replain func(context.Context, store.ChannelID) (bool, error)) *delivery {
	deadline := slot.Add(h.o.Clock.Scale(10 * time.Minute))
	if late {
		deadline = time.Now().Add(h.margin() + h.o.Clock.Scale(10*time.Minute))
	}
	return &delivery{
		h: h, slot: slot, deadline: deadline, replain: replain,
		byKey: map[store.PartKey]*item{}, channels: map[store.ChannelID]store.Channel{},
		dead: map[store.ChannelID]bool{}, wake: make(chan struct{}, 1),
	}
}

// load takes in the parts of these channels that wait in the store.
func (d *delivery) load(ctx context.Context, channels []store.Channel) error {
	parts, err := d.h.o.Store.ReadyParts(ctx, d.slot)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// What became known late has some minutes too.
	deadline := later(d.deadline, time.Now().Add(d.h.o.Clock.Scale(5*time.Minute)))
	for _, c := range channels {
		d.channels[c.ID] = c
	}
	for _, p := range parts {
		if _, ours := d.channels[p.Channel]; !ours || d.byKey[p.PartKey] != nil {
			continue
		}
		// One that was being sent when the program stopped may have arrived.
		it := &item{Part: p, deadline: deadline, maybe: p.State == store.PartSending}
		d.byKey[p.PartKey] = it
		d.queue = append(d.queue, it)
	}
	d.order()
	d.poke()
	return nil
}

// order sorts by part, then by channel from a place that turns from slot to
// slot, so that nobody is always last.
func (d *delivery) order() {
	ids := make([]store.ChannelID, 0, len(d.channels))
	for id := range d.channels {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	place := make(map[store.ChannelID]int, len(ids))
	n := len(ids)
	turn := 0
	if n > 0 {
		hours := d.slot.UnixMilli() / max(1, d.h.o.Clock.Scale(time.Hour).Milliseconds())
		turn = int(hours % int64(n) * int64(stride(n)) % int64(n))
	}
	for i, id := range ids {
		place[id] = ((i-turn)%n + n) % n
	}
	sort.SliceStable(d.queue, func(i, j int) bool {
		a, b := d.queue[i], d.queue[j]
		if a.Part.Part != b.Part.Part {
			return a.Part.Part < b.Part.Part
		}
		return place[a.Channel] < place[b.Channel]
	})
}

// stride is how many places of n the order turns from hour to hour: about 0.618
// of the round, so that the places of some hours are far apart, and without a
// divisor in common with n, so that each channel comes to each place.
func stride(n int) int {
	for off := 0; ; off++ {
		for _, s := range []int{n*618/1000 - off, n*618/1000 + off} {
			if s > 0 && coprime(s, n) || n == 1 {
				return max(s, 1)
			}
		}
	}
}

func coprime(a, b int) bool {
	for b > 0 {
		a, b = b, a%b
	}
	return a == 1
}

func (d *delivery) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// close says that no more parts come; run ends when all are out or given up.
func (d *delivery) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.poke()
}

// latest is the greatest lateness of a message.
func (d *delivery) latest() time.Duration { return time.Duration(d.last.Load()) }

// run sends until all is out, the deadline passed, or ctx ended; then it waits
// for what is on its way.
func (d *delivery) run(ctx context.Context) {
	// What is on its way when the program stops may still arrive.
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	var flights sync.WaitGroup
	defer flights.Wait() // before cancel

	if reached, _ := sleepUntil(ctx, d.slot.Add(-claimAhead), nil); !reached {
		return
	}
	d.claim(ctx)
	if reached, _ := sleepUntil(ctx, d.slot, nil); !reached {
		return
	}
	for ctx.Err() == nil {
		it, wait, over := d.pick()
		if over {
			return
		}
		if it == nil {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
			case <-d.wake:
			case <-timer.C:
			}
			timer.Stop()
			continue
		}
		if it.State == store.PartReady && !d.claim(ctx) {
			continue
		}
		d.mu.Lock()
		ready := it.State == store.PartSending && !it.done
		if ready {
			it.flying = true
			d.flying++
		}
		d.mu.Unlock()
		if !ready {
			continue
		}
		flights.Go(func() {
			d.send(late, it)
			d.mu.Lock()
			it.flying = false
			d.flying--
			d.mu.Unlock()
			d.poke()
		})
	}
}

// pick chooses the next part to send. Without one it says how long to wait.
func (d *delivery) pick() (it *item, wait time.Duration, over bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	rest := d.queue[:0]
	wait = time.Minute
	for _, q := range d.queue {
		if q.done || d.dead[q.Channel] {
			continue
		}
		rest = append(rest, q)
	}
	d.queue = rest
	if len(d.queue) == 0 {
		if d.flying == 0 && !d.emptied {
			d.emptied = true
			d.h.Changed() // the channels' next slots are known now
		}
		return nil, wait, d.closed && d.flying == 0
	}
	if d.flying >= d.h.o.Senders {
		return nil, wait, false
	}
	for _, q := range d.queue {
		if q.flying {
			continue
		}
		if before := d.byKey[store.PartKey{Channel: q.Channel, Slot: q.Slot, Part: q.Part.Part - 1}]; before != nil && !before.done {
			continue // in order
		}
		if q.notBefore.After(now) {
			wait = min(wait, q.notBefore.Sub(now))
			continue
		}
		return q, 0, false
	}
	return nil, wait, false
}

// claim writes "sending" for the next batch of parts, before any of them is
// sent. It reports whether it could.
func (d *delivery) claim(ctx context.Context) bool {
	d.mu.Lock()
	var keys []store.PartKey
	for _, q := range d.queue {
		if q.State == store.PartReady && !q.done && len(keys) < batch {
			keys = append(keys, q.PartKey)
		}
	}
	d.mu.Unlock()
	if len(keys) == 0 {
		return true
	}
	now := time.Now()
	mine := map[store.PartKey]time.Time{}
	got, err := d.h.o.Store.Claim(ctx, keys, now)
	for _, k := range got {
		mine[k] = now
	}
	if err == nil && len(got) < len(keys) {
		// They are gone; or they were claimed before and the answer was lost:
		// nobody else sends this slot.
		var parts []store.Part
		parts, err = d.h.o.Store.ReadyParts(ctx, d.slot)
		for _, p := range parts {
			if p.State == store.PartSending {
				mine[p.PartKey] = p.FirstTry
			}
		}
	}
	if err != nil {
		d.h.log.ErrorContext(ctx, "parts not claimed, trying again", "slot", d.slot, "err", err)
		sleep(ctx, 250*time.Millisecond)
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range keys {
		it := d.byKey[k]
		if it == nil {
			continue // replaced meanwhile
		}
		if at, ok := mine[k]; ok {
			it.State, it.FirstTry = store.PartSending, at
		} else {
			it.done = true
		}
	}
	return true
}

// send tries a part once and decides what follows.
func (d *delivery) send(ctx context.Context, it *item) {
	log := d.h.log.With("channel", it.Channel, "slot", d.slot, "part", it.Part.Part)
	if time.Now().After(it.deadline) {
		d.conclude(ctx, it, "discord_down")
		return
	}
	if it.maybe && time.Since(it.FirstTry) > nonceTrust {
		switch s, err := d.look(ctx, it); s {
		case unsure:
			log.WarnContext(ctx, "cannot see yet whether the message arrived", "err", err)
			d.again(it, err)
			return
		case absent:
		default:
			return
		}
	}
	try, cancel := context.WithTimeout(ctx, tryTime)
	id, err := d.h.o.Discord.Post(try, int64(it.Channel), json.RawMessage(it.Body), it.Nonce)
	cancel()
	switch {
	case err == nil:
		d.arrived(ctx, it, store.MessageID(id))
	case deleted(err):
		d.arrived(ctx, it, 0) // it had arrived, and somebody deleted it
	case ctx.Err() != nil:
		// Stopping: it is "sending" in the store and the next start decides.
	case discord.KindOf(err) == discord.MissingPermission && !it.maybe && d.asText(ctx, it):
		log.InfoContext(ctx, "the channel takes no embeds, sending text", "err", err)
	case refused(err):
		log.WarnContext(ctx, "Discord refuses the channel", "err", err)
		d.refuse(ctx, it, err)
	case final(err):
		log.ErrorContext(ctx, "Discord rejects the message", "err", err)
		d.conclude(ctx, it, "rejected")
	default:
		log.WarnContext(ctx, "message not sent yet", "err", err)
		it.maybe = it.maybe || maybe(err)
		d.again(it, err)
	}
}

// asText puts text in place of a report's embeds where Discord takes no embeds
// in the channel: it refuses them like any message. It reports whether there is
// something else to send now.
func (d *delivery) asText(ctx context.Context, it *item) bool {
	if d.replain == nil || it.Part.Part > 0 || plainText(it.Body) != "" {
		return false
	}
	ok := false
	d.h.retry(ctx, "text instead of embeds", func(ctx context.Context) (err error) {
		ok, err = d.replain(ctx, it.Channel)
		return err
	})
	if !ok {
		return false
	}
	d.h.plainly(it.Channel)
	d.mu.Lock()
	c := d.channels[it.Channel]
	for k, other := range d.byKey {
		if k.Channel == it.Channel {
			other.done = true
			delete(d.byKey, k)
		}
	}
	d.mu.Unlock()
	d.h.retry(ctx, "read parts", func(ctx context.Context) error { return d.load(ctx, []store.Channel{c}) })
	return true
}

// look finds out whether an earlier try arrived, and draws the consequence
// where it did, or may have and can't be seen.
func (d *delivery) look(ctx context.Context, it *item) (sight, error) {
	id, s, err := d.h.find(ctx, it.Part)
	switch s {
	case arrived:
		d.arrived(ctx, it, id)
	case absent:
		it.maybe = false
	case hidden:
		d.h.log.WarnContext(ctx, "cannot see whether the message arrived; taken as sent",
			"channel", it.Channel, "slot", d.slot, "part", it.Part.Part, "err", err)
		d.h.retry(ctx, "reason", func(ctx context.Context) error { return d.h.reason(ctx, takenAsSent(it.Part)) })
		d.arrived(ctx, it, 0)
	}
	return s, err
}

// conclude gives a part up, unless it arrived after all. It reports whether the
// part is given up for sure.
func (d *delivery) conclude(ctx context.Context, it *item, reason string) bool {
	if it.maybe {
		switch s, _ := d.look(ctx, it); s {
		case unsure:
			d.leave(ctx, it, reason)
			return false
		case absent:
		default:
			return false
		}
	}
	if it.Part.Part > 0 && reason == "discord_down" {
		// The parts before it are out: settle sends the rest.
		d.leave(ctx, it, reason)
		return false
	}
	d.giveUp(ctx, it, reason)
	return true
}

// leave lets the channel go on while it is not known whether the part arrived,
// or the rest of its report waits: its games stay with this report until settle
// ends it.
func (d *delivery) leave(ctx context.Context, it *item, reason string) {
	d.mu.Lock()
	d.dead[it.Channel] = true
	it.done = true
	d.mu.Unlock()
	d.h.log.WarnContext(ctx, "report left open, to be settled later", "channel", it.Channel, "slot", d.slot)
	now := time.Now()
	d.h.retry(ctx, "leave", func(ctx context.Context) error {
		c, err := d.h.o.Store.Channel(ctx, it.Channel)
		if err != nil {
			return err
		}
		if c.NextSlot.Equal(d.slot) {
			if err := d.h.o.Store.SetNextSlot(ctx, c.ID, d.h.next(c, later(d.slot, now))); err != nil {
				return err
			}
		}
		return d.h.reason(ctx, store.Reason{Channel: c.ID, Slot: d.slot, Code: reason, At: now})
	})
}

// arrived marks a part sent. The store must take it: until it does, the part
// is "sending" and its channel's news would be looked up again.
func (d *delivery) arrived(ctx context.Context, it *item, id store.MessageID) {
	now := time.Now()
	late := now.Sub(d.slot)
	d.mu.Lock()
	c := d.channels[it.Channel]
	d.mu.Unlock()
	next := d.h.next(c, later(d.slot, now))
	if !d.h.retry(ctx, "mark sent", func(ctx context.Context) error {
		err := d.h.o.Store.Sent(ctx, it.PartKey, id, now, late, next)
		if errors.Is(err, store.ErrNotFound) {
			return nil // the channel, or what it showed, was deleted meanwhile
		}
		return err
	}) {
		if ctx.Err() == nil {
			d.finish(it) // settle looks it up
		}
		return
	}
	d.trusted(it.Channel)
	d.sent.Add(1)
	for {
		was := d.last.Load()
		if int64(late) <= was || d.last.CompareAndSwap(was, int64(late)) {
			break
		}
	}
	it.Message = id
	d.finish(it)
	if d.h.o.Hooks.Sent != nil {
		d.h.o.Hooks.Sent(it.Part, late)
	}
}

// trusted ends a trial: Discord takes the channel's messages.
func (d *delivery) trusted(id store.ChannelID) {
	if _, on := d.h.trial(id); on {
		d.h.log.Info("channel resumed", "channel", id)
	}
}

func (d *delivery) finish(it *item) {
	d.mu.Lock()
	it.done = true
	d.mu.Unlock()
}

// again puts a part back, later each time.
func (d *delivery) again(it *item, err error) {
	wait := min(500*time.Millisecond<<min(it.tries, 6), 20*time.Second)
	wait = max(wait, retryAfter(err))
	d.mu.Lock()
	it.tries++
	it.notBefore = earlier(time.Now().Add(wait), later(it.deadline, time.Now()).Add(10*time.Millisecond))
	d.mu.Unlock()
}

// giveUp ends the channel's report: its games wait for the next.
func (d *delivery) giveUp(ctx context.Context, it *item, reason string) {
	d.mu.Lock()
	c := d.channels[it.Channel]
	d.dead[it.Channel] = true
	it.done = true
	d.mu.Unlock()
	d.h.retry(ctx, "skip", func(ctx context.Context) error {
		return d.h.skipped(ctx, c, d.slot, reason, time.Now())
	})
}

// refuse counts the refusal; the third slot in a row pauses the channel, the
// first where it was on trial. Its settings stay.
func (d *delivery) refuse(ctx context.Context, it *item, err error) {
	why := refusal(err)
	if !d.conclude(ctx, it, why) {
		return
	}
	n := 0
	d.h.retry(ctx, "count a refusal", func(ctx context.Context) (e error) {
		n, e = d.h.o.Store.ChannelRefused(ctx, it.Channel, d.slot)
		return e
	})
	since, trial := d.h.trial(it.Channel)
	if !trial {
		since = time.Now()
	}
	if n >= proofs || trial {
		d.h.retry(ctx, "pause", func(ctx context.Context) error {
			return d.h.o.Store.PauseChannel(ctx, it.Channel, why, since)
		})
		d.h.log.WarnContext(ctx, "channel paused", "channel", it.Channel, "why", why)
	}
}

// refused: Discord will not let us into this channel now.
func refused(err error) bool {
	switch discord.KindOf(err) {
	case discord.UnknownChannel, discord.MissingAccess, discord.MissingPermission:
		return true
	}
	return false
}

// refusal names it, as the channel's pause does.
func refusal(err error) string {
	switch discord.KindOf(err) {
	case discord.UnknownChannel:
		return "unknown_channel"
	case discord.MissingAccess:
		return "missing_access"
	}
	return "missing_permission"
}

// final: the same message will never be taken.
func final(err error) bool {
	switch discord.KindOf(err) {
	case discord.Rejected, discord.NotFound:
		return true
	}
	return false
}

// deleted: the message of this nonce arrived earlier and is gone by now.
func deleted(err error) bool {
	const unknownMessage = 10008
	var e *discord.Error
	return errors.As(err, &e) && e.Code == unknownMessage
}

// retryAfter is how long Discord asks to wait, 0 where it does not.
func retryAfter(err error) time.Duration {
	var e *discord.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.RetryAfter
}
