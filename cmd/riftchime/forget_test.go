package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"riftchime/store"
)

// follow registers a player in channel 10 of server 1, and stores a match of
// theirs.
func follow(t *testing.T, s store.Store, platform, gameName, puuid string) {
	t.Helper()
	ctx, at := t.Context(), time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.PutServer(ctx, store.Server{ID: 1, Name: "server", Key: "k1", JoinedAt: at}))
	must(s.PutChannel(ctx, store.Channel{ID: 10, Server: 1, Zone: "UTC", Language: "en", Hours: 1, CreatedAt: at}))
	p, _, err := s.Register(ctx, 10, store.NewPlayer{Platform: platform, GameName: gameName, TagLine: "KR1", Key: "k1", PUUID: puuid}, at, nil, 50)
	must(err)
	must(s.PutMatch(ctx, store.Match{ID: "KR_" + puuid, Platform: platform, Key: "k1", End: at, Participants: []store.Participant{
		{PUUID: puuid, GameName: gameName, TagLine: "KR1", ChampionName: "Ahri"},
	}}, at))
	must(s.AddReasons(ctx, []store.Reason{{Channel: 10, Player: p.ID, Code: "x", Detail: gameName, At: at}}))
}

// holds says whether any row holds text.
func holds(rows []string, text string) bool {
	return slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, text) })
}

func TestForget(t *testing.T) {
	t.Parallel()
	path, db := database(t, "test.db", 0)
	withStore(t, path, func(s store.Store) {
		follow(t, s, "kr", "Calm in rain", "p-1")
		follow(t, s, "kr", "Somebody else", "p-2")
	})
	all := content(t, path)
	theirs := []string{"Calm in rain", "calm in rain", `"puuid":"p-1"`, `\"p\":\"p-1\"`}
	for _, text := range theirs {
		if !holds(all, text) {
			t.Fatalf("the database does not hold %q before", text)
		}
	}

	// Nobody of that name, or not there: nothing changes.
	command(t, "forget", db, "--riot-id", "Nobody#KR1").want(t, exitSettings, "Nobody#KR1", "nobody is stored")
	command(t, "forget", db, "--riot-id", "Calm in rain#KR1", "--platform", "euw1").want(t, exitSettings, "Calm in rain#KR1", "on euw1")
	if got := content(t, path); !slices.Equal(got, all) {
		t.Error("somebody unknown was forgotten, and the database changed")
	}

	// As it is typed, letter case aside.
	command(t, "forget", db, "--riot-id", " cALM in rain # kr1", "--platform", "KR").want(t, 0, "Forgotten: Calm in rain#KR1 (kr)", "Discord")
	rows := content(t, path)
	for _, text := range theirs {
		if holds(rows, text) {
			t.Errorf("the database still holds %q", text)
		}
	}
	if !holds(rows, "Somebody else") || !holds(rows, `"puuid":"p-2"`) {
		t.Error("somebody else was forgotten too")
	}
	command(t, "forget", db, "--riot-id", "Calm in rain#KR1").want(t, exitSettings, "nobody is stored")
}

// A Riot ID that changed hands: the one who had it before is told of.
func TestForgetTwo(t *testing.T) {
	t.Parallel()
	path, db := database(t, "test.db", 0)
	withStore(t, path, func(s store.Store) {
		follow(t, s, "kr", "Same name", "p-1")
		follow(t, s, "euw1", "Same name", "p-2")
	})
	command(t, "forget", db, "--riot-id", "Same name#KR1").want(t, 0, "(euw1)", "once more", "(kr)")
	if s := command(t, "forget", db, "--riot-id", "Same name#KR1"); s.code != 0 || strings.Contains(s.out, "once more") {
		t.Errorf("the second time: %d, %q %q", s.code, s.out, s.err)
	}
	if rows := content(t, path); holds(rows, "Same name") {
		t.Error("the database still holds the name")
	}
}

func TestForgetSettings(t *testing.T) {
	t.Parallel()
	path, db := database(t, "nowhere.db", 0)
	command(t, "forget", db, "--riot-id", "Name#KR1").want(t, exitSettings, "DATABASE_URL")
	command(t, "forget", db).want(t, exitSettings, "--riot-id")
	command(t, "forget", db, "--riot-id", "Name").want(t, exitSettings, "--riot-id", "no #")
	command(t, "forget", db, "--riot-id", "Name#KR1", "--platform", "korea").want(t, exitSettings, "--platform", "korea", "kr")
	missing(t, path)
}
