package riottest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// PlayerID names a player of the world; the first is 1.
type PlayerID int

// Player is somebody with a Riot account. The world keeps its own copy.
type Player struct {
	// GameName and TagLine are the Riot ID, as the player spells it. Nobody else
	// may have the same, whatever the case and the spaces.
	GameName string `json:"gameName"`
	TagLine  string `json:"tagLine"`
	// Platform is where the player plays, such as "kr".
	Platform string `json:"platform"`
	// Level and Icon are made up where they are 0.
	Level int `json:"level,omitempty"`
	Icon  int `json:"icon,omitempty"`
	// Solo and Flex are the ranks; nil is unranked, until five ranked games.
	Solo *Rank `json:"solo,omitempty"`
	Flex *Rank `json:"flex,omitempty"`
	// NoLoL: an account that never played League of Legends.
	NoLoL bool `json:"noLol,omitempty"`
	// Nameless: account-v1 leaves the Riot ID out of its answers.
	Nameless bool `json:"nameless,omitempty"`
	// Main are the champions that the player likes, by Data Dragon's id ("Ahri").
	// Empty: any.
	Main []string `json:"main,omitempty"`
}

// Known is a player as the world has it now.
type Known struct {
	ID PlayerID `json:"id"`
	Player
	// Games are the ids of the player's games that have ended, newest first,
	// whether they are listed or not.
	Games []string `json:"games"`
}

// player is a Player of the world, guarded by Server.mu.
type player struct {
	Player
	id          PlayerID
	solo, flex  standing
	arenaWins   int
	arenaLosses int
	streak      int // ranked games won in a row
	revised     time.Time
	games       []*game // newest end first; also those that end later
	frozenAt    time.Time
	frozenUntil time.Time
	mains       []*champion
}

// world is everybody and all they played, guarded by Server.mu.
type world struct {
	players []*player // by id, less 1
	byName  map[string]PlayerID
	games   map[string]*game
	pending []*game // whose results do not count yet, in that order
	numbers map[string]uint64
	groups  []*group
}

func (w *world) init() {
	w.byName = make(map[string]PlayerID)
	w.games = make(map[string]*game)
	w.numbers = make(map[string]uint64)
}

// player is nil where n is nobody of the world.
func (w *world) player(n uint64) *player {
	if n == 0 || n > uint64(len(w.players)) {
		return nil
	}
	return w.players[n-1]
}

// nameKey is equal for Riot IDs that Riot takes for the same: whatever the case
// and the spaces.
func nameKey(name, tag string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s))
	}
	return fold(name) + "#" + fold(tag)
}

// errNobody says that a PlayerID is nobody's.
var errNobody = errors.New("no such player")

// AddPlayer adds somebody to the world.
func (s *Server) AddPlayer(p Player) (PlayerID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addPlayer(p)
}

func (s *Server) addPlayer(p Player) (PlayerID, error) {
	what := p.GameName + "#" + p.TagLine
	p.Platform = strings.ToLower(p.Platform)
	if !isPlatform(p.Platform) {
		return 0, fmt.Errorf("player %s: no such platform: %q", what, p.Platform)
	}
	added := &player{Player: p, id: PlayerID(len(s.world.players) + 1), revised: time.Now()}
	var err error
	if added.solo.rank, err = checkedRank(p.Solo); err != nil {
		return 0, fmt.Errorf("player %s: %w", what, err)
	}
	if added.flex.rank, err = checkedRank(p.Flex); err != nil {
		return 0, fmt.Errorf("player %s: %w", what, err)
	}
	for _, id := range p.Main {
		c := championByID(id)
		if c == nil {
			return 0, fmt.Errorf("player %s: no such champion: %q", what, id)
		}
		added.mains = append(added.mains, c)
	}
	if added.Level == 0 {
		added.Level = 30 + below(hash(s.options.Seed, uint64(added.id), 1), 700)
	}
	if added.Icon == 0 {
		added.Icon = 1 + below(hash(s.options.Seed, uint64(added.id), 2), 6000)
	}
	if err := s.name(added, p.GameName, p.TagLine); err != nil {
		return 0, err
	}
	s.world.players = append(s.world.players, added)
	return added.id, nil
}

