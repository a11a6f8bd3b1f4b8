package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riftchime/store"
)

// Export exports s.
func Export(t *testing.T, s store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Export(t.Context(), s, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Rows are the lines of an export that hold rows.
func Rows(t *testing.T, export []byte) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(string(export), "\n"), "\n")
	if len(lines) < 2 {
		t.Fatalf("an export of %d lines: %q", len(lines), export)
	}
	return lines[1 : len(lines)-1]
}

// content is the dump of RiftChime's own tables, in order.
func (w *world) content() []string {
	w.t.Helper()
	var lines []string
	for line := range strings.Lines(w.Opened.Dump(w.t)) {
		if table, _, _ := strings.Cut(line, "."); !foreign[table] {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

func (w *world) imported(export []byte) {
	w.t.Helper()
	w.must(store.Import(w.ctx, w, bytes.NewReader(export)))
}

// rows counts the rows of an export by table.
func rows(t *testing.T, export []byte) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, line := range Rows(t, export) {
		var v struct{ Table string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		n[v.Table]++
	}
	return n
}

func testExport(t *testing.T, w *world) {
	Fill(t, w, 1)
	export := Export(t, w)
	other := w.another()
	other.imported(export)
	equal(t, "what is in the database", other.content(), w.content())
	equal(t, "the rows exported again", Rows(t, Export(t, other)), Rows(t, export))
	if !json.Valid(export[:bytes.IndexByte(export, '\n')]) || !bytes.HasSuffix(export, []byte("}\n")) {
		t.Errorf("it begins %.100q and ends %q", export, export[len(export)-20:])
	}

	// Nobody's id is given to somebody else.
	channel := get[[]store.Channel](w)(w.ChannelsOf(w.ctx, get[[]store.Server](w)(w.ServersPresent(w.ctx))[0].ID))[0].ID
	var newest [2]store.PlayerID
	for i, s := range []*world{w, other} {
		for _, f := range get[[]store.Follow](s)(s.Registrations(s.ctx, channel)) {
			newest[i] = max(newest[i], f.Player.ID)
		}
		p, what, err := s.Register(s.ctx, channel, npc("a new one", "k1"), t0, []string{"KR_1"}, 50)
		s.must(err)
		if what != store.RegisteredNew || p.ID <= newest[i] {
			t.Errorf("registered: %d, player %d, though there was %d", what, p.ID, newest[i])
		}
		_, after, err := s.PutRanks(s.ctx, p.ID, []store.Rank{{Queue: store.QueueSolo, Tier: "IRON", Division: "IV"}}, t0)
		s.must(err)
		if len(after) == 0 || after[0].Tier != "IRON" {
			t.Errorf("ranks after the import: %+v", after)
		}
	}
}

func testExportEmpty(t *testing.T, w *world) {
	export := Export(t, w)
	if n := len(Rows(t, export)); n != 0 {
		t.Errorf("%d rows of nothing", n)
	}
	w.imported(export)
	w.imported(export) // It is empty still.
	w.home("a")
}

// Every table of the schema and each of its columns is exported. A table that a
// migration adds has to be filled in Fill, and listed in sqlstore's tables.
func testExportAll(t *testing.T, w *world) {
	Fill(t, w, 2)
	columns := map[string][]string{}
	n := map[string]int{}
	w.must(w.EachRow(w.ctx, func(table string, row json.RawMessage) error {
		if n[table]++; n[table] == 1 {
			var v map[string]json.RawMessage
			w.must(json.Unmarshal(row, &v))
			for name := range v {
				columns[table] = append(columns[table], name)
			}
			slices.Sort(columns[table])
		}
		return nil
	}))
	want := w.Tables(t)
	for table := range want {
		slices.Sort(want[table])
		if n[table] == 0 {
			t.Errorf("no row of %s was exported: Fill must put some, and sqlstore list the table", table)
		}
	}
	equal(t, "tables and columns", columns, want)
	in := map[string]int{}
	for _, line := range w.content() {
		table, _, _ := strings.Cut(line, ".")
		in[table]++
	}
	equal(t, "rows of each table", n, in)
	equal(t, "rows of each table in the export", rows(t, Export(t, w)), in)
}

// What happens while it is exported is not in it, and is not held up by it.
func testExportMoment(t *testing.T, w *world) {
	Fill(t, w, 3)
	before := Export(t, w)
	var during bytes.Buffer
	changed := false
	w.must(store.Export(w.ctx, each{w.Store, func(table string) {
		if changed {
			return
		}
		changed = true
		if table != "servers" {
			t.Errorf("the first row is of %s", table)
		}
		w.must(w.PutNote(w.ctx, "late", "came during the export"))
		w.must(w.PutMatch(w.ctx, match("KR_5000", t0, "k0", "a"), t0))
		p := get[store.Player](w)(w.PlayerByRiotID(w.ctx, "", "left", "KR1"))
		w.must(w.Forget(w.ctx, p.ID))
	}}, &during))
	if !changed {
		t.Fatal("nothing happened during the export")
	}
	equal(t, "the rows", Rows(t, during.Bytes()), Rows(t, before))
	if note := get[string](w)(w.Note(w.ctx, "late")); note == "" {
		t.Error("the note was not put")
	}
}

// each calls f before each row.
type each struct {
	store.Store
	f func(table string)
}

func (e each) EachRow(ctx context.Context, f func(table string, row json.RawMessage) error) error {
	return e.Store.EachRow(ctx, func(table string, row json.RawMessage) error {
		e.f(table)
		return f(table, row)
	})
}

func testImportNotEmpty(t *testing.T, w *world) {
	Fill(t, w, 4)
	export := Export(t, w)
	before := w.content()
	w.want(store.Import(w.ctx, w, bytes.NewReader(export)), store.ErrNotEmpty)
	equal(t, "what was there", w.content(), before)

	// A single row of a table to which nothing refers is enough.
	for name, put := range map[string]func(*world) error{
		"a note":         func(o *world) error { return o.PutNote(o.ctx, "n", "") },
		"an interaction": func(o *world) error { _, err := o.TakeInteraction(o.ctx, 1, t0); return err },
		"a server":       func(o *world) error { return o.PutServer(o.ctx, store.Server{ID: 1}) },
	} {
		o := w.another()
		o.must(put(o))
		before := o.content()
		if err := store.Import(o.ctx, o, bytes.NewReader(export)); !errors.Is(err, store.ErrNotEmpty) {
			t.Errorf("%s: error %v, want %v", name, err, store.ErrNotEmpty)
		}
		equal(t, name, o.content(), before)
	}
}

// Of two at once, one finds the store not empty.
func testImportAtOnce(t *testing.T, w *world) {
	Fill(t, w, 5)
	export, other := Export(t, w), w.another()
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = store.Import(other.ctx, other, bytes.NewReader(export)) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else if !errors.Is(err, store.ErrNotEmpty) {
			t.Errorf("error %v, want %v", err, store.ErrNotEmpty)
		}
	}
	if done != 1 {
		t.Errorf("%d imports went through, want one", done)
	}
	equal(t, "what is in the database", other.content(), w.content())
}

// little puts a few rows, for what is tried with each of them.
func (w *world) little() {
	w.t.Helper()
	ids := w.home("a", "b")
	w.must(w.SetName(w.ctx, ids[0], "c", "KR1", t0))
	w.play("KR_1", t0.Add(-time.Hour), "a", "b")
	_, ranks, err := w.PutRanks(w.ctx, ids[0], []store.Rank{{Queue: store.QueueSolo, Tier: "GOLD", Division: "I"}}, t0)
	w.must(err)
	r := ready(2, "KR_1")
	r.Names = []store.ShownName{{Player: ids[0], Name: "c#KR1"}}
	r.Ranks = []store.ShownRank{{Player: ids[0], Queue: store.QueueSolo, Snapshot: ranks[0].ID}}
	w.send(r)
	w.must(w.AddReasons(w.ctx, []store.Reason{{Channel: 10, Code: "x", At: t0}}))
	w.must(w.AddLatency(w.ctx, "list", time.Second, t0))
	w.must(w.PutChampions(w.ctx, "en", "16.1.1", []store.Champion{{ID: 103, Key: "Ahri", Name: "Ahri"}}, t0))
	w.must(w.PutNote(w.ctx, "n", "v"))
}

// No part of an export is taken for the whole, and nothing of it stays.
func testImportCut(t *testing.T, w *world) {
	w.little()
	export, other := Export(t, w), w.another()
	refused := func(what string, export []byte) {
		t.Helper()
		if err := store.Import(other.ctx, other, bytes.NewReader(export)); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: error %v, want %v", what, err, store.ErrDamaged)
		}
		// What is left of one would make the next one find it not empty.
	}
	cut := 0
	for line := range bytes.Lines(export) {
		refused(fmt.Sprintf("the first %d bytes", cut), export[:cut])
		cut += len(line)
	}
	random := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		// Without its last line feed it is whole.
		cut := random.IntN(len(export) - 1)
		refused(fmt.Sprintf("the first %d bytes", cut), export[:cut])
	}
	other.imported(export[:len(export)-1])
	equal(t, "what is in the database", other.content(), w.content())
}

