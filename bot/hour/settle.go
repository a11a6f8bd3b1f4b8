package hour

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/discord"
	"riftchime/store"
)

const (
	// settleTime bounds how long old reports are looked up at a start; those that
	// are left wait for the next slot.
	settleTime = 30 * time.Second
	// settlers look up side by side.
	settlers = 8
	// lookBack is how many of a channel's newest messages are read: as many as
	// Discord gives at once.
	lookBack = 100
	// clockSkew is how far Discord's clock may be behind ours.
	clockSkew = time.Minute
)

// settle ends the reports of slots that nobody serves any more and that are not
// over: a stop left them, or Discord was away until the end. Of what was being
// sent, it looks whether it arrived. Where Discord does not answer, the games
// stay with the old report until it does.
func (h *Hour) settle(ctx context.Context, why string, most time.Duration) {
	if most <= 0 {
		return // the hour is more urgent
	}
	short, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	serving := h.serving()
	left, err := h.o.Store.Unfinished(short)
	if err != nil {
		if ctx.Err() == nil {
			h.log.WarnContext(ctx, "old reports not looked up", "err", err)
		}
		return
	}
	g, short := errgroup.WithContext(short)
	g.SetLimit(settlers)
	now := time.Now()
	for _, r := range left {
		if serving[r.Slot.UnixMilli()] || r.Slot.After(now) {
			continue
		}
		g.Go(func() error { return h.settleReport(short, r, why) })
	}
	// One that Discord does not answer is enough to know of the others.
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		h.log.WarnContext(ctx, "old reports not settled yet", "err", err)
	}
}

func (h *Hour) settleReport(ctx context.Context, r store.Report, why string) error {
	c, err := h.o.Store.Channel(ctx, r.Channel)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil && c.NextSlot.Equal(r.Slot) || !c.PausedAt.IsZero() {
		return nil // it is served again, or waits for the end of the pause
	}
	parts, err := h.o.Store.Parts(ctx, r.Channel, r.Slot)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.State == store.PartSent {
			continue
		}
		id, s, err := h.findOrFinish(ctx, p)
		switch s {
		case unsure:
			return err
		case hidden:
			if err := h.reason(ctx, takenAsSent(p)); err != nil {
				return err
			}
		case absent:
			// Its games are free again; those of parts that are out are not.
			h.log.InfoContext(ctx, "old report ended", "channel", r.Channel, "slot", r.Slot, "why", why, "part", p.Part, "err", err)
			return h.o.Store.Skip(ctx, r.Channel, r.Slot, why, time.Now(), c.NextSlot)
		}
		now := time.Now()
		if err := h.o.Store.Sent(ctx, p.PartKey, id, now, now.Sub(p.Slot), c.NextSlot); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		h.log.InfoContext(ctx, "old message settled", "channel", r.Channel, "slot", r.Slot, "part", p.Part)
	}
	// Without effect where all parts were sent.
	return h.o.Store.Skip(ctx, r.Channel, r.Slot, why, time.Now(), c.NextSlot)
}

// findOrFinish looks up a part of an old report. Where it is not there, but the
// parts before it are, it is posted now: what it tells can't come with another
// report, since a report's games are told or free as a whole.
func (h *Hour) findOrFinish(ctx context.Context, p store.Part) (store.MessageID, sight, error) {
	if p.State == store.PartSending {
		id, s, err := h.find(ctx, p)
		if s != absent {
			return id, s, err
		}
	}
	if p.Part == 0 || len(p.Body) == 0 {
		return 0, absent, nil
	}
	if p.State == store.PartReady {
		if _, err := h.o.Store.Claim(ctx, []store.PartKey{p.PartKey}, time.Now()); err != nil {
			return 0, unsure, err
		}
	}
	try, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	id, err := h.o.Discord.Post(try, int64(p.Channel), json.RawMessage(p.Body), p.Nonce)
	switch {
	case err == nil:
		return store.MessageID(id), arrived, nil
	case deleted(err):
		return 0, arrived, nil
	case refused(err), final(err):
		return 0, absent, err
	}
	return 0, unsure, err
}

