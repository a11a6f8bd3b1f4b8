package commands

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"riftchime/riot"
	"riftchime/store"
)

const (
	// maxPaste bounds the Riot IDs of one /register.
	maxPaste = 75
	// lookups is how many Riot IDs are looked up at once for one /register.
	lookups = 8
	// patience is how long one /register asks Riot. A person waits for it, and
	// Discord's token lives 15 minutes.
	patience = 2 * time.Minute
)

// register follows the players named, each with a line in the answer.
func (c *Commands) register(ctx context.Context, q *request) (*answer, error) {
	typed, _ := q.text(optRiotID)
	ids, bad := riot.ParseRiotIDs(typed)
	if len(ids) == 0 && len(bad) == 0 {
		return say(q.t("register.blank")), nil
	}
	asked := riot.Platform(strings.ToLower(clean(q.optional(optRegion))))
	if asked != "" && !asked.Valid() {
		return say(q.t("register.bad_region", "Region", shown(string(asked)))), nil
	}
	key, err := c.key(ctx, q.server)
	if err != nil {
		return nil, err
	}
	var there []store.Follow
	if q.known {
		if there, err = c.o.Store.Registrations(ctx, q.channel); err != nil {
			return nil, err
		}
	}
	r := &registration{q: q, key: key, asked: asked, first: len(there) == 0, there: byName(there)}
	over := max(0, len(ids)-maxPaste)
	ids = ids[:len(ids)-over]
	if len(there) >= MaxPlayers {
		r.full(ids)
	} else {
		l := &lookup{
			riot: c.o.Riot(key), key: key, asked: asked,
			regions:  accountRegions(asked, q.locale),
			followed: r.followed(c.o.Store),
		}
		if err := c.enroll(ctx, r, l.all(ctx, ids)); err != nil {
			return nil, err
		}
	}
	for _, text := range bad[:min(len(bad), maxPaste)] {
		r.malformed(text)
	}
	if over += max(0, len(bad)-maxPaste); over > 0 {
		r.hint(q.n("register.too_many", over, "Most", maxPaste))
	}
	r.finish()
	return &answer{lines: r.lines, notes: r.hints}, nil
}

// optional is a string option, "" where it was not given.
func (q *request) optional(name string) string {
	s, _ := q.text(name)
	return s
}

// byName are players by their folded Riot IDs.
func byName(follows []store.Follow) map[string]store.Player {
	m := make(map[string]store.Player, len(follows))
	for _, f := range follows {
		m[riotID(f.Player).Fold()] = f.Player
	}
	return m
}

func riotID(p store.Player) riot.RiotID {
	return riot.RiotID{GameName: p.GameName, TagLine: p.TagLine}
}

// all looks the ids up, several at once, and keeps their order.
func (l *lookup) all(ctx context.Context, ids []riot.RiotID) []finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found := make([]finding, len(ids))
	var g errgroup.Group
	g.SetLimit(lookups)
	for i, id := range ids {
		g.Go(func() error {
			found[i] = l.find(ctx, id)
			return nil
		})
	}
	_ = g.Wait() // find never fails
	return found
}

// registration gathers the answer to one /register.
type registration struct {
	q     *request
	key   riot.Fingerprint
	asked riot.Platform
	first bool                    // nobody was followed here before
	there map[string]store.Player // who was, by folded Riot ID

	lines []string
	hints []string
	again []string // Riot IDs to try again

	row    store.Channel // the channel, where somebody was registered
	opened bool          // by this /register
	added  int
}

// followed tells whether an account is among those that the channel follows
// already, as far as that is known without asking Riot for more.
func (r *registration) followed(s Store) func(context.Context, riot.RiotID, riot.PUUID) (store.Player, bool) {
	return func(ctx context.Context, id riot.RiotID, puuid riot.PUUID) (store.Player, bool) {
		p, ok := r.there[id.Fold()]
		if !ok || r.asked != "" && string(r.asked) != p.Platform {
			return p, false
		}
		known, err := s.PUUID(ctx, p.ID, string(r.key))
		return p, err == nil && known == string(puuid)
	}
}

func (r *registration) line(id, name string, pairs ...any) {
	r.lines = append(r.lines, r.q.t(id, append([]any{"Name", shown(name)}, pairs...)...))
}

func (r *registration) already(p store.Player) {
	r.line("register.already", p.Name(), "Region", short(riot.Platform(p.Platform)))
}

// hint adds a note once.
func (r *registration) hint(text string) {
	if !slices.Contains(r.hints, text) {
		r.hints = append(r.hints, text)
	}
}

