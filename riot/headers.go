package riot

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"riftchime/ratelimit"
)

// The headers of https://developer.riotgames.com/docs/portal#web-apis_rate-limiting.
const (
	headerToken        = "X-Riot-Token"
	headerAppLimit     = "X-App-Rate-Limit"
	headerAppCount     = "X-App-Rate-Limit-Count"
	headerMethodLimit  = "X-Method-Rate-Limit"
	headerMethodCount  = "X-Method-Rate-Limit-Count"
	headerLimitType    = "X-Rate-Limit-Type"
	headerRetryAfter   = "Retry-After"
	maxLimitWindow     = 31 * 24 * time.Hour
	maxLimitCount      = 1_000_000_000
	maxLimitParts      = 16
	maxRetryAfter      = time.Hour
	maxRetryAfterBytes = 64
)

// ParseLimits reads a header such as "500:10,30000:600", counts and seconds, the
// value of X-App-Rate-Limit and X-Method-Rate-Limit. It returns nil where any
// part of it can't be read or makes no sense: half of the limits would be worse
// than none.
func ParseLimits(header string) []ratelimit.Limit {
	pairs, ok := parsePairs(header)
	if !ok {
		return nil
	}
	limits := make([]ratelimit.Limit, 0, len(pairs))
	for _, p := range pairs {
		if p.count == 0 {
			return nil
		}
		limits = append(limits, ratelimit.Limit{Count: p.count, Window: p.window})
	}
	return limits
}

// ParseCounts reads a header such as "1:10,26:600", requests so far and the
// seconds of their window, the value of X-App-Rate-Limit-Count and
// X-Method-Rate-Limit-Count. It returns nil where any part of it can't be read.
func ParseCounts(header string) []ratelimit.Usage {
	pairs, ok := parsePairs(header)
	if !ok {
		return nil
	}
	counts := make([]ratelimit.Usage, 0, len(pairs))
	for _, p := range pairs {
		counts = append(counts, ratelimit.Usage{Count: p.count, Window: p.window})
	}
	return counts
}

type pair struct {
	count  int
	window time.Duration
}

// parsePairs reads "count:seconds,...". It is not ok where the header is empty,
// a part is malformed, or a window comes twice.
func parsePairs(header string) ([]pair, bool) {
	if strings.TrimSpace(header) == "" || strings.Count(header, ",") >= maxLimitParts {
		return nil, false
	}
	var pairs []pair
	for part := range strings.SplitSeq(header, ",") {
		count, seconds, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			return nil, false
		}
		n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 32)
		if err != nil || n > maxLimitCount {
			return nil, false
		}
		s, err := strconv.ParseUint(strings.TrimSpace(seconds), 10, 32)
		if err != nil || s == 0 || s > uint64(maxLimitWindow/time.Second) {
			return nil, false
		}
		p := pair{count: int(n), window: time.Duration(s) * time.Second}
		for _, q := range pairs {
			if q.window == p.window {
				return nil, false
			}
		}
		pairs = append(pairs, p)
	}
	return pairs, true
}

// ParseRetryAfter reads the value of Retry-After: seconds, 0 among them, or an
// HTTP date, which is compared with now. ok is false where it is absent or can't
// be read. A date that has passed is 0; more than an hour is an hour, since
// nothing that Riot documents takes longer.
func ParseRetryAfter(header string, now time.Time) (wait time.Duration, ok bool) {
	header = strings.TrimSpace(header)
	if header == "" || len(header) > maxRetryAfterBytes {
		return 0, false
	}
	if s, err := strconv.ParseFloat(header, 64); err == nil {
		if !(s >= 0) || math.IsInf(s, 0) {
			return 0, false
		}
		if s >= maxRetryAfter.Seconds() {
			return maxRetryAfter, true
		}
		return time.Duration(math.Ceil(s*1000)) * time.Millisecond, true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}

// joined is every value of a header that may come in several lines.
func joined(h http.Header, name string) string {
	return strings.Join(h.Values(name), ",")
}
