package bot

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"riftchime/store"
)

// ChampionSource gives the champions' names in a language ("ko" or "en") of
// the newest version, and an icon's address.
type ChampionSource interface {
	Champions(ctx context.Context, language string) (version string, champions []store.Champion, err error)
	IconURL(version, key string) string
}

// languages are those that reports are written in.
var languages = []string{"ko", "en"}

// championAge is how old names may be (issue 4: refreshed once a day).
const championAge = 24 * time.Hour

// Champions names champions by number. It never waits: names come from the
// store and are refreshed in the background. It is safe for concurrent use.
type Champions struct {
	store  store.Records
	source ChampionSource
	log    *slog.Logger
	names  atomic.Pointer[championNames]
}

type championNames struct {
	version string
	byID    map[string]map[int]string // by language
	keys    map[int]string
	byKey   map[string]int // Data Dragon's key in lower case
}

// NewChampions starts nothing; Load and Run fill it.
func NewChampions(s store.Records, source ChampionSource, log *slog.Logger) *Champions {
	c := &Champions{store: s, source: source, log: log}
	c.names.Store(&championNames{})
	return c
}

// Load takes the names that the store has.
func (c *Champions) Load(ctx context.Context) (oldest time.Time, err error) {
	n := &championNames{byID: map[string]map[int]string{}, keys: map[int]string{}, byKey: map[string]int{}}
	for i, language := range languages {
		version, at, champions, err := c.store.Champions(ctx, language)
		if err != nil {
			return time.Time{}, err
		}
		if i == 0 || at.Before(oldest) {
			oldest = at
		}
		n.byID[language] = make(map[int]string, len(champions))
		for _, ch := range champions {
			n.version = version
			n.byID[language][ch.ID] = ch.Name
			n.keys[ch.ID] = ch.Key
			n.byKey[strings.ToLower(ch.Key)] = ch.ID
		}
	}
	c.names.Store(n)
	return oldest, nil
}

// Run keeps the names fresh until ctx ends: once a day, and where Data Dragon
// can't be had again after a while, later each time.
func (c *Champions) Run(ctx context.Context) {
	pause := time.Minute
	for ctx.Err() == nil {
		oldest, err := c.Load(ctx)
		if err == nil && time.Since(oldest) >= championAge {
			if err = c.fetch(ctx); err == nil {
				oldest, err = c.Load(ctx)
			}
		}
		wait := championAge - time.Since(oldest)
		if err != nil {
			if ctx.Err() == nil {
				c.log.WarnContext(ctx, "champions' names not refreshed", "err", err, "wait", pause)
			}
			wait, pause = pause, min(2*pause, 6*time.Hour)
		} else {
			pause = time.Minute
		}
		timer := time.NewTimer(max(wait, time.Second))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (c *Champions) fetch(ctx context.Context) error {
	for _, language := range languages {
		version, champions, err := c.source.Champions(ctx, language)
		if err != nil {
			return err
		}
		if err := c.store.PutChampions(ctx, language, version, champions, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// Champion is the champion's name in a language; matchName, the match's own
// spelling, where the number is not known.
func (c *Champions) Champion(id int, matchName, language string) string {
	n := c.names.Load()
	if name := n.byID[language][n.number(id, matchName)]; name != "" {
		return name
	}
	return matchName
}

// Icon is the address of the champion's picture, "" where it is not known.
func (c *Champions) Icon(id int, matchName string) string {
	n := c.names.Load()
	key := n.keys[n.number(id, matchName)]
	if key == "" {
		return ""
	}
	return c.source.IconURL(n.version, key)
}

// number finds a champion by the match's spelling where Riot gave no number
// that counts; letter case differs between the two (FiddleSticks).
func (n *championNames) number(id int, matchName string) int {
	if id != 0 {
		return id
	}
	return n.byKey[strings.ToLower(matchName)]
}

// Version is Data Dragon's version of the names in use, "" where there are none.
func (c *Champions) Version() string { return c.names.Load().version }
