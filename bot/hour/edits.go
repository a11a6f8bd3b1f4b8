package hour

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"riftchime/bot/discord"
	"riftchime/store"
)

const (
	// editsNote is the note in which the edits under way are kept, so that the
	// next start finds out which of them were made: what they tell must not come
	// with the next report too.
	editsNote = "edits"
	// editLooks is how often a start asks a Discord that does not answer, over all
	// edits.
	editLooks = 4
)

type editKey struct {
	channel store.ChannelID
	slot    int64 // Unix milliseconds
}

// pendingEdit is an edit that may have been made though nobody saw it.
type pendingEdit struct {
	// Report is what the messages tell if it was, without parts that are new.
	Report store.ReadyReport
	// Message is the first part's.
	Message store.MessageID
	// Since is the time of the first such try, Edited of an earlier edit that is
	// known of.
	Since, Edited time.Time
}

// keepEdit writes down that an edit is under way, or with nil that it is over.
func (h *Hour) keepEdit(ctx context.Context, channel store.ChannelID, slot time.Time, e *pendingEdit) error {
	select {
	case h.editing <- struct{}{}: // one writes at a time, or an older state could win
		defer func() { <-h.editing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	k := editKey{channel, slot.UnixMilli()}
	if _, there := h.edits[k]; e == nil && !there {
		return nil
	}
	if e == nil {
		delete(h.edits, k)
	} else {
		h.edits[k] = *e
	}
	all := make([]pendingEdit, 0, len(h.edits))
	for _, e := range h.edits {
		all = append(all, e)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return h.o.Store.PutNote(ctx, editsNote, string(text))
}

// resumeEdits ends the edits that a stop interrupted. Where Discord can't say
// whether one was made it counts as made: a double would be worse than a loss.
func (h *Hour) resumeEdits(ctx context.Context) error {
	text, err := h.o.Store.Note(ctx, editsNote)
	if err != nil || text == "" {
		return err
	}
	var all []pendingEdit
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return err
	}
	looks := editLooks
	for _, e := range all {
		made, seen, err := h.sawEdit(ctx, e)
		for wait := time.Second; looks > 1 && err != nil && !refused(err); looks, wait = looks-1, 2*wait {
			if !sleep(ctx, wait) {
				return ctx.Err()
			}
			made, seen, err = h.sawEdit(ctx, e)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if seen && !made {
			continue // the games come with the next report
		}
		if !seen {
			h.log.WarnContext(ctx, "cannot see whether the late news was edited in; taken as told", "channel", e.Report.Channel, "slot", e.Report.Slot, "err", err)
			if err := h.reason(ctx, store.Reason{Channel: e.Report.Channel, Slot: e.Report.Slot, Code: "taken_as_sent", At: time.Now()}); err != nil {
				return err
			}
		}
		if err := h.o.Store.Amend(ctx, e.Report); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		h.log.InfoContext(ctx, "late news settled", "channel", e.Report.Channel, "slot", e.Report.Slot)
	}
	return h.o.Store.PutNote(ctx, editsNote, "")
}

// sawEdit looks whether an edit was made; seen is false where the message can't
// be seen, and err may say why.
func (h *Hour) sawEdit(ctx context.Context, e pendingEdit) (made, seen bool, err error) {
	try, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	var msgs []discord.Message
	if msgs, err = h.o.Discord.Newest(try, int64(e.Report.Channel), lookBack); err != nil {
		return false, false, err
	}
	for _, m := range msgs {
		if m.ID == int64(e.Message) {
			// An earlier edit, of which is known, is no sign.
			return m.Edited.After(e.Since.Add(-min(clockSkew, e.Since.Sub(e.Edited)/2))), true, nil
		}
	}
	return false, false, nil
}
