package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// controlMux is everything under /_sim/. It is not Discord's: neither counted
// nor limited, and it asks for no token.
func (s *Server) controlMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_sim/guilds", s.controlGuilds)
	mux.HandleFunc("DELETE /_sim/guilds/{id}", s.controlGuild((*Server).RemoveGuild))
	mux.HandleFunc("POST /_sim/guilds/{id}/outage", s.controlGuild((*Server).Outage))
	mux.HandleFunc("POST /_sim/guilds/{id}/restore", s.controlGuild((*Server).Restore))
	mux.HandleFunc("PUT /_sim/guilds/{id}/channels", s.controlChannel)
	mux.HandleFunc("DELETE /_sim/channels/{id}", s.controlGuild((*Server).RemoveChannel))
	mux.HandleFunc("POST /_sim/interactions", s.controlInteract)
	mux.HandleFunc("GET /_sim/messages", s.controlMessages)
	mux.HandleFunc("GET /_sim/commands", func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, listed(s.Commands(r.URL.Query().Get("guild"))))
	})
	mux.HandleFunc("GET /_sim/sessions", s.controlSessions)
	mux.HandleFunc("GET /_sim/stats", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, s.Stats())
	})
	mux.HandleFunc("POST /_sim/faults", s.controlFault)
	mux.HandleFunc("POST /_sim/gateway", s.controlGateway)
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) { s.control.ServeHTTP(w, r) }

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func complain(w http.ResponseWriter, status int, err error) {
	reply(w, status, map[string]string{"error": strings.TrimPrefix(err.Error(), "discordtest: ")})
}

// listed makes an empty array of nil.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// decodeControl reads the body, in which unknown fields are refused.
func decodeControl(w http.ResponseWriter, r *http.Request, dst any) bool {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.DisallowUnknownFields()
		err = dec.Decode(dst)
	}
	if err != nil {
		complain(w, http.StatusBadRequest, err)
		return false
	}
	return true
}

// span is a duration as text, such as "1.5s".
type span time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *span) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("a duration is text, such as \"1.5s\", not %s", raw)
	}
	v, err := time.ParseDuration(text)
	*d = span(v)
	return err
}

// controlGuilds takes one guild or an array.
func (s *Server) controlGuilds(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if !decodeControl(w, r, &raw) {
		return
	}
	var list []Guild
	if err := json.Unmarshal(raw, &list); err != nil {
		var one Guild
		if err := json.Unmarshal(raw, &one); err != nil {
			complain(w, http.StatusBadRequest, err)
			return
		}
		list = []Guild{one}
	}
	for _, g := range list {
		if err := s.addGuild(g); err != nil {
			complain(w, http.StatusBadRequest, err)
			return
		}
	}
	reply(w, http.StatusOK, map[string]int{"guilds": len(s.Guilds())})
}

