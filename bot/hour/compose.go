package hour

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/bot/discord"
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
	// A channel that was rendered and is no longer due had its hours changed;
	// until the end they may be changed back.
	for _, o := range r.snapshot() {
		if final && !still[o.channel.ID] {
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
		done := o.known && !r.dirty[c.ID] && asBefore(o.channel, c)
		o.channel = c
		delete(r.dirty, c.ID)
		r.mu.Unlock()
		if done {
			continue
		}
		g.Go(func() error { return r.guarded(ctx, o, func() error { return r.one(ctx, o, final) }) })
	}
	return g.Wait()
}

// asBefore: what a person sets of the channel, and its report shows, did not
// change.
func asBefore(was, is store.Channel) bool {
	return was.Zone == is.Zone && was.Language == is.Language && was.Quiet == is.Quiet
}

// guarded does f for one channel. It returns an error only where the database
// is away, which concerns all; what fails in one channel, a panic too, must not
// keep the others from their report.
func (r *run) guarded(ctx context.Context, o *open, f func() error) error {
	var err error
	for range 3 { // a row may go, or a game be taken, while it is at work
		if err = caught(f); err == nil || errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
	}
	r.h.log.ErrorContext(ctx, "report not made", "channel", o.channel.ID, "slot", r.slot, "err", err)
	r.mu.Lock()
	o.known = false
	r.mu.Unlock()
	return nil
}

