package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"riftchime/bot/report"
	"riftchime/store"
)

// Riot's names for Arena and Swarm.
const (
	modeArena = "CHERRY"
	modeSwarm = "STRAWBERRY"
)

// alone is the line of a game without friends: result, champion, K/D/A, CS,
// queue, length, and what was special.
func (w *writer) alone(g report.Game) string {
	p := g.Sides[0].Parts[0]
	result, queue := w.result(g, p), w.queue(g.Queue, g.Mode)
	if result == "" {
		result, queue = queue, ""
	}
	parts := append([]string{mark(p) + " **" + result + "**" + dot + w.played(p)}, w.cs(g, p)...)
	if queue != "" {
		parts = append(parts, queue)
	}
	parts = append(parts, w.length(g))
	return strings.Join(append(parts, w.special(p)...), dot)
}

// together are the lines of a game of friends: the game once, then one each.
func (w *writer) together(g report.Game) []string {
	first := g.Sides[0].Parts[0]
	parts := g.Parts()
	same := true
	for _, p := range parts {
		same = same && mark(p) == mark(first) && w.result(g, p) == w.result(g, first)
	}
	known := true // who was with whom
	for _, s := range g.Sides {
		known = known && (s.Team != 0 || len(parts) == 1)
	}
	var head string
	each := true // the lines say the result
	switch {
	case !known:
		head = "🎮 " + w.say("game.same")
	case len(g.Sides) > 1:
		head = w.versus(g)
	case same:
		head, each = mark(first)+" **"+w.jointly(first)+"**", false
	default:
		head = "🎮 **" + w.say("together.none") + "**"
	}
	lines := []string{strings.Join([]string{head, w.queue(g.Queue, g.Mode), w.length(g)}, dot)}
	for _, p := range parts {
		line := "• "
		if each {
			line = mark(p) + " "
		}
		line += "**" + w.short[p.RiotID] + "**" + dot
		if result := w.result(g, p); each && result != "" {
			line += result + dot
		}
		line += w.played(p)
		lines = append(lines, strings.Join(append(append([]string{line}, w.cs(g, p)...), w.special(p)...), dot))
	}
	return lines
}

// versus names who was with and against whom.
func (w *writer) versus(g report.Game) string {
	sides := make([]string, len(g.Sides))
	for i, s := range g.Sides {
		names := make([]string, len(s.Parts))
		for j, p := range s.Parts {
			names[j] = w.short[p.RiotID]
		}
		sides[i] = "**" + strings.Join(names, ", ") + "**"
	}
	return "⚔️ " + strings.Join(sides, " "+w.say("game.versus")+" ")
}

// mark is a result at a glance.
func mark(p report.Part) string {
	switch won, known := p.Won(); {
	case known && won:
		return "🟦"
	case known:
		return "🟥"
	}
	return "⬜"
}

// result is a result in words; "" for a game of Arena without places, of which
// its name is all there is to say.
func (w *writer) result(g report.Game, p report.Part) string {
	switch p.Outcome {
	case store.OutcomeWin:
		return w.say("result.win")
	case store.OutcomeLoss:
		return w.say("result.loss")
	case store.OutcomeRemake:
		return w.say("result.remake")
	case store.OutcomePlacement:
		return w.place(p)
	}
	if g.Mode == modeArena {
		return ""
	}
	return w.say("result.none")
}

// jointly is the result of friends on one side.
func (w *writer) jointly(p report.Part) string {
	switch p.Outcome {
	case store.OutcomeWin:
		return w.say("together.win")
	case store.OutcomeLoss:
		return w.say("together.loss")
	case store.OutcomeRemake:
		return w.say("together.remake")
	case store.OutcomePlacement:
		return w.say("together.place", "Place", w.place(p))
	}
	return w.say("together.none")
}

func (w *writer) place(p report.Part) string {
	if p.PlacementOf > 0 {
		return w.say("place", "Place", p.Placement, "Ordinal", ordinal(p.Placement), "Of", p.PlacementOf)
	}
	return w.say("place.alone", "Place", p.Placement, "Ordinal", ordinal(p.Placement))
}

// played is the champion, the lane where there is one, and K/D/A.
func (w *writer) played(p report.Part) string {
	s := w.champion(p)
	if id := "position." + p.Position; p.Position != "" && w.texts.Has(id) {
		s += " (" + w.say(id) + ")"
	}
	return fmt.Sprintf("%s %d/%d/%d", s, p.Kills, p.Deaths, p.Assists)
}