func (s *Server) controlGuild(do func(*Server, string) bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !do(s, r.PathValue("id")) {
			complain(w, http.StatusNotFound, fmt.Errorf("nothing to do for %q", r.PathValue("id")))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *Server) controlChannel(w http.ResponseWriter, r *http.Request) {
	var ch Channel
	if !decodeControl(w, r, &ch) {
		return
	}
	s.mu.Lock()
	err := s.setChannel(r.PathValue("id"), ch)
	s.mu.Unlock()
	if err != nil {
		complain(w, http.StatusBadRequest, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// controlAnswer is what POST /_sim/interactions returns.
type controlAnswer struct {
	ID        string          `json:"id,omitempty"`
	Ack       AnswerType      `json:"ack"`
	AckMS     float64         `json:"ack_ms"`
	Ephemeral bool            `json:"ephemeral"`
	Message   *Message        `json:"message,omitempty"`
	Choices   []Choice        `json:"choices,omitempty"`
	Modal     json.RawMessage `json:"modal,omitempty"`
	Answers   []Answer        `json:"answers"`
	Error     string          `json:"error,omitempty"`
}

func (s *Server) controlInteract(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Interaction
		Wait span `json:"wait"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	if in.Wait <= 0 {
		in.Wait = span(time.Minute)
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(in.Wait))
	defer cancel()
	res, err := s.Interact(ctx, in.Interaction)
	if res == nil {
		status := http.StatusBadRequest
		switch {
		case errors.Is(err, ErrNoSession):
			status = http.StatusConflict
		case errors.Is(err, ErrNotAllowed):
			status = http.StatusForbidden
		}
		complain(w, status, err)
		return
	}
	var out controlAnswer
	if err == nil {
		var m Message
		if m, err = res.Final(ctx); err == nil {
			out.Message = &m
		} else if errors.Is(err, ErrNoMessage) {
			err = nil
		}
	}
	ack, after := res.Acked()
	out.ID, out.Ack, out.AckMS = res.ID(), ack, float64(after.Microseconds())/1000
	out.Ephemeral, out.Choices, out.Modal, out.Answers = res.Ephemeral(), res.Choices(), res.Modal(), listed(res.Answers())
	status := http.StatusOK
	if err != nil {
		status, out.Error = http.StatusGatewayTimeout, strings.TrimPrefix(err.Error(), "discordtest: ")
	}
	reply(w, status, out)
}

func (s *Server) controlMessages(w http.ResponseWriter, r *http.Request) {
	channel := r.URL.Query().Get("channel")
	if r.URL.Query().Get("all") == "true" {
		reply(w, http.StatusOK, listed(s.History(channel)))
		return
	}
	reply(w, http.StatusOK, listed(s.Messages(channel)))
}

// controlSessions waits, with ?connected=1&wait=10s, until so many are connected.
func (s *Server) controlSessions(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if n := q.Get("connected"); n != "" {
		var want int
		if _, err := fmt.Sscanf(n, "%d", &want); err != nil {
			complain(w, http.StatusBadRequest, fmt.Errorf("connected=%q is not a number", n))
			return
		}
		wait := 10 * time.Second
		if text := q.Get("wait"); text != "" {
			var err error
			if wait, err = time.ParseDuration(text); err != nil {
				complain(w, http.StatusBadRequest, err)
				return
			}
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		if err := s.WaitConnected(ctx, want); err != nil {
			complain(w, http.StatusGatewayTimeout, err)
			return
		}
	}
	reply(w, http.StatusOK, s.Sessions())
}

func (s *Server) controlFault(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Kind       FaultKind `json:"kind"`
		Route      Route     `json:"route"`
		Channel    string    `json:"channel"`
		Skip       int       `json:"skip"`
		Count      int       `json:"count"`
		For        span      `json:"for"`
		Status     int       `json:"status"`
		Code       int       `json:"code"`
		Message    string    `json:"message"`
		RetryAfter span      `json:"retry_after"`
		Delay      span      `json:"delay"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	f := Fault{
		Kind: in.Kind, Route: in.Route, Channel: in.Channel, Skip: in.Skip, Count: in.Count,
		Status: in.Status, Code: in.Code, Message: in.Message,
		RetryAfter: time.Duration(in.RetryAfter), Delay: time.Duration(in.Delay),
	}
	if in.For > 0 {
		f.Until = time.Now().Add(time.Duration(in.For))
	}
	if err := f.Validate(); err != nil {
		complain(w, http.StatusBadRequest, err)
		return
	}
	s.Fail(f)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) controlGateway(w http.ResponseWriter, r *http.Request) {
	var in struct {
		At        GatewayStage  `json:"at"`
		Do        GatewayAction `json:"do"`
		Resumable bool          `json:"resumable"`
		Code      int           `json:"code"`
		Reason    string        `json:"reason"`
		Count     int           `json:"count"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	f := GatewayFault(in)
	if err := f.Validate(); err != nil {
		complain(w, http.StatusBadRequest, err)
		return
	}
	s.FailGateway(f)
	w.WriteHeader(http.StatusNoContent)
}
