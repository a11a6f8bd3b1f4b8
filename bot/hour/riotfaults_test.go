package hour_test

import (
	"strings"
	"testing"
	"time"

	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

// down makes all routes of these names fail until a time.
func (s *scene) down(kind riottest.FaultKind, status int, until time.Time, routes ...string) {
	for _, route := range routes {
		s.world.AddFault(riottest.Fault{Route: route, Kind: kind, Status: status, Until: until})
	}
}

func TestRiotRegionDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kind  riottest.FaultKind
		until string
	}{
		{"5xx, back within 15 minutes", riottest.FaultStatus, "1:06"},
		{"hanging, back within 15 minutes", riottest.FaultHang, "1:06"},
		{"5xx, back later", riottest.FaultStatus, "1:30"},
		{"HTML, back later", riottest.FaultHTML, "1:30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 2, func(t *testing.T, s *scene) {
				kr1, kr2, eu := s.player("kr"), s.player("kr"), s.player("euw1")
				s.follow(0, "UTC", schedule.All, kr1, eu, kr2)
				s.follow(1, "UTC", schedule.All, eu)
				s.start()
				s.until("0:40")
				s.game("Ahri", one(kr1))
				s.game("Lux", one(kr2))
				s.game("Garen", one(eu))
				s.until("0:50")
				back := s.at(1, 6)
				if c.until == "1:30" {
					back = s.at(1, 30)
				}
				s.down(c.kind, 0, back, "asia", "kr")
				s.until("1:00:01")
				s.posted(0, 1, map[string]int{"Garen": 1, "Ahri": 0, "Lux": 0, "⚠️ KR": 1})
				s.posted(1, 1, map[string]int{"Garen": 1, "⚠️": 0})
				if late := s.report(0, s.at(1, 0)).Lateness; late > 100*time.Millisecond {
					t.Errorf("the partial report was %s late", late)
				}
				s.until("1:20")
				if c.until == "1:06" {
					s.posted(0, 1, map[string]int{"Garen": 1, "Ahri": 1, "Lux": 1, "⚠️": 0})
					if r := s.report(0, s.at(1, 0)); r.Partial {
						t.Error("the report is still partial")
					}
				} else {
					s.posted(0, 1, map[string]int{"Garen": 1, "Ahri": 0, "⚠️ KR": 1})
				}
				s.until("3:10")
				if c.until == "1:06" {
					s.posted(0, 1, map[string]int{"Garen": 1, "Ahri": 1, "Lux": 1})
				} else {
					s.posted(0, 2, map[string]int{"Garen": 1, "Ahri": 1, "Lux": 1})
				}
				s.posted(1, 1, map[string]int{"Garen": 1})
				s.reasons(0, map[string]int{"riot": 2})
				s.reasons(1, map[string]int{"riot": 0})
				s.logged("players not read", true)
			})
		})
	}
}

func TestRiotAllDown(t *testing.T) {
	t.Parallel()
	t.Run("back within 15 minutes", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.down(riottest.FaultStatus, 503, s.at(1, 12), "")
			s.until("1:11")
			s.posted(0, 0, nil) // nothing is known: nothing is posted
			s.until("1:25")
			s.posted(0, 1, map[string]int{"Ahri": 1, "⚠️": 0})
			s.ended(0, s.at(1, 0), store.ReportSent, "")
			s.until("2:10")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("back later", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.down(riottest.FaultReset, 0, s.at(1, 40), "")
			s.until("1:20")
			s.posted(0, 0, nil)
			s.ended(0, s.at(1, 0), store.ReportSkipped, "unknown")
			s.until("2:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.reasons(0, map[string]int{"riot": 1, "unknown": 1})
		})
	})
}

