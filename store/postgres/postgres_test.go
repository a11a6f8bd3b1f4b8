package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"riftchime/store"
	"riftchime/store/postgres"
	"riftchime/store/storetest"
)

// databaseURL is the server that the tests use. Without one they fail: a test
// that was not run must not look like one that passed.
func databaseURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv("TEST_DATABASE_URL")
	if url == "" {
		t.Fatal("TEST_DATABASE_URL is not set: run `make test`, which starts a PostgreSQL of its own, or name one there")
	}
	return url
}

// schema makes a schema for one test, and returns what connects to it.
func schema(t *testing.T) *pgxpool.Config {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(databaseURL(t))
	if err != nil {
		t.Fatal("TEST_DATABASE_URL is not understood")
	}
	name := "test_" + strings.ToLower(rand.Text())
	sql(t, `CREATE SCHEMA `+name)
	t.Cleanup(func() { sql(t, `DROP SCHEMA `+name+` CASCADE`) })
	cfg.ConnConfig.RuntimeParams["search_path"] = name
	cfg.MaxConns = 8
	return cfg
}

// sql runs a statement outside of the store. It may be called when the test's
// context is over.
func sql(t *testing.T, statement string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, databaseURL(t))
	if err != nil {
		t.Fatalf("TEST_DATABASE_URL: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement, args...); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

// open opens and migrates the schema of cfg, for the length of the test.
func open(t *testing.T, cfg *pgxpool.Config) *postgres.Store {
	t.Helper()
	s, err := postgres.OpenConfig(t.Context(), cfg, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
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

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Opened {
		const tables = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
		cfg := schema(t)
		return storetest.Opened{
			Store: open(t, cfg),
			Dump: func(t *testing.T) string {
				db := stdlib.OpenDB(*cfg.ConnConfig)
				defer db.Close()
				return storetest.Dump(t, db, tables)
			},
			Tables: func(t *testing.T) map[string][]string {
				db := stdlib.OpenDB(*cfg.ConnConfig)
				defer db.Close()
				return storetest.Tables(t, db, tables)
			},
		}
	})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	s := open(t, cfg.Copy())
	ro, err := postgres.OpenConfig(t.Context(), cfg, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if err := ro.Migrate(t.Context()); err != nil {
		t.Errorf("checking the version: %v", err)
	}
	if err := ro.PutNote(t.Context(), "n", "v"); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a write: %v", err)
	}
	if _, err := ro.Lead(t.Context()); err == nil {
		t.Error("it leads")
	}
	if err := s.PutNote(t.Context(), "n", "v"); err != nil {
		t.Fatal(err)
	}
	if got, err := ro.Note(t.Context(), "n"); got != "v" || err != nil {
		t.Errorf("note %q, %v", got, err)
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	s := open(t, cfg.Copy())
	sql(t, `INSERT INTO `+cfg.ConnConfig.RuntimeParams["search_path"]+`.goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	if err := s.Migrate(t.Context()); !errors.Is(err, store.ErrNewer) {
		t.Errorf("%v, want ErrNewer", err)
	}
}

// Several processes that start at once on a new database.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			s, err := postgres.OpenConfig(t.Context(), cfg.Copy(), postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := s.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	for _, url := range []string{
		"postgres://u:" + secret + "@127.0.0.1:1/x",
		"postgres://u:" + secret + "@127.0.0.1:1/x?sslmode=disable&connect_timeout=2",
		"postgres://u:" + secret + "@no-such-host.invalid/x?connect_timeout=2",
		"postgres://u:" + secret + "%zz@127.0.0.1/x",
		"postgres://u:" + secret + "@127.0.0.1:port/x",
		"host=127.0.0.1 port=1 password=" + secret + " sslmode=nonsense",
	} {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err == nil {
			_ = s.Close()
			t.Errorf("%s was opened", url)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error tells the password: %v", err)
		}
		if wellFormed := strings.Contains(url, ":1/") || strings.Contains(url, "invalid"); errors.Is(err, store.ErrUnavailable) != wellFormed {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The server ends every connection, as when it restarts: what was under way
// fails as unavailable, nothing is half-written, and the next try works.
func TestConnectionsLost(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	cfg.ConnConfig.RuntimeParams["application_name"] = "lost " + cfg.ConnConfig.RuntimeParams["search_path"]
	s := open(t, cfg.Copy())
	name := cfg.ConnConfig.RuntimeParams["application_name"]
	kill := func() {
		sql(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1`, name)
	}
	if err := s.PutServer(t.Context(), store.Server{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutChannel(t.Context(), store.Channel{ID: 1, Server: 1}); err != nil {
		t.Fatal(err)
	}
	// In mid-transaction: the channel is locked by the test, so Register waits.
	holder, err := pgx.ConnectConfig(t.Context(), func() *pgx.ConnConfig {
		c := cfg.ConnConfig.Copy()
		c.RuntimeParams["application_name"] = "holder"
		return c
	}())
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	tx, err := holder.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT 1 FROM channels FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, _, err := s.Register(t.Context(), 1, store.NewPlayer{GameName: "a", TagLine: "b", Key: "k", PUUID: "p"}, time.Now(), nil, 50)
		failed <- err
	}()
	for waiting := 0; waiting == 0; {
		if err := tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
			name).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		// pg_stat_activity is read once a transaction.
		if _, err := tx.Exec(t.Context(), `SELECT pg_stat_clear_snapshot()`); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	if err := <-failed; !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("killed in mid-transaction: %v, want ErrUnavailable", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f, err := s.Registrations(t.Context(), 1); len(f) != 0 || err != nil {
		t.Errorf("half-written: %v, %v", f, err)
	}
	kill()
	// Idle connections died: at most one try finds that out.
	_, err = s.Server(t.Context(), 1)
	if err != nil && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("after the kill: %v", err)
	}
	for range 9 {
		if _, err = s.Server(t.Context(), 1); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("it does not connect again: %v", err)
	}
}
