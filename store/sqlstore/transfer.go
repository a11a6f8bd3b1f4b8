package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"riftchime/store"
)

// EachRow implements store.Portable.
func (s *Store) EachRow(ctx context.Context, f func(table string, row json.RawMessage) error) error {
	const what = "read all rows"
	// The caller's own error is kept from being taken for the database's.
	var callers error
	err := s.view(ctx, what, func(r runner) error {
		if err := r.patient(ctx, s.dialect); err != nil {
			return err
		}
		for _, t := range tables {
			dest := t.dest()
			var line bytes.Buffer
			if err := r.query(ctx, `SELECT `+t.list()+` FROM `+t.name+` ORDER BY `+t.order(s.dialect.Collate), nil, func(rows *sql.Rows) error {
				if err := rows.Scan(dest...); err != nil {
					return err
				}
				line.Reset()
				if err := t.encode(&line, dest); err != nil {
					return err
				}
				callers = f(t.name, line.Bytes())
				return callers
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if callers != nil {
		return callers
	}
	return err
}

// LoadRows implements store.Portable.
func (s *Store) LoadRows(ctx context.Context, next func() (table string, row json.RawMessage, err error)) error {
	const what = "put all rows"
	if s.readOnly {
		return s.wrap(ctx, what, errReadOnly)
	}
	var callers error
	// Not by change: next can't be asked twice.
	err := s.write.within(ctx, nil, func(r runner) error {
		if err := r.alone(ctx, s.dialect); err != nil {
			return err
		}
		l := loader{tx: r.tx, dialect: s.dialect}
		defer l.close()
		for {
			name, row, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				callers = err
				return err
			}
			if err := l.add(ctx, name, row); err != nil {
				return err
			}
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
		return r.count(ctx, s.dialect)
	})
	if callers != nil {
		return callers
	}
	return s.wrap(ctx, what, err)
}

// patient lets the transaction wait for its caller, who may be a slow pipe.
func (r runner) patient(ctx context.Context, d Dialect) error {
	if d.Patient == "" {
		return nil
	}
	_, err := r.tx.ExecContext(ctx, d.Patient)
	return err
}

// alone sees to it that nobody else writes until the transaction ends, and that
// nobody has: it says store.ErrNotEmpty where a table has a row.
func (r runner) alone(ctx context.Context, d Dialect) error {
	if err := r.patient(ctx, d); err != nil {
		return err
	}
	if d.Alone != "" {
		names := make([]string, len(tables))
		for i, t := range tables {
			names[i] = t.name
		}
		if _, err := r.tx.ExecContext(ctx, fmt.Sprintf(d.Alone, strings.Join(names, ", "))); err != nil {
			return err
		}
	}
	for _, t := range tables {
		var some bool
		if err := r.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.name+`)`).Scan(&some); err != nil {
			return err
		}
		if some {
			return fmt.Errorf("%w: there are rows in %s", store.ErrNotEmpty, t.name)
		}
	}
	return nil
}

// count makes the database go on after the highest ids.
func (r runner) count(ctx context.Context, d Dialect) error {
	if d.Count == "" {
		return nil
	}
	for _, t := range tables {
		if !t.counted {
			continue
		}
		if _, err := r.tx.ExecContext(ctx, fmt.Sprintf(d.Count, t.name)); err != nil {
			return err
		}
	}
	return nil
}

// loader inserts rows, several in a statement.
type loader struct {
	tx      *sql.Tx
	dialect Dialect

	// table is the one that the rows waiting belong to; nil: none yet.
	table *table
	// waiting are the values of those rows, and most how many values go into
	// one statement, which is full.
	waiting []any
	most    int
	full    *sql.Stmt
}

func (l *loader) close() {
	if l.full != nil {
		_ = l.full.Close() // The transaction is over, or about to fail.
		l.full = nil
	}
}

func (l *loader) add(ctx context.Context, name string, row json.RawMessage) error {
	if l.table == nil || l.table.name != name {
		if err := l.turn(ctx, name); err != nil {
			return err
		}
	}
	var err error
	if l.waiting, err = l.table.decode(row, l.waiting); err != nil {
		return fmt.Errorf("%w: %s: %w", store.ErrDamaged, name, err)
	}
	if len(l.waiting) < l.most {
		return nil
	}
	return l.flush(ctx)
}

// turn goes on with another table.
func (l *loader) turn(ctx context.Context, name string) error {
	if err := l.flush(ctx); err != nil {
		return err
	}
	l.close()
	l.table = nil
	for i := range tables {
		if tables[i].name == name {
			l.table = &tables[i]
		}
	}
	if l.table == nil {
		return fmt.Errorf("%w: there is no table %q", store.ErrDamaged, name)
	}
	// The pool's statements are for what is run again and again.
	rows := batch / len(l.table.columns)
	l.most = rows * len(l.table.columns)
	var err error
	l.full, err = l.tx.PrepareContext(ctx, l.table.insert(rows))
	return err
}

// flush inserts the rows that wait.
func (l *loader) flush(ctx context.Context) error {
	if len(l.waiting) == 0 {
		return nil
	}
	var err error
	if len(l.waiting) == l.most {
		_, err = l.full.ExecContext(ctx, l.waiting...)
	} else {
		_, err = l.tx.ExecContext(ctx, l.table.insert(len(l.waiting)/len(l.table.columns)), l.waiting...)
	}
	clear(l.waiting)
	l.waiting = l.waiting[:0]
	if err != nil && l.dialect.Unfit(err) {
		return fmt.Errorf("%w: %s: %w", store.ErrDamaged, l.table.name, err)
	}
	return err
}

// insert is the statement that inserts so many rows.
func (t *table) insert(rows int) string {
	var q strings.Builder
	q.WriteString(`INSERT INTO ` + t.name + ` (` + t.list() + `) VALUES `)
	n := 0
	for i := range rows {
		q.WriteString(",("[b2i(i == 0):])
		for j := range t.columns {
			if n++; j > 0 {
				q.WriteByte(',')
			}
			q.WriteByte('$')
			q.WriteString(strconv.Itoa(n))
		}
		q.WriteByte(')')
	}
	return q.String()
}

// dest is what a row of t is scanned into.
func (t *table) dest() []any {
	dest := make([]any, len(t.columns))
	for i, c := range t.columns {
		switch c.kind {
		case kindInt:
			dest[i] = new(int64)
		case kindBool:
			dest[i] = new(bool)
		case kindText:
			dest[i] = new(string)
		case kindBytes:
			dest[i] = new([]byte)
		}
	}
	return dest
}

// encode writes a row that was scanned into dest as a JSON object, the columns
// in order.
func (t *table) encode(to *bytes.Buffer, dest []any) error {
	for i, c := range t.columns {
		to.WriteByte("{,"[b2i(i > 0)])
		to.WriteByte('"')
		to.WriteString(c.name)
		to.WriteString(`":`)
		var value any
		switch v := dest[i].(type) {
		case *int64:
			value = *v
		case *bool:
			value = *v
		case *string:
			// A text that one database took and the other one does not must
			// not make the export useless.
			value = text(*v)
		case *[]byte:
			// Not the slice itself: one of length 0 may be nil, and so null.
			value = base64.StdEncoding.EncodeToString(*v)
		}
		b, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.name, c.name, err)
		}
		to.Write(b)
	}
	to.WriteByte('}')
	return nil
}

// decode appends the values of a row as encode wrote it, each column there and
// none besides.
func (t *table) decode(row json.RawMessage, to []any) ([]any, error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(row, &values); err != nil {
		return to, err
	}
	if len(values) > len(t.columns) {
		return to, fmt.Errorf("%d columns and not %d", len(values), len(t.columns))
	}
	for _, c := range t.columns {
		raw, there := values[c.name]
		// Unmarshal takes null for anything.
		if !there || string(raw) == "null" {
			return to, fmt.Errorf("%s is missing", c.name)
		}
		var (
			value any
			err   error
		)
		switch c.kind {
		case kindInt:
			var v int64
			err = json.Unmarshal(raw, &v)
			value = v
		case kindBool:
			var v bool
			err = json.Unmarshal(raw, &v)
			value = v
		case kindText:
			var v string
			err = json.Unmarshal(raw, &v)
			value = v
		case kindBytes:
			v := []byte{}
			err = json.Unmarshal(raw, &v)
			value = v
		}
		if err != nil {
			return to, fmt.Errorf("%s: %w", c.name, err)
		}
		to = append(to, value)
	}
	return to, nil
}
