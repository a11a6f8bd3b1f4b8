// Package discord is the safe layer between RiftChime and Discord, over
// discordgo: a paced and bounded REST client, a router for slash commands and
// a supervisor for the gateway.
//
// discordgo v0.29 does not hold to Discord's limit of 50 requests a second,
// retries a 429 without end, deadlocks where Discord asks for a reconnect in
// the middle of a handshake, identifies again without waiting and ends the
// process where a handler panics. Each of these is met here, once, so that
// nothing above this package has to know about it.
package discord
