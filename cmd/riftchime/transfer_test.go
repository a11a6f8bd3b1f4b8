package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/store"
	"riftchime/store/sqlite"
	"riftchime/store/storetest"
)

// said is what a command did.
type said struct {
	out, err string
	code     int
}

// command runs the program with args, in this process.
func command(t *testing.T, args ...string) said {
	t.Helper()
	var out, errs bytes.Buffer
	code := exitCode(run(t.Context(), args, &out, &errs), &errs)
	return said{out.String(), errs.String(), code}
}

// want checks an exit code, and that the output, or the one line of an error,
// holds each text.
func (s said) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if s.code != code {
		t.Fatalf("exit code %d, want %d; it said %q and %q", s.code, code, s.out, s.err)
	}
	text := s.out
	if code != 0 {
		text = s.err
		if s.out != "" || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Errorf("it said %q and %q, want one line on standard error", s.out, text)
		}
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			t.Errorf("it said %q, want %q in it", text, want)
		}
	}
}

// database is an SQLite file; with a seed it is filled.
func database(t *testing.T, name string, seed uint64) (path string, databaseURL string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if seed > 0 {
		withStore(t, path, func(s store.Store) { storetest.Fill(t, s, seed) })
	}
	return path, "--database-url=sqlite:" + path
}

// withStore opens the file path for the length of f.
func withStore(t *testing.T, path string, f func(s store.Store)) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f(s)
}

// content is all rows of the file path.
func content(t *testing.T, path string) []string {
	t.Helper()
	var rows []string
	withStore(t, path, func(s store.Store) { rows = storetest.Rows(t, storetest.Export(t, s)) })
	return rows
}

func missing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there (%v)", path, err)
	}
}

func TestExportImport(t *testing.T) {
	t.Parallel()
	path, from := database(t, "from.db", 1)
	rows := content(t, path)
	file := filepath.Join(t.TempDir(), "all.jsonl")
	command(t, "export", from, file).want(t, 0, "Written to "+file)
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the export's mode is %v, %v: others can read who follows whom", info.Mode(), err)
	}
	exported, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := storetest.Rows(t, exported); !slices.Equal(got, rows) {
		t.Errorf("%d rows in the file, want %d", len(got), len(rows))
	}
	if s := command(t, "export", from); s.code != 0 || s.err != "" || !slices.Equal(storetest.Rows(t, []byte(s.out)), rows) {
		t.Errorf("to standard output: exit code %d, %q, %d bytes", s.code, s.err, len(s.out))
	}

	to, toURL := database(t, "to.db", 0)
	command(t, "import", toURL, file).want(t, 0, "Imported: ", " servers, ", " players, ", " matches")
	if got := content(t, to); !slices.Equal(got, rows) {
		t.Errorf("%d rows after the import, want %d", len(got), len(rows))
	}
	// Once more it is not empty.
	command(t, "import", toURL, file).want(t, exitSettings, "DATABASE_URL", "not empty", "nothing was imported")
	if got := content(t, to); !slices.Equal(got, rows) {
		t.Errorf("%d rows after a refused import, want %d", len(got), len(rows))
	}

	// An export is replaced by a newer one, through a link too.
	link := filepath.Join(t.TempDir(), "newest.jsonl")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	withStore(t, path, func(s store.Store) {
		if err := s.PutNote(t.Context(), "zzz", "newer"); err != nil {
			t.Error(err)
		}
	})
	command(t, "export", from, link).want(t, 0)
	if b, err := os.ReadFile(file); err != nil || len(storetest.Rows(t, b)) != len(rows)+1 {
		t.Errorf("the export was not replaced (%v)", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil || !slices.Equal(left, []string{file}) {
		t.Errorf("in the folder: %v, %v", left, err)
	}
}

// The export flows from one process to the other.
func TestExportImportPipe(t *testing.T) {
	t.Parallel()
	path, from := database(t, "from.db", 2)
	to, toURL := database(t, "to.db", 0)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), self, args...)
		c.Env = append(os.Environ(), asProgram+"=1")
		c.Stderr = os.Stderr
		return c
	}
	export, imports := process("export", from), process("import", toURL, "-")
	if imports.Stdin, err = export.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := export.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := imports.Output()
	if err := errors.Join(err, export.Wait()); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, []byte("Imported: ")) {
		t.Errorf("it said %q", out)
	}
	if got, want := content(t, to), content(t, path); !slices.Equal(got, want) {
		t.Errorf("%d rows after the import, want %d", len(got), len(want))
	}
}

