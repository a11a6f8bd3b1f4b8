package discord

import (
	"context"
	"sync"
	"time"
)

// Discord resets the token of a bot that identifies more than 1,000 times a day
// (https://discord.com/developers/docs/events/gateway#session-start-limit), and
// allows one identify in 5 s for each shard number modulo max_concurrency. We
// use half of the day's, and the second part of that only slowly, so that a
// fault that lasts never leaves the bot without any.
const (
	identifyDay     = 500
	identifyFreely  = 300
	identifyEvery   = 5*time.Second + 150*time.Millisecond
	identifySlowly  = 24 * time.Hour / (identifyDay - identifyFreely)
	identifyReserve = 100 // of Discord's own count, for whoever repairs things
)

// identifyBudget hands out permits to identify to the shards of one bot.
type identifyBudget struct {
	every   time.Duration
	buckets []identifyBucket

	mu    sync.Mutex // guards everything below
	used  []time.Time
	most  int       // a day
	reset time.Time // when most becomes identifyDay; zero: it is
}

// identifyBucket is shared by the shards whose number modulo max_concurrency is
// the same. Who holds turn may identify.
type identifyBucket struct {
	turn chan struct{}
	last time.Time // guarded by turn
}

// newIdentifyBudget makes a budget. If left is not negative it is how many
// Discord says are left until reset.
func newIdentifyBudget(every time.Duration, concurrency, left int, reset time.Time) *identifyBudget {
	b := &identifyBudget{every: every, buckets: make([]identifyBucket, max(concurrency, 1)), most: identifyDay}
	for i := range b.buckets {
		b.buckets[i].turn = make(chan struct{}, 1)
	}
	if left >= 0 {
		b.most = min(identifyDay, max(left-identifyReserve, left/10))
		b.reset = reset
	}
	return b
}

// permit is the right to send one identify.
type permit struct {
	budget *identifyBudget
	bucket *identifyBucket
}

// acquire waits until shard may identify. The permit must be released.
func (b *identifyBudget) acquire(ctx context.Context, shard int) (*permit, error) {
	bucket := &b.buckets[shard%len(b.buckets)]
	select {
	case bucket.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := &permit{budget: b, bucket: bucket}
	for {
		now := time.Now()
		wait := max(b.wait(now), bucket.last.Add(b.every).Sub(now))
		if wait <= 0 {
			return p, nil
		}
		if err := sleep(ctx, wait); err != nil {
			p.release()
			return nil, err
		}
	}
}

// wait says how long the day's budget asks to wait at now.
func (b *identifyBudget) wait(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.reset.After(now) {
		b.most = identifyDay
	}
	gone := 0
	for gone < len(b.used) && now.Sub(b.used[gone]) >= 24*time.Hour {
		gone++
	}
	b.used = append(b.used[:0], b.used[gone:]...)
	switch n := len(b.used); {
	case n >= b.most:
		wait := b.reset.Sub(now) // Far in the past where there is none.
		if b.most > 0 {
			if day := b.used[n-b.most].Add(24 * time.Hour).Sub(now); wait <= 0 || day < wait {
				wait = day
			}
		}
		return wait
	case n >= identifyFreely:
		return b.used[n-1].Add(identifySlowly).Sub(now)
	default:
		return 0
	}
}

// spend counts the identify. It is called right before the identify is sent.
func (p *permit) spend() {
	if p == nil {
		return
	}
	now := time.Now()
	p.bucket.last = now
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	p.budget.used = append(p.budget.used, now)
}

// release lets the next shard of the bucket have its turn.
func (p *permit) release() {
	if p != nil {
		<-p.bucket.turn
	}
}
