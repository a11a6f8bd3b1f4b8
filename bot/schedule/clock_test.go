package schedule_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/bot/schedule"
)

// readings are what a zone's clock shows, in minutes, at each minute from from on.
func readings(loc *time.Location, from, to time.Time) []int64 {
	var all []int64
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		_, offset := t.In(loc).Zone()
		all = append(all, (t.Unix()+int64(offset))/60)
	}
	return all
}

// walk finds the slots by looking at the zone's clock each minute, as somebody
// would who stood before it: a full hour that is wanted and that the clock did
// not show before; where it jumped over one, the minute after the jump; and
// every time it shows one, where all hours are wanted.
func walk(clock []int64, from time.Time, h schedule.Hours) []time.Time {
	var slots []time.Time
	shown := map[int64]bool{}
	before := clock[0] - 1
	for i, now := range clock {
		chimes := now%60 == 0 && h.Has(int(now/60%24)) && (h == schedule.All || !shown[now])
		if now%60 == 0 {
			shown[now] = true
		}
		for skipped := before + 1; skipped < now; skipped++ {
			chimes = chimes || skipped%60 == 0 && h.Has(int(skipped/60%24))
		}
		if chimes {
			slots = append(slots, from.Add(time.Duration(i)*time.Minute))
		}
		before = now
	}
	return slots
}

// TestSlotsAgainstTheClock compares Next and Last with what walk finds in three
// weeks around each jump of a clock (31 December: none), asked every quarter of an hour and around
// each slot.
func TestSlotsAgainstTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, jump string }{
		{"UTC", "2026-12-31"},
		{"America/New_York", "2028-12-31"},    // the last days of leap years, which
		{"America/New_York", "2040-12-31"},    // time.Time.ZoneBounds gets wrong
		{"Australia/Sydney", "2028-12-31"},    //
		{"Asia/Kathmandu", "2026-12-31"},      // off by 45 minutes
		{"Asia/Kathmandu", "1986-01-01"},      // from 5:30 to 5:45 at midnight
		{"Asia/Seoul", "1988-05-08"},          // summer time for the Olympic Games
		{"Asia/Seoul", "1988-10-09"},          //
		{"Australia/Lord_Howe", "2026-04-05"}, // summer time of half an hour
		{"Australia/Lord_Howe", "2026-10-04"}, //
		{"America/St_Johns", "2006-04-02"},    // off by 30 minutes, put at 0:01
		{"America/St_Johns", "2006-10-29"},    //
		{"America/St_Johns", "2026-03-08"},    // put at 2:00
		{"America/St_Johns", "2026-11-01"},    //
		{"Europe/Berlin", "2026-03-29"},       //
		{"Europe/Berlin", "2026-10-25"},       //
		{"America/New_York", "2026-03-08"},    //
		{"America/New_York", "2026-11-01"},    //
		{"Pacific/Apia", "2011-12-30"},        // no such day
		{"Pacific/Kwajalein", "1993-08-21"},   // nor this one
		{"America/Caracas", "2016-05-01"},     // from −4:30 to −4
		{"Asia/Pyongyang", "2018-05-05"},      // from 8:30 to 9
		{"Asia/Pyongyang", "2015-08-15"},      // and before, the other way
		{"Pacific/Chatham", "2026-04-05"},     // off by 45 minutes, with summer time
		{"Pacific/Chatham", "2026-09-27"},     //
		{"Africa/Casablanca", "2026-02-15"},   // back in Ramadan
		{"Africa/Casablanca", "2026-03-22"},   //
		{"America/Sao_Paulo", "2018-11-04"},   // midnight is skipped
		{"America/Sao_Paulo", "2018-02-18"},   // 23:00 comes twice
		{"Antarctica/Troll", "2026-03-29"},    // two hours of summer time
		{"Antarctica/Troll", "2026-10-25"},    //
		{"Asia/Tehran", "2022-09-22"},         //
	} {
		t.Run(c.zone+"/"+c.jump, func(t *testing.T) {
			t.Parallel()
			loc, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			jump, err := time.Parse(time.DateOnly, c.jump)
			if err != nil {
				t.Fatal(err)
			}
			from, to := jump.AddDate(0, 0, -10), jump.AddDate(0, 0, 11)
			clock := readings(loc, from, to)
			if n := len(clock); strings.HasSuffix(c.jump, "-12-31") != (clock[n-1]-clock[0] == int64(n-1)) {
				t.Fatal("the clock does not jump as it should")
			}
			for _, h := range []schedule.Hours{schedule.All, 1 << 0, 1<<1 | 1<<2 | 1<<3, 1 << 12, 1 << 23, schedule.All &^ 1} {
				slots := walk(clock, from, h)
				// The first days have no full history before them.
				i := 0
				for t0 := slots[0].AddDate(0, 0, 3); t0.Before(slots[len(slots)-1]); t0 = t0.Add(15 * time.Minute) {
					for !slots[i].After(t0) {
						i++
					}
					ask(t, loc, h, t0, slots[i-1], slots[i])
				}
				for i := 5; i < len(slots)-1; i++ {
					s := slots[i]
					ask(t, loc, h, s.Add(-time.Nanosecond), slots[i-1], s)
					ask(t, loc, h, s, s, slots[i+1])
					ask(t, loc, h, s.Add(time.Nanosecond), s, slots[i+1])
				}
				if t.Failed() {
					t.FailNow()
				}
			}
		})
	}
}

