package hour_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"riftchime/store"
)

// champions tell games apart.
var champions = []string{
	"Aatrox", "Ahri", "Akali", "Amumu", "Ashe", "Blitzcrank", "Braum", "Caitlyn", "Camille", "Darius",
	"Ekko", "Ezreal", "Poppy", "Garen", "Gragas", "Irelia", "Janna", "Jhin", "Jinx", "Kayn",
}

// flaky is a database that fails at random, half of the times after it did what
// it was asked to.
type flaky struct {
	*recorder

	mu     sync.Mutex // guards what follows
	rng    *rand.Rand
	share  float64
	failed int
}

func (f *flaky) set(share float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.share = share
}

func (f *flaky) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// roll decides whether a call fails, and when.
func (f *flaky) roll(what string) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rng.Float64() >= f.share {
		return nil, nil
	}
	f.failed++
	err := fmt.Errorf("%s: %w", what, store.ErrUnavailable)
	if f.rng.IntN(2) == 0 {
		return err, nil
	}
	return nil, err
}

func flakyDo(f *flaky, what string, do func() error) error {
	before, after := f.roll(what)
	if before != nil {
		return before
	}
	if err := do(); err != nil {
		return err
	}
	return after
}

func flakyGet[T any](f *flaky, what string, do func() (T, error)) (T, error) {
	var got T
	err := flakyDo(f, what, func() (err error) {
		got, err = do()
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return got, nil
}

func (f *flaky) Channel(ctx context.Context, id store.ChannelID) (store.Channel, error) {
	return flakyGet(f, "channel", func() (store.Channel, error) { return f.recorder.Channel(ctx, id) })
}

func (f *flaky) SetNextSlot(ctx context.Context, id store.ChannelID, next time.Time) error {
	return flakyDo(f, "next slot", func() error { return f.recorder.SetNextSlot(ctx, id, next) })
}

func (f *flaky) NextSlotAfter(ctx context.Context, t time.Time) (time.Time, error) {
	return flakyGet(f, "next slot after", func() (time.Time, error) { return f.recorder.NextSlotAfter(ctx, t) })
}

func (f *flaky) DueChannels(ctx context.Context, slot time.Time) ([]store.Channel, error) {
	return flakyGet(f, "due channels", func() ([]store.Channel, error) { return f.recorder.DueChannels(ctx, slot) })
}

func (f *flaky) DuePlayers(ctx context.Context, slot time.Time) ([]store.DuePlayer, error) {
	return flakyGet(f, "due players", func() ([]store.DuePlayer, error) { return f.recorder.DuePlayers(ctx, slot) })
}

func (f *flaky) DuePlayersOf(ctx context.Context, id store.ChannelID) ([]store.DuePlayer, error) {
	return flakyGet(f, "due players of", func() ([]store.DuePlayer, error) { return f.recorder.DuePlayersOf(ctx, id) })
}

func (f *flaky) Player(ctx context.Context, id store.PlayerID) (store.Player, error) {
	return flakyGet(f, "player", func() (store.Player, error) { return f.recorder.Player(ctx, id) })
}

func (f *flaky) Refreshed(ctx context.Context, id store.PlayerID, slot, at time.Time, ranksWanted bool) error {
	return flakyDo(f, "refreshed", func() error { return f.recorder.Refreshed(ctx, id, slot, at, ranksWanted) })
}

func (f *flaky) Listed(ctx context.Context, id store.PlayerID, key string, ids []string, at time.Time) ([]store.MatchToRead, error) {
	return flakyGet(f, "listed", func() ([]store.MatchToRead, error) { return f.recorder.Listed(ctx, id, key, ids, at) })
}

func (f *flaky) PutMatch(ctx context.Context, m store.Match, at time.Time) error {
	return flakyDo(f, "put match", func() error { return f.recorder.PutMatch(ctx, m, at) })
}

func (f *flaky) PutRanks(ctx context.Context, id store.PlayerID, ranks []store.Rank, at time.Time) (before, after []store.Rank, err error) {
	err = flakyDo(f, "put ranks", func() (err error) {
		before, after, err = f.recorder.PutRanks(ctx, id, ranks, at)
		return err
	})
	return before, after, err
}

func (f *flaky) Facts(ctx context.Context, id store.ChannelID, slot, now time.Time) (store.Facts, error) {
	return flakyGet(f, "facts", func() (store.Facts, error) { return f.recorder.Facts(ctx, id, slot, now) })
}

func (f *flaky) PlanReports(ctx context.Context, slot time.Time, ids []store.ChannelID) error {
	return flakyDo(f, "plan", func() error { return f.recorder.PlanReports(ctx, slot, ids) })
}

func (f *flaky) Report(ctx context.Context, id store.ChannelID, slot time.Time) (store.Report, error) {
	return flakyGet(f, "report", func() (store.Report, error) { return f.recorder.Report(ctx, id, slot) })
}

func (f *flaky) PutReady(ctx context.Context, r store.ReadyReport) (bool, error) {
	return flakyGet(f, "put ready", func() (bool, error) { return f.recorder.PutReady(ctx, r) })
}

func (f *flaky) ReadyParts(ctx context.Context, slot time.Time) ([]store.Part, error) {
	return flakyGet(f, "ready parts", func() ([]store.Part, error) { return f.recorder.ReadyParts(ctx, slot) })
}

func (f *flaky) Claim(ctx context.Context, parts []store.PartKey, at time.Time) ([]store.PartKey, error) {
	return flakyGet(f, "claim", func() ([]store.PartKey, error) { return f.recorder.Claim(ctx, parts, at) })
}

func (f *flaky) Sent(ctx context.Context, p store.PartKey, m store.MessageID, at time.Time, late time.Duration, next time.Time) error {
	return flakyDo(f, "sent", func() error { return f.recorder.Sent(ctx, p, m, at, late, next) })
}

func (f *flaky) Skip(ctx context.Context, id store.ChannelID, slot time.Time, reason string, at, next time.Time) error {
	return flakyDo(f, "skip", func() error { return f.recorder.Skip(ctx, id, slot, reason, at, next) })
}

func (f *flaky) Amend(ctx context.Context, r store.ReadyReport) error {
	return flakyDo(f, "amend", func() error { return f.recorder.Amend(ctx, r) })
}

func (f *flaky) Unfinished(ctx context.Context) ([]store.Report, error) {
	return flakyGet(f, "unfinished", func() ([]store.Report, error) { return f.recorder.Unfinished(ctx) })
}

func (f *flaky) AddReasons(ctx context.Context, rs []store.Reason) error {
	return flakyDo(f, "reasons", func() error { return f.recorder.AddReasons(ctx, rs) })
}
