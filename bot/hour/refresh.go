package hour

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"riftchime/bot/report"
	"riftchime/riot"
	"riftchime/store"
)

// Causes why a player's news is missing, as reports name them.
const (
	// CauseRiot: Riot did not answer.
	CauseRiot = "riot"
	// CauseKey: Riot refuses the key.
	CauseKey = "key"
	// CauseTime: the limits left no room before the hour.
	CauseTime = "time"
	// CauseName: the Riot ID is known to nobody.
	CauseName = "name"
	// CauseStore: the database did not take it.
	CauseStore = "store"
)

const (
	// window is how far back games are looked for (DESIGN section 8).
	window = 14 * 24 * time.Hour
	// overlap is how much further the list is asked for: Riot lists late.
	overlap = 3 * time.Hour
	// page is the most ids that one list holds.
	page = 100
	// pages bounds a list that never ends.
	pages = 10
	// rankWorkers ask for ranks beside those who read games, so that the
	// tightest limit does not hold up the others.
	rankWorkers = 8
	// lagRank is how long a ranked game may wait for its wins and losses to
	// show; after it, it is taken to change nothing.
	lagRank = 6 * time.Hour
)

// refresher reads players' games and ranks. One serves one slot, or one person
// who waits; its methods are safe for concurrent use.
type refresher struct {
	h       *Hour
	slot    time.Time // zero: for no slot
	urgency Urgency

	players, games, ranks atomic.Int64 // read so far
	onRead                func()       // after each player; may be nil

	mu sync.Mutex // guards what follows
	// flights are the matches fetched or being fetched: one fetch for all who
	// played it.
	flights map[flightKey]*flight
	// people are those being refreshed, by the PUUID that matches carry.
	people map[personKey]*person
	// failed says why a player could not be read whole.
	failed map[store.PlayerID]string
	// troubles wait to be logged together.
	troubles map[trouble]troubled
	// unreadable are listed matches without a body, by who lists them.
	unreadable map[store.PlayerID][]store.Reason
}

type flightKey struct {
	key string
	id  riot.MatchID
}

type flight struct {
	done  chan struct{}
	match *riot.Match // set before done closes
	err   error
}

type personKey struct {
	key   string
	puuid riot.PUUID
}

// person is what a match may tell about a player who is refreshed.
type person struct {
	id     store.PlayerID
	name   riot.RiotID
	newest time.Time // end of the newest game seen
	moved  bool      // the newest game was on another platform
	home   riot.Platform
}

func newRefresher(h *Hour, slot time.Time, u Urgency) *refresher {
	return &refresher{
		h: h, slot: slot, urgency: u,
		flights:    map[flightKey]*flight{},
		people:     map[personKey]*person{},
		failed:     map[store.PlayerID]string{},
		troubles:   map[trouble]troubled{},
		unreadable: map[store.PlayerID][]store.Reason{},
	}
}

// read refreshes the players and returns when each is read or failed, or ctx
// ended. A fixed number of workers serves each platform: one that is slow or
// down holds up no other.
func (r *refresher) read(ctx context.Context, due []store.DuePlayer) {
	byPlatform := map[string][]store.DuePlayer{}
	for _, p := range due {
		byPlatform[p.Platform] = append(byPlatform[p.Platform], p)
		r.meet(p, riot.PUUID(p.PUUID))
	}
	var all sync.WaitGroup
	for _, players := range byPlatform {
		ranks := make(chan rankJob, len(players))
		var readers sync.WaitGroup
		var next atomic.Int64
		for range min(r.h.o.Workers, len(players)) {
			readers.Go(func() {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(players) {
						return
					}
					r.player(ctx, players[i], ranks)
				}
			})
		}
		all.Go(func() {
			readers.Wait()
			close(ranks)
		})
		for range min(rankWorkers, len(players)) {
			all.Go(func() {
				for job := range ranks {
					r.rank(ctx, job)
				}
			})
		}
	}
	all.Wait()
	r.tell(ctx)
}

// meet makes p known to matches read from now on.
func (r *refresher) meet(p store.DuePlayer, puuid riot.PUUID) {
	if puuid == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.people[personKey{r.h.keyOf(p), puuid}] = &person{
		id: p.ID, newest: p.NewestListed, home: riot.Platform(p.Platform),
		name: riot.RiotID{GameName: p.GameName, TagLine: p.TagLine},
	}
}

