package main

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"riftchime/bot/discord"
	"riftchime/bot/hour"
	"riftchime/ratelimit"
	"riftchime/riot"
	"riftchime/store"
)

// metrics turns what the parts observe into Prometheus metrics.
type metrics struct {
	registry *prometheus.Registry

	riotRequests  *prometheus.CounterVec   // key, route, method, cause
	riotSeconds   *prometheus.HistogramVec // method
	riotGranted   *prometheus.CounterVec   // key, host, method, priority
	riotRefusals  *prometheus.CounterVec   // key, host, method, type
	riotWait      *prometheus.HistogramVec // priority
	riotThrottled *prometheus.GaugeVec     // key, host, method
	discordReqs   *prometheus.CounterVec   // route, status
	discordSecs   *prometheus.HistogramVec // route
	discord429    *prometheus.CounterVec   // route, scope
	gateway       *prometheus.CounterVec   // event
	lateness      prometheus.Histogram
	skipped       *prometheus.CounterVec // reason
	edits         prometheus.Counter
	dataAge       prometheus.Histogram
}

func newMetrics() *metrics {
	const ns = "riftchime"
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: ns, Name: name, Help: help}, labels)
	}
	seconds := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: ns, Name: name, Help: help, Buckets: buckets}, labels)
	}
	quick := []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	long := []float64{.01, .1, .5, 1, 5, 15, 60, 300, 900, 3600}
	m := &metrics{
		registry:     prometheus.NewRegistry(),
		riotRequests: counter("riot_requests_total", "Requests that Riot got, by what became of them (cause empty: answered).", "key", "route", "method", "cause"),
		riotSeconds:  seconds("riot_request_seconds", "Time from a request's leaving to the end of its answer.", quick, "method"),
		riotGranted:  counter("riot_permits_total", "Requests let through by the limiter.", "key", "host", "method", "priority"),
		riotRefusals: counter("riot_refusals_total", "Answers 429, by whose limit it was.", "key", "host", "method", "type"),
		riotWait:     seconds("riot_wait_seconds", "Time that requests waited for their permit.", long, "priority"),
		riotThrottled: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: ns, Name: "riot_throttled", Help: "1 while requests leave one by one.",
		}, []string{"key", "host", "method"}),
		discordReqs: counter("discord_requests_total", "Requests to Discord (status 0: no answer).", "route", "status"),
		discordSecs: seconds("discord_request_seconds", "Time of requests to Discord.", quick, "route"),
		discord429:  counter("discord_refusals_total", "Answers 429 of Discord.", "route", "scope"),
		gateway:     counter("gateway_events_total", "What happened to the connection with Discord.", "event"),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Name: "report_lateness_seconds", Help: "How long after its slot each message arrived.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2, 5, 10, 30, 60, 300, 900},
		}),
		skipped: counter("reports_skipped_total", "Reports that were not sent, by reason.", "reason"),
		edits:   prometheus.NewCounter(prometheus.CounterOpts{Namespace: ns, Name: "report_edits_total", Help: "Edits that brought late news."}),
		dataAge: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: ns, Name: "data_age_seconds", Help: "How old a player's data was on the hour.",
			Buckets: []float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600},
		}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.riotRequests, m.riotSeconds, m.riotGranted, m.riotRefusals, m.riotWait, m.riotThrottled,
		m.discordReqs, m.discordSecs, m.discord429, m.gateway, m.lateness, m.skipped, m.edits, m.dataAge,
	)
	return m
}

// riot takes one request that was sent.
func (m *metrics) riot(r riot.Sent) {
	m.riotRequests.WithLabelValues(string(r.Key), r.Route, r.Method, r.Cause).Inc()
	m.riotSeconds.WithLabelValues(r.Method).Observe(r.Took.Seconds())
}

// Request implements discord.Observer.
func (m *metrics) Request(route string, status int, took time.Duration) {
	m.discordReqs.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.discordSecs.WithLabelValues(route).Observe(took.Seconds())
}

// Limited implements discord.Observer.
func (m *metrics) Limited(route string, scope discord.Scope) {
	m.discord429.WithLabelValues(route, string(scope)).Inc()
}

// Gateway implements discord.Observer.
func (m *metrics) Gateway(_ int, event string) { m.gateway.WithLabelValues(event).Inc() }

// Granted implements ratelimit.Observer.
func (m *metrics) Granted(key, host, method string, p ratelimit.Priority, wait time.Duration) {
	m.riotGranted.WithLabelValues(key, host, method, p.String()).Inc()
	m.riotWait.WithLabelValues(p.String()).Observe(wait.Seconds())
}

// Refused implements ratelimit.Observer.
func (m *metrics) Refused(key, host, method string, r ratelimit.Refusal, _ time.Duration) {
	m.riotRefusals.WithLabelValues(key, host, method, r.String()).Inc()
}

// ModeChanged implements ratelimit.Observer.
func (m *metrics) ModeChanged(key, host, method string, mode ratelimit.Mode) {
	v := 0.0
	if mode == ratelimit.Throttle {
		v = 1
	}
	m.riotThrottled.WithLabelValues(key, host, method).Set(v)
}

// hooks counts what the hour does, before it tells others.
func (m *metrics) hooks(next hour.Hooks) hour.Hooks {
	h := next
	h.Sent = func(p store.Part, late time.Duration) {
		m.lateness.Observe(late.Seconds())
		if next.Sent != nil {
			next.Sent(p, late)
		}
	}
	h.Edited = func(channel store.ChannelID, slot time.Time, body []byte) {
		m.edits.Inc()
		if next.Edited != nil {
			next.Edited(channel, slot, body)
		}
	}
	h.Skipped = func(channel store.ChannelID, slot time.Time, reason string) {
		m.skipped.WithLabelValues(reason).Inc()
		if next.Skipped != nil {
			next.Skipped(channel, slot, reason)
		}
	}
	h.DataAge = func(slot time.Time, age time.Duration) {
		m.dataAge.Observe(age.Seconds())
		if next.DataAge != nil {
			next.DataAge(slot, age)
		}
	}
	return h
}
