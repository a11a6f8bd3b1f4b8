// Package storetest decides what a store.Store is: one suite that every store
// must pass. Only the stores' tests import it.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"riftchime/store"
)

// Opened is a store with what the suite needs besides.
type Opened struct {
	store.Store
	// Dump returns all that is in all rows, as text.
	Dump func(t *testing.T) string
	// Tables are the tables of the schema with their columns.
	Tables func(t *testing.T) map[string][]string
}

// Run tests the stores that open returns, a new and migrated one at each call.
// open ends the test where it can't, and sees to it that the store is closed.
func Run(t *testing.T, open func(t *testing.T) Opened) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, w *world)
	}{
		{"servers", testServers},
		{"key load", testKeyLoad},
		{"channels", testChannels},
		{"all channels", testAllChannels},
		{"refusals and pauses", testRefusals},
		{"due channels", testDueChannels},
		{"times are whole milliseconds in UTC", testTimes},
		{"text that is not clean", testText},
		{"register", testRegister},
		{"register finds the player", testRegisterFinds},
		{"register with a Riot ID that changed hands", testRegisterTakenOver},
		{"register many at once", testRegisterAtOnce},
		{"unregister", testUnregister},
		{"unregister at once", testUnregisterAtOnce},
		{"Riot IDs and letter case", testRiotID},
		{"PUUIDs", testPUUIDs},
		{"names", testNames},
		{"registrations", testRegistrations},
		{"forget", testForget},
		{"forget and reports under way", testForgetReports},
		{"due players", testDuePlayers},
		{"due players and keys", testDuePlayersKeys},
		{"due players, a thousand", testDuePlayersMany},
		{"listed", testListed},
		{"listed fills in participations", testListedFills},
		{"listed leaves out what can't be reported", testListedLeavesOut},
		{"put match", testPutMatch},
		{"match failed", testMatchFailed},
		{"ranks", testRanks},
		{"ranks wanted", testRanksWanted},
		{"show ranks", testShowRanks},
		{"facts", testFacts},
		{"facts leave out", testFactsExclude},
		{"facts, recent outcomes", testFactsRecent},
		{"facts of fifty players", testFactsMany},
		{"plan reports", testPlanReports},
		{"put ready", testPutReady},
		{"put ready with a game of another report", testPutReadyTaken},
		{"replace a report", testReplace},
		{"claim", testClaim},
		{"claim by two at once", testClaimAtOnce},
		{"sent", testSent},
		{"sent moves the channel on", testSentMovesOn},
		{"skip", testSkip},
		{"skip with a part sent", testSkipHalfSent},
		{"amend", testAmend},
		{"amend an older report", testAmendOlder},
		{"parts of all channels", testReadyParts},
		{"unfinished and last reports", testUnfinished},
		{"reasons", testReasons},
		{"latencies", testLatencies},
		{"interactions", testInteractions},
		{"failures", testFailures},
		{"champions", testChampions},
		{"notes", testNotes},
		{"counts", testCounts},
		{"sweep", testSweep},
		{"sweep keeps what is in use", testSweepKeeps},
		{"export and import", testExport},
		{"export of an empty store", testExportEmpty},
		{"export of every table", testExportAll},
		{"export of one moment", testExportMoment},
		{"export into an import", testExportPipe},
		{"import into a store that is not empty", testImportNotEmpty},
		{"import by several at once", testImportAtOnce},
		{"import of a part", testImportCut},
		{"import of a damaged export", testImportDamaged},
		{"import and export that fail", testLoadFails},
		{"everything at once", testAtOnce},
		{"a context that is over", testContext},
		{"migrate again", testMigrate},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			another := func() *world { return &world{Opened: open(t), t: t, ctx: t.Context()} }
			w := another()
			w.another = another
			c.test(t, w)
		})
	}
}

// Dump writes down all rows of the tables that the query tables lists, of which
// it returns the names.
func Dump(t *testing.T, db *sql.DB, tables string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range tableNames(t, db, tables) {
		dumpTable(t, db, name, &all)
	}
	return all.String()
}

