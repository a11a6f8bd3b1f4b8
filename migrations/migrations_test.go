package migrations_test

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"riftchime/migrations"
)

// Both dialects have the same migrations, by number and name, which make the
// same tables, columns and indexes.
func TestSame(t *testing.T) {
	t.Parallel()
	sqlite, postgres := read(t, migrations.SQLite()), read(t, migrations.Postgres())
	if len(sqlite) == 0 {
		t.Fatal("no migrations")
	}
	for name, body := range sqlite {
		if !slices.Equal(things(body), things(postgres[name])) {
			t.Errorf("%s is not the same in both: %q and %q", name, things(body), things(postgres[name]))
		}
	}
	for name := range postgres {
		if _, there := sqlite[name]; !there {
			t.Errorf("%s is missing for SQLite", name)
		}
	}
}

var name = regexp.MustCompile(`^[0-9]{4}_[a-z0-9_]+\.sql$`)

func read(t *testing.T, files fs.FS) map[string]string {
	t.Helper()
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if !name.MatchString(e.Name()) {
			t.Errorf("%s is not named like 0001_schema.sql", e.Name())
		}
		body, err := fs.ReadFile(files, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(body)
	}
	return out
}

// thing is a table, an index, or a column or key with what follows its type.
var thing = regexp.MustCompile(`(?m)^(?:CREATE .*?(?: \($|;$)|    [a-z_]+ |    (?:PRIMARY|FOREIGN|UNIQUE).*$)`)

func things(body string) []string { return thing.FindAllString(body, -1) }
