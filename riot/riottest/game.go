package riottest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Game is a game that was or will be played. Whoever has no Seat is a stranger.
type Game struct {
	// ID is the match id; empty: made up. Its prefix is where it is kept.
	ID string `json:"id,omitempty"`
	// Platform is where it is played; empty: where the first seat's player plays.
	Platform string `json:"platform,omitempty"`
	// Queue is Riot's queue id. 1700 is Arena, 1810 to 1840 are Swarm, 830 to 890
	// are against bots, 2300 and 2400 are never given out by match-v5.
	Queue int `json:"queue"`
	// Mode and Map replace what the queue says.
	Mode string `json:"mode,omitempty"`
	Map  int    `json:"map,omitempty"`
	// End is when the game ends, now where it is zero, and may be to come: then
	// nothing is known of it before.
	End time.Time `json:"end,omitzero"`
	// Length is how long it took; 0: made up.
	Length Duration `json:"length,omitempty"`
	// Seats are the players who matter.
	Seats []Seat `json:"seats"`
	// Winner is 100 or 200. 0: what the seats say, else either.
	Winner int `json:"winner,omitempty"`

	// ListedAt is when lists show the game; zero: with its end.
	ListedAt time.Time `json:"listedAt,omitzero"`
	// ReadableAt is when its body is there; before, it is 404. Zero: with its end.
	ReadableAt time.Time `json:"readableAt,omitzero"`
	// RankedAt is when it counts for ranks; zero: with its end.
	RankedAt time.Time `json:"rankedAt,omitzero"`
	// ListedTwice: lists show the id twice.
	ListedTwice bool `json:"listedTwice,omitempty"`
	// Missing: the body is 404 for ever. Forbidden: it is 403 for ever.
	Missing   bool `json:"missing,omitempty"`
	Forbidden bool `json:"forbidden,omitempty"`

	// Remake: ended before it counted, the losing side having left.
	Remake bool `json:"remake,omitempty"`
	// Aborted: never played out. The body has an empty info.
	Aborted bool `json:"aborted,omitempty"`
	// FlaggedAborted: a full game that is said to be Abort_Unexpected.
	FlaggedAborted bool `json:"flaggedAborted,omitempty"`
	// Surrendered: the losing side gave up.
	Surrendered bool `json:"surrendered,omitempty"`
	// NoWinner: every win is false, every placement 0.
	NoWinner bool `json:"noWinner,omitempty"`
	// NoNames: the participants' Riot IDs are empty.
	NoNames bool `json:"noNames,omitempty"`
}

// Result is how a game ends for a seat.
type Result string

// The results. Empty is left to the rest of the game.
const (
	Win  Result = "win"
	Loss Result = "loss"
)

// Seat is a player's part in a game.
type Seat struct {
	// Player is who sits there; 0: RiotID, or a stranger where that is empty too.
	Player PlayerID `json:"player,omitempty"`
	// RiotID is a player's "name#tag".
	RiotID string `json:"riotId,omitempty"`
	// Champion is Data Dragon's id ("Ahri", "MonkeyKing"); empty: made up.
	Champion string `json:"champion,omitempty"`
	// Team is 100 or 200, in Arena the subteam from 1. 0: with the first seat,
	// unless their results differ.
	Team int `json:"team,omitempty"`
	// Position is TOP, JUNGLE, MIDDLE, BOTTOM or UTILITY; empty: what is left.
	Position string `json:"position,omitempty"`
	Result   Result `json:"result,omitempty"`
	// Placement is that of the subteam, from 1; 0: what is left.
	Placement int `json:"placement,omitempty"`
	// Score is made up where it is nil.
	Score *Score `json:"score,omitempty"`
	// LP is the change in a ranked game; nil: 18 to 22 won, 16 to 20 lost.
	LP *int `json:"lp,omitempty"`
}

// Score is what a player did in a game.
type Score struct {
	Kills   int `json:"kills"`
	Deaths  int `json:"deaths"`
	Assists int `json:"assists"`
	// CS are minions and monsters.
	CS int `json:"cs"`
	// Damage is that to champions; 0: made up.
	Damage int `json:"damage,omitempty"`
	// Pentas counts pentakills.
	Pentas int `json:"pentas,omitempty"`
}

