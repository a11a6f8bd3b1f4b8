package commands

import (
	"context"
	"errors"
	"strings"
	"time"

	"riftchime/bot/schedule"
	"riftchime/store"
)

// schedule changes or shows when and how the channel gets its reports. Where
// one option is bad, nothing changes, and each bad one is named.
func (c *Commands) schedule(ctx context.Context, q *request) (*answer, error) {
	edit, problems := c.readSchedule(q)
	if len(problems) > 0 {
		a := say(problems...)
		a.note(q.t("schedule.nothing_changed"))
		return a, nil
	}
	if edit == nil {
		if !q.known {
			return say(q.t("schedule.none")), nil
		}
		return c.showSchedule(q, q.row, q.t("schedule.title")), nil
	}
	ch, err := c.saveSchedule(ctx, q, edit)
	if err != nil {
		return nil, err
	}
	c.changed()
	return c.showSchedule(q, ch, q.t("schedule.saved")), nil
}

// readSchedule reads the options into one edit; nil where none was given.
func (c *Commands) readSchedule(q *request) (edit func(*store.Channel), problems []string) {
	var edits []func(*store.Channel)
	if typed, given := q.given(optHours); given {
		hours, err := schedule.ParseHours(typed)
		if err != nil {
			problems = append(problems, hoursProblem(q, typed, err))
		}
		edits = append(edits, func(ch *store.Channel) { ch.Hours = uint32(hours) })
	}
	if typed, given := q.given(optTimezone); given {
		zone, err := schedule.ParseZone(typed)
		if err != nil {
			problems = append(problems, zoneProblem(q, typed, err))
		}
		edits = append(edits, func(ch *store.Channel) { ch.Zone = zone })
	}
	if typed, given := q.given(optLanguage); given {
		lang := strings.ToLower(clean(typed))
		if lang != "ko" && lang != "en" {
			problems = append(problems, q.t("schedule.bad_language", "Typed", shown(typed)))
		}
		edits = append(edits, func(ch *store.Channel) { ch.Language = lang })
	}
	if v, given := q.options[optQuiet]; given {
		quiet, ok := v.(bool)
		if !ok {
			problems = append(problems, q.t("schedule.bad_quiet"))
		}
		edits = append(edits, func(ch *store.Channel) { ch.Quiet = quiet })
	}
	if len(edits) == 0 || len(problems) > 0 {
		return nil, problems
	}
	return func(ch *store.Channel) {
		for _, e := range edits {
			e(ch)
		}
	}, nil
}

// given is a text option and whether the option was given at all; of another
// type it reads as nothing typed.
func (q *request) given(name string) (string, bool) {
	v, given := q.options[name]
	s, _ := v.(string)
	return s, given
}

// saveSchedule edits the channel's row, a new one where there is none.
func (c *Commands) saveSchedule(ctx context.Context, q *request, edit func(*store.Channel)) (store.Channel, error) {
	key, err := c.key(ctx, q.server)
	if err != nil {
		return store.Channel{}, err
	}
	release, err := c.editing.take(ctx, q.channel)
	if err != nil {
		return store.Channel{}, err
	}
	defer release()
	if err := c.presentServer(ctx, q, key); err != nil {
		return store.Channel{}, err
	}
	ch, known, err := c.channel(ctx, q)
	if err != nil {
		return store.Channel{}, err
	}
	if !known {
		ch = c.newChannel(q, "")
	}
	before := ch
	edit(&ch)
	if !known || ch.Hours != before.Hours || ch.Zone != before.Zone {
		ch.NextSlot = c.moved(ch, before.NextSlot)
	}
	return ch, c.o.Store.PutChannel(ctx, ch)
}

// moved is the next slot of a channel whose schedule changed. A slot that is
// due and being worked on stays, where the new schedule has it too.
func (c *Commands) moved(ch store.Channel, due time.Time) time.Time {
	now := c.now()
	if !due.IsZero() && !due.After(now) && c.next(ch, due.Add(-time.Millisecond)).Equal(due) {
		return due
	}
	return c.next(ch, now)
}

func (c *Commands) showSchedule(q *request, ch store.Channel, title string) *answer {
	a := say(title)
	a.add(c.chimes(q, ch)...)
	a.add(q.t("schedule.language", "Language", q.t("language."+ch.Language)))
	if ch.Quiet {
		a.add(q.t("schedule.quiet"))
	} else {
		a.add(q.t("schedule.not_quiet"))
	}
	return a
}

// suggestZones offers zones for what is typed so far.
func (c *Commands) suggestZones(_ context.Context, _ *request, typed string) ([]string, error) {
	return schedule.SuggestZones(clean(typed), 25), nil
}

// hours spells full hours as people read them: "0:00, 6:00", "9:00–23:00".
func (q *request) hours(hours uint32) string {
	h := schedule.Hours(hours) & schedule.All
	switch h {
	case 0:
		return q.t("hours.off")
	case schedule.All:
		return q.t("hours.all")
	}
	parts := strings.Split(h.String(), ",")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, "-", ":00–") + ":00"
	}
	return strings.Join(parts, ", ")
}

// hoursProblem says what is wrong with hours, with examples.
func hoursProblem(q *request, typed string, err error) string {
	var e *schedule.HoursError
	id, part := "schedule.hours_syntax", typed
	if errors.As(err, &e) {
		switch e.Reason {
		case schedule.HoursEmpty:
			return q.t("schedule.hours_empty")
		case schedule.HoursTooLong:
			return q.t("schedule.hours_too_long")
		case schedule.HoursRange:
			id = "schedule.hours_range"
		}
		if e.Part != "" {
			part = e.Part
		}
	}
	return q.t(id, "Part", shown(part))
}

// zoneProblem says what is wrong with a zone, and which may have been meant.
func zoneProblem(q *request, typed string, err error) string {
	var e *schedule.ZoneError
	text := ""
	switch {
	case !errors.As(err, &e) || e.Reason == schedule.ZoneUnknown:
		text = q.t("schedule.zone_unknown", "Typed", shown(typed))
	case e.Reason == schedule.ZoneEmpty:
		return q.t("schedule.zone_empty")
	default:
		text = q.t("schedule.zone_offset", "Typed", shown(typed))
	}
	if e == nil || len(e.Suggestions) == 0 {
		return text
	}
	names := make([]string, len(e.Suggestions))
	for i, n := range e.Suggestions {
		names[i] = "`" + n + "`"
	}
	return text + " " + q.t("schedule.zone_near", "Zones", strings.Join(names, ", "))
}
