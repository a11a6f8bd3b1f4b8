package riottest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

// Live is how the groups of a world play in RunWorld, in "hours" of whatever
// length these have.
type Live struct {
	// GamesPerHour is how many games a group plays in an hour, on average over its
	// evenings and pauses. 0 is 0.5.
	GamesPerHour float64
	// Late is the share of games that lists show late, by up to half an hour;
	// Remakes the share that ends before it counts. 0 is none.
	Late, Remakes float64
}

// Group is friends who play together.
type Group struct {
	Platform string     `json:"platform"`
	Players  []PlayerID `json:"players"`
}

// group is a Group of the world, guarded by Server.mu.
type group struct {
	Group
	next time.Time // when the game that is on ends, or the next one; zero: not planned
	left int       // games until the next pause
}

// Populate adds n players, as groups of three to six friends on several platforms,
// half of them on kr. Their names and ranks follow from seed.
func (s *Server) Populate(n int, seed uint64) ([]Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rng := rand.New(rand.NewPCG(seed, 7))
	elsewhere := []string{"euw1", "na1", "jp1", "eun1", "br1", "vn2", "oc1"}
	var groups []Group
	for added := 0; added < n; {
		g := Group{Platform: "kr"}
		if len(groups)%2 == 1 {
			g.Platform = elsewhere[len(groups)/2%len(elsewhere)]
		}
		size := 3 + rng.IntN(4)
		if rest := n - added; rest < size+3 {
			size = min(rest, 6)
			if rest > 6 {
				size = rest / 2
			}
		}
		level := 700 + rng.IntN(1500) // of friends: on the ladder, more or less
		for range size {
			id, err := s.addSomebody(g.Platform, level, rng)
			if err != nil {
				return groups, err
			}
			g.Players = append(g.Players, id)
		}
		added += size
		groups = append(groups, g)
		s.addGroup(g)
	}
	return groups, nil
}

// addSomebody adds a player with a name that nobody has.
func (s *Server) addSomebody(platform string, level int, rng *rand.Rand) (PlayerID, error) {
	p := Player{Platform: platform}
	for p.GameName == "" || s.world.byName[nameKey(p.GameName, p.TagLine)] != 0 {
		p.GameName = nameOf(platform, rng.Uint64())
		p.TagLine = strconv.Itoa(1000 + rng.IntN(9000))
		if rng.IntN(3) == 0 {
			p.TagLine = map[string]string{"kr": "KR1", "euw1": "EUW", "na1": "NA1", "jp1": "JP1"}[platform]
			if p.TagLine == "" {
				p.TagLine = "LOL"
			}
		}
	}
	rank := func() *Rank {
		if rng.IntN(6) == 0 {
			return nil
		}
		wins := 10 + rng.IntN(150)
		r := Rank{Wins: wins, Losses: wins + rng.IntN(21) - 10}.at(level + rng.IntN(600) - 300)
		return &r
	}
	p.Solo, p.Flex = rank(), rank()
	lane := lanes[rng.IntN(len(lanes))]
	for _, i := range rng.Perm(len(champions)) {
		if c := &champions[i]; c.lane == lane && len(p.Main) < 4 {
			p.Main = append(p.Main, c.id)
		}
	}
	return s.addPlayer(p)
}

// AddGroup makes friends of players who are there: RunWorld lets them play
// together, on the first one's platform.
func (s *Server) AddGroup(players ...PlayerID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(players) == 0 {
		return errors.New("group: nobody in it")
	}
	for _, id := range players {
		if s.world.player(uint64(max(id, 0))) == nil {
			return fmt.Errorf("group: player %d: %w", id, errNobody)
		}
	}
	s.addGroup(Group{s.world.players[players[0]-1].Platform, slices.Clone(players)})
	return nil
}