// fail notes why p could not be read, and finishes with it.
func (r *refresher) fail(ctx context.Context, p store.DuePlayer, err error) {
	cause := causeOf(err)
	r.mu.Lock()
	if before := r.failed[p.ID]; cause == CauseTime && before != "" {
		cause = before // that is why there was no time
	}
	r.failed[p.ID] = cause
	r.mu.Unlock()
	if ctx.Err() == nil {
		r.trouble(ctx, "players not read", p, cause, err)
	}
}

// trouble counts what went wrong with a player, for one line in the log a round:
// an outage concerns thousands.
func (r *refresher) trouble(ctx context.Context, what string, p store.DuePlayer, cause string, err error) {
	r.h.log.DebugContext(ctx, what, "player", p.ID, "platform", p.Platform, "cause", cause, "err", err)
	k := trouble{what, p.Platform, cause}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.troubles[k]
	if t.count++; t.err == nil {
		t.err = err
	}
	r.troubles[k] = t
}

// tell logs the troubles since the last time.
func (r *refresher) tell(ctx context.Context) {
	r.mu.Lock()
	troubles := r.troubles
	r.troubles = map[trouble]troubled{}
	r.mu.Unlock()
	for k, t := range troubles {
		r.h.log.WarnContext(ctx, k.what, "platform", k.platform, "cause", k.cause, "players", t.count, "slot", r.slot, "err", t.err)
	}
}

// trouble is a kind of trouble; troubled is how many had it, and the first error.
type trouble struct{ what, platform, cause string }

type troubled struct {
	count int
	err   error
}

// failure is why the player could not be read, "" where that is not known.
func (r *refresher) failure(id store.PlayerID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed[id]
}

// urgencyOf puts a player whose requests failed, as when their key stepped back,
// ahead of those not asked yet.
func (r *refresher) urgencyOf(id store.PlayerID) Urgency {
	if r.urgency == ForSlot && r.failure(id) != "" {
		return ForRetry
	}
	return r.urgency
}

// unread are the games on the player's list that have no body.
func (r *refresher) unread(id store.PlayerID) []store.Reason {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.unreadable[id])
}

func causeOf(err error) string {
	var re *riot.Error
	switch {
	case errors.Is(err, errNoName):
		return CauseName
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return CauseTime
	case !errors.As(err, &re):
		return CauseStore
	case re.Kind == riot.KindBadKey:
		return CauseKey
	case re.Kind == riot.KindLimited:
		return CauseTime
	}
	return CauseRiot
}

var errNoName = errors.New("Riot knows nobody by that Riot ID")

// rankJob is a player whose games are read and whose rank is to be asked.
type rankJob struct {
	p     store.DuePlayer
	puuid riot.PUUID
	// wanted: a ranked game is newer than the ranks.
	wanted bool
}

// player reads one player's list and the games in it that are new, and hands
// the player on to ranks where the rank is due.
func (r *refresher) player(ctx context.Context, p store.DuePlayer, ranks chan<- rankJob) {
	if ctx.Err() != nil {
		r.fail(ctx, p, ctx.Err())
		return
	}
	api := r.h.o.Riot(r.h.keyOf(p), r.urgencyOf(p.ID))
	puuid, err := r.list(ctx, api, &p)
	if err != nil {
		r.fail(ctx, p, err)
		return
	}
	now, err := r.h.o.Store.Player(ctx, p.ID)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return // forgotten meanwhile
		}
		r.fail(ctx, p, err)
		return
	}
	p.Player = now
	if rankDue(now, time.Now()) {
		ranks <- rankJob{p: p, puuid: puuid, wanted: now.RanksWanted}
		return
	}
	r.finish(ctx, p, false)
}

// finish records that the player is read whole.
func (r *refresher) finish(ctx context.Context, p store.DuePlayer, ranksWanted bool) {
	slot := later(r.slot, p.RefreshedSlot) // a later slot's run may have read the player too
	if err := r.h.o.Store.Refreshed(ctx, p.ID, slot, time.Now(), ranksWanted); err != nil {
		r.fail(ctx, p, err)
		return
	}
	r.mu.Lock()
	delete(r.failed, p.ID)
	r.mu.Unlock()
	r.players.Add(1)
	if r.onRead != nil {
		r.onRead()
	}
}

