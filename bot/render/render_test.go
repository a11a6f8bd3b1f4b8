package render_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"riftchime/bot/render"
	"riftchime/bot/report"
	"riftchime/store"
)

// units is the length of s in UTF-16 units, counted apart from the package.
func units(s string) int { return len(utf16.Encode([]rune(s))) }

// checkSizes holds a message to Discord's limits.
func checkSizes(t *testing.T, m render.Message) {
	t.Helper()
	s := decode(t, m)
	if s.AllowedMentions == nil || s.AllowedMentions.Parse == nil || len(*s.AllowedMentions.Parse) != 0 {
		t.Errorf("allowed_mentions is not an empty list: %.200s", m.Body)
	}
	if n := units(s.Content); n > 2000 {
		t.Errorf("content of %d", n)
	}
	if len(s.Embeds) > 10 {
		t.Errorf("%d embeds", len(s.Embeds))
	}
	if len(s.Embeds) == 0 && strings.TrimSpace(s.Content) == "" {
		t.Error("an empty message")
	}
	sum := 0
	for i, e := range s.Embeds {
		sum += units(e.Title) + units(e.Description)
		if n := units(e.Title); n > 256 {
			t.Errorf("title of %d", n)
		}
		if n := units(e.Description); n > 4096 || n == 0 {
			t.Errorf("description of %d", n)
		}
		if e.Footer != nil {
			sum += units(e.Footer.Text)
		}
		if (e.Timestamp != "") != (i == 0) {
			t.Errorf("embed %d has timestamp %q", i, e.Timestamp)
		}
	}
	if sum > 6000 {
		t.Errorf("embeds of %d together", sum)
	}
}

// big is a channel of 50 players with 20 games each, each a different K/D/A.
func big(name func(i int) string) *scene {
	s := newScene()
	for i := range 50 {
		s.player(name(i), pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 60, 38)))
	}
	for n := range 20 {
		for i := range 50 {
			s.game(420, "CLASSIC", time.Duration(1000-n)*minute, 20*minute,
				with(part(i+1, "Ahri", 103, fmt.Sprintf("%d/%d/77", 100+i, 100+n), 210, win), at("MIDDLE")))
		}
	}
	return s
}

// stated finds what a game line of big says.
var stated = regexp.MustCompile(`(\d+)/(\d+)/77`)

func TestBigChannelIsSplitInOrder(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%t", plain), func(t *testing.T) {
			t.Parallel()
			o := options("en")
			o.PlainText = plain
			messages, err := render.Render(report.Compose(big(func(i int) string { return fmt.Sprintf("Friend %02d#KR1", i) }).in), o)
			if err != nil {
				t.Fatal(err)
			}
			if len(messages) < 2 {
				t.Fatalf("%d messages", len(messages))
			}
			var got []string
			heads := map[string]int{}
			for i, m := range messages {
				checkSizes(t, m)
				text := render.Text(m)
				if !plain && !strings.Contains(text, fmt.Sprintf("[%d/%d]", i+1, len(messages))) {
					t.Errorf("message %d does not say which it is", i)
				}
				for _, m := range stated.FindAllStringSubmatch(text, -1) {
					got = append(got, m[1]+"/"+m[2])
				}
				for line := range strings.Lines(text) {
					if strings.HasPrefix(line, "Friend") {
						heads[line]++
					}
				}
			}
			var want []string
			for i := range 50 {
				for n := range 20 {
					want = append(want, fmt.Sprintf("%d/%d", 100+i, 100+n))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d games, want %d in order", len(got), len(want))
			}
			if !plain && len(heads) != 50 {
				t.Errorf("%d heads for 50 players: somebody is cut in the middle", len(heads))
			}
		})
	}
}

// TestNoPlayerIsCut looks for players whose games stand in two messages.
func TestNoPlayerIsCut(t *testing.T) {
	t.Parallel()
	messages, err := render.Render(report.Compose(big(func(i int) string { return fmt.Sprintf("%d#KR1", i) }).in), options("ko"))
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]int{}
	for i, m := range messages {
		for _, found := range stated.FindAllStringSubmatch(render.Text(m), -1) {
			if before, seen := in[found[1]]; seen && before != i {
				t.Errorf("player %s is in messages %d and %d", found[1], before, i)
			}
			in[found[1]] = i
		}
	}
}

func TestReportThatFitsIsOneMessage(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		messages, err := render.Render(build(k.name), options("ko"))
		if err != nil || len(messages) != 1 {
			t.Errorf("%s: %d messages, %v", k.name, len(messages), err)
		}
	}
	// 32 players of one game each are more than ten embeds and less than 6,000.
	s := newScene()
	for i := range 32 {
		s.player(fmt.Sprintf("Friend %02d#KR1", i), both(solo, rank("GOLD", "II", i, 40, 38)))
		s.game(420, "CLASSIC", time.Duration(50-i)*minute, 20*minute, with(part(i+1, "Ahri", 103, "8/2/10", 160, win), at("MIDDLE")))
	}
	messages, err := render.Render(report.Compose(s.in), options("ko"))
	if err != nil || len(messages) != 1 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	checkSizes(t, messages[0])
	if got := decode(t, messages[0]); len(got.Embeds) != 10 || got.Embeds[1].Thumbnail == nil {
		t.Errorf("%d embeds; the first player's picture: %v", len(got.Embeds), got.Embeds[1].Thumbnail)
	}
}

