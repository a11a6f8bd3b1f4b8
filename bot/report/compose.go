package report

import (
	"cmp"
	"slices"

	"riftchime/store"
)

// entry is one player's part in one game, while the report is made.
type entry struct {
	game store.Game
	part Part
}

// person is one followed player, while the report is made.
type person struct {
	follow store.Follow
	order  int
	name   Name
	games  []*entry // oldest first
	ranks  []Standing
	record Record
	// missing: what there is may not be all.
	missing bool
	// block is the person that stands for the block; itself at first.
	block *person
}

// head is the person that stands for p's block.
func (p *person) head() *person {
	for p.block != p {
		p.block = p.block.block
		p = p.block
	}
	return p
}

// Compose makes the report. It keeps in itself none of the slices of in but the
// strings, and changes nothing in it.
func Compose(in Input) Report {
	r := Report{Slot: in.Slot, From: in.From, Now: in.Now}
	people, byID := gather(in.Facts)
	r.Missing = missing(in.Missing, byID)
	r.Partial = len(r.Missing) > 0

	for _, p := range people {
		p.findStreaks()
		p.findRanks()
		for _, e := range p.games {
			p.record.count(e.part)
		}
	}
	matches := matchesOf(people)
	for _, m := range matches {
		r.Games = append(r.Games, m.entries[0].game.Match)
		r.Totals.count(m)
	}
	for _, p := range people {
		p.tell(&r)
	}
	r.Blocks = blocks(people, matches)
	return r
}

// gather sorts the games to the players who are followed. A game that is there
// twice counts once.
func gather(f store.Facts) (people []*person, byID map[store.PlayerID]*person) {
	byID = make(map[store.PlayerID]*person, len(f.Follows))
	for _, follow := range f.Follows {
		if byID[follow.Player.ID] != nil {
			continue
		}
		p := &person{follow: follow, order: len(people), name: Name{RiotID: follow.Player.Name()}}
		if old := follow.ShownName; old != "" && old != p.name.RiotID {
			p.name.Former = old
		}
		p.block = p
		people = append(people, p)
		byID[follow.Player.ID] = p
	}
	type key struct {
		player store.PlayerID
		match  string
	}
	seen := make(map[key]bool, len(f.Games))
	for _, g := range f.Games {
		p, k := byID[g.Player], key{g.Player, g.Match}
		if p == nil || seen[k] {
			continue
		}
		seen[k] = true
		p.games = append(p.games, &entry{game: g, part: Part{
			Player: g.Player, RiotID: p.name.RiotID, Participant: g.Participant,
		}})
	}
	for _, p := range people {
		slices.SortStableFunc(p.games, func(a, b *entry) int { return inTime(a.game, b.game) })
	}
	return people, byID
}

// inTime orders games by their ends.
func inTime(a, b store.Game) int {
	return cmp.Or(a.End.Compare(b.End), a.Start.Compare(b.Start), cmp.Compare(a.Match, b.Match))
}

// missing names the missing players who are followed.
func missing(groups []Missing, byID map[store.PlayerID]*person) []MissingGroup {
	var named []MissingGroup
	for _, m := range groups {
		g := MissingGroup{Platform: m.Platform, Cause: m.Cause}
		for _, id := range m.Players {
			p := byID[id]
			if p == nil || p.missing {
				continue
			}
			p.missing = true
			n := p.name
			if len(p.games) > 0 {
				n.Former = "" // the block says it
			}
			g.Names = append(g.Names, n)
		}
		if len(g.Names) > 0 {
			named = append(named, g)
		}
	}
	return named
}

// streakMin is the shortest streak that is worth a word.
const streakMin = 3

// findStreaks marks the last game of each streak. Games without a result are
// passed over.
func (p *person) findStreaks() {
	run, open := runOf(p.follow.Recent)
	var last *entry
	end := func() {
		if last != nil && (run >= streakMin || run <= -streakMin) {
			last.part.Streak, last.part.StreakOpen = run, open
		}
		last = nil
	}
	for _, e := range p.games {
		won, known := e.part.Won()
		if !known {
			continue
		}
		if won != (run > 0) || run == 0 {
			end()
			run, open = 0, false
		}
		if won {
			run++
		} else {
			run--
		}
		last = e
	}
	end()
}

// remembered is how many outcomes store.Follow.Recent holds at most.
const remembered = 20

// runOf is the streak, newest first, in which the player was before: positive
// won, negative lost. open says that all that is remembered belongs to it, so
// that it may be longer.
func runOf(recent []uint8) (run int, open bool) {
	for _, outcome := range recent {
		switch outcome {
		case store.OutcomeWin:
			if run < 0 {
				return run, false
			}
			run++
		case store.OutcomeLoss:
			if run > 0 {
				return run, false
			}
			run--
		case store.OutcomePlacement:
			// Which half it was is not known: it ends what is certain.
			return run, run != 0
		}
	}
	return run, run != 0 && len(recent) >= remembered
}

// findRanks compares the ranks of both queues.
func (p *person) findRanks() {
	for _, queue := range []string{store.QueueSolo, store.QueueFlex} {
		pair := store.RankPair{Queue: queue}
		for _, have := range p.follow.Ranks {
			if have.Queue == queue {
				pair = have
			}
		}
		p.ranks = append(p.ranks, standing(queue, pair, p.games, p.follow.Player.RanksWanted))
	}
}

