package riottest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// errSides says that what seats want to be does not go together.
var errSides = errors.New("teams, results and winner contradict each other")

// seatTeams seats two teams of five.
func (s *Server) seatTeams(made *game, g Game, seats []Seat, rng *rand.Rand) error {
	winner := g.Winner
	if winner != 0 && winner != 100 && winner != 200 {
		return fmt.Errorf("winner %d: teams are 100 and 200", winner)
	}
	other := func(team int) int { return 300 - team }
	if len(seats) > 0 && seats[0].Team == 0 {
		seats[0].Team = 100
	}
	for i := range seats {
		st := &seats[i]
		if st.Team == 0 {
			st.Team = seats[0].Team
			if a, b := seats[0].Result, st.Result; a != "" && b != "" && a != b {
				st.Team = other(st.Team)
			}
		}
		if st.Team != 100 && st.Team != 200 {
			return fmt.Errorf("team %d: teams are 100 and 200", st.Team)
		}
		wins := st.Team
		switch st.Result {
		case Loss:
			wins = other(st.Team)
		case "":
			continue
		}
		if winner != 0 && winner != wins {
			return errSides
		}
		winner = wins
	}
	if winner == 0 {
		winner = 100 + 100*rng.IntN(2)
	}
	for _, team := range []int{100, 200} {
		places := make([]*Seat, len(lanes))
		var rest []*Seat
		for i := range seats {
			st := &seats[i]
			if st.Team != team {
				continue
			}
			at := slices.Index(lanes[:], st.Position)
			if at < 0 || places[at] != nil {
				rest = append(rest, st)
				continue
			}
			places[at] = st
		}
		for _, st := range rest {
			at := slices.Index(places, nil)
			if at < 0 {
				return fmt.Errorf("more than 5 in team %d", team)
			}
			places[at] = st
		}
		for i, st := range places {
			// Bots are on the other side than players.
			bot := made.mode.shape == shapeBots && team == 200
			if bot && st != nil {
				return errors.New("players are team 100 against bots")
			}
			placed := seat{team: team, win: team == winner, asked: st}
			if made.mode.lanes {
				placed.position = lanes[i]
			}
			made.seats = append(made.seats, placed)
		}
	}
	made.winner = winner
	if g.NoWinner {
		made.winner = 0
		for i := range made.seats {
			made.seats[i].win = false
		}
	}
	return nil
}

// seatArena seats subteams and gives them their placements.
func (s *Server) seatArena(made *game, g Game, seats []Seat, rng *rand.Rand) error {
	teams, size := made.mode.subteams, made.mode.size
	placement := make([]int, teams+1)
	held := make([][]*Seat, teams+1)
	taken := make([]bool, teams+1)
	for i := range seats {
		st := &seats[i]
		if st.Team == 0 {
			st.Team = 1
			for st.Team < teams && len(held[st.Team]) == size {
				st.Team++
			}
		}
		if st.Team < 1 || st.Team > teams || len(held[st.Team]) == size {
			return fmt.Errorf("subteam %d of %d with %d each", st.Team, teams, size)
		}
		held[st.Team] = append(held[st.Team], st)
		switch p := st.Placement; {
		case p == 0:
		case p < 0 || p > teams || placement[st.Team] != 0 && placement[st.Team] != p,
			placement[st.Team] == 0 && taken[p]:
			return errSides
		default:
			placement[st.Team], taken[p] = p, true
		}
	}
	half := teams / 2
	free := func(result Result) []int {
		var all []int
		for p := 1; p <= teams; p++ {
			if !taken[p] && (result == "" || (p <= half) == (result == Win)) {
				all = append(all, p)
			}
		}
		return all
	}
	result := func(t int) (Result, bool) {
		var r Result
		for _, st := range held[t] {
			if st.Result == "" {
				continue
			}
			if r != "" && r != st.Result {
				return "", false
			}
			r = st.Result
		}
		return r, true
	}
	// Those who know their result choose first.
	for _, known := range []bool{true, false} {
		for t := 1; t <= teams; t++ {
			r, ok := result(t)
			if !ok {
				return errSides
			}
			if known != (r != "") {
				continue
			}
			if p := placement[t]; p != 0 {
				if r != "" && (p <= half) != (r == Win) {
					return errSides
				}
				continue
			}
			choice := free(r)
			if len(choice) == 0 {
				return errSides
			}
			p := choice[rng.IntN(len(choice))]
			placement[t], taken[p] = p, true
		}
	}
	for t := 1; t <= teams; t++ {
		for i := range size {
			placed := seat{team: 200, subteam: t, placement: placement[t], win: placement[t] <= half}
			if i < len(held[t]) {
				placed.asked = held[t][i]
			}
			if placed.win {
				placed.team = 100
			}
			if g.NoWinner {
				placed.win, placed.placement, placed.team = false, 0, 100+100*(t%2)
			}
			made.seats = append(made.seats, placed)
		}
	}
	if !g.NoWinner {
		made.winner = 100
	}
	return nil
}

