package commands

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"riftchime/riot"
)

// region is how a platform is called by players.
type region struct {
	platform riot.Platform
	short    string
	en, ko   string
}

// regions are the choices of /register, the most asked for first.
var regions = []region{
	{"kr", "KR", "Korea", "한국"},
	{"euw1", "EUW", "Europe West", "서유럽"},
	{"eun1", "EUNE", "Europe Nordic & East", "북동유럽"},
	{"na1", "NA", "North America", "북미"},
	{"br1", "BR", "Brazil", "브라질"},
	{"jp1", "JP", "Japan", "일본"},
	{"la1", "LAN", "Latin America North", "라틴 아메리카 북부"},
	{"la2", "LAS", "Latin America South", "라틴 아메리카 남부"},
	{"me1", "ME", "Middle East", "중동"},
	{"oc1", "OCE", "Oceania", "오세아니아"},
	{"ru", "RU", "Russia", "러시아"},
	{"sg2", "SEA", "Southeast Asia", "동남아시아"},
	{"tr1", "TR", "Türkiye", "튀르키예"},
	{"tw2", "TW", "Taiwan", "대만"},
	{"vn2", "VN", "Vietnam", "베트남"},
}

// short is a platform's name in the game, such as "EUW".
func short(p riot.Platform) string {
	for _, r := range regions {
		if r.platform == p {
			return r.short
		}
	}
	return escape(strings.ToUpper(string(p)))
}

// zones are sensible time zones for the locales that point to one. en-US is
// not among them: every server has it until somebody chooses another.
var zones = map[discordgo.Locale]string{
	discordgo.EnglishGB:    "Europe/London",
	discordgo.Bulgarian:    "Europe/Sofia",
	discordgo.ChineseCN:    "Asia/Shanghai",
	discordgo.ChineseTW:    "Asia/Taipei",
	discordgo.Croatian:     "Europe/Zagreb",
	discordgo.Czech:        "Europe/Prague",
	discordgo.Danish:       "Europe/Copenhagen",
	discordgo.Dutch:        "Europe/Amsterdam",
	discordgo.Finnish:      "Europe/Helsinki",
	discordgo.French:       "Europe/Paris",
	discordgo.German:       "Europe/Berlin",
	discordgo.Greek:        "Europe/Athens",
	discordgo.Hindi:        "Asia/Kolkata",
	discordgo.Hungarian:    "Europe/Budapest",
	"id":                   "Asia/Jakarta",
	discordgo.Italian:      "Europe/Rome",
	discordgo.Japanese:     "Asia/Tokyo",
	discordgo.Korean:       "Asia/Seoul",
	discordgo.Lithuanian:   "Europe/Vilnius",
	discordgo.Norwegian:    "Europe/Oslo",
	discordgo.Polish:       "Europe/Warsaw",
	discordgo.PortugueseBR: "America/Sao_Paulo",
	discordgo.Romanian:     "Europe/Bucharest",
	discordgo.Russian:      "Europe/Moscow",
	discordgo.SpanishES:    "Europe/Madrid",
	discordgo.SpanishLATAM: "America/Mexico_City",
	discordgo.Swedish:      "Europe/Stockholm",
	discordgo.Thai:         "Asia/Bangkok",
	discordgo.Turkish:      "Europe/Istanbul",
	discordgo.Ukrainian:    "Europe/Kyiv",
	discordgo.Vietnamese:   "Asia/Ho_Chi_Minh",
}

// defaults are the zone and the language of a new channel: Korea's where the
// person's Discord is Korean or the player is on kr, else those of the
// server's locale, else UTC and English.
func defaults(person, server discordgo.Locale, platform riot.Platform) (zone, lang string) {
	if language(person) == "ko" || platform == "kr" {
		return "Asia/Seoul", "ko"
	}
	if zone, ok := zones[server]; ok {
		return zone, language(server)
	}
	return "UTC", "en"
}

// accountRegions orders the hosts to ask for an account, the nearest first.
// Any of them serves any account.
func accountRegions(platform riot.Platform, person discordgo.Locale) []riot.Region {
	first := platform.AccountRegion()
	if first == "" {
		switch person {
		case discordgo.Korean, discordgo.Japanese, discordgo.ChineseCN, discordgo.ChineseTW,
			discordgo.Thai, discordgo.Vietnamese, discordgo.Hindi, "id":
			first = riot.Asia
		case discordgo.EnglishUS, discordgo.PortugueseBR, discordgo.SpanishLATAM:
			first = riot.Americas
		default:
			first = riot.Europe
		}
	}
	all := []riot.Region{first}
	for _, r := range []riot.Region{riot.Europe, riot.Americas, riot.Asia} {
		if r != first {
			all = append(all, r)
		}
	}
	return all
}
