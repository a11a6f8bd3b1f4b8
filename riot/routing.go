package riot

import (
	"slices"
	"strings"
)

// The regions of today. Accounts are served by the first three only.
const (
	Americas Region = "americas"
	Asia     Region = "asia"
	Europe   Region = "europe"
	Sea      Region = "sea"
)

// routes tells where a platform's accounts and matches are asked for. The two
// differ: account-v1 has no host for South East Asia, where any of its hosts
// serves any account and the nearest is to be used; match-v5 answers with an
// empty list, not with an error, on a wrong host.
type routes struct {
	account, match Region
}

var platforms = map[Platform]routes{
	"br1":  {Americas, Americas},
	"eun1": {Europe, Europe},
	"euw1": {Europe, Europe},
	"jp1":  {Asia, Asia},
	"kr":   {Asia, Asia},
	"la1":  {Americas, Americas},
	"la2":  {Americas, Americas},
	"me1":  {Europe, Europe},
	"na1":  {Americas, Americas},
	"oc1":  {Americas, Sea},
	"ru":   {Europe, Europe},
	"sg2":  {Asia, Sea},
	"tr1":  {Europe, Europe},
	"tw2":  {Asia, Sea},
	"vn2":  {Asia, Sea},
}

// merged are platforms that were merged into another (on 2025-01-08). Nobody
// plays there now, but ids of their matches live on.
var merged = map[Platform]Platform{
	"ph2": "sg2",
	"th2": "sg2",
}

// Platforms lists every platform of today in alphabetical order, without those
// that were merged into another and the public beta.
func Platforms() []Platform {
	all := make([]Platform, 0, len(platforms))
	for p := range platforms {
		all = append(all, p)
	}
	slices.Sort(all)
	return all
}

// Valid reports whether p is a platform of today, spelt in lower case.
func (p Platform) Valid() bool {
	_, ok := platforms[p]
	return ok
}

// AccountRegion is where accounts of p's players are asked for: "americas",
// "asia" or "europe", the nearest to p. It is empty for a platform that is not
// known.
func (p Platform) AccountRegion() Region { return p.today().account }

// MatchRegion is where matches played on p are asked for, also those of a
// platform that was merged into another since. It is empty for a platform that
// is not known.
func (p Platform) MatchRegion() Region { return p.today().match }

func (p Platform) today() routes {
	if into, ok := merged[p]; ok {
		p = into
	}
	return platforms[p]
}

// Valid reports whether r is a region of today.
func (r Region) Valid() bool {
	return r == Americas || r == Asia || r == Europe || r == Sea
}

// servesAccounts reports whether account-v1 has a host for r.
func (r Region) servesAccounts() bool { return r.Valid() && r != Sea }

// Valid reports whether id has the form of a match id, a platform in upper case
// before a number, whatever the platform.
func (id MatchID) Valid() bool {
	prefix, number, ok := strings.Cut(string(id), "_")
	if !ok || prefix == "" || number == "" || len(id) > 64 {
		return false
	}
	for i := range len(prefix) {
		if c := prefix[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	for i := range len(number) {
		if c := number[i]; c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Platform is where the match was played: a platform of that time, which need
// not be one of today ("th2"). It is empty where id has not the form of a match
// id.
func (id MatchID) Platform() Platform {
	if !id.Valid() {
		return ""
	}
	prefix, _, _ := strings.Cut(string(id), "_")
	return Platform(strings.ToLower(prefix))
}

// Region is where the match is asked for; empty where that is not known.
func (id MatchID) Region() Region { return id.Platform().MatchRegion() }
