package render

import (
	"strconv"
	"strings"
	"time"

	"riftchime/bot/report"
	"riftchime/store"
)

// writer puts a report into words.
type writer struct {
	voice
	r report.Report
	o Options
	// short is the name by which a player is called in a line: without the tag,
	// where nobody else in the report is called so.
	short map[string]string
}

func newWriter(r report.Report, o Options, v voice) *writer {
	w := &writer{voice: v, r: r, o: o, short: map[string]string{}}
	w.shorten()
	return w
}

// shorten finds the short names.
func (w *writer) shorten() {
	called := map[string]map[string]bool{}
	each := func(id string) {
		before, _, _ := strings.Cut(id, "#")
		k := strings.ToLower(clean(before))
		if called[k] == nil {
			called[k] = map[string]bool{}
		}
		called[k][id] = true
	}
	w.everyName(func(n report.Name) { each(n.RiotID) })
	w.everyName(func(n report.Name) {
		before, _, _ := strings.Cut(n.RiotID, "#")
		if k := strings.ToLower(clean(before)); k != "" && len(called[k]) == 1 {
			w.short[n.RiotID] = name(before)
			return
		}
		w.short[n.RiotID] = w.full(n.RiotID)
	})
}

func (w *writer) everyName(do func(report.Name)) {
	for _, b := range w.r.Blocks {
		for _, p := range b.Players {
			do(p.Name)
		}
	}
	for _, n := range w.r.Idle {
		do(n)
	}
	for _, m := range w.r.Missing {
		for _, n := range m.Names {
			do(n)
		}
	}
}

// full is a Riot ID as text. A name that can't be seen is said to be none.
func (w *writer) full(riotID string) string {
	before, tag, found := strings.Cut(riotID, "#")
	s := name(before)
	if s == "" {
		s = escape(w.say("name.none"))
	}
	if found {
		s += "#" + name(tag)
	}
	return s
}

// former is " (formerly …)" where the name changed.
func (w *writer) former(n report.Name) string {
	if n.Former == "" {
		return ""
	}
	return " (" + w.say("formerly", "Name", w.full(n.Former)) + ")"
}

// sections are the parts of the report, in order.
func (w *writer) sections() []section {
	all := []section{w.head()}
	for _, b := range w.r.Blocks {
		all = append(all, w.block(b))
	}
	if s, ok := w.rest(); ok {
		all = append(all, s)
	}
	return all
}

// dot joins what stands in one line.
const dot = " · "

func (w *writer) head() section {
	s := section{color: colorHead, title: w.say("title.now")}
	end := w.r.Now
	if !w.r.Slot.IsZero() {
		end = w.r.Slot
		s.title = w.say("title", "Hour", w.clock(end))
	}
	var lines []string
	if period := w.period(w.r.From, end); period != "" {
		lines = append(lines, period)
	}
	if t := w.r.Totals; t.Games == 0 {
		if !w.r.Partial {
			lines = append(lines, w.say("nobody"))
		}
	} else {
		parts := []string{"**" + w.count("record.games", t.Games) + "**"}
		parts = append(parts, w.record(t.Wins, t.Losses, t.Split, t.Remakes, t.Open)...)
		if t.LPKnown {
			parts = append(parts, w.say("total.lp", "LP", signed(t.LP)))
		}
		lines = append(lines, strings.Join(parts, dot))
	}
	if len(lines) == 0 {
		lines = append(lines, w.say("mode.none"))
	}
	s.groups = [][]string{lines}
	return s
}

// record names the counts that are not zero. Wins and losses stay together as
// soon as there is one of either.
func (w *writer) record(wins, losses, split, remakes, open int) []string {
	var parts []string
	if wins > 0 || losses > 0 {
		parts = append(parts, w.say("record.score",
			"Wins", w.count("record.wins", wins), "Losses", w.count("record.losses", losses)))
	}
	for _, c := range []struct {
		id string
		n  int
	}{{"record.split", split}, {"record.remakes", remakes}, {"record.open", open}} {
		if c.n > 0 {
			parts = append(parts, w.count(c.id, c.n))
		}
	}
	return parts
}

// clock is the time of day in the channel's zone; with seconds in a rehearsal,
// whose slots lie anywhere.
func (w *writer) clock(t time.Time) string {
	layout := "15:04"
	if !w.r.Slot.IsZero() && w.r.Slot.Second() != 0 {
		layout = "15:04:05"
	}
	return t.In(w.o.Zone).Format(layout)
}