// A blip before the hour is made good before the hour.
func TestRiotBlip(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]riottest.Fault{
		"429 application":    {Kind: riottest.FaultLimited, LimitType: "application", RetryAfter: "3", Count: 2},
		"429 method":         {Kind: riottest.FaultLimited, LimitType: "method", RetryAfter: "3", Count: 2},
		"429 service":        {Kind: riottest.FaultLimited, LimitType: "service", Count: 2},
		"429 of no type":     {Kind: riottest.FaultLimited, Count: 2},
		"429 server":         {Kind: riottest.FaultLimited, LimitType: "server", RetryAfter: "2", Count: 2},
		"body cut":           {Kind: riottest.FaultCut, Count: 2},
		"body stalls":        {Kind: riottest.FaultStall, Count: 1},
		"HTML":               {Kind: riottest.FaultHTML, Count: 2},
		"200 with an error":  {Kind: riottest.FaultErrorBody, Count: 2},
		"empty body":         {Kind: riottest.FaultEmpty, Count: 2},
		"reset":              {Kind: riottest.FaultReset, Count: 2},
		"hang":               {Kind: riottest.FaultHang, Count: 1},
		"503":                {Kind: riottest.FaultStatus, Status: 503, Count: 2},
		"one 401":            {Kind: riottest.FaultStatus, Status: 401, Count: 1},
		"answers after 9 s":  {Delay: riottest.Duration(9 * time.Second), Count: 2},
		"answers after 30 s": {Delay: riottest.Duration(30 * time.Second), Count: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				a, b := s.player("kr"), s.player("kr")
				s.follow(0, "UTC", schedule.All, a, b)
				s.start()
				s.until("0:40")
				s.game("Ahri", one(a))
				s.game("Lux", one(b))
				f.From = s.at(0, 58)
				for _, m := range []string{"ids", "match", "league"} {
					f.Method = m
					s.world.AddFault(f)
				}
				s.until("1:00:01")
				s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "⚠️": 0})
				s.until("2:01")
				s.posted(0, 1, nil)
				if st := s.world.Stats(); st.Now != 0 || st.Repeats > 2 {
					t.Errorf("%d requests under way, %d bodies sent again", st.Now, st.Repeats)
				}
			})
		})
	}
}

func TestRiotKeyRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		t.Run(map[int]string{401: "401", 403: "403"}[status], func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				a, b, c := s.player("kr"), s.player("kr"), s.player("euw1")
				s.follow(0, "UTC", schedule.All, a, b, c)
				s.start()
				s.until("1:30") // the first reports: ranks are known
				s.game("Ahri", one(a))
				s.game("Lux", one(b))
				s.game("Garen", one(c))
				s.down(riottest.FaultStatus, status, s.at(2, 4), "")
				s.calls()
				s.until("2:00:30")
				s.posted(0, 0, nil)
				// Nobody hammers Riot with a refused key.
				if n := s.world.Stats().Requests; n > 100 {
					t.Errorf("%d requests with a refused key", n)
				}
				s.until("2:25")
				s.posted(0, 1, map[string]int{"Ahri": 1, "Lux": 1, "Garen": 1, "⚠️": 0})
				s.reasons(0, map[string]int{"key": 3})
				if fs, err := s.db.Registrations(t.Context(), channelID(0)); err != nil || len(fs) != 3 {
					t.Errorf("%d registrations, %v", len(fs), err)
				}
			})
		})
	}
}

func TestRiotPlayers(t *testing.T) {
	t.Parallel()
	t.Run("PUUID of another key", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			stored, err := s.db.PlayerByRiotID(t.Context(), "kr", "Friend 1", "T1")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.db.SetPUUID(t.Context(), stored.ID, s.key, strings.Repeat("x", 78)); err != nil {
				t.Fatal(err)
			}
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.until("1:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "⚠️": 0})
			if got, err := s.db.PUUID(t.Context(), stored.ID, s.key); err != nil || got != s.world.PUUID(testKey, p) {
				t.Errorf("PUUID %q, %v", got, err)
			}
		})
	})
	t.Run("renamed", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Lux", one(p))
			s.until("1:30")
			if err := s.world.Rename(p, "Somebody New", "NEW"); err != nil {
				t.Fatal(err)
			}
			s.game("Ahri", one(p))
			s.until("2:01")
			s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1, "Somebody New": 1})
			if _, err := s.db.PlayerByRiotID(t.Context(), "kr", "Somebody New", "NEW"); err != nil {
				t.Errorf("not under the new name: %v", err)
			}
		})
	})
	t.Run("Riot ID of nobody, PUUID unknown", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			now := time.Now()
			_, _, err := s.db.Register(t.Context(), channelID(0), store.NewPlayer{
				Platform: "kr", GameName: "Gone", TagLine: "GONE", Key: s.key, PUUID: strings.Repeat("y", 78),
			}, now, nil, 50)
			if err != nil {
				t.Fatal(err)
			}
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.until("1:20")
			s.posted(0, 1, map[string]int{"Ahri": 1, "⚠️": 0})
			s.reasons(0, map[string]int{"name": 1})
			if n := s.world.Stats().ByMethod["account-by-riot-id"]; n != 1 {
				t.Errorf("asked for the Riot ID %d times in a slot, want once", n)
			}
		})
	})
	for _, c := range []struct{ name, from, to string }{
		{"transferred within the region", "euw1", "eun1"},
		{"transferred to another region", "euw1", "kr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				p := s.player(c.from)
				s.follow(0, "UTC", schedule.All, p)
				s.start()
				s.until("1:20")
				if err := s.world.Transfer(p, c.to); err != nil {
					t.Fatal(err)
				}
				s.until("1:40")
				s.game("Ahri", one(p), func(g *riottest.Game) { g.Queue = 420 })
				// Found out when the rank is due, a day later at most.
				s.until("27:01")
				s.posted(0, 1, map[string]int{"Ahri": 1})
				if _, err := s.db.PlayerByRiotID(t.Context(), c.to, "Friend 1", "T1"); err != nil {
					t.Errorf("not on %s: %v", c.to, err)
				}
				s.game("Lux", one(p))
				s.until("28:01")
				s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1})
			})
		})
	}
}

