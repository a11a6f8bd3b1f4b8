package riottest

import (
	"slices"
	"strconv"
	"strings"
)

// encodeMatch writes a match as match-v5 answers it, with the PUUIDs of one key.
// It needs no lock: a game does not change. Bodies are written anew each time,
// since keeping them would take more than writing them.
func (s *Server) encodeMatch(g *game, seal *sealer) []byte {
	size := 16 << 10
	if s.options.FullBodies {
		size = 8 << 10 * (len(g.seats) + 1)
	}
	b := append(make([]byte, 0, size), `{"metadata":{"dataVersion":"2","matchId":"`...)
	b = append(b, g.id...)
	b = append(b, `","participants":[`...)
	first := true
	for i := range g.seats {
		if g.seats[i].who == 0 {
			continue // bots are not among them
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(seal.seal(append(b, '"'), g.seats[i].who), '"')
	}
	b = append(b, `]},"info":{"endOfGameResult":"`...)
	if g.aborted || g.flagged {
		b = append(b, `Abort_Unexpected"`...)
	} else {
		b = append(b, `GameComplete"`...)
	}
	if g.aborted {
		b = append(b, `,"gameCreation":0,"gameDuration":0,"gameEndTimestamp":`...)
		b = strconv.AppendInt(b, g.end.UnixMilli(), 10)
		return append(b, `,"gameId":0,"gameMode":"","gameName":"","gameStartTimestamp":0,"gameType":"","gameVersion":"",`+
			`"mapId":0,"participants":[],"platformId":"","queueId":0,"teams":[],"tournamentCode":""}}`...)
	}
	b = appendInt(b, `,"gameCreation":`, g.created().UnixMilli())
	b = appendInt(b, `,"gameDuration":`, int64(g.length.Seconds()))
	b = appendInt(b, `,"gameEndTimestamp":`, g.end.UnixMilli())
	b = appendInt(b, `,"gameId":`, int64(g.number))
	b = appendString(append(b, `,"gameMode":`...), g.mode.name)
	b = appendInt(b, `,"gameName":"teambuilder-match-`, int64(g.number))
	b = appendInt(b, `","gameStartTimestamp":`, g.started().UnixMilli())
	if g.queue == 0 {
		b = append(b, `,"gameType":"CUSTOM_GAME"`...)
	} else {
		b = append(b, `,"gameType":"MATCHED_GAME"`...)
	}
	b = append(b, `,"gameVersion":"`+gameVersion+`"`...)
	b = appendInt(b, `,"mapId":`, int64(g.mode.mapID))
	b = append(b, `,"participants":[`...)
	p := part{game: g, seal: seal, full: s.options.FullBodies}
	p.sum()
	for i := range g.seats {
		if i > 0 {
			b = append(b, ',')
		}
		p.index, p.seat = i, &g.seats[i]
		b = p.append(b)
	}
	b = append(b, `],"platformId":"`...)
	b = append(b, strings.ToUpper(g.platform)...)
	b = appendInt(b, `","queueId":`, int64(g.queue))
	b = append(b, `,"teams":`...)
	b = appendTeams(b, g)
	return append(b, `,"tournamentCode":""}}`...)
}

func appendInt(b []byte, name string, v int64) []byte {
	return strconv.AppendInt(append(b, name...), v, 10)
}

// part is a participant while it is written.
type part struct {
	game  *game
	seat  *seat
	index int
	seal  *sealer
	full  bool
	// kills and damage of a team, by its number less 1, or its hundreds.
	kills, damage [20]int
}

// side is an index for each team, and each subteam of Arena.
func side(st *seat) int {
	if st.subteam > 0 {
		return st.subteam
	}
	return st.team / 100
}

func (p *part) sum() {
	for i := range p.game.seats {
		st := &p.game.seats[i]
		p.kills[side(st)] += st.score.Kills
		p.damage[side(st)] += st.score.Damage
	}
}

// append writes the participant.
func (p *part) append(b []byte) []byte {
	b = append(b, '{')
	b = p.fields(b, participantFields)
	return append(b, '}')
}

func (p *part) fields(b []byte, fields []field) []byte {
	first := true
	for i := range fields {
		f := &fields[i]
		if f.full && !p.full {
			continue
		}
		if first {
			b = append(b, f.name[1:]...) // without its comma
			first = false
		} else {
			b = append(b, f.name...)
		}
		switch {
		case f.put != nil:
			b = f.put(b, p)
		case f.most == 0:
			b = append(b, '0')
		case f.float:
			h := hash(p.game.seed, uint64(p.index), uint64(i))
			b = appendFloat(b, f.most*float64(h>>11)/(1<<53))
		default:
			h := hash(p.game.seed, uint64(p.index), uint64(i))
			b = strconv.AppendInt(b, int64(below(h, int(f.most)+1)), 10)
		}
	}
	return b
}

// timePlayed is shorter for those who left an Arena early.
func (p *part) timePlayed() int {
	played := int(p.game.length.Seconds())
	if pl := p.seat.placement; pl > 2 {
		played -= played / 20 * (pl - 2)
	}
	return played
}

// multiKills are double, triple, quadra and pentakills, and the largest.
func (p *part) multiKills() (double, triple, quadra, penta, largest int) {
	k := p.seat.score.Kills
	penta = min(p.seat.score.Pentas, k/5)
	k -= 5 * penta
	triple = k / 9
	double = (k - 3*triple) / 4
	switch {
	case penta > 0:
		largest = 5
	case triple > 0:
		largest = 3
	case double > 0:
		largest = 2
	case k > 0:
		largest = 1
	}
	return double, triple, quadra, penta, largest
}

// neutral is how much of the CS are monsters of the jungle.
func (p *part) neutral() int {
	if p.seat.position == jungle {
		return p.seat.score.CS * 4 / 5
	}
	return p.seat.score.CS / 20
}

// field is one of a participant, or of its challenges.
type field struct {
	name string // with its comma, quotes and colon
	// put writes it; nil: a number up to most.
	put   func(b []byte, p *part) []byte
	most  float64
	float bool
	// full: only in full bodies.
	full bool
}

// Fields that nobody reads, with the most that they are. A "~" stands before
// those that are floats.
const otherFields = `PlayerScore0:8 PlayerScore1:13 PlayerScore10:0 PlayerScore11:0 PlayerScore3~0
	PlayerScore4~11 PlayerScore5~6671 PlayerScore6~9343 PlayerScore7~3181 PlayerScore8~20 PlayerScore9:0
	allInPings:3 assistMePings:12 baronKills:1 basicPings:0 championTransform:0 commandPings:19
	consumablesPurchased:13 damageDealtToBuildings:23626 damageDealtToEpicMonsters:24402
	damageDealtToObjectives:40334 damageDealtToTurrets:23626 damageSelfMitigated:124280 dangerPings:0
	detectorWardsPlaced:9 dragonKills:3 enemyMissingPings:28 enemyVisionPings:14 getBackPings:11
	goldSpent:10000 holdPings:0 inhibitorKills:2 inhibitorTakedowns:2 inhibitorsLost:2 itemsPurchased:35
	killingSprees:3 largestCriticalStrike:762 largestKillingSpree:8 longestTimeSpentLiving:843
	magicDamageDealt:161390 magicDamageDealtToChampions:8000 magicDamageTaken:53851 needVisionPings:5
	nexusKills:1 nexusLost:1 nexusTakedowns:1 objectivesStolen:1 objectivesStolenAssists:0
	onMyWayPings:40 physicalDamageDealt:218211 physicalDamageDealtToChampions:8000
	physicalDamageTaken:50073 pushPings:1 retreatPings:25 roleBoundItem:3020 sightWardsBoughtInGame:0
	spell1Casts:400 spell2Casts:203 spell3Casts:155 spell4Casts:39 summoner1Casts:21 summoner2Casts:24
	timeCCingOthers:142 totalAllyJungleMinionsKilled:111 totalDamageDealt:262665
	totalDamageShieldedOnTeammates:9557 totalDamageTaken:121466 totalEnemyJungleMinionsKilled:23
	totalHeal:25852 totalHealsOnTeammates:6014 totalTimeCCDealt:559 totalTimeSpentDead:600
	totalUnitsHealed:5 trueDamageDealt:10174 trueDamageDealtToChampions:1405 trueDamageTaken:17541
	turretKills:6 turretTakedowns:9 turretsLost:9 unrealKills:0 visionClearedPings:0
	visionWardsBoughtInGame:10 wardsKilled:15`

const otherChallenges = `HealFromMapSources~11104 InfernalScalePickup:0 SWARM_DefeatAatrox:0
	SWARM_DefeatBriar:0 SWARM_DefeatMiniBosses:0 SWARM_EvolveWeapon:0 SWARM_Have3Passives:0
	SWARM_KillEnemy:0 SWARM_PickupGold:0 SWARM_ReachLevel50:0 SWARM_Survive15Min:0
	SWARM_WinWith5EvolvedWeapons:0 abilityUses:646 acesBefore15Minutes:1 baronTakedowns:1
	blastConeOppositeOpponentCount:0 bountyGold~1068 buffsStolen:2 completeSupportQuestInTime:1
	controlWardsPlaced:9 damageTakenOnTeamPercentage~0.4 dancedWithRiftHerald:0 deathsByEnemyChamps:3
	dodgeSkillShotsSmallWindow:43 doubleAces:0 dragonTakedowns:3 earlyLaningPhaseGoldExpAdvantage:1
	effectiveHealAndShielding~15572 elderDragonKillsWithOpposingSoul:0 elderDragonMultikills:0
	enemyChampionImmobilizations:107 enemyJungleMonsterKills:20 epicMonsterKillsNearEnemyJungler:1
	epicMonsterKillsWithin30SecondsOfSpawn:1 epicMonsterSteals:1 epicMonsterStolenWithoutSmite:0
	firstTurretKilled:1 fistBumpParticipation:1 flawlessAces:1 fullTeamTakedown:9
	getTakedownsInAllLanesEarlyJungleAsLaner:0 hadOpenNexus:0 immobilizeAndKillWithAlly:14
	initialBuffCount:2 initialCrabCount:2 jungleCsBefore10Minutes~72
	junglerTakedownsNearDamagedEpicMonster:1 kTurretsDestroyedBeforePlatesFall:3
	killAfterHiddenWithAlly:11 killedChampTookFullTeamDamageSurvived:1 killingSprees:6
	killsNearEnemyTurret:14 killsOnOtherLanesEarlyJungleAsLaner:0 killsOnRecentlyHealedByAramPack:1
	killsUnderOwnTurret:7 killsWithHelpFromEpicMonster:3 knockEnemyIntoTeamAndKill:14
	landSkillShotsEarlyGame:98 laneMinionsFirst10Minutes:83 laningPhaseGoldExpAdvantage:1
	legendaryCount:1 lostAnInhibitor:0 maxCsAdvantageOnLaneOpponent~63 maxKillDeficit:21
	maxLevelLeadLaneOpponent:3 mejaisFullStackInTime:0 moreEnemyJungleThanOpponent~9
	multiKillOneSpell:1 multiTurretRiftHeraldCount:0 multikills:4 multikillsAfterAggressiveFlash:1
	outerTurretExecutesBefore10Minutes:0 outnumberedKills:14 outnumberedNexusKill:0
	perfectDragonSoulsTaken:0 perfectGame:0 pickKillWithAlly:34 playedChampSelectPosition:1
	poroExplosions:0 quickCleanse:1 quickFirstTurret:1 quickSoloKills:2 riftHeraldTakedowns:1
	saveAllyFromDeath:1 scuttleCrabKills:7 skillshotsDodged:249 skillshotsHit:156 snowballsHit:10
	soloBaronKills:0 soloKills:2 stealthWardsPlaced:34 survivedSingleDigitHpCount:1
	survivedThreeImmobilizesInFight:10 takedownOnFirstTurret:1 takedownsAfterGainingLevelAdvantage:1
	takedownsBeforeJungleMinionSpawn:2 takedownsFirstXMinutes:8 takedownsInAlcove:1
	takedownsInEnemyFountain:0 teamBaronKills:1 teamElderDragonKills:0 teamRiftHeraldKills:1
	tookLargeDamageSurvived:5 turretPlatesTaken:5 turretTakedowns:9 turretsTakenWithRiftHerald:5
	twentyMinionsIn3SecondsCount:0 twoWardsOneSweeperCount:2 unseenRecalls:0
	visionScoreAdvantageLaneOpponent~0.84 voidMonsterKill:4 wardTakedowns:15 wardTakedownsBefore20M:13
	wardsGuarded:4`

// tableOf joins fields that are written with those that are made up, in the order
// of their names.
func tableOf(others string, written []field) []field {
	table := written
	for spec := range strings.FieldsSeq(others) {
		at := strings.IndexAny(spec, ":~")
		most, err := strconv.ParseFloat(spec[at+1:], 64)
		if err != nil {
			panic("riottest: " + spec)
		}
		table = append(table, field{name: spec[:at], most: most, float: spec[at] == '~', full: true})
	}
	slices.SortFunc(table, func(a, b field) int { return strings.Compare(a.name, b.name) })
	for i := range table {
		table[i].name = `,"` + table[i].name + `":`
	}
	return table
}

func whole(name string, f func(p *part) int) field {
	return field{name: name, put: func(b []byte, p *part) []byte {
		return strconv.AppendInt(b, int64(f(p)), 10)
	}}
}

func fraction(name string, f func(p *part) float64) field {
	return field{name: name, put: func(b []byte, p *part) []byte { return appendFloat(b, f(p)) }}
}

func truth(name string, f func(p *part) bool) field {
	return field{name: name, put: func(b []byte, p *part) []byte { return strconv.AppendBool(b, f(p)) }}
}

func text(name string, f func(p *part) string) field {
	return field{name: name, put: func(b []byte, p *part) []byte { return appendString(b, f(p)) }}
}

// onlyFull is f in full bodies alone.
func onlyFull(f field) field {
	f.full = true
	return f
}

func (p *part) minutes() float64 { return max(p.game.length.Minutes(), 1) }

func (p *part) lane() (lane, role string) {
	switch p.seat.position {
	case jungle:
		return jungle, "NONE"
	case bottom:
		return bottom, "CARRY"
	case utility:
		return bottom, "SUPPORT"
	case "":
		return "NONE", "SUPPORT"
	}
	return p.seat.position, "SOLO"
}

func (p *part) bot() bool { return p.seat.who == 0 }

// riotID is what the participant was called.
func (p *part) riotID() (name, tag string) {
	switch {
	case p.game.noNames || p.bot():
		return "", ""
	case p.seat.name != "":
		return p.seat.name, p.seat.tag
	}
	if st := strangerByNumber(p.seat.who); st != nil {
		return st.GameName, st.TagLine
	}
	return "", ""
}

// Items, runes and augments are any of some that exist.
var itemIDs = [...]int{3006, 3020, 3031, 3047, 3089, 3111, 3157, 6655, 6672, 2522, 3068, 3071}

func item(n int) field {
	return onlyFull(whole("item"+strconv.Itoa(n), func(p *part) int {
		if n == 6 {
			return 3364
		}
		if n > 1+int(p.minutes())/6 {
			return 0
		}
		return itemIDs[below(hash(p.game.seed, uint64(p.index), uint64(n), 4), len(itemIDs))]
	}))
}

func augment(n int) field {
	return onlyFull(whole("playerAugment"+strconv.Itoa(n), func(p *part) int {
		if p.seat.subteam == 0 || n > 4 {
			return 0
		}
		return 1 + below(hash(p.game.seed, uint64(p.index), uint64(n), 5), 250)
	}))
}

var participantFields = tableOf(otherFields, []field{
	{name: "PlayerBehavior", full: true, put: func(b []byte, _ *part) []byte {
		return append(b, `{"PlayerBehavior_IsHeroInCombat":0}`...)
	}},
	whole("assists", func(p *part) int { return p.seat.score.Assists }),
	{name: "challenges", put: func(b []byte, p *part) []byte {
		return append(p.fields(append(b, '{'), challengeFields), '}')
	}},
	whole("champExperience", func(p *part) int { return int(p.minutes() * 560) }),
	whole("champLevel", func(p *part) int { return min(18, 3+int(p.minutes()*0.55)) }),
	whole("championId", func(p *part) int {
		if p.game.mode.shape == shapeSwarm {
			// Not the champion's own in any fixed way.
			return 3001 + below(hash(uint64(p.seat.champion.key)), 990)
		}
		return p.seat.champion.key
	}),
	text("championName", func(p *part) string {
		if p.game.mode.shape == shapeSwarm {
			return "Strawberry_" + p.seat.champion.matchName()
		}
		return p.seat.champion.matchName()
	}),
	whole("deaths", func(p *part) int { return p.seat.score.Deaths }),
	whole("doubleKills", func(p *part) int { n, _, _, _, _ := p.multiKills(); return n }),
	onlyFull(truth("eligibleForProgression", func(p *part) bool { return !p.bot() })),
	onlyFull(truth("firstBloodAssist", func(*part) bool { return false })),
	onlyFull(truth("firstBloodKill", func(p *part) bool { return p.index == below(p.game.seed, len(p.game.seats)) })),
	onlyFull(truth("firstTowerAssist", func(*part) bool { return false })),
	onlyFull(truth("firstTowerKill", func(*part) bool { return false })),
	truth("gameEndedInEarlySurrender", func(p *part) bool { return p.game.remake }),
	truth("gameEndedInSurrender", func(p *part) bool { return p.game.surrender }),
	whole("goldEarned", func(p *part) int {
		return 500 + int(p.minutes()*120) + p.seat.score.Kills*300 + p.seat.score.Assists*90 + p.seat.score.CS*20
	}),
	text("individualPosition", func(p *part) string {
		if p.seat.position == "" {
			return "Invalid"
		}
		return p.seat.position
	}),
	item(0), item(1), item(2), item(3), item(4), item(5), item(6),
	whole("kills", func(p *part) int { return p.seat.score.Kills }),
	text("lane", func(p *part) string { lane, _ := p.lane(); return lane }),
	whole("largestMultiKill", func(p *part) int { _, _, _, _, n := p.multiKills(); return n }),
	{name: "missions", full: true, put: func(b []byte, _ *part) []byte {
		b = append(b, '{')
		for i := range 12 {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendInt(append(b, `"playerScore`...), int64(i), 10), `":0`...)
		}
		return append(b, '}')
	}},
	whole("neutralMinionsKilled", (*part).neutral),
	whole("participantId", func(p *part) int { return p.index + 1 }),
	whole("pentaKills", func(p *part) int { _, _, _, n, _ := p.multiKills(); return n }),
	{name: "perks", full: true, put: func(b []byte, _ *part) []byte {
		return append(b, `{"statPerks":{"defense":5011,"flex":5008,"offense":5008},"styles":[`+
			`{"description":"primaryStyle","selections":[{"perk":8230,"var1":15,"var2":0,"var3":0},`+
			`{"perk":8226,"var1":250,"var2":1546,"var3":0},{"perk":8210,"var1":3,"var2":0,"var3":0},`+
			`{"perk":8237,"var1":480,"var2":0,"var3":0}],"style":8200},`+
			`{"description":"subStyle","selections":[{"perk":8347,"var1":0,"var2":0,"var3":0},`+
			`{"perk":8313,"var1":3,"var2":0,"var3":0}],"style":8300}]}`...)
	}},
	whole("placement", func(p *part) int { return p.seat.placement }),
	fraction("PlayerScore2", func(p *part) float64 { return float64(p.index) * 1.5 }),
	augment(1), augment(2), augment(3), augment(4), augment(5), augment(6),
	whole("playerSubteamId", func(p *part) int { return p.seat.subteam }),
	whole("profileIcon", func(p *part) int { return p.seat.icon }),
	{name: "puuid", put: func(b []byte, p *part) []byte {
		if p.bot() {
			return append(b, `"BOT"`...)
		}
		return append(p.seal.seal(append(b, '"'), p.seat.who), '"')
	}},
	whole("quadraKills", func(p *part) int { _, _, n, _, _ := p.multiKills(); return n }),
	text("riotIdGameName", func(p *part) string { name, _ := p.riotID(); return name }),
	text("riotIdTagline", func(p *part) string { _, tag := p.riotID(); return tag }),
	text("role", func(p *part) string { _, role := p.lane(); return role }),
	whole("subteamPlacement", func(p *part) int { return p.seat.placement }),
	onlyFull(whole("summoner1Id", func(*part) int { return 4 })),
	whole("summoner2Id", func(p *part) int {
		if p.seat.position == jungle {
			return 11
		}
		return 12
	}),
	{name: "summonerId", full: true, put: func(b []byte, p *part) []byte {
		if p.bot() {
			return append(b, `"BOT"`...)
		}
		return append(p.seal.sealMarked(append(b, '"'), p.seat.who, ^uint64(puuidMark), 35), '"')
	}},
	whole("summonerLevel", func(p *part) int { return p.seat.level }),
	text("summonerName", func(p *part) string {
		if p.bot() {
			return p.seat.champion.english + " bot"
		}
		return ""
	}),
	truth("teamEarlySurrendered", func(p *part) bool { return p.game.remake && !p.seat.win }),
	whole("teamId", func(p *part) int { return p.seat.team }),
	text("teamPosition", func(p *part) string { return p.seat.position }),
	whole("timePlayed", (*part).timePlayed),
	whole("totalDamageDealtToChampions", func(p *part) int { return p.seat.score.Damage }),
	whole("totalMinionsKilled", func(p *part) int { return p.seat.score.CS - p.neutral() }),
	whole("tripleKills", func(p *part) int { _, n, _, _, _ := p.multiKills(); return n }),
	whole("visionScore", func(p *part) int { return int(p.minutes() * 0.9) }),
	whole("wardsPlaced", func(p *part) int { return int(p.minutes() * 0.35) }),
	truth("win", func(p *part) bool { return p.seat.win }),
})