// game is a Game of the world. It is never changed once it is there.
type game struct {
	id         string
	platform   string // lower case, of the id
	number     uint64
	queue      int
	mode       mode
	end        time.Time
	length     time.Duration
	listedAt   time.Time
	readableAt time.Time
	rankedAt   time.Time
	seats      []seat
	winner     int // 100 or 200; 0: nobody
	twice      bool
	missing    bool
	forbidden  bool
	remake     bool
	aborted    bool
	flagged    bool
	surrender  bool
	noNames    bool
	seed       uint64
}

// seat is a participant.
type seat struct {
	who       uint64 // a player's or stranger's number; 0: a bot
	name, tag string // a player's at that time
	icon      int
	level     int
	champion  *champion
	team      int // 100 or 200
	subteam   int
	placement int
	position  string
	win       bool
	score     Score
	lp        int
	asked     *Seat
}

// loading is from the making of a game to its beginning.
const loading = 40 * time.Second

func (g *game) created() time.Time { return g.started().Add(-loading) }

func (g *game) started() time.Time { return g.end.Add(-g.length) }

// AddGame adds a game and returns its id. It counts for the players' ranks when
// it has ended.
func (s *Server) AddGame(g Game) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.settle(now)
	made, err := s.makeGame(g, now)
	if err != nil {
		return "", fmt.Errorf("game: %w", err)
	}
	s.keep(made, now)
	return made.id, nil
}

// Play adds a game that ends now, of players on one side, and returns its id.
func (s *Server) Play(queue int, result Result, players ...PlayerID) (string, error) {
	g := Game{Queue: queue}
	for _, p := range players {
		g.Seats = append(g.Seats, Seat{Player: p, Result: result})
	}
	return s.AddGame(g)
}

// keep puts a game into the world. The caller holds mu.
func (s *Server) keep(g *game, now time.Time) {
	w := &s.world
	w.games[g.id] = g
	for i := range g.seats {
		p := w.player(g.seats[i].who)
		if p == nil {
			continue
		}
		at, _ := slices.BinarySearchFunc(p.games, g, func(a, b *game) int { return b.end.Compare(a.end) })
		p.games = slices.Insert(p.games, at, g)
	}
	at, _ := slices.BinarySearchFunc(w.pending, g, func(a, b *game) int {
		return cmp.Or(a.rankedAt.Compare(b.rankedAt), -1) // after those of the same time
	})
	w.pending = slices.Insert(w.pending, at, g)
	s.settle(now)
}

// settle books the results of games that count by now. The caller holds mu.
func (s *Server) settle(now time.Time) {
	w := &s.world
	n := 0
	for n < len(w.pending) && !now.Before(w.pending[n].rankedAt) {
		s.book(w.pending[n])
		w.pending[n] = nil
		n++
	}
	w.pending = w.pending[n:]
}

// book counts a game for its players' ranks.
func (s *Server) book(g *game) {
	for i := range g.seats {
		p := s.world.player(g.seats[i].who)
		if p == nil {
			continue
		}
		p.revised = g.end
		if g.remake || g.aborted || g.winner == 0 {
			continue
		}
		won := g.seats[i].win
		switch {
		case g.queue == 420:
			p.solo.played(won, g.seats[i].lp)
		case g.queue == 440:
			p.flex.played(won, g.seats[i].lp)
		case g.mode.shape == shapeArena && won:
			p.arenaWins++
			continue
		case g.mode.shape == shapeArena:
			p.arenaLosses++
			continue
		default:
			continue
		}
		if won {
			p.streak++
		} else {
			p.streak = 0
		}
	}
}