func checkedRank(r *Rank) (*Rank, error) {
	if r == nil {
		return nil, nil
	}
	checked, err := r.check()
	return &checked, err
}

// name gives p a Riot ID that nobody has.
func (s *Server) name(p *player, name, tag string) error {
	if strings.TrimSpace(name) == "" || strings.TrimSpace(tag) == "" {
		return fmt.Errorf("player %q: a Riot ID has a name and a tag", name+"#"+tag)
	}
	key := nameKey(name, tag)
	if other, ok := s.world.byName[key]; ok && other != p.id {
		return fmt.Errorf("player %s#%s: taken by player %d", name, tag, other)
	}
	if old := nameKey(p.GameName, p.TagLine); s.world.byName[old] == p.id {
		delete(s.world.byName, old)
	}
	s.world.byName[key] = p.id
	p.GameName, p.TagLine = name, tag
	return nil
}

// change finds a player and changes it.
func (s *Server) change(id PlayerID, f func(*player) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(time.Now())
	p := s.world.player(uint64(max(id, 0)))
	if p == nil {
		return fmt.Errorf("player %d: %w", id, errNobody)
	}
	return f(p)
}

// Rename gives a player another Riot ID. Games played before keep the old one.
func (s *Server) Rename(id PlayerID, gameName, tagLine string) error {
	return s.change(id, func(p *player) error { return s.name(p, gameName, tagLine) })
}

// Transfer moves a player to another platform, with the ranks. Games played
// before stay where they were played.
func (s *Server) Transfer(id PlayerID, platform string) error {
	return s.change(id, func(p *player) error {
		platform = strings.ToLower(platform)
		if !isPlatform(platform) {
			return fmt.Errorf("no such platform: %q", platform)
		}
		p.Platform, p.revised = platform, time.Now()
		return nil
	})
}

// SetRank sets a player's rank in QueueSolo or QueueFlex without a game: a new
// season, a penalty. nil is unranked.
func (s *Server) SetRank(id PlayerID, queue string, r *Rank) error {
	return s.change(id, func(p *player) error {
		checked, err := checkedRank(r)
		switch {
		case err != nil:
			return err
		case queue == QueueSolo:
			p.solo = standing{rank: checked}
		case queue == QueueFlex:
			p.flex = standing{rank: checked}
		default:
			return fmt.Errorf("no such ranked queue: %q", queue)
		}
		return nil
	})
}

// FreezeList makes a player's list of games show nothing newer than what it shows
// now, until a time.
func (s *Server) FreezeList(id PlayerID, until time.Time) error {
	return s.change(id, func(p *player) error {
		p.frozenAt, p.frozenUntil = time.Now(), until
		return nil
	})
}

// Player is a player as the world has it now.
func (s *Server) Player(id PlayerID) (Known, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.settle(now)
	p := s.world.player(uint64(max(id, 0)))
	if p == nil {
		return Known{}, false
	}
	return p.known(now), true
}

// Players is everybody in the order of their ids.
func (s *Server) Players() []Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.settle(now)
	all := make([]Known, len(s.world.players))
	for i, p := range s.world.players {
		all[i] = p.known(now)
	}
	return all
}

// known is a copy of p that shares nothing that changes.
func (p *player) known(now time.Time) Known {
	k := Known{ID: p.id, Player: p.Player, Games: []string{}}
	k.Solo, k.Flex = copied(p.solo.rank), copied(p.flex.rank)
	k.Main = slices.Clone(p.Main)
	for _, g := range p.games {
		if !now.Before(g.end) {
			k.Games = append(k.Games, g.id)
		}
	}
	return k
}

func copied(r *Rank) *Rank {
	if r == nil {
		return nil
	}
	c := *r
	return &c
}
