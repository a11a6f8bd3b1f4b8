package store_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"riftchime/store"
	"riftchime/store/postgres"
	"riftchime/store/sqlite"
	"riftchime/store/storetest"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// openSQLite opens a new and migrated store, for the length of the test.
func openSQLite(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return migrated(t, s)
}

// openPostgres opens a new and migrated store in a schema of its own, for the
// length of the test. Without a server the test fails: one that was not run must
// not look like one that passed.
func openPostgres(t *testing.T) store.Store {
	t.Helper()
	databaseURL := os.Getenv("TEST_DATABASE_URL")
	if databaseURL == "" {
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, which starts a PostgreSQL of its own, or name one there")
	}
	cfg, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal("TEST_DATABASE_URL is not understood")
	}
	name := "test_" + strings.ToLower(rand.Text())
	run := func(statement string) {
		// The test's own context is over when it is cleaned up.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig.Copy())
		if err != nil {
			t.Fatalf("TEST_DATABASE_URL: %v", err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	run(`CREATE SCHEMA ` + name)
	t.Cleanup(func() { run(`DROP SCHEMA ` + name + ` CASCADE`) })
	own := cfg.Copy()
	own.ConnConfig.RuntimeParams["search_path"] = name
	s, err := postgres.OpenConfig(t.Context(), own, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return migrated(t, s)
}

func migrated(t *testing.T, s store.Store) store.Store {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// carry exports from and imports it into to.
func carry(t *testing.T, from, to store.Store) {
	t.Helper()
	if err := store.Import(t.Context(), to, bytes.NewReader(storetest.Export(t, from))); err != nil {
		t.Fatal(err)
	}
}

// same compares all rows of two stores.
func same(t *testing.T, what string, got, want store.Store) {
	t.Helper()
	a, b := storetest.Rows(t, storetest.Export(t, got)), storetest.Rows(t, storetest.Export(t, want))
	if len(b) == 0 {
		t.Fatalf("%s: there is nothing to compare", what)
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: row %d is\n%s, want\n%s", what, i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d rows, want %d", what, len(a), len(b))
	}
}

// From either database to the other one and back, nothing is changed.
func TestThere(t *testing.T) {
	t.Parallel()
	type opens func(*testing.T) store.Store
	for name, open := range map[string][3]opens{
		"from SQLite":     {openSQLite, openPostgres, openSQLite},
		"from PostgreSQL": {openPostgres, openSQLite, openPostgres},
	} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				t.Parallel()
				first, second, third := open[0](t), open[1](t), open[2](t)
				storetest.Fill(t, first, seed)
				carry(t, first, second)
				same(t, "there", second, first)
				carry(t, second, third)
				same(t, "and back", third, first)
				goesOn(t, second)
				goesOn(t, third)
				same(t, "after the same was done to both", third, second)
			})
		}
	}
}

// goesOn does what gives out new ids, in a store that was imported.
func goesOn(t *testing.T, s store.Store) {
	t.Helper()
	ctx, at := t.Context(), time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	servers, err := s.ServersPresent(ctx)
	if err != nil || len(servers) == 0 {
		t.Fatalf("servers %v, %v", servers, err)
	}
	channels, err := s.ChannelsOf(ctx, servers[0].ID)
	if err != nil || len(channels) == 0 {
		t.Fatalf("channels %v, %v", channels, err)
	}
	for i := range 3 {
		p, what, err := s.Register(ctx, channels[0].ID, store.NewPlayer{
			Platform: "kr", GameName: fmt.Sprint("later ", i), TagLine: "KR1", Key: "k0", PUUID: fmt.Sprint("later ", i),
		}, at, []string{"KR_1"}, 50)
		if err != nil || what != store.RegisteredNew {
			t.Fatalf("register: %d, %v", what, err)
		}
		if _, _, err := s.PutRanks(ctx, p.ID, []store.Rank{{Queue: store.QueueSolo, Tier: "IRON", Division: "IV"}}, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Sweep(ctx, at); err != nil {
		t.Fatal(err)
	}
}

// An export that an earlier program wrote is taken for ever. When this fails
// because the schema changed, raise ExportVersion, make Import take what is in
// testdata, and add a file of the new version with -update.
func TestVersions(t *testing.T) {
	t.Parallel()
	newest := filepath.Join("testdata", fmt.Sprintf("export-%d.jsonl", store.ExportVersion))
	if *update {
		s := openSQLite(t)
		storetest.Fill(t, s, 1)
		if err := os.WriteFile(newest, storetest.Export(t, s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "export-*.jsonl"))
	if err != nil || !slices.Contains(files, newest) {
		t.Fatalf("%s is not among %v, %v", newest, files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := openSQLite(t)
			if err := store.Import(t.Context(), s, bytes.NewReader(old)); err != nil {
				t.Fatal(err)
			}
			counts, err := s.Counts(t.Context())
			if err != nil || counts.Servers == 0 || counts.Channels == 0 || counts.Players == 0 || counts.Registrations == 0 || counts.Matches == 0 {
				t.Errorf("counts %+v, %v", counts, err)
			}
			if file != newest {
				return
			}
			if got, want := storetest.Rows(t, storetest.Export(t, s)), storetest.Rows(t, old); !slices.Equal(got, want) {
				t.Errorf("exported again, the rows are others: %d, and %d in the file", len(got), len(want))
			}
		})
	}
}

// A big database goes through in little memory. Not parallel: the memory is that
// of the whole process.
func TestBig(t *testing.T) {
	const (
		rows = 1500
		most = 6 << 20 // half of it
	)
	body, err := json.Marshal(strings.Repeat("x", 8<<10))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(*testing.T) store.Store{"SQLite": openSQLite, "PostgreSQL": openPostgres} {
		t.Run(name, func(t *testing.T) {
			from, to := open(t), open(t)
			n := 0
			if err := from.LoadRows(t.Context(), func() (string, json.RawMessage, error) {
				if n == rows {
					return "", nil, io.EOF
				}
				n++
				return "matches", fmt.Appendf(nil, `{"id":"KR_%d","state":2,"tries":0,"state_at":1,"seen_at":1,"platform":"kr","queue":420,`+
					`"mode":"CLASSIC","map":11,"started":1,"ended":2,"duration_ms":1,"key":"k","body":%s}`, n, body), nil
			}); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var before, now runtime.MemStats
			runtime.ReadMemStats(&before)
			peak, size := before.HeapAlloc, int64(0)
			r, w := io.Pipe()
			done := make(chan error, 1)
			go func() {
				err := store.Export(t.Context(), from, w)
				_ = w.CloseWithError(err)
				done <- err
			}()
			if err := store.Import(t.Context(), to, readerFunc(func(p []byte) (int, error) {
				k, err := r.Read(p)
				if size += int64(k); size%(1<<20) < int64(k) {
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapAlloc)
				}
				return k, err
			})); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if counts, err := to.Counts(t.Context()); err != nil || counts.Matches != rows {
				t.Errorf("%d matches came through, want %d (%v)", counts.Matches, rows, err)
			}
			t.Logf("%d MiB went through %d KiB of memory", size>>20, (peak-before.HeapAlloc)>>10)
			if size < rows*8<<10 {
				t.Errorf("only %d bytes went through", size)
			}
			if peak-before.HeapAlloc > most {
				t.Errorf("the heap grew by %d bytes, want %d at most", peak-before.HeapAlloc, most)
			}
		})
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