// makeGame checks g and fills in what it leaves open. The caller holds mu.
func (s *Server) makeGame(g Game, now time.Time) (*game, error) {
	seats := slices.Clone(g.Seats)
	for i := range seats {
		if err := s.resolve(&seats[i]); err != nil {
			return nil, fmt.Errorf("seat %d: %w", i+1, err)
		}
		for j := range i {
			if seats[i].Player != 0 && seats[i].Player == seats[j].Player {
				return nil, fmt.Errorf("seats %d and %d are the same player", j+1, i+1)
			}
		}
	}
	made := &game{
		queue:      g.Queue,
		mode:       modeOf(g.Queue),
		end:        g.End,
		length:     g.Length.Std(),
		listedAt:   g.ListedAt,
		readableAt: g.ReadableAt,
		rankedAt:   g.RankedAt,
		twice:      g.ListedTwice,
		missing:    g.Missing,
		remake:     g.Remake,
		aborted:    g.Aborted,
		flagged:    g.FlaggedAborted,
		surrender:  g.Surrendered,
		noNames:    g.NoNames,
	}
	made.forbidden = g.Forbidden || made.mode.forbidden
	if g.Mode != "" {
		made.mode.name = g.Mode
	}
	if g.Map != 0 {
		made.mode.mapID = g.Map
	}
	if err := s.identify(made, g, seats); err != nil {
		return nil, err
	}
	made.seed = hash(s.options.Seed, made.number, uint64(len(made.platform)))
	rng := rand.New(rand.NewPCG(made.seed, 1))
	if made.end.IsZero() {
		made.end = now
	}
	switch {
	case made.length < 0:
		return nil, fmt.Errorf("length %s", made.length)
	case made.length > 0:
	case made.remake:
		made.length = 3*time.Minute + 20*time.Second + time.Duration(rng.IntN(50))*time.Second
	case made.mode.mapID == mapRift:
		made.length = 20*time.Minute + time.Duration(rng.IntN(18*60))*time.Second
	default:
		made.length = 14*time.Minute + time.Duration(rng.IntN(10*60))*time.Second
	}
	for _, at := range []*time.Time{&made.listedAt, &made.readableAt, &made.rankedAt} {
		if at.Before(made.end) {
			*at = made.end
		}
	}
	var err error
	switch made.mode.shape {
	case shapeArena:
		err = s.seatArena(made, g, seats, rng)
	case shapeSwarm:
		err = s.seatSwarm(made, g, seats)
	default:
		err = s.seatTeams(made, g, seats, rng)
	}
	if err != nil {
		return nil, err
	}
	s.fill(made, rng)
	return made, nil
}

// resolve finds out who sits on a seat.
func (s *Server) resolve(st *Seat) error {
	if st.Player == 0 && st.RiotID != "" {
		name, tag, _ := strings.Cut(st.RiotID, "#")
		id, ok := s.world.byName[nameKey(name, tag)]
		if !ok {
			return fmt.Errorf("%s: %w", st.RiotID, errNobody)
		}
		st.Player = id
	}
	switch {
	case st.Player < 0 || int(st.Player) > len(s.world.players):
		return fmt.Errorf("player %d: %w", st.Player, errNobody)
	case st.Champion != "" && championByID(st.Champion) == nil:
		return fmt.Errorf("no such champion: %q", st.Champion)
	case st.Result != "" && st.Result != Win && st.Result != Loss:
		return fmt.Errorf("no such result: %q", st.Result)
	case st.Score != nil && min(st.Score.Kills, st.Score.Deaths, st.Score.Assists, st.Score.CS, st.Score.Damage, st.Score.Pentas) < 0:
		return fmt.Errorf("no such score: %+v", *st.Score)
	case st.Position != "" && !slices.Contains(lanes[:], st.Position):
		return fmt.Errorf("no such position: %q", st.Position)
	}
	return nil
}

// identify gives a game its id.
func (s *Server) identify(made *game, g Game, seats []Seat) error {
	if g.ID == "" {
		made.platform = strings.ToLower(g.Platform)
		for i := 0; i < len(seats) && made.platform == ""; i++ {
			if p := s.world.player(uint64(seats[i].Player)); p != nil {
				made.platform = p.Platform
			}
		}
		if !isPlatform(made.platform) {
			return fmt.Errorf("no such platform: %q", made.platform)
		}
		last := s.world.numbers[made.platform]
		if last == 0 {
			last = 7_000_000_000 + uint64(below(hash(s.options.Seed, 3), 1_000_000))
		}
		for made.id == "" || s.world.games[made.id] != nil {
			last += 1 + hash(s.options.Seed, last)%97
			made.number = last
			made.id = strings.ToUpper(made.platform) + "_" + strconv.FormatUint(last, 10)
		}
		s.world.numbers[made.platform] = last
		return nil
	}
	made.id = strings.ToUpper(g.ID)
	prefix, number, _ := strings.Cut(made.id, "_")
	made.platform = strings.ToLower(prefix)
	n, err := strconv.ParseUint(number, 10, 63)
	switch {
	case err != nil || matchRegion[made.platform] == "":
		return fmt.Errorf("no such match id: %q", g.ID)
	case g.Platform != "" && !strings.EqualFold(g.Platform, made.platform):
		return fmt.Errorf("match id %q on platform %q", g.ID, g.Platform)
	case s.world.games[made.id] != nil:
		return fmt.Errorf("match id %q is taken", g.ID)
	}
	made.number = n
	return nil
}
