package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Import puts what Export wrote, on whichever database, into s, which must be
// migrated and empty; ids stay what they were. It is all or nothing. It says
// ErrNotEmpty, ErrVersion or ErrDamaged, the last also where anything follows
// the end of the export. It holds a few rows at a time.
func Import(ctx context.Context, s Portable, r io.Reader) error {
	in := newImporter(r)
	err := in.header()
	if err == nil {
		err = s.LoadRows(ctx, in.next)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrVersion):
		return fmt.Errorf("import: at line %d: %w", in.lines, err)
	}
	return fmt.Errorf("import: %w", err)
}

// importer reads an export line by line.
type importer struct {
	in *bufio.Reader
	// long holds a line that does not fit into in's buffer.
	long []byte
	// lines counts those read.
	lines int64
	tally *tally
}

func newImporter(r io.Reader) *importer {
	return &importer{in: bufio.NewReaderSize(r, 64<<10), tally: newTally()}
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// line is the next line, good until the one after it. It says io.EOF after the
// last one. A Scanner would give out half a line where reading fails.
func (i *importer) line() ([]byte, error) {
	i.lines++
	line, err := i.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		i.long = i.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if i.long = append(i.long, line...); len(i.long) > maxLine {
				return nil, damaged("the line is longer than %d bytes", maxLine)
			}
			line, err = i.in.ReadSlice('\n')
		}
		i.long = append(i.long, line...)
		line = i.long
	}
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		i.lines--
		return nil, io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read it: %w", err)
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'}), nil
}

// header reads the first line.
func (i *importer) header() error {
	line, err := i.line()
	if errors.Is(err, io.EOF) {
		return damaged("there is nothing in it")
	}
	if err != nil {
		return err
	}
	var h header
	if json.Unmarshal(line, &h) != nil || h.Kind != kindExport || h.Version < 1 {
		return damaged("this is not how an export of RiftChime begins")
	}
	if h.Version > ExportVersion {
		return fmt.Errorf("%w: %d, and %d is known here", ErrVersion, h.Version, ExportVersion)
	}
	i.tally.line(line)
	return nil
}

// next is the next row, good until the one after it. It says io.EOF after the
// last one, where the export is whole.
func (i *importer) next() (string, json.RawMessage, error) {
	line, err := i.line()
	if errors.Is(err, io.EOF) {
		return "", nil, damaged("it ends too soon")
	}
	if err != nil {
		return "", nil, err
	}
	// As Export writes it, and not any JSON of that meaning: the sum would not
	// be right anyway.
	rest, isRow := bytes.CutPrefix(line, []byte(`{"table":"`))
	table, rest, hasTable := bytes.Cut(rest, []byte(`","row":`))
	row, hasEnd := bytes.CutSuffix(rest, []byte{'}'})
	if !isRow || !hasTable || !hasEnd {
		return "", nil, i.end(line)
	}
	i.tally.line(line)
	i.tally.rows[string(table)]++
	return string(table), row, nil
}

// end compares the last line with what it must be, and says io.EOF where it is.
func (i *importer) end(line []byte) error {
	want, err := i.tally.footer()
	if err != nil {
		return err
	}
	if !bytes.Equal(line, want) {
		return damaged("this is neither a row nor the end of the rows before it")
	}
	switch _, err := i.line(); {
	case err == nil:
		return damaged("something follows the end")
	default:
		return err
	}
}
