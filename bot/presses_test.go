package bot

import (
	"testing"
	"time"

	"riftchime/store"
)

func TestPresses(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := press{user: 1, channel: 2, command: "register", options: `riot_id="a#b"`}

	t.Run("held back while it works, open when it ends", func(t *testing.T) {
		t.Parallel()
		s := newPresses()
		done, ok := s.begin(p, now)
		if !ok {
			t.Fatal("the first press was held back")
		}
		if _, ok := s.begin(p, now.Add(time.Second)); ok {
			t.Error("a second press ran")
		}
		for what, other := range map[string]press{
			"another person":  {9, 2, "register", p.options},
			"another channel": {1, 9, "register", p.options},
			"another command": {1, 2, "unregister", p.options},
			"other options":   {1, 2, "register", `riot_id="c#d"`},
		} {
			if _, ok := s.begin(other, now.Add(time.Second)); !ok {
				t.Errorf("%s was held back", what)
			}
		}
		done()
		if _, ok := s.begin(p, now.Add(time.Second)); !ok {
			t.Error("held back after the end")
		}
	})

	t.Run("opens by itself past the time expected", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct {
			name  string
			stats store.LatencyStats
			want  time.Duration
		}{
			{"nothing known", store.LatencyStats{}, 3 * time.Second},
			{"mean and three deviations", store.LatencyStats{Count: 9, Mean: 2 * time.Second, StdDev: 500 * time.Millisecond}, 3500 * time.Millisecond},
			{"never under a second", store.LatencyStats{Count: 9, Mean: 20 * time.Millisecond}, time.Second},
			{"never over a quarter", store.LatencyStats{Count: 9, Mean: 10 * time.Minute, StdDev: 4 * time.Minute}, 15 * time.Minute},
		} {
			s := newPresses()
			s.learn(map[string]store.LatencyStats{"register": c.stats})
			if _, ok := s.begin(p, now); !ok {
				t.Fatalf("%s: the first press was held back", c.name)
			}
			if _, ok := s.begin(p, now.Add(c.want-time.Millisecond)); ok {
				t.Errorf("%s: open before %s", c.name, c.want)
			}
			if _, ok := s.begin(p, now.Add(c.want)); !ok {
				t.Errorf("%s: still held back after %s", c.name, c.want)
			}
		}
	})

	t.Run("the end of a late one does not open for the newer", func(t *testing.T) {
		t.Parallel()
		s := newPresses()
		late, _ := s.begin(p, now)
		if _, ok := s.begin(p, now.Add(4*time.Second)); !ok {
			t.Fatal("held back past the time expected")
		}
		late()
		if _, ok := s.begin(p, now.Add(5*time.Second)); ok {
			t.Error("the late end opened for a third while the second works")
		}
	})
}