// changed says whether there is something to tell of p. Of a missing player
// without games nothing is: the games behind a new rank are not known yet.
func (p *person) changed() bool {
	return len(p.games) > 0 || !p.missing && slices.ContainsFunc(p.ranks, Standing.news)
}

// tell puts what r shows of p, but the block, into r.
func (p *person) tell(r *Report) {
	r.ShownNames = append(r.ShownNames, store.ShownName{Player: p.follow.Player.ID, Name: p.name.RiotID})
	if !p.changed() && p.missing {
		return
	}
	// The rank of an idle player is shown as "nothing new": later changes are
	// measured against it.
	for _, pair := range p.follow.Ranks {
		if pair.Now != nil && (pair.Queue == store.QueueSolo || pair.Queue == store.QueueFlex) {
			r.ShownRanks = append(r.ShownRanks, store.ShownRank{
				Player: p.follow.Player.ID, Queue: pair.Queue, Snapshot: pair.Now.ID,
			})
		}
	}
	if !p.changed() {
		r.Idle = append(r.Idle, p.name)
		return
	}
	for _, s := range p.ranks {
		if s.ChangeKnown && s.news() {
			r.Totals.LP += s.Change
			r.Totals.LPKnown = true
		}
	}
}

// match is a game with all entries of it.
type match struct {
	entries []*entry
	people  []*person
}

// matchesOf lists the games once each, oldest first, and ties those who shared
// one into one block.
func matchesOf(people []*person) []*match {
	byID := map[string]*match{}
	var all []*match
	for _, p := range people {
		for _, e := range p.games {
			m := byID[e.game.Match]
			if m == nil {
				m = &match{}
				byID[e.game.Match] = m
				all = append(all, m)
			} else {
				p.head().block = m.people[0].head()
			}
			m.entries = append(m.entries, e)
			m.people = append(m.people, p)
		}
	}
	slices.SortStableFunc(all, func(a, b *match) int { return inTime(a.entries[0].game, b.entries[0].game) })
	return all
}

func (t *Totals) count(m *match) {
	var all Record
	for _, e := range m.entries {
		all.count(e.part)
	}
	t.Games++
	switch {
	case all.Wins > 0 && all.Losses > 0:
		t.Split++
	case all.Wins > 0:
		t.Wins++
	case all.Losses > 0:
		t.Losses++
	case all.Remakes > 0:
		t.Remakes++
	default:
		t.Open++
	}
}

// blocks puts the players with news into their blocks.
func blocks(people []*person, matches []*match) []Block {
	members := map[*person][]*person{}
	var heads []*person
	for _, p := range people {
		if !p.changed() {
			continue
		}
		h := p.head()
		if members[h] == nil {
			heads = append(heads, h)
		}
		members[h] = append(members[h], p)
	}
	for _, m := range members {
		slices.SortStableFunc(m, func(a, b *person) int {
			return cmp.Or(cmp.Compare(b.record.Games, a.record.Games), cmp.Compare(a.order, b.order))
		})
	}
	slices.SortStableFunc(heads, func(a, b *person) int {
		return cmp.Or(
			cmp.Compare(members[b][0].record.Games, members[a][0].record.Games),
			cmp.Compare(members[a][0].order, members[b][0].order),
		)
	})
	list := make([]Block, len(heads))
	place := map[*person]int{}
	at := map[store.PlayerID]*Player{}
	for i, h := range heads {
		place[h] = i
		list[i].Players = make([]Player, len(members[h]))
		for j, p := range members[h] {
			list[i].Players[j] = Player{ID: p.follow.Player.ID, Name: p.name, Record: p.record, Ranks: p.ranks}
			at[p.follow.Player.ID] = &list[i].Players[j]
		}
	}
	for _, m := range matches {
		b := &list[place[m.people[0].head()]]
		g := m.game(b.Players)
		if len(m.entries) == 1 {
			p := at[m.entries[0].part.Player]
			p.Alone = append(p.Alone, g)
		} else {
			b.Together = append(b.Together, g)
		}
	}
	return list
}

// game makes the game of m, its players in the order of theirs.
func (m *match) game(order []Player) Game {
	first := m.entries[0].game
	g := Game{
		Match: first.Match, Queue: first.Queue, Mode: first.Mode, Map: first.Map,
		Start: first.Start, End: first.End, Duration: first.Duration,
	}
	rank := func(p Part) int {
		return slices.IndexFunc(order, func(o Player) bool { return o.ID == p.Player })
	}
	parts := make([]Part, len(m.entries))
	for i, e := range m.entries {
		parts[i] = e.part
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.better(), b.better()), cmp.Compare(rank(a), rank(b)))
	})
	for _, p := range parts {
		i := slices.IndexFunc(g.Sides, func(s Side) bool { return s.Team == p.Team })
		if i < 0 {
			i = len(g.Sides)
			g.Sides = append(g.Sides, Side{Team: p.Team})
		}
		g.Sides[i].Parts = append(g.Sides[i].Parts, p)
	}
	return g
}

// better orders results, the best first.
func (p Part) better() int {
	won, known := p.Won()
	switch {
	case p.Outcome == store.OutcomePlacement:
		return p.Placement
	case known && !won:
		return 1
	}
	return 0
}