func testImportDamaged(t *testing.T, w *world) {
	w.little()
	export, other := Export(t, w), w.another()
	lines := strings.SplitAfter(string(export), "\n")
	lines = lines[:len(lines)-1]
	last := len(lines) - 1
	if _, _, there := bytes.Cut(export, []byte(`"key":"k1"`)); !there {
		t.Fatal("there is no key k1 to damage")
	}
	type change struct {
		what   string
		export string
	}
	changes := []change{
		{"nothing", ""},
		{"an empty line", "\n"},
		{"a database file", "SQLite format 3\x00\x10\x00"},
		{"another JSON", `{"version":1}` + "\n"},
		{"an endless line", strings.Repeat("x", 20<<20)},
		{"an endless row", lines[0] + `{"table":"notes","row":{"name":"` + strings.Repeat("x", 20<<20)},
		{"no header", strings.Join(lines[1:], "")},
		{"a header twice", lines[0] + string(export)},
		{"the end alone", lines[0] + lines[last]},
		{"a row after the end", string(export) + lines[1]},
		{"another export after the end", string(export) + string(export)},
		{"an empty line after the end", string(export) + "\n"},
		{"a row twice", lines[0] + lines[1] + strings.Join(lines[1:], "")},
		{"two rows the other way round", lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], "")},
		{"a row left out", lines[0] + strings.Join(lines[2:], "")},
		{"a row left out near the end", strings.Join(lines[:last-1], "") + lines[last]},
		{"a value changed", strings.Replace(string(export), `"key":"k1"`, `"key":"k9"`, 1)},
		{"a table unknown", strings.Replace(string(export), `"table":"notes"`, `"table":"voices"`, 1)},
		{"a column unknown", strings.Replace(string(export), `"joined_at"`, `"joined"`, 1)},
		{"a column too many", strings.Replace(string(export), `"joined_at"`, `"extra":1,"joined_at"`, 1)},
		{"null for a number", strings.Replace(string(export), `"gone_at":0`, `"gone_at":null`, 1)},
		{"a text for a number", strings.Replace(string(export), `"gone_at":0`, `"gone_at":"0"`, 1)},
		{"a fraction", strings.Replace(string(export), `"gone_at":0`, `"gone_at":0.5`, 1)},
		{"a number for a truth", strings.Replace(string(export), `"quiet":true`, `"quiet":1`, 1)},
		{"what refers to nothing", strings.Replace(string(export), `"server_id":1`, `"server_id":8`, 1)},
	}
	random := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		b := bytes.Clone(export)
		at := random.IntN(len(b))
		b[at] ^= 1 << random.IntN(8)
		changes = append(changes, change{fmt.Sprintf("byte %d is %q and not %q", at, b[at], export[at]), string(b)})
	}
	for _, c := range changes {
		if c.export == string(export) {
			t.Errorf("%s: nothing is changed", c.what)
		}
		err := store.Import(other.ctx, other, strings.NewReader(c.export))
		if !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: error %v, want %v", c.what, err, store.ErrDamaged)
		}
		if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: error %v blames the database", c.what, err)
		}
		// What is left of one would make the next one find it not empty.
	}
	for _, version := range []string{"2", "99"} {
		err := store.Import(other.ctx, other, strings.NewReader(strings.Replace(string(export), `"version":1`, `"version":`+version, 1)))
		w.want(err, store.ErrVersion)
	}
	// As a mail or an editor on Windows leaves it.
	other.imported(bytes.ReplaceAll(export, []byte("\n"), []byte("\r\n")))
	equal(t, "what is in the database", other.content(), w.content())
}

