package hour_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/discordtest"
	"riftchime/bot/hour"
	"riftchime/bot/schedule"
	"riftchime/riot/riottest"
	"riftchime/store"
)

// scene is a place with few players, whose games can be told apart by their
// champions, in a bubble whose time starts at
// midnight UTC of a Monday.
type scene struct {
	*place
	began  time.Time
	stop   func()
	people int
}

// play runs f in a bubble, with a place of some channels.
func play(t *testing.T, channels int, f func(t *testing.T, s *scene)) {
	t.Helper()
	playWith(t, channels, riottest.Options{}, schedule.Clock{}, f)
}

func playWith(t *testing.T, channels int, o riottest.Options, clock schedule.Clock, f func(t *testing.T, s *scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)))
		s := &scene{place: newPlace(t, channels, o, clock), began: time.Now(), stop: func() {}}
		f(t, s)
		s.stop()
		if st := s.world.Stats(); st.Refusals() != 0 {
			t.Errorf("Riot refused %v", st.Refused)
		}
		if ds := s.discord.Stats(); ds.Global429+ds.Bucket429 != 0 || len(ds.Violations) != 0 {
			t.Errorf("Discord refused %d and %d, violations %v", ds.Global429, ds.Bucket429, ds.Violations)
		}
		if t.Failed() {
			t.Logf("the log:\n%s", s.logs)
		}
	})
}

// start runs the hour; a second one takes over from the first.
func (s *scene) start() {
	s.stop()
	s.hour = hour.New(s.opts)
	stop := s.run()
	stopped := false
	s.stop = func() {
		if !stopped {
			stopped = true
			stop()
		}
	}
}

// until lets time pass until so long after midnight, as "1:00:05".
func (s *scene) until(clock string) {
	s.t.Helper()
	var h, m, sec int
	if n, _ := fmt.Sscanf(clock, "%d:%d:%d", &h, &m, &sec); n < 2 {
		s.t.Fatalf("no time: %q", clock)
	}
	at := s.began.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(sec)*time.Second)
	if at.Before(time.Now()) {
		s.t.Fatalf("%s is over", clock)
	}
	time.Sleep(time.Until(at))
	synctest.Wait()
}

// at is a time of day.
func (s *scene) at(h, m int) time.Time {
	return s.began.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute)
}

// player adds somebody to the world.
func (s *scene) player(platform string) riottest.PlayerID {
	s.t.Helper()
	s.people++
	id, err := s.world.AddPlayer(riottest.Player{
		GameName: fmt.Sprintf("Friend %d", s.people), TagLine: "T" + fmt.Sprint(s.people), Platform: platform,
		Solo: &riottest.Rank{Tier: "GOLD", Division: "II", LP: 40, Wins: 30, Losses: 30},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// game lets players end a normal game now, the first one with the champion; more
// changes it.
func (s *scene) game(champion string, players []riottest.PlayerID, more ...func(*riottest.Game)) string {
	s.t.Helper()
	g := riottest.Game{Queue: 400, End: time.Now()}
	for i, p := range players {
		seat := riottest.Seat{Player: p, Champion: "Teemo", Result: riottest.Win}
		if i == 0 {
			seat.Champion = champion
		}
		g.Seats = append(g.Seats, seat)
	}
	for _, f := range more {
		f(&g)
	}
	id, err := s.world.AddGame(g)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func one(p riottest.PlayerID) []riottest.PlayerID { return []riottest.PlayerID{p} }

// messages are what the channel shows now.
func (s *scene) messages(i int) []discordtest.Message {
	var shown []discordtest.Message
	for _, m := range s.discord.Messages(fmt.Sprint(channelID(i))) {
		if !m.Deleted {
			shown = append(shown, m)
		}
	}
	return shown
}

// text is one message as it is read.
func text(m discordtest.Message) string {
	parts := []string{m.Content}
	for _, e := range m.Embeds {
		parts = append(parts, e.Title, e.Description)
		for _, f := range e.Fields {
			parts = append(parts, f.Name, f.Value)
		}
	}
	return strings.Join(parts, "\n")
}

// posted checks how many messages the channel shows, and how often each word is
// in all of them.
func (s *scene) posted(i, messages int, words map[string]int) {
	s.t.Helper()
	all := s.messages(i)
	if len(all) != messages {
		s.t.Errorf("%s: channel %d has %d messages, want %d", time.Now().Format(time.TimeOnly), i, len(all), messages)
	}
	var b strings.Builder
	for _, m := range all {
		b.WriteString(text(m) + "\n")
	}
	for w, n := range words {
		if got := strings.Count(b.String(), w); got != n {
			s.t.Errorf("%s: channel %d shows %q %d times, want %d:\n%s", time.Now().Format(time.TimeOnly), i, w, got, n, b.String())
		}
	}
}

// codes counts the reasons recorded for a channel.
func (s *scene) codes(i int) map[string]int {
	s.t.Helper()
	rs, err := s.db.Reasons(s.t.Context(), channelID(i), 0, 1000)
	if err != nil {
		s.t.Fatal(err)
	}
	n := map[string]int{}
	for _, r := range rs {
		n[r.Code]++
	}
	return n
}

func (s *scene) reasons(i int, want map[string]int) {
	s.t.Helper()
	got := s.codes(i)
	for code, n := range want {
		if got[code] != n {
			s.t.Errorf("channel %d has reason %q %d times, want %d (all: %v)", i, code, got[code], n, got)
		}
	}
}

// report is what is stored of a channel's report.
func (s *scene) report(i int, slot time.Time) store.Report {
	s.t.Helper()
	r, err := s.db.Report(s.t.Context(), channelID(i), slot)
	if err != nil {
		s.t.Errorf("report of channel %d at %s: %v", i, slot.Format(time.TimeOnly), err)
	}
	return r
}

func (s *scene) ended(i int, slot time.Time, state store.ReportState, reason string) {
	s.t.Helper()
	if r := s.report(i, slot); r.State != state || r.Reason != reason {
		s.t.Errorf("report of channel %d at %s: state %d for %q, want %d for %q",
			i, slot.Format(time.TimeOnly), r.State, r.Reason, state, reason)
	}
}

func (s *scene) logged(text string, want bool) {
	s.t.Helper()
	if got := strings.Contains(s.logs.String(), text); got != want {
		s.t.Errorf("%q in the log: %v, want %v", text, got, want)
	}
}

// calls counts what Riot was asked since the last time, by method.
func (s *scene) calls() map[string]int {
	n := s.world.Stats().ByMethod
	s.world.Reset()
	return n
}
