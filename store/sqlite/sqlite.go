// Package sqlite keeps RiftChime's data in one SQLite file, the default. The
// file is in WAL mode: readers and the one writer do not wait for each other,
// and other processes may read it, or write between two transactions.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"riftchime/migrations"
	"riftchime/store"
	"riftchime/store/sqlstore"
)

// Options change how a file is opened. The zero value reads and writes.
type Options struct {
	// ReadOnly opens a file that is there without changing it. Migrate only
	// checks its version then, and Lead is refused.
	ReadOnly bool
}

// readers is how many connections read at a time. Each may hold cacheKiB.
const (
	readers  = 3
	cacheKiB = 2048
)

// Store is a store.Store in a SQLite file. It is safe for concurrent use. In a
// testing/synctest bubble it must be opened, used and closed inside.
type Store struct {
	*sqlstore.Store
	path        string
	readOnly    bool
	write, read *sql.DB
}

var _ store.Store = (*Store)(nil)

// Open opens the database in the file path, a plain path, and creates the file
// where it is missing. Call Migrate before anything else.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	path, err := locate(path, o)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, readOnly: o.ReadOnly}
	if !o.ReadOnly {
		if s.write, err = open(ctx, dsn(path, "rw", "immediate"), 1); err != nil {
			return nil, fmt.Errorf("database %s: %w", path, err)
		}
	}
	// Reading comes second: the first connection to write sets WAL mode.
	if s.read, err = open(ctx, dsn(path, map[bool]string{false: "rw", true: "ro"}[o.ReadOnly], ""), readers); err != nil {
		if s.write != nil {
			err = errors.Join(err, s.write.Close())
		}
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	s.Store = sqlstore.New(s.write, s.read, sqlstore.Dialect{
		Prepare:   true,
		Snapshot:  &sql.TxOptions{ReadOnly: true},
		Translate: translate,
		Retry:     func(error) bool { return false }, // One writer at a time: nothing clashes.
		Unfit:     unfit,
	})
	return s, nil
}

// locate makes path absolute, follows links, so that a file has one lock
// however it is named, and creates the file.
func locate(path string, o Options) (string, error) {
	if path == "" || strings.Contains(path, ":memory:") {
		return "", fmt.Errorf("database %q: a file is needed, such as riftchime.db", path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("database: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.ReadOnly:
		err = create(path)
	case err == nil && !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a file", path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("database: %w", err)
	}
	return path, nil
}

// create makes an empty file that only its owner reads: it tells who follows
// whom. A file that is there is not touched, not even opened: closing it would
// take the locks away that SQLite holds on it in this process.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // Another process was faster.
	}
	if err != nil {
		return unavailable(err)
	}
	return f.Close()
}

// unavailable wraps err, but for a file that is not there: no waiting helps.
func unavailable(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// dsn is path as a URI, with everything that must hold on each connection.
func dsn(path, mode, txlock string) string {
	q := url.Values{"mode": {mode}, "_pragma": {
		"busy_timeout(5000)",
		"foreign_keys(1)",
		fmt.Sprintf("cache_size(-%d)", cacheKiB),
	}}
	if txlock == "" {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Set("_txlock", txlock)
		q.Add("_pragma", "journal_mode(wal)")
		q.Add("_pragma", "synchronous(normal)")
		// A log that once grew is cut to this again, in bytes.
		q.Add("_pragma", "journal_size_limit(33554432)")
	}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

func open(ctx context.Context, dsn string, most int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(translate(err), db.Close())
	}
	return db, nil
}

// Close closes the file. A Lease is not given back by it.
func (s *Store) Close() error {
	err := errors.Join(s.Store.Close(), s.read.Close())
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return err
}

// Migrate brings the schema up to date. A database that is not empty is copied
// before, to a file beside it, such as "riftchime.db.before-0002".
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("migrate %s: %w", s.path, translate(err))
	}
	return nil
}

func (s *Store) migrate(ctx context.Context) (err error) {
	db := s.write
	if s.readOnly {
		db = s.read
	}
	m, err := sqlstore.NewMigration(goose.DialectSQLite3, db, migrations.SQLite())
	if err != nil {
		return err
	}
	if s.readOnly {
		return sqlstore.Check(ctx, db, m.Latest())
	}
	l, err := lockFile(ctx, s.path+".migrating")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.remove()) }()
	return m.Up(ctx, func(_, to int64) error { return s.backup(ctx, to) })
}

// backup copies the database before it becomes version to, unless it is empty.
func (s *Store) backup(ctx context.Context, to int64) error {
	var tables int
	if err := s.write.QueryRowContext(ctx, `
		SELECT count(*) FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name <> 'goose_db_version'`).Scan(&tables); err != nil {
		return err
	}
	if tables == 0 {
		return nil
	}
	name := fmt.Sprintf("%s.before-%04d", s.path, to)
	unfinished := name + ".unfinished"
	f, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("copy the database: %w", unavailable(err))
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy the database: %w", unavailable(err))
	}
	if _, err := s.write.ExecContext(ctx, `VACUUM INTO $1`, unfinished); err != nil {
		return errors.Join(fmt.Errorf("copy the database: %w", translate(err)), os.Remove(unfinished))
	}
	if err := os.Rename(unfinished, name); err != nil {
		return fmt.Errorf("copy the database: %w", unavailable(err))
	}
	return nil
}

// Lead takes an exclusive lock on "<file>.lock", or says store.ErrHeld at once.
// The system gives it back when the process ends, however it ends.
func (s *Store) Lead(context.Context) (store.Lease, error) {
	if s.readOnly {
		return nil, fmt.Errorf("lead on %s: opened for reading only", s.path)
	}
	l, err := tryLockFile(s.path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("lead on %s: %w", s.path, err)
	}
	return &lease{lock: l, lost: make(chan struct{})}, nil
}

// lease is the lead of this process. The lock can't be lost while it lives.
type lease struct {
	lost chan struct{}

	// mu guards lock, which is given back once.
	mu   sync.Mutex
	lock *fileLock
}

func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lock.remove()
}

// translate wraps what SQLite says with the errors of package store.
func translate(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN,
		lib.SQLITE_READONLY, lib.SQLITE_NOMEM, lib.SQLITE_PROTOCOL, lib.SQLITE_PERM:
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if e.Code() == lib.SQLITE_CONSTRAINT_FOREIGNKEY {
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return err
}

// unfit says that values break a constraint, or have the wrong type.
func unfit(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff
	return code == lib.SQLITE_CONSTRAINT || code == lib.SQLITE_MISMATCH
}
