package discordtest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// session is what a client identified for; it outlives connections.
type session struct {
	id      string
	shard   [2]int
	intents int
	seq     int
	events  []event // to be replayed
	trimmed int     // the newest seq that is not among events any more
	conn    *conn   // nil while there is none
	lost    time.Time
}

// confirm forgets the events up to the sequence of a heartbeat, which the
// client has received.
func (x *session) confirm(d json.RawMessage) {
	var seq int
	if x == nil || json.Unmarshal(d, &seq) != nil {
		return
	}
	for len(x.events) > 0 && x.events[0].seq <= seq {
		x.trim()
	}
}

func (x *session) trim() {
	x.trimmed = x.events[0].seq
	x.events = x.events[1:]
}

type event struct {
	seq     int
	payload []byte
}

// sees reports whether the session's shard is the guild's; direct messages
// belong to shard 0.
// https://discord.com/developers/docs/events/gateway#sharding
func (x *session) sees(guildID string) bool {
	if guildID == "" {
		return x.shard[0] == 0
	}
	id, _ := strconv.ParseUint(guildID, 10, 64)
	return int((id>>22)%uint64(x.shard[1])) == x.shard[0]
}

// dropSession ends a session, if any: it cannot be resumed.
func (s *Server) dropSession(x *session) {
	if x == nil || s.sessions[x.id] != x {
		return
	}
	delete(s.sessions, x.id)
	s.sessionsChanged()
}

func (s *Server) sessionsChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// emit sends an event to a session, or keeps it for its resume.
func (s *Server) emit(x *session, name string, d any) {
	x.seq++
	raw, err := json.Marshal(map[string]any{"op": opDispatch, "t": name, "s": x.seq, "d": d})
	if err != nil {
		panic("discordtest: " + err.Error()) // only values of our own
	}
	if len(x.events) >= keepEvents {
		x.trim()
	}
	x.events = append(x.events, event{x.seq, raw})
	if x.conn != nil {
		x.conn.sendRaw(raw)
	}
}

// dispatch sends an event to the sessions of a guild's shard that have one of
// intents (0: all), and to the OnEvent functions. It reports whether anybody
// was there. The caller holds mu.
func (s *Server) dispatch(guildID string, intents int, name string, d any) bool {
	sent := false
	now := time.Now()
	for _, x := range s.sessions {
		if x.conn == nil && now.Sub(x.lost) > keepSession {
			s.dropSession(x)
			continue
		}
		if x.sees(guildID) && (intents == 0 || x.intents&intents != 0) {
			s.emit(x, name, d)
			sent = true
		}
	}
	if len(s.onEvent) == 0 {
		return sent
	}
	raw, err := json.Marshal(d)
	if err != nil {
		panic("discordtest: " + err.Error())
	}
	s.observe(observed{name, raw})
	return true
}

// observed is an event on its way to the OnEvent functions.
type observed struct {
	name string
	data []byte
}

// observe queues e for the OnEvent functions and sees that somebody empties the
// queue. The caller holds mu.
func (s *Server) observe(e observed) {
	s.seen = append(s.seen, e)
	if s.observing || s.closed {
		return
	}
	s.observing = true
	s.running.Go(func() {
		for {
			s.mu.Lock()
			if len(s.seen) == 0 || s.closed {
				s.observing = false
				s.mu.Unlock()
				return
			}
			next, hooks := s.seen[0], s.onEvent
			s.seen = s.seen[1:]
			s.mu.Unlock()
			for _, f := range hooks {
				f(next.name, next.data)
			}
		}
	})
}

// Session is a gateway session as it is now.
type Session struct {
	ID        string `json:"id"`
	Shard     [2]int `json:"shard"`
	Intents   int    `json:"intents"`
	Sequence  int    `json:"sequence"`
	Connected bool   `json:"connected"`
}

// Sessions returns the sessions that are connected or could be resumed.
func (s *Server) Sessions() []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list()
}

// list returns the sessions; the caller holds mu.
func (s *Server) list() []Session {
	out := []Session{}
	for _, x := range s.sessions {
		out = append(out, Session{x.id, x.shard, x.intents, x.seq, x.conn != nil})
	}
	return out
}

// WaitSessions waits until cond holds of the gateway's sessions, sorted by
// shard. It returns ctx's error if that ends first.
func (s *Server) WaitSessions(ctx context.Context, cond func([]Session) bool) error {
	for {
		s.mu.Lock()
		now, changed := s.list(), s.changed
		s.mu.Unlock()
		slices.SortFunc(now, func(a, b Session) int {
			return cmp.Or(cmp.Compare(a.Shard[0], b.Shard[0]), cmp.Compare(a.ID, b.ID))
		})
		if cond(now) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done:
			return ErrClosed
		}
	}
}

// WaitConnected waits until n sessions are connected.
func (s *Server) WaitConnected(ctx context.Context, n int) error {
	return s.WaitSessions(ctx, func(all []Session) bool {
		connected := 0
		for _, x := range all {
			if x.Connected {
				connected++
			}
		}
		return connected >= n
	})
}
