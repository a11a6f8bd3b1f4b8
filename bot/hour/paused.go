package hour

import (
	"context"
	"errors"
	"sort"
	"time"

	"riftchime/bot/schedule"
	"riftchime/store"
)

const (
	// probesAtOnce bounds how many paused channels are probed an hour. Each costs
	// a request, and two refused ones at its next slot where it is still
	// forbidden to write there: far below the budget of refused requests.
	probesAtOnce = 40
	// plainFor is how long a channel that took no embeds gets text without
	// trying.
	plainFor = 6 * time.Hour
)

// probeLoop looks, once an hour and away from the quarters at which channels
// chime, whether channels that were paused can be served again.
func (h *Hour) probeLoop(ctx context.Context) {
	var after store.ChannelID
	for {
		now := time.Now()
		ahead := h.o.Clock.Scale(22*time.Minute + 30*time.Second)
		at := h.o.Clock.Next(now.Add(ahead), schedule.All, time.UTC).Add(-ahead)
		if reached, _ := sleepUntil(ctx, at, nil); !reached {
			return
		}
		var err error
		if after, err = h.probe(ctx, after); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "paused channels not probed", "err", err)
		}
	}
}

// probe tries the paused channels that follow after, in the order of their ids
// and round again, and returns the last one it tried.
func (h *Hour) probe(ctx context.Context, after store.ChannelID) (store.ChannelID, error) {
	var paused []store.Channel
	err := h.o.Store.AllChannels(ctx, func(c store.Channel) error {
		if !c.PausedAt.IsZero() {
			paused = append(paused, c)
		}
		return nil
	})
	if err != nil {
		return after, err
	}
	sort.Slice(paused, func(i, j int) bool {
		a, b := paused[i].ID, paused[j].ID
		if (a > after) != (b > after) {
			return a > after
		}
		return a < b
	})
	resumed := false
	for _, c := range paused[:min(len(paused), probesAtOnce)] {
		after = c.ID
		if _, err := h.o.Discord.Channel(ctx, int64(c.ID)); err != nil {
			if !refused(err) {
				return after, err // Discord is away: not now
			}
			continue
		}
		// It can be seen. Whether the bot may write there, only a message tells:
		// the next report is the trial.
		h.mu.Lock()
		h.trials[c.ID] = c.PausedAt
		h.mu.Unlock()
		if err := h.o.Store.ResumeChannel(ctx, c.ID, h.next(c, time.Now())); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			return after, err
		}
		resumed = true
		h.log.InfoContext(ctx, "paused channel is tried again", "channel", c.ID, "why", c.PausedWhy)
	}
	if resumed {
		h.Changed()
	}
	return after, nil
}

// trial reports whether the channel is on trial, and since when it was paused;
// the trial is over with it.
func (h *Hour) trial(id store.ChannelID) (since time.Time, on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	since, on = h.trials[id]
	delete(h.trials, id)
	return since, on
}

// plainly remembers that the channel takes no embeds at present.
func (h *Hour) plainly(id store.ChannelID) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for other, until := range h.plain {
		if now.After(until) {
			delete(h.plain, other)
		}
	}
	h.plain[id] = now.Add(h.o.Clock.Scale(plainFor))
}

func (h *Hour) isPlain(id store.ChannelID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(h.plain[id])
}