var challengeFields = tableOf(otherChallenges, []field{
	whole("12AssistStreakCount", func(*part) int { return 0 }),
	// Whole, and yet not quite: so is Riot's arithmetic.
	fraction("alliedJungleMonsterKills", func(p *part) float64 { return float64(float32(p.neutral()) * 1.0000001) }),
	fraction("damagePerMinute", func(p *part) float64 { return float64(p.seat.score.Damage) / p.minutes() }),
	fraction("gameLength", func(p *part) float64 { return p.game.length.Seconds() }),
	fraction("goldPerMinute", func(p *part) float64 { return 300 + float64(p.seat.score.Kills)*11.3 }),
	fraction("kda", func(p *part) float64 {
		return float64(p.seat.score.Kills+p.seat.score.Assists) / float64(max(p.seat.score.Deaths, 1))
	}),
	fraction("killParticipation", func(p *part) float64 {
		all := p.kills[side(p.seat)]
		return min(1, float64(p.seat.score.Kills+p.seat.score.Assists)/float64(max(all, 1)))
	}),
	{name: "legendaryItemUsed", put: func(b []byte, p *part) []byte {
		if p.minutes() < 12 {
			return append(b, `[]`...)
		}
		return append(b, `[6655,2522]`...)
	}},
	whole("takedowns", func(p *part) int { return p.seat.score.Kills + p.seat.score.Assists }),
	fraction("teamDamagePercentage", func(p *part) float64 {
		return float64(p.seat.score.Damage) / float64(max(p.damage[side(p.seat)], 1))
	}),
	fraction("visionScorePerMinute", func(*part) float64 { return 0.9500631048575525 }),
})