// enroll writes down what was found, in the order typed.
func (c *Commands) enroll(ctx context.Context, r *registration, found []finding) error {
	release, err := c.editing.take(ctx, r.q.channel)
	if err != nil {
		return err
	}
	defer release()
	var fresh []store.PlayerID
	for i, f := range found {
		if f.verdict != verdictFound {
			c.missed(ctx, r, f)
			continue
		}
		p, what, err := c.put(ctx, r, f)
		if err != nil && r.added == 0 {
			return err
		}
		if err != nil {
			c.log.ErrorContext(ctx, "registration not saved", "channel", r.q.channel, "err", err)
			r.unsaved(found[i:])
			break
		}
		r.registered(f, p, what)
		if what == store.RegisteredNew {
			fresh = append(fresh, p.ID)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := c.wake(ctx, r); err != nil {
		return err
	}
	if c.o.RanksSoon != nil {
		for _, id := range fresh {
			c.o.RanksSoon(id, r.q.channel)
		}
	}
	c.changed()
	return nil
}

// put registers one player, in a channel that it opens where there is none.
func (c *Commands) put(ctx context.Context, r *registration, f finding) (store.Player, store.Registered, error) {
	if r.row.ID == 0 {
		row, opened, err := c.openChannel(ctx, r.q, r.key, riot.Platform(f.player.Platform))
		if err != nil {
			return store.Player{}, 0, err
		}
		r.row, r.opened = row, opened
	}
	return c.o.Store.Register(ctx, r.q.channel, f.player, c.now(), f.baseline, MaxPlayers)
}

// missed answers for a Riot ID that was not found, or is there already. Where
// Riot had no answer for somebody who is followed, that is what counts.
func (c *Commands) missed(ctx context.Context, r *registration, f finding) {
	if f.verdict == verdictAlready {
		r.already(f.there)
		return
	}
	if f.verdict == verdictDown || f.verdict == verdictSlow || f.verdict == verdictKey {
		c.log.WarnContext(ctx, "riot id not looked up", "channel", r.q.channel, "err", f.err)
	}
	if p, ok := r.there[f.typed.Fold()]; ok && f.verdict != verdictUnknown {
		r.already(p)
		return
	}
	r.failed(f)
}

// wake gives a channel that followed nobody its next hour: while it did, the
// hours went by without it.
func (c *Commands) wake(ctx context.Context, r *registration) error {
	if !r.first || r.opened || r.row.Hours == 0 {
		return nil
	}
	now := c.now()
	if r.row.NextSlot.After(now) {
		return nil
	}
	r.row.NextSlot = c.next(r.row, now)
	return c.o.Store.SetNextSlot(ctx, r.row.ID, r.row.NextSlot)
}

func (r *registration) registered(f finding, p store.Player, what store.Registered) {
	at := short(riot.Platform(p.Platform))
	switch {
	case what == store.RegisteredFull:
		r.line("register.full", f.typed.String())
		r.hint(r.q.t("register.full_hint", "Most", MaxPlayers))
	case what == store.RegisteredAlready:
		r.already(p)
	case f.elsewhere:
		r.added++
		r.line("register.elsewhere", p.Name(), "Region", at, "Asked", short(r.asked))
	default:
		r.added++
		r.line("register.new", p.Name(), "Region", at)
	}
}

// full answers for a channel that has no room, without asking Riot.
func (r *registration) full(ids []riot.RiotID) {
	for _, id := range ids {
		if p, ok := r.there[id.Fold()]; ok {
			r.already(p)
			continue
		}
		r.line("register.full", id.String())
		r.hint(r.q.t("register.full_hint", "Most", MaxPlayers))
	}
}

// unsaved answers for those that the store did not take.
func (r *registration) unsaved(found []finding) {
	for _, f := range found {
		r.line("register.not_saved", f.typed.String())
		r.again = append(r.again, f.typed.String())
	}
}

// failed answers for a Riot ID that Riot did not tell enough about.
func (r *registration) failed(f finding) {
	name := f.typed.String()
	switch f.verdict {
	case verdictUnknown:
		r.line("register.unknown", name)
		r.hint(r.q.t("register.unknown_hint"))
	case verdictRegion:
		r.line("register.no_region", name)
		r.hint(r.q.t("register.no_region_hint"))
	case verdictNoGame:
		r.line("register.no_game", name, "Asked", short(r.asked))
		r.hint(r.q.t("register.no_game_hint"))
	case verdictSlow:
		r.line("register.slow", name)
		r.again = append(r.again, name)
	case verdictKey:
		r.line("register.key", name)
		r.hint(r.q.t("register.key_hint"))
		r.again = append(r.again, name)
	default:
		r.line("register.down", name)
		r.again = append(r.again, name)
	}
}

// malformed answers for a text that is not a Riot ID.
func (r *registration) malformed(text string) {
	reason := riot.NoHash
	var e *riot.RiotIDError
	if _, err := riot.ParseRiotID(text); errors.As(err, &e) {
		reason = e.Reason
	}
	switch reason {
	case riot.EmptyName:
		r.line("register.empty_name", text)
	case riot.EmptyTag:
		r.line("register.empty_tag", text)
	case riot.NameTooLong, riot.TagTooLong:
		r.line("register.too_long", text)
	default:
		r.line("register.no_hash", text)
	}
	r.hint(r.q.t("register.form_hint"))
}

// finish adds what the person should know besides.
func (r *registration) finish() {
	q := r.q
	if len(r.again) > 0 {
		names := make([]string, 0, len(r.again))
		for _, n := range r.again {
			names = append(names, shown(n))
		}
		r.hint(q.n("register.again_hint", len(names), "Names", strings.Join(names, ", ")))
	}
	switch {
	case r.opened:
		r.hint(q.t("register.opened", "Hours", q.hours(r.row.Hours), "Zone", r.row.Zone,
			"Language", q.t("language."+r.row.Language), "Next", stamp(r.row.NextSlot)))
	case r.added > 0 && r.row.Hours == 0:
		r.hint(q.t("register.off"))
	case r.added > 0 && r.row.PausedAt.IsZero() && !r.row.NextSlot.IsZero():
		r.hint(q.t("register.next", "Next", stamp(r.row.NextSlot)))
	}
	if lacks := q.lacks(); r.added > 0 && len(lacks) > 0 {
		r.hint(q.t("register.cannot_post", "Permissions", strings.Join(lacks, ", ")))
	}
}
