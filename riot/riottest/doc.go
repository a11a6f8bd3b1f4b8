// Package riottest is a local Riot API that enforces Riot's limits, with a world
// of players who play games behind it. It is for tests, for the demo, and as a
// process of its own for trying a bot without an account.
//
// It shares no code with the packages that call Riot: it counts, spells and routes
// on its own, so that one mistake can't hide in both.
//
// A Server is an http.Handler. Over a listener its base URL is
// http://127.0.0.1:PORT/{route}, with a platform or region as the first segment of
// the path; under a host name whose first label is one (kr.api.riotgames.com, as
// Server.Transport gets them) the path is Riot's own. Data Dragon is below
// /ddragon, or on the host ddragon.leagueoflegends.com.
//
// # Limits
//
// As Riot documents and as issues about it show, a window opens with the first
// call that it counts and ends after its length; the next opens with the next
// call. An application's windows count all calls with one key on one host, a
// method's those of that method. A call that is refused counts in all of them. A
// call is counted in one instant between its sending and its answer: see
// Options.Latency. All time is time.Now, so that in a bubble of testing/synctest
// it is the bubble's.
//
// A request without a key (401), with an unknown one (403) or without a route
// (403) counts nowhere. One for a path that does not exist on its host is 403 and
// counts for the application.
//
// # The control
//
// Paths below /_sim/ change and read the world while it runs. They take and give
// JSON, and are not counted. Mistakes are 400 with {"error": "..."}. Where "or
// more" is said the body is one value or an array of them; those before a mistake
// are kept.
//
//	POST   /_sim/players          a Player or more -> {"players": [1]}
//	PATCH  /_sim/players/{id}     {"gameName", "tagLine", "platform", "solo", "flex",
//	                              "frozenUntil"}, each optional -> the player. A rank of
//	                              null is unranked; frozenUntil is FreezeList's time
//	POST   /_sim/populate         {"players": 30, "seed": 1} -> {"groups": [{"platform", "players"}]}
//	POST   /_sim/games            a Game or more -> {"games": ["KR_7000000001"]}
//	POST   /_sim/faults           a Fault or more -> {"faults": [1]}
//	DELETE /_sim/faults[/{id}]    all of them, or one
//	POST   /_sim/limits           {"key", "app", "methods"}
//	POST   /_sim/status/{platform} {"maintenances": ["title"], "incidents": ["title"]}
//	GET    /_sim/stats            Stats
//	GET    /_sim/world            {"players": [Known], "groups": [Group], "games": 12}
//	POST   /_sim/reset            {"faults": true} counters to zero, and faults too
//
// A game of two friends that ends now:
//
//	{"queue": 420, "seats": [{"riotId": "Sleepy Otter#EUW", "result": "win", "champion": "Ahri",
//	  "score": {"kills": 7, "deaths": 1, "assists": 9, "cs": 203}}, {"player": 2}]}
//
// # Where Riot is not known well enough
//
// A player's league entries and summoner are 404 on another platform. A match is
// 404 on another region's host. startTime and endTime are compared with
// gameCreation, which is the earliest of a game's times. A call for a match that is
// 403 is counted, as all are.
//
// # What it does not do
//
// Strangers, who fill the games, have accounts and summoners but neither ranks nor
// lists of games. Limits never blacklist a key, and keys do not expire by
// themselves; a Fault can do both.
package riottest
