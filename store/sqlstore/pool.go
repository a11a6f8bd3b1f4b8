package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// maxPrepared bounds the statements kept prepared: those of the code, and the
// variants by length of those that take a list.
const maxPrepared = 512

// pool is a database with its prepared statements.
type pool struct {
	db      *sql.DB
	prepare bool

	mu sync.RWMutex
	// mu guards the maps. wanted are statements met inside of a transaction,
	// where they can't be prepared for the database.
	prepared map[string]*sql.Stmt
	wanted   map[string]bool
}

func newPool(db *sql.DB, prepare bool) *pool {
	return &pool{db: db, prepare: prepare, prepared: map[string]*sql.Stmt{}, wanted: map[string]bool{}}
}

func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, st := range p.prepared {
		errs = append(errs, st.Close())
	}
	clear(p.prepared)
	clear(p.wanted)
	p.prepare = false
	return errors.Join(errs...)
}

// statement returns query prepared, or nil where it is not, or not yet.
func (p *pool) statement(query string) *sql.Stmt {
	p.mu.RLock()
	st, enough := p.prepared[query], !p.prepare || len(p.prepared)+len(p.wanted) >= maxPrepared || p.wanted[query]
	p.mu.RUnlock()
	if st != nil || enough {
		return st
	}
	p.mu.Lock()
	p.wanted[query] = true
	p.mu.Unlock()
	return nil
}

// prepareWanted prepares what statement was asked for in vain. It must not be
// called while a transaction is open on a pool of one connection. A failure is
// left to the statement's own next run.
func (p *pool) prepareWanted(ctx context.Context) {
	for {
		var query string
		p.mu.Lock()
		for query = range p.wanted {
			break
		}
		delete(p.wanted, query)
		p.mu.Unlock()
		if query == "" {
			return
		}
		st, err := p.db.PrepareContext(ctx, query)
		if err != nil {
			return
		}
		p.mu.Lock()
		if _, there := p.prepared[query]; there || !p.prepare {
			p.mu.Unlock()
			_ = st.Close() // Somebody was faster, or the store was closed.
			continue
		}
		p.prepared[query] = st
		p.mu.Unlock()
	}
}

// within runs f in a transaction and commits it where f returns nil.
func (p *pool) within(ctx context.Context, opts *sql.TxOptions, f func(r runner) error) error {
	tx, err := p.db.BeginTx(ctx, opts)
	if err != nil {
		return err
	}
	// After a commit this does nothing; after a panic in f it is what frees
	// the connection.
	defer func() { _ = tx.Rollback() }()
	if err := f(runner{pool: p, tx: tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	p.prepareWanted(ctx)
	return nil
}

// runner runs statements, in a transaction where tx is not nil.
type runner struct {
	pool *pool
	tx   *sql.Tx
}

// statement returns query prepared for where r runs, or nil.
func (r runner) statement(ctx context.Context, query string) *sql.Stmt {
	st := r.pool.statement(query)
	if st == nil && r.tx == nil && r.pool.prepare {
		r.pool.prepareWanted(ctx)
		st = r.pool.statement(query)
	}
	if st != nil && r.tx != nil {
		return r.tx.StmtContext(ctx, st)
	}
	return st
}

// exec returns the number of rows changed.
func (r runner) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var (
		res sql.Result
		err error
	)
	if st := r.statement(ctx, query); st != nil {
		res, err = st.ExecContext(ctx, args...)
	} else if r.tx != nil {
		res, err = r.tx.ExecContext(ctx, query, args...)
	} else {
		res, err = r.pool.db.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query calls scan for each row.
func (r runner) query(ctx context.Context, query string, args []any, scan func(*sql.Rows) error) error {
	var (
		rows *sql.Rows
		err  error
	)
	if st := r.statement(ctx, query); st != nil {
		rows, err = st.QueryContext(ctx, args...)
	} else if r.tx != nil {
		rows, err = r.tx.QueryContext(ctx, query, args...)
	} else {
		rows, err = r.pool.db.QueryContext(ctx, query, args...)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return rows.Close()
}

// row scans the one row of query, or returns sql.ErrNoRows.
func (r runner) row(ctx context.Context, query string, args []any, dest ...any) error {
	found := false
	err := r.query(ctx, query, args, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// list collects the rows of query.
func list[T any](ctx context.Context, r runner, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	var out []T
	err := r.query(ctx, query, args, func(rows *sql.Rows) error {
		var v T
		if err := scan(rows, &v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}
