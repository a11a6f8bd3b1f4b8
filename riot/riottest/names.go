package riottest

import (
	"strconv"
	"strings"
	"time"
)

// Words that names are made of. Together they are nobody's.
var (
	koreanFirst = strings.Fields(`졸린 배고픈 느긋한 용감한 조용한 푸른 새벽 달빛 비오는 눈내린 수줍은 엉뚱한
		다정한 반짝이는 게으른 든든한 재빠른 노래하는 떠도는 얼어붙은 뜨거운 시큼한 달콤한 심심한`)
	koreanSecond = strings.Fields(`너구리 고래 두루미 감자 호떡 수달 찹쌀떡 나무늘보 다람쥐 식혜 붕어빵 돌고래 까치
		펭귄 고슴도치 귤 만두 참새 호랑이 거북이 국수 나침반 우산 등대`)
	englishFirst = strings.Fields(`Sleepy Hungry Quiet Brave Misty Lunar Rusty Gentle Wandering Frozen Crimson
		Lazy Swift Humble Curious Silver Stormy Salty Velvet Distant Clumsy Amber Nimble Hollow`)
	englishSecond = strings.Fields(`Otter Badger Heron Lantern Pancake Walrus Comet Thistle Marmot Kettle Falcon
		Pebble Turnip Harbor Moth Raccoon Willow Compass Biscuit Puffin Anvil Sparrow Lagoon Ferret`)
)

// nameOf makes a name of a hash: Korean on kr, English elsewhere.
func nameOf(platform string, h uint64) string {
	first, second, between := englishFirst, englishSecond, " "
	if platform == "kr" {
		first, second, between = koreanFirst, koreanSecond, ""
		if h>>60&1 == 1 {
			between = " "
		}
	}
	return first[below(h, len(first))] + between + second[below(mix(h), len(second))]
}

// Strangers fill games. They are numbers above those of players, from which their
// names follow, so that nothing is kept of them.
const (
	strangerBase       = 1 << 40
	strangersAPlatform = 4_000_000
	strangerTag        = 5 // digits of base 36, enough for all platforms
)

// strangerNumber is the number of one of the platform's strangers. A platform of
// former times has none of its own.
func strangerNumber(platform string, h uint64) uint64 {
	at := 0
	for i, p := range platforms {
		if p == platform {
			at = i
		}
	}
	return strangerBase + uint64(at)*strangersAPlatform + h%strangersAPlatform
}

// strangerByNumber is nil where n is nobody's number.
func strangerByNumber(n uint64) *player {
	if n < strangerBase || n >= strangerBase+uint64(len(platforms))*strangersAPlatform {
		return nil
	}
	k := n - strangerBase
	platform := platforms[k/strangersAPlatform]
	tag := strings.ToUpper(strconv.FormatUint(k, 36))
	tag = strings.Repeat("0", strangerTag-len(tag)) + tag
	return &player{
		Player: Player{
			GameName: nameOf(platform, hash(n)),
			TagLine:  tag,
			Platform: platform,
			Level:    30 + below(hash(n, 1), 600),
			Icon:     1 + below(hash(n, 2), 6000),
		},
		revised: time.Unix(1_760_000_000, 0),
	}
}

// strangerByName is nil where no stranger is called so.
func strangerByName(name, tag string) (*player, uint64) {
	if len(tag) != strangerTag {
		return nil, 0
	}
	k, err := strconv.ParseUint(tag, 36, 63)
	if err != nil {
		return nil, 0
	}
	n := strangerBase + k
	p := strangerByNumber(n)
	if p == nil || nameKey(p.GameName, p.TagLine) != nameKey(name, tag) {
		return nil, 0
	}
	return p, n
}
