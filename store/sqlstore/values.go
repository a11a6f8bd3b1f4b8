package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// ms is how a time is stored: milliseconds since the Unix epoch, 0 for the
// zero time.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// when scans what ms stored.
type when struct{ t *time.Time }

func (w when) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", src)
	}
	*w.t = time.Time{}
	if v != 0 {
		*w.t = time.UnixMilli(v).UTC()
	}
	return nil
}

// text makes what others typed storable: PostgreSQL takes neither NUL nor
// broken UTF-8 in a text, and both stores keep the same.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// fold takes letter case, and the ways of composing a letter, out of a Riot ID.
func fold(gameName, tagLine string) string {
	f := cases.Fold()
	part := func(s string) string { return norm.NFC.String(f.String(norm.NFC.String(text(s)))) }
	return part(gameName) + "#" + part(tagLine)
}

// batch is how many values go into one statement at most. SQLite takes $1 for
// a name, and looks each name up among all that came before.
const batch = 256

// insert runs head, "INSERT INTO t (columns)", with rows and then tail, in
// statements of at most batch values. It returns the number of rows changed.
func (r runner) insert(ctx context.Context, head string, rows [][]any, tail string) (int64, error) {
	var changed int64
	for len(rows) > 0 {
		some := rows[:min(max(1, batch/len(rows[0])), len(rows))]
		rows = rows[len(some):]
		var (
			q    strings.Builder
			args = make([]any, 0, len(some)*len(some[0]))
		)
		q.WriteString(head)
		q.WriteString(" VALUES ")
		for i, row := range some {
			if i > 0 {
				q.WriteByte(',')
			}
			q.WriteByte('(')
			for j, v := range row {
				if j > 0 {
					q.WriteByte(',')
				}
				args = append(args, v)
				q.WriteByte('$')
				q.WriteString(strconv.Itoa(len(args)))
			}
			q.WriteByte(')')
		}
		q.WriteByte(' ')
		q.WriteString(tail)
		n, err := r.exec(ctx, q.String(), args...)
		if err != nil {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

// in calls f with at most batch entries of ids at a time: places is "($3,$4)"
// for an IN, counted from first, and args are their values. The lengths are
// rounded up with copies of the last entry, so that there are few statements.
func in[T any](ids []T, first int, f func(places string, args []any) error) error {
	for len(ids) > 0 {
		some := ids[:min(batch, len(ids))]
		ids = ids[len(some):]
		size := 1
		for size < len(some) {
			size *= 2
		}
		size = max(len(some), min(size, batch))
		args := make([]any, size)
		var q strings.Builder
		for i := range args {
			args[i] = some[min(i, len(some)-1)]
			q.WriteByte(",("[b2i(i == 0)])
			q.WriteByte('$')
			q.WriteString(strconv.Itoa(first + i))
		}
		q.WriteByte(')')
		if err := f(q.String(), args); err != nil {
			return err
		}
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
