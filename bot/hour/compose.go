package hour

import (
	"context"
	"errors"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/render"
	"riftchime/bot/report"
	"riftchime/store"
)

// composers work side by side: composing is short reads of the store.
const composers = 4

// compose renders each due channel that is not rendered yet. Unless final, only
// those of which everybody is known; with final, those of which anybody is.
func (r *run) compose(ctx context.Context, final bool) error {
	due, err := r.due(ctx)
	if err != nil {
		return err
	}
	ids := make([]store.ChannelID, 0, len(due))
	still := map[store.ChannelID]bool{}
	for _, c := range due {
		ids = append(ids, c.ID)
		still[c.ID] = true
	}
	if err := r.h.o.Store.PlanReports(ctx, r.slot, ids); err != nil {
		return err
	}
	// A channel that was rendered and is no longer due had its hours changed.
	for _, o := range r.snapshot() {
		if !still[o.channel.ID] {
			if err := r.h.skip(ctx, o.channel.ID, r.slot, "unscheduled", time.Now()); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			r.forget(o.channel.ID)
		}
	}
	var g errgroup.Group
	g.SetLimit(composers)
	for _, c := range due {
		r.mu.Lock()
		o := r.open[c.ID]
		if o == nil {
			o = &open{channel: c}
			r.open[c.ID] = o
		}
		o.channel = c
		done := o.known && !r.dirty[c.ID]
		delete(r.dirty, c.ID)
		r.mu.Unlock()
		if done {
			continue
		}
		g.Go(func() error { return r.one(ctx, o, final) })
	}
	return g.Wait()
}

// one composes one channel's report.
func (r *run) one(ctx context.Context, o *open, final bool) error {
	facts, err := r.facts(ctx, o.channel.ID)
	if err != nil {
		return err
	}
	missing, whose := r.missing(facts)
	r.mu.Lock()
	o.missing = whose
	o.known = len(whose) == 0
	o.facts = facts
	r.mu.Unlock()
	if len(whose) > 0 && !final || len(whose) == len(facts.Follows) && len(whose) > 0 {
		return nil // nothing known, or the rest may still come
	}
	rep, msgs, err := r.h.renderFacts(facts, r.slot, missing, false)
	if err != nil {
		return err
	}
	if !rep.HasGames() {
		// The ranks of today are what later changes are measured against.
		for _, f := range facts.Follows {
			for _, pair := range f.Ranks {
				if pair.Now != nil && pair.Shown == nil {
					if err := r.h.o.Store.ShowRanks(ctx, o.channel.ID, f.Player.ID); err != nil {
						return err
					}
					break
				}
			}
		}
		if o.channel.Quiet || len(whose) > 0 {
			return nil
		}
	}
	if err := r.because(ctx, o.channel.ID, facts); err != nil {
		return err
	}
	stored, err := r.h.o.Store.PutReady(ctx, r.ready(o.channel.ID, rep, msgs, len(whose) > 0))
	if err != nil {
		return err
	}
	if !stored {
		r.h.log.InfoContext(ctx, "report already on its way", "channel", o.channel.ID, "slot", r.slot)
	}
	r.mu.Lock()
	o.ready = true
	r.mu.Unlock()
	return nil
}

// facts reads what the channel's report is made of. Composed before the hour,
// every listed game is over; composed after it, games of the next hour are
// left to it.
func (r *run) facts(ctx context.Context, id store.ChannelID) (store.Facts, error) {
	now := time.Now()
	f, err := r.h.o.Store.Facts(ctx, id, r.slot, now)
	if err != nil || !now.After(r.slot) {
		return f, err
	}
	games := f.Games[:0]
	for _, g := range f.Games {
		if !g.End.After(r.slot) {
			games = append(games, g)
		}
	}
	f.Games = games
	return f, nil
}

// missing tells whose news is not known for this slot.
func (r *run) missing(f store.Facts) ([]report.Missing, map[store.PlayerID]bool) {
	r.r.mu.Lock()
	defer r.r.mu.Unlock()
	whose := map[store.PlayerID]bool{}
	groups := map[string]*report.Missing{}
	for _, follow := range f.Follows {
		p := follow.Player
		if !p.RefreshedSlot.Before(r.slot) {
			continue
		}
		cause := r.r.failed[p.ID]
		if cause == CauseName {
			continue // nothing will come; /list and /why say so
		}
		if cause == "" {
			cause = CauseTime
		}
		whose[p.ID] = true
		k := p.Platform + " " + cause
		if groups[k] == nil {
			groups[k] = &report.Missing{Platform: p.Platform, Cause: cause}
		}
		groups[k].Players = append(groups[k].Players, p.ID)
	}
	list := make([]report.Missing, 0, len(groups))
	for _, m := range groups {
		list = append(list, *m)
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i], list[j]
		return a.Platform < b.Platform || a.Platform == b.Platform && a.Cause < b.Cause
	})
	return list, whose
}

// renderFacts composes and renders. plain: without embeds.
func (h *Hour) renderFacts(f store.Facts, slot time.Time, missing []report.Missing, plain bool) (report.Report, []render.Message, error) {
	from := f.Channel.LastSlot
	if from.IsZero() {
		from = f.Channel.CreatedAt
	}
	rep := report.Compose(report.Input{Facts: f, Slot: slot, From: from, Missing: missing, Now: time.Now()})
	msgs, err := render.Render(rep, render.Options{
		Language: f.Channel.Language, Zone: zone(f.Channel), Names: h.o.Names, PlainText: plain,
	})
	return rep, msgs, err
}

