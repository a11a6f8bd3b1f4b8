package riot

import (
	"context"
	"encoding/json"
	"time"
)

// Summoner asks for an account's profile on a platform. An account without one
// there is a KindNotFound error: a result.
func (c Caller) Summoner(ctx context.Context, on Platform, id PUUID) (Summoner, error) {
	r := request{
		method:   MethodSummoner,
		route:    string(on),
		segments: []string{"lol", "summoner", "v4", "summoners", "by-puuid", string(id)},
	}
	if !on.Valid() {
		return Summoner{}, r.fail(KindRejected, errNoRoute)
	}
	var s Summoner
	err := c.get(ctx, r, func(body []byte) error {
		var raw struct {
			PUUID         string `json:"puuid"`
			ProfileIconID number `json:"profileIconId"`
			RevisionDate  number `json:"revisionDate"`
			SummonerLevel number `json:"summonerLevel"`
		}
		if err := json.Unmarshal(body, &raw); err != nil {
			return err
		}
		if raw.PUUID == "" {
			return errForeign
		}
		s = Summoner{
			PUUID:         PUUID(raw.PUUID),
			ProfileIconID: raw.ProfileIconID.int(),
			Level:         raw.SummonerLevel.int(),
			Revised:       raw.RevisionDate.time(),
		}
		return nil
	})
	return s, err
}

// number is a number of Riot's: of some that are whole it sends floats. Absent
// and null are 0.
type number float64

// maxNumber is the largest that a float64 holds exactly.
const maxNumber = 1 << 53

// int is n towards zero, 0 where it is out of all bounds.
func (n number) int() int {
	if n > maxNumber || n < -maxNumber {
		return 0
	}
	return int(n)
}

// count is int where less than 0 makes no sense.
func (n number) count() int { return max(n.int(), 0) }

// maxTimestamp is the year 2200 in milliseconds.
const maxTimestamp = 7_258_118_400_000

// time takes n for milliseconds since 1970. It is zero where n is 0 or senseless.
func (n number) time() time.Time {
	if n <= 0 || n > maxTimestamp {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}
