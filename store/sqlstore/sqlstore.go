// Package sqlstore keeps what RiftChime keeps in a SQL database, over
// database/sql. Its statements are written once, in what SQLite and PostgreSQL
// both understand; packages sqlite and postgres open the database, migrate it,
// take the lead on it, and give the few things that differ as a Dialect.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"riftchime/store"
)

// Dialect is what differs between the databases.
type Dialect struct {
	// ForUpdate ends a SELECT that must lock its rows; "" where a writing
	// transaction is alone anyway.
	ForUpdate string
	// Prepare keeps statements prepared, for a driver that does not by itself.
	Prepare bool
	// Snapshot are the options of a transaction whose reads all see the same
	// moment.
	Snapshot *sql.TxOptions
	// Translate turns the driver's errors into those of package store: it
	// wraps store.ErrUnavailable, or store.ErrNotFound where a row referred to
	// is missing, and returns any other error as it is.
	Translate func(error) error
	// Retry says that a transaction failed only because of another one at the
	// same time, so that the same once more is right.
	Retry func(error) bool
	// Unfit says that the values of a statement break a rule of the schema.
	Unfit func(error) bool

	// What follows is for carrying a whole database, "" where it needs nothing.
	//
	// Patient lets the transaction wait for its caller as long as it takes.
	Patient string
	// Alone lets nobody else write to the tables, named for %s, until the
	// transaction ends.
	Alone string
	// Count makes a table, named for %[1]s, give out ids from its highest on.
	Count string
	// Collate follows a column that is to be ordered by its bytes.
	Collate string
}

// retries bounds how often a transaction is tried that Dialect.Retry lets try
// again.
const retries = 5

// Store is the part of store.Store that is the same on both databases. It is
// safe for concurrent use.
type Store struct {
	dialect Dialect
	// readOnly refuses writes before they reach the database.
	readOnly bool
	write    *pool
	read     *pool
}

// New returns a store that writes through write and reads through read, which
// may be one and the same. It does not close them. A nil write makes a store
// that only reads.
func New(write, read *sql.DB, d Dialect) *Store {
	s := &Store{dialect: d, readOnly: write == nil, read: newPool(read, d.Prepare)}
	if s.write = s.read; write != nil && write != read {
		s.write = newPool(write, d.Prepare)
	}
	return s
}

// Close closes the prepared statements, not the databases.
func (s *Store) Close() error {
	err := s.read.close()
	if s.write != s.read {
		err = errors.Join(err, s.write.close())
	}
	return err
}

// errReadOnly is what a write gets on a store that only reads.
var errReadOnly = errors.New("the database is opened for reading only")

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.wrap(ctx, "ping", s.reader().row(ctx, `SELECT 1`, nil, &one))
}

// reader runs single statements that only read.
func (s *Store) reader() runner { return runner{pool: s.read} }

// exec runs one statement that writes, as its own transaction, and returns the
// number of rows it changed.
func (s *Store) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	if s.readOnly {
		return 0, s.wrap(ctx, what, errReadOnly)
	}
	for try := 1; ; try++ {
		n, err := runner{pool: s.write}.exec(ctx, query, args...)
		if err != nil && try < retries && s.dialect.Retry(err) {
			continue
		}
		return n, s.wrap(ctx, what, err)
	}
}

// execOne is exec for a row that must be there: it says store.ErrNotFound where
// no row was changed.
func (s *Store) execOne(ctx context.Context, what, query string, args ...any) error {
	n, err := s.exec(ctx, what, query, args...)
	if err == nil && n == 0 {
		return s.wrap(ctx, what, store.ErrNotFound)
	}
	return err
}

// change runs f in one transaction that writes: all of it happens, or nothing.
// f may run more than once, so it must set what it returns afresh.
func (s *Store) change(ctx context.Context, what string, f func(r runner) error) error {
	if s.readOnly {
		return s.wrap(ctx, what, errReadOnly)
	}
	for try := 1; ; try++ {
		err := s.write.within(ctx, nil, f)
		if err != nil && try < retries && s.dialect.Retry(err) {
			continue
		}
		return s.wrap(ctx, what, err)
	}
}

// view runs f in one transaction that only reads, at one moment of the
// database.
func (s *Store) view(ctx context.Context, what string, f func(r runner) error) error {
	return s.wrap(ctx, what, s.read.within(ctx, s.dialect.Snapshot, f))
}

// wrap says what was being done, and translates the driver's errors.
func (s *Store) wrap(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		err = store.ErrNotFound
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrTaken), errors.Is(err, errReadOnly),
		errors.Is(err, store.ErrNotEmpty), errors.Is(err, store.ErrDamaged):
	case ctx.Err() != nil:
		// Whatever the driver made of it, the caller gave up.
		err = ctx.Err()
	default:
		err = s.dialect.Translate(err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
