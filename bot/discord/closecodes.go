package discord

import (
	"errors"
	"fmt"
)

// The gateway's close codes that are told apart
// (https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes).
const (
	closeNotAuthenticated  = 4003
	closeBadToken          = 4004
	closeInvalidSequence   = 4007
	closeTimedOut          = 4009
	closeInvalidShard      = 4010
	closeShardingRequired  = 4011
	closeInvalidVersion    = 4012
	closeInvalidIntents    = 4013
	closeDisallowedIntents = 4014
	// closeResumable is what we close with; 1000 and 1001 would end the session.
	closeResumable = 4000
)

// FatalError is a close code after which connecting again is pointless.
type FatalError struct {
	Code int
	// Advice tells the operator what to do, in one line.
	Advice string
}

// Error returns one line that tells what to do.
func (e *FatalError) Error() string {
	return fmt.Sprintf("Discord closed the gateway for good (%d): %s", e.Code, e.Advice)
}

func isFatal(err error) bool {
	_, ok := errors.AsType[*FatalError](err)
	return ok
}

// fatalAdvice returns what to do about a fatal close code.
func fatalAdvice(code int) (advice string, fatal bool) {
	switch code {
	case closeBadToken:
		return "the bot token is not valid; set DISCORD_TOKEN to the one that https://discord.com/developers/applications shows under Bot, Reset Token", true
	case closeInvalidShard:
		return "the shard number is not valid; set the number of shards to what Discord recommends", true
	case closeShardingRequired:
		return "the bot is in too many servers for its number of shards; let Discord recommend one", true
	case closeInvalidVersion:
		return "this version of the gateway is switched off; update RiftChime", true
	case closeInvalidIntents:
		return "the intents are not valid; update RiftChime", true
	case closeDisallowedIntents:
		return "an intent is not enabled for this bot; enable it at https://discord.com/developers/applications under Bot, or update RiftChime", true
	}
	return "", false
}

// sessionEnded reports whether a close code ends the session, so that a new one
// has to be started instead of resumed.
func sessionEnded(code int) bool {
	switch code {
	case closeNotAuthenticated, closeInvalidSequence, closeTimedOut:
		return true
	}
	return false
}
