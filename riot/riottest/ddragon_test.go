package riottest_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"io"
	"net/http"
	"strconv"
	"testing"

	"riftchime/riot/riottest"
)

func TestDataDragon(t *testing.T) {
	t.Parallel()
	get := func(h http.Handler, url string, status int) []byte {
		t.Helper()
		resp, err := (&http.Client{Transport: riottest.InProcess(h)}).Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Fatalf("%s: %d %v", url, resp.StatusCode, err)
		}
		return body
	}
	const host = "https://ddragon.leagueoflegends.com"
	s := riottest.NewServer(riottest.Options{})
	for _, h := range []http.Handler{riottest.DDragon(), s} {
		var versions []string
		if err := json.Unmarshal(get(h, host+"/api/versions.json", 200), &versions); err != nil || len(versions) == 0 {
			t.Fatalf("versions: %v %v", versions, err)
		}
		type file struct {
			Data map[string]struct {
				ID, Key, Name string
				Image         struct{ Full string }
			}
		}
		var ko, en file
		for locale, into := range map[string]*file{"ko_KR": &ko, "en_US": &en} {
			if err := json.Unmarshal(get(h, host+"/cdn/"+versions[0]+"/data/"+locale+"/champion.json", 200), into); err != nil {
				t.Fatal(err)
			}
		}
		if len(en.Data) < 30 || len(ko.Data) != len(en.Data) {
			t.Errorf("%d champions in English, %d in Korean", len(en.Data), len(ko.Data))
		}
		keys := map[string]bool{}
		icons := map[string]bool{}
		for id, c := range en.Data {
			if n, err := strconv.Atoi(c.Key); err != nil || n < 1 || keys[c.Key] || c.ID != id || c.Image.Full != id+".png" || c.Name == "" ||
				ko.Data[id].Name == "" || ko.Data[id].Name == c.Name || ko.Data[id].Key != c.Key {
				t.Errorf("%s: %+v, in Korean %+v", id, c, ko.Data[id])
			}
			keys[c.Key] = true
			picture := get(h, host+"/cdn/"+versions[0]+"/img/champion/"+c.Image.Full, 200)
			if _, err := png.Decode(bytes.NewReader(picture)); err != nil || icons[string(picture)] {
				t.Errorf("picture of %s: %v, seen before: %t", id, err, icons[string(picture)])
			}
			icons[string(picture)] = true
		}
		if en.Data["MonkeyKing"].Name != "Wukong" || ko.Data["Ahri"].Name != "아리" {
			t.Errorf("names: %+v %+v", en.Data["MonkeyKing"], ko.Data["Ahri"])
		}
		for _, missing := range []string{"/", "/cdn/1.1.1/data/ko_KR/champion.json", "/cdn/16.4.1/data/xx_XX/champion.json", "/cdn/16.4.1/img/champion/Nobody.png", "/cdn/16.4.1/img/champion/ahri.png"} {
			get(h, host+missing, 403)
		}
	}
	if n := s.Stats().Requests; n != 0 {
		t.Errorf("%d calls were counted", n)
	}
}