func TestRiotMatches(t *testing.T) {
	t.Parallel()
	asked := func(s *scene) func(id string) int {
		bodies := map[string]int{}
		s.world.SetLatency(func(c riottest.Call) (before, after time.Duration) {
			if c.Method == "match" {
				bodies[c.Match]++
			}
			return 0, 0
		})
		return func(id string) int { return bodies[id] }
	}
	for _, c := range []struct {
		name   string
		more   func(*riottest.Game)
		asked  int
		reason string
	}{
		{"absent for ever", func(g *riottest.Game) { g.Missing = true }, store.MaxAbsentTries, "match_absent"},
		{"forbidden", func(g *riottest.Game) { g.Forbidden = true }, 1, "match_forbidden"},
		{"aborted, empty", func(g *riottest.Game) { g.Aborted = true }, 1, "match_aborted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			play(t, 1, func(t *testing.T, s *scene) {
				p := s.player("kr")
				s.follow(0, "UTC", schedule.All, p)
				n := asked(s)
				s.start()
				s.until("0:40")
				bad := s.game("Ahri", one(p), c.more)
				s.game("Lux", one(p))
				s.until("10:30")
				s.posted(0, 1, map[string]int{"Ahri": 0, "Lux": 1, "⚠️": 0})
				if got := n(bad); got != c.asked {
					t.Errorf("asked %d times, want %d", got, c.asked)
				}
				s.reasons(0, map[string]int{c.reason: c.asked})
			})
		})
	}
	t.Run("remake", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p), func(g *riottest.Game) { g.Remake = true })
			s.until("1:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Win": 0})
			s.until("2:01")
			s.reasons(0, map[string]int{"remake": 1})
			s.ended(0, s.at(2, 0), store.ReportSkipped, "quiet")
		})
	})
	t.Run("absent for two hours", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p), func(g *riottest.Game) { g.ReadableAt = s.at(2, 30) })
			// Somebody looks again and again: that uses up no tries.
			for _, at := range []string{"1:05", "1:10", "1:15", "1:20", "1:25", "1:30", "1:35"} {
				s.until(at)
				if _, err := s.hour.Refresh(t.Context(), channelID(0), time.Minute); err != nil {
					t.Error(err)
				}
			}
			s.until("3:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("list frozen", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:30")
			if err := s.world.FreezeList(p, s.at(2, 30)); err != nil {
				t.Fatal(err)
			}
			s.until("0:31")
			s.game("Ahri", one(p))
			s.until("2:01")
			s.posted(0, 0, nil)
			s.until("3:01")
			s.posted(0, 1, map[string]int{"Ahri": 1})
		})
	})
	t.Run("listed late, twice, out of order", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:30")
			s.game("Ahri", one(p), func(g *riottest.Game) { g.ListedAt = s.at(1, 20) })
			s.game("Lux", one(p), func(g *riottest.Game) { g.ListedTwice = true })
			s.game("Garen", one(p))
			s.until("1:01")
			s.posted(0, 1, map[string]int{"Ahri": 0, "Lux": 1, "Garen": 1})
			s.until("3:01")
			s.posted(0, 2, map[string]int{"Ahri": 1, "Lux": 1, "Garen": 1})
		})
	})
	t.Run("start time ignored", func(t *testing.T) {
		t.Parallel()
		playWith(t, 1, riottest.Options{IgnoreStartTime: true}, schedule.Clock{}, func(t *testing.T, s *scene) {
			p := s.player("kr")
			for i := range 250 {
				s.game("Teemo", one(p), func(g *riottest.Game) { g.End = s.began.Add(-time.Duration(250-i) * 6 * time.Hour) })
			}
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.until("1:01")
			s.posted(0, 1, map[string]int{"Ahri": 1, "Teemo": 0})
			// Of the old games, two tell that all are old.
			if n := s.calls(); n["match"] > 4 || n["ids"] > 2 {
				t.Errorf("calls %v, want few for a list of old games", n)
			}
			s.until("5:01")
			s.posted(0, 1, nil)
			if n := s.calls(); n["match"] != 0 || n["ids"] != 4 {
				t.Errorf("calls %v in quiet hours, want a list each", n)
			}
		})
	})
	t.Run("130 games at once", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			s.until("0:50")
			for i := range 130 {
				s.game("Ahri", one(p), func(g *riottest.Game) { g.End = s.at(0, 1).Add(time.Duration(i) * 20 * time.Second) })
			}
			s.until("1:05")
			if n := len(s.db.told[channelID(0)]); n != 130 {
				t.Errorf("%d games told, want 130", n)
			}
			if n := s.calls()["ids"]; n != 2 {
				t.Errorf("%d lists, want two pages", n)
			}
			before := len(s.messages(0))
			s.until("2:05")
			s.posted(0, before, nil)
			if n := s.calls()["match"]; n != 0 {
				t.Errorf("%d matches were read again", n)
			}
		})
	})
}

