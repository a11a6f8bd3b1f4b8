package discordtest

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// The names of violations: rules of Discord's that a client broke.
const (
	ViolationGlobalLimit       = "global_limit"        // more than 50 requests in a second
	ViolationBucketLimit       = "bucket_limit"        // more than a route's limit
	ViolationToken             = "token"               // 401
	ViolationBan               = "invalid_requests"    // 10,000 invalid requests in 10 minutes
	ViolationUserAgent         = "user_agent"          // not "DiscordBot (url, version)"
	ViolationForm              = "invalid_form"        // 50035, 50006, 50109
	ViolationNonceElsewhere    = "nonce_elsewhere"     // a nonce of another channel's message
	ViolationInteractionAuth   = "interaction_auth"    // the bot's token on an interaction endpoint
	ViolationLateAnswer        = "late_answer"         // first answer after 3 s
	ViolationSecondAnswer      = "second_answer"       // 40060
	ViolationAnswerType        = "answer_type"         // an answer that does not fit its interaction
	ViolationFollowupForEdit   = "followup_for_edit"   // a followup in place of editing a deferral
	ViolationToken15Minutes    = "interaction_expired" // a token used after 15 minutes
	ViolationCommandCreates    = "command_creates"     // 200 a day
	ViolationIdentifyRate      = "identify_rate"       // more than max_concurrency in 5 s
	ViolationSessionStarts     = "session_starts"      // more than 1,000 identifies a day
	ViolationGatewayToken      = "gateway_token"       // 4004
	ViolationGatewayPayload    = "gateway_payload"     // 4001, 4002, 4003, 4005
	ViolationGatewayRate       = "gateway_rate"        // 4008
	ViolationGatewayVersion    = "gateway_version"     // 4012
	ViolationGatewayIntents    = "gateway_intents"     // 4013, 4014
	ViolationGatewayShard      = "gateway_shard"       // 4010, 4011
	ViolationGatewaySequence   = "gateway_sequence"    // 4007
	ViolationHeartbeatMissed   = "heartbeat_missed"    // none in twice the interval
	ViolationResumeElsewhere   = "resume_elsewhere"    // a resume on another address than resume_gateway_url
	ViolationUnknownRoute      = "unknown_route"       // a path or method that is not simulated
	ViolationAfterUnregistered = "command_unknown"     // a command id that is not registered
)

// Violation is one rule broken once.
type Violation struct {
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
	Detail string    `json:"detail"`
}

// keepViolations bounds Stats.Violations; ViolationCounts goes on.
const keepViolations = 1000

// Stats is what a Server has seen since New.
type Stats struct {
	// Requests counts REST requests by route and by the status of the answer;
	// 0 is none, where a fault broke or held the connection.
	Requests map[Route]map[int]int `json:"requests"`
	// MaxPerSecond is the largest number of requests counted by a global limit
	// that arrived in any one second, refused ones too.
	MaxPerSecond int `json:"max_per_second"`
	// Global429 and Bucket429 count refusals that the client earned; Blocked
	// those that arrived while a fault held the global limit or a bucket.
	Global429 int `json:"global_429"`
	Bucket429 int `json:"bucket_429"`
	Blocked   int `json:"blocked"`
	// Injected counts the requests that a fault hit.
	Injected int `json:"injected"`
	// Invalid is the number of answers in the last 10 minutes that count
	// towards the ban.
	Invalid int `json:"invalid"`
	// Messages counts the messages created by POST, Repeats the answers that
	// enforce_nonce gave instead, Edits the messages edited.
	Messages int `json:"messages"`
	Repeats  int `json:"repeats"`
	Edits    int `json:"edits"`
	// CommandCreates counts commands that were new.
	CommandCreates int `json:"command_creates"`
	// Interactions counts those sent, Unanswered those that got nothing in
	// time so far.
	Interactions int `json:"interactions"`
	Unanswered   int `json:"unanswered"`
	// InteractionAuth counts interaction requests that carried the bot's token.
	InteractionAuth int `json:"interaction_auth"`
	// Connections, Identifies, Resumes and Heartbeats count on the gateway;
	// ClientCloses counts the close codes that clients sent, 1006 for none.
	Connections  int         `json:"connections"`
	Identifies   int         `json:"identifies"`
	Resumes      int         `json:"resumes"`
	Heartbeats   int         `json:"heartbeats"`
	ClientCloses map[int]int `json:"client_closes"`
	// Violations are the newest 1,000, oldest first; ViolationCounts is all.
	Violations      []Violation    `json:"violations"`
	ViolationCounts map[string]int `json:"violation_counts"`
}

// Request is a REST request as it arrived. Its path is the OpenAPI document's,
// with names in place of ids, so that no token is kept.
type Request struct {
	At     time.Time
	Route  Route
	Method string
	// Path is such as "/channels/{channel_id}/messages"; empty where it is
	// not simulated.
	Path    string
	Channel string // of the path or the interaction; may be empty
	// Body is the JSON (of a multipart body, its payload_json), cut off at
	// 64 KiB; nil if there was none.
	Body json.RawMessage
	// Authorized: the request carried an Authorization header.
	Authorized bool
	// Status is the answer's, 0 while there is none and where there was none.
	Status int
}

const keepBody = 64 << 10

// counters is Stats in the making.
type counters struct {
	Stats
	keep     int
	requests []*Request
}

func newCounters(opt Options) counters {
	return counters{
		keep: opt.KeepRequests,
		Stats: Stats{
			Requests:        map[Route]map[int]int{},
			ClientCloses:    map[int]int{},
			ViolationCounts: map[string]int{},
		},
	}
}

func (c *counters) violation(name string, now time.Time, detail string) {
	c.ViolationCounts[name]++
	if len(c.Violations) >= keepViolations {
		c.Violations = slices.Delete(c.Violations, 0, 1)
	}
	c.Violations = append(c.Violations, Violation{Name: name, At: now, Detail: detail})
}

// record remembers r. It lets twice as many pile up before it forgets the older
// half, so that most requests move nothing.
func (c *counters) record(r *Request) {
	if len(c.requests) >= 2*c.keep {
		c.requests = slices.Delete(c.requests, 0, len(c.requests)-c.keep+1)
	}
	c.requests = append(c.requests, r)
}

func (c *counters) count(route Route, status int) {
	m := c.Requests[route]
	if m == nil {
		m = map[int]int{}
		c.Requests[route] = m
	}
	m[status]++
}

// Stats returns a copy of the counts.
func (s *Server) Stats() Stats {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits.invalid.prune(now)
	out := s.stats.Stats
	out.Invalid = len(s.limits.invalid.at)
	out.Requests = map[Route]map[int]int{}
	for route, m := range s.stats.Requests {
		out.Requests[route] = maps.Clone(m)
	}
	out.ClientCloses = maps.Clone(out.ClientCloses)
	out.Violations = slices.Clone(out.Violations)
	out.ViolationCounts = maps.Clone(out.ViolationCounts)
	return out
}

// Count returns how often route was answered with status; -1 is any, 0 none.
func (st Stats) Count(route Route, status int) int {
	if status >= 0 {
		return st.Requests[route][status]
	}
	n := 0
	for _, v := range st.Requests[route] {
		n += v
	}
	return n
}

// Requests returns the newest requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	newest := s.stats.requests[max(0, len(s.stats.requests)-s.opt.KeepRequests):]
	out := make([]Request, len(newest))
	for i, r := range newest {
		out[i] = *r
	}
	return out
}