// list reads the player's list and all games in it that are not stored yet. It
// returns the PUUID that holds under the key.
func (r *refresher) list(ctx context.Context, api Riot, p *store.DuePlayer) (riot.PUUID, error) {
	puuid := riot.PUUID(p.PUUID)
	var err error
	if puuid == "" {
		if puuid, err = r.resolve(ctx, api, *p); err != nil {
			return "", err
		}
	}
	ids, err := r.ids(ctx, api, *p, puuid)
	if riot.IsKind(err, riot.KindDecrypting) {
		// The PUUID is of another key, or Riot slipped; the Riot ID decides.
		if puuid, err = r.resolve(ctx, api, *p); err != nil {
			return "", err
		}
		ids, err = r.ids(ctx, api, *p, puuid)
	}
	if err != nil && !riot.IsKind(err, riot.KindNotFound) {
		return "", err
	}
	key := r.h.keyOf(*p)
	texts := make([]string, 0, len(ids))
	for _, id := range ids {
		if !r.h.below(p.ID, id) {
			texts = append(texts, string(id))
		}
	}
	wanted, err := r.h.o.Store.Listed(ctx, p.ID, key, texts, time.Now())
	if err != nil {
		return "", err
	}
	// The newest first, so that the first one that is too old ends it.
	slices.SortStableFunc(wanted, func(a, b store.MatchToRead) int {
		return cmp.Compare(number(riot.MatchID(b.ID)), number(riot.MatchID(a.ID)))
	})
	var broken error
	for _, w := range wanted {
		id := riot.MatchID(w.ID)
		if r.h.below(p.ID, id) {
			continue
		}
		m, err := r.match(ctx, api, key, id)
		if err != nil {
			switch code := unreadable(err); code {
			case "":
				broken = err // the others may still be had
			default:
				r.mu.Lock()
				r.unreadable[p.ID] = append(r.unreadable[p.ID], store.Reason{
					Player: p.ID, Match: w.ID, Slot: r.slot, Code: code, At: time.Now(),
				})
				r.mu.Unlock()
			}
			continue
		}
		if m.End.Before(oldest(*p)) {
			r.h.setFloor(p.ID, id)
		}
	}
	return puuid, broken
}

// Codes of why a game is not reported, as /why tells them.
const (
	codeAbsent    = "match_absent"
	codeForbidden = "match_forbidden"
	codeAborted   = "match_aborted"
)

// unreadable tells errors that are a match's own from those of the moment.
func unreadable(err error) string {
	var re *riot.Error
	if !errors.As(err, &re) {
		return ""
	}
	switch re.Kind {
	case riot.KindNotFound, riot.KindRejected:
		return codeAbsent // not for ever: some tries follow
	case riot.KindForbidden:
		return codeForbidden
	case riot.KindAborted:
		return codeAborted
	}
	return ""
}

// resolve finds the player's PUUID under the key by Riot ID.
func (r *refresher) resolve(ctx context.Context, api Riot, p store.DuePlayer) (riot.PUUID, error) {
	region := riot.Platform(p.Platform).AccountRegion()
	a, err := api.AccountByRiotID(ctx, region, riot.RiotID{GameName: p.GameName, TagLine: p.TagLine})
	if riot.IsKind(err, riot.KindNotFound) {
		return "", errNoName
	}
	if err != nil {
		return "", err
	}
	err = r.h.o.Store.SetPUUID(ctx, p.ID, r.h.keyOf(p), string(a.PUUID))
	if errors.Is(err, store.ErrTaken) {
		return "", errNoName // the name is somebody else's by now
	}
	if err != nil {
		return "", err
	}
	r.meet(p, a.PUUID)
	return a.PUUID, nil
}

// oldest is the end before which no game of the player's is told anywhere, with
// room for games that Riot lists late.
func oldest(p store.DuePlayer) time.Time {
	return later(p.Since, time.Now().Add(-window)).Add(-overlap)
}

