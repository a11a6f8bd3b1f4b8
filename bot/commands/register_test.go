package commands_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"riftchime/bot/commands"
	"riftchime/riot"
	"riftchime/store"
)

func TestRegisterReadsWhatPeoplePaste(t *testing.T) {
	t.Parallel()
	many := func(separator string) (string, []string) {
		var ids, names []string
		for i := range 25 {
			ids = append(ids, fmt.Sprintf("Friend %d#EUW", i))
			names = append(names, fmt.Sprintf("Friend %d#EUW euw1", i))
		}
		return strings.Join(ids, separator), names
	}
	commas, friends := many(", ")
	lines, _ := many("\n")
	spaces, _ := many(" ")
	tests := []struct {
		name  string
		typed string
		want  []string // registered
		says  []string
	}{
		{"one", "Calm in rain#KR1", []string{"Calm in rain#KR1 kr"}, []string{"✅ **Calm in rain#KR1** · KR"}},
		{"letter case is Riot's", "calm IN rain#kr1", []string{"Calm in rain#KR1 kr"}, nil},
		{"three in a paste", "Calm in rain#KR1, Fern#EUW\nPeriwinkle#NA1", []string{"Calm in rain#KR1 kr", "Fern#EUW euw1", "Periwinkle#NA1 na1"}, nil},
		{"25 by commas", commas, friends, nil},
		{"25 by new lines", lines, friends, nil},
		{"25 by spaces", spaces, friends, nil},
		{"twice in a paste", "Fern#EUW fern#euw", []string{"Fern#EUW euw1"}, nil},
		{"from the client", "\u2066Calm in rain\u2069 \u2066#KR1\u2069", []string{"Calm in rain#KR1 kr"}, nil},
		{"spaces round the #", "  Calm in rain  #  KR1 ", []string{"Calm in rain#KR1 kr"}, nil},
		{"Hangul", "페이커#한국", []string{"페이커#한국 kr"}, []string{"페이커#한국"}},
		{"emoji", "🦊fox🦊#EUW", []string{"🦊fox🦊#EUW euw1"}, nil},
		{"no #", "Calm in rain", nil, []string{"❌ **Calm in rain**: no # in it", "name#tag"}},
		{"several #", "A#B#C", nil, []string{"A#B#C", "Riot knows no such"}},
		{"no name", "#KR1", nil, []string{"no name before the #"}},
		{"no tag", "Maple#", nil, []string{"no tag after the #"}},
		{"too long", strings.Repeat("x", 60) + "#KR1", nil, []string{"too long"}},
		{"blank", "  \u2066\u2069 ", nil, []string{"at least one Riot ID"}},
		{"unknown to Riot", "Nobody#EUW", nil, []string{"❌ **Nobody#EUW**: Riot knows no such Riot ID", "Name and tag must be exact"}},
		{"good and bad", "Fern#EUW, nonsense, Nobody#EUW", []string{"Fern#EUW euw1"}, []string{"nonsense**: no # in it", "Nobody"}},
		{"markdown and mentions", "**@everyone** <@1> [x](http://evil) `#x", nil, []string{`\*\*\@everyone\*\* \<\@1\>`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.riot.add("Calm in rain#KR1", "kr")
			w.riot.add("Fern#EUW", "euw1")
			w.riot.add("Periwinkle#NA1", "na1")
			w.riot.add("페이커#한국", "kr")
			w.riot.add("🦊fox🦊#EUW", "euw1")
			for i := range 25 {
				w.riot.add(fmt.Sprintf("Friend %d#EUW", i), "euw1")
			}
			got := w.do(press{command: "register", options: map[string]any{"riot_id": tt.typed}})
			contains(t, got, tt.says...)
			if names := w.names(200); !slices.Equal(names, tt.want) {
				t.Errorf("registered %v, want %v (%s)", names, tt.want, got)
			}
			if len(tt.want) == 0 {
				if _, err := w.store.Channel(t.Context(), 200); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the channel was opened for nobody: %v", err)
				}
				return
			}
			if got := strings.Count(got, "✅"); got != len(tt.want) {
				t.Errorf("%d lines of success, want %d", got, len(tt.want))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.changed == 0 || len(w.ranks) != len(tt.want) {
				t.Errorf("changed %d times, %d ranks asked for, want %d", w.changed, len(w.ranks), len(tt.want))
			}
		})
	}
}