func ask(t *testing.T, loc *time.Location, h schedule.Hours, at, last, next time.Time) {
	t.Helper()
	var c schedule.Clock
	if got := c.Next(at, h, loc); !got.Equal(next) {
		t.Errorf("Next(%s, %s) = %s, want %s", at.In(loc), h, got.In(loc), next.In(loc))
	}
	if got := c.Last(at, h, loc); !got.Equal(last) {
		t.Errorf("Last(%s, %s) = %s, want %s", at.In(loc), h, got.In(loc), last.In(loc))
	}
}

// TestSlots are days worked out by hand.
func TestSlots(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		zone  string
		hours string
		after string // RFC 3339
		want  []string
	}{
		"Seoul at noon": {"Asia/Seoul", "12", "2026-12-01T11:59:59+09:00", []string{
			"2026-12-01T12:00:00+09:00", "2026-12-02T12:00:00+09:00",
		}},
		"Kathmandu": {"Asia/Kathmandu", "all", "2026-12-01T11:50:00+05:45", []string{
			"2026-12-01T12:00:00+05:45", "2026-12-01T13:00:00+05:45",
		}},
		"Berlin skips 2": {"Europe/Berlin", "2", "2026-03-28T12:00:00+01:00", []string{
			"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00",
		}},
		"Berlin skips 2, 3 chimes too": {"Europe/Berlin", "2,3", "2026-03-28T12:00:00+01:00", []string{
			"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00", "2026-03-30T03:00:00+02:00",
		}},
		"Berlin skips 2 of all": {"Europe/Berlin", "all", "2026-03-29T00:30:00+01:00", []string{
			"2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T04:00:00+02:00",
		}},
		"Berlin has 2 twice": {"Europe/Berlin", "2", "2026-10-24T12:00:00+02:00", []string{
			"2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00",
		}},
		"Berlin has 2 twice of all": {"Europe/Berlin", "all", "2026-10-25T01:30:00+02:00", []string{
			"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00",
		}},
		"Lord Howe skips half of 2": {"Australia/Lord_Howe", "2", "2026-10-03T12:00:00+10:30", []string{
			"2026-10-04T02:30:00+11:00", "2026-10-05T02:00:00+11:00",
		}},
		"Lord Howe has half of 1 twice": {"Australia/Lord_Howe", "1,2", "2026-04-04T12:00:00+11:00", []string{
			"2026-04-05T01:00:00+11:00", "2026-04-05T02:00:00+10:30", "2026-04-06T01:00:00+10:30",
		}},
		"St John's": {"America/St_Johns", "9", "2026-12-01T00:00:00Z", []string{
			"2026-12-01T09:00:00-03:30", "2026-12-02T09:00:00-03:30",
		}},
		"Apia without a day": {"Pacific/Apia", "12", "2011-12-29T00:00:00-10:00", []string{
			"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00",
		}},
		"New York at night": {"America/New_York", "22-2", "2026-12-01T21:30:00-05:00", []string{
			"2026-12-01T22:00:00-05:00", "2026-12-01T23:00:00-05:00", "2026-12-02T00:00:00-05:00", "2026-12-02T01:00:00-05:00",
			"2026-12-02T02:00:00-05:00", "2026-12-02T22:00:00-05:00",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, err := time.LoadLocation(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			h, err := schedule.ParseHours(c.hours)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, c.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				at = schedule.Clock{}.Next(at, h, loc)
				if got := at.In(loc).Format(time.RFC3339); got != want {
					t.Fatalf("got %s, want %s", got, want)
				}
				if at.Location() != time.UTC {
					t.Error("not in UTC")
				}
			}
		})
	}
}

