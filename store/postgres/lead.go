package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riftchime/store"
)

// timing is how the lead is watched. The leader must know that it lost the lead
// before the server can give it to another one, even where the network between
// them fails without a word: beat + answer is less than idle. It must be taken
// over within 15 s (DESIGN section 3): beat + idle + poll is less than that.
type timing struct {
	// poll is how often a lead that another process has is looked at.
	poll time.Duration
	// beat is how often the leader asks the server for a sign of life, answer
	// how long that may take.
	beat, answer time.Duration
	// idle is after how long a silence the server ends the leader's session,
	// and the lead with it (idle_session_timeout, PostgreSQL 14; before that
	// TCP keepalives do about the same).
	idle time.Duration
}

var defaultTiming = timing{poll: 2 * time.Second, beat: 2 * time.Second, answer: 3 * time.Second, idle: 10 * time.Second}

// Lead waits for the advisory lock that only the leader holds, on a connection
// of its own. A server that is out of reach at first is an error; while waiting
// it is not, since it may come back.
//
// Lost is closed at most 5 s after the server was last heard of, and the server
// gives the lead away no sooner than 10 s after it last heard of the leader. A
// process that was stopped for longer than that (a suspended machine) finds out
// only when it runs again; what it then still does, such as Claim, meets the
// new leader's rows in the database.
func (s *Store) Lead(ctx context.Context) (store.Lease, error) {
	if s.readOnly {
		return nil, errors.New("lead: the database is opened for reading only")
	}
	conn, err := s.leadConn(ctx)
	if err != nil {
		return nil, fmt.Errorf("lead: %w", translate(err))
	}
	tick := time.NewTicker(s.timing.poll)
	defer tick.Stop()
	for {
		if conn == nil {
			// An error is left to the next look.
			conn, _ = s.leadConn(ctx)
		}
		if conn != nil {
			led, err := s.tryLead(ctx, conn)
			if led {
				return s.newLease(conn), nil
			}
			if err != nil {
				_ = conn.Close(ctx)
				conn = nil
			}
		}
		select {
		case <-ctx.Done():
			if conn != nil {
				closeConn(conn)
			}
			return nil, fmt.Errorf("lead: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// closeConn closes conn politely, but soon.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// leadConn opens a connection whose session the server ends soon after the
// program fell silent.
func (s *Store) leadConn(ctx context.Context) (*pgx.Conn, error) {
	cfg := s.pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["application_name"] = "riftchime lead"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	for _, set := range []string{
		fmt.Sprintf(`SET idle_session_timeout = %d`, s.timing.idle.Milliseconds()),
		`SET tcp_keepalives_idle = 4`,
		`SET tcp_keepalives_interval = 2`,
		`SET tcp_keepalives_count = 3`,
	} {
		if _, err := conn.Exec(ctx, set); err != nil {
			var e *pgconn.PgError
			if errors.As(err, &e) && e.Code == "42704" {
				continue // undefined_object: an older server does not know the setting.
			}
			closeConn(conn)
			return nil, err
		}
	}
	return conn, nil
}

// tryLead looks whether the lead is free and takes it.
func (s *Store) tryLead(ctx context.Context, conn *pgx.Conn) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timing.answer)
	defer cancel()
	var schema string
	if err := conn.QueryRow(ctx, `SELECT coalesce(current_schema(), '')`).Scan(&schema); err != nil {
		return false, err
	}
	var led bool
	err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey("lead", schema)).Scan(&led)
	return led && err == nil, err
}

// lease is the lead, as long as its connection lives.
type lease struct {
	lost chan struct{}
	stop context.CancelFunc
	done chan struct{}
	once sync.Once
}

func (s *Store) newLease(conn *pgx.Conn) *lease {
	ctx, stop := context.WithCancel(context.Background())
	l := &lease{lost: make(chan struct{}), stop: stop, done: make(chan struct{})}
	go l.watch(ctx, conn, s.timing)
	return l
}

// watch owns the connection: it asks for signs of life until there is none, or
// until Release.
func (l *lease) watch(ctx context.Context, conn *pgx.Conn, t timing) {
	defer close(l.done)
	defer closeConn(conn)
	tick := time.NewTicker(t.beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		answer, cancel := context.WithTimeout(ctx, t.answer)
		err := conn.Ping(answer)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			close(l.lost)
			return
		}
	}
}

// Lost implements store.Lease. It stays open after Release.
func (l *lease) Lost() <-chan struct{} { return l.lost }

// Release implements store.Lease: it ends the session, and returns when that is
// done.
func (l *lease) Release() error {
	l.once.Do(l.stop)
	<-l.done
	return nil
}