func tableNames(t *testing.T, db *sql.DB, tables string) []string {
	t.Helper()
	var names []string
	rows, err := db.QueryContext(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

func dumpTable(t *testing.T, db *sql.DB, name string, to *strings.Builder) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM `+name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			verb := "%v"
			switch v.(type) {
			case string, []byte:
				verb = "%q" // A row is one line.
			}
			fmt.Fprintf(to, "%s.%s="+verb+" ", name, columns[i], v)
		}
		to.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// t0 is the hour that the tests start from.
var t0 = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// world is a store with the test that uses it.
type world struct {
	Opened
	t   *testing.T
	ctx context.Context
	// another opens one more, empty.
	another func() *world
}

// must ends the test on an error.
func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// want ends the test unless err is what it should be.
func (w *world) want(err, want error) {
	w.t.Helper()
	if !isError(err, want) {
		w.t.Fatalf("error %v, want %v", err, want)
	}
}

// get is for calls that return a value and an error.
func get[T any](w *world) func(v T, err error) T {
	return func(v T, err error) T {
		w.t.Helper()
		w.must(err)
		return v
	}
}

// equal compares, an empty slice being as good as none.
func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// server adds a server whose players use key.
func (w *world) server(id store.ServerID, key string) {
	w.t.Helper()
	w.must(w.PutServer(w.ctx, store.Server{ID: id, Name: fmt.Sprint("server ", id), Key: key, Locale: "ko", JoinedAt: t0}))
}

// channel adds a channel of a server, that chimes at t0.
func (w *world) channel(id store.ChannelID, server store.ServerID) {
	w.t.Helper()
	w.must(w.PutChannel(w.ctx, store.Channel{
		ID: id, Server: server, Zone: "Asia/Seoul", Language: "ko", Hours: 1 << 21, Quiet: true, NextSlot: t0, CreatedAt: t0.Add(-time.Hour),
	}))
}

// npc is a player named name, with a PUUID under key.
func npc(name, key string) store.NewPlayer {
	return store.NewPlayer{Platform: "kr", GameName: name, TagLine: "KR1", Key: key, PUUID: name + "/" + key}
}

// register registers npc(name, key) since a day before t0.
func (w *world) register(channel store.ChannelID, name, key string) store.PlayerID {
	w.t.Helper()
	p, what, err := w.Register(w.ctx, channel, npc(name, key), t0.Add(-day), nil, 50)
	w.must(err)
	if what != store.RegisteredNew {
		w.t.Fatalf("%s: registered %d, want a new one", name, what)
	}
	return p.ID
}

// home makes server 1, with key "k1", channel 10 and the players named.
func (w *world) home(names ...string) []store.PlayerID {
	w.t.Helper()
	w.server(1, "k1")
	w.channel(10, 1)
	ids := make([]store.PlayerID, len(names))
	for i, n := range names {
		ids[i] = w.register(10, n, "k1")
	}
	return ids
}

// match is a match of half an hour that ended at end, read under key.
func match(id string, end time.Time, key string, names ...string) store.Match {
	m := store.Match{
		ID: id, Platform: "kr", Queue: 420, Mode: "CLASSIC", Map: 11,
		Start: end.Add(-30 * time.Minute), End: end, Duration: 30 * time.Minute, Key: key,
	}
	for i, n := range names {
		m.Participants = append(m.Participants, store.Participant{
			PUUID: n + "/" + key, GameName: n, TagLine: "KR1", ChampionID: 200 + i, ChampionName: "Ahri", Team: 100,
			Kills: i, Deaths: 1, Assists: 2, CS: 150, Damage: 12345, Outcome: store.OutcomeWin, Position: "MIDDLE", LargestMultiKill: 2,
		})
	}
	return m
}

// play stores a match of the players named, read under "k1".
func (w *world) play(id string, end time.Time, names ...string) {
	w.t.Helper()
	w.must(w.PutMatch(w.ctx, match(id, end, "k1", names...), end.Add(time.Minute)))
}

// ready is a report of so many parts for channel 10 at t0.
func ready(parts int, games ...string) store.ReadyReport {
	r := store.ReadyReport{Channel: 10, Slot: t0, Games: games}
	for i := range parts {
		r.Parts = append(r.Parts, store.Part{Body: fmt.Appendf(nil, `{"content":"part %d"}`, i), Nonce: fmt.Sprint("nonce-", i)})
	}
	return r
}

// put stores a ready report, which must be taken.
func (w *world) put(r store.ReadyReport) {
	w.t.Helper()
	if ok := get[bool](w)(w.PutReady(w.ctx, r)); !ok {
		w.t.Fatal("the ready report was not taken")
	}
}

// claim claims the parts of channel 10 at t0.
func (w *world) claim(parts ...int) []store.PartKey {
	w.t.Helper()
	var keys []store.PartKey
	for _, p := range parts {
		keys = append(keys, store.PartKey{Channel: 10, Slot: t0, Part: p})
	}
	return get[[]store.PartKey](w)(w.Claim(w.ctx, keys, t0.Add(-time.Second)))
}

// sent marks a part of channel 10 at t0 sent.
func (w *world) sent(part int) {
	w.t.Helper()
	w.must(w.Sent(w.ctx, store.PartKey{Channel: 10, Slot: t0, Part: part}, store.MessageID(1000+part),
		t0.Add(30*time.Millisecond), 30*time.Millisecond, t0.Add(day)))
}

// send does all there is from ready to sent.
func (w *world) send(r store.ReadyReport) {
	w.t.Helper()
	w.put(r)
	for i := range r.Parts {
		k := store.PartKey{Channel: r.Channel, Slot: r.Slot, Part: i}
		if moved := get[[]store.PartKey](w)(w.Claim(w.ctx, []store.PartKey{k}, r.Slot)); len(moved) != 1 {
			w.t.Fatalf("claimed %v, want %v", moved, k)
		}
		w.must(w.Sent(w.ctx, k, store.MessageID(1000+i), r.Slot.Add(30*time.Millisecond), 30*time.Millisecond, r.Slot.Add(day)))
	}
}

// report is a report of channel 10.
func (w *world) report(slot time.Time) store.Report {
	w.t.Helper()
	return get[store.Report](w)(w.Report(w.ctx, 10, slot))
}

// games are the matches of Facts, in order.
func (w *world) games(channel store.ChannelID, slot, now time.Time) []string {
	w.t.Helper()
	f := get[store.Facts](w)(w.Facts(w.ctx, channel, slot, now))
	var ids []string
	for _, g := range f.Games {
		ids = append(ids, g.Match)
	}
	return ids
}