func TestRegisterFindsTheRegion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		region  string
		account func(*account)
		broken  map[string]error
		want    string // registered
		says    string
	}{
		{"found out", "", nil, nil, "Mover#1234 kr", "· KR"},
		{"given right", "kr", nil, nil, "Mover#1234 kr", "· KR"},
		{"given in capitals", "KR", nil, nil, "Mover#1234 kr", "· KR"},
		{"given wrong", "euw1", nil, nil, "Mover#1234 kr", "not on EUW, so registered where they play"},
		{"played on both", "euw1", func(a *account) { a.profiles = append(a.profiles, "euw1") }, nil, "Mover#1234 euw1", "· EUW"},
		{"not a region", "mars", nil, nil, "", "is not a region"},
		{"no answer, none given", "", func(a *account) { a.noRegion = 404 }, nil, "", "Give `region`"},
		{"500, none given", "", func(a *account) { a.noRegion = 500 }, nil, "", "Give `region`"},
		{"no answer, given", "kr", func(a *account) { a.noRegion = 404 }, nil, "Mover#1234 kr", "· KR"},
		{"500, given", "kr", func(a *account) { a.noRegion = 500 }, nil, "Mover#1234 kr", "· KR"},
		{"500, given wrong", "euw1", func(a *account) { a.noRegion = 500 }, nil, "", "does not play League of Legends on EUW"},
		{"never played", "", func(a *account) { a.noRegion = 404; a.profiles = nil }, nil, "", "Give `region`"},
		{"region down", "", nil, map[string]error{"region": failure(riot.KindUnavailable, 503)}, "", "Riot did not answer"},
		{"region down, given", "kr", nil, map[string]error{"region": failure(riot.KindUnavailable, 503)}, "Mover#1234 kr", "· KR"},
		{"profile down", "euw1", nil, map[string]error{"summoner": failure(riot.KindUnavailable, 503)}, "", "Riot did not answer"},
		{"one host down", "", nil, map[string]error{"account americas": failure(riot.KindUnavailable, 503), "region americas": failure(riot.KindUnavailable, 0)}, "Mover#1234 kr", "· KR"},
		{"name left out", "", func(a *account) { a.silent = true }, nil, "mover#1234 kr", "· KR"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a := w.riot.add("Mover#1234", "kr")
			if tt.account != nil {
				tt.account(a)
			}
			for k, err := range tt.broken {
				w.riot.broken[k] = err
			}
			options := map[string]any{"riot_id": "mover#1234"}
			if tt.region != "" {
				options["region"] = tt.region
			}
			got := w.do(press{command: "register", options: options})
			contains(t, got, tt.says)
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if names := w.names(200); !slices.Equal(names, want) {
				t.Errorf("registered %v, want %v (%s)", names, want, got)
			}
		})
	}
}

func TestRegisterWhenRiotFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		method string
		err    error
		says   string
	}{
		{"account down", "account", failure(riot.KindUnavailable, 503), "Riot did not answer"},
		{"account limited", "account", failure(riot.KindLimited, 429), "Riot took too long"},
		{"key refused", "account", failure(riot.KindBadKey, 401), "Riot refuses our key"},
		{"region limited", "region", failure(riot.KindLimited, 0), "Riot took too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.register("Friend#EUW")
			w.riot.add("Fern#EUW", "euw1")
			w.riot.broken[tt.method] = tt.err
			got := w.do(press{command: "register", options: map[string]any{"riot_id": "Fern#EUW Friend#EUW"}})
			contains(t, got, `⚠️ **Fern#EUW**: `+tt.says, `try this one again in a few minutes: Fern#EUW`, `☑️ **Friend#EUW** · EUW: already registered`)
			if names := w.names(200); len(names) != 1 {
				t.Errorf("registered %v, want the friend only", names)
			}
		})
	}
}

func TestRegisterEndsWhenRiotHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 20 {
			w.riot.add(fmt.Sprintf("Friend %d#EUW", i), "euw1")
		}
		w.riot.hang["region"] = true
		var ids []string
		for i := range 20 {
			ids = append(ids, fmt.Sprintf("Friend %d#EUW", i))
		}
		begun := time.Now()
		got := w.do(press{command: "register", options: map[string]any{"riot_id": strings.Join(ids, ",")}})
		if took := time.Since(begun); took > 3*time.Minute {
			t.Errorf("answered after %s", took)
		}
		if n := strings.Count(got, "Riot took too long"); n != 20 {
			t.Errorf("%d of 20 say so: %s", n, got)
		}
		if w.riot.most > 8 {
			t.Errorf("%d calls at once, more than 8", w.riot.most)
		}
	})
}

func TestRegisterOlderGamesNeverCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.riot.add("Fern#EUW", "euw1")
	for i := range 30 {
		a.games = append(a.games, riot.MatchID(fmt.Sprintf("EUW1_%d", 1000-i)))
	}
	w.do(press{command: "register", options: map[string]any{"riot_id": "Fern#EUW"}})
	follows, err := w.store.Registrations(t.Context(), 200)
	if err != nil || len(follows) != 1 {
		t.Fatal(follows, err)
	}
	if !follows[0].Since.Equal(start) {
		t.Errorf("since %v, want %v", follows[0].Since, start)
	}
	var ids []string
	for _, id := range append(a.games[:20:20], "EUW1_1001") {
		ids = append(ids, string(id))
	}
	wanted, err := w.store.Listed(t.Context(), follows[0].Player.ID, "aaaaaaaa", ids, start)
	if err != nil {
		t.Fatal(err)
	}
	if len(wanted) != 1 || wanted[0].ID != "EUW1_1001" {
		t.Errorf("to be read: %v, want the new game only", wanted)
	}
}

func TestRegisterWithoutTheListOfGames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.riot.add("Fern#EUW", "euw1")
	w.riot.broken["ids"] = failure(riot.KindUnavailable, 503)
	contains(t, w.do(press{command: "register", options: map[string]any{"riot_id": "Fern#EUW"}}), "✅")
	if names := w.names(200); len(names) != 1 {
		t.Errorf("registered %v", names)
	}
}

func TestRegisterTheFiftyFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 52 {
		id := fmt.Sprintf("Friend %d#EUW", i)
		w.riot.add(id, "euw1")
		ids = append(ids, id)
	}
	got := w.do(press{command: "register", options: map[string]any{"riot_id": strings.Join(ids, "\n")}})
	if n := strings.Count(got, "✅"); n != 50 {
		t.Errorf("%d registered, want 50", n)
	}
	contains(t, got, `🚫 **Friend 50#EUW**: no room left`, `🚫 **Friend 51#EUW**`, "50 players at most")
	if n := len(w.names(200)); n != 50 {
		t.Errorf("%d in the store, want 50", n)
	}
	before := w.riot.called("account")
	got = w.do(press{command: "register", options: map[string]any{"riot_id": "Friend 51#EUW, friend 3#euw"}})
	contains(t, got, `🚫 **Friend 51#EUW**`, `☑️ **Friend 3#EUW** · EUW: already`)
	if w.riot.called("account") != before {
		t.Error("Riot was asked about players for whom there is no room")
	}
	contains(t, w.do(press{command: "list"}), "**50 players**", `50\. **Friend 49#EUW**`)
}

func TestRegisterAgainAsksOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Fern#EUW")
	before := w.riot.called("region") + w.riot.called("ids")
	got := w.do(press{command: "register", options: map[string]any{"riot_id": "fern#euw"}})
	contains(t, got, `☑️ **Fern#EUW** · EUW: already registered here`)
	lacks(t, got, "✅")
	if after := w.riot.called("region") + w.riot.called("ids"); after != before {
		t.Errorf("%d calls for somebody who is here already", after-before)
	}
	// Somebody else took the name since: a player of its own.
	a, _ := w.riot.find("Fern#EUW")
	a.name = "somebody else"
	contains(t, w.do(press{command: "register", options: map[string]any{"riot_id": "Fern#EUW"}}), "Fern")
}

func TestRegisterOpensTheChannel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		locale, serverLocale string
		platform             riot.Platform
		zone, lang           string
		says                 string
	}{
		{"a Korean person", "ko", "en-US", "euw1", "Asia/Seoul", "ko", "12:00** (Asia/Seoul)에 한국어로"},
		{"a player in Korea", "en-US", "en-US", "kr", "Asia/Seoul", "ko", "12:00** (Asia/Seoul), in Korean"},
		{"a Korean server", "en-US", "ko", "euw1", "Asia/Seoul", "ko", "in Korean"},
		{"a German server", "en-US", "de", "euw1", "Europe/Berlin", "en", "(Europe/Berlin), in English"},
		{"a server of Sweden", "sv-SE", "sv-SE", "euw1", "Europe/Stockholm", "en", "Europe/Stockholm"},
		{"Brazil", "pt-BR", "pt-BR", "br1", "America/Sao_Paulo", "en", "America/Sao_Paulo"},
		{"nothing known", "en-US", "en-US", "na1", "UTC", "en", "12:00** (UTC), in English"},
		{"a person's locale alone", "de", "en-US", "euw1", "UTC", "en", "(UTC)"},
		{"a locale nobody knows", "xx", "yy", "euw1", "UTC", "en", "(UTC)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.riot.add("Fern#EUW", tt.platform)
			p := press{command: "register", locale: tt.locale, serverLocale: tt.serverLocale, options: map[string]any{"riot_id": "Fern#EUW"}}
			contains(t, w.do(p), tt.says)
			ch := w.channel(200)
			if ch.Zone != tt.zone || ch.Language != tt.lang || ch.Hours != 1<<12 || !ch.Quiet || ch.Server != 100 {
				t.Errorf("opened as %+v", ch)
			}
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			local := ch.NextSlot.In(loc)
			if local.Hour() != 12 || local.Minute() != 0 || !ch.NextSlot.After(start) || ch.NextSlot.Sub(start) > 24*time.Hour {
				t.Errorf("next %v, want the next noon there", local)
			}
			s, err := w.store.Server(t.Context(), 100)
			if err != nil || s.Key != "aaaaaaaa" {
				t.Errorf("server %+v, %v; want the key there", s, err)
			}
			w.riot.add("Second#EUW", "euw1")
			p.options["riot_id"] = "Second#EUW"
			lacks(t, w.do(p), tt.zone)
		})
	}
}

func TestRegisterKeepsTheServersName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.store.PutServer(t.Context(), store.Server{ID: 100, Name: "Friends", Locale: "de", JoinedAt: start}); err != nil {
		t.Fatal(err)
	}
	if err := w.store.ServerGone(t.Context(), 100, start); err != nil {
		t.Fatal(err)
	}
	w.register("Fern#EUW")
	s, err := w.store.Server(t.Context(), 100)
	if err != nil || s.Name != "Friends" || s.Key != "aaaaaaaa" || !s.GoneAt.IsZero() {
		t.Errorf("server %+v, %v", s, err)
	}
}

func TestRegisterWithTheIdlestKey(t *testing.T) {
	t.Parallel()
	keys := []riot.Fingerprint{"aaaaaaaa", "bbbbbbbb"}
	w := newWorld(t, func(o *commands.Options) { o.Keys = func() []riot.Fingerprint { return keys } })
	w.register("A#111", "B#111")
	p := press{command: "register", server: "101", channel: "201", options: map[string]any{"riot_id": "A#111"}}
	w.do(p)
	s, err := w.store.Server(t.Context(), 101)
	if err != nil || s.Key != "bbbbbbbb" {
		t.Fatalf("server %+v, %v; want the second key", s, err)
	}
	// A key that the program has no more is replaced.
	keys = []riot.Fingerprint{"cccccccc"}
	p.options["riot_id"] = "B#111"
	contains(t, w.do(p), "✅")
	if s, err = w.store.Server(t.Context(), 101); err != nil || s.Key != "cccccccc" {
		t.Errorf("server %+v, %v; want the third key", s, err)
	}
}

func TestRegisterWakesAChannelThatWasEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(press{command: "schedule", options: map[string]any{"hours": "3"}})
	w.now = start.Add(72 * time.Hour)
	w.register("Fern#EUW")
	if next := w.channel(200).NextSlot; !next.After(w.now) {
		t.Errorf("next %v, which is over", next)
	}
}

func TestRegisterSaysThatTheHoursAreOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.riot.add("Fern#EUW", "euw1")
	w.do(press{command: "schedule", options: map[string]any{"hours": "off"}})
	contains(t, w.do(press{command: "register", options: map[string]any{"riot_id": "Fern#EUW"}}), "hours are off")
}

func TestRegisterSaysWhatTheBotLacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.riot.add("Fern#EUW", "euw1")
	p := press{command: "register", options: map[string]any{"riot_id": "Fern#EUW"}, bot: discordgo.PermissionViewChannel}
	contains(t, w.do(p), "can't post in this channel", "Send Messages")
}

func TestRegisterMoreThanFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 200 {
		ids = append(ids, fmt.Sprintf("*_~|*_~|*_~|%d#*_~|", i))
	}
	got := w.do(press{command: "register", options: map[string]any{"riot_id": strings.Join(ids, ",")}})
	contains(t, got, "125 more were left out: at most 75 at once", "Name and tag must be exact")
}

func TestRegisterManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var people sync.WaitGroup
	for person := range 4 {
		var ids []string
		for i := range 20 {
			ids = append(ids, fmt.Sprintf("Friend %d %d#EUW", person, i))
			w.riot.add(ids[i], "euw1")
		}
		p := press{command: "register", options: map[string]any{"riot_id": strings.Join(ids, ",")}}
		i, register := p.interaction(t), w.command("register")
		people.Go(func() {
			if got := w.text(p, register.Run(t.Context(), i)); strings.Count(got, "✅")+strings.Count(got, "🚫") != 20 {
				t.Errorf("not everybody has a line: %s", got)
			}
		})
	}
	people.Wait()
	if n := len(w.names(200)); n != commands.MaxPlayers {
		t.Errorf("%d registered, want %d", n, commands.MaxPlayers)
	}
}

// halfStore loses its database after some registrations.
type halfStore struct {
	store.Store
	left int
}

func (s *halfStore) Register(ctx context.Context, ch store.ChannelID, p store.NewPlayer, since time.Time, baseline []string, most int) (store.Player, store.Registered, error) {
	if s.left--; s.left < 0 {
		return store.Player{}, 0, fmt.Errorf("register: %w", store.ErrUnavailable)
	}
	return s.Store.Register(ctx, ch, p, since, baseline, most)
}

func TestRegisterWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	for _, works := range []int{0, 2} {
		t.Run(fmt.Sprint(works, " saved"), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *commands.Options) {
				s, _ := o.Store.(store.Store)
				o.Store = &halfStore{s, works}
			})
			for _, id := range []string{"A#111", "B#111", "C#111", "D#111"} {
				w.riot.add(id, "euw1")
			}
			got := w.do(press{command: "register", options: map[string]any{"riot_id": "A#111 B#111 C#111 D#111"}})
			if n := len(w.names(200)); n != works {
				t.Errorf("%d registered, want %d", n, works)
			}
			if works == 0 {
				contains(t, got, "can't be read or saved")
				return
			}
			contains(t, got, `✅ **A#111**`, `✅ **B#111**`, `⚠️ **C#111**: found, but could not be saved`, `again in a few minutes: C#111, D#111`)
		})
	}
}