func (w *writer) date(t time.Time) string {
	t = t.In(w.o.Zone)
	return w.say("date",
		"Weekday", w.say("weekday."+strconv.Itoa(int(t.Weekday()))),
		"Month", w.say("month."+strconv.Itoa(int(t.Month()))),
		"Day", t.Day())
}

// period is what the report covers; "" where neither end is known.
func (w *writer) period(from, to time.Time) string {
	if to.IsZero() {
		return ""
	}
	zone := escape(w.o.Zone.String())
	if w.o.Zone == time.UTC {
		zone = "UTC"
	}
	zone = strings.ReplaceAll(zone, `\/`, "/")
	last := w.date(to) + " " + w.clock(to)
	if from.IsZero() || !from.Before(to) {
		return w.say("period.until", "To", last, "Zone", zone)
	}
	first := w.date(from) + " " + w.clock(from)
	if w.date(from) == w.date(to) && to.Sub(from) < 48*time.Hour {
		last = w.clock(to)
	}
	return w.say("period", "From", first, "To", last, "Zone", zone)
}

// block is the section of players who belong together.
func (w *writer) block(b report.Block) section {
	s := section{joins: true, color: blockColor(b)}
	names := make([]string, 0, len(b.Players))
	for i, p := range b.Players {
		names = append(names, "**"+w.short[p.Name.RiotID]+"**")
		lines := w.player(p)
		if i > 0 && (len(p.Alone) > 0 || len(b.Players[i-1].Alone) > 0) {
			lines = append([]string{""}, lines...) // apart from the games of another
		}
		s.groups = append(s.groups, lines)
	}
	const most = 5
	if len(names) > most {
		names = append(names[:most], "…")
	}
	s.again = w.say("again", "Name", strings.Join(names, ", "))
	if len(b.Players) == 1 {
		s.icon = w.icon(b.Players[0].Alone)
	}
	for i, g := range b.Together {
		lines := w.together(g)
		if i == 0 {
			lines = append([]string{"", w.say("block.together")}, lines...)
		}
		s.groups = append(s.groups, lines)
	}
	return s
}

// blockColor tells at a glance whether there was more won than lost.
func blockColor(b report.Block) int {
	sum := 0
	for _, p := range b.Players {
		sum += p.Record.Wins - p.Record.Losses
	}
	switch {
	case sum > 0:
		return colorWins
	case sum < 0:
		return colorLosses
	}
	return colorEven
}

// icon is the picture of the champion of the newest game.
func (w *writer) icon(games []report.Game) string {
	if w.o.Names == nil || len(games) == 0 {
		return ""
	}
	p := games[len(games)-1].Sides[0].Parts[0]
	url := w.o.Names.Icon(p.ChampionID, p.ChampionName)
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") || len(url) > maxURL {
		return ""
	}
	return url
}

// player is the name, the ranks and the games without friends.
func (w *writer) player(p report.Player) []string {
	head := "**" + w.full(p.Name.RiotID) + "**" + w.former(p.Name)
	if p.Record.Games > 1 {
		parts := append([]string{w.count("record.games", p.Record.Games)},
			w.record(p.Record.Wins, p.Record.Losses, 0, p.Record.Remakes, p.Record.Open)...)
		head += " — " + strings.Join(parts, dot)
	}
	lines := []string{head}
	if ranks := w.ranks(p); ranks != "" {
		lines = append(lines, ranks)
	}
	for _, g := range p.Alone {
		lines = append(lines, w.alone(g))
	}
	return lines
}

// rest are the players without news and those who are missing.
func (w *writer) rest() (section, bool) {
	s := section{color: colorRest}
	if len(w.r.Idle) > 0 {
		names := make([]string, len(w.r.Idle))
		for i, n := range w.r.Idle {
			names[i] = w.short[n.RiotID] + w.former(n)
		}
		for i, run := range runs(names) {
			if i == 0 {
				run = w.say("idle", "Names", run)
			}
			s.groups = append(s.groups, []string{run})
		}
	}
	for _, m := range w.r.Missing {
		names := make([]string, len(m.Names))
		for i, n := range m.Names {
			names[i] = w.short[n.RiotID] + w.former(n)
		}
		cause := "cause." + m.Cause
		if !w.texts.Has(cause) {
			cause = "cause.other"
		}
		for _, run := range runs(names) {
			s.groups = append(s.groups, []string{
				w.say("missing", "Platform", platform(m.Platform), "Names", run, "Cause", w.say(cause)),
			})
		}
	}
	if len(w.r.Missing) > 0 {
		s.groups = append(s.groups, []string{w.say("missing.later")})
	}
	return s, len(s.groups) > 0
}