func (s *Server) addGroup(g Group) {
	s.world.groups = append(s.world.groups, &group{Group: g})
	if s.wake != nil {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// RunWorld lets the groups play until ctx ends, at the rate of Options.Live for
// hours of the given length. What is scaled is how often they play: a game still
// claims to have taken its half an hour. It returns nil when ctx ends, and is to
// be run once at a time.
func (s *Server) RunWorld(ctx context.Context, hour time.Duration) error {
	if hour <= 0 {
		return fmt.Errorf("riottest: an hour of %s", hour)
	}
	wake := make(chan struct{}, 1)
	s.mu.Lock()
	s.wake = wake
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.wake = nil
		s.mu.Unlock()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next, err := s.Step(time.Now(), hour)
		if err != nil {
			return err
		}
		var due <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			due = timer.C
		}
		select {
		case <-due:
		case <-wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// Step lets the groups play what is due at now, each game ending when it was due,
// and tells when the next game ends: zero where there is no group. It is what
// RunWorld does again and again.
func (s *Server) Step(now time.Time, hour time.Duration) (next time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.world.groups {
		if g.next.IsZero() {
			s.start(g, now, hour)
		}
		for !now.Before(g.next) {
			if err := s.playGroup(g, hour); err != nil {
				return time.Time{}, err
			}
		}
		if next.IsZero() || g.next.Before(next) {
			next = g.next
		}
	}
	return next, nil
}

// An evening has two to five games; a game and the wait before it take 40 minutes
// to an hour.
const (
	gamesLeast, gamesMost = 2, 5
	turnLeast, turnMore   = 0.65, 0.35
)

func (s *Server) turn(hour time.Duration) time.Duration {
	return time.Duration((turnLeast + turnMore*s.rng.Float64()) * float64(hour))
}

// pause is as long as it takes for the average to be what is wanted.
func (s *Server) pause(hour time.Duration) time.Duration {
	rate := s.options.Live.GamesPerHour
	if rate <= 0 {
		rate = 0.5
	}
	const games = float64(gamesLeast+gamesMost) / 2
	mean := games/rate - games*(turnLeast+turnMore/2)
	return time.Duration(max(mean, 0) * (0.5 + s.rng.Float64()) * float64(hour))
}

// start puts a group somewhere in its week.
func (s *Server) start(g *group, now time.Time, hour time.Duration) {
	g.left = gamesLeast + s.rng.IntN(gamesMost-gamesLeast+1)
	g.next = now.Add(time.Duration(s.rng.Float64() * float64(s.turn(hour))))
	if s.rng.IntN(5) < 2 {
		g.next = g.next.Add(s.pause(hour))
	}
}

// playGroup plays a group's game that is due and plans the next one.
func (s *Server) playGroup(g *group, hour time.Duration) error {
	end := g.next
	g.next = end.Add(s.turn(hour))
	if g.left--; g.left <= 0 {
		g.left = gamesLeast + s.rng.IntN(gamesMost-gamesLeast+1)
		g.next = g.next.Add(s.pause(hour))
	}
	game := Game{Platform: g.Platform, End: end}
	var together []PlayerID
	for _, i := range s.rng.Perm(len(g.Players)) {
		// A transfer parts friends.
		if p := s.world.players[g.Players[i]-1]; p.Platform == g.Platform {
			together = append(together, p.id)
		}
	}
	if len(together) == 0 {
		return nil
	}
	most := 5
	switch n := s.rng.IntN(20); {
	case n < 8:
		game.Queue, most = 420, 2
	case n < 13:
		game.Queue = 440
	case n < 17:
		game.Queue = 450
	case n < 18:
		game.Queue = 480
	case n < 19:
		game.Queue, most = 1700, 2
	default:
		game.Queue = 400
	}
	for _, id := range together[:1+s.rng.IntN(min(most, len(together)))] {
		st := Seat{Player: id}
		if p := s.world.players[id-1]; len(p.mains) > 0 {
			st.Position = p.mains[0].lane
		}
		game.Seats = append(game.Seats, st)
	}
	live := s.options.Live
	if s.rng.Float64() < live.Late {
		game.ListedAt = end.Add(time.Duration(s.rng.Float64() * float64(hour) / 2))
	}
	game.Remake = game.Queue != 1700 && s.rng.Float64() < live.Remakes
	game.Surrendered = !game.Remake && s.rng.IntN(6) == 0
	made, err := s.makeGame(game, end)
	if err != nil {
		return fmt.Errorf("a group's game: %w", err)
	}
	s.keep(made, end)
	return nil
}
