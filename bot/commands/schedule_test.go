package commands_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/store"
)

func TestScheduleSets(t *testing.T) {
	t.Parallel()
	all := uint32(1<<24 - 1)
	tests := []struct {
		name    string
		options map[string]any
		want    store.Channel
		says    []string
	}{
		{"one hour", map[string]any{"hours": "12"}, store.Channel{Hours: 1 << 12, Zone: "UTC", Language: "en", Quiet: true}, []string{"12:00", "(UTC)", "<t:"}},
		{"several", map[string]any{"hours": "0,6,12,18"}, store.Channel{Hours: 1 | 1<<6 | 1<<12 | 1<<18, Zone: "UTC", Language: "en", Quiet: true}, []string{"0:00, 6:00, 12:00, 18:00"}},
		{"a range", map[string]any{"hours": "9-23"}, store.Channel{Hours: all &^ (1<<9 - 1), Zone: "UTC", Language: "en", Quiet: true}, []string{"9:00–23:00"}},
		{"over midnight", map[string]any{"hours": "22-2"}, store.Channel{Hours: 1<<22 | 1<<23 | 1 | 2 | 4, Zone: "UTC", Language: "en", Quiet: true}, []string{"22:00–2:00"}},
		{"all", map[string]any{"hours": "all"}, store.Channel{Hours: all, Zone: "UTC", Language: "en", Quiet: true}, []string{"every hour"}},
		{"doubles", map[string]any{"hours": "12,12, 12"}, store.Channel{Hours: 1 << 12, Zone: "UTC", Language: "en", Quiet: true}, []string{"**12:00**"}},
		{"off", map[string]any{"hours": "off"}, store.Channel{Zone: "UTC", Language: "en", Quiet: true}, []string{"**off**"}},
		{"a zone", map[string]any{"timezone": "Asia/Kathmandu"}, store.Channel{Hours: 1 << 12, Zone: "Asia/Kathmandu", Language: "en", Quiet: true}, []string{"Asia/Kathmandu"}},
		{"Korean", map[string]any{"language": "ko"}, store.Channel{Hours: 1 << 12, Zone: "UTC", Language: "ko", Quiet: true}, []string{"Korean"}},
		{"not quiet", map[string]any{"quiet": false}, store.Channel{Hours: 1 << 12, Zone: "UTC", Language: "en"}, []string{"that is posted too"}},
		{
			"everything", map[string]any{"hours": "3", "timezone": "Europe/London", "language": "ko", "quiet": true},
			store.Channel{Hours: 1 << 3, Zone: "Europe/London", Language: "ko", Quiet: true},
			[]string{"3:00", "Europe/London", "Korean", "nothing is posted"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			got := w.do(press{command: "schedule", options: tt.options})
			contains(t, got, append(tt.says, "Saved.")...)
			ch := w.channel(200)
			if ch.Hours != tt.want.Hours || ch.Zone != tt.want.Zone || ch.Language != tt.want.Language || ch.Quiet != tt.want.Quiet {
				t.Errorf("saved %+v, want %+v", ch, tt.want)
			}
			if ch.Hours == 0 && !ch.NextSlot.IsZero() || ch.Hours != 0 && !ch.NextSlot.After(start) {
				t.Errorf("next %v", ch.NextSlot)
			}
			if w.changed != 1 {
				t.Errorf("changed %d times, want 1", w.changed)
			}
		})
	}
}

func TestScheduleRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options map[string]any
		says    []string
	}{
		{"25", map[string]any{"hours": "25"}, []string{"Hours:", "**25**", "0 to 23", "`9-23`"}},
		{"an open range", map[string]any{"hours": "9-"}, []string{"Hours:", `**9-** is neither`}},
		{"negative", map[string]any{"hours": "-1"}, []string{"Hours:", `\-1`}},
		{"empty", map[string]any{"hours": ""}, []string{"Hours: nothing was typed"}},
		{"blank", map[string]any{"hours": " \u2066 "}, []string{"Hours: nothing was typed"}},
		{"words", map[string]any{"hours": "noon"}, []string{"Hours:", "noon"}},
		{"half an hour", map[string]any{"hours": "12:30"}, []string{"Hours:", `12:30`}},
		{"a mention", map[string]any{"hours": "<@&1> @everyone"}, []string{`**\<\@&1\>** is neither`}},
		{"an unknown zone", map[string]any{"timezone": "Asia/Soul"}, []string{"Time zone: **Asia\\/Soul** is not known", "`timezone:Europe/London`"}},
		{"a fixed offset", map[string]any{"timezone": "UTC+9"}, []string{"Time zone:", "summer time"}},
		{"a bare offset", map[string]any{"timezone": "+09:00"}, []string{"Time zone:", "summer time"}},
		{"no zone", map[string]any{"timezone": ""}, []string{"Time zone: nothing was typed"}},
		{"a language", map[string]any{"language": "fr"}, []string{"Language:", "ko and en"}},
		{"not a truth", map[string]any{"quiet": "perhaps"}, []string{"Quiet:"}},
		{"one of two", map[string]any{"hours": "3", "timezone": "Nowhere/Else"}, []string{"Time zone:"}},
		{"both", map[string]any{"hours": "99", "timezone": "Nowhere/Else"}, []string{"Hours:", "Time zone:"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := press{command: "schedule", options: tt.options}
			contains(t, w.do(p), append(tt.says, "Nothing was changed")...)
			if _, err := w.store.Channel(t.Context(), 200); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a channel was opened: %v", err)
			}
			w.do(press{command: "schedule", options: map[string]any{"hours": "3", "quiet": false}})
			before := w.channel(200)
			w.do(p)
			if after := w.channel(200); after != before {
				t.Errorf("changed to %+v from %+v", after, before)
			}
			p.locale = "ko"
			contains(t, w.do(p), "아무것도 바꾸지 않았습니다", "예: `")
		})
	}
}

func TestScheduleShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "schedule"}), "Nothing is set in this channel yet")
	contains(t, w.do(press{command: "schedule", locale: "ko"}), "아직 설정이 없습니다")
	w.do(press{command: "schedule", options: map[string]any{"hours": "8,9", "timezone": "Asia/Seoul"}})
	before := w.channel(200)
	contains(t, w.do(press{command: "schedule"}), "Schedule of this channel", "8:00, 9:00", "(Asia/Seoul)", "<t:1773183600:f>")
	if after := w.channel(200); after != before {
		t.Errorf("showing changed %+v to %+v", before, after)
	}
}

func TestScheduleKeepsWhatWasNotNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(press{command: "schedule", options: map[string]any{"hours": "5", "timezone": "Europe/Paris", "language": "ko", "quiet": false}})
	w.do(press{command: "schedule", options: map[string]any{"hours": "6"}})
	ch := w.channel(200)
	if ch.Hours != 1<<6 || ch.Zone != "Europe/Paris" || ch.Language != "ko" || ch.Quiet {
		t.Errorf("got %+v", ch)
	}
	w.now = start.Add(30 * time.Minute)
	w.do(press{command: "schedule", options: map[string]any{"timezone": "Europe/London"}})
	loc, err := time.LoadLocation("Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	if next := w.channel(200).NextSlot.In(loc); next.Hour() != 6 {
		t.Errorf("next %v, want 6:00 in London", next)
	}
}

func TestScheduleLeavesASlotThatIsDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(press{command: "schedule", options: map[string]any{"hours": "2,3"}})
	due := w.channel(200).NextSlot
	w.now = due.Add(300 * time.Millisecond) // it is being posted
	for _, options := range []map[string]any{{"language": "ko"}, {"quiet": false}, {"hours": "2,18"}} {
		contains(t, w.do(press{command: "schedule", options: options}), "Saved.")
		if next := w.channel(200).NextSlot; !next.Equal(due) {
			t.Errorf("%v moved the slot that is due to %v", options, next)
		}
	}
	contains(t, w.do(press{command: "schedule", options: map[string]any{"hours": "18"}}), "18:00")
	if next := w.channel(200).NextSlot; !next.Equal(due.Add(16 * time.Hour)) {
		t.Errorf("next %v, want 18:00", next)
	}
}

func TestScheduleOfAKoreanPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "schedule", locale: "ko", options: map[string]any{"hours": "9"}}), "저장했습니다", "9:00", "Asia/Seoul", "한국어")
}

func TestScheduleSuggestsZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, typed := range []string{"", "seo", "lon", "zzzz"} {
		p := press{command: "schedule", options: map[string]any{"timezone": typed}, focus: "timezone"}
		choices := w.command("schedule").Autocomplete(t.Context(), p.interaction(t))
		if len(choices) > 25 {
			t.Errorf("%d choices for %q, more than 25", len(choices), typed)
		}
		var values []string
		for _, c := range choices {
			v, _ := c.Value.(string)
			values = append(values, v)
			if _, err := time.LoadLocation(v); err != nil {
				t.Errorf("%q suggests %q: %v", typed, v, err)
			}
		}
		if typed == "seo" && !slices.Contains(values, "Asia/Seoul") || typed == "lon" && !slices.Contains(values, "Europe/London") {
			t.Errorf("%q suggests %v", typed, values)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, s := range []string{"12", "0,6,12,18", "9-23", "22-2", "all", "off", "", "25", "9-", "-1", "<@1>", "\u2066", "12:30"} {
		f.Add(s, "Asia/Seoul", "ko")
		f.Add("12", s, s)
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, hours, zone, lang string) {
		p := press{command: "schedule", options: map[string]any{"hours": hours, "timezone": zone, "language": lang}}
		got := w.on(t).do(p)
		if strings.Contains(got, "Nothing was changed") == strings.Contains(got, "Saved.") {
			t.Errorf("neither saved nor refused: %q", got)
		}
		if ch, err := w.store.Channel(t.Context(), 200); err == nil {
			if _, err := time.LoadLocation(ch.Zone); err != nil || ch.Hours>>24 != 0 || ch.Language != "ko" && ch.Language != "en" {
				t.Errorf("saved %+v (%v)", ch, err)
			}
		}
	})
}
