package discordtest

import (
	"encoding/json"
	"net/http"
)

// answer is a REST answer before it is written.
type answer struct {
	status int
	header http.Header
	body   []byte
	shared bool // a 429 of scope "shared", which is not counted against the client
}

func jsonAnswer(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil { // only values of our own making come here
		panic("discordtest: " + err.Error())
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: body}
}

func noContent() answer { return answer{status: http.StatusNoContent, header: http.Header{}} }

// refuse is an error in Discord's shape.
func refuse(status, code int, message string) answer {
	return jsonAnswer(status, map[string]any{"message": message, "code": code})
}

// The errors of the parts that are simulated, by Discord's code.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json
func unauthorized() answer       { return refuse(401, 0, "401: Unauthorized") }
func notFound() answer           { return refuse(404, 0, "404: Not Found") }
func methodNotAllowed() answer   { return refuse(405, 0, "405: Method Not Allowed") }
func unknownChannel() answer     { return refuse(404, 10003, "Unknown Channel") }
func unknownGuild() answer       { return refuse(404, 10004, "Unknown Guild") }
func unknownMessage() answer     { return refuse(404, 10008, "Unknown Message") }
func unknownWebhook() answer     { return refuse(404, 10015, "Unknown Webhook") }
func unknownInteraction() answer { return refuse(404, 10062, "Unknown interaction") }
func unknownCommand() answer     { return refuse(404, 10063, "Unknown application command") }
func tooManyCreates() answer {
	return refuse(400, 30034, "Max number of daily application command creates has been reached (200)")
}
func alreadyAcknowledged() answer {
	return refuse(400, 40060, "Interaction has already been acknowledged.")
}
func missingAccess() answer     { return refuse(403, 50001, "Missing Access") }
func emptyMessage() answer      { return refuse(400, 50006, "Cannot send an empty message") }
func notText() answer           { return refuse(400, 50008, "Cannot send messages in a non-text channel") }
func missingPermission() answer { return refuse(403, 50013, "Missing Permissions") }
func badWebhookToken() answer   { return refuse(401, 50027, "Invalid Webhook Token") }
func archivedThread() answer    { return refuse(400, 50083, "Thread is archived") }
func invalidJSON() answer {
	return refuse(400, 50109, "The request body contains invalid JSON.")
}

// form collects what is wrong with a body, by path, as Discord reports it.
type form struct {
	errors map[string]any
	first  string // path and message of the first fault, for the list of violations
}

// add notes a fault of the value at path.
func (f *form) add(code, message string, path ...string) {
	if f.errors == nil {
		f.errors = map[string]any{}
		f.first = join(path) + ": " + message
	}
	at := f.errors
	for _, p := range path {
		next, ok := at[p].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[p] = next
		}
		at = next
	}
	list, _ := at["_errors"].([]any)
	at["_errors"] = append(list, map[string]string{"code": code, "message": message})
}

func (f *form) ok() bool { return f.errors == nil }

// answer is code 50035 with everything that was noted.
func (f *form) answer() answer {
	return jsonAnswer(http.StatusBadRequest, map[string]any{
		"message": "Invalid Form Body", "code": 50035, "errors": f.errors,
	})
}

func join(path []string) string {
	out := ""
	for i, p := range path {
		if i > 0 {
			out += "."
		}
		out += p
	}
	return out
}

// sub returns path with more behind it, never sharing its array.
func sub(path []string, more ...string) []string {
	return append(append(make([]string, 0, len(path)+len(more)), path...), more...)
}