func takenAsSent(p store.Part) store.Reason {
	return store.Reason{Channel: p.Channel, Slot: p.Slot, Code: "taken_as_sent", At: time.Now()}
}

// sight is what is known of a message that may have arrived.
type sight uint8

const (
	// unsure: Discord does not answer; to be looked up again.
	unsure sight = iota
	// absent: it did not arrive.
	absent
	// arrived: it is there.
	arrived
	// hidden: it can't be found out. A double would be worse than a loss.
	hidden
)

// find looks among the channel's newest messages for the part. The error says
// why it is unsure or hidden, and may be nil for the latter.
//
// Discord shows a bot that may not read the history an empty list: then when
// something was last posted in the channel may tell.
func (h *Hour) find(ctx context.Context, p store.Part) (store.MessageID, sight, error) {
	try, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	msgs, err := h.o.Discord.Newest(try, int64(p.Channel), lookBack)
	switch {
	case err != nil && refused(err):
		return 0, hidden, err
	case err != nil:
		return 0, unsure, err
	case len(msgs) == 0:
		return h.lastPosted(try, p)
	}
	var self int64
	if h.o.Self != nil {
		self = h.o.Self()
	}
	own := msgs[:0:0]
	for _, m := range msgs {
		if self == 0 || m.AuthorID == self {
			own = append(own, m)
		}
	}
	if id, ok := recognise(own, p); ok {
		return store.MessageID(id), arrived, nil
	}
	oldest := msgs[len(msgs)-1]
	if len(msgs) == lookBack && oldest.Timestamp.After(p.Slot.Add(-clockSkew)) {
		return 0, hidden, nil // it may have been further back
	}
	return 0, absent, nil
}

// lastPosted tells whether anything was posted in the channel since the part's
// slot.
func (h *Hour) lastPosted(ctx context.Context, p store.Part) (store.MessageID, sight, error) {
	c, err := h.o.Discord.Channel(ctx, int64(p.Channel))
	switch {
	case err != nil && refused(err):
		return 0, hidden, err
	case err != nil:
		return 0, unsure, err
	case c.LastMessage == 0 || discord.TimeOf(c.LastMessage).Before(p.Slot.Add(-clockSkew)):
		return 0, absent, nil
	}
	return 0, hidden, nil
}

// recognise finds the part among messages of ours, the newest first. With
// embeds, the first one carries the slot as its timestamp, and the part in the
// milliseconds of it; where Discord dropped those, the order tells, since parts
// are sent one after the other. Without embeds, the text tells. A nonce would,
// but Discord does not promise to keep it.
func recognise(own []discord.Message, p store.Part) (id int64, ok bool) {
	text := plainText(p.Body)
	var whole []int64 // of this slot, without milliseconds, the newest first
	for _, m := range own {
		if p.Nonce != "" && m.Nonce == p.Nonce {
			return m.ID, true
		}
		if text != "" {
			if strings.TrimSpace(m.Content) == text && m.Timestamp.After(p.Slot.Add(-clockSkew)) {
				return m.ID, true
			}
			continue
		}
		for _, t := range m.EmbedTimestamps {
			switch off := t.Sub(p.Slot); {
			case off == time.Duration(p.Part)*time.Millisecond && p.Part > 0:
				return m.ID, true
			case off > -time.Second && off <= 0:
				whole = append(whole, m.ID)
			}
		}
	}
	if p.Part < len(whole) {
		return whole[len(whole)-1-p.Part], true
	}
	return 0, false
}

// plainText is the text of a body without embeds, "" of one with.
func plainText(body []byte) string {
	var b struct {
		Content string            `json:"content"`
		Embeds  []json.RawMessage `json:"embeds"`
	}
	if err := json.Unmarshal(body, &b); err != nil || len(b.Embeds) > 0 {
		return ""
	}
	return strings.TrimSpace(b.Content)
}
