package discordtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The defaults of [Options], each with the rule it stands for.
const (
	DefaultAppID             = "1100000000000000001"
	DefaultHeartbeatInterval = 41250 * time.Millisecond // what Discord's Hello says today
	DefaultGlobalLimit       = 50                       // requests a second and bot
	DefaultChannelLimit      = 5                        // messages created a channel in ChannelWindow
	DefaultChannelWindow     = 5 * time.Second
	DefaultWebhookLimit      = 5 // calls an interaction's token in WebhookWindow
	DefaultWebhookWindow     = 2 * time.Second
	DefaultInvalidLimit      = 10_000 // 401, 403 and 429 answers in InvalidWindow
	DefaultInvalidWindow     = 10 * time.Minute
	DefaultNonceWindow       = 3 * time.Minute // Discord says "the past few minutes"
	DefaultAnswerDeadline    = 3 * time.Second
	DefaultTokenLifetime     = 15 * time.Minute
	DefaultIdentifyInterval  = 5 * time.Second
	DefaultSessionStarts     = 1000 // identifies a day
	DefaultGuildsPerShard    = 2500
	DefaultCommandCreates    = 200 // new commands a day and scope
	DefaultKeepMessages      = 2000
	DefaultKeepRequests      = 4096
)

// Options says how a [Server] behaves. The zero value is a usable Discord with
// its documented limits that accepts every bot token.
type Options struct {
	// Token is the only bot token that is accepted, without the word "Bot".
	// Empty accepts any, each with a global limit of its own.
	Token string
	// AppID is the application's id and the bot user's; DefaultAppID if empty.
	AppID string
	// BotName is the bot user's name; "RiftChime" if empty.
	BotName string
	// GatewayURL is what GET /gateway answers. Empty: built from the address
	// that the request came to.
	GatewayURL string
	// Latency delays every REST answer; the request itself is acted on when
	// it arrives.
	Latency time.Duration

	// HeartbeatInterval is announced in Hello. A client that sends no
	// heartbeat for twice as long is closed with 4009.
	HeartbeatInterval time.Duration
	// MaxConcurrency is how many shards may identify in an IdentifyInterval;
	// 1 if zero.
	MaxConcurrency   int
	IdentifyInterval time.Duration
	// SessionStarts is how many identifies a day allows; one more ends all
	// sessions with 4004, as Discord does when it resets the token.
	SessionStarts int
	// Shards is the number GET /gateway/bot recommends. Zero: one for each
	// 1,000 guilds, rounded up.
	Shards int
	// GuildsPerShard is the number above which an identify is closed with 4011.
	GuildsPerShard int
	// PrivilegedIntents are the privileged intents that the application may
	// ask for; asking for another one is closed with 4014.
	PrivilegedIntents int

	// GlobalLimit is the number of requests in any second, counted by arrival.
	GlobalLimit int
	// ChannelLimit and ChannelWindow limit the messages created in a channel
	// and, counted apart, those edited. Negative: no limit.
	ChannelLimit  int
	ChannelWindow time.Duration
	// WebhookLimit and WebhookWindow limit the calls made with one
	// interaction's token. Negative: no limit.
	WebhookLimit  int
	WebhookWindow time.Duration
	// InvalidLimit is the number of 401, 403 and 429 answers (those of scope
	// "shared" apart) within InvalidWindow that gets the address banned for
	// another InvalidWindow. How long the real ban lasts is not documented.
	InvalidLimit  int
	InvalidWindow time.Duration
	// CommandCreates is how many commands a day may be new, globally and in
	// each guild.
	CommandCreates int

	// NonceWindow is how long enforce_nonce remembers a nonce.
	NonceWindow time.Duration
	// AnswerDeadline is how long an interaction waits for its first answer.
	AnswerDeadline time.Duration
	// TokenLifetime is how long an interaction's token is good for.
	TokenLifetime time.Duration

	// KeepMessages bounds the messages remembered in a channel and
	// KeepRequests those that Requests returns; the oldest go first.
	KeepMessages int
	KeepRequests int
}

// withDefaults returns o with every zero replaced.
func (o Options) withDefaults() Options {
	str := func(v *string, d string) {
		if *v == "" {
			*v = d
		}
	}
	num := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	str(&o.AppID, DefaultAppID)
	str(&o.BotName, "RiftChime")
	dur(&o.HeartbeatInterval, DefaultHeartbeatInterval)
	num(&o.MaxConcurrency, 1)
	dur(&o.IdentifyInterval, DefaultIdentifyInterval)
	num(&o.SessionStarts, DefaultSessionStarts)
	num(&o.GuildsPerShard, DefaultGuildsPerShard)
	num(&o.GlobalLimit, DefaultGlobalLimit)
	num(&o.ChannelLimit, DefaultChannelLimit)
	dur(&o.ChannelWindow, DefaultChannelWindow)
	num(&o.WebhookLimit, DefaultWebhookLimit)
	dur(&o.WebhookWindow, DefaultWebhookWindow)
	num(&o.InvalidLimit, DefaultInvalidLimit)
	dur(&o.InvalidWindow, DefaultInvalidWindow)
	num(&o.CommandCreates, DefaultCommandCreates)
	dur(&o.NonceWindow, DefaultNonceWindow)
	dur(&o.AnswerDeadline, DefaultAnswerDeadline)
	dur(&o.TokenLifetime, DefaultTokenLifetime)
	num(&o.KeepMessages, DefaultKeepMessages)
	num(&o.KeepRequests, DefaultKeepRequests)
	return o
}

