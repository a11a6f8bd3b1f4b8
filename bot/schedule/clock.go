package schedule

import (
	"math"
	"math/bits"
	"time"
)

// Clock tells the slots. The zero value is the wall's clock: an hour is an hour,
// and a channel chimes on the full hours of its own zone, those off by 30 or 45
// minutes too.
//
// Where the zone's clock is put forward, the hours it skips chime together, once,
// at the first instant after the gap; where it is put back, an hour that comes
// twice chimes the first time only, or with All both times.
//
// With another Hour it rehearses: the boundaries are the multiples of Hour since
// the Unix epoch, slot n is hour n mod 24, and zones do not count.
type Clock struct {
	// Hour is how long an hour lasts. Zero and less, like time.Hour, are real
	// hours.
	Hour time.Duration
}

func (c Clock) real() bool { return c.Hour <= 0 || c.Hour == time.Hour }

// Next is the first slot strictly after after, in UTC; zero where h is off. A
// nil loc is UTC.
func (c Clock) Next(after time.Time, h Hours, loc *time.Location) time.Time {
	if h&All == 0 {
		return time.Time{}
	}
	if !c.real() {
		n := c.count(after)
		for range 24 {
			if n++; h.Has(mod24(n)) {
				break
			}
		}
		return c.at(n)
	}
	t := after.Unix() + 1
	for {
		s := segmentAt(t, loc)
		if s.begin == t {
			// This is where the clock was put; it may have skipped hours.
			if s.gapHas(h) {
				return utc(t)
			}
		}
		for top := s.firstTop(t); top < s.end; top += hourSeconds {
			if s.chimes(top, h) {
				return utc(top)
			}
			if top-t > searchSeconds {
				return time.Time{} // no zone is like that
			}
		}
		t = s.end
	}
}

// Last is the newest slot at or before at, in UTC; zero where h is off. A nil
// loc is UTC.
func (c Clock) Last(at time.Time, h Hours, loc *time.Location) time.Time {
	if h&All == 0 {
		return time.Time{}
	}
	if !c.real() {
		n := c.count(at)
		for !h.Has(mod24(n)) {
			n--
		}
		return c.at(n)
	}
	t := at.Unix()
	for {
		s := segmentAt(t, loc)
		for top := s.lastTop(t); top >= s.begin; top -= hourSeconds {
			if s.chimes(top, h) {
				return utc(top)
			}
			if t-top > searchSeconds {
				return time.Time{}
			}
		}
		if s.gapHas(h) {
			return utc(s.begin)
		}
		t = s.begin - 1
	}
}

// HourOf is the hour, 0 to 23, that a slot is called by: the zone's, or the
// slot's number modulo 24 in a rehearsal. A nil loc is UTC.
func (c Clock) HourOf(slot time.Time, loc *time.Location) int {
	if !c.real() {
		return mod24(c.count(slot))
	}
	if loc == nil {
		loc = time.UTC
	}
	return slot.In(loc).Hour()
}

// Scale is d, a span of a real hour's measure, in this clock: 50 minutes of an
// hour of 20 s are 16.666… s. It rounds towards zero.
func (c Clock) Scale(d time.Duration) time.Duration {
	if c.real() {
		return d
	}
	negative := d < 0
	if negative {
		d = -d
	}
	hi, lo := bits.Mul64(uint64(d), uint64(c.Hour))
	if hi >= uint64(time.Hour) {
		lo = math.MaxInt64
	} else {
		lo, _ = bits.Div64(hi, lo, uint64(time.Hour))
		lo = min(lo, math.MaxInt64)
	}
	if negative {
		return -time.Duration(lo)
	}
	return time.Duration(lo)
}

// Quarter is the first quarter of an hour strictly after after, in UTC: a wake
// for everyone, since zones differ by quarters of an hour.
func (c Clock) Quarter(after time.Time) time.Time {
	hour := c.Hour
	if c.real() {
		hour = time.Hour
	}
	n := floorDiv(after.UnixNano(), int64(hour))
	for q := range int64(4) {
		t := n*int64(hour) + (q+1)*int64(hour)/4
		if t > after.UnixNano() {
			return time.Unix(0, t).UTC()
		}
	}
	return time.Unix(0, (n+1)*int64(hour)).UTC()
}