func TestOff(t *testing.T) {
	t.Parallel()
	for _, c := range []schedule.Clock{{}, {Hour: 20 * time.Second}} {
		if got := c.Next(time.Now(), 1<<24, time.UTC); !got.IsZero() {
			t.Errorf("Next %s", got)
		}
		if got := c.Last(time.Now(), 0, nil); !got.IsZero() {
			t.Errorf("Last %s", got)
		}
	}
}

// TestDayHasItsChimes counts: every chosen hour chimes once a day, also on the
// days on which the clock is put.
func TestDayHasItsChimes(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for hour := range 24 {
		n := 0
		end := time.Date(2027, 1, 1, 0, 0, 0, 0, loc)
		for at := time.Date(2025, 12, 31, 23, 59, 59, 0, loc); ; n++ {
			if at = (schedule.Clock{}).Next(at, 1<<hour, loc); !at.Before(end) {
				break
			}
		}
		if n != 365 {
			t.Errorf("hour %d chimed %d times in 2026", hour, n)
		}
	}
}

func TestRehearsal(t *testing.T) {
	t.Parallel()
	for _, hour := range []time.Duration{2 * time.Second, 7 * time.Second, 20 * time.Second, 1500 * time.Millisecond, 59 * time.Minute} {
		c := schedule.Clock{Hour: hour}
		// Slot n is n hours after the epoch; the zone does not count.
		n := 1_800_000_000 / int64(hour/time.Millisecond) * 1000
		at := time.Unix(0, n*int64(hour))
		loc, err := time.LoadLocation("Asia/Kathmandu")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.HourOf(at, loc); got != int(n%24) {
			t.Errorf("%s: hour %d, want %d", hour, got, n%24)
		}
		if got := c.Next(at, schedule.All, loc); !got.Equal(at.Add(hour)) {
			t.Errorf("%s: next of all %s after", hour, got.Sub(at))
		}
		if got := c.Next(at.Add(-1), schedule.All, loc); !got.Equal(at) {
			t.Errorf("%s: next of all from just before %s after", hour, got.Sub(at))
		}
		if got := c.Last(at.Add(hour-1), schedule.All, loc); !got.Equal(at) {
			t.Errorf("%s: last of all %s after", hour, got.Sub(at))
		}
		h := schedule.Hours(1 << (n % 24))
		if got := c.Next(at, h, loc); !got.Equal(at.Add(24 * hour)) {
			t.Errorf("%s: the same hour next %s after", hour, got.Sub(at))
		}
		if got := c.Last(at.Add(24*hour-1), h, loc); !got.Equal(at) {
			t.Errorf("%s: the same hour last %s after", hour, got.Sub(at))
		}
	}
	// Before the epoch hours count on backwards.
	c := schedule.Clock{Hour: time.Minute}
	if got := c.HourOf(time.Unix(-1, 0), nil); got != 23 {
		t.Errorf("the minute before the epoch is hour %d", got)
	}
	if got := c.Last(time.Unix(-1, 0), schedule.All, nil); !got.Equal(time.Unix(-60, 0)) {
		t.Errorf("it began at %s", got)
	}
}