// Server is a local Discord. Make one with [New]; all its methods may be called
// at the same time from several goroutines.
//
// It starts no goroutine until it is asked to: [Server.Start] and [Server.Serve]
// listen on a socket, [Server.Transport] answers in process. Inside a
// testing/synctest bubble, make the Server in the bubble and use only the
// transport.
type Server struct {
	opt  Options
	done chan struct{} // closed by Close: lets go of what hangs

	// mu guards everything below. Nothing waits while it is held.
	mu       sync.Mutex
	closed   bool
	lastID   uint64
	guilds   map[string]*guild
	order    []string // ids of guilds, in the order they were added
	channels map[string]*channel
	users    map[string]string // user id -> id of its direct-message channel
	commands map[string]*commandSet
	nonces   map[string]nonceEntry

	interactions map[string]*interaction // by token
	limits       limits
	faults       faults
	stats        counters
	sessions     map[string]*session
	conns        map[*conn]struct{}
	starts       []time.Time       // identifies of the last day
	identified   map[int]time.Time // rate-limit key -> last identify
	changed      chan struct{}     // closed and replaced when sessions change
	onMessage    []func(Message)   // called without mu
	onEvent      []func(string, []byte)
	seen         []observed // for onEvent, oldest first
	observing    bool       // somebody empties seen

	control http.Handler   // set by New
	running sync.WaitGroup // gateway connections, Start's listeners, OnEvent's calls
	servers []*http.Server // guarded by mu
}

// New returns a Discord without guilds.
func New(opt Options) *Server {
	opt = opt.withDefaults()
	s := &Server{
		opt:          opt,
		done:         make(chan struct{}),
		guilds:       map[string]*guild{},
		channels:     map[string]*channel{},
		users:        map[string]string{},
		commands:     map[string]*commandSet{},
		nonces:       map[string]nonceEntry{},
		interactions: map[string]*interaction{},
		sessions:     map[string]*session{},
		conns:        map[*conn]struct{}{},
		identified:   map[int]time.Time{},
		changed:      make(chan struct{}),
	}
	s.limits = newLimits(opt)
	s.stats = newCounters(opt)
	s.control = s.controlMux()
	return s
}

// AppID is the id of the application and of its bot user.
func (s *Server) AppID() string { return s.opt.AppID }

// Start listens on addr, serves REST, gateway and control there until
// [Server.Close], and returns the base URL, such as "http://127.0.0.1:40123".
// An empty addr is a free port on loopback.
func (s *Server) Start(addr string) (string, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", err
	}
	srv := s.server()
	if !s.adopt(srv) {
		return "", errors.Join(http.ErrServerClosed, ln.Close())
	}
	s.running.Go(func() { _ = srv.Serve(ln) }) // always http.ErrServerClosed, after Close
	return "http://" + ln.Addr().String(), nil
}

// Serve serves REST, gateway and control on ln until ctx ends, then closes the
// Server and returns nil. Any other end is an error.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := s.server()
	if !s.adopt(srv) {
		return errors.Join(http.ErrServerClosed, ln.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	err := srv.Serve(ln)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) server() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
}

// adopt remembers srv for Close. It reports whether the Server still runs.
func (s *Server) adopt(srv *http.Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.servers = append(s.servers, srv)
	return true
}

// Close ends every connection at once, lets go of every request that hangs and
// waits for the goroutines of Start and of the gateway. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.running.Wait()
		return nil
	}
	s.closed = true
	close(s.done)
	servers := s.servers
	for c := range s.conns {
		c.abort()
	}
	s.mu.Unlock()
	var errs []error
	for _, srv := range servers {
		errs = append(errs, srv.Close())
	}
	s.running.Wait()
	return errors.Join(errs...)
}

// discordEpoch is the first millisecond of 2015, where snowflakes start.
const discordEpoch = 1_420_070_400_000

// newID returns a snowflake of now that is larger than every earlier one. In
// years before 2015, where virtual time starts, it counts from 1970.
func (s *Server) newID(now time.Time) string {
	ms := now.UnixMilli()
	if ms >= discordEpoch {
		ms -= discordEpoch
	}
	s.lastID = max(s.lastID+1, uint64(max(ms, 1))<<22)
	return strconv.FormatUint(s.lastID, 10)
}

// timestamp writes t as Discord does: UTC with a numeric offset, microseconds
// only where there are any.
func timestamp(t time.Time) string {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02T15:04:05+00:00")
	}
	return t.Format("2006-01-02T15:04:05.000000+00:00")
}
