package render_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"riftchime/bot/render"
	"riftchime/bot/report"
)

var update = flag.Bool("update", false, "write the golden files")

// champions are a few names as Data Dragon has them.
type champions struct{}

var korean = map[int]string{
	103: "아리", 157: "야스오", 238: "제드", 268: "아지르", 99: "럭스", 55: "카타리나", 222: "징크스", 89: "레오나",
	412: "쓰레쉬", 86: "가렌", 120: "헤카림", 17: "티모", 64: "리 신", 22: "애쉬", 16: "소라카",
}

func (champions) Champion(id int, matchName, language string) string {
	if s := korean[id]; s != "" && language == "ko" {
		return s
	}
	if id == 64 {
		return "Lee Sin"
	}
	return matchName
}

func (champions) Icon(id int, matchName string) string {
	if id == 0 {
		return ""
	}
	return "https://ddragon.example/img/" + matchName + ".png"
}

var seoul = must(time.LoadLocation("Asia/Seoul"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func options(language string) render.Options {
	return render.Options{Language: language, Zone: seoul, Names: champions{}}
}

func build(name string) report.Report {
	for _, k := range kinds {
		if k.name == name {
			s := newScene()
			k.build(s)
			return report.Compose(s.in)
		}
	}
	panic(name)
}

// sent is a message as Discord would get it.
type sent struct {
	Content string `json:"content"`
	Embeds  []struct {
		Title       string `json:"title"`
		Description string `json:"description"`
		Timestamp   string `json:"timestamp"`
		Color       int    `json:"color"`
		Thumbnail   *struct {
			URL string `json:"url"`
		} `json:"thumbnail"`
		Footer *struct {
			Text string `json:"text"`
		} `json:"footer"`
	} `json:"embeds"`
	AllowedMentions *struct {
		Parse *[]string `json:"parse"`
	} `json:"allowed_mentions"`
}

func decode(t testing.TB, m render.Message) sent {
	t.Helper()
	var s sent
	if err := json.Unmarshal(m.Body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGolden compares what people see, and which pictures are beside it, with
// the golden files; -update writes them.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		for _, language := range []string{"ko", "en"} {
			t.Run(k.name+"/"+language, func(t *testing.T) {
				t.Parallel()
				messages, err := render.Render(build(k.name), options(language))
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				for i, m := range messages {
					if len(messages) > 1 {
						fmt.Fprintf(&got, "--- message %d\n", i+1)
					}
					got.WriteString(render.Text(m) + "\n")
					for _, e := range decode(t, m).Embeds {
						if e.Thumbnail != nil {
							fmt.Fprintf(&got, "(picture %s)\n", filepath.Base(e.Thumbnail.URL))
						}
					}
				}
				file := filepath.Join("testdata", k.name+"."+language+".golden")
				if *update {
					if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestGoldenFilesAreAllInUse finds golden files of kinds that are no more.
func TestGoldenFilesAreAllInUse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) != 2*len(kinds) {
		t.Errorf("%d golden files (%v) for %d kinds in two languages", len(files), err, len(kinds))
	}
}