// caught turns a panic of f into an error.
func caught(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// one composes one channel's report.
func (r *run) one(ctx context.Context, o *open, final bool) error {
	facts, err := r.facts(ctx, o.channel.ID)
	if err != nil {
		return err
	}
	missing, whose := r.missing(facts)
	ready, err := r.put(ctx, o, facts, missing, whose, final)
	if err != nil {
		return err
	}
	// Only now: what failed half-way is done again.
	r.mu.Lock()
	o.missing = whose
	o.known = len(whose) == 0
	o.facts = facts
	o.ready = o.ready || ready
	r.mu.Unlock()
	return nil
}

// put renders and stores the report where there is something to tell, and
// reports whether it did.
func (r *run) put(
	ctx context.Context, o *open, facts store.Facts, missing []report.Missing, whose map[store.PlayerID]string, final bool,
) (bool, error) {
	if len(whose) > 0 && (!final || len(whose) == len(facts.Follows)) {
		return false, nil // nothing known, or the rest may still come
	}
	rep, msgs, err := r.h.renderFacts(facts, r.slot, missing, r.h.isPlain(o.channel.ID))
	if err != nil {
		return false, err
	}
	if !rep.HasGames() {
		// The ranks of today are what later changes are measured against.
		for _, f := range facts.Follows {
			for _, pair := range f.Ranks {
				if pair.Now != nil && pair.Shown == nil {
					if err := r.h.o.Store.ShowRanks(ctx, o.channel.ID, f.Player.ID); err != nil {
						return false, err
					}
					break
				}
			}
		}
		if o.channel.Quiet {
			return false, nil
		}
	}
	stored, err := r.h.o.Store.PutReady(ctx, r.ready(o.channel.ID, rep, msgs, len(whose) > 0))
	if err != nil {
		return false, err
	}
	if !stored {
		r.h.log.InfoContext(ctx, "report already on its way", "channel", o.channel.ID, "slot", r.slot)
	}
	return true, nil
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

// missing tells whose news is not known for this slot, and why.
func (r *run) missing(f store.Facts) ([]report.Missing, map[store.PlayerID]string) {
	whose := map[store.PlayerID]string{}
	groups := map[string]*report.Missing{}
	for _, follow := range f.Follows {
		p := follow.Player
		if !p.RefreshedSlot.Before(r.slot) || follow.Since.After(r.slot) {
			continue
		}
		cause := r.r.failure(p.ID)
		if cause == CauseName {
			continue // nothing will come; /list and /why say so
		}
		if cause == "" {
			cause = CauseTime
		}
		whose[p.ID] = cause
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

// note collects, for /why, who of the channel could not be read and which games
// can't be told or do not count. Each is noted once a slot.
func (r *run) note(o *open) {
	r.mu.Lock()
	facts, ready := o.facts, o.ready
	missing := make(map[store.PlayerID]string, len(o.missing))
	for id, cause := range o.missing {
		missing[id] = cause
	}
	r.mu.Unlock()
	for _, follow := range facts.Follows {
		id := follow.Player.ID
		cause := missing[id]
		if cause == "" && r.r.failure(id) == CauseName && follow.Player.RefreshedSlot.Before(r.slot) {
			cause = CauseName
		}
		if cause != "" {
			r.noteOne(store.Reason{Channel: o.channel.ID, Player: id, Slot: r.slot, Code: cause})
		}
		for _, reason := range r.r.unread(id) {
			reason.Channel = o.channel.ID
			r.noteOne(reason)
		}
	}
	if ready {
		r.noteRemakes(o.channel.ID, facts)
	}
}

// noteRemakes collects the games that are shown and count as nothing.
func (r *run) noteRemakes(id store.ChannelID, facts store.Facts) {
	for _, g := range facts.Games {
		if g.Outcome == store.OutcomeRemake {
			r.noteOne(store.Reason{Channel: id, Player: g.Player, Match: g.Match, Slot: r.slot, Code: "remake"})
		}
	}
}

func (r *run) noteOne(reason store.Reason) {
	k := notedKey{reason.Channel, reason.Player, reason.Match, reason.Code}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.noted[k] {
		return
	}
	r.noted[k] = true
	reason.At = time.Now()
	r.toNote = append(r.toNote, reason)
}

// because records what was noted.
func (r *run) because(ctx context.Context) error {
	for _, o := range r.snapshot() {
		r.note(o)
	}
	r.mu.Lock()
	reasons := r.toNote
	r.mu.Unlock()
	if len(reasons) == 0 {
		return nil
	}
	if err := r.h.o.Store.AddReasons(ctx, reasons); err != nil {
		return err
	}
	r.mu.Lock()
	r.toNote = r.toNote[len(reasons):]
	r.mu.Unlock()
	return nil
}

// asText renders a channel's report anew without embeds. It reports false where
// a part of it is out already.
func (r *run) asText(ctx context.Context, id store.ChannelID) (bool, error) {
	facts, err := r.facts(ctx, id)
	if err != nil {
		return false, err
	}
	missing, whose := r.missing(facts)
	rep, msgs, err := r.h.renderFacts(facts, r.slot, missing, true)
	if err != nil {
		return false, err
	}
	return r.h.o.Store.Replace(ctx, r.ready(id, rep, msgs, len(whose) > 0))
}

// amend edits what became known after the hour into the messages that are out,
// and posts the reports of channels of which nothing was known.
func (r *run) amend(ctx context.Context, d *delivery) error {
	for _, o := range r.snapshot() {
		if len(o.missing) == 0 {
			continue
		}
		if err := r.guarded(ctx, o, func() error { return r.amendOne(ctx, d, o) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) amendOne(ctx context.Context, d *delivery, o *open) error {
	facts, err := r.facts(ctx, o.channel.ID)
	if err != nil {
		return err
	}
	missing, whose := r.missing(facts)
	if !fewer(whose, o.missing) {
		return nil // nothing new
	}
	if !o.ready {
		if err := r.one(ctx, o, true); err != nil || !o.ready {
			return err
		}
		return d.load(ctx, []store.Channel{o.channel})
	}
	rep, err := r.h.o.Store.Report(ctx, o.channel.ID, r.slot)
	if err != nil {
		return err
	}
	switch rep.State {
	case store.ReportSkipped:
		r.forget(o.channel.ID)
		return nil
	case store.ReportSent:
	default:
		return nil // still being sent: the next round
	}
	shown(&facts, o.facts)
	done, err := r.edit(ctx, d, o, facts, missing, len(whose) > 0)
	if err != nil || !done {
		return err
	}
	r.noteRemakes(o.channel.ID, facts)
	r.mu.Lock()
	o.missing = whose
	r.mu.Unlock()
	return nil
}

// fewer reports whether somebody of before is not in now.
func fewer(now, before map[store.PlayerID]string) bool {
	for id := range before {
		if _, still := now[id]; !still {
			return true
		}
	}
	return false
}

// shown gives facts the ranks and names that were shown before this slot, and
// the slot before: what the first message of this slot showed is no earlier
// state.
func shown(facts *store.Facts, before store.Facts) {
	facts.Channel.LastSlot = before.Channel.LastSlot
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
// posted. It reports false where Discord did not take it all: the next round
// tries again, and after the last one the games come with the next report.
func (r *run) edit(ctx context.Context, d *delivery, o *open, facts store.Facts, missing []report.Missing, partial bool) (bool, error) {
	parts, err := r.h.o.Store.Parts(ctx, o.channel.ID, r.slot)
	if err != nil {
		return false, err
	}
	plain := len(parts) > 0 && plainText(parts[0].Body) != ""
	rep, msgs, err := r.h.renderFacts(facts, r.slot, missing, plain)
	if err != nil {
		return false, err
	}
	for _, p := range parts {
		if p.Message == 0 {
			return false, nil // taken as sent: there is nothing that can be edited
		}
	}
	if len(parts) == 0 {
		return false, nil
	}
	next := r.ready(o.channel.ID, rep, msgs, partial)
	before := o.unseen
	this := &pendingEdit{Report: next, Message: parts[0].Message, Since: time.Now(), Edited: o.edited}
	this.Report.Parts = next.Parts[:min(len(next.Parts), len(parts))]
	if before != nil {
		this.Since, this.Edited = before.Since, before.Edited
	}
	if err := r.h.keepEdit(ctx, o.channel.ID, r.slot, this); err != nil {
		return false, err
	}
	for _, p := range parts {
		if p.Part >= len(msgs) {
			continue
		}
		if err := r.h.o.Discord.Edit(ctx, int64(o.channel.ID), int64(p.Message), msgs[p.Part].Body); err != nil {
			r.h.log.WarnContext(ctx, "late news not edited in", "channel", o.channel.ID, "slot", r.slot, "err", err)
			if p.Part == 0 && !maybe(err) {
				return false, r.h.keepEdit(ctx, o.channel.ID, r.slot, before)
			}
			// A part before this one was edited, or this one was, unseen.
			o.unseen = this
			return false, nil
		}
		if r.h.o.Hooks.Edited != nil {
			r.h.o.Hooks.Edited(o.channel.ID, r.slot, msgs[p.Part].Body)
		}
	}
	if err := r.h.o.Store.Amend(ctx, next); err != nil {
		return false, err
	}
	o.unseen, o.edited = nil, time.Now()
	if err := r.h.keepEdit(ctx, o.channel.ID, r.slot, nil); err != nil {
		r.h.log.WarnContext(ctx, "edit not crossed out", "channel", o.channel.ID, "slot", r.slot, "err", err) // the next start does
	}
	if len(msgs) > len(parts) {
		return true, d.load(ctx, []store.Channel{o.channel})
	}
	return true, nil
}

// seeEdits ends the edits of which no answer came: it looks whether they were
// made. Where that can't be seen they count as made.
func (r *run) seeEdits(ctx context.Context) error {
	for _, o := range r.snapshot() {
		u := o.unseen
		if u == nil {
			continue
		}
		made, seen, err := r.h.sawEdit(ctx, *u)
		if !seen {
			r.h.log.WarnContext(ctx, "cannot see whether the late news was edited in; taken as told", "channel", o.channel.ID, "slot", r.slot, "err", err)
			r.noteOne(takenAsSent(store.Part{PartKey: store.PartKey{Channel: o.channel.ID, Slot: r.slot}}))
		}
		if made || !seen { // else the games come with the next report
			if err := r.h.o.Store.Amend(ctx, u.Report); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if err := r.h.keepEdit(ctx, o.channel.ID, r.slot, nil); err != nil {
			return err
		}
		o.unseen = nil
	}
	return r.because(ctx)
}

// maybe reports whether what failed may have been done.
func maybe(err error) bool {
	var e *discord.Error
	return !errors.As(err, &e) || e.Maybe
}
