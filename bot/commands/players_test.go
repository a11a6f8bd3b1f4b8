package commands_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"riftchime/riot"
	"riftchime/store"
)

func TestUnregister(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		typed string
		gone  string // "" where nobody goes
		says  string
	}{
		{"as suggested", "Calm in rain#KR1", "Calm in rain#KR1", `**Calm in rain#KR1** · EUW is no longer followed`},
		{"letter case and spaces", "calminrain # kr1", "Calm in rain#KR1", "no longer followed"},
		{"from the client", "\u2066Fern\u2069#\u2066EUW\u2069", "Fern#EUW", "no longer followed"},
		{"the name alone", "fern", "Fern#EUW", "2 players are left"},
		{"its number in the list", "3", "Twin#111", "no longer followed"},
		{"no such number", "4", "", "is not registered"},
		{"number 0", "0", "", "is not registered"},
		{"a slip", "Cabs#EUW", "", `Did you mean **Fern#EUW**?`},
		{"half a name", "calm", "", `**Calm in rain#KR1**`},
		{"nobody", "zzzzzzzzzz#qqqqq", "", "`/list` shows who is"},
		{"blank", " ", "", "name the player"},
		{"a mention", "<@123>#x", "", `\<\@123\>#x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.register("Calm in rain#KR1", "Fern#EUW", "Twin#111")
			before := w.names(200)
			got := w.do(press{command: "unregister", options: map[string]any{"riot_id": tt.typed}})
			contains(t, got, tt.says)
			want := slices.DeleteFunc(slices.Clone(before), func(n string) bool { return tt.gone != "" && strings.HasPrefix(n, tt.gone) })
			if names := w.names(200); !slices.Equal(names, want) {
				t.Errorf("left %v, want %v", names, want)
			}
		})
	}
}

func TestUnregisterWhereTwoHaveTheName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Twin#111", "Twin#222")
	contains(t, w.do(press{command: "unregister", options: map[string]any{"riot_id": "twin"}}), `**Twin#111**, **Twin#222**`)
	if n := len(w.names(200)); n != 2 {
		t.Errorf("%d left, want 2", n)
	}
}

func TestUnregisterWhereNobodyIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "unregister", options: map[string]any{"riot_id": "A#111"}}), "Nobody is registered")
	contains(t, w.do(press{command: "unregister", locale: "ko", options: map[string]any{"riot_id": "A#111"}}), "등록된 플레이어가 없습니다")
}

func TestSuggestPlayers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Calm in rain#KR1", "Rainmaker#EUW", "Fern#EUW")
	tests := []struct {
		typed string
		want  []string
	}{
		{"", []string{"Calm in rain#KR1", "Rainmaker#EUW", "Fern#EUW"}},
		{"RAIN", []string{"Rainmaker#EUW", "Calm in rain#KR1"}},
		{"#e", []string{"Rainmaker#EUW", "Fern#EUW"}},
		{"nobody", []string{}},
	}
	for _, command := range []string{"unregister", "why"} {
		for _, tt := range tests {
			p := press{command: command, options: map[string]any{"riot_id": tt.typed}, focus: "riot_id"}
			got := []string{}
			for _, c := range w.command(command).Autocomplete(t.Context(), p.interaction(t)) {
				v, _ := c.Value.(string)
				if c.Name != v {
					t.Errorf("%q stands for %q", c.Name, v)
				}
				got = append(got, v)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s %q suggests %v, want %v", command, tt.typed, got, tt.want)
			}
		}
	}
	p := press{command: "why", server: "999", options: map[string]any{"riot_id": ""}, focus: "riot_id"}
	if got := w.command("why").Autocomplete(t.Context(), p.interaction(t)); len(got) > 0 {
		t.Errorf("another server is told %v", got)
	}
}

func TestSuggestAtMost25(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 40 {
		ids = append(ids, fmt.Sprintf("Friend %d#EUW", i))
	}
	w.register(ids...)
	p := press{command: "unregister", options: map[string]any{"riot_id": ""}, focus: "riot_id"}
	if got := w.command("unregister").Autocomplete(t.Context(), p.interaction(t)); len(got) != 25 {
		t.Errorf("%d suggestions, want 25", len(got))
	}
}

func TestListTellsRanksApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register("Solo#111", "Flex#111", "Apex#111", "None#111", "Unknown#111", "Odd#111")
	put := func(name string, ranks ...store.Rank) {
		t.Helper()
		p, err := w.store.PlayerByRiotID(t.Context(), "", name, "111")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := w.store.PutRanks(t.Context(), p.ID, ranks, start); err != nil {
			t.Fatal(err)
		}
	}
	put("Solo", store.Rank{Queue: riot.QueueSolo, Tier: "EMERALD", Division: "II", LP: 43, Wins: 1}, store.Rank{Queue: riot.QueueFlex, Tier: "IRON", Division: "IV", Wins: 1})
	put("Flex", store.Rank{Queue: riot.QueueFlex, Tier: "GOLD", Division: "I", LP: 7, Wins: 1})
	put("Apex", store.Rank{Queue: riot.QueueSolo, Tier: "CHALLENGER", LP: 1500, Wins: 1})
	put("None")
	put("Odd", store.Rank{Queue: riot.QueueSolo, Tier: "MYTHIC*", Division: "I", LP: 1, Wins: 1})
	got := w.do(press{command: "list"})
	contains(t, got, "**6 players**",
		`1\. **Solo#111** · EUW · Solo Emerald II 43 LP`,
		`2\. **Flex#111** · EUW · Flex Gold I 7 LP`,
		`3\. **Apex#111** · EUW · Solo Challenger 1500 LP`,
		`4\. **None#111** · EUW · unranked`,
		`5\. **Unknown#111** · EUW · rank not known yet`,
		`6\. **Odd#111** · EUW · Solo MYTHIC\* I 1 LP`,
		"12:00", "(UTC)", "Next report: <t:")
	contains(t, w.do(press{command: "list", locale: "ko"}), "등록된 플레이어 6명", "솔로 에메랄드 II 43 LP", "언랭크", "랭크 확인 전", "다음 전적")
}

func TestListWhereNobodyIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	contains(t, w.do(press{command: "list"}), "Nobody is registered", "/register")
	w.do(press{command: "schedule", options: map[string]any{"hours": "3"}})
	contains(t, w.do(press{command: "list"}), "Nobody is registered")
}

func TestListOfFiftyFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []string
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("___가나다라마바_%02d#*_~|*", i))
	}
	w.register(ids...)
	for _, id := range ids {
		r, _ := riot.ParseRiotID(id)
		p, err := w.store.PlayerByRiotID(t.Context(), "", r.GameName, r.TagLine)
		if err != nil {
			t.Fatal(err)
		}
		rank := store.Rank{Queue: riot.QueueSolo, Tier: "GRANDMASTER", LP: 1234, Wins: 1}
		if _, _, err := w.store.PutRanks(t.Context(), p.ID, []store.Rank{rank}, start); err != nil {
			t.Fatal(err)
		}
	}
	for _, locale := range []string{"ko", "en-GB"} {
		got := w.do(press{command: "list", locale: locale})
		for i := range 50 {
			contains(t, got, fmt.Sprintf("%d\\. ", i+1), fmt.Sprintf("_%02d", i))
		}
		contains(t, got, "1234 LP", "<t:")
	}
}