func TestExportRefuses(t *testing.T) {
	t.Parallel()
	path, from := database(t, "from.db", 1)
	nowhere, nowhereURL := database(t, "nowhere.db", 0)
	command(t, "export", nowhereURL).want(t, exitSettings, "DATABASE_URL")
	missing(t, nowhere)

	// What is no export is not written over, the database least of all.
	rows := content(t, path)
	command(t, "export", from, path).want(t, exitSettings, path, "no export")
	if got := content(t, path); !slices.Equal(got, rows) {
		t.Error("the database was changed")
	}
	command(t, "export", from, filepath.Dir(path)).want(t, exitSettings, "folder")
	command(t, "export", from, filepath.Join(t.TempDir(), "no", "folder")).want(t, exitSettings, "cannot be written")

	// A file that is empty, as mktemp makes it, is.
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, "export", from, empty).want(t, 0)

	// One that fails half-way leaves the one before.
	before, err := os.ReadFile(empty)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := replaceExport(empty, func(w io.Writer) error {
		_, err := fmt.Fprint(w, "half")
		return errors.Join(err, full)
	}); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	after, err := os.ReadFile(empty)
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("the export before is gone: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(empty)); err != nil || len(left) != 1 {
		t.Errorf("in the folder: %v, %v", left, err)
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	_, from := database(t, "from.db", 3)
	file := filepath.Join(t.TempDir(), "all.jsonl")
	command(t, "export", from, file).want(t, 0)
	export, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to, toURL := database(t, "to.db", 0)
	command(t, "import", toURL, filepath.Join(t.TempDir(), "none.jsonl")).want(t, exitSettings, "none.jsonl", "cannot be read")
	missing(t, to)
	for name, bad := range map[string]struct {
		content []byte
		want    string
	}{
		"cut":       {export[:len(export)/2], "cut or damaged"},
		"empty":     {nil, "cut or damaged"},
		"not one":   {[]byte("riftchime\n"), "not how an export"},
		"too new":   {bytes.Replace(export, []byte(`"version":1`), []byte(`"version":7`), 1), "unknown version"},
		"two of it": {slices.Concat(export, export), "follows the end"},
	} {
		file := filepath.Join(t.TempDir(), "bad.jsonl")
		if err := os.WriteFile(file, bad.content, 0o600); err != nil {
			t.Fatal(err)
		}
		command(t, "import", toURL, file).want(t, exitSettings, file, "nothing was imported", bad.want)
		if rows := content(t, to); len(rows) > 0 {
			t.Errorf("%s: %d rows are left", name, len(rows))
		}
	}

	// Not while a bot runs on it.
	withStore(t, to, func(s store.Store) {
		lease, err := s.Lead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		command(t, "import", toURL, file).want(t, exitSettings, "another riftchime runs")
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	})
	command(t, "import", toURL, file).want(t, 0)
}

// A lead that must be waited for, as on PostgreSQL, is not waited for long.
func TestLeadAlone(t *testing.T) {
	t.Parallel()
	start := time.Now()
	_, err := leadAlone(t.Context(), waiting{})
	if !errors.As(err, new(settingsError)) || time.Since(start) < leadWait {
		t.Errorf("error %v after %s", err, time.Since(start))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := leadAlone(ctx, waiting{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// waiting is a store whose lead another process has.
type waiting struct{ store.Store }

func (waiting) Lead(ctx context.Context) (store.Lease, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
