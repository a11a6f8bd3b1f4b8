package ratelimit_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"riftchime/ratelimit"
)

const roomyCount = 1 << 30

// roomy are limits that no benchmark reaches.
var roomy = ratelimit.Answer{
	AppLimits:    []ratelimit.Limit{per(roomyCount, 10*time.Second), per(roomyCount, 10*time.Minute)},
	AppCounts:    []ratelimit.Usage{{Count: 1, Window: 10 * time.Second}, {Count: 1, Window: 10 * time.Minute}},
	MethodLimits: []ratelimit.Limit{per(roomyCount, time.Second)},
	MethodCounts: []ratelimit.Usage{{Count: 1, Window: time.Second}},
}

// crowded is the same, with the method's window full for all but people.
var crowded = ratelimit.Answer{
	AppLimits: roomy.AppLimits, AppCounts: roomy.AppCounts,
	MethodLimits: []ratelimit.Limit{per(roomyCount, time.Hour)},
	MethodCounts: []ratelimit.Usage{{Count: roomyCount / 100 * 96, Window: time.Hour}},
}

func acquire(tb testing.TB, l *ratelimit.Limiter, r ratelimit.Request) *ratelimit.Permit {
	tb.Helper()
	p, err := l.Acquire(tb.Context(), r)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkAcquireDone is a permit that nothing stands in the way of.
func BenchmarkAcquireDone(b *testing.B) {
	l := ratelimit.New(ratelimit.Options{})
	r := ratelimit.Request{Key: key, Host: "kr", Method: "match", Priority: ratelimit.Background}
	benchmarkPermits(b, l, r, roomy)
}

// BenchmarkThousandWaiting is a permit while a thousand requests wait: for
// another method of the host, or for the same one, where a person goes ahead.
func BenchmarkThousandWaiting(b *testing.B) {
	for _, bb := range []struct {
		name string
		r    ratelimit.Request
		a    ratelimit.Answer
	}{
		{"another", ratelimit.Request{Key: key, Host: "kr", Method: "match", Priority: ratelimit.Background}, roomy},
		{"same", ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: ratelimit.Person}, crowded},
	} {
		b.Run(bb.name, func(b *testing.B) {
			l := ratelimit.New(ratelimit.Options{})
			defer queueUp(b, l, 1000)()
			benchmarkPermits(b, l, bb.r, bb.a)
		})
	}
}

func benchmarkPermits(b *testing.B, l *ratelimit.Limiter, r ratelimit.Request, a ratelimit.Answer) {
	acquire(b, l, r).Done(a)
	b.ReportAllocs()
	for b.Loop() {
		p, err := l.Acquire(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		p.Done(a)
	}
}

// BenchmarkTurn is a whole turn through a queue of a thousand: one joins at the
// end, the first leaves, and its goroutine is woken.
func BenchmarkTurn(b *testing.B) {
	for _, deadline := range []time.Duration{0, time.Hour} {
		b.Run("deadline "+deadline.String(), func(b *testing.B) {
			l := ratelimit.New(ratelimit.Options{InFlight: 1})
			r := ratelimit.Request{Key: key, Host: "kr", Method: "match", Priority: ratelimit.Background}
			if deadline > 0 {
				r.Deadline = time.Now().Add(deadline)
			}
			holder := acquire(b, l, r)
			turns := make(chan struct{}, b.N)
			for range b.N {
				turns <- struct{}{}
			}
			close(turns)
			var wg sync.WaitGroup
			for range 1000 {
				wg.Go(func() {
					for range turns {
						p, err := l.Acquire(b.Context(), r)
						if err != nil {
							b.Error(err)
							return
						}
						p.Done(roomy)
					}
				})
			}
			for waiting(l, "match") < min(1000, b.N) {
				runtime.Gosched()
			}
			b.ReportAllocs()
			b.ResetTimer()
			holder.Done(roomy)
			wg.Wait()
		})
	}
}

// TestAllocations holds a permit to its one allocation.
func TestAllocations(t *testing.T) {
	l := ratelimit.New(ratelimit.Options{})
	r := ratelimit.Request{Key: key, Host: "kr", Method: "match", Priority: ratelimit.Background}
	acquire(t, l, r).Done(roomy)
	ctx := t.Context()
	got := testing.AllocsPerRun(1000, func() {
		p, err := l.Acquire(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		p.Done(roomy)
	})
	// The ring of answers grows now and then, far less than once a permit.
	if got > 1 {
		t.Errorf("%v allocations a permit, want 1", got)
	}
}

// TestMemoryOfAWaiter measures what one more waiter costs beside its goroutine.
func TestMemoryOfAWaiter(t *testing.T) {
	const n = 4000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	// The goroutines are made before, so that they don't count.
	l := ratelimit.New(ratelimit.Options{InFlight: 1})
	r := ratelimit.Request{Key: key, Host: "kr", Method: "match", Deadline: time.Now().Add(time.Hour)}
	holder := acquire(t, l, r)
	ctx, cancel := context.WithCancel(t.Context())
	ready, start := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			ready <- struct{}{}
			<-start
			l.Acquire(ctx, r)
		})
	}
	for range n {
		<-ready
	}
	before := heap()
	close(start)
	for waiting(l, "match") < n {
		runtime.Gosched()
	}
	after := heap()
	cancel()
	wg.Wait()
	holder.Done(roomy)
	if got := (int64(after) - int64(before)) / n; got >= 500 {
		t.Errorf("%d bytes a waiter, want less than 500", got)
	} else {
		t.Logf("%d bytes a waiter", got)
	}
}

// queueUp fills a method for all but people, and has n requests wait for it. The
// returned function sends them home.
func queueUp(tb testing.TB, l *ratelimit.Limiter, n int) (stop func()) {
	tb.Helper()
	r := ratelimit.Request{Key: key, Host: "kr", Method: "league", Priority: ratelimit.Background}
	acquire(tb, l, r).Done(crowded)
	ctx, cancel := context.WithCancel(tb.Context())
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := l.Acquire(ctx, r); err == nil {
				tb.Error("a permit was granted, want none")
			}
		})
	}
	for waiting(l, "league") < n {
		runtime.Gosched()
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// waiting returns how many requests wait for a method.
func waiting(l *ratelimit.Limiter, method string) int {
	for _, b := range l.Snapshot() {
		if b.Method == method {
			return b.Waiting
		}
	}
	return 0
}
