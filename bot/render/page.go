package render

import (
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// section is a part of a report that reads as one: the head, a block of players,
// the rest.
type section struct {
	title string
	// groups are kept together, line by line, as long as there is room for
	// them in a message: a player with the games, a game of friends.
	groups [][]string
	// again heads what goes on in another message.
	again string
	icon  string
	color int
	// joins: may share an embed with its neighbours where embeds are scarce.
	joins bool
}

func (s section) size() int {
	n := size(s.title)
	for _, g := range s.groups {
		n += linesSize(g)
	}
	return n + len(gap)
}

// piece is what of a section stands in one embed.
type piece struct {
	title string
	lines []string
	icon  string
	color int
	joins bool
	size  int
}

func (p *piece) text() string { return strings.Join(p.lines, "\n") }

func (p *piece) embed() *discordgo.MessageEmbed {
	e := &discordgo.MessageEmbed{Title: p.title, Description: p.text(), Color: p.color}
	if p.icon != "" {
		e.Thumbnail = &discordgo.MessageEmbedThumbnail{URL: p.icon}
	}
	return e
}

// gap stands between two pieces that share a text.
const gap = "\n\n"

// limits are sizes in UTF-16 units: of a whole message, and of one piece.
type limits struct{ page, piece int }

// linesSize counts a break for each line, one more than there is.
func linesSize(lines []string) int {
	n := 0
	for _, l := range lines {
		n += size(l) + 1
	}
	return n
}

// pager fills messages.
type pager struct {
	limits
	pages [][]*piece
	// used is the size of the last page.
	used int
}

// paginate spreads the sections over as few messages as their order and whole
// groups allow. Whatever is longer than a message is parted between lines.
func paginate(sections []section, l limits) [][]*piece {
	p := &pager{limits: l, pages: [][]*piece{nil}}
	for _, s := range sections {
		p.add(s)
	}
	return p.pages
}

func (p *pager) room() int { return p.page - p.used }

func (p *pager) turn() {
	if p.used > 0 {
		p.pages = append(p.pages, nil)
		p.used = 0
	}
}

func (p *pager) add(s section) {
	if n := s.size(); n > p.room() && n <= p.page && p.used > p.page/2 {
		p.turn() // whole in the next one, where not much of this one is lost
	}
	var open *piece
	begin := func(head string) {
		open = &piece{title: "", icon: s.icon, color: s.color, joins: s.joins}
		if head == "" {
			open.title = s.title
		}
		last := len(p.pages) - 1
		p.pages[last] = append(p.pages[last], open)
		p.used += size(open.title) + len(gap)
		if head != "" {
			p.put(open, head)
		}
	}
	started := false
	for _, group := range s.groups {
		parts := [][]string{group}
		if most := min(p.piece, p.page-len(gap)-size(s.title)) - size(s.again) - 1; linesSize(group) > most {
			if group[0] == "" {
				group = group[1:]
			}
			parts = split(group, most)
		}
		for _, lines := range parts {
			n := linesSize(lines)
			if open != nil && open.size+n > p.piece {
				open = nil // another embed, perhaps of the same message
			}
			need := n
			if open == nil {
				need += len(gap)
			}
			if !started {
				need += size(s.title)
			}
			if need > p.room() && p.used > 0 {
				p.turn()
				open = nil
			}
			if open == nil {
				head := ""
				if started && p.used == 0 {
					head = s.again
				}
				begin(head)
				if started {
					open.title = ""
				}
			}
			started = true
			p.put(open, lines...)
		}
	}
}

func (p *pager) put(to *piece, lines ...string) {
	if len(to.lines) == 0 && len(lines) > 1 && lines[0] == "" {
		lines = lines[1:] // nothing to stand apart from
	}
	to.lines = append(to.lines, lines...)
	n := linesSize(lines)
	to.size += n
	p.used += n
}

// split parts lines into runs of at most most.
func split(lines []string, most int) [][]string {
	var parts [][]string
	used := most + 1
	for _, l := range lines {
		if n := size(l) + 1; used+n > most {
			parts = append(parts, []string{l})
			used = n
		} else {
			last := len(parts) - 1
			parts[last] = append(parts[last], l)
			used += n
		}
	}
	return parts
}

// merge joins neighbours, from the end, until at most most pieces are left. Two
// that fit in one always exist among more than ten pieces of one message.
func merge(page []*piece, most int) []*piece {
	page = slices.Clone(page)
	for len(page) > most {
		i := len(page) - 2
		for i >= 0 && !(page[i].joins && page[i+1].joins && page[i].size+page[i+1].size+1 <= maxDescription) {
			i--
		}
		if i < 0 {
			break
		}
		a, b := page[i], page[i+1]
		joined := &piece{
			title: a.title, lines: slices.Concat(a.lines, []string{""}, b.lines),
			color: colorEven, joins: true, size: a.size + b.size + 1,
		}
		page = slices.Replace(page, i, i+2, joined)
	}
	return page
}
