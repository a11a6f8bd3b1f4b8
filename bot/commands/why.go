package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"riftchime/store"
)

const (
	whyLines   = 20 // lines of /why
	whyReasons = 40 // reasons read to make them
)

// why tells the recorded reasons, newest first.
func (c *Commands) why(ctx context.Context, q *request) (*answer, error) {
	if !q.known {
		return say(q.t("empty.channel")), nil
	}
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	var about *store.Follow
	if typed, given := q.given(optRiotID); given && clean(typed) != "" {
		p, ok := player(follows, typed)
		if !ok {
			return c.nobody(q, follows, typed), nil
		}
		about = &follows[slices.IndexFunc(follows, func(f store.Follow) bool { return f.Player.ID == p.ID })]
	}
	lines, err := c.whyLines(ctx, q, follows, about)
	if err != nil {
		return nil, err
	}
	a := say(q.t("why.title"))
	if about != nil {
		a = say(q.t("why.title_player", "Name", shown(about.Player.Name())),
			q.t("why.since", "Since", stamp(about.Since)), c.refreshed(q, about.Player))
	}
	if len(lines) == 0 {
		a.add(q.t("why.nothing"))
	}
	a.add(lines...)
	if !q.row.PausedAt.IsZero() {
		a.note(c.pauseText(q, q.row)...)
	}
	a.note(q.t("why.hint"))
	return a, nil
}

func (c *Commands) refreshed(q *request, p store.Player) string {
	if p.RefreshedAt.IsZero() {
		return q.t("why.never_read")
	}
	return q.t("why.read", "At", stamp(p.RefreshedAt))
}

// whyLines puts reports and reasons in one order. A reason that only repeats
// its skipped report is left out; so are reports where it is about one player.
func (c *Commands) whyLines(ctx context.Context, q *request, follows []store.Follow, about *store.Follow) ([]string, error) {
	var only store.PlayerID
	if about != nil {
		only = about.Player.ID
	}
	reasons, err := c.o.Store.Reasons(ctx, q.channel, only, whyReasons)
	if err != nil {
		return nil, err
	}
	var reports []store.Report
	if about == nil {
		if reports, err = c.o.Store.LastReports(ctx, q.channel, whyLines); err != nil {
			return nil, err
		}
	}
	type event struct {
		at   time.Time
		line string
	}
	var events []event
	skipped := map[string]bool{}
	for _, r := range reports {
		at := r.Slot
		if r.SentAt.After(at) {
			at = r.SentAt
		}
		skipped[fmt.Sprint(r.Slot.UnixMilli(), r.Reason)] = true
		events = append(events, event{at, c.reportLine(q, r)})
	}
	names := namesOf(follows)
	for _, r := range reasons {
		if r.Player == 0 && skipped[fmt.Sprint(r.Slot.UnixMilli(), r.Code)] {
			continue
		}
		events = append(events, event{r.At, c.reasonLine(q, r, names)})
	}
	slices.SortStableFunc(events, func(x, y event) int { return y.at.Compare(x.at) })
	var lines []string
	for _, e := range events {
		if len(lines) < whyLines && !slices.Contains(lines, e.line) {
			lines = append(lines, e.line)
		}
	}
	return lines, nil
}

// reportLine tells in one line what became of a report.
func (c *Commands) reportLine(q *request, r store.Report) string {
	at := stamp(r.Slot)
	switch r.State {
	case store.ReportSent:
		line := q.t("report_state.sent", "At", at, "Late", lateness(r.Lateness))
		if r.Partial {
			line += " " + q.t("report_state.partial")
		}
		return line
	case store.ReportSkipped:
		return q.t("report_state.skipped", "At", at, "Why", c.reason(q, r.Reason, ""))
	}
	return q.t("report_state.working", "At", at)
}

// reasonLine tells one reason: when, whom and which game it is about, and why.
func (c *Commands) reasonLine(q *request, r store.Reason, names map[store.PlayerID]string) string {
	at := r.Slot
	if at.IsZero() {
		at = r.At
	}
	parts := []string{stamp(at)}
	if name, ok := names[r.Player]; ok {
		parts = append(parts, "**"+shown(name)+"**")
	}
	if r.Match != "" {
		parts = append(parts, "`"+strings.ReplaceAll(clean(r.Match), "`", "'")+"`")
	}
	return strings.Join(parts, " · ") + ": " + c.reason(q, r.Code, r.Detail)
}

// reason spells a code; one that is not known shows as it is.
func (c *Commands) reason(q *request, code, detail string) string {
	text := escape(code)
	if id := "reason." + code; q.texts.Has(id) {
		text = q.t(id)
	} else if text == "" {
		text = q.t("no_reason")
	}
	if d := shown(detail); d != "" {
		text += " (" + d + ")"
	}
	return text
}

func lateness(d time.Duration) string {
	return fmt.Sprintf("%.2f s", max(0, d).Seconds())
}
