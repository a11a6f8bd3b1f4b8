package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"riftchime/store"
)

// exportCmd writes all that the database holds. It only reads, and the bot may
// run meanwhile.
type exportCmd struct {
	storeSettings
	logSettings
	File string `arg:"" optional:"" placeholder:"FILE" help:"Where to; without it, or with -, to standard output."`
}

// Run exports.
func (c *exportCmd) Run(ctx context.Context, s streams) error {
	db, err := openToRead(ctx, c.storeSettings, c.logSettings, s)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.File == "" || c.File == "-" {
		return store.Export(ctx, db, s.out)
	}
	if err := replaceExport(c.File, func(w io.Writer) error { return store.Export(ctx, db, w) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "Written to %s\n", c.File)
	return err
}

// openToRead opens a database that is there, and has the version that this
// program needs, without changing it.
func openToRead(ctx context.Context, d storeSettings, l logSettings, s streams) (store.Store, error) {
	db, err := openStore(ctx, d.DatabaseURL, true, l.logger(s.err))
	if err != nil {
		return nil, err
	}
	// Opened for reading, it only looks at the version.
	switch err := db.Migrate(ctx); {
	case err == nil:
		return db, nil
	case errors.Is(err, store.ErrNewer):
		err = settingsErrorf("DATABASE_URL: the database was written by a newer RiftChime: update this program")
		return nil, errors.Join(err, db.Close())
	default:
		err = settingsErrorf("DATABASE_URL: the database cannot be read (%s): has riftchime run on it?", cause(err))
		return nil, errors.Join(err, db.Close())
	}
}

// exportBegins is how every export begins.
var exportBegins = []byte(`{"riftchime":"export"`)

// replaceExport makes the file name hold what write writes, or leaves it as it
// is. A file that holds anything but an export is not replaced: it may be the
// database. Only its owner may read it: it tells who follows whom.
func replaceExport(name string, write func(io.Writer) error) (err error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return settingsErrorf("%s cannot be written (%s): name another file", name, cause(err))
	case info.IsDir():
		return settingsErrorf("%s is a folder: name a file in it", name)
	case !info.Mode().IsRegular():
		// A device or a pipe has no content to keep.
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return settingsErrorf("%s cannot be written (%s): name another file", name, cause(err))
		}
		return errors.Join(write(f), f.Close())
	default:
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return settingsErrorf("%s cannot be written (%s): name another file", name, cause(err))
		}
		if old, err := isExport(name); err != nil || !old {
			return settingsErrorf("%s is there already and is no export: name another file", name)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".unfinished-*")
	if err != nil {
		return settingsErrorf("%s cannot be written (%s): name another file", name, cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// isExport says whether the file name holds an export, or nothing.
func isExport(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begins := make([]byte, len(exportBegins))
	n, err := io.ReadFull(f, begins)
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return false, err
	}
	return bytes.Equal(begins[:n], exportBegins), nil
}

// importCmd puts an export into an empty database.
type importCmd struct {
	storeSettings
	logSettings
	File string `arg:"" placeholder:"FILE" help:"What export wrote; - reads standard input."`
}

// Run imports.
func (c *importCmd) Run(ctx context.Context, s streams) error {
	in := os.Stdin
	if c.File != "-" {
		// First: a wrong name must not leave a new database behind.
		f, err := os.Open(c.File)
		if err != nil {
			return settingsErrorf("%s cannot be read (%s): name a file that riftchime export wrote", c.File, cause(err))
		}
		defer f.Close()
		in = f
	}
	db, err := openStore(ctx, c.DatabaseURL, false, c.logger(s.err))
	if err != nil {
		return err
	}
	defer db.Close()
	lease, err := leadAlone(ctx, db)
	if err != nil {
		return err
	}
	defer lease.Release()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	switch err := store.Import(ctx, db, in); {
	case err == nil:
	case errors.Is(err, store.ErrNotEmpty):
		return settingsErrorf("DATABASE_URL: nothing was imported, since this database is not empty: set it to a new one")
	case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrVersion):
		return settingsErrorf("%s: nothing was imported: %s", c.File, err)
	default:
		return fmt.Errorf("nothing was imported: %w", err)
	}
	n, err := db.Counts(ctx)
	if err != nil {
		return fmt.Errorf("it was imported, but: %w", err)
	}
	_, err = fmt.Fprintf(s.out, "Imported: %d servers, %d channels, %d players, %d registrations, %d matches\n",
		n.Servers, n.Channels, n.Players, n.Registrations, n.Matches)
	return err
}

// leadWait is how long an import waits for the lead: the first look is at once.
const leadWait = 3 * time.Second

// leadAlone takes the lead, or says that a bot runs on the database.
func leadAlone(ctx context.Context, db store.Store) (store.Lease, error) {
	soon, cancel := context.WithTimeout(ctx, leadWait)
	defer cancel()
	lease, err := db.Lead(soon)
	switch {
	case err == nil:
		return lease, nil
	case errors.Is(err, store.ErrHeld), soon.Err() != nil && ctx.Err() == nil:
		return nil, settingsErrorf("DATABASE_URL: another riftchime runs on this database: stop it first, or set it to another one")
	default:
		return nil, fmt.Errorf("taking the lead: %w", err)
	}
}
