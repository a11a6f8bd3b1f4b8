package hour_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"riftchime/store/sqlite"
)

// emptyDB is a database that is brought up to date and holds nothing. Each test
// begins with a copy, which costs a hundredth of making one.
var emptyDB []byte

func TestMain(m *testing.M) {
	var err error
	if emptyDB, err = makeDB(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func makeDB(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hour")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "empty.db")
	db, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
