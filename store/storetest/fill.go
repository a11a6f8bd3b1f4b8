package storetest

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"riftchime/store"
)

// Fill puts something into every table of s, which must be empty: what a few
// servers keep after some days, chosen by seed, with the ids, times and texts
// that are hardest to carry.
func Fill(t *testing.T, s store.Store, seed uint64) {
	t.Helper()
	f := &filler{
		world: &world{Opened: Opened{Store: s}, t: t, ctx: t.Context()},
		rand:  rand.New(rand.NewPCG(seed, seed)),
	}
	f.settings()
	f.players()
	f.games()
	f.reports()
	f.records()
	// What was deleted leaves gaps between the ids, and at the end of them.
	gone := len(f.ids) - 1
	f.must(s.Forget(f.ctx, f.ids[0]))
	f.must(s.Forget(f.ctx, f.ids[gone]))
}

type filler struct {
	*world
	rand *rand.Rand

	channels []store.ChannelID
	ids      []store.PlayerID
	matches  []string
}

// odd are texts that an encoding may get wrong.
var odd = []string{
	"", " ", "plain", "한글 이름", "é é", "😀👩‍👧", `"quoted" \back\slash\`, "a\nb\r\tc", "</script>&<b>",
	"\u2028\u2029", "\x01\x1f\x7f", "\ufeff\ufffd", "null", "1e3", "'; DROP TABLE notes; --", "zero\x00byte", "bad\xffutf8",
}

func (f *filler) odd() string { return odd[f.rand.IntN(len(odd))] }

func (f *filler) some(n int) int { return 1 + f.rand.IntN(n) }

// moment is a time in the month before t0.
func (f *filler) moment() time.Time {
	return t0.Add(-time.Duration(f.rand.Int64N(int64(30 * day)))).Truncate(time.Millisecond)
}

func (f *filler) settings() {
	f.t.Helper()
	for i := range 2 + f.some(3) {
		server := store.ServerID(math.MaxInt64 - i)
		f.must(f.PutServer(f.ctx, store.Server{ID: server, Name: f.odd(), Key: fmt.Sprint("k", i%2), Locale: "ko", JoinedAt: f.moment()}))
		for j := range f.some(2) {
			channel := store.ChannelID(1<<53 + 1 + 10*i + j)
			f.channels = append(f.channels, channel)
			f.must(f.PutChannel(f.ctx, store.Channel{
				ID: channel, Server: server, Zone: "Asia/Seoul", Language: "ko", Hours: f.rand.Uint32(), Quiet: f.rand.IntN(2) == 0,
				NextSlot: t0, CreatedAt: f.moment(),
			}))
		}
	}
	get[int](f.world)(f.ChannelRefused(f.ctx, f.channels[0], t0.Add(-time.Hour)))
	f.must(f.PauseChannel(f.ctx, f.channels[0], "missing_access", f.moment()))
	f.must(f.PutServer(f.ctx, store.Server{ID: 5, Name: "gone", JoinedAt: f.moment()}))
	f.must(f.ServerGone(f.ctx, 5, f.moment()))
}

func (f *filler) players() {
	f.t.Helper()
	for i := range 4 + f.some(4) {
		np := npc(fmt.Sprintf("%d %s", i, f.odd()), "k0")
		np.PUUID = fmt.Sprint("player ", i, "/k0")
		var id store.PlayerID
		for range f.some(3) {
			// Some of them twice in the same channel: nothing happens then.
			p, _, err := f.Register(f.ctx, f.channels[f.rand.IntN(len(f.channels))], np, f.moment(), []string{"KR_1", fmt.Sprint("KR_", 50+i)}, 50)
			f.must(err)
			id = p.ID
		}
		f.ids = append(f.ids, id)
		f.must(f.SetPUUID(f.ctx, id, "k1", fmt.Sprint("player ", i, "/k1")))
		f.must(f.SetName(f.ctx, id, np.GameName+" new", "KR1", f.moment()))
		f.must(f.Refreshed(f.ctx, id, t0, f.moment(), f.rand.IntN(2) == 0))
	}
	p, _, err := f.Register(f.ctx, f.channels[0], npc("left", "k0"), f.moment(), nil, 50)
	f.must(err)
	get[bool](f.world)(f.Unregister(f.ctx, f.channels[0], p.ID, f.moment()))
}

func (f *filler) games() {
	f.t.Helper()
	for i := range 8 + f.some(8) {
		id, end := fmt.Sprint("KR_", 100+i), f.moment()
		f.matches = append(f.matches, id)
		m := match(id, end, "k0")
		m.Mode = f.odd()
		for j := range f.ids {
			if f.rand.IntN(2) == 0 || j == 1 {
				m.Participants = append(m.Participants, store.Participant{
					PUUID: fmt.Sprint("player ", j, "/k0"), GameName: f.odd(), TagLine: "KR1", ChampionName: f.odd(),
					Kills: f.rand.IntN(30), Outcome: uint8(f.rand.IntN(5)),
				})
			}
		}
		f.must(f.PutMatch(f.ctx, m, end.Add(time.Minute)))
	}
	get[[]store.MatchToRead](f.world)(f.Listed(f.ctx, f.ids[1], "k0", []string{"KR_900", "KR_901", "KR_902", "KR_903"}, t0))
	f.must(f.MatchFailed(f.ctx, "KR_901", store.MatchAbsent, t0))
	f.must(f.MatchFailed(f.ctx, "KR_902", store.MatchForbidden, t0))
	f.must(f.MatchFailed(f.ctx, "KR_903", store.MatchEmpty, t0))
	for range 3 {
		for _, id := range f.ids {
			_, _, err := f.PutRanks(f.ctx, id, []store.Rank{
				{Queue: store.QueueSolo, Tier: "GOLD", Division: "II", LP: f.rand.IntN(100), Wins: f.rand.IntN(500), Losses: f.rand.IntN(500)},
				{Queue: store.QueueFlex, Tier: "MASTER", LP: f.rand.IntN(1000)},
			}, f.moment())
			f.must(err)
		}
	}
}

// reports puts one report in each state in each channel that follows somebody.
func (f *filler) reports() {
	f.t.Helper()
	for _, channel := range f.channels {
		follows := get[[]store.Follow](f.world)(f.Registrations(f.ctx, channel))
		if len(follows) == 0 {
			continue
		}
		for i, state := range []store.ReportState{
			store.ReportPlanned, store.ReportReady, store.ReportSending, store.ReportSent, store.ReportSkipped,
		} {
			slot := t0.Add(time.Duration(i-5) * time.Hour)
			f.must(f.PlanReports(f.ctx, slot, []store.ChannelID{channel}))
			if state == store.ReportPlanned {
				continue
			}
			if state == store.ReportSkipped {
				f.must(f.Skip(f.ctx, channel, slot, f.odd(), slot, t0))
				continue
			}
			r := store.ReadyReport{Channel: channel, Slot: slot, Partial: f.rand.IntN(2) == 0, Games: f.matches[i : i+1]}
			for part := range f.some(2) {
				r.Parts = append(r.Parts, store.Part{Body: f.bytes(), Nonce: fmt.Sprint(part, slot.Unix())})
			}
			for _, fw := range follows {
				r.Names = append(r.Names, store.ShownName{Player: fw.Player.ID, Name: fw.Player.Name()})
				for _, k := range fw.Ranks {
					if k.Now != nil {
						r.Ranks = append(r.Ranks, store.ShownRank{Player: fw.Player.ID, Queue: k.Queue, Snapshot: k.Now.ID})
					}
				}
			}
			f.put(r)
			for part := range r.Parts {
				k := store.PartKey{Channel: channel, Slot: slot, Part: part}
				if state >= store.ReportSending {
					get[[]store.PartKey](f.world)(f.Claim(f.ctx, []store.PartKey{k}, slot.Add(-time.Second)))
				}
				if state == store.ReportSent {
					f.must(f.Sent(f.ctx, k, store.MessageID(math.MaxInt64-int64(part)), slot.Add(40*time.Millisecond), 40*time.Millisecond, t0))
				}
			}
		}
	}
}

// bytes are a body that need not be text.
func (f *filler) bytes() []byte {
	b := make([]byte, f.some(300))
	for i := range b {
		b[i] = byte(f.rand.IntN(256))
	}
	return b
}

func (f *filler) records() {
	f.t.Helper()
	for i := range 10 + f.some(10) {
		r := store.Reason{Channel: f.channels[0], Code: "code", Detail: f.odd(), At: f.moment()}
		if i%2 == 0 {
			r.Player, r.Match, r.Slot = f.ids[1], f.matches[0], t0
		}
		f.must(f.AddReasons(f.ctx, []store.Reason{r}))
		f.must(f.AddLatency(f.ctx, "report", time.Duration(f.rand.Int64N(1e9)), f.moment()))
		get[bool](f.world)(f.TakeInteraction(f.ctx, math.MaxInt64-int64(i), f.moment()))
		f.must(f.CountFailures(f.ctx, []store.Failure{{Day: f.moment(), Endpoint: "match", Cause: f.odd(), Count: f.some(1000)}}))
		f.must(f.PutNote(f.ctx, fmt.Sprint("note ", i), odd[i%len(odd)]))
	}
	for _, language := range []string{"ko", "en"} {
		f.must(f.PutChampions(f.ctx, language, "16.1.1", []store.Champion{{ID: 103, Key: "Ahri", Name: "아리"}, {ID: -1, Key: f.odd(), Name: f.odd()}}, f.moment()))
	}
}

// Tables are the tables that the query names lists, without those that are the
// database's or the migrations' own, with the names of their columns.
func Tables(t *testing.T, db *sql.DB, names string) map[string][]string {
	t.Helper()
	tables := map[string][]string{}
	for _, name := range tableNames(t, db, names) {
		if foreign[name] {
			continue
		}
		rows, err := db.QueryContext(t.Context(), `SELECT * FROM `+name+` LIMIT 0`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		tables[name] = columns
	}
	return tables
}

// foreign are tables that hold nothing of RiftChime's.
var foreign = map[string]bool{"goose_db_version": true, "sqlite_sequence": true}
