package riottest

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// The regional routing values. Accounts have no host in South East Asia.
const (
	americas = "americas"
	asia     = "asia"
	europe   = "europe"
	sea      = "sea"
)

// platforms are the platform routing values of today, in a fixed order: an index
// into it is part of a stranger's number.
var platforms = [...]string{
	"br1", "eun1", "euw1", "jp1", "kr", "la1", "la2", "me1",
	"na1", "oc1", "ru", "sg2", "tr1", "tw2", "vn2",
}

// matchRegion is where the games of a platform are kept. ph2 and th2 are merged
// into sg2: nobody plays there, but their games are kept where its are.
var matchRegion = map[string]string{
	"br1": americas, "la1": americas, "la2": americas, "na1": americas,
	"jp1": asia, "kr": asia,
	"eun1": europe, "euw1": europe, "me1": europe, "ru": europe, "tr1": europe,
	"oc1": sea, "sg2": sea, "tw2": sea, "vn2": sea,
	"ph2": sea, "th2": sea,
}

// isPlatform reports whether s has a host of its own today.
func isPlatform(s string) bool { return slices.Contains(platforms[:], s) }

func isRegion(s string) bool {
	return s == americas || s == asia || s == europe || s == sea
}

func servesAccounts(s string) bool { return s == americas || s == asia || s == europe }

func isRoute(s string) bool { return isPlatform(s) || isRegion(s) }

// dataDragon is what Data Dragon goes by where a route could stand.
const dataDragon = "ddragon"

// locate finds what a request is for: the route, and the path's segments with
// their escapes undone. The route is the first label of the host where that is
// one, else the first segment. It is empty where neither is.
func locate(host string, u *url.URL) (route string, segments []string) {
	// The escaped path is split: a game name may hold a "/".
	path := strings.TrimPrefix(u.EscapedPath(), "/")
	for s := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return "", nil
		}
		segments = append(segments, plain)
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	label, _, _ := strings.Cut(strings.ToLower(host), ".")
	if isRoute(label) || label == dataDragon {
		return label, segments
	}
	if first := segments[0]; isRoute(first) || first == dataDragon {
		return first, segments[1:]
	}
	return "", segments
}
