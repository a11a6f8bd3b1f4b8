package commands

import (
	"github.com/bwmarrin/discordgo"
)

// Defs are the definitions of all commands, by name.
type Defs struct {
	Register, Unregister, List, Schedule, Report, Status, Why *discordgo.ApplicationCommand
}

// Names of the options. Handlers get these, whatever language they are shown
// in.
const (
	optRiotID   = "riot_id"
	optRegion   = "region"
	optHours    = "hours"
	optTimezone = "timezone"
	optLanguage = "language"
	optQuiet    = "quiet"
)

// Definitions builds the commands as Discord is told of them: in servers only,
// with Korean names, descriptions and choices. Those that change something
// need "Manage Server" until an administrator decides otherwise.
func Definitions() Defs {
	return Defs{
		Register: command("register", "등록",
			"Follow League of Legends players in this channel", "이 채널에서 소식을 받을 플레이어를 등록합니다", true,
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optRiotID, Required: true,
				NameLocalizations:        ko("라이엇_id"),
				Description:              "One Riot ID or many pasted, such as Calm in rain#KR1",
				DescriptionLocalizations: ko("라이엇 ID 하나 또는 여러 개. 예: Calm in rain#KR1"),
				MaxLength:                6000,
			},
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optRegion,
				NameLocalizations:        ko("지역"),
				Description:              "Where they play; found out by itself when left out",
				DescriptionLocalizations: ko("플레이하는 서버. 비워 두면 자동으로 찾습니다"),
				Choices:                  regionChoices(),
			}),
		Unregister: command("unregister", "해제",
			"Stop following a player in this channel", "이 채널에서 플레이어 등록을 해제합니다", true,
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optRiotID, Required: true, Autocomplete: true,
				NameLocalizations:        ko("라이엇_id"),
				Description:              "The Riot ID, or its number in /list",
				DescriptionLocalizations: ko("라이엇 ID 또는 /목록의 번호"),
				MaxLength:                100,
			}),
		List: command("list", "목록",
			"Show who is followed here and when the next report comes", "등록된 플레이어와 다음 전적 시간을 보여 줍니다", false),
		Schedule: command("schedule", "시간",
			"Choose when and how this channel gets its reports; without options: show it",
			"전적을 올릴 시간과 방식을 정합니다. 옵션 없이 쓰면 현재 설정을 보여 줍니다", true,
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optHours,
				NameLocalizations:        ko("시간"),
				Description:              "Full hours: 12 or 0,6,12,18 or 9-23 or 22-2 or all or off",
				DescriptionLocalizations: ko("정각 시간. 예: 12 또는 0,6,12,18 또는 9-23 또는 22-2 또는 all 또는 off"),
				MaxLength:                200,
			},
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optTimezone, Autocomplete: true,
				NameLocalizations:        ko("시간대"),
				Description:              "Time zone, such as Asia/Seoul or Europe/London",
				DescriptionLocalizations: ko("시간대. 예: Asia/Seoul"),
				MaxLength:                100,
			},
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optLanguage,
				NameLocalizations:        ko("언어"),
				Description:              "Language of the reports",
				DescriptionLocalizations: ko("전적을 올릴 언어"),
				Choices: []*discordgo.ApplicationCommandOptionChoice{
					{Name: "한국어 (Korean)", NameLocalizations: ko("한국어"), Value: "ko"},
					{Name: "English", NameLocalizations: ko("영어 (English)"), Value: "en"},
				},
			},
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionBoolean, Name: optQuiet,
				NameLocalizations:        ko("조용히"),
				Description:              "Post nothing when nobody played (the default)",
				DescriptionLocalizations: ko("아무도 게임을 하지 않았으면 올리지 않습니다 (기본값)"),
			}),
		Report: command("report", "전적",
			"Show new games since the last report, now", "마지막 전적 이후의 새 게임을 지금 보여 줍니다", false),
		Status: command("status", "상태",
			"When this channel was and will be served, and what is wrong", "이 채널의 전적 시간과 문제가 있는지 보여 줍니다", false),
		Why: command("why", "이유",
			"Why a game or an hour was or was not reported", "게임이나 시간이 왜 올라왔는지, 왜 안 올라왔는지 보여 줍니다", false,
			&discordgo.ApplicationCommandOption{
				Type: discordgo.ApplicationCommandOptionString, Name: optRiotID, Autocomplete: true,
				NameLocalizations:        ko("라이엇_id"),
				Description:              "Only about this player",
				DescriptionLocalizations: ko("이 플레이어만 보기"),
				MaxLength:                100,
			}),
	}
}

// Registered are the definitions of cs, in their order, as Discord is told.
func Registered(cs []Command) []*discordgo.ApplicationCommand {
	defs := make([]*discordgo.ApplicationCommand, len(cs))
	for i, c := range cs {
		defs[i] = c.Def
	}
	return defs
}

func command(name, nameKo, description, descriptionKo string, managers bool, options ...*discordgo.ApplicationCommandOption) *discordgo.ApplicationCommand {
	names, descriptions := ko(nameKo), ko(descriptionKo)
	c := &discordgo.ApplicationCommand{
		Type: discordgo.ChatApplicationCommand, Name: name, NameLocalizations: &names,
		Description: description, DescriptionLocalizations: &descriptions,
		Contexts:         &[]discordgo.InteractionContextType{discordgo.InteractionContextGuild},
		IntegrationTypes: &[]discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall},
		Options:          options,
	}
	if c.Options == nil {
		c.Options = []*discordgo.ApplicationCommandOption{}
	}
	if managers {
		c.DefaultMemberPermissions = new(int64(discordgo.PermissionManageGuild))
	}
	return c
}

func ko(s string) map[discordgo.Locale]string {
	return map[discordgo.Locale]string{discordgo.Korean: s}
}

func regionChoices() []*discordgo.ApplicationCommandOptionChoice {
	var choices []*discordgo.ApplicationCommandOptionChoice
	for _, r := range regions {
		choices = append(choices, &discordgo.ApplicationCommandOptionChoice{
			Name:              r.short + " (" + r.en + ")",
			NameLocalizations: ko(r.short + " (" + r.ko + ")"),
			Value:             string(r.platform),
		})
	}
	return choices
}
