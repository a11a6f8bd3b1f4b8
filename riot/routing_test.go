package riot_test

import (
	"slices"
	"testing"

	"riftchime/riot"
)

// The tables of Riot's documentation, by hand: where accounts and where matches
// of each platform are asked for.
var wantRoutes = map[riot.Platform][2]riot.Region{
	"br1":  {"americas", "americas"},
	"eun1": {"europe", "europe"},
	"euw1": {"europe", "europe"},
	"jp1":  {"asia", "asia"},
	"kr":   {"asia", "asia"},
	"la1":  {"americas", "americas"},
	"la2":  {"americas", "americas"},
	"me1":  {"europe", "europe"},
	"na1":  {"americas", "americas"},
	"oc1":  {"americas", "sea"},
	"ru":   {"europe", "europe"},
	"sg2":  {"asia", "sea"},
	"tr1":  {"europe", "europe"},
	"tw2":  {"asia", "sea"},
	"vn2":  {"asia", "sea"},
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	all := riot.Platforms()
	if !slices.IsSorted(all) || len(all) != len(wantRoutes) {
		t.Errorf("Platforms() is %v, want %d in order", all, len(wantRoutes))
	}
	for _, p := range all {
		want, ok := wantRoutes[p]
		if !ok {
			t.Errorf("%s is no platform of today", p)
		}
		if !p.Valid() {
			t.Errorf("%s is not valid", p)
		}
		if got := [2]riot.Region{p.AccountRegion(), p.MatchRegion()}; got != want {
			t.Errorf("%s: account and match go to %v, want %v", p, got, want)
		}
		for _, r := range want {
			if !r.Valid() {
				t.Errorf("%s: region %q is not valid", p, r)
			}
		}
	}
}

func TestOddPlatforms(t *testing.T) {
	t.Parallel()
	for _, p := range []riot.Platform{"", "KR", "kr1", "th2", "ph2", "pbe1", "asia", "../kr"} {
		if p.Valid() {
			t.Errorf("%q is valid", p)
		}
	}
	if got := riot.Platform("nowhere").MatchRegion(); got != "" {
		t.Errorf("the region of no platform is %q", got)
	}
	if got := riot.Platform("nowhere").AccountRegion(); got != "" {
		t.Errorf("the account region of no platform is %q", got)
	}
}

func TestMatchID(t *testing.T) {
	t.Parallel()
	for id, want := range map[riot.MatchID]struct {
		platform riot.Platform
		region   riot.Region
	}{
		"KR_7000000001":            {"kr", "asia"},
		"EUW1_1":                   {"euw1", "europe"},
		"NA1_5":                    {"na1", "americas"},
		"OC1_5":                    {"oc1", "sea"},
		"TH2_48015375":             {"th2", "sea"},
		"PH2_48015375":             {"ph2", "sea"},
		"ESPORTSTMNT02_1102900047": {"esportstmnt02", ""},
		"":                         {},
		"KR":                       {},
		"KR_":                      {},
		"_1":                       {},
		"kr_1":                     {},
		"KR_1/../2":                {},
		"KR_1_2":                   {},
	} {
		if got := id.Platform(); got != want.platform {
			t.Errorf("%q: platform %q, want %q", id, got, want.platform)
		}
		if got := id.Region(); got != want.region {
			t.Errorf("%q: region %q, want %q", id, got, want.region)
		}
		if got, want := id.Valid(), want.platform != ""; got != want {
			t.Errorf("%q: valid is %v, want %v", id, got, want)
		}
	}
}