func TestHourOf(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("Asia/Kathmandu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []schedule.Clock{{}, {Hour: time.Hour}, {Hour: -1}} {
		if got := c.HourOf(time.Date(2026, 12, 1, 6, 15, 0, 0, time.UTC), loc); got != 12 {
			t.Errorf("hour %d, want 12", got)
		}
		if got := c.HourOf(time.Date(2026, 12, 1, 6, 15, 0, 0, time.UTC), nil); got != 6 {
			t.Errorf("hour %d in UTC, want 6", got)
		}
	}
}

func TestScale(t *testing.T) {
	t.Parallel()
	cases := []struct{ hour, d, want time.Duration }{
		{0, 50 * time.Minute, 50 * time.Minute},
		{time.Hour, 50 * time.Minute, 50 * time.Minute},
		{20 * time.Second, 30 * time.Minute, 10 * time.Second},
		{20 * time.Second, 50 * time.Minute, 16_666_666_666},
		{2 * time.Second, 24 * time.Hour, 48 * time.Second},
		{2 * time.Second, 90 * 24 * time.Hour, 4320 * time.Second},
		{59 * time.Minute, 1 << 61, 2267412292393465719},
		{20 * time.Second, -30 * time.Minute, -10 * time.Second},
		{4 * time.Hour, 1 << 62, 1<<63 - 1},
		{20 * time.Second, 0, 0},
	}
	for _, c := range cases {
		if got := (schedule.Clock{Hour: c.hour}).Scale(c.d); got != c.want {
			t.Errorf("%s in an hour of %s: %d, want %d", c.d, c.hour, got, c.want)
		}
	}
}

func TestQuarter(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var got []string
	at := noon.Add(-time.Nanosecond)
	for range 5 {
		at = schedule.Clock{}.Quarter(at)
		got = append(got, at.Format("15:04:05"))
	}
	if want := []string{"12:00:00", "12:15:00", "12:30:00", "12:45:00", "13:00:00"}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	got = nil
	for range 5 {
		at = schedule.Clock{Hour: 2 * time.Second}.Quarter(at)
		got = append(got, at.Format("15:04:05.0"))
	}
	if want := []string{"13:00:00.5", "13:00:01.0", "13:00:01.5", "13:00:02.0", "13:00:02.5"}; !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	// A full hour is a quarter of every clock's, whatever does not divide by 4.
	c := schedule.Clock{Hour: 2_000_000_003}
	next := c.Next(noon, schedule.All, nil)
	at = noon
	for !at.Equal(next) {
		if at = c.Quarter(at); at.After(next) {
			t.Fatalf("the hour at %s is no quarter", next)
		}
	}
}

// TestNextAndLastAgree asks at random times in every zone there is.
func TestNextAndLastAgree(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for _, zone := range canonicalZones(t) {
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		var c schedule.Clock
		leap := time.Date(2040, 12, 31, r.IntN(24), 0, 0, 0, time.UTC)
		for i := range 20 {
			h := schedule.Hours(r.Uint32()) & schedule.All
			if h == 0 {
				continue
			}
			at := time.Unix(r.Int64N(4_000_000_000)-1_000_000_000, r.Int64N(1e9))
			if i == 0 {
				at = leap
			}
			next := c.Next(at, h, loc)
			if !next.After(at) || next.Sub(at) > 50*time.Hour {
				t.Fatalf("%s, %s: next of %s is %s", zone, h, at, next)
			}
			if got := c.Last(next, h, loc); !got.Equal(next) {
				t.Fatalf("%s, %s: last of the slot %s is %s", zone, h, next, got)
			}
			last := c.Last(at, h, loc)
			if last.After(at) || !c.Next(last, h, loc).Equal(next) {
				t.Fatalf("%s, %s: between %s and %s lies %s", zone, h, last, next, c.Next(last, h, loc))
			}
		}
	}
}
