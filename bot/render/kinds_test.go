package render_test

import (
	"fmt"
	"strings"
	"time"

	"riftchime/bot/report"
	"riftchime/store"
)

// slot is noon in Seoul on Tuesday, 1 December 2026.
var slot = time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)

// scene is what a report is made of, written down briefly.
type scene struct {
	in report.Input
}

func newScene() *scene {
	return &scene{in: report.Input{Slot: slot, From: slot.Add(-time.Hour), Now: slot.Add(-30 * time.Second)}}
}

// player follows one; the ranks are solo and flex. One who has a solo rank only is
// unranked in flex; one who has none is unknown in both.
func (s *scene) player(riotID string, ranks ...store.RankPair) *store.Follow {
	if len(ranks) == 1 {
		ranks = append(ranks, unranked(flex))
	}
	name, tag, _ := strings.Cut(riotID, "#")
	f := &s.in.Facts
	f.Follows = append(f.Follows, store.Follow{
		Player:    store.Player{ID: store.PlayerID(len(f.Follows) + 1), Platform: "kr", GameName: name, TagLine: tag},
		ShownName: riotID,
		Ranks:     ranks,
	})
	return &f.Follows[len(f.Follows)-1]
}

// both is a rank that was shown before and is the same now.
func both(queue string, r store.Rank) store.RankPair { return pair(queue, r, r) }

// pair is the rank shown last, a day ago, and the newest.
func pair(queue string, shown, now store.Rank) store.RankPair {
	shown.ID, shown.Queue, shown.At = 1, queue, slot.Add(-24*time.Hour)
	now.ID, now.Queue, now.At = 2, queue, slot.Add(-time.Minute)
	return store.RankPair{Queue: queue, Shown: &shown, Now: &now}
}

// first is a rank that was never shown.
func first(queue string, now store.Rank) store.RankPair {
	p := pair(queue, now, now)
	p.Shown = nil
	return p
}

func unranked(queue string) store.RankPair { return both(queue, store.Rank{}) }

func rank(tier, division string, lp, wins, losses int) store.Rank {
	return store.Rank{Tier: tier, Division: division, LP: lp, Wins: wins, Losses: losses}
}

// game adds a game that ended so many minutes before the slot, with a part for
// each of the players given.
func (s *scene) game(queue int, mode string, endsBefore, length time.Duration, parts ...store.Game) {
	id := fmt.Sprintf("KR_%d", 7000+len(s.in.Facts.Games))
	for _, p := range parts {
		p.Match, p.Platform, p.Queue, p.Mode, p.Map = id, "kr", queue, mode, 11
		p.End = slot.Add(-endsBefore)
		p.Start, p.Duration = p.End.Add(-length), length
		s.in.Facts.Games = append(s.in.Facts.Games, p)
	}
}

// part is a player's part, "8/2/10".
func part(player int, champion string, id int, kda string, cs int, outcome uint8) store.Game {
	g := store.Game{Player: store.PlayerID(player), Participant: store.Participant{
		ChampionID: id, ChampionName: champion, CS: cs, Outcome: outcome, Team: 100,
	}}
	if outcome == store.OutcomeLoss {
		g.Team = 200
	}
	if _, err := fmt.Sscanf(kda, "%d/%d/%d", &g.Kills, &g.Deaths, &g.Assists); err != nil {
		panic(kda)
	}
	return g
}

// with changes a part.
func with(g store.Game, change func(*store.Game)) store.Game {
	change(&g)
	return g
}

func at(position string) func(*store.Game) { return func(g *store.Game) { g.Position = position } }

func team(n int) func(*store.Game) { return func(g *store.Game) { g.Team = n } }

func placed(place, of, subteam int) func(*store.Game) {
	return func(g *store.Game) {
		g.Outcome, g.Placement, g.PlacementOf, g.Team = store.OutcomePlacement, place, of, subteam
	}
}

const (
	win    = store.OutcomeWin
	loss   = store.OutcomeLoss
	remake = store.OutcomeRemake
	none   = store.OutcomeNone
	solo   = store.QueueSolo
	flex   = store.QueueFlex
	minute = time.Minute
)