// runs joins names by commas, in lines of a bounded size.
func runs(names []string) []string {
	const most = 1200
	var lines []string
	line := ""
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		switch {
		case line == "":
			line = n
		case size(line)+1+size(n) > most:
			lines = append(lines, line)
			line = n
		default:
			line += " " + n
		}
	}
	return append(lines, line)
}

// platforms are the names that players have for regions.
var platforms = map[string]string{
	"br1": "BR", "eun1": "EUNE", "euw1": "EUW", "jp1": "JP", "kr": "KR", "la1": "LAN", "la2": "LAS",
	"me1": "ME", "na1": "NA", "oc1": "OCE", "ph2": "PH", "ru": "RU", "sg2": "SEA", "th2": "TH",
	"tr1": "TR", "tw2": "TW", "vn2": "VN",
}

func platform(id string) string {
	if s, ok := platforms[strings.ToLower(id)]; ok {
		return s
	}
	return name(strings.ToUpper(id))
}

// ranks are the player's ranks in one line. A queue in which nothing is known of
// a rank, or there is none, is left out where it says nothing.
func (w *writer) ranks(p report.Player) string {
	unknown, unranked := 0, 0
	for _, s := range p.Ranks {
		switch {
		case s.State == report.Unknown:
			unknown++
		case s.State == report.Unranked && s.Placements == 0 && !s.Pending:
			unranked++
		}
	}
	switch len(p.Ranks) {
	case 0:
		return ""
	case unknown:
		return w.say("rank.unknown.all")
	case unranked:
		return w.say("rank.unranked.all")
	}
	var parts []string
	for _, s := range p.Ranks {
		if s.Queue == store.QueueFlex && s.State == report.Unranked && s.Placements == 0 && !s.Pending {
			continue
		}
		parts = append(parts, w.standing(s))
	}
	return strings.Join(parts, dot)
}

func (w *writer) standing(s report.Standing) string {
	queue := w.say("queue.solo")
	if s.Queue == store.QueueFlex {
		queue = w.say("queue.flex")
	}
	var text string
	switch {
	case s.State == report.Unknown:
		return w.say("rank.unknown", "Queue", queue)
	case s.State == report.Unranked && s.Placements > 0:
		text = w.say("rank.placements", "Queue", queue, "Played", s.Placements, "Of", report.PlacementGames)
	case s.State == report.Unranked:
		text = w.say("rank.unranked", "Queue", queue)
	default:
		text = w.say("rank.ranked", "Queue", queue, "Rank", w.rank(s.Tier, s.Division), "LP", s.LP)
	}
	var notes []string
	if s.ChangeKnown {
		switch {
		case s.ChangeGames == 0 && s.Change != 0:
			notes = append(notes, w.say("lp.nogame", "LP", signed(s.Change)))
		case s.ChangeInGame:
			notes = append(notes, w.say("lp", "LP", signed(s.Change)))
		case s.ChangeGames > 0:
			notes = append(notes, w.count("lp.games", s.ChangeGames, "LP", signed(s.Change)))
		}
	}
	if s.Pending {
		notes = append(notes, w.say("lp.pending"))
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	switch to := w.rank(s.Tier, s.Division); s.Move {
	case report.Promoted:
		text += " " + w.say("move.up", "From", w.rank(s.FromTier, s.FromDivision), "To", to)
	case report.Demoted:
		text += " " + w.say("move.down", "From", w.rank(s.FromTier, s.FromDivision), "To", to)
	case report.Placed:
		text += " " + w.say("move.placed", "To", to)
	}
	return text
}

// rank is a tier with its division, as people of the language say it. A tier
// that is not known yet is shown as Riot spells it, in small letters.
func (w *writer) rank(tier, division string) string {
	id := "tier." + tier
	s := ""
	if w.texts.Has(id) {
		s = w.say(id)
	} else {
		s = name(titled(tier))
	}
	if division == "" {
		return s
	}
	if n, ok := divisionNumbers[division]; ok && w.lang == "ko" {
		return s + " " + n
	}
	return s + " " + name(division)
}

// divisionNumbers are divisions as Koreans write them.
var divisionNumbers = map[string]string{"I": "1", "II": "2", "III": "3", "IV": "4"}
