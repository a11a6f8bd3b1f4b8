package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/store"
	"riftchime/store/sqlite"
	"riftchime/store/storetest"
)

// open opens and migrates the database in path, for the length of the test.
func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s := reopen(t, path, sqlite.Options{})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// reopen opens the database in path, for the length of the test.
func reopen(t *testing.T, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// raw opens the database in path past the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execRaw(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		const tables = `SELECT name FROM sqlite_master WHERE type = 'table'`
		path := filepath.Join(t.TempDir(), "test.db")
		return storetest.Opened{
			Store:  open(t, path),
			Dump:   func(t *testing.T) string { return storetest.Dump(t, raw(t, path), tables) },
			Tables: func(t *testing.T) map[string][]string { return storetest.Tables(t, raw(t, path), tables) },
		}
	})
}

// A day in virtual time, with several users of the store who sleep.
func TestInBubble(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 26*time.Hour)
		defer cancel()
		s, err := sqlite.Open(ctx, path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		lease, err := s.Lead(ctx)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		done := make(chan error)
		for worker := range 8 {
			go func() {
				done <- func() error {
					for hour := range 24 {
						time.Sleep(time.Hour)
						name := fmt.Sprint(worker)
						if err := s.PutNote(ctx, name, fmt.Sprint(hour)); err != nil {
							return err
						}
						if got, err := s.Note(ctx, name); err != nil || got != fmt.Sprint(hour) {
							return fmt.Errorf("note %q, %w", got, err)
						}
					}
					return nil
				}()
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 24*time.Hour {
			t.Errorf("the day took %v: the store slept", took)
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	})
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "with space.db", "what?.db", "100%41#a&b=c;.db", "한글 😀.db", `quote"'.db`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			s := open(t, path)
			if err := s.PutNote(t.Context(), "n", "v"); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if mode := info.Mode().Perm(); mode != 0o600 {
				t.Errorf("mode %v, want it to be its owner's alone", mode)
			}
			if got, err := reopen(t, path, sqlite.Options{ReadOnly: true}).Note(t.Context(), "n"); got != "v" || err != nil {
				t.Errorf("note %q, %v", got, err)
			}
		})
	}
	dir := t.TempDir()
	for _, c := range []struct {
		path string
		o    sqlite.Options
	}{
		{"", sqlite.Options{}},
		{":memory:", sqlite.Options{}},
		{"file::memory:", sqlite.Options{}},
		{dir, sqlite.Options{}},
		{filepath.Join(dir, "no", "such", "folder.db"), sqlite.Options{}},
		{filepath.Join(dir, "missing.db"), sqlite.Options{ReadOnly: true}},
	} {
		if s, err := sqlite.Open(t.Context(), c.path, c.o); err == nil {
			_ = s.Close()
			t.Errorf("%q was opened", c.path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading only made a file")
	}
	notADB := filepath.Join(dir, "text.db")
	if err := os.WriteFile(notADB, bytes.Repeat([]byte("not a database\n"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), notADB, sqlite.Options{})
	if err == nil {
		_ = s.Close()
		t.Error("a text was opened as a database")
	}
	if errors.Is(err, store.ErrUnavailable) {
		t.Errorf("%v: no waiting makes a text a database", err)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	ro := reopen(t, path, sqlite.Options{ReadOnly: true})
	if err := ro.Migrate(t.Context()); err != nil {
		t.Errorf("checking the version: %v", err)
	}
	if err := ro.PutNote(t.Context(), "n", "v"); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a write: %v", err)
	}
	if _, err := ro.TakeInteraction(t.Context(), 1, time.Now()); err == nil {
		t.Error("a write was taken")
	}
	if _, err := ro.Lead(t.Context()); err == nil {
		t.Error("it leads")
	}
	// It sees what another one writes.
	if err := s.PutNote(t.Context(), "n", "v"); err != nil {
		t.Fatal(err)
	}
	if got, err := ro.Note(t.Context(), "n"); got != "v" || err != nil {
		t.Errorf("note %q, %v", got, err)
	}
}

func TestLead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "test.db")
	link := filepath.Join(dir, "link.db")
	s := open(t, path)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	other := open(t, link)
	for range 3 {
		l, err := s.Lead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Lead(t.Context()); !errors.Is(err, store.ErrHeld) {
			t.Fatalf("a second lead: %v, want it held", err)
		}
		select {
		case <-l.Lost():
			t.Error("lost")
		default:
		}
		if err := errors.Join(l.Release(), l.Release()); err != nil {
			t.Fatal(err)
		}
		l, err = other.Lead(t.Context())
		if err != nil {
			t.Fatalf("after the release: %v", err)
		}
		if err := l.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// The lead of a process that was killed is free.
func TestLeadOfTheDead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHoldLead$", "-test.v")
	cmd.Env = append(os.Environ(), "HOLD_LEAD_ON="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 4096)
	for got := ""; !strings.Contains(got, "leading"); {
		n, err := out.Read(said)
		if got += string(said[:n]); err != nil {
			t.Fatalf("the other process said %q: %v", got, err)
		}
	}
	if _, err := s.Lead(t.Context()); !errors.Is(err, store.ErrHeld) {
		t.Errorf("while it lives: %v, want it held", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := s.Lead(t.Context())
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// TestHoldLead is the other process of TestLeadOfTheDead.
func TestHoldLead(t *testing.T) {
	path := os.Getenv("HOLD_LEAD_ON")
	if path == "" {
		return
	}
	if _, err := open(t, path).Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Println("leading")
	<-t.Context().Done() // It is killed before.
}

func TestNewer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	execRaw(t, raw(t, path), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	if err := s.Migrate(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("%v, want ErrNewer", err)
	}
	if err := reopen(t, path, sqlite.Options{ReadOnly: true}).Migrate(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("reading only: %v, want ErrNewer", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A database that is not empty is copied before it changes.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "with space's.db")
	execRaw(t, raw(t, path), `CREATE TABLE precious (v TEXT)`)
	execRaw(t, raw(t, path), `INSERT INTO precious VALUES ('kept')`)
	open(t, path)
	copies, err := filepath.Glob(filepath.Join(dir, "*.before-0001"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies %v, %v, want one", copies, err)
	}
	var v string
	if err := raw(t, copies[0]).QueryRowContext(t.Context(), `SELECT v FROM precious`).Scan(&v); err != nil || v != "kept" {
		t.Errorf("the copy holds %q, %v", v, err)
	}
	if info, err := os.Stat(copies[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v, want it to be its owner's alone", info.Mode(), err)
	}
	// An empty one is not worth a copy.
	empty := filepath.Join(dir, "empty.db")
	open(t, empty)
	if copies, _ := filepath.Glob(empty + ".before*"); len(copies) != 0 {
		t.Errorf("copies of nothing: %v", copies)
	}
}

// Another process that writes for too long makes the store unavailable, and
// nothing half-written.
func TestLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	other := raw(t, path)
	execRaw(t, other, `BEGIN IMMEDIATE`)
	err := s.PutNote(t.Context(), "n", "v") // Waits for busy_timeout.
	if !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("locked: %v, want ErrUnavailable", err)
	}
	// Reading goes on, and a caller who gives up is told that.
	if _, err := s.Note(t.Context(), "n"); err != nil {
		t.Errorf("reading: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.PutNote(ctx, "n", "v"); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("giving up: %v", err)
	}
	execRaw(t, other, `ROLLBACK`)
	if err := s.PutNote(t.Context(), "n", "v"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A full disk: an error, nothing half-written, and all is well when there is
// room again.
func TestFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	if err := s.PutServer(t.Context(), store.Server{ID: 1}); err != nil {
		t.Fatal(err)
	}
	limit := s.LimitPages(t)
	limit(true)
	var cs []store.Champion
	for i := range 5000 {
		cs = append(cs, store.Champion{ID: i, Key: "key", Name: strings.Repeat("n", 100)})
	}
	if err := s.PutChampions(t.Context(), "ko", "1", cs, time.Now()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("full: %v, want ErrUnavailable", err)
	}
	if version, _, got, err := s.Champions(t.Context(), "ko"); version != "" || len(got) != 0 || err != nil {
		t.Errorf("half-written: %q, %d, %v", version, len(got), err)
	}
	limit(false)
	if err := s.PutChampions(t.Context(), "ko", "1", cs, time.Now()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if _, _, got, err := s.Champions(t.Context(), "ko"); len(got) != len(cs) || err != nil {
		t.Errorf("%d champions, %v, want %d", len(got), err, len(cs))
	}
}

func BenchmarkHour(b *testing.B) {
	ctx := b.Context()
	s, err := sqlite.Open(ctx, filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	check(s.Migrate(ctx))
	t0 := time.Now().Truncate(time.Hour)
	check(s.PutServer(ctx, store.Server{ID: 1, Key: "k"}))
	check(s.PutChannel(ctx, store.Channel{ID: 1, Server: 1, NextSlot: t0}))
	var ids []store.PlayerID
	for i := range 5 {
		name := fmt.Sprint("p", i)
		p, _, err := s.Register(ctx, 1, store.NewPlayer{Platform: "kr", GameName: name, TagLine: "1", Key: "k", PUUID: name}, t0, nil, 50)
		check(err)
		ids = append(ids, p.ID)
	}
	slot := t0
	took := map[string]time.Duration{}
	timed := func(name string, f func() error) {
		start := time.Now()
		check(f())
		took[name] += time.Since(start)
	}
	n := 0
	for b.Loop() {
		n++
		slot = slot.Add(time.Hour)
		match := fmt.Sprint("KR_", n)
		m := store.Match{ID: match, Key: "k", Start: slot, End: slot.Add(time.Minute)}
		for i := range 10 {
			m.Participants = append(m.Participants, store.Participant{PUUID: fmt.Sprint("p", i), GameName: "somebody", TagLine: "KR1", ChampionName: "Ahri"})
		}
		for _, id := range ids {
			timed("Listed", func() error { _, err := s.Listed(ctx, id, "k", []string{match}, slot); return err })
			timed("Refreshed", func() error { return s.Refreshed(ctx, id, slot, slot, false) })
		}
		timed("PutMatch", func() error { return s.PutMatch(ctx, m, slot) })
		timed("PutRanks", func() error {
			_, _, err := s.PutRanks(ctx, ids[0], []store.Rank{{Queue: store.QueueSolo, LP: n}}, slot)
			return err
		})
		var f store.Facts
		timed("Facts", func() (err error) { f, err = s.Facts(ctx, 1, slot, slot); return err })
		r := store.ReadyReport{Channel: 1, Slot: slot, Parts: []store.Part{{Body: make([]byte, 2000), Nonce: "n"}}}
		for _, g := range f.Games[:1] {
			r.Games = append(r.Games, g.Match)
		}
		timed("PutReady", func() error { _, err := s.PutReady(ctx, r); return err })
		k := store.PartKey{Channel: 1, Slot: slot}
		timed("Claim", func() error { _, err := s.Claim(ctx, []store.PartKey{k}, slot); return err })
		timed("Sent", func() error { return s.Sent(ctx, k, 1, slot, 0, slot.Add(time.Hour)) })
	}
	for name, d := range took {
		per := n
		if name == "Listed" || name == "Refreshed" {
			per *= len(ids)
		}
		b.ReportMetric(float64(d.Microseconds())/float64(per), name+"-µs")
	}
}