// kinds are the kinds of report that people see. Each has golden files.
var kinds = []struct {
	name  string
	build func(*scene)
}{
	{"one_win", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 41, 38)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 29*minute+31*time.Second, with(part(1, "Ahri", 103, "8/2/10", 210, win), at("MIDDLE")))
	}},
	{"one_loss", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 8, 40, 39)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 33*minute+2*time.Second, with(part(1, "Yasuo", 157, "0/9/1", 154, loss), at("TOP")))
	}},
	{"several_games_total_lp", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 44, 42, 39)), unranked(flex))
		s.game(420, "CLASSIC", 50*minute, 25*minute, with(part(1, "Ahri", 103, "8/2/10", 190, win), at("MIDDLE")))
		s.game(420, "CLASSIC", 30*minute, 18*minute, with(part(1, "Zed", 238, "2/7/1", 120, loss), at("MIDDLE")))
		s.game(420, "CLASSIC", 5*minute, 22*minute, with(part(1, "Ahri", 103, "5/1/9", 170, win), at("MIDDLE")))
	}},
	{"promotion", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "I", 88, 40, 38), rank("PLATINUM", "IV", 9, 41, 38)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Ahri", 103, "8/2/10", 210, win), at("MIDDLE")))
	}},
	{"demotion_over_divisions", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("PLATINUM", "IV", 10, 40, 38), rank("GOLD", "III", 75, 40, 43)), unranked(flex))
		for i := range 5 {
			s.game(420, "CLASSIC", time.Duration(55-10*i)*minute, 9*minute, with(part(1, "Yasuo", 157, "1/8/2", 60+i, loss), at("MIDDLE")))
		}
	}},
	{"master_and_above", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GRANDMASTER", "I", 690, 140, 98), rank("CHALLENGER", "I", 712, 141, 98)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"decay_without_a_game", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("DIAMOND", "IV", 75, 140, 98), rank("DIAMOND", "IV", 0, 140, 98)), unranked(flex))
		s.player("Maple#T1", both(solo, rank("CHALLENGER", "I", 1200, 300, 200)))
		s.game(450, "ARAM", 12*minute, 17*minute, part(2, "Lux", 99, "12/8/20", 55, win))
	}},
	{"decay_and_an_aram", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("DIAMOND", "IV", 75, 140, 98), rank("DIAMOND", "IV", 0, 140, 98)), unranked(flex))
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"new_season", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("DIAMOND", "IV", 75, 140, 98), rank("GOLD", "I", 30, 3, 2)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"placements", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("", "", 0, 1, 1), rank("", "", 0, 2, 1)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"placed", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("", "", 0, 2, 2), rank("EMERALD", "III", 20, 3, 2)), unranked(flex))
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"unranked", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo), unranked(flex))
		s.game(400, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"rank_unknown", func(s *scene) {
		s.player("Calm in rain#KR1")
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"flex_unknown", func(s *scene) {
		f := s.player("Calm in rain#KR1", both(solo, rank("SILVER", "I", 50, 20, 20)))
		f.Ranks = f.Ranks[:1]
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"first_report", func(s *scene) {
		f := s.player("Calm in rain#KR1", first(solo, rank("SILVER", "I", 50, 20, 20)), first(flex, rank("BRONZE", "IV", 0, 3, 9)))
		f.ShownName = ""
		s.in.From = time.Time{}
		s.game(420, "CLASSIC", 20*minute, 30*minute, with(part(1, "Azir", 268, "8/2/10", 260, win), at("MIDDLE")))
	}},
	{"solo_and_flex_apart", func(s *scene) {
		s.player("Calm in rain#KR1",
			pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 41, 38)),
			pair(flex, rank("SILVER", "IV", 3, 10, 8), rank("BRONZE", "I", 84, 10, 9)))
		s.game(420, "CLASSIC", 40*minute, 20*minute, with(part(1, "Ahri", 103, "8/2/10", 160, win), at("MIDDLE")))
		s.game(440, "CLASSIC", 10*minute, 25*minute, with(part(1, "Ahri", 103, "3/5/4", 150, loss), at("MIDDLE")))
	}},
	{"rank_not_moved_yet", func(s *scene) {
		f := s.player("Calm in rain#KR1", both(solo, rank("GOLD", "II", 27, 40, 38)), unranked(flex))
		f.Player.RanksWanted = true
		s.game(420, "CLASSIC", 2*minute, 29*minute, with(part(1, "Ahri", 103, "8/2/10", 210, win), at("MIDDLE")))
	}},
	{"unknown_tier", func(s *scene) {
		s.player("Calm in rain#KR1", both(solo, rank("OBSIDIAN", "II", 27, 40, 38)), unranked(flex))
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"remake", func(s *scene) {
		f := s.player("Calm in rain#KR1", both(solo, rank("GOLD", "II", 27, 40, 38)), unranked(flex))
		f.Recent = []uint8{win, win, win}
		s.game(420, "CLASSIC", 20*minute, 3*minute+23*time.Second, with(part(1, "Ahri", 103, "0/0/0", 4, remake), at("MIDDLE")))
	}},
	{"special", func(s *scene) {
		f := s.player("Calm in rain#KR1", unranked(solo), unranked(flex))
		f.Recent = []uint8{win, remake, win, loss}
		s.game(400, "CLASSIC", 20*minute, 30*minute, with(part(1, "Katarina", 55, "25/0/7", 200, win), func(g *store.Game) {
			g.Position, g.PentaKills, g.LargestMultiKill, g.TopDamage = "MIDDLE", 1, 5, true
		}))
	}},
	{"streak_of_losses_broken", func(s *scene) {
		f := s.player("Calm in rain#KR1", unranked(solo), unranked(flex))
		f.Recent = []uint8{loss, loss, loss, loss}
		s.game(400, "CLASSIC", 50*minute, 20*minute, part(1, "Katarina", 55, "2/5/7", 100, loss))
		s.game(400, "CLASSIC", 20*minute, 20*minute, with(part(1, "Katarina", 55, "9/5/7", 100, win), func(g *store.Game) { g.Surrendered = true }))
	}},
	{"streak_as_long_as_memory", func(s *scene) {
		f := s.player("Calm in rain#KR1", unranked(solo), unranked(flex))
		for range 20 {
			f.Recent = append(f.Recent, win)
		}
		s.game(400, "CLASSIC", 20*minute, 20*minute, part(1, "Katarina", 55, "9/5/7", 100, win))
	}},
	{"arena", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo), unranked(flex))
		s.game(1750, "CHERRY", 40*minute, 18*minute, with(part(1, "Jinx", 222, "10/6/3", 0, win), placed(3, 6, 4)))
		s.game(1700, "CHERRY", 10*minute, 12*minute, with(part(1, "Jinx", 222, "3/8/2", 0, loss), placed(7, 8, 1)))
	}},
	{"arena_duo", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.player("Maple#T1", unranked(solo))
		s.player("Hazel#T1", unranked(solo))
		s.game(1700, "CHERRY", 40*minute, 18*minute,
			with(part(1, "Jinx", 222, "10/6/3", 0, win), placed(1, 8, 4)),
			with(part(2, "Leona", 89, "2/6/13", 0, win), placed(1, 8, 4)))
		s.game(1700, "CHERRY", 10*minute, 15*minute,
			with(part(1, "Jinx", 222, "4/6/3", 0, win), placed(6, 8, 4)),
			with(part(2, "Leona", 89, "2/6/5", 0, win), placed(6, 8, 4)),
			with(part(3, "Thresh", 412, "2/6/13", 0, win), placed(2, 8, 1)))
	}},
	{"arena_without_places", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(1700, "CHERRY", 40*minute, 18*minute, with(part(1, "Jinx", 222, "10/6/3", 0, none), team(0)))
	}},
	{"arena_friends_without_places", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.player("Maple#T1", unranked(solo))
		s.game(1700, "CHERRY", 40*minute, 18*minute, with(part(1, "Jinx", 222, "10/6/3", 0, none), team(0)), with(part(2, "Lux", 99, "1/6/3", 0, none), team(0)))
	}},
	{"swarm", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(1820, "STRAWBERRY", 40*minute, 14*minute, part(1, "Jinx", 0, "910/2/0", 0, win))
	}},
	{"coop_against_bots", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(850, "CLASSIC", 40*minute, 21*minute, with(part(1, "Garen", 86, "14/1/3", 130, win), at("TOP")))
	}},
	{"urf_and_one_for_all", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(900, "URF", 45*minute, 15*minute, part(1, "Hecarim", 120, "14/9/3", 100, loss))
		s.game(900, "ARURF", 28*minute, 15*minute, part(1, "Hecarim", 120, "14/9/3", 100, loss))
		s.game(1020, "ONEFORALL", 10*minute, 17*minute, part(1, "Teemo", 17, "14/9/3", 100, win))
	}},
	{"custom_against_friends", func(s *scene) {
		for _, n := range []string{"Calm in rain#KR1", "Maple#T1", "Hazel#T1", "Larkspur#T1"} {
			s.player(n, unranked(solo))
		}
		s.game(0, "CLASSIC", 15*minute, 31*minute,
			part(1, "Azir", 268, "7/3/9", 280, win), part(2, "Zed", 238, "3/7/2", 230, loss),
			part(3, "Thresh", 412, "1/4/18", 30, win), part(4, "Jinx", 222, "6/5/3", 260, loss))
	}},
	{"unknown_queue", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(3140, "NEW_MODE", 40*minute, 21*minute, part(1, "Garen", 86, "14/1/3", 130, win))
		s.game(3141, "CLASSIC", 10*minute, 21*minute, part(1, "Garen", 86, "14/1/3", 130, loss))
	}},
	{"no_winner", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(400, "CLASSIC", 40*minute, 21*minute, part(1, "Garen", 86, "1/1/3", 130, none))
	}},
	{"duo", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 41, 38)))
		s.player("Maple#T1", pair(solo, rank("GOLD", "I", 10, 90, 80), rank("GOLD", "I", 31, 91, 80)))
		s.game(420, "CLASSIC", 20*minute, 29*minute+31*time.Second,
			with(part(1, "Ahri", 103, "8/2/10", 210, win), at("MIDDLE")),
			with(part(2, "LeeSin", 64, "5/0/16", 155, win), at("JUNGLE")))
	}},
	{"friends_and_alone", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 41, 38)))
		s.player("Maple#T1", unranked(solo))
		s.player("Hazel#T1", unranked(solo))
		s.player("Ruler#KR1", unranked(solo))
		s.game(440, "CLASSIC", 55*minute, 31*minute,
			with(part(1, "Ahri", 103, "4/6/7", 190, loss), at("MIDDLE")),
			with(part(3, "Thresh", 412, "0/8/9", 31, loss), at("UTILITY")))
		s.game(420, "CLASSIC", 20*minute, 29*minute, with(part(1, "Ahri", 103, "8/2/10", 210, win), at("MIDDLE")))
		s.game(450, "ARAM", 10*minute, 18*minute, part(3, "Lux", 99, "9/9/30", 40, win))
		s.game(450, "ARAM", 8*minute, 18*minute, part(4, "Ashe", 22, "4/9/30", 60, win))
	}},
	{"team_remake", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.player("Maple#T1", unranked(solo))
		s.game(420, "CLASSIC", 20*minute, 3*minute+50*time.Second,
			with(part(1, "Ahri", 103, "0/0/0", 4, remake), at("MIDDLE")),
			with(part(2, "LeeSin", 64, "0/1/0", 8, remake), at("JUNGLE")))
	}},
	{"renamed", func(s *scene) {
		f := s.player("Calm in rain#KR1", unranked(solo))
		f.ShownName = "Old name#KR1"
		g := s.player("Maple#T1", unranked(solo))
		g.ShownName = "GoJeonPa#KR1"
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"names_with_markup", func(s *scene) {
		for _, n := range []string{"**bold**_it_#~~s~~", "||spoiler||#`code`", "> quote#1", "@everyone#<@1>", "[x](http://a.b)#<#2>", "שלום עולם#עב1", "\u2066한글\u2069#KR1", "ㅤ#KR1", "# head#- a"} {
			s.player(n, unranked(solo))
		}
		for i := range 4 {
			s.game(450, "ARAM", time.Duration(30-i)*minute, 17*minute, part(i+1, "Lux", 99, "12/8/20", 55, win))
		}
		s.game(450, "ARAM", 5*minute, 17*minute, part(6, "Lux", 99, "12/8/20", 55, win), part(8, "Ahri", 103, "12/8/20", 55, win))
	}},
	{"same_name_two_tags", func(s *scene) {
		s.player("Maple#T1", unranked(solo))
		s.player("maple#KR1", unranked(solo))
		s.game(450, "ARAM", 5*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win), part(2, "Ahri", 103, "12/8/20", 55, win))
	}},
	{"partial", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.player("Fern#EUW", unranked(solo)).Player.Platform = "euw1"
		s.player("Birches#EUW", unranked(solo)).Player.Platform = "euw1"
		s.player("Maple#T1", unranked(solo))
		s.in.Missing = []report.Missing{
			{Platform: "euw1", Cause: "riot", Players: []store.PlayerID{2, 3}},
			{Platform: "kr", Cause: "time", Players: []store.PlayerID{4}},
		}
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"nobody_played", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.player("Maple#T1", unranked(solo))
	}},
	{"between_hours", func(s *scene) {
		s.in.Slot = time.Time{}
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"since_days", func(s *scene) {
		s.in.From = slot.Add(-70 * time.Hour)
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"rehearsal", func(s *scene) {
		s.in.Slot = slot.Add(20 * time.Second)
		s.in.From = slot
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(450, "ARAM", -10*time.Second, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"lp_of_games_reported_before", func(s *scene) {
		s.player("Calm in rain#KR1", pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 41, 38)))
		s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
	}},
	{"long_game_and_no_cs", func(s *scene) {
		s.player("Calm in rain#KR1", unranked(solo))
		s.game(420, "CLASSIC", 12*minute, 67*minute+4*time.Second, with(part(1, "Soraka", 16, "0/11/40", 0, loss), at("UTILITY")))
	}},
	{"ten_players_alone", func(s *scene) {
		for i := range 12 {
			s.player(fmt.Sprintf("Friend %02d#KR1", i+1), both(solo, rank("GOLD", "II", i, 40, 38)))
			s.game(420, "CLASSIC", time.Duration(50-i)*minute, 20*minute, with(part(i+1, "Ahri", 103, "8/2/10", 160, win), at("MIDDLE")))
		}
	}},
}
