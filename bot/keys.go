package bot

import (
	"context"
	"time"

	"riftchime/riot"
)

const (
	// keyPatience is how long a key may be refused before its servers move.
	keyPatience = 15 * time.Minute
	// keyEvery is how often that is looked at.
	keyEvery = time.Minute
)

// moveKeys gives the servers of a key that stays refused, or is no longer
// among those given, to the keys that work, the one with the fewest players
// first (issue 3). Their players are found again by Riot ID when they are next
// refreshed, since PUUIDs hold under one key only. With no key that works,
// everything stays as it is.
func (b *Bot) moveKeys(ctx context.Context) {
	ticker := time.NewTicker(keyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := b.moveServers(ctx, b.o.Riot.Health(), time.Now()); err != nil && ctx.Err() == nil {
			b.log.ErrorContext(ctx, "servers not moved to another key", "err", err)
		}
	}
}

func (b *Bot) moveServers(ctx context.Context, keys []riot.KeyHealth, now time.Time) error {
	works, stays := map[string]bool{}, map[string]bool{}
	for _, k := range keys {
		works[string(k.Fingerprint)] = !k.Refused
		// A key that is refused only for a while keeps its servers.
		stays[string(k.Fingerprint)] = !k.Refused || now.Sub(k.Since) < keyPatience
	}
	servers, err := b.o.Store.ServersPresent(ctx)
	if err != nil {
		return err
	}
	var load map[string]int
	for _, s := range servers {
		if s.Key == "" || stays[s.Key] {
			continue
		}
		if load == nil {
			if load, err = b.o.Store.KeyLoad(ctx); err != nil {
				return err
			}
		}
		next := ""
		for _, k := range keys {
			if f := string(k.Fingerprint); works[f] && (next == "" || load[f] < load[next]) {
				next = f
			}
		}
		if next == "" {
			return nil
		}
		if err := b.o.Store.SetServerKey(ctx, s.ID, next); err != nil {
			return err
		}
		load, err = b.o.Store.KeyLoad(ctx)
		if err != nil {
			return err
		}
		b.log.InfoContext(ctx, "server moved to another key", "server", s.ID, "from", s.Key, "to", next)
		b.hour.Changed()
	}
	return nil
}
