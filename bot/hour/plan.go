package hour

import (
	"context"
	"errors"
	"sort"
	"strings"
	"time"

	"riftchime/bot/schedule"
	"riftchime/riot"
	"riftchime/store"
)

const (
	// rankAge is how old a rank may be before it is asked for again without a
	// ranked game (issue 2).
	rankAge = 24 * time.Hour
	// settle is the share of a computed fetching time that is added to it.
	settle = 1.25
)

// earliest is how long before a slot fetching may begin (DESIGN section 4).
func (h *Hour) earliest() time.Duration { return h.o.Clock.Scale(50 * time.Minute) }

// margin is added to the time that fetching takes: for rendering, retries and
// an answer that is slow. It is short, since what is fetched late is fresh.
func (h *Hour) margin() time.Duration {
	return min(time.Minute, h.o.Clock.Scale(12*time.Minute))
}

// startOf computes when fetching for slot must begin: as late as the limits
// allow, for fresh data.
func (h *Hour) startOf(ctx context.Context, slot time.Time) (time.Time, error) {
	due, err := h.duePlayers(ctx, slot)
	if err != nil {
		return time.Time{}, err
	}
	lead := min(time.Duration(settle*float64(h.estimate(due, time.Now())))+h.margin(), h.earliest())
	return slot.Add(-lead), nil
}

// estimate is the least time that refreshing these players takes. Calls on
// different hosts run side by side, so the slowest host counts.
func (h *Hour) estimate(due []store.DuePlayer, now time.Time) time.Duration {
	if h.o.Estimate == nil {
		return 0
	}
	h.mu.Lock()
	games, ranks := h.gamesPerPlayer, h.ranksPerPlayer
	h.mu.Unlock()
	type bucket struct{ key, host string }
	calls := map[bucket]map[string]float64{}
	add := func(key, host, method string, n float64) {
		b := bucket{key, host}
		if calls[b] == nil {
			calls[b] = map[string]float64{}
		}
		calls[b][method] += n
	}
	for _, p := range due {
		platform := riot.Platform(p.Platform)
		region := string(platform.MatchRegion())
		key := h.keyOf(p)
		add(key, region, riot.MethodMatchIDs, 1)
		add(key, region, riot.MethodMatch, games)
		if p.PUUID == "" {
			add(key, string(platform.AccountRegion()), riot.MethodAccountByRiotID, 1)
		}
		if rankDue(p.Player, now) {
			add(key, p.Platform, riot.MethodLeague, 1)
		} else {
			add(key, p.Platform, riot.MethodLeague, ranks)
		}
	}
	var longest time.Duration
	for b, methods := range calls {
		whole := make(map[string]int, len(methods))
		for m, n := range methods {
			whole[m] = int(n + 0.999)
		}
		longest = max(longest, h.o.Estimate(b.key, b.host, whole))
	}
	return longest
}

// learn keeps what a slot took, for planning the next.
func (h *Hour) learn(players, games, ranks int) {
	if players == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gamesPerPlayer = (h.gamesPerPlayer + 2*float64(games)/float64(players)) / 2
	h.ranksPerPlayer = min(1, (h.ranksPerPlayer+2*float64(ranks)/float64(players))/2)
}

func (h *Hour) keyOf(p store.DuePlayer) string {
	if p.Key == "" && h.o.DefaultKey != nil {
		return h.o.DefaultKey()
	}
	return p.Key
}

// rankDue: the rank is unknown, known to be behind, or a day old.
func rankDue(p store.Player, now time.Time) bool {
	return p.RanksAt.IsZero() || p.RanksWanted || now.Sub(p.RanksAt) >= rankAge
}

// overdue decides what becomes of the channels whose slot passed while nobody
// served it, and returns the slots that are fresh enough to be served late: one
// report a channel, for the newest slot it missed, never a flood. Channels that
// missed more wait for their next hour; their games are in it.
func (h *Hour) overdue(ctx context.Context, now time.Time) ([]time.Time, error) {
	// Before the channels are read: a run that ends in between moves its own.
	serving := h.serving()
	due, err := h.o.Store.DueChannels(ctx, now)
	if err != nil {
		return nil, err
	}
	late := map[int64]time.Time{}
	for _, c := range due {
		if serving[c.NextSlot.UnixMilli()] {
			continue
		}
		slot, err := h.serveNext(ctx, c, now)
		if err != nil {
			return nil, err
		}
		if !slot.IsZero() && !slot.After(now) {
			late[slot.UnixMilli()] = slot
		}
	}
	slots := make([]time.Time, 0, len(late))
	h.mu.Lock()
	for ms, t := range late {
		h.caughtUp[ms] = true
		slots = append(slots, t)
	}
	for ms := range h.caughtUp {
		if now.Sub(time.UnixMilli(ms)) > h.o.Clock.Scale(2*time.Hour) {
			delete(h.caughtUp, ms)
		}
	}
	h.mu.Unlock()
	sort.Slice(slots, func(i, j int) bool { return slots[i].Before(slots[j]) })
	return slots, nil
}

