// Package discordtest is a local Discord: REST, gateway, and the rules that the
// real one enforces. It counts every rule that a client breaks (see the
// Violation constants) and can be made to fail at any point ([Server.Fail],
// [Server.FailGateway]). It knows nothing of this module's own client and spells
// Discord by itself, so that a mistake cannot hide in both.
//
// # What is simulated
//
// REST under /api, /api/v9, /api/v10: the gateway's address, the bot's user and
// application, commands (global and of a guild), channels, direct messages,
// messages (create with nonce and enforce_nonce, edit, delete, list, get),
// interaction callbacks and the interaction's webhook. Every other path is
// answered 404 and counted as unknown_route.
//
// Limits, by arrival: 50 requests in any second and token, on the strictest
// reading, a window of one second with both its ends; 5 messages in 5 s a
// channel, sliding; 5 calls in 2 s with an interaction's token; 10,000 invalid
// requests in 10 minutes, after which the address gets Cloudflare's page.
// Interaction endpoints are outside of the global limit unless they carry the
// bot's token, which is counted as a violation. Sizes of texts are counted in
// UTF-16 code units before trimming, which is never less than what Discord
// counts. What Discord does with a message is done too: texts are trimmed,
// an embed's timestamp is rewritten ("2026-01-02T12:00:00+00:00"), embeds with
// one url are shown once.
//
// The gateway speaks JSON, plain, zlib a payload or zlib-stream. Hello, identify
// (its limits, intents, shards), READY, GUILD_CREATE, heartbeats, resume with
// replay, op 7, op 9, close codes; a client that does not beat is closed.
//
// Where Discord does not document a figure, this package chose one: the ban
// lasts 10 minutes, enforce_nonce remembers 3, a lost session can be resumed for 5.
//
// # Time
//
// All time is the time package's. In a testing/synctest bubble use
// [Server.Transport], which needs no socket, and [Server.OnEvent] in place of
// the gateway.
//
// # Control over HTTP
//
// A Server that runs as a process of its own is controlled under /_sim/, which
// is not counted. Bodies are JSON with the names of the types' json tags;
// durations are text ("1.5s"); errors are {"error": "…"} with status 400, 403
// (not allowed by Discord), 404, 409 (no gateway session) or 504 (no answer).
//
//	POST   /_sim/guilds                  a Guild or an array of them -> {"guilds": n}
//	DELETE /_sim/guilds/{id}             the guild removes the bot
//	POST   /_sim/guilds/{id}/outage      the guild becomes unavailable
//	POST   /_sim/guilds/{id}/restore     and comes back
//	PUT    /_sim/guilds/{id}/channels    a Channel, new or changed ("missing": permission bits)
//	DELETE /_sim/channels/{id}           the channel is deleted
//	POST   /_sim/interactions            an Interaction and "wait" (1m): waits for the final answer ->
//	                                     {id, ack, ack_ms, ephemeral, message, choices, modal, answers, error}
//	GET    /_sim/messages?channel=ID     the messages created there; &all=true: what it shows, answers too
//	GET    /_sim/commands?guild=ID       the registered commands; without guild the global ones
//	GET    /_sim/sessions                gateway sessions; ?connected=1&wait=10s waits for so many
//	GET    /_sim/stats                   Stats
//	POST   /_sim/faults                  a Fault: kind, route, channel, skip, count, for, status, code,
//	                                     message, retry_after, delay
//	POST   /_sim/gateway                 a GatewayFault: at, do, resumable, code, reason, count
//	DELETE /_sim/faults                  forgets all faults
//
// For example, a person who registers a player:
//
//	curl -d '{"guild":"1","channel":"2","command":"register","options":[{"name":"riot_id","value":"Calm in rain#KR1"}]}' \
//	     http://127.0.0.1:8090/_sim/interactions
package discordtest
