package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"
)

// An export is JSON Lines in UTF-8:
//
//	{"riftchime":"export","version":1,"made":"2026-03-02T12:00:00Z"}
//	{"table":"servers","row":{"id":1,"name":"…",…}}
//	…
//	{"riftchime":"end","rows":{"servers":1,…},"sha256":"…"}
//
// Columns are named as in the schema, times are in milliseconds since the Unix
// epoch, and what is not text is base64. A row comes after those it refers to.
// The sum is that of all lines before, each ended by one line feed. Two exports
// of equal stores differ in "made" only.

// ExportVersion is the version that Export writes. It is raised whenever a
// migration changes what a row holds; Import must go on taking the earlier ones.
const ExportVersion = 1

// maxLine bounds a line, in bytes, so that what is no export can't fill the
// memory. The longest that there are, parts of reports, are a thousandth of it.
const maxLine = 16 << 20

// header is the first line.
type header struct {
	Kind    string    `json:"riftchime"`
	Version int       `json:"version"`
	Made    time.Time `json:"made"`
}

const (
	kindExport = "export"
	kindEnd    = "end"
)

// tally is what the last line tells of those before.
type tally struct {
	rows map[string]int64
	sum  hash.Hash
}

func newTally() *tally { return &tally{rows: map[string]int64{}, sum: sha256.New()} }

// line adds a line to the sum.
func (t *tally) line(line []byte) {
	t.sum.Write(line)
	t.sum.Write([]byte{'\n'})
}

// footer is the last line.
func (t *tally) footer() ([]byte, error) {
	return json.Marshal(struct {
		Kind string           `json:"riftchime"`
		Rows map[string]int64 `json:"rows"`
		Sum  string           `json:"sha256"`
	}{kindEnd, t.rows, fmt.Sprintf("%x", t.sum.Sum(nil))})
}

// Export writes all that s keeps to w, as it is at one moment, while others go
// on using s. It holds a few rows at a time. What it wrote before an error is no
// export: Import refuses it.
func Export(ctx context.Context, s Portable, w io.Writer) error {
	if err := export(ctx, s, w); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

func export(ctx context.Context, s Portable, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	t := newTally()
	put := func(line []byte) error {
		t.line(line)
		if _, err := out.Write(line); err != nil {
			return err
		}
		return out.WriteByte('\n')
	}
	first, err := json.Marshal(header{kindExport, ExportVersion, time.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		return err
	}
	if err := put(first); err != nil {
		return err
	}
	var line []byte
	if err := s.EachRow(ctx, func(table string, row json.RawMessage) error {
		// By hand: Marshal would read the whole row once more.
		line = append(line[:0], `{"table":"`...)
		line = append(line, table...)
		line = append(line, `","row":`...)
		line = append(line, row...)
		line = append(line, '}')
		if len(line) > maxLine {
			return fmt.Errorf("a row of %s has %d bytes: more than an import takes", table, len(line))
		}
		t.rows[table]++
		return put(line)
	}); err != nil {
		return err
	}
	last, err := t.footer()
	if err != nil {
		return err
	}
	if _, err := out.Write(append(last, '\n')); err != nil {
		return err
	}
	return out.Flush()
}
