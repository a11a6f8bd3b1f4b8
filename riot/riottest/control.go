package riottest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxControlBody bounds what the control reads.
const maxControlBody = 8 << 20

// controlHandler serves the paths under /_sim/ that the package's documentation
// lists.
func (s *Server) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_sim/players", controlled(s.postPlayers))
	mux.HandleFunc("PATCH /_sim/players/{id}", controlled(s.patchPlayer))
	mux.HandleFunc("POST /_sim/populate", controlled(s.postPopulate))
	mux.HandleFunc("POST /_sim/games", controlled(s.postGames))
	mux.HandleFunc("POST /_sim/faults", controlled(s.postFaults))
	mux.HandleFunc("DELETE /_sim/faults", controlled(func(*http.Request) (any, error) {
		s.ClearFaults()
		return struct{}{}, nil
	}))
	mux.HandleFunc("DELETE /_sim/faults/{id}", controlled(s.deleteFault))
	mux.HandleFunc("POST /_sim/limits", controlled(s.postLimits))
	mux.HandleFunc("POST /_sim/status/{platform}", controlled(s.postStatus))
	mux.HandleFunc("GET /_sim/stats", controlled(func(*http.Request) (any, error) { return s.Stats(), nil }))
	mux.HandleFunc("GET /_sim/world", controlled(s.getWorld))
	mux.HandleFunc("POST /_sim/reset", controlled(s.postReset))
	return mux
}

// controlled turns what a handler returns into JSON; an error is 400.
func controlled(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxControlBody)
		status := http.StatusOK
		out, err := f(r)
		if err != nil {
			status, out = http.StatusBadRequest, map[string]string{"error": err.Error()}
		}
		body, err := json.Marshal(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(append(body, '\n'))
	}
}

// decode reads JSON whose fields all mean something. An empty body is the zero
// value.
func decode(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// oneOrMany reads a value, or an array of them.
func oneOrMany[T any](r *http.Request) ([]T, error) {
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(raw))
	if !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}
	var all []T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return all, d.Decode(&all)
}

func (s *Server) postPlayers(r *http.Request) (any, error) {
	all, err := oneOrMany[Player](r)
	if err != nil {
		return nil, err
	}
	out := struct {
		Players []PlayerID `json:"players"`
	}{[]PlayerID{}}
	for i, p := range all {
		id, err := s.AddPlayer(p)
		if err != nil {
			return nil, fmt.Errorf("%d of %d added: %w", i, len(all), err)
		}
		out.Players = append(out.Players, id)
	}
	return out, nil
}

// patchPlayer renames, transfers or ranks a player, or freezes the list of games.
func (s *Server) patchPlayer(r *http.Request) (any, error) {
	n, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return nil, fmt.Errorf("player %q: %w", r.PathValue("id"), errNobody)
	}
	id := PlayerID(n)
	before, ok := s.Player(id)
	if !ok {
		return nil, fmt.Errorf("player %d: %w", id, errNobody)
	}
	var change struct {
		GameName    *string   `json:"gameName"`
		TagLine     *string   `json:"tagLine"`
		Platform    *string   `json:"platform"`
		FrozenUntil time.Time `json:"frozenUntil"`
		// A rank is changed where the field is there; null is unranked.
		Solo json.RawMessage `json:"solo"`
		Flex json.RawMessage `json:"flex"`
	}
	if err := decode(r, &change); err != nil {
		return nil, err
	}
	if change.GameName != nil || change.TagLine != nil {
		name, tag := before.GameName, before.TagLine
		if change.GameName != nil {
			name = *change.GameName
		}
		if change.TagLine != nil {
			tag = *change.TagLine
		}
		if err := s.Rename(id, name, tag); err != nil {
			return nil, err
		}
	}
	if change.Platform != nil {
		if err := s.Transfer(id, *change.Platform); err != nil {
			return nil, err
		}
	}
	if !change.FrozenUntil.IsZero() {
		if err := s.FreezeList(id, change.FrozenUntil); err != nil {
			return nil, err
		}
	}
	for queue, raw := range map[string]json.RawMessage{QueueSolo: change.Solo, QueueFlex: change.Flex} {
		if raw == nil {
			continue
		}
		var rank *Rank
		if err := json.Unmarshal(raw, &rank); err != nil {
			return nil, err
		}
		if err := s.SetRank(id, queue, rank); err != nil {
			return nil, err
		}
	}
	after, _ := s.Player(id)
	return after, nil
}

func (s *Server) postPopulate(r *http.Request) (any, error) {
	var in struct {
		Players int    `json:"players"`
		Seed    uint64 `json:"seed"`
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	if in.Players < 1 || in.Players > 100_000 {
		return nil, errors.New("players: 1 to 100000")
	}
	groups, err := s.Populate(in.Players, in.Seed)
	return struct {
		Groups []Group `json:"groups"`
	}{groups}, err
}

func (s *Server) postGames(r *http.Request) (any, error) {
	all, err := oneOrMany[Game](r)
	if err != nil {
		return nil, err
	}
	out := struct {
		Games []string `json:"games"`
	}{[]string{}}
	for i, g := range all {
		id, err := s.AddGame(g)
		if err != nil {
			return nil, fmt.Errorf("%d of %d added: %w", i, len(all), err)
		}
		out.Games = append(out.Games, id)
	}
	return out, nil
}

func (s *Server) postFaults(r *http.Request) (any, error) {
	all, err := oneOrMany[Fault](r)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if err := f.Check(); err != nil {
			return nil, err
		}
	}
	out := struct {
		Faults []FaultID `json:"faults"`
	}{[]FaultID{}}
	for _, f := range all {
		out.Faults = append(out.Faults, s.AddFault(f))
	}
	return out, nil
}

func (s *Server) deleteFault(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !s.RemoveFault(FaultID(id)) {
		return nil, fmt.Errorf("no such fault: %q", r.PathValue("id"))
	}
	return struct{}{}, nil
}

func (s *Server) postLimits(r *http.Request) (any, error) {
	var in struct {
		// Key is an API key; empty: all that have no limits of their own.
		Key string `json:"key"`
		Limits
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	s.SetLimits(in.Key, in.Limits)
	return in.Limits, nil
}

func (s *Server) postStatus(r *http.Request) (any, error) {
	var in struct {
		Maintenances []string `json:"maintenances"`
		Incidents    []string `json:"incidents"`
	}
	platform := r.PathValue("platform")
	if !isPlatform(platform) {
		return nil, fmt.Errorf("no such platform: %q", platform)
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	s.SetNotices(platform, in.Maintenances, in.Incidents)
	return in, nil
}

// getWorld tells who is there.
func (s *Server) getWorld(*http.Request) (any, error) {
	out := struct {
		Players []Known `json:"players"`
		Groups  []Group `json:"groups"`
		Games   int     `json:"games"`
	}{Players: s.Players(), Groups: []Group{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Games = len(s.world.games)
	for _, g := range s.world.groups {
		out.Groups = append(out.Groups, g.Group)
	}
	return out, nil
}

func (s *Server) postReset(r *http.Request) (any, error) {
	var in struct {
		Faults bool `json:"faults"`
	}
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	s.Reset()
	if in.Faults {
		s.ClearFaults()
	}
	return struct{}{}, nil
}
