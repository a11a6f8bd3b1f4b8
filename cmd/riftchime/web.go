package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"riftchime/bot"
)

// web serves /healthz (the process lives), /readyz (it serves, or says why not)
// and /metrics.
type web struct {
	metrics *metrics
	bot     atomic.Pointer[bot.Bot]
}

func newWeb(m *metrics) *web { return &web{metrics: m} }

// leads says that this process leads, with b.
func (w *web) leads(b *bot.Bot) { w.bot.Store(b) }

func (w *web) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		b := w.bot.Load()
		if b == nil {
			http.Error(rw, "standing by: another process leads, or the start is not over", http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
		defer cancel()
		if err := b.Ready(ctx); err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ready")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(w.metrics.registry, promhttp.HandlerOpts{}))
	return mux
}

// serve answers on l until ctx ends.
func (w *web) serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: w.handler(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 15 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if s.Shutdown(grace) != nil {
			s.Close()
		}
	})
	defer stop()
	if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}