// hostile are pieces that names are made of in the random test.
var hostile = []string{
	"*", "_", "~~", "||", "`", "```", ">", "# ", "[a](http://b)", "<@1>", "@everyone", "\\", "\n", "\u202e", "\u200b",
	"😀", "👨‍👩‍👧", "한글", "שלום", "مرحبا", "a", "B", "https://discord.gg/x", "ㅤ", "#", "   ", "\x00", "\ufffd", "𝕬𝖇", "é́́́",
}

// TestRandomReports holds any report to Discord's sizes and to telling each
// player's part in each game exactly once.
func TestRandomReports(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 15 {
		s := newScene()
		players := 1 + r.IntN(50)
		for i := range players {
			name := ""
			for range r.IntN(30) {
				name += hostile[r.IntN(len(hostile))]
			}
			f := s.player(fmt.Sprintf("%s#%d", name, i), pair(solo, rank("GOLD", "II", r.IntN(100), 40, 38), rank("GOLD", "I", r.IntN(100), 40+r.IntN(3), 38)))
			if r.IntN(4) == 0 {
				f.ShownName = name + "x#1"
			}
		}
		var want []string
		for n := range r.IntN(200) {
			var parts []store.Game
			for _, i := range r.Perm(players)[:min(players, 1+r.IntN(18)*r.IntN(2))] {
				p := part(i+1, strings.Repeat("x", r.IntN(60)), 0, fmt.Sprintf("%d/%d/77", 1000+i, 1000+n), r.IntN(300), uint8(r.IntN(4)))
				p.Team = r.IntN(4) * 100
				parts = append(parts, p)
				want = append(want, fmt.Sprintf("%d/%d", 1000+i, 1000+n))
			}
			s.game(r.IntN(3000), "MODE", time.Duration(n)*minute, time.Duration(r.IntN(4000))*time.Second, parts...)
		}
		if r.IntN(3) == 0 {
			s.in.Missing = []report.Missing{{Platform: "kr", Cause: "riot", Players: []store.PlayerID{1, store.PlayerID(players)}}}
		}
		rep := report.Compose(s.in)
		for _, o := range []render.Options{options("ko"), options("en"), {Language: "ko", Zone: seoul, PlainText: true}} {
			messages, err := render.Render(rep, o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range messages {
				checkSizes(t, m)
				for _, found := range stated.FindAllStringSubmatch(render.Text(m), -1) {
					got = append(got, found[1]+"/"+found[2])
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%d parts told, want %d (plain %t)", len(got), len(want), o.PlainText)
			}
		}
	}
}

func TestTimestampIsTheSlot(t *testing.T) {
	t.Parallel()
	messages, err := render.Render(build("one_win"), options("ko"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decode(t, messages[0]).Embeds[0].Timestamp, "2026-12-01T03:00:00.000Z"; got != want {
		t.Errorf("timestamp %s, want %s", got, want)
	}
	// One between the hours is not taken for an hour's.
	messages, err = render.Render(build("between_hours"), options("ko"))
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t, messages[0]).Embeds[0].Timestamp; got != "" {
		t.Errorf("timestamp %s, want none", got)
	}
}

func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ name, want string }{
		"bold":          {"**a**#KR1", `**\*\*a\*\*#KR1**`},
		"italic":        {"_a_b_#KR1", `**\_a\_b\_#KR1**`},
		"struck":        {"~~a~~#KR1", `**\~\~a\~\~#KR1**`},
		"spoiler":       {"||a||#KR1", `**\|\|a\|\|#KR1**`},
		"code":          {"`a`#KR1", "**\\`a\\`#KR1**"},
		"quote":         {"> a#KR1", `**\> a#KR1**`},
		"list":          {"- a#KR1", `**\- a#KR1**`},
		"backslash":     {`a\*b#KR1`, `**a\\\*b#KR1**`},
		"link":          {"[a](b)#KR1", `**\[a\]\(b\)#KR1**`},
		"address":       {"http://a.b#KR1", `**http\:\/\/a.b#KR1**`},
		"invitation":    {"discord.gg/a#KR1", `**discord.gg\/a#KR1**`},
		"mention":       {"<@123>#KR1", `**\<\@123\>#KR1**`},
		"everyone":      {"@everyone#KR1", `**\@everyone#KR1**`},
		"new lines":     {"a\nb\tc#KR1", `**a b c#KR1**`},
		"client marks":  {"\u2066Calm in rain\u2069#KR1", `**Calm in rain#KR1**`},
		"override":      {"a\u202eb#KR1", `**ab#KR1**`},
		"zero width":    {"a\u200b\ufeff\u00adb#KR1", `**ab#KR1**`},
		"right to left": {"שלום#KR1", "**\u2068שלום\u2069#KR1**"},
		"Hangul":        {"숨고르기#KR1", "**숨고르기#KR1**"},
		"family":        {"👨‍👩‍👧#KR1", "**👨‍👩‍👧#KR1**"},
		"filler":        {"ㅤㅤ#KR1", `**\(no name\)#KR1**`},
		"empty":         {"#KR1", `**\(no name\)#KR1**`},
		"tag of markup": {"a#*b*", `**a#\*b\***`},
		"endless":       {strings.Repeat("w", 100) + "#KR1", "**" + strings.Repeat("w", 40) + "…#KR1**"},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newScene()
			f := s.player("x#x", unranked(solo))
			f.Player.GameName, f.Player.TagLine, _ = strings.Cut(c.name, "#")
			f.ShownName = c.name
			s.game(450, "ARAM", 12*minute, 17*minute, part(1, "Lux", 99, "12/8/20", 55, win))
			messages, err := render.Render(report.Compose(s.in), options("en"))
			if err != nil {
				t.Fatal(err)
			}
			got, _, _ := strings.Cut(decode(t, messages[0]).Embeds[1].Description, "\n")
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestPlainTextSaysTheSame(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		o := options("ko")
		embeds, err := render.Render(build(k.name), o)
		if err != nil {
			t.Fatal(err)
		}
		o.PlainText = true
		plain, err := render.Render(build(k.name), o)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, m := range plain {
			if len(decode(t, m).Embeds) > 0 {
				t.Errorf("%s: plain text has embeds", k.name)
			}
			got = append(got, strings.Fields(render.Text(m))...)
		}
		for _, m := range embeds {
			want = append(want, strings.Fields(render.Text(m))...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: plain\n%s\nembeds\n%s", k.name, got, want)
		}
	}
}

func TestWithoutNamesOrZone(t *testing.T) {
	t.Parallel()
	messages, err := render.Render(build("swarm"), render.Options{Language: "xx"})
	if err != nil {
		t.Fatal(err)
	}
	text := render.Text(messages[0])
	for _, want := range []string{"03:00 report", "Tue, Dec 1 02:00 – 03:00 (UTC)", "Win · Jinx 910/2/0 · Swarm · 14:00"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTextOfAnotherBody(t *testing.T) {
	t.Parallel()
	if got := render.Text(render.Message{Body: json.RawMessage("no json")}); got != "no json" {
		t.Errorf("got %q", got)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	messages, err := render.Render(build("one_win"), options("ko"))
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	page := string(render.HTML(messages, render.HTMLOptions{Language: "ko", Zone: seoul, Icon: func(url string) string {
		asked = append(asked, url)
		return "data:image/png;base64,AAAA"
	}}))
	for _, want := range []string{
		`<html lang="ko">`, "12:00 전적", "<strong>Calm in rain#KR1</strong>", "아리 (미드) 8/2/10", "+18 LP",
		`src="data:image/png;base64,AAAA"`, "border-color: #5383e8", "2026-12-01 12:00",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if !slices.Equal(asked, []string{"https://ddragon.example/img/Ahri.png"}) {
		t.Errorf("asked for %s", asked)
	}
	for _, bad := range []string{"http://", "https://", "<script", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
}

func TestHTMLIsSafe(t *testing.T) {
	t.Parallel()
	s := newScene()
	s.player(`<img src=x>"'#<b>`, unranked(solo))
	s.game(450, "ARAM", 12*minute, 17*minute, part(1, "<script>alert(1)</script>", 99999, "12/8/20", 55, win))
	messages, err := render.Render(report.Compose(s.in), options("en"))
	if err != nil {
		t.Fatal(err)
	}
	messages = append(messages, render.Message{Body: json.RawMessage("<script>")})
	page := string(render.HTML(messages, render.HTMLOptions{Icon: func(string) string { return "https://elsewhere/x.png" }}))
	for _, bad := range []string{"<script", "<img", "<b>", "elsewhere"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in the page", bad)
		}
	}
	if !strings.Contains(page, "&lt;img src=x&gt;") {
		t.Error("the name is not in the page")
	}
}

// BenchmarkChannel composes and renders the report of a channel of ten players
// with four games each: an hour has some 260 of them.
func BenchmarkChannel(b *testing.B) {
	s := newScene()
	for i := range 10 {
		s.player(fmt.Sprintf("Friend %02d#KR1", i), pair(solo, rank("GOLD", "II", 27, 40, 38), rank("GOLD", "II", 45, 44, 38)))
		for n := range 4 {
			s.game(420, "CLASSIC", time.Duration(50-n)*minute, 20*minute, with(part(i+1, "Ahri", 103, "8/2/10", 160, win), at("MIDDLE")))
		}
	}
	for b.Loop() {
		if _, err := render.Render(report.Compose(s.in), options("ko")); err != nil {
			b.Fatal(err)
		}
	}
}