// ready makes the rows of a rendered report.
func (r *run) ready(id store.ChannelID, rep report.Report, msgs []render.Message, partial bool) store.ReadyReport {
	parts := make([]store.Part, len(msgs))
	for i, m := range msgs {
		parts[i] = store.Part{
			PartKey: store.PartKey{Channel: id, Slot: r.slot, Part: i},
			Body:    m.Body,
			Nonce:   nonce(id, r.slot, i),
		}
	}
	return store.ReadyReport{
		Channel: id, Slot: r.slot, Partial: partial, Parts: parts,
		Games: rep.Games, Ranks: rep.ShownRanks, Names: rep.ShownNames,
	}
}

// nonce names a part within Discord's 25 characters: at most 13 for the
// channel, 7 for the second of the slot, 2 for the part.
func nonce(id store.ChannelID, slot time.Time, part int) string {
	return strconv.FormatInt(int64(id), 36) + "-" + strconv.FormatInt(slot.Unix(), 36) + "-" + strconv.FormatInt(int64(part), 36)
}

// because records, for /why, the games of the channel's players that can't be
// told. A game is recorded once a slot.
func (r *run) because(ctx context.Context, id store.ChannelID, f store.Facts) error {
	var reasons []store.Reason
	r.r.mu.Lock()
	for _, follow := range f.Follows {
		for _, reason := range r.r.unreadable[follow.Player.ID] {
			reason.Channel = id
			reasons = append(reasons, reason)
		}
	}
	r.r.mu.Unlock()
	if len(reasons) == 0 {
		return nil
	}
	return r.h.o.Store.AddReasons(ctx, reasons)
}

// amend edits what became known after the hour into the messages that are out,
// and posts the reports of channels of which nothing was known.
func (r *run) amend(ctx context.Context, d *delivery) error {
	for _, o := range r.snapshot() {
		r.mu.Lock()
		waiting := len(o.missing)
		ready, before := o.ready, o.facts
		r.mu.Unlock()
		if waiting == 0 {
			continue
		}
		facts, err := r.facts(ctx, o.channel.ID)
		if err != nil {
			return err
		}
		missing, whose := r.missing(facts)
		if len(whose) == waiting {
			continue // nothing new
		}
		if !ready {
			if err := r.one(ctx, o, true); err != nil {
				return err
			}
			if o.ready {
				if err := d.load(ctx, []store.Channel{o.channel}); err != nil {
					return err
				}
			}
			continue
		}
		rep, err := r.h.o.Store.Report(ctx, o.channel.ID, r.slot)
		if err != nil {
			return err
		}
		switch rep.State {
		case store.ReportSkipped:
			r.forget(o.channel.ID)
			continue
		case store.ReportSent:
		default:
			continue // still being sent: the next round
		}
		shown(&facts, before)
		if err := r.edit(ctx, d, o, facts, missing, len(whose) > 0); err != nil {
			return err
		}
		r.mu.Lock()
		o.missing = whose
		r.mu.Unlock()
	}
	return nil
}

// shown gives facts the ranks and names that were shown before this slot: what
// the first message of this slot showed is no earlier state.
func shown(facts *store.Facts, before store.Facts) {
	old := map[store.PlayerID]store.Follow{}
	for _, f := range before.Follows {
		old[f.Player.ID] = f
	}
	for i, f := range facts.Follows {
		was, ok := old[f.Player.ID]
		if !ok {
			continue
		}
		facts.Follows[i].ShownName = was.ShownName
		for j, pair := range f.Ranks {
			f.Ranks[j].Shown = nil
			for _, p := range was.Ranks {
				if p.Queue == pair.Queue {
					f.Ranks[j].Shown = p.Shown
				}
			}
		}
	}
}

// edit renders the report again and edits its messages; parts that are new are
// posted.
func (r *run) edit(ctx context.Context, d *delivery, o *open, facts store.Facts, missing []report.Missing, partial bool) error {
	rep, msgs, err := r.h.renderFacts(facts, r.slot, missing, false)
	if err != nil {
		return err
	}
	parts, err := r.h.o.Store.Parts(ctx, o.channel.ID, r.slot)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.Part >= len(msgs) || p.Message == 0 {
			continue
		}
		if err := r.h.o.Discord.Edit(ctx, int64(o.channel.ID), int64(p.Message), msgs[p.Part].Body); err != nil {
			// The games stay untold here and come with the next report.
			r.h.log.WarnContext(ctx, "late news not edited in", "channel", o.channel.ID, "slot", r.slot, "err", err)
			return nil
		}
		if r.h.o.Hooks.Edited != nil {
			r.h.o.Hooks.Edited(o.channel.ID, r.slot, msgs[p.Part].Body)
		}
	}
	if err := r.h.o.Store.Amend(ctx, r.ready(o.channel.ID, rep, msgs, partial)); err != nil {
		return err
	}
	if len(msgs) > len(parts) {
		return d.load(ctx, []store.Channel{o.channel})
	}
	return nil
}
