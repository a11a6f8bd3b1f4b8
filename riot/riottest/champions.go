package riottest

import "strings"

// champion is a champion as Data Dragon has it.
type champion struct {
	id       string
	lane     string // where it is mostly played
	key      int
	english  string
	korean   string
	inMatch  string // its id in match-v5, where that is another
	resource string
}

// championByID finds a champion whatever the case; nil where there is none.
func championByID(id string) *champion {
	for i := range champions {
		if strings.EqualFold(champions[i].id, id) {
			return &champions[i]
		}
	}
	return nil
}

// matchName is what match-v5 calls the champion.
func (c *champion) matchName() string {
	if c.inMatch != "" {
		return c.inMatch
	}
	return c.id
}

const (
	mana   = "Mana"
	energy = "Energy"
	none   = "None"
)

var champions = [...]champion{
	{id: "Aatrox", lane: top, key: 266, english: "Aatrox", korean: "아트록스", resource: none},
	{id: "Ahri", lane: middle, key: 103, english: "Ahri", korean: "아리", resource: mana},
	{id: "Akali", lane: middle, key: 84, english: "Akali", korean: "아칼리", resource: energy},
	{id: "Amumu", lane: jungle, key: 32, english: "Amumu", korean: "아무무", resource: mana},
	{id: "Ashe", lane: bottom, key: 22, english: "Ashe", korean: "애쉬", resource: mana},
	{id: "AurelionSol", lane: middle, key: 136, english: "Aurelion Sol", korean: "아우렐리온 솔", resource: mana},
	{id: "Belveth", lane: jungle, key: 200, english: "Bel'Veth", korean: "벨베스", resource: none},
	{id: "Blitzcrank", lane: utility, key: 53, english: "Blitzcrank", korean: "블리츠크랭크", resource: mana},
	{id: "Braum", lane: utility, key: 201, english: "Braum", korean: "브라움", resource: mana},
	{id: "Caitlyn", lane: bottom, key: 51, english: "Caitlyn", korean: "케이틀린", resource: mana},
	{id: "Camille", lane: top, key: 164, english: "Camille", korean: "카밀", resource: mana},
	{id: "Chogath", lane: top, key: 31, english: "Cho'Gath", korean: "초가스", resource: mana},
	{id: "Darius", lane: top, key: 122, english: "Darius", korean: "다리우스", resource: mana},
	{id: "DrMundo", lane: top, key: 36, english: "Dr. Mundo", korean: "문도 박사", resource: none},
	{id: "Ekko", lane: jungle, key: 245, english: "Ekko", korean: "에코", resource: mana},
	{id: "Ezreal", lane: bottom, key: 81, english: "Ezreal", korean: "이즈리얼", resource: mana},
	{id: "Fiddlesticks", lane: jungle, key: 9, english: "Fiddlesticks", korean: "피들스틱", inMatch: "FiddleSticks", resource: mana},
	{id: "Garen", lane: top, key: 86, english: "Garen", korean: "가렌", resource: none},
	{id: "Gragas", lane: jungle, key: 79, english: "Gragas", korean: "그라가스", resource: mana},
	{id: "Irelia", lane: top, key: 39, english: "Irelia", korean: "이렐리아", resource: mana},
	{id: "Janna", lane: utility, key: 40, english: "Janna", korean: "잔나", resource: mana},
	{id: "JarvanIV", lane: jungle, key: 59, english: "Jarvan IV", korean: "자르반 4세", resource: mana},
	{id: "Jhin", lane: bottom, key: 202, english: "Jhin", korean: "진", resource: mana},
	{id: "Jinx", lane: bottom, key: 222, english: "Jinx", korean: "징크스", resource: mana},
	{id: "KSante", lane: top, key: 897, english: "K'Sante", korean: "크산테", resource: mana},
	{id: "Kaisa", lane: bottom, key: 145, english: "Kai'Sa", korean: "카이사", resource: mana},
	{id: "Kayn", lane: jungle, key: 141, english: "Kayn", korean: "케인", resource: mana},
	{id: "Leblanc", lane: middle, key: 7, english: "LeBlanc", korean: "르블랑", resource: mana},
	{id: "LeeSin", lane: jungle, key: 64, english: "Lee Sin", korean: "리 신", resource: energy},
	{id: "Leona", lane: utility, key: 89, english: "Leona", korean: "레오나", resource: mana},
	{id: "Lux", lane: middle, key: 99, english: "Lux", korean: "럭스", resource: mana},
	{id: "MasterYi", lane: jungle, key: 11, english: "Master Yi", korean: "마스터 이", resource: mana},
	{id: "Mel", lane: middle, key: 800, english: "Mel", korean: "멜", resource: mana},
	{id: "Milio", lane: utility, key: 902, english: "Milio", korean: "밀리오", resource: mana},
	{id: "MissFortune", lane: bottom, key: 21, english: "Miss Fortune", korean: "미스 포츈", resource: mana},
	{id: "MonkeyKing", lane: jungle, key: 62, english: "Wukong", korean: "오공", resource: mana},
	{id: "Nasus", lane: top, key: 75, english: "Nasus", korean: "나서스", resource: mana},
	{id: "Nautilus", lane: utility, key: 111, english: "Nautilus", korean: "노틸러스", resource: mana},
	{id: "Nunu", lane: jungle, key: 20, english: "Nunu & Willump", korean: "누누와 윌럼프", resource: mana},
	{id: "Orianna", lane: middle, key: 61, english: "Orianna", korean: "오리아나", resource: mana},
	{id: "Poppy", lane: top, key: 78, english: "Poppy", korean: "뽀삐", resource: mana},
	{id: "RekSai", lane: jungle, key: 421, english: "Rek'Sai", korean: "렉사이", resource: none},
	{id: "Renata", lane: utility, key: 888, english: "Renata Glasc", korean: "레나타 글라스크", resource: mana},
	{id: "Seraphine", lane: utility, key: 147, english: "Seraphine", korean: "세라핀", resource: mana},
	{id: "Sett", lane: top, key: 875, english: "Sett", korean: "세트", resource: none},
	{id: "Soraka", lane: utility, key: 16, english: "Soraka", korean: "소라카", resource: mana},
	{id: "Teemo", lane: top, key: 17, english: "Teemo", korean: "티모", resource: mana},
	{id: "Thresh", lane: utility, key: 412, english: "Thresh", korean: "쓰레쉬", resource: mana},
	{id: "Vayne", lane: bottom, key: 67, english: "Vayne", korean: "베인", resource: mana},
	{id: "Velkoz", lane: middle, key: 161, english: "Vel'Koz", korean: "벨코즈", resource: mana},
	{id: "Viego", lane: jungle, key: 234, english: "Viego", korean: "비에고", resource: none},
	{id: "Xayah", lane: bottom, key: 498, english: "Xayah", korean: "자야", resource: mana},
	{id: "Yasuo", lane: middle, key: 157, english: "Yasuo", korean: "야스오", resource: none},
	{id: "Zed", lane: middle, key: 238, english: "Zed", korean: "제드", resource: energy},
}