// seatSwarm seats those who play, and nobody else.
func (s *Server) seatSwarm(made *game, g Game, seats []Seat) error {
	if len(seats) < 1 || len(seats) > 4 {
		return fmt.Errorf("%d players: Swarm is for 1 to 4", len(seats))
	}
	won := g.Winner == 100
	for i := range seats {
		won = won || seats[i].Result == Win
	}
	won = won && !g.NoWinner
	for i := range seats {
		if won && seats[i].Result == Loss {
			return errSides
		}
		made.seats = append(made.seats, seat{team: 100, win: won, asked: &seats[i]})
	}
	if won {
		made.winner = 100
	}
	return nil
}

// fill makes up what is left open of each seat.
func (s *Server) fill(made *game, rng *rand.Rand) {
	used := make(map[*champion]bool)
	for i := range made.seats {
		if st := made.seats[i].asked; st != nil && st.Champion != "" {
			made.seats[i].champion = championByID(st.Champion)
			used[made.seats[i].champion] = true
		}
	}
	given := make([]bool, len(made.seats))
	ranked := made.queue == 420 || made.queue == 440
	minutes := made.length.Minutes()
	for i := range made.seats {
		st := &made.seats[i]
		var who PlayerID
		var score *Score
		var lp *int
		if st.asked != nil {
			who, score, lp = st.asked.Player, st.asked.Score, st.asked.LP
		}
		p := s.world.player(uint64(who))
		switch {
		case p != nil:
			st.who, st.name, st.tag, st.icon, st.level = uint64(who), p.GameName, p.TagLine, p.Icon, p.Level
		case made.mode.shape == shapeBots && st.team == 200:
		default:
			st.who = strangerNumber(made.platform, rng.Uint64())
			st.icon, st.level = 1+rng.IntN(6000), 30+rng.IntN(600)
		}
		if st.champion == nil {
			st.champion = pick(p, st.position, used, rng)
			used[st.champion] = true
		}
		if score != nil {
			st.score, given[i] = *score, true
		} else {
			st.score = madeUp(st, made.mode, minutes, rng)
		}
		if st.score.Damage == 0 {
			st.score.Damage = int((400 + 600*rng.Float64()) * minutes)
		}
		switch {
		case !ranked:
		case lp != nil:
			st.lp = *lp
		case st.win:
			st.lp = 18 + rng.IntN(5)
		default:
			st.lp = -16 - rng.IntN(5)
		}
		st.asked = nil
	}
	// Nobody helps with more kills than the others of the team have.
	kills := make(map[int]int)
	for i := range made.seats {
		kills[side(&made.seats[i])] += made.seats[i].score.Kills
	}
	for i := range made.seats {
		if st := &made.seats[i]; !given[i] {
			st.score.Assists = min(st.score.Assists, kills[side(st)]-st.score.Kills)
		}
	}
}

// pick chooses a champion that nobody has: if there is one, one that p likes, and
// one that is played in the lane.
func pick(p *player, lane string, used map[*champion]bool, rng *rand.Rand) *champion {
	var best *champion
	most := -1
	likes := func(c *champion) bool { return p != nil && slices.Contains(p.mains, c) }
	for _, i := range rng.Perm(len(champions)) {
		c := &champions[i]
		if used[c] {
			continue
		}
		score := 0
		if likes(c) {
			score += 2
		}
		if lane == "" || c.lane == lane {
			score++
		}
		if score > most {
			best, most = c, score
		}
	}
	return best
}

// madeUp is a score that could be.
func madeUp(st *seat, m mode, minutes float64, rng *rand.Rand) Score {
	pace := 0.22
	if m.name == "ARAM" || m.name == "URF" {
		pace = 0.5
	}
	n := func(most float64) int { return int(most * minutes * (0.3 + rng.Float64())) }
	sc := Score{Kills: n(pace), Deaths: n(pace), Assists: n(pace * 1.5)}
	if st.win {
		sc.Deaths = sc.Deaths * 2 / 3
	} else {
		sc.Kills = sc.Kills * 2 / 3
	}
	switch {
	case m.shape == shapeArena:
	case st.position == utility:
		sc.Kills /= 3
		sc.Assists *= 2
		sc.CS = n(1)
	default:
		sc.CS = int((4 + 4.5*rng.Float64()) * minutes)
	}
	return sc
}
