package commands

import (
	"context"
	"sync"

	"riftchime/store"
)

// keyed lets one holder in per channel. It holds no lock while its holder
// works, so that waiting ends with a context.
type keyed struct {
	mu   sync.Mutex
	held map[store.ChannelID]chan struct{} // guarded by mu; closed when let go
}

func newKeyed() *keyed { return &keyed{held: map[store.ChannelID]chan struct{}{}} }

// try takes the channel, or returns the holder's end to wait for.
func (k *keyed) try(id store.ChannelID) (release func(), wait <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if done, ok := k.held[id]; ok {
		return nil, done
	}
	done := make(chan struct{})
	k.held[id] = done
	return func() {
		k.mu.Lock()
		delete(k.held, id)
		k.mu.Unlock()
		close(done)
	}, nil
}

// take waits for the channel until ctx ends.
func (k *keyed) take(ctx context.Context, id store.ChannelID) (release func(), err error) {
	for {
		release, wait := k.try(id)
		if release != nil {
			return release, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
