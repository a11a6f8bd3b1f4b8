package discordtest

import "time"

// channelBody is ch as REST and gateway write it; GUILD_CREATE leaves out the guild.
func (s *Server) channelBody(ch *channel, withGuild bool) map[string]any {
	var last any
	if n := len(ch.messages); n > 0 {
		last = ch.messages[n-1].ID
	}
	out := map[string]any{"id": ch.ID, "type": ch.Type, "flags": 0, "last_message_id": last}
	if ch.Type == ChannelDM {
		out["recipients"] = []any{userBody(User{ID: ch.Recipient})}
		return out
	}
	overwrites := []any{}
	if ch.Missing != 0 {
		overwrites = append(overwrites, map[string]any{
			"id": s.opt.AppID, "type": 1, "allow": "0", "deny": ch.Missing.String(),
		})
	}
	out["name"], out["position"], out["permission_overwrites"] = ch.Name, 0, overwrites
	out["nsfw"], out["rate_limit_per_user"], out["topic"] = false, 0, nil
	if ch.ParentID != "" {
		out["parent_id"] = ch.ParentID
	} else {
		out["parent_id"] = nil
	}
	if withGuild {
		out["guild_id"] = ch.Guild
	}
	if ch.thread() {
		out["owner_id"], out["message_count"], out["member_count"], out["total_message_sent"] = s.opt.AppID, len(ch.messages), 1, len(ch.messages)
		out["thread_metadata"] = map[string]any{
			"archived": ch.Archived, "auto_archive_duration": 1440, "locked": ch.Archived,
			"archive_timestamp": timestamp(time.Now()), "create_timestamp": timestamp(time.Now()),
		}
	}
	return out
}

// guildBody is g as REST writes it.
func (s *Server) guildBody(g *guild) map[string]any {
	features := g.Features
	if features == nil {
		features = []string{}
	}
	return map[string]any{
		"id": g.ID, "name": g.Name, "icon": nil, "description": nil, "home_header": nil, "splash": nil,
		"discovery_splash": nil, "features": features, "banner": nil, "owner_id": g.OwnerID,
		"application_id": nil, "region": "deprecated", "afk_channel_id": nil, "afk_timeout": 300,
		"system_channel_id": nil, "system_channel_flags": 0, "widget_enabled": false, "widget_channel_id": nil,
		"verification_level": 0, "roles": []any{map[string]any{
			"id": g.ID, "name": "@everyone", "description": nil, "permissions": Member.String(), "position": 0,
			"color": 0, "colors": map[string]any{"primary_color": 0, "secondary_color": nil, "tertiary_color": nil},
			"hoist": false, "managed": false, "mentionable": false, "icon": nil, "unicode_emoji": nil, "flags": 0,
		}},
		"default_message_notifications": 0, "mfa_level": 0, "explicit_content_filter": 0,
		"max_presences": nil, "max_members": 500000, "max_stage_video_channel_users": 50,
		"max_video_channel_users": 25, "vanity_url_code": nil, "premium_tier": 0, "premium_subscription_count": 0,
		"preferred_locale": g.PreferredLocale, "rules_channel_id": nil, "safety_alerts_channel_id": nil,
		"public_updates_channel_id": nil, "premium_progress_bar_enabled": false, "nsfw": false, "nsfw_level": 0,
		"emojis": []any{}, "stickers": []any{}, "incidents_data": nil,
	}
}

// guildEvent is the body of GUILD_CREATE.
func (s *Server) guildEvent(g *guild) map[string]any {
	out := s.guildBody(g)
	channels, threads := []any{}, []any{}
	for _, id := range g.channels {
		switch ch := s.channels[id]; {
		case ch.deleted:
		case ch.thread():
			threads = append(threads, s.channelBody(ch, false))
		default:
			channels = append(channels, s.channelBody(ch, false))
		}
	}
	out["joined_at"], out["large"], out["unavailable"], out["member_count"] = timestamp(g.joined), false, false, 2
	out["channels"], out["threads"] = channels, threads
	out["members"] = []any{map[string]any{
		"user": s.botUser(), "roles": []string{}, "joined_at": timestamp(g.joined), "deaf": false, "mute": false, "flags": 0,
	}}
	for _, k := range []string{"voice_states", "presences", "stage_instances", "guild_scheduled_events", "soundboard_sounds"} {
		out[k] = []any{}
	}
	return out
}

// User is a person. Empty names are made from the id.
type User struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	GlobalName string `json:"global_name"`
	Locale     string `json:"locale"` // Discord's language of the person; "en-US" if empty
}

func userBody(u User) map[string]any {
	if u.Name == "" {
		u.Name = "user" + u.ID
	}
	var global any
	if u.GlobalName != "" {
		global = u.GlobalName
	}
	return map[string]any{
		"id": u.ID, "username": u.Name, "global_name": global, "discriminator": "0", "avatar": nil,
		"public_flags": 0, "flags": 0, "primary_guild": nil,
	}
}

func (s *Server) botUser() map[string]any {
	u := userBody(User{ID: s.opt.AppID, Name: s.opt.BotName})
	u["bot"] = true
	return u
}

func (s *Server) application() map[string]any {
	n := 0
	for _, g := range s.guilds {
		if !g.gone {
			n++
		}
	}
	return map[string]any{
		"id": s.opt.AppID, "name": s.opt.BotName, "icon": nil, "description": "", "type": nil,
		"verify_key": "0000000000000000000000000000000000000000000000000000000000000000",
		"flags":      0, "flags_new": "0", "redirect_uris": []string{}, "interactions_endpoint_url": nil,
		"role_connections_verification_url": nil, "owner": userBody(User{ID: "1", Name: "owner"}),
		"approximate_guild_count": n, "approximate_user_install_count": 0, "approximate_user_authorization_count": 0,
		"explicit_content_filter": 0, "team": nil, "eligible_oauth2_scopes": []string{},
		"bot_public": true, "bot_require_code_grant": false, "bot": s.botUser(),
	}
}
