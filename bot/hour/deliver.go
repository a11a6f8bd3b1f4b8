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

	sent atomic.Int64
	last atomic.Int64 // greatest lateness, nanoseconds

	mu       sync.Mutex // guards what follows
	queue    []*item    // in the order of sending
	byKey    map[store.PartKey]*item
	channels map[store.ChannelID]store.Channel
	dead     map[store.ChannelID]bool // ended without being sent
	flying   int
	closed   bool
	wake     chan struct{}
}

// item is a part on its way.
type item struct {
	store.Part
	notBefore time.Time
	tries     int
	flying    bool
	done      bool
	// maybe: an earlier try may have arrived, though no answer said so.
	maybe bool
}

func newDelivery(h *Hour, slot time.Time, late bool) *delivery {
	deadline := slot.Add(h.o.Clock.Scale(10 * time.Minute))
	if late {
		deadline = time.Now().Add(h.margin() + h.o.Clock.Scale(10*time.Minute))
	}
	return &delivery{
		h: h, slot: slot, deadline: deadline,
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
	for _, c := range channels {
		d.channels[c.ID] = c
	}
	for _, p := range parts {
		if _, ours := d.channels[p.Channel]; !ours || d.byKey[p.PartKey] != nil {
			continue
		}
		// One that was being sent when the program stopped may have arrived.
		it := &item{Part: p, maybe: p.State == store.PartSending}
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
		// A step of about 0.618 of the round reaches every place soon.
		turn = int(d.slot.UnixMilli()/max(1, d.h.o.Clock.Scale(time.Hour).Milliseconds())*int64(n*618/1000+1)) % n
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
	var flights sync.WaitGroup
	defer flights.Wait()
	// What is on its way when the program stops may still arrive.
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()

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
	got, err := d.h.o.Store.Claim(ctx, keys, now)
	if err != nil {
		d.h.log.ErrorContext(ctx, "parts not claimed, trying again", "slot", d.slot, "err", err)
		sleep(ctx, 250*time.Millisecond)
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	mine := map[store.PartKey]bool{}
	for _, k := range got {
		mine[k] = true
	}
	for _, k := range keys {
		it := d.byKey[k]
		if mine[k] {
			it.State, it.FirstTry = store.PartSending, now
		} else {
			it.done = true // gone meanwhile
		}
	}
	return true
}

// send tries a part once and decides what follows.
func (d *delivery) send(ctx context.Context, it *item) {
	log := d.h.log.With("channel", it.Channel, "slot", d.slot, "part", it.Part.Part)
	if time.Now().After(d.deadline) {
		d.giveUp(ctx, it, "discord_down")
		return
	}
	if it.maybe && time.Since(it.FirstTry) > nonceTrust {
		id, found, readable, err := d.find(ctx, it)
		switch {
		case found:
			d.arrived(ctx, it, id)
			return
		case !readable || err != nil && refused(err):
			// It can't be read whether it arrived: a double would be worse.
			log.WarnContext(ctx, "cannot see whether the message arrived; taken as sent", "err", err)
			_ = d.h.reason(ctx, store.Reason{Channel: it.Channel, Slot: d.slot, Code: "taken_as_sent", At: time.Now()})
			d.arrived(ctx, it, 0)
			return
		case err != nil:
			d.again(it, err)
			return
		}
		it.maybe = false // it did not arrive
	}
	try, cancel := context.WithTimeout(ctx, tryTime)
	id, err := d.h.o.Discord.Post(try, int64(it.Channel), json.RawMessage(it.Body), it.Nonce)
	cancel()
	switch {
	case err == nil:
		d.arrived(ctx, it, store.MessageID(id))
	case deleted(err):
		d.arrived(ctx, it, 0) // it had arrived, and somebody deleted it
	case refused(err):
		log.WarnContext(ctx, "Discord refuses the channel", "err", err)
		d.refuse(ctx, it, err)
	case final(err):
		log.ErrorContext(ctx, "Discord rejects the message", "err", err)
		d.giveUp(ctx, it, "rejected")
	case ctx.Err() != nil:
		// Stopping: it is "sending" in the store and the next start decides.
	default:
		log.WarnContext(ctx, "message not sent yet", "err", err)
		var de *discord.Error
		it.maybe = it.maybe || !errors.As(err, &de) || de.Maybe
		d.again(it, err)
	}
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
		return d.h.o.Store.Sent(ctx, it.PartKey, id, now, late, next)
	}) {
		return
	}
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
	it.notBefore = earlier(time.Now().Add(wait), later(d.deadline, time.Now()).Add(10*time.Millisecond))
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

// refuse counts the refusal; the third slot in a row pauses the channel. Its
// settings stay.
func (d *delivery) refuse(ctx context.Context, it *item, err error) {
	why := refusal(err)
	d.giveUp(ctx, it, why)
	n := 0
	d.h.retry(ctx, "count a refusal", func(ctx context.Context) (e error) {
		n, e = d.h.o.Store.ChannelRefused(ctx, it.Channel, d.slot)
		return e
	})
	if n >= proofs {
		d.h.retry(ctx, "pause", func(ctx context.Context) error {
			return d.h.o.Store.PauseChannel(ctx, it.Channel, why, time.Now())
		})
		d.h.log.WarnContext(ctx, "channel paused", "channel", it.Channel, "why", why)
	}
}

// find looks among the channel's newest messages for the part: ours carries the
// slot, and the part in its milliseconds, as its embed's timestamp.
//
// Discord shows a bot that may not read the history an empty list: then, as
// with an error, it is not known.
func (d *delivery) find(ctx context.Context, it *item) (id store.MessageID, found, readable bool, err error) {
	try, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	msgs, err := d.h.o.Discord.Newest(try, int64(it.Channel), 50)
	if err != nil {
		return 0, false, true, err
	}
	var self int64
	if d.h.o.Self != nil {
		self = d.h.o.Self()
	}
	want := d.slot.Add(time.Duration(it.Part.Part) * time.Millisecond)
	for _, m := range msgs {
		if self != 0 && m.AuthorID != self {
			continue
		}
		for _, t := range m.EmbedTimestamps {
			if t.Equal(want) {
				return store.MessageID(m.ID), true, true, nil
			}
		}
	}
	return 0, false, len(msgs) > 0, nil
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