func (w *writer) champion(p report.Part) string {
	s := p.ChampionName
	if w.o.Names != nil {
		if known := w.o.Names.Champion(p.ChampionID, p.ChampionName, w.lang); known != "" {
			s = known
		}
	}
	if s = name(s); s == "" {
		return w.say("champion.unknown")
	}
	return s
}

// cs is the creeps and how many a minute; nothing in modes without creeps to
// count, and none a minute in a game that was not played.
func (w *writer) cs(g report.Game, p report.Part) []string {
	if g.Mode == modeArena || g.Mode == modeSwarm || p.Outcome == store.OutcomeRemake {
		return nil
	}
	if minutes := g.Duration.Minutes(); minutes >= 1 {
		return []string{w.say("cs.rate", "CS", p.CS, "Rate", strconv.FormatFloat(float64(p.CS)/minutes, 'f', 1, 64))}
	}
	return []string{w.say("cs", "CS", p.CS)}
}

// length is mm:ss, whatever the hours, and whether the game was given up.
func (w *writer) length(g report.Game) string {
	d := max(0, g.Duration).Truncate(time.Second)
	s := fmt.Sprintf("%02d:%02d", int(d/time.Minute), int(d%time.Minute/time.Second))
	if g.Surrendered() {
		s += " (" + w.say("special.surrender") + ")"
	}
	return s
}

// special is what was special about a part.
func (w *writer) special(p report.Part) []string {
	var all []string
	if p.LPKnown {
		all = append(all, w.say("lp", "LP", signed(p.LP)))
	}
	if p.Outcome == store.OutcomeRemake {
		return all
	}
	switch {
	case p.PentaKills > 1:
		all = append(all, w.say("special.pentas", "Count", p.PentaKills))
	case p.PentaKills == 1:
		all = append(all, w.say("special.penta"))
	}
	if p.TopDamage {
		all = append(all, w.say("special.damage"))
	}
	if p.Deathless() {
		all = append(all, w.say("special.deathless"))
	}
	if p.Streak != 0 {
		id, n := "special.streak.win", p.Streak
		if n < 0 {
			id, n = "special.streak.loss", -n
		}
		if p.StreakOpen {
			id += ".open"
		}
		all = append(all, w.say(id, "Count", n))
	}
	return all
}

// queues names Riot's queue ids; those of one mode share a name.
var queues = map[int]string{
	0: "custom", 400: "draft", 420: "solo", 430: "blind", 440: "flex", 450: "aram",
	480: "swiftplay", 490: "quickplay", 700: "clash", 720: "aramclash",
	830: "coop", 840: "coop", 850: "coop", 870: "coop", 880: "coop", 890: "coop",
	900: "arurf", 1010: "snowurf", 1020: "oneforall", 1200: "nexusblitz", 1300: "nexusblitz",
	1400: "ultbook", 1700: "arena", 1710: "arena", 1750: "arena",
	1810: "swarm", 1820: "swarm", 1830: "swarm", 1840: "swarm",
	1900: "pickurf", 2000: "tutorial", 2010: "tutorial", 2020: "tutorial",
	2300: "brawl", 2400: "mayhem",
}

// queue is the name of a queue. Arena and Swarm go by their mode, since each
// season brings them another id. Of one that nobody knows yet it is the mode in
// words and the id.
func (w *writer) queue(id int, mode string) string {
	switch {
	case mode == modeArena:
		return w.say("queue.arena")
	case mode == modeSwarm:
		return w.say("queue.swarm")
	case id == 900 && mode == "URF":
		// The same id was used for both kinds of URF.
		return w.say("queue.urf")
	}
	if q, ok := queues[id]; ok {
		return w.say("queue." + q)
	}
	text := w.say("mode.none")
	switch key := "mode." + mode; {
	case w.texts.Has(key) && mode != "none" && mode != "other":
		text = w.say(key)
	case name(mode) != "":
		text = name(titled(mode))
	}
	return w.say("mode.other", "Mode", text, "Queue", id)
}

// titled makes a word of Riot's capitals: "GAME_MODE" is "Game mode".
func titled(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, "_", " "))
	for i, r := range s {
		return strings.ToUpper(string(r)) + s[i+len(string(r)):]
	}
	return s
}

// signed is n with its sign: +18, −75 with a real minus, ±0.
func signed(n int) string {
	switch {
	case n > 0:
		return "+" + strconv.Itoa(n)
	case n < 0:
		return "−" + strings.TrimPrefix(strconv.Itoa(n), "-")
	}
	return "±0"
}

// ordinal is 1st, 2nd, 3rd, 4th …
func ordinal(n int) string {
	suffix := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
