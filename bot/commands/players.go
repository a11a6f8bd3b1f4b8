package commands

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"riftchime/riot"
	"riftchime/store"
)

// player finds one of the channel's players as somebody names them: by Riot ID
// now or as last shown, by the name alone where only one has it, or by the
// number in /list.
func player(follows []store.Follow, typed string) (store.Player, bool) {
	want := fold(strings.ReplaceAll(typed, "＃", "#"))
	if want == "" {
		return store.Player{}, false
	}
	for _, f := range follows {
		if fold(f.Player.Name()) == want {
			return f.Player, true
		}
	}
	for _, f := range follows {
		if f.ShownName != "" && fold(f.ShownName) == want {
			return f.Player, true
		}
	}
	var named []store.Player
	for _, f := range follows {
		if fold(f.Player.GameName) == want {
			named = append(named, f.Player)
		}
	}
	if len(named) == 1 {
		return named[0], true
	}
	if n, err := strconv.Atoi(want); err == nil && n >= 1 && n <= len(follows) && len(named) == 0 {
		return follows[n-1].Player, true
	}
	return store.Player{}, false
}

// near are at most three of the channel's players that typed may have meant,
// the nearest first.
func near(follows []store.Follow, typed string) []string {
	want := []rune(fold(typed))
	if len(want) > 100 {
		want = want[:100]
	}
	type candidate struct {
		name string
		far  int
	}
	var cs []candidate
	for _, f := range follows {
		name, game := []rune(fold(f.Player.Name())), []rune(fold(f.Player.GameName))
		far := min(distance(want, name), distance(want, game))
		if strings.Contains(string(name), string(want)) && len(want) > 1 {
			far = 0
		}
		if far <= max(len(want), len(game))/2 {
			cs = append(cs, candidate{f.Player.Name(), far})
		}
	}
	slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, c := range cs[:min(3, len(cs))] {
		names = append(names, c.name)
	}
	return names
}

// distance is Levenshtein's: how many letters to add, take away or change.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// suggestPlayers offers the channel's players that have typed in their name.
func (c *Commands) suggestPlayers(ctx context.Context, q *request, typed string) ([]string, error) {
	if !q.known {
		return nil, nil
	}
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	want := fold(typed)
	var first, rest []string
	for _, f := range follows {
		name := f.Player.Name()
		switch at := strings.Index(fold(name), want); {
		case at == 0:
			first = append(first, name)
		case at > 0:
			rest = append(rest, name)
		}
	}
	return append(first, rest...), nil
}

// unregister stops following one player.
func (c *Commands) unregister(ctx context.Context, q *request) (*answer, error) {
	typed, _ := q.text(optRiotID)
	if clean(typed) == "" {
		return say(q.t("unregister.blank")), nil
	}
	if !q.known {
		return say(q.t("empty.channel")), nil
	}
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return nil, err
	}
	if len(follows) == 0 {
		return say(q.t("empty.channel")), nil
	}
	p, ok := player(follows, typed)
	if !ok {
		return c.nobody(q, follows, typed), nil
	}
	was, err := c.o.Store.Unregister(ctx, q.channel, p.ID, c.now())
	if err != nil {
		return nil, err
	}
	if !was {
		return c.nobody(q, follows, typed), nil
	}
	c.changed()
	return say(q.t("unregister.done", "Name", shown(p.Name()), "Region", short(riot.Platform(p.Platform))),
		q.n("unregister.left", len(follows)-1)), nil
}

// nobody answers for a name that the channel does not follow.
func (c *Commands) nobody(q *request, follows []store.Follow, typed string) *answer {
	a := say(q.t("unregister.unknown", "Name", shown(typed)))
	if names := near(follows, typed); len(names) > 0 {
		for i := range names {
			names[i] = "**" + shown(names[i]) + "**"
		}
		a.add(q.t("unregister.near", "Names", strings.Join(names, ", ")))
	} else {
		a.add(q.t("unregister.see_list"))
	}
	return a
}
