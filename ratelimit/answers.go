package ratelimit

import (
	"math"
	"time"
)

// moment is a point in time, as the span since the limiter was made. The core
// of the package knows no clock; every function takes the present as a moment.
type moment = time.Duration

// never is later than every moment: what happens only when an answer arrives.
const never moment = math.MaxInt64

// stamp is the moment of an answer and whether a person waited for it, in the
// lowest bit.
type stamp int64

func newStamp(at moment, person bool) stamp {
	s := stamp(at) << 1
	if person {
		s |= 1
	}
	return s
}

func (s stamp) at() moment   { return moment(s >> 1) }
func (s stamp) person() bool { return s&1 == 1 }

// answers is a growing ring of the answers of a bucket, in order. An answer has
// the same number for as long as it is kept.
type answers struct {
	buf   []stamp // a power of two long
	first uint64  // number of the oldest kept
	next  uint64  // number of the next to come
}

func (a *answers) len() int { return int(a.next - a.first) }

func (a *answers) get(n uint64) stamp { return a.buf[n&uint64(len(a.buf)-1)] }

func (a *answers) push(s stamp) {
	if a.len() == len(a.buf) {
		grown := make([]stamp, max(16, 2*len(a.buf)))
		for n := a.first; n != a.next; n++ {
			grown[n&uint64(len(grown)-1)] = a.get(n)
		}
		a.buf = grown
	}
	a.buf[a.next&uint64(len(a.buf)-1)] = s
	a.next++
}

// forget drops all answers that are older than horizon.
func (a *answers) forget(now moment, horizon time.Duration) {
	for a.first != a.next && a.get(a.first).at()+horizon <= now {
		a.first++
	}
}