// serveNext decides which slot a channel that missed one is served next.
func (h *Hour) serveNext(ctx context.Context, c store.Channel, now time.Time) (time.Time, error) {
	fresh := func(t time.Time) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return now.Sub(t) <= h.o.Clock.Scale(30*time.Minute) && !h.caughtUp[t.UnixMilli()]
	}
	// A report on its way is finished, not begun again for a later slot.
	if r, err := h.o.Store.Report(ctx, c.ID, c.NextSlot); err == nil && r.State == store.ReportSending && fresh(c.NextSlot) {
		return c.NextSlot, nil
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return time.Time{}, err
	}
	slot := h.last(c, now)
	if slot.IsZero() || !fresh(slot) || !slot.After(c.LastSlot) {
		slot = h.next(c, now)
	}
	if slot.Equal(c.NextSlot) {
		return slot, nil
	}
	h.log.InfoContext(ctx, "hours were missed", "channel", c.ID, "slot", c.NextSlot, "next", slot)
	err := h.o.Store.SetNextSlot(ctx, c.ID, slot)
	if err == nil && c.NextSlot.After(c.LastSlot) {
		err = h.reason(ctx, store.Reason{Channel: c.ID, Slot: c.NextSlot, Code: "missed", At: now})
	}
	return slot, err
}

// duePlayers lists whom to read for slot: the players of the channels that
// chime at it, but those who were read for it, or for a later one, already.
func (h *Hour) duePlayers(ctx context.Context, slot time.Time) ([]store.DuePlayer, error) {
	due, err := h.o.Store.DuePlayers(ctx, slot)
	if err != nil {
		return nil, err
	}
	channels, err := h.o.Store.DueChannels(ctx, slot)
	if err != nil {
		return nil, err
	}
	var ours []store.ChannelID
	for _, c := range channels {
		if c.NextSlot.Equal(slot) {
			ours = append(ours, c.ID)
		}
	}
	if len(ours) < len(channels) {
		// Some chime earlier: their own run reads their players, and as late as
		// their own hour allows.
		if due, err = h.playersOf(ctx, ours); err != nil {
			return nil, err
		}
	}
	unread := due[:0]
	for _, p := range due {
		if p.RefreshedSlot.Before(slot) {
			unread = append(unread, p)
		}
	}
	return unread, nil
}

// playersOf lists the players of these channels, once each.
func (h *Hour) playersOf(ctx context.Context, channels []store.ChannelID) ([]store.DuePlayer, error) {
	var all []store.DuePlayer
	seen := map[store.PlayerID]bool{}
	for _, id := range channels {
		players, err := h.o.Store.DuePlayersOf(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, p := range players {
			if !seen[p.ID] {
				seen[p.ID] = true
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// rehearse moves next slots that belong to an hour of another length: a
// database that was rehearsed with, or is now.
func (h *Hour) rehearse(ctx context.Context, now time.Time) error {
	const name = "hour"
	length := h.o.Clock.Scale(time.Hour).String()
	was, err := h.o.Store.Note(ctx, name)
	if err != nil || was == length {
		return err
	}
	if was != "" {
		type move struct {
			id   store.ChannelID
			next time.Time
		}
		var moves []move
		err := h.o.Store.AllChannels(ctx, func(c store.Channel) error {
			if next := h.next(c, now); !next.Equal(c.NextSlot) {
				moves = append(moves, move{c.ID, next})
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, m := range moves {
			if err := h.o.Store.SetNextSlot(ctx, m.id, m.next); err != nil {
				return err
			}
		}
	}
	return h.o.Store.PutNote(ctx, name, length)
}

// zone is where a channel's hours count. A zone that this machine does not
// know counts as UTC.
func zone(c store.Channel) *time.Location {
	loc, err := time.LoadLocation(c.Zone)
	if err != nil || strings.EqualFold(c.Zone, "local") {
		return time.UTC
	}
	return loc
}

// next is the channel's first slot after t.
func (h *Hour) next(c store.Channel, t time.Time) time.Time {
	return h.o.Clock.Next(t, schedule.Hours(c.Hours), zone(c))
}

// last is the channel's newest slot at or before t.
func (h *Hour) last(c store.Channel, t time.Time) time.Time {
	return h.o.Clock.Last(t, schedule.Hours(c.Hours), zone(c))
}

// skip ends a report that is not sent, and says why.
func (h *Hour) skip(ctx context.Context, id store.ChannelID, slot time.Time, reason string, now time.Time) error {
	c, err := h.o.Store.Channel(ctx, id)
	if err != nil {
		return err
	}
	return h.skipped(ctx, c, slot, reason, now)
}

func (h *Hour) skipped(ctx context.Context, c store.Channel, slot time.Time, reason string, now time.Time) error {
	next := h.next(c, later(slot, now))
	if err := h.o.Store.Skip(ctx, c.ID, slot, reason, now, next); err != nil {
		return err
	}
	if h.o.Hooks.Skipped != nil {
		h.o.Hooks.Skipped(c.ID, slot, reason)
	}
	if reason == "quiet" {
		return nil // the report's own row says so
	}
	return h.reason(ctx, store.Reason{Channel: c.ID, Slot: slot, Code: reason, At: now})
}

func (h *Hour) reason(ctx context.Context, r store.Reason) error {
	return h.o.Store.AddReasons(ctx, []store.Reason{r})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
