package riottest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Transport carries requests to s in process: no socket, so it works in a bubble
// of testing/synctest. Hosts are as on the net: kr.api.riotgames.com,
// ddragon.leagueoflegends.com. It is InProcess(s).
func (s *Server) Transport() http.RoundTripper { return InProcess(s) }

// InProcess is a transport that calls h. Each request is served by a goroutine of
// its own, begun by RoundTrip, which ends when h returns. h's context ends with
// the request's, and when the body of the answer is closed. An h that panics with
// http.ErrAbortHandler cuts the connection, before the answer or in its body; any
// other panic is nobody's to recover.
//
// As with a net/http server, h must return soon after its context ends.
func InProcess(h http.Handler) http.RoundTripper { return inProcess{h} }

type inProcess struct{ handler http.Handler }

// errCut is what a client sees of a connection that is closed before an answer.
var errCut = fmt.Errorf("connection cut: %w", io.ErrUnexpectedEOF)

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL == nil || req.URL.Host == "" {
		closeBody(req)
		return nil, errors.New("riottest: a request without a host")
	}
	parent := req.Context()
	if err := parent.Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, cancel := context.WithCancel(parent)
	in := req.Clone(ctx)
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	in.RequestURI = in.URL.RequestURI()
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	in.RemoteAddr = "in-process"
	if in.Body == nil {
		in.Body = http.NoBody
	}

	a := &answer{header: make(http.Header), begun: make(chan struct{}), more: make(chan struct{}, 1)}
	go func() {
		defer closeBody(in)
		a.serve(t.handler, in)
	}()
	select {
	case <-a.begun:
	case <-parent.Done():
		cancel()
		return nil, parent.Err()
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		cancel()
		return nil, errCut
	}
	resp := &http.Response{
		Status:        strconv.Itoa(a.status) + " " + http.StatusText(a.status),
		StatusCode:    a.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        a.sent,
		Body:          &answerBody{answer: a, ctx: ctx, cancel: cancel, shut: make(chan struct{})},
		ContentLength: -1,
		Request:       req,
	}
	if n, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64); err == nil {
		resp.ContentLength = n
	}
	return resp, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// answer is an http.ResponseWriter from which the answer is read while it is
// written. Writing never waits.
type answer struct {
	header http.Header
	// begun is closed when the status is known, or when there will be none.
	begun chan struct{}
	// more holds a token when there may be something new to read.
	more chan struct{}

	mu     sync.Mutex // guards what follows
	status int
	sent   http.Header
	buf    bytes.Buffer
	done   bool
	err    error
}

// serve runs h to its end.
func (a *answer) serve(h http.Handler, req *http.Request) {
	defer func() {
		p := recover()
		a.mu.Lock()
		switch {
		case p == nil:
			a.begin(http.StatusOK)
			a.err = io.EOF
		case isAbort(p):
			a.err = io.ErrUnexpectedEOF
		default:
			a.mu.Unlock()
			panic(p)
		}
		a.done = true
		if a.status == 0 {
			close(a.begun)
		}
		a.mu.Unlock()
		a.tell()
	}()
	h.ServeHTTP(a, req)
}

// isAbort reports whether a handler panicked to have its connection cut.
func isAbort(p any) bool {
	err, ok := p.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// begin fixes status and header. The caller holds mu.
func (a *answer) begin(status int) {
	if a.status != 0 {
		return
	}
	a.status, a.sent = status, a.header.Clone()
	close(a.begun)
}

func (a *answer) tell() {
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	a.begin(http.StatusOK)
	n, err := a.buf.Write(p)
	a.mu.Unlock()
	a.tell()
	return n, err
}

// Flush implements http.Flusher: what is written can be read at once anyhow.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// answerBody is the reading end of an answer.
type answerBody struct {
	answer *answer
	ctx    context.Context
	cancel context.CancelFunc
	shut   chan struct{}
	once   sync.Once
}

// Read implements io.Reader. It waits for what is not written yet.
func (b *answerBody) Read(p []byte) (int, error) {
	for {
		select {
		case <-b.shut:
			return 0, http.ErrBodyReadAfterClose
		default:
		}
		a := b.answer
		a.mu.Lock()
		n, done, err := 0, a.done, a.err
		if a.buf.Len() > 0 {
			n, _ = a.buf.Read(p)
		}
		a.mu.Unlock()
		switch {
		case n > 0 || len(p) == 0:
			return n, nil
		case done:
			b.cancel()
			return 0, err
		}
		select {
		case <-a.more:
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		case <-b.shut:
		}
	}
}

// Close implements io.Closer. It ends the handler's context.
func (b *answerBody) Close() error {
	b.once.Do(func() { close(b.shut) })
	b.cancel()
	return nil
}