// appendTeams writes who won and what the teams took.
func appendTeams(b []byte, g *game) []byte {
	type team struct {
		id   int
		win  bool
		bans []int
	}
	var teams []team
	switch g.mode.shape {
	case shapeArena:
		teams = []team{{id: 100, win: g.winner != 0}, {id: 0}}
	case shapeSwarm:
		teams = []team{{id: 100, win: g.winner == 100}}
	default:
		teams = []team{{id: 100, win: g.winner == 100}, {id: 200, win: g.winner == 200}}
	}
	if g.mode.bans {
		for i := range g.seats {
			at := 0
			if g.mode.shape == shapeTeams && g.seats[i].team == 200 {
				at = 1
			}
			ban := -1
			if h := hash(g.seed, uint64(i), 6); h%9 != 0 {
				ban = champions[below(h, len(champions))].key
			}
			teams[at].bans = append(teams[at].bans, ban)
		}
	}
	turn := 0
	b = append(b, '[')
	for i, t := range teams {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"bans":[`...)
		for j, ban := range t.bans {
			if j > 0 {
				b = append(b, ',')
			}
			turn++
			b = appendInt(b, `{"championId":`, int64(ban))
			b = append(appendInt(b, `,"pickTurn":`, int64(turn)), '}')
		}
		kills := 0
		for j := range g.seats {
			if g.seats[j].team == t.id || g.mode.shape == shapeArena && i == 0 {
				kills += g.seats[j].score.Kills
			}
		}
		b = append(b, `],"feats":{"EPIC_MONSTER_KILL":{"featState":0},"FIRST_BLOOD":{"featState":0},"FIRST_TURRET":{"featState":0}},`+
			`"objectives":{"atakhan":{"first":false,"kills":0},"baron":{"first":false,"kills":0},"champion":{"first":`...)
		b = strconv.AppendBool(b, t.win)
		b = appendInt(b, `,"kills":`, int64(kills))
		b = append(b, `},"dragon":{"first":false,"kills":0},"horde":{"first":false,"kills":0},"inhibitor":{"first":false,"kills":0},`+
			`"riftHerald":{"first":false,"kills":0},"tower":{"first":false,"kills":0}},"teamId":`...)
		b = strconv.AppendInt(b, int64(t.id), 10)
		b = append(b, `,"win":`...)
		b = append(strconv.AppendBool(b, t.win), '}')
	}
	return append(b, ']')
}
