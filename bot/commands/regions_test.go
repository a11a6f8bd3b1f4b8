package commands

import (
	"testing"

	"riftchime/bot/schedule"
	"riftchime/riot"
)

func TestZonesOfLocalesAreZones(t *testing.T) {
	t.Parallel()
	for locale, zone := range zones {
		if got, err := schedule.ParseZone(zone); err != nil || got != zone {
			t.Errorf("%s has %s, which is %q (%v)", locale, zone, got, err)
		}
	}
}

func TestAccountRegionsAreAskedNearestFirst(t *testing.T) {
	t.Parallel()
	for _, p := range append(riot.Platforms(), "") {
		all := accountRegions(p, "ko")
		if want := p.AccountRegion(); p != "" && all[0] != want || p == "" && all[0] != riot.Asia {
			t.Errorf("%q is asked on %v first", p, all)
		}
		seen := map[riot.Region]bool{}
		for _, r := range all {
			seen[r] = true
		}
		if len(all) != 3 || len(seen) != 3 || seen[riot.Sea] {
			t.Errorf("%q is asked on %v", p, all)
		}
	}
}