func TestRiotCost(t *testing.T) {
	t.Parallel()
	t.Run("a game of five friends is fetched once", func(t *testing.T) {
		t.Parallel()
		play(t, 2, func(t *testing.T, s *scene) {
			var five []riottest.PlayerID
			for range 5 {
				five = append(five, s.player("kr"))
			}
			s.follow(0, "UTC", schedule.All, five...)
			s.follow(1, "UTC", schedule.All, five[:2]...)
			s.start()
			s.until("0:40")
			s.game("Ahri", five)
			s.until("1:05")
			s.posted(0, 1, map[string]int{"Ahri": 1})
			s.posted(1, 1, map[string]int{"Ahri": 1})
			n := s.calls()
			if n["match"] != 1 || n["ids"] != 5 || n["league"] != 5 {
				t.Errorf("calls %v, want 1 match, 5 lists and, the first time, 5 ranks", n)
			}
			s.until("2:05")
			if n := s.calls(); n["ids"] != 5 || n["match"]+n["league"] != 0 {
				t.Errorf("calls %v in a quiet hour, want 5 lists", n)
			}
		})
	})
	t.Run("a rank when it is due", func(t *testing.T) {
		t.Parallel()
		play(t, 1, func(t *testing.T, s *scene) {
			p := s.player("kr")
			s.follow(0, "UTC", schedule.All, p)
			s.start()
			ranks := func(until string, want int, why string) {
				t.Helper()
				s.until(until)
				if n := s.calls()["league"]; n != want {
					t.Errorf("until %s: %d ranks, want %d: %s", until, n, want, why)
				}
			}
			ranks("1:01", 1, "it was unknown")
			s.game("Ahri", one(p))
			ranks("2:01", 0, "a normal game")
			s.game("Lux", one(p), func(g *riottest.Game) { g.Queue = 420 })
			ranks("3:01", 1, "a ranked game")
			s.game("Garen", one(p), func(g *riottest.Game) { g.Queue, g.RankedAt = 420, s.at(4, 30) })
			ranks("4:01", 1, "a ranked game whose win does not show")
			ranks("5:01", 1, "it shows now")
			ranks("6:01", 0, "nothing happened")
			ranks("27:01", 0, "not a day")
			ranks("29:31", 1, "a day")
		})
	})
	t.Run("a player in many channels", func(t *testing.T) {
		t.Parallel()
		play(t, 6, func(t *testing.T, s *scene) {
			p := s.player("kr")
			for i := range 6 {
				s.follow(i, "UTC", schedule.All, p)
			}
			s.start()
			s.until("0:40")
			s.game("Ahri", one(p))
			s.until("1:01")
			for i := range 6 {
				s.posted(i, 1, map[string]int{"Ahri": 1})
			}
			if n := s.calls(); n["ids"] != 1 || n["match"] != 1 || n["league"] != 1 {
				t.Errorf("calls %v, want one each", n)
			}
		})
	})
}
