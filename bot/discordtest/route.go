package discordtest

import (
	"net/http"
	"strings"
)

// Route is a kind of REST request, whatever ids its path holds.
type Route string

// The routes that are simulated. RouteUnknown is everything else under /api.
const (
	RouteUnknown        Route = "unknown"
	RouteGateway        Route = "gateway"
	RouteGatewayBot     Route = "gateway.bot"
	RouteMe             Route = "user.me"
	RouteDM             Route = "dm.create"
	RouteApplication    Route = "application.me"
	RouteGuild          Route = "guild.get"
	RouteChannel        Route = "channel.get"
	RouteCommandList    Route = "command.list"
	RouteCommandCreate  Route = "command.create"
	RouteCommandPut     Route = "command.put"
	RouteCommandGet     Route = "command.get"
	RouteCommandEdit    Route = "command.edit"
	RouteCommandDelete  Route = "command.delete"
	RouteMessageCreate  Route = "message.create"
	RouteMessageList    Route = "message.list"
	RouteMessageGet     Route = "message.get"
	RouteMessageEdit    Route = "message.edit"
	RouteMessageDelete  Route = "message.delete"
	RouteCallback       Route = "interaction.callback"
	RouteFollowup       Route = "webhook.create"
	RouteOriginalGet    Route = "webhook.get"
	RouteOriginalEdit   Route = "webhook.edit"
	RouteOriginalDelete Route = "webhook.delete"
)

// routeRule is one line of the routing table. Words in braces take any segment.
type routeRule struct {
	route  Route
	method string
	path   string
}

// routes are the paths below /api/v*, spelled as Discord's OpenAPI document
// spells them.
var routes = []routeRule{
	{RouteGateway, "GET", "/gateway"},
	{RouteGatewayBot, "GET", "/gateway/bot"},
	{RouteMe, "GET", "/users/@me"},
	{RouteDM, "POST", "/users/@me/channels"},
	{RouteApplication, "GET", "/applications/@me"},
	{RouteApplication, "GET", "/oauth2/applications/@me"},
	{RouteGuild, "GET", "/guilds/{guild_id}"},
	{RouteChannel, "GET", "/channels/{channel_id}"},
	{RouteCommandList, "GET", "/applications/{application_id}/commands"},
	{RouteCommandCreate, "POST", "/applications/{application_id}/commands"},
	{RouteCommandPut, "PUT", "/applications/{application_id}/commands"},
	{RouteCommandGet, "GET", "/applications/{application_id}/commands/{command_id}"},
	{RouteCommandEdit, "PATCH", "/applications/{application_id}/commands/{command_id}"},
	{RouteCommandDelete, "DELETE", "/applications/{application_id}/commands/{command_id}"},
	{RouteCommandList, "GET", "/applications/{application_id}/guilds/{guild_id}/commands"},
	{RouteCommandCreate, "POST", "/applications/{application_id}/guilds/{guild_id}/commands"},
	{RouteCommandPut, "PUT", "/applications/{application_id}/guilds/{guild_id}/commands"},
	{RouteCommandGet, "GET", "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}"},
	{RouteCommandEdit, "PATCH", "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}"},
	{RouteCommandDelete, "DELETE", "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}"},
	{RouteMessageList, "GET", "/channels/{channel_id}/messages"},
	{RouteMessageCreate, "POST", "/channels/{channel_id}/messages"},
	{RouteMessageGet, "GET", "/channels/{channel_id}/messages/{message_id}"},
	{RouteMessageEdit, "PATCH", "/channels/{channel_id}/messages/{message_id}"},
	{RouteMessageDelete, "DELETE", "/channels/{channel_id}/messages/{message_id}"},
	{RouteCallback, "POST", "/interactions/{interaction_id}/{interaction_token}/callback"},
	{RouteFollowup, "POST", "/webhooks/{webhook_id}/{webhook_token}"},
	{RouteOriginalGet, "GET", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"},
	{RouteOriginalEdit, "PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"},
	{RouteOriginalDelete, "DELETE", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"},
}

// interactionRoute reports whether r is answered without the bot's token and
// outside of its global limit.
// https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
func interactionRoute(r Route) bool {
	switch r {
	case RouteCallback, RouteFollowup, RouteOriginalGet, RouteOriginalEdit, RouteOriginalDelete:
		return true
	}
	return false
}

// match finds the rule of a request. The path is the escaped one, without
// /api/v*. Without a rule it says whether another method would have had one.
func match(method, path string) (rule routeRule, params map[string]string, pathKnown bool) {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for _, r := range routes {
		p, ok := bind(r.path, segments)
		if !ok {
			continue
		}
		if r.method == method {
			return r, p, true
		}
		pathKnown = true
	}
	return routeRule{route: RouteUnknown, method: method, path: ""}, nil, pathKnown
}

func bind(pattern string, segments []string) (map[string]string, bool) {
	want := strings.Split(pattern, "/")
	if len(want) != len(segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, w := range want {
		name, isParam := strings.CutPrefix(w, "{")
		switch {
		case isParam && segments[i] != "" && (segments[i] != "@me"):
			params[strings.TrimSuffix(name, "}")] = segments[i]
		case w != segments[i]:
			return nil, false
		}
	}
	return params, true
}

// stripVersion takes "/api" and "/v9" or another version off the front of path.
func stripVersion(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/api")
	if !ok || !strings.HasPrefix(rest, "/") {
		return "", false
	}
	if v, after, ok := strings.Cut(rest[1:], "/"); ok && len(v) > 1 && v[0] == 'v' && digits(v[1:]) {
		rest = "/" + after
	}
	return rest, true
}

// digits reports whether s is a number as ids are.
func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != "" && len(s) <= 20
}

// userAgentOK reports whether the header has the form Discord asks for,
// "DiscordBot ($url, $version)".
func userAgentOK(h http.Header) bool {
	return strings.HasPrefix(h.Get("User-Agent"), "DiscordBot (")
}