// ids lists the player's matches since the earliest registration, newest first.
// More than one page is asked for only where a whole page is new.
//
// Riot may ignore the start time: then a page holds what was played years ago,
// and one of its games tells.
func (r *refresher) ids(ctx context.Context, api Riot, p store.DuePlayer, puuid riot.PUUID) ([]riot.MatchID, error) {
	since := oldest(p)
	var all []riot.MatchID
	for n := range pages {
		ids, err := api.MatchIDs(ctx, riot.Platform(p.Platform), puuid, riot.MatchIDsQuery{Since: since, Start: n * page, Count: page})
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
		if len(ids) < page {
			break
		}
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = string(id)
		}
		known, err := r.h.o.Store.MatchStates(ctx, texts)
		if err != nil {
			return nil, err
		}
		last := slices.MinFunc(ids, func(a, b riot.MatchID) int { return cmp.Compare(number(a), number(b)) })
		if len(known) > 0 || r.h.below(p.ID, last) {
			break
		}
		m, err := r.match(ctx, api, r.h.keyOf(p), last)
		switch {
		case err != nil && unreadable(err) == "":
			return nil, err
		case err == nil && m.End.Before(since):
			r.h.setFloor(p.ID, last)
			return all, nil
		}
	}
	return all, nil
}

// floorKey names a floor: matches are numbered in the order of their beginning
// on each platform.
type floorKey struct {
	player   store.PlayerID
	platform riot.Platform
}

// below reports whether the match is known to be too old for the player.
func (h *Hour) below(player store.PlayerID, id riot.MatchID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	floor, ok := h.floors[floorKey{player, id.Platform()}]
	n := number(id)
	return ok && n >= 0 && n < floor
}

// setFloor notes that the match is too old for the player, and so are those
// with a smaller number: no game lasts as long as the room that oldest leaves.
func (h *Hour) setFloor(player store.PlayerID, id riot.MatchID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := floorKey{player, id.Platform()}
	h.floors[k] = max(h.floors[k], number(id))
}

