package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"riftchime/store"
	"riftchime/store/postgres"
)

// within waits for c and says how long it took.
func within(t *testing.T, what string, c <-chan struct{}, most time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	select {
	case <-c:
	case <-time.After(most):
		t.Fatalf("%s: not within %v", what, most)
	}
	return time.Since(start)
}

func notLost(t *testing.T, l store.Lease) {
	t.Helper()
	select {
	case <-l.Lost():
		t.Fatal("the lead is lost")
	default:
	}
}

// stand lets another one stand by for the lead, and delivers it.
func stand(t *testing.T, cfg *pgxpool.Config, hasten time.Duration) <-chan struct{} {
	t.Helper()
	s := open(t, cfg)
	s.Hasten(hasten)
	led := make(chan struct{})
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		l, err := s.Lead(ctx)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return
		}
		close(led)
		<-ctx.Done()
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return led
}

func TestLead(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	s := open(t, cfg.Copy())
	l, err := s.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Another schema has another lead.
	other, err := open(t, schema(t)).Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Release(); err != nil {
		t.Error(err)
	}
	// A second one waits, and gives up with its context.
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := open(t, cfg.Copy()).Lead(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second lead: %v", err)
	}
	led := stand(t, cfg.Copy(), 1)
	notLost(t, l)
	if err := errors.Join(l.Release(), l.Release()); err != nil {
		t.Error(err)
	}
	notLost(t, l)
	within(t, "the lead is taken over after its release", led, 5*time.Second)
}

func TestLeadIsKept(t *testing.T) {
	t.Parallel()
	s := open(t, schema(t))
	s.Hasten(10)
	l, err := s.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	// Longer than the server bears silence: the signs of life keep it.
	select {
	case <-l.Lost():
		t.Error("lost, with nothing wrong")
	case <-time.After(2500 * time.Millisecond):
	}
}

func TestLeadLost(t *testing.T) {
	t.Parallel()
	cfg := schema(t)
	s := open(t, cfg.Copy())
	s.Hasten(4)
	l, err := s.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	led := stand(t, cfg.Copy(), 4)
	sql(t, `SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND a.application_name = 'riftchime lead' AND (l.classid::bigint << 32 | l.objid::bigint) = $1`, postgres.LeadKey(cfg.ConnConfig.RuntimeParams["search_path"]))
	within(t, "the leader knows that it is not", l.Lost(), 5*time.Second)
	within(t, "another one leads", led, 5*time.Second)
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}

// The network between leader and server falls silent. The leader knows before
// another one can lead, and another one leads in time.
func TestLeadPartitioned(t *testing.T) {
	t.Parallel()
	const hasten = 4
	cfg := schema(t)
	proxied := cfg.Copy()
	p := newProxy(t, net.JoinHostPort(cfg.ConnConfig.Host, strconv.Itoa(int(cfg.ConnConfig.Port))))
	host, port, err := net.SplitHostPort(p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	proxied.ConnConfig.Host, proxied.ConnConfig.Port, proxied.ConnConfig.Fallbacks = host, uint16(n), nil
	s := open(t, proxied)
	s.Hasten(hasten)
	l, err := s.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	led := stand(t, cfg.Copy(), hasten)
	p.freeze()
	start := time.Now()
	knew := within(t, "the leader knows that it may not be", l.Lost(), 10*time.Second)
	select {
	case <-led:
		t.Errorf("another one led before the leader knew, %v after the partition", knew)
	default:
	}
	within(t, "another one leads", led, 20*time.Second)
	if took := time.Since(start); took > 15*time.Second/hasten+time.Second {
		t.Errorf("taken over after %v, want %v", took, 15*time.Second/hasten)
	}
	p.close()
}

// proxy passes bytes on until it is frozen: then it takes them and says
// nothing, as a network does that lost its way.
type proxy struct {
	net.Listener
	to     string
	frozen chan struct{}
	once   sync.Once
	wg     sync.WaitGroup

	// mu guards conns.
	mu    sync.Mutex
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, to: to, frozen: make(chan struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) freeze() { close(p.frozen) }

func (p *proxy) close() {
	p.once.Do(func() {
		_ = p.Listener.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.wg.Wait()
	})
}

func (p *proxy) accept() {
	for {
		in, err := p.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, in, out)
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(in, out) })
		p.wg.Go(func() { p.pass(out, in) })
	}
}

func (p *proxy) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		select {
		case <-p.frozen:
			// Swallow what comes, and keep the other side open.
			if err == nil {
				_, _ = io.Copy(io.Discard, from)
			}
			return
		default:
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}
