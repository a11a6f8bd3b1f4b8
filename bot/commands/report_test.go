package commands_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"riftchime/bot/report"
	"riftchime/store"
)

// play stores a finished game of these players of the world, won.
func (w *world) play(id string, end time.Time, names ...string) {
	w.t.Helper()
	m := store.Match{
		ID: id, Platform: "euw1", Queue: 420, Mode: "CLASSIC", Map: 11,
		Start: end.Add(-30 * time.Minute), End: end, Duration: 30 * time.Minute, Key: "aaaaaaaa",
	}
	for i, n := range names {
		a, ok := w.riot.find(n)
		if !ok {
			w.t.Fatalf("nobody is called %s", n)
		}
		m.Participants = append(m.Participants, store.Participant{
			PUUID: "aaaaaaaa/" + a.name, GameName: a.id.GameName, TagLine: a.id.TagLine,
			ChampionID: 103, ChampionName: "Ahri", Team: 100 + i%2, Kills: 7, Deaths: 1, Assists: 9,
			CS: 200, Damage: 20000, Outcome: store.OutcomeWin, Position: "MIDDLE",
		})
	}
	if err := w.store.PutMatch(w.t.Context(), m, end); err != nil {
		w.t.Fatal(err)
	}
}

func TestReportShowsNewGamesAndMovesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "report"}), "Nobody is registered")
	w.register("Fern#EUW", "Birches#EUW")
	w.play("EUW1_1", start.Add(-time.Hour), "Fern#EUW")
	w.play("EUW1_2", start.Add(10*time.Minute), "Fern#EUW")
	w.now = start.Add(30 * time.Minute)
	before := w.channel(200)
	for range 2 {
		got := w.do(press{command: "report"})
		contains(t, got, "Fern", "7/1/9")
		if n := strings.Count(got, "7/1/9"); n != 1 {
			t.Errorf("%d games, want the one after the registration: %s", n, got)
		}
	}
	if after := w.channel(200); after != before {
		t.Errorf("the channel became %+v from %+v", after, before)
	}
	facts, err := w.store.Facts(t.Context(), 200, start.Truncate(time.Hour).Add(time.Hour), w.now)
	if err != nil || len(facts.Games) != 1 {
		t.Errorf("the next report has %d games (%v), want 1", len(facts.Games), err)
	}
	if reports, err := w.store.LastReports(t.Context(), 200, 5); err != nil || len(reports) != 0 {
		t.Errorf("reports %v, %v; want none", reports, err)
	}
}

func TestReportInTheChannelsLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW")
	w.do(press{command: "schedule", options: map[string]any{"language": "ko"}})
	w.play("EUW1_2", start.Add(10*time.Minute), "Fern#EUW")
	w.now = start.Add(30 * time.Minute)
	contains(t, w.do(press{command: "report", locale: "en-US"}), "승")
}

func TestReportAsksForWhatIsOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW")
	w.refresh = func(ctx context.Context, channel store.ChannelID, olderThan time.Duration) ([]report.Missing, error) {
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left > 20*time.Second || channel != 200 || olderThan != 3*time.Minute {
			t.Errorf("asked for %d, older than %s, with %s left", channel, olderThan, left)
		}
		w.play("EUW1_2", start.Add(time.Minute), "Fern#EUW")
		w.now = start.Add(5 * time.Minute)
		return nil, nil
	}
	contains(t, w.do(press{command: "report"}), "7/1/9")
}

func TestReportNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW", "Birches#EUW")
	w.play("EUW1_2", start.Add(time.Minute), "Fern#EUW")
	w.now = start.Add(5 * time.Minute)
	follows, err := w.store.Registrations(t.Context(), 200)
	if err != nil {
		t.Fatal(err)
	}
	w.refresh = func(context.Context, store.ChannelID, time.Duration) ([]report.Missing, error) {
		return []report.Missing{{Platform: "euw1", Cause: "riot", Players: []store.PlayerID{follows[1].Player.ID}}}, nil
	}
	contains(t, w.do(press{command: "report"}), "Fern", "EUW", "did not answer")
}

func TestReportEndsWhenRefreshingHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.register("Fern#EUW")
		w.play("EUW1_2", start.Add(time.Minute), "Fern#EUW")
		w.now = start.Add(5 * time.Minute)
		w.refresh = func(ctx context.Context, _ store.ChannelID, _ time.Duration) ([]report.Missing, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("refresh: %w", ctx.Err())
		}
		begun := time.Now()
		contains(t, w.do(press{command: "report"}), "7/1/9")
		if took := time.Since(begun); took != 20*time.Second {
			t.Errorf("took %s, want 20s", took)
		}
	})
}

func TestReportOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW")
	w.register2("201")
	entered, leave := make(chan struct{}), make(chan struct{})
	w.refresh = func(_ context.Context, channel store.ChannelID, _ time.Duration) ([]report.Missing, error) {
		if channel == 200 {
			close(entered)
			<-leave
		}
		return nil, nil
	}
	done := make(chan string)
	go func() { done <- w.do(press{command: "report"}) }()
	<-entered
	contains(t, w.do(press{command: "report", locale: "ko"}), "이미 만들고 있습니다")
	lacks(t, w.do(press{command: "report", channel: "201"}), "already")
	close(leave)
	lacks(t, <-done, "already")
	w.mu.Lock()
	w.refresh = nil
	w.mu.Unlock()
	lacks(t, w.do(press{command: "report"}), "already")
}

// register2 registers somebody in a second channel.
func (w *world) register2(channel string) {
	w.t.Helper()
	w.riot.add("Second#EUW", "euw1")
	contains(w.t, w.do(press{command: "register", channel: channel, options: map[string]any{"riot_id": "Second#EUW"}}), "✅")
}

func TestReportWhenRefreshingFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW")
	w.refresh = func(context.Context, store.ChannelID, time.Duration) ([]report.Missing, error) {
		return nil, fmt.Errorf("players: %w", store.ErrUnavailable)
	}
	contains(t, w.do(press{command: "report"}), "can't be read or saved")
	w.refresh = func(context.Context, store.ChannelID, time.Duration) ([]report.Missing, error) {
		return nil, errors.New("boom at https://discord.com/api/webhooks/1/secret")
	}
	got := w.do(press{command: "report"})
	contains(t, got, "went wrong")
	lacks(t, got, "boom", "secret")
}

func TestReportTooLongForOneMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("Friend Number %02d#EUW", i))
	}
	w.register(ids...)
	for i, id := range ids {
		for n := range 4 {
			w.play(fmt.Sprintf("EUW1_%d%d", n+1, i), start.Add(time.Duration(n+1)*time.Minute), id)
		}
	}
	w.now = start.Add(30 * time.Minute)
	got := w.do(press{command: "report"})
	shown := 0
	for _, id := range ids {
		if strings.Contains(got, strings.TrimSuffix(id, "#EUW")) {
			shown++
		}
	}
	if shown == 0 || shown == 50 {
		t.Fatalf("%d of 50 are shown", shown)
	}
	contains(t, got, fmt.Sprintf("%d more players did not fit", 50-shown))
}