// number is the match's number on its platform, -1 where it can't be read: such
// a match is below nothing.
func number(id riot.MatchID) int64 {
	_, digits, _ := strings.Cut(string(id), "_")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// match fetches and stores a match, once for all who ask.
func (r *refresher) match(ctx context.Context, api Riot, key string, id riot.MatchID) (*riot.Match, error) {
	k := flightKey{key, id}
	r.mu.Lock()
	f, there := r.flights[k]
	if !there {
		f = &flight{done: make(chan struct{})}
		r.flights[k] = f
	}
	r.mu.Unlock()
	if there {
		select {
		case <-f.done:
			return f.match, f.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	f.match, f.err = api.Match(ctx, id)
	if err := r.keep(ctx, key, id, f.match, f.err); err != nil {
		f.err = err
	}
	if f.err != nil && unreadable(f.err) == "" {
		r.mu.Lock()
		delete(r.flights, k) // a later round may try again
		r.mu.Unlock()
	}
	close(f.done)
	return f.match, f.err
}

// keep stores what a fetch brought: the body, or why there is none.
func (r *refresher) keep(ctx context.Context, key string, id riot.MatchID, m *riot.Match, err error) error {
	now := time.Now()
	if err == nil {
		r.games.Add(1)
		if err := r.h.o.Store.PutMatch(ctx, stored(m, key), now); err != nil {
			return err
		}
		return r.notice(ctx, key, m)
	}
	switch unreadable(err) {
	case codeAbsent:
		if r.slot.IsZero() {
			return nil // somebody who asks again and again must not use up the tries
		}
		return r.h.o.Store.MatchFailed(ctx, string(id), store.MatchAbsent, now)
	case codeForbidden:
		return r.h.o.Store.MatchFailed(ctx, string(id), store.MatchForbidden, now)
	case codeAborted:
		return r.h.o.Store.MatchFailed(ctx, string(id), store.MatchEmpty, now)
	}
	return nil
}

// notice takes from a match what it tells about the players in it: a new Riot
// ID, another platform. Older games than the newest tell nothing.
func (r *refresher) notice(ctx context.Context, key string, m *riot.Match) error {
	type rename struct {
		id   store.PlayerID
		name riot.RiotID
	}
	var renames []rename
	r.mu.Lock()
	for _, part := range m.Participants {
		who := r.people[personKey{key, part.PUUID}]
		if who == nil || part.PUUID == "" || !m.End.After(who.newest) {
			continue
		}
		who.newest = m.End
		who.moved = m.Platform != who.home
		if n := part.RiotID; n.GameName != "" && n.TagLine != "" && n != who.name {
			who.name = n
			renames = append(renames, rename{who.id, n})
		}
	}
	r.mu.Unlock()
	for _, n := range renames {
		if err := r.h.o.Store.SetName(ctx, n.id, n.name.GameName, n.name.TagLine, m.End); err != nil {
			return err
		}
	}
	return nil
}

// rank reads a player's ranks and finishes with the player. Ranks that can't be
// had leave the games as they are: they are still told.
func (r *refresher) rank(ctx context.Context, j rankJob) {
	moved, err := r.readRanks(ctx, j)
	switch {
	case err == nil:
		// A ranked game whose win or loss does not show yet: again next time.
		r.finish(ctx, j.p, j.wanted && !moved && r.newest(j).After(time.Now().Add(-lagRank)))
	case ctx.Err() != nil && r.slot.IsZero():
		r.fail(ctx, j.p, err)
	default:
		r.trouble(ctx, "ranks not read", j.p, causeOf(err), err)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		r.finish(ctx, j.p, j.wanted)
	}
}

func (r *refresher) newest(j rankJob) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if who := r.people[personKey{r.h.keyOf(j.p), j.puuid}]; who != nil {
		return who.newest
	}
	return j.p.NewestListed
}

// readRanks asks for a player's ranks, where the player now plays. It reports
// whether wins and losses moved.
func (r *refresher) readRanks(ctx context.Context, j rankJob) (moved bool, err error) {
	api := r.h.o.Riot(r.h.keyOf(j.p), r.urgencyOf(j.p.ID))
	platform := riot.Platform(j.p.Platform)
	r.mu.Lock()
	who := r.people[personKey{r.h.keyOf(j.p), j.puuid}]
	elsewhere := who != nil && who.moved
	r.mu.Unlock()
	if elsewhere {
		if platform, err = r.home(ctx, api, j); err != nil {
			return false, err
		}
	}
	entries, err := api.LeagueEntries(ctx, platform, j.puuid)
	gone := riot.IsKind(err, riot.KindNotFound)
	if err != nil && !gone {
		return false, err
	}
	if len(entries) == 0 && !elsewhere && (gone || !j.p.RanksAt.IsZero()) {
		// Unranked, or moved to another platform: the rank is no longer here.
		now, err := r.home(ctx, api, j)
		if err != nil && !riot.IsKind(err, riot.KindNotFound) {
			return false, err
		}
		if err == nil && now != platform {
			entries, err = api.LeagueEntries(ctx, now, j.puuid)
			if err != nil && !riot.IsKind(err, riot.KindNotFound) {
				return false, err
			}
		}
	}
	r.ranks.Add(1)
	now := time.Now()
	ranks := make([]store.Rank, len(entries))
	for i, e := range entries {
		ranks[i] = store.Rank{
			Queue: e.Queue, Tier: e.Tier, Division: e.Division, LP: e.LP, Wins: e.Wins, Losses: e.Losses, At: now,
		}
	}
	before, after, err := r.h.o.Store.PutRanks(ctx, j.p.ID, ranks, now)
	if err != nil {
		return false, err
	}
	played := map[string]int{}
	for _, b := range before {
		played[b.Queue] = b.Wins + b.Losses
	}
	for _, a := range after {
		if a.Wins+a.Losses != played[a.Queue] {
			moved = true
		}
	}
	return moved, nil
}

// home finds the platform on which the player now plays and keeps it.
func (r *refresher) home(ctx context.Context, api Riot, j rankJob) (riot.Platform, error) {
	platform, err := api.ActivePlatform(ctx, riot.Platform(j.p.Platform).AccountRegion(), j.puuid)
	if err != nil {
		return "", err
	}
	if !platform.Valid() || string(platform) == j.p.Platform {
		return riot.Platform(j.p.Platform), nil
	}
	r.h.log.InfoContext(ctx, "player moved", "player", j.p.ID, "from", j.p.Platform, "to", platform)
	return platform, r.h.o.Store.SetPlatform(ctx, j.p.ID, string(platform))
}

// stored turns Riot's match into the one that is kept.
func stored(m *riot.Match, key string) store.Match {
	s := store.Match{
		ID: string(m.ID), Platform: string(m.Platform), Queue: m.Queue, Mode: m.Mode, Map: m.Map,
		Start: m.Start, End: m.End, Duration: m.Duration, Key: key,
		Participants: make([]store.Participant, len(m.Participants)),
	}
	for i, p := range m.Participants {
		s.Participants[i] = store.Participant{
			PUUID: string(p.PUUID), GameName: p.RiotID.GameName, TagLine: p.RiotID.TagLine, Bot: p.Bot,
			ChampionID: p.ChampionID, ChampionName: p.ChampionName, Team: p.Team,
			Kills: p.Kills, Deaths: p.Deaths, Assists: p.Assists, CS: p.CS, Damage: p.Damage,
			Outcome: outcomes[p.Outcome], Placement: p.Placement, PlacementOf: p.PlacementOf,
			Position: p.Position, LargestMultiKill: p.LargestMultiKill, PentaKills: p.PentaKills,
			TopDamage: p.TopDamage, Surrendered: p.Surrendered,
		}
	}
	return s
}

var outcomes = map[riot.Outcome]uint8{
	riot.OutcomeNone:      store.OutcomeNone,
	riot.OutcomeWin:       store.OutcomeWin,
	riot.OutcomeLoss:      store.OutcomeLoss,
	riot.OutcomeRemake:    store.OutcomeRemake,
	riot.OutcomePlacement: store.OutcomePlacement,
}

// Refresh reads a channel's players whose data is older than olderThan, for a
// person who waits; ctx bounds it. It returns those that could not be read.
func (h *Hour) Refresh(ctx context.Context, channel store.ChannelID, olderThan time.Duration) ([]report.Missing, error) {
	due, err := h.o.Store.DuePlayersOf(ctx, channel)
	if err != nil {
		return nil, err
	}
	old := due[:0]
	for _, p := range due {
		if time.Since(p.RefreshedAt) > olderThan {
			old = append(old, p)
		}
	}
	r := newRefresher(h, time.Time{}, ForPerson)
	r.read(ctx, old)
	byCause := map[string]*report.Missing{}
	var missing []report.Missing
	for _, p := range old {
		cause, failed := r.failed[p.ID]
		if !failed {
			continue
		}
		k := p.Platform + " " + cause
		if byCause[k] == nil {
			byCause[k] = &report.Missing{Platform: p.Platform, Cause: cause}
		}
		byCause[k].Players = append(byCause[k].Players, p.ID)
	}
	for _, m := range byCause {
		missing = append(missing, *m)
	}
	return missing, nil
}

// soonRank is a player just registered whose rank nobody knows yet.
type soonRank struct {
	player  store.PlayerID
	channel store.ChannelID
}

// RanksSoon asks for a new player's rank in the background, so that the first
// report can tell the change since the registration. It never blocks; where too
// many wait, the next refresh asks.
func (h *Hour) RanksSoon(player store.PlayerID, channel store.ChannelID) {
	h.mu.Lock()
	for _, r := range h.runs {
		r.mu.Lock()
		r.dirty[channel] = true
		r.mu.Unlock()
	}
	h.mu.Unlock()
	select {
	case h.soon <- soonRank{player, channel}:
	default:
	}
}

func (h *Hour) rankSoonLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-h.soon:
			if err := h.rankSoon(ctx, s); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "rank of a new player not read", "player", s.player, "channel", s.channel, "err", err)
			}
		}
	}
}

func (h *Hour) rankSoon(ctx context.Context, s soonRank) error {
	due, err := h.o.Store.DuePlayersOf(ctx, s.channel)
	if err != nil {
		return err
	}
	for _, p := range due {
		if p.ID != s.player {
			continue
		}
		if p.PUUID != "" && time.Since(p.RanksAt) > 10*time.Minute {
			r := newRefresher(h, time.Time{}, Background)
			if _, err := r.readRanks(ctx, rankJob{p: p, puuid: riot.PUUID(p.PUUID)}); err != nil {
				return err
			}
		}
		return h.o.Store.ShowRanks(ctx, s.channel, s.player)
	}
	return nil
}
