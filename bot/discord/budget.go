package discord

import (
	"sync"
	"time"
)

// Discord bans an address for 10,000 refused requests (401, 403, 429) in ten
// minutes; other programs may share ours, so a tenth of it is all we use
// (https://discord.com/developers/docs/topics/rate-limits#invalid-request-limit-aka-cloudflare-bans).
const (
	refusedMost   = 1000
	refusedWindow = 10 * time.Minute
)

// budget counts refused requests in a sliding window. A request that is under
// way counts as refused until it is known not to be, so that the limit holds
// however many are.
type budget struct {
	mu       sync.Mutex // guards everything below
	refused  []time.Time
	underWay int
}

// take makes room for one request, or says how long there will be none.
func (b *budget) take(now time.Time) (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := 0
	for gone < len(b.refused) && now.Sub(b.refused[gone]) >= refusedWindow {
		gone++
	}
	b.refused = append(b.refused[:0], b.refused[gone:]...)
	if len(b.refused)+b.underWay < refusedMost {
		b.underWay++
		return 0, true
	}
	if len(b.refused) == 0 {
		return time.Second, false
	}
	return refusedWindow - now.Sub(b.refused[0]), false
}

// settle ends a request that take let go.
func (b *budget) settle(now time.Time, refused bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underWay--
	if refused {
		b.refused = append(b.refused, now)
	}
}
