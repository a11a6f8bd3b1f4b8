package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"riftchime/store"
)

// Migration brings a schema up to date. The caller sees to it that only one
// process does so at a time.
type Migration struct {
	provider *goose.Provider
}

// NewMigration prepares the migrations in files for db.
func NewMigration(dialect goose.Dialect, db *sql.DB, files fs.FS) (*Migration, error) {
	p, err := goose.NewProvider(dialect, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	return &Migration{provider: p}, nil
}

// Latest is the version of the newest migration.
func (m *Migration) Latest() int64 {
	sources := m.provider.ListSources()
	return sources[len(sources)-1].Version
}

// Up applies what is pending. before, where not nil, is called first if
// anything is, with the version that the database has (0: none) and the one it
// gets. It says store.ErrNewer where the database is ahead of the program.
func (m *Migration) Up(ctx context.Context, before func(from, to int64) error) error {
	from, to, err := m.provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	switch {
	case from > to:
		return NewerError(from, to)
	case from == to:
		return nil
	}
	if before != nil {
		if err := before(from, to); err != nil {
			return err
		}
	}
	_, err = m.provider.Up(ctx)
	return err
}

// Check compares the version of a database that may only be read with what the
// program needs.
func Check(ctx context.Context, db *sql.DB, needed int64) error {
	var has int64
	if err := db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&has); err != nil {
		return err
	}
	switch {
	case has > needed:
		return NewerError(has, needed)
	case has < needed:
		return fmt.Errorf("the database is at version %d and this program needs %d: run `riftchime migrate` first", has, needed)
	}
	return nil
}

// NewerError is store.ErrNewer with both versions.
func NewerError(has, known int64) error {
	return fmt.Errorf("%w: version %d, and %d is known here", store.ErrNewer, has, known)
}