// count is the number of a rehearsal's slot at or before t. Time.Truncate is of
// no use here: it counts from year 1.
func (c Clock) count(t time.Time) int64 { return floorDiv(t.UnixNano(), int64(c.Hour)) }

func (c Clock) at(n int64) time.Time { return time.Unix(0, n*int64(c.Hour)).UTC() }

const (
	hourSeconds = 60 * 60
	daySeconds  = 24 * hourSeconds
	// searchSeconds is farther than two chimes of a day can be apart.
	searchSeconds = 4 * daySeconds
	// longest is more than any zone's clock was ever put back at once: a day,
	// where the date line moved.
	longest = 26 * hourSeconds
)

// segment is a span of time in which a zone's offset stays as it is. All values
// are seconds, instants since the Unix epoch.
type segment struct {
	// begin is included, end is not.
	begin, end int64
	// offset is east of UTC.
	offset int64
	loc    *time.Location
}

func segmentAt(t int64, loc *time.Location) segment {
	if loc == nil {
		loc = time.UTC
	}
	here := time.Unix(t, 0).In(loc)
	begin, end := here.ZoneBounds()
	_, offset := here.Zone()
	s := segment{begin: math.MinInt64 / 2, end: math.MaxInt64 / 2, offset: int64(offset), loc: loc}
	if !begin.IsZero() {
		s.begin = begin.Unix()
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	// Where ZoneBounds computes from a rule for all years it parts segments at
	// the ends of years, which does no harm here, and takes each year for 365
	// days: on the last day of a leap year the end it tells is over. That
	// segment goes on until the year ends, in UTC.
	if s.end <= t {
		s.end = (floorDiv(t, daySeconds) + 1) * daySeconds
	}
	s.begin = min(s.begin, t)
	return s
}

// before is the segment that ends where s begins; ok is false for the first.
func (s segment) before() (p segment, ok bool) {
	if s.begin == math.MinInt64/2 {
		return segment{}, false
	}
	return segmentAt(s.begin-1, s.loc), true
}

// firstTop is the first full hour at or after t by the segment's offset.
func (s segment) firstTop(t int64) int64 {
	return -floorDiv(-(t+s.offset), hourSeconds)*hourSeconds - s.offset
}

// lastTop is the last full hour at or before t by the segment's offset.
func (s segment) lastTop(t int64) int64 {
	return floorDiv(t+s.offset, hourSeconds)*hourSeconds - s.offset
}

// chimes says whether h chimes at top, a full hour in s.
func (s segment) chimes(top int64, h Hours) bool {
	local := top + s.offset
	if !h.Has(mod24(floorDiv(local, hourSeconds))) {
		return false
	}
	return h&All == All || !s.repeats(local)
}

// repeats says whether the zone's clock showed local, seconds of local time,
// before s already.
func (s segment) repeats(local int64) bool {
	for p, ok := s.before(); ok && p.end > local-s.offset-longest; p, ok = p.before() {
		if t := local - p.offset; t >= p.begin && t < p.end {
			return true
		}
	}
	return false
}

// gapHas says whether h has an hour that the clock skipped when s began.
func (s segment) gapHas(h Hours) bool {
	p, ok := s.before()
	if !ok || p.offset >= s.offset {
		return false
	}
	for top := p.firstTop(s.begin); top+p.offset < s.begin+s.offset; top += hourSeconds {
		if h.Has(mod24(floorDiv(top+p.offset, hourSeconds))) {
			return true
		}
	}
	return false
}

func utc(t int64) time.Time { return time.Unix(t, 0).UTC() }

func mod24(n int64) int { return int((n%24 + 24) % 24) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && a < 0 {
		q--
	}
	return q
}
