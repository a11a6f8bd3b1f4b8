package sqlite

import (
	"fmt"
	"testing"
)

// LimitPages returns a function that fills the disk, as far as SQLite can tell,
// and makes room again.
func (s *Store) LimitPages(t *testing.T) func(full bool) {
	t.Helper()
	return func(full bool) {
		t.Helper()
		pages := 1 << 30
		if full {
			if err := s.write.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&pages); err != nil {
				t.Fatal(err)
			}
			pages += 3
		}
		var now int
		if err := s.write.QueryRowContext(t.Context(), fmt.Sprintf(`PRAGMA max_page_count = %d`, pages)).Scan(&now); err != nil {
			t.Fatal(err)
		}
	}
}
