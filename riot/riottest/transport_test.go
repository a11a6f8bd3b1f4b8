package riottest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/riot/riottest"
)

// Each of these runs in a bubble, where a goroutine that is left over at the end
// fails the test.

func TestTransportCarries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Host != "kr.test" || r.RequestURI != "/a%2Fb?c=d" || r.Method != http.MethodPost || string(body) != "hello" {
				t.Errorf("%s %s %s %q %v", r.Method, r.Host, r.RequestURI, body, err)
			}
			w.Header().Set("X-A", "1")
			w.WriteHeader(http.StatusTeapot)
			w.Header().Set("X-B", "too late")
			time.Sleep(time.Second)
			_, _ = w.Write([]byte("one "))
			time.Sleep(time.Second)
			_, _ = w.Write([]byte("two"))
		})
		begin := time.Now()
		sent := &closing{Reader: strings.NewReader("hello")}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://kr.test/a%2Fb?c=d", sent)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := riottest.InProcess(h).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 0 || resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-A") != "1" || resp.Header.Get("X-B") != "" {
			t.Errorf("after %s: %v %v", took, resp.Status, resp.Header)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "one two" || time.Since(begin) != 2*time.Second {
			t.Errorf("%q %v after %s", body, err, time.Since(begin))
		}
		resp.Body.Close()
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body can be read")
		}
		synctest.Wait()
		if !sent.closed.Load() {
			t.Error("the request's body was not closed")
		}
	})
}

type closing struct {
	io.Reader
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return nil
}

func TestTransportEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/body" {
				_, _ = w.Write([]byte("half"))
			}
			<-r.Context().Done()
		})
		ask := func(ctx context.Context, path string) (*http.Response, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://kr.test"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			return riottest.InProcess(hang).RoundTrip(req)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := ask(ctx, "/"); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if _, err := ask(ctx, "/"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that has ended: %v", err)
		}
		// Closing the body ends the handler.
		resp, err := ask(t.Context(), "/body")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		resp.Body.Close()
		synctest.Wait()
		// So does the context, and it ends a Read.
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if resp, err = ask(ctx, "/body"); err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != "half" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%q, %v", body, err)
		}
		resp.Body.Close()
		// A Client's own time-out holds for the body too.
		client := http.Client{Transport: riottest.InProcess(hang), Timeout: 3 * time.Second}
		if resp, err = client.Get("https://kr.test/body"); err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		if _, err := io.ReadAll(resp.Body); err == nil || time.Since(begin) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		resp.Body.Close()
	})
}

func TestTransportLatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var counted []time.Duration
		s := riottest.NewServer(riottest.Options{
			Latency: func(riottest.Call) (before, after time.Duration) { return 40 * time.Millisecond, 60 * time.Millisecond },
			Observe: func(c riottest.Call) {
				if !c.Counted.IsZero() {
					counted = append(counted, c.Counted.Sub(begin))
				}
			},
		})
		if a := (caller{s, key}).get(t, "kr", statusPath); a.status != 200 || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("%d after %s", a.status, time.Since(begin))
		}
		// Given up before it arrives, a call is not counted; after, it is.
		for _, timeout := range []time.Duration{30 * time.Millisecond, 50 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			if _, err := (caller{s, key}).try(ctx, "kr", statusPath); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
			synctest.Wait()
		}
		if len(counted) != 2 || counted[0] != 40*time.Millisecond || counted[1] != 170*time.Millisecond {
			t.Errorf("counted at %v", counted)
		}
		if st := s.Stats(); st.Requests != 3 || st.ByStatus[0] != 2 || st.Now != 0 || st.Windows[0].Highest != 2 {
			t.Errorf("stats: %+v", st)
		}
	})
}