// What goes wrong with the file is told as it is, and undoes all.
func testLoadFails(t *testing.T, w *world) {
	Fill(t, w, 8)
	export, other := Export(t, w), w.another()
	for _, at := range []int{0, 10, len(export) / 2, len(export) - 10} {
		// io.ErrUnexpectedEOF is what a connection to a database says, too.
		err := store.Import(other.ctx, other, io.MultiReader(bytes.NewReader(export[:at]), failing{io.ErrUnexpectedEOF}))
		if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrDamaged) {
			t.Errorf("reading fails after %d bytes: error %v", at, err)
		}
	}
	err := store.Export(w.ctx, w, full{io.ErrClosedPipe})
	if !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("writing fails: error %v", err)
	}

	ctx, cancel := context.WithCancel(w.ctx)
	read := 0
	err = store.Import(ctx, other, readerFunc(func(p []byte) (int, error) {
		if read += len(p); read > len(export)/2 {
			cancel()
		}
		n := copy(p[:min(len(p), 100)], export)
		export = export[n:]
		if n == 0 {
			return 0, io.EOF
		}
		return n, nil
	}))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the context ends: error %v", err)
	}
	cancel()
	if left := Rows(t, Export(t, other)); len(left) > 0 {
		t.Errorf("%d rows are left: %s", len(left), left[0])
	}
	if err := other.PutNote(other.ctx, "n", "v"); err != nil {
		t.Errorf("it does not go on: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// From one store right into another: neither waits for the whole.
func testExportPipe(t *testing.T, w *world) {
	Fill(t, w, 9)
	other := w.another()
	r, pipe := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := store.Export(w.ctx, w, pipe)
		_ = pipe.CloseWithError(err)
		done <- err
	}()
	w.must(store.Import(w.ctx, other, r))
	w.must(<-done)
	equal(t, "what is in the database", other.content(), w.content())
}
