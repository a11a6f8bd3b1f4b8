package discord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/discord"
)

func TestIdentifyBudget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		left        int
		reset       time.Duration // Discord's
		least, most int           // in the first day
	}{
		{"Discord says nothing", -1, 0, 490, 500},
		{"a fresh day", 1000, 24 * time.Hour, 490, 500},
		{"three hundred left", 300, 24 * time.Hour, 200, 200},
		{"few left", 50, 24 * time.Hour, 5, 5},
		{"none left", 0, 24 * time.Hour, 0, 0},
		{"none left for an hour", 0, time.Hour, 480, 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				budget := discord.NewIdentifyBudget(1, tt.left, time.Now().Add(tt.reset))
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour-time.Second)
				defer cancel()
				var all []time.Time
				for {
					if err := budget.Identify(ctx, 0); err != nil {
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Fatal(err)
						}
						break
					}
					all = append(all, time.Now())
				}
				if n := len(all); n < tt.least || n > tt.most {
					t.Errorf("%d identifies in a day, want %d to %d", n, tt.least, tt.most)
				}
				for i := 1; i < len(all); i++ {
					if gap := all[i].Sub(all[i-1]); gap < 5*time.Second {
						t.Fatalf("two identifies %v apart, want 5s at least", gap)
					} else if gap > 10*time.Minute {
						t.Errorf("no identify for %v", gap)
					}
				}
			})
		})
	}
}

func TestIdentifyConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := discord.NewIdentifyBudget(2, -1, time.Time{})
		start := time.Now()
		for shard, want := range []time.Duration{0, 0, 5 * time.Second, 5 * time.Second} {
			if err := budget.Identify(t.Context(), shard); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start); got < want || got > want+time.Second {
				t.Errorf("shard %d identified after %v, want %v", shard, got, want)
			}
		}
	})
}
