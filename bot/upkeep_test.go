package bot

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/store"
	"riftchime/store/sqlite"
)

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestFailures counts failed requests over a midnight: they are in the store by
// day, and the log has one line for the day that is over.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		var log strings.Builder
		ctx, cancel := context.WithCancel(t.Context())
		f := &Failures{}
		var run sync.WaitGroup
		run.Go(func() { f.Run(ctx, db, slog.New(slog.NewTextHandler(&log, nil))) })
		// The bubble begins at midnight.
		day := time.Now().UTC().Truncate(24 * time.Hour)
		time.Sleep(23*time.Hour + 59*time.Minute)
		f.Add("match", "time-out")
		f.Add("match", "time-out")
		f.Add("league", "limited")
		time.Sleep(2 * time.Minute)
		f.Add("match", "time-out")
		cancel()
		run.Wait()
		for d, want := range map[time.Time]int{day: 3, day.Add(24 * time.Hour): 1} {
			fs, err := db.Failures(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, x := range fs {
				got += x.Count
			}
			if got != want {
				t.Errorf("%s: %d failures kept, want %d", d.Format(time.DateOnly), got, want)
			}
		}
		if n := strings.Count(log.String(), "failed requests of the day"); n != 1 {
			t.Errorf("%d lines in the log, want 1:\n%s", n, &log)
		}
		for _, want := range []string{"total=3", "by.match.time-out=2", "by.league.limited=1"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %q:\n%s", want, &log)
			}
		}
	})
}

// dragon is a Data Dragon that may be away.
type dragon struct {
	mu    sync.Mutex
	away  bool
	asked int
	name  string
}

func (d *dragon) Champions(_ context.Context, language string) (string, []store.Champion, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.away {
		return "", nil, errors.New("away")
	}
	return "16.1.1", []store.Champion{{ID: 9, Key: "Fiddlesticks", Name: language + " " + d.name}}, nil
}

func (*dragon) IconURL(version, key string) string { return "icon/" + version + "/" + key }

func (d *dragon) times() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

func (d *dragon) set(away bool, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away, d.name = away, name
}

// TestChampions: names are fetched once a day, the store's are used where Data
// Dragon is away, and the match's own where nothing is known.
func TestChampions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		d := &dragon{away: true, name: "old"}
		c := NewChampions(db, d, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { c.Run(ctx) })
		check := func(when string, id int, match, want, icon string) {
			t.Helper()
			synctest.Wait()
			if got := c.Champion(id, match, "ko"); got != want {
				t.Errorf("%s: name %q, want %q", when, got, want)
			}
			if got := c.Icon(id, match); got != icon {
				t.Errorf("%s: icon %q, want %q", when, got, icon)
			}
		}
		check("nothing known", 9, "FiddleSticks", "FiddleSticks", "")
		d.set(false, "old")
		time.Sleep(2 * time.Minute)
		check("back", 9, "FiddleSticks", "ko old", "icon/16.1.1/Fiddlesticks")
		check("without a number", 0, "FiddleSticks", "ko old", "icon/16.1.1/Fiddlesticks")
		check("a new champion", 999, "Newcomer", "Newcomer", "")
		asked := d.times()
		d.set(false, "new")
		time.Sleep(23 * time.Hour)
		check("the same day", 9, "", "ko old", "icon/16.1.1/Fiddlesticks")
		if d.times() != asked {
			t.Errorf("asked %d times more within a day", d.times()-asked)
		}
		time.Sleep(2 * time.Hour)
		check("the next day", 9, "", "ko new", "icon/16.1.1/Fiddlesticks")
		d.set(true, "gone")
		time.Sleep(48 * time.Hour)
		check("away for days", 9, "", "ko new", "icon/16.1.1/Fiddlesticks")
		cancel()
		run.Wait()
	})
}
