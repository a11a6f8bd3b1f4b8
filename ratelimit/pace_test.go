package ratelimit

import (
	"testing"
	"time"
)

// TestLateTimers has every wake-up come late: requests leave as many at once as
// were due, so that no time is lost on the whole.
func TestLateTimers(t *testing.T) {
	t.Parallel()
	const every, late = 400 * time.Microsecond, time.Millisecond
	var p pace
	start := time.Now()
	now := moment(time.Second)
	left := 0
	for left < 1000 {
		at := p.next(start, now, every)
		if at > now {
			now = at + late
			continue
		}
		p.take(start, now)
		left++
	}
	if took, want := now-time.Second, 999*every+late; took < 999*every || took > want {
		t.Errorf("1000 requests took %v to leave, want %v to %v", took, 999*every, want)
	}

	// What did not wait has no claim to what is past.
	p.reset()
	now += time.Second
	left = 0
	for p.next(start, now, every) <= now {
		p.take(start, now)
		left++
	}
	if left != 1 {
		t.Errorf("%d left at once after a second of quiet, want 1", left)
	}
}
