package discord

import (
	"net/http"
	"strings"
)

// route is what the transport has to know of a request.
type route struct {
	// name is the kind of request, fit for a metric: few values, no ids.
	name string
	// urgency orders the queue, the smallest first.
	urgency int
	// bucket is the key of Discord's limit by route and channel, empty where
	// none is kept.
	bucket string
	// interaction requests are not bound to the bot's global limit and carry
	// their own token in the path
	// (https://discord.com/developers/docs/topics/rate-limits#global-rate-limit).
	interaction bool
}

// The order of the queue.
const (
	urgentGateway = iota
	urgentPost
	urgentEdit
	urgentRest
)

// routeOf classifies a request by its method and path.
func routeOf(method, path string) route {
	_, path, _ = strings.Cut(path, "/api/")
	part := strings.Split(path, "/") // v9, channels, id, messages, …
	at := func(i int) string {
		if i < len(part) {
			return part[i]
		}
		return ""
	}
	switch at(1) {
	case "interactions":
		return route{name: "interaction callback", interaction: true}
	case "webhooks":
		if at(3) != "" {
			return route{name: "interaction answer", interaction: true}
		}
	case "gateway":
		return route{name: "gateway", urgency: urgentGateway}
	case "channels":
		bucket := method + " " + at(2) + " " + at(3)
		switch {
		case at(3) == "messages" && method == http.MethodPost && at(4) == "":
			return route{name: "post message", urgency: urgentPost, bucket: bucket}
		case at(3) == "messages" && method == http.MethodPatch:
			return route{name: "edit message", urgency: urgentEdit, bucket: bucket}
		case at(3) == "messages" && method == http.MethodGet:
			return route{name: "read messages", urgency: urgentRest, bucket: bucket}
		}
		return route{name: "channel", urgency: urgentRest, bucket: bucket}
	case "applications":
		return route{name: "commands", urgency: urgentRest, bucket: method + " " + at(1) + " " + at(2)}
	}
	return route{name: "other", urgency: urgentRest}
}
