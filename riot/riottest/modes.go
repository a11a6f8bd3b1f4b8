package riottest

// shape is how many play and what they play for.
type shape uint8

const (
	shapeTeams shape = iota // two teams of five
	shapeArena              // teams of two or three, with placements
	shapeSwarm              // up to four against what comes
	shapeBots               // five against five bots
)

// mode is what a queue means.
type mode struct {
	name  string // gameMode
	mapID int
	shape shape
	// subteams of so many, in Arena.
	subteams, size int
	lanes          bool
	bans           bool
	// forbidden: match-v5 answers 403 for all of its games.
	forbidden bool
}

const (
	mapRift = 11
	mapAram = 12
)

// modeOf is a queue's mode; CLASSIC on the Rift where the queue is not known.
// Queues as in https://static.developer.riotgames.com/docs/lol/queues.json.
func modeOf(queue int) mode {
	classic := mode{name: "CLASSIC", mapID: mapRift, lanes: true}
	switch queue {
	case 420, 440, 400, 700:
		classic.bans = true
	case 450, 720:
		return mode{name: "ARAM", mapID: mapAram}
	case 480:
		classic.name = "SWIFTPLAY"
	case 830, 840, 850, 870, 880, 890:
		classic.shape = shapeBots
	case 900, 1010, 1900:
		return mode{name: "URF", mapID: mapRift}
	case 1020:
		return mode{name: "ONEFORALL", mapID: mapRift}
	case 1300:
		return mode{name: "NEXUSBLITZ", mapID: 21}
	case 1400:
		return mode{name: "ULTBOOK", mapID: mapRift, bans: true}
	case 1700, 1710:
		return mode{name: "CHERRY", mapID: 30, shape: shapeArena, subteams: 8, size: 2, bans: true}
	case 1750:
		return mode{name: "CHERRY", mapID: 30, shape: shapeArena, subteams: 6, size: 3, bans: true}
	case 1810, 1820, 1830, 1840:
		return mode{name: "STRAWBERRY", mapID: 33, shape: shapeSwarm}
	case 2300:
		return mode{name: "BRAWL", mapID: 35, forbidden: true}
	case 2400:
		return mode{name: "KIWI", mapID: mapAram, forbidden: true}
	}
	return classic
}

// The positions, as match-v5 spells them.
const (
	top     = "TOP"
	jungle  = "JUNGLE"
	middle  = "MIDDLE"
	bottom  = "BOTTOM"
	utility = "UTILITY"
)

var lanes = [...]string{top, jungle, middle, bottom, utility}
