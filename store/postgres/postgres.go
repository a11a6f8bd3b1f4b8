// Package postgres keeps RiftChime's data in PostgreSQL 12 or newer, through a
// pool that connects again by itself. The tables are in the first schema of the
// connection's search_path. A pooler in between must pool sessions, not
// transactions: the lead is a lock of a session.
package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"riftchime/migrations"
	"riftchime/store"
	"riftchime/store/sqlstore"
)

// Options change how a database is opened. The zero value reads and writes.
type Options struct {
	// ReadOnly refuses every change. Migrate only checks the version then, and
	// Lead is refused.
	ReadOnly bool
}

// Store is a store.Store in PostgreSQL. It is safe for concurrent use.
type Store struct {
	*sqlstore.Store
	pool     *pgxpool.Pool
	db       *sql.DB
	readOnly bool
	timing   timing
}

var _ store.Store = (*Store)(nil)

// Open connects to the database at databaseURL, postgres://user:password@host/name
// with the parameters that libpq and pgxpool know. Call Migrate before anything
// else. No error tells the URL.
func Open(ctx context.Context, databaseURL string, o Options) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		// What is wrong is not said, since the driver's text may quote the
		// password.
		return nil, errors.New("the database URL is not understood: it should look like postgres://user:password@host:5432/name")
	}
	return OpenConfig(ctx, cfg, o)
}

// OpenConfig is Open with a configuration of one's own, of which it fills in
// what is not set.
func OpenConfig(ctx context.Context, cfg *pgxpool.Config, o Options) (*Store, error) {
	params := map[string]string{
		"application_name": "riftchime",
		// Nothing here holds a lock for long; a dead peer might.
		"lock_timeout":                        "5s",
		"idle_in_transaction_session_timeout": "30s",
	}
	if o.ReadOnly {
		params["default_transaction_read_only"] = "on"
	}
	for name, value := range params {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	// A host that is gone without a word is found out in 20 s, not 2 hours.
	cfg.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("database: %w", translate(err))
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("database: %w", translate(err))
	}
	s := &Store{pool: pool, db: stdlib.OpenDBFromPool(pool), readOnly: o.ReadOnly, timing: defaultTiming}
	write := s.db
	if o.ReadOnly {
		write = nil
	}
	s.Store = sqlstore.New(write, s.db, sqlstore.Dialect{
		ForUpdate: " FOR UPDATE",
		Snapshot:  &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Translate: translate,
		Retry:     clashed,
		Unfit:     unfit,
		Patient:   `SET LOCAL idle_in_transaction_session_timeout = 0`,
		Alone:     `LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE`,
		Count:     `SELECT setval(pg_get_serial_sequence('%[1]s', 'id'), coalesce(max(id), 1), max(id) IS NOT NULL) FROM %[1]s`,
		Collate:   ` COLLATE "C"`,
	})
	return s, nil
}

// Close closes all connections. A Lease is not given back by it.
func (s *Store) Close() error {
	err := errors.Join(s.Store.Close(), s.db.Close())
	s.pool.Close()
	return err
}

// lockKey makes a key for an advisory lock: of a purpose, in the schema in use.
// Advisory locks belong to a database, so that need not be part of it.
func lockKey(purpose, schema string) int64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, "riftchime "+purpose+" "+schema)
	return int64(h.Sum64())
}

// Migrate brings the schema up to date, under an advisory lock that several
// processes wait for.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("migrate: %w", translate(err))
	}
	return nil
}

func (s *Store) migrate(ctx context.Context) error {
	m, err := sqlstore.NewMigration(goose.DialectPostgres, s.db, migrations.Postgres())
	if err != nil {
		return err
	}
	if s.readOnly {
		return sqlstore.Check(ctx, s.db, m.Latest())
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// The lock must not outlive this, so neither does its connection.
	held := conn.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = held.Close(ctx)
	}()
	var schema *string
	if err := held.QueryRow(ctx, `SELECT current_schema()`).Scan(&schema); err != nil {
		return err
	}
	if schema == nil {
		return errors.New("no schema of the search_path is there")
	}
	// Whoever migrates may take long.
	if _, err := held.Exec(ctx, `SET lock_timeout = 0`); err != nil {
		return err
	}
	if _, err := held.Exec(ctx, `SELECT pg_advisory_lock($1)`, lockKey("migrate", *schema)); err != nil {
		return err
	}
	return m.Up(ctx, nil)
}

// clashed says that a transaction failed only because of one at the same time.
func clashed(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "40001", // serialization_failure
		"40P01", // deadlock_detected
		"23505": // unique_violation: another one added it first
		return true
	}
	return false
}

// unfit says that values break a constraint, or can't be stored.
func unfit(err error) bool {
	var e *pgconn.PgError
	// Integrity constraint violation, and data exception.
	return errors.As(err, &e) && (strings.HasPrefix(e.Code, "23") || strings.HasPrefix(e.Code, "22"))
}

// translate wraps what PostgreSQL and its driver say with the errors of package
// store.
func translate(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNewer) {
		return err
	}
	var (
		server  *pgconn.PgError
		connect *pgconn.ConnectError
		network net.Error
	)
	switch {
	case errors.As(err, &connect):
	case errors.As(err, &server):
		switch server.Code {
		case "23503": // foreign_key_violation
			return fmt.Errorf("%w: %w", store.ErrNotFound, err)
		case "25006", // read_only_sql_transaction: a standby, or a server that was made read-only
			"25P03",          // idle_in_transaction_session_timeout
			"40001", "40P01", // tried often enough
			"55P03",                   // lock_not_available
			"57P01", "57P02", "57P03", // shut down, crashed, not up yet
			"57014": // query_canceled, by the server: the caller's own end was looked at before
		default:
			switch server.Code[:min(2, len(server.Code))] {
			case "08", // connection exception
				"53", // insufficient resources, such as a full disk
				"58": // system error
			default:
				return err
			}
		}
	case errors.As(err, &network), pgconn.Timeout(err), pgconn.SafeToRetry(err),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, driver.ErrBadConn), errors.Is(err, sql.ErrConnDone):
	default:
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}
