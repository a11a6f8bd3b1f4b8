package riottest

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// dataVersions are those that Data Dragon tells, newest first.
var dataVersions = []string{"16.4.1", "16.3.1", "16.2.1", "16.1.1", "15.24.1"}

// gameVersion is what matches say they were played with.
const gameVersion = "16.4.748.682"

// DDragon is a Data Dragon: /api/versions.json, /cdn/{version}/data/{ko_KR,
// en_US}/champion.json and /cdn/{version}/img/champion/{id}.png. What it has not
// got is 403, as there. A Server has one too, under the host or the first segment
// "ddragon".
func DDragon() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serveDataDragon(w, strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/"))
	})
}

func serveDataDragon(w http.ResponseWriter, path []string) {
	out := reply{
		status: http.StatusForbidden,
		typ:    "application/xml",
		body:   []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"),
	}
	switch {
	case slices.Equal(path, []string{"api", "versions.json"}):
		out = reply{status: http.StatusOK, typ: "application/json", body: mustJSON(dataVersions)}
	case len(path) < 5 || path[0] != "cdn" || !slices.Contains(dataVersions, path[1]):
	case path[2] == "data" && path[4] == "champion.json" && len(path) == 5 && (path[3] == "ko_KR" || path[3] == "en_US"):
		out = reply{status: http.StatusOK, typ: "application/json", body: championFile(path[1], path[3] == "ko_KR")}
	case path[2] == "img" && path[3] == "champion" && len(path) == 5:
		id, isPNG := strings.CutSuffix(path[4], ".png")
		if c := championByID(id); isPNG && c != nil && c.id == id {
			out = reply{status: http.StatusOK, typ: "image/png", body: icon(c)}
		}
	}
	h := w.Header()
	h.Set("Content-Type", out.typ)
	h.Set("Content-Length", strconv.Itoa(len(out.body)))
	w.WriteHeader(out.status)
	_, _ = w.Write(out.body) // a client that is gone needs no answer
}

// mustJSON is for values that can't fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// championFile is champion.json of a version.
func championFile(version string, korean bool) []byte {
	type picture struct {
		Full   string `json:"full"`
		Sprite string `json:"sprite"`
		Group  string `json:"group"`
		X      int    `json:"x"`
		Y      int    `json:"y"`
		W      int    `json:"w"`
		H      int    `json:"h"`
	}
	type entry struct {
		Version string             `json:"version"`
		ID      string             `json:"id"`
		Key     string             `json:"key"`
		Name    string             `json:"name"`
		Title   string             `json:"title"`
		Blurb   string             `json:"blurb"`
		Info    map[string]int     `json:"info"`
		Image   picture            `json:"image"`
		Tags    []string           `json:"tags"`
		Partype string             `json:"partype"`
		Stats   map[string]float64 `json:"stats"`
	}
	data := make(map[string]entry, len(champions))
	for i := range champions {
		c := &champions[i]
		name := c.english
		if korean {
			name = c.korean
		}
		data[c.id] = entry{
			Version: version,
			ID:      c.id,
			Key:     strconv.Itoa(c.key),
			Name:    name,
			Info:    map[string]int{"attack": 5, "defense": 5, "magic": 5, "difficulty": 5},
			Image: picture{
				Full:   c.id + ".png",
				Sprite: "champion" + strconv.Itoa(i/30) + ".png",
				Group:  "champion",
				X:      i % 10 * 48,
				Y:      i / 10 % 3 * 48,
				W:      48,
				H:      48,
			},
			Tags:    []string{"Fighter"},
			Partype: c.resource,
			Stats:   map[string]float64{"hp": 600, "movespeed": 340, "attackspeed": 0.658},
		}
	}
	return mustJSON(struct {
		Type    string           `json:"type"`
		Format  string           `json:"format"`
		Version string           `json:"version"`
		Data    map[string]entry `json:"data"`
	}{"champion", "standAloneComplex", version, data})
}

// icon is a picture of 120 by 120 pixels that is the champion's alone.
func icon(c *champion) []byte {
	h := hash(uint64(c.key))
	palette := color.Palette{
		color.RGBA{R: uint8(h), G: uint8(h >> 8), B: uint8(h >> 16), A: 255},
		color.RGBA{R: uint8(h >> 24), G: uint8(h >> 32), B: uint8(h >> 40), A: 255},
	}
	img := image.NewPaletted(image.Rect(0, 0, 120, 120), palette)
	// A pattern of 5 by 5 fields that is the same left and right.
	for y := range 120 {
		for x := range 120 {
			column, row := x/24, y/24
			if mix(h)>>(row*3+min(column, 4-column))&1 == 1 {
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}
