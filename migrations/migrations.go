// Package migrations holds the schema of both stores as embedded SQL: one
// folder a dialect, with the same numbers and names in both. A migration that
// has shipped is never edited; a change is a new number in both folders.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// SQLite is the folder of SQLite's migrations.
func SQLite() fs.FS { return folder("sqlite") }

// Postgres is the folder of PostgreSQL's migrations.
func Postgres() fs.FS { return folder("postgres") }

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil {
		// fs.Sub fails on an invalid path only, and these are constants.
		panic(err)
	}
	return sub
}
