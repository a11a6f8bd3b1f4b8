package discordtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
)

// errReset is what a client sees of a connection that was broken.
var errReset = &resetError{}

type resetError struct{}

// Error implements error.
func (*resetError) Error() string { return "discordtest: read: " + syscall.ECONNRESET.Error() }

// Unwrap makes errors.Is find what a socket would have given.
func (*resetError) Unwrap() error { return syscall.ECONNRESET }

// Transport returns a [http.RoundTripper] that answers in process whatever the
// request's host is, without a socket, so that it works in virtual time. A
// request whose context ends returns at once, while what it asked for still
// happens. Only REST and control are reached by it; a gateway needs a socket.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ s *Server }

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	type result struct {
		a   answer
		end fate
	}
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	out := make(chan result, 1)
	go func() {
		if r.Body != nil {
			defer func() { _ = r.Body.Close() }()
		}
		if strings.HasPrefix(r.URL.Path, "/_sim/") {
			if r.Body == nil {
				r = r.Clone(ctx)
				r.Body = http.NoBody
			}
			w := &memoryWriter{header: http.Header{}, status: http.StatusOK}
			t.s.serveControl(w, r)
			out <- result{answer{status: w.status, header: w.header, body: w.body.Bytes()}, delivered}
			return
		}
		a, end := t.s.serveREST(r)
		if end == held {
			select {
			case <-ctx.Done():
			case <-t.s.done:
			}
		}
		out <- result{a, end}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case res := <-out:
		switch res.end {
		case broken:
			return nil, errReset
		case held:
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, errReset
		}
		return &http.Response{
			Status:     fmt.Sprintf("%d %s", res.a.status, http.StatusText(res.a.status)),
			StatusCode: res.a.status,
			Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header:        res.a.header.Clone(),
			Body:          io.NopCloser(bytes.NewReader(res.a.body)),
			ContentLength: int64(len(res.a.body)),
			Request:       r,
		}, nil
	}
}

// memoryWriter is a ResponseWriter for control in process.
type memoryWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *memoryWriter) Header() http.Header         { return w.header }
func (w *memoryWriter) WriteHeader(status int)      { w.status = status }
func (w *memoryWriter) Write(p []byte) (int, error) { return w.body.Write(p) }
