package discord

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/bwmarrin/discordgo"
)

// shard keeps one shard connected. Its fields belong to the goroutine of run.
type shard struct {
	gateway *Gateway
	number  int
	of      int
	budget  *identifyBudget

	session   session
	failures  int // in a row; a connection that lived for a while ends the row
	unheard   int // resumes in a row that were not answered
	unreached int // in a row: times that no connection was made
}

// session is what it takes to resume.
type session struct {
	id  string
	url string // where Discord wants to be asked to resume; may be empty
	seq int64  // of the last event that was carried out
}

// The row of failures ends with a connection that lived for steadyAfter. After
// unheardMost resumes without an answer a new session is started.
const (
	steadyAfter = 5 * time.Second
	unheardMost = 2
	quickest    = 250 * time.Millisecond // a bit of chance for each reconnect
)

// run connects again and again until ctx ends (nil) or Discord says that it is
// pointless (a [*FatalError]).
func (s *shard) run(ctx context.Context) error {
	for {
		end := s.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.gateway.o.Client.observer.Gateway(s.number, end.event())
		if advice, fatal := fatalAdvice(end.code); fatal {
			return &FatalError{Code: end.code, Advice: advice}
		}
		wait := s.after(end)
		s.gateway.log.WarnContext(ctx, "gateway lost", "shard", s.number, "reason", end.reason, "code", end.code,
			"err", textOf(end.err), "lived", end.lived.Round(time.Millisecond), "again", wait.Round(time.Millisecond),
			"resume", s.session.id != "")
		if sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// after draws the conclusions from the end of a connection and says how long to
// wait before the next.
func (s *shard) after(end ending) time.Duration {
	t := s.gateway.o.Timing
	reached := end.reason != reasonAddress && end.reason != reasonDial
	if s.unreached++; reached {
		s.unreached = 0
	}
	switch {
	case end.reason == reasonInvalid && !end.resumable, sessionEnded(end.code):
		s.session, s.unheard = session{}, 0
	case end.connected:
		s.unheard = 0
	case reached && s.session.id != "":
		if s.unheard++; s.unheard >= unheardMost {
			s.session, s.unheard = session{}, 0
		}
	}
	if end.connected && end.lived >= steadyAfter {
		s.failures = 0
	} else {
		s.failures++
	}
	wait := rand.N(quickest)
	if s.failures > 0 {
		wait = jitter(min(t.BackoffFirst<<min(s.failures-1, 16), t.BackoffMost))
	}
	if end.reason == reasonInvalid {
		wait = max(wait, t.InvalidWait+rand.N(4*t.InvalidWait))
	}
	return wait
}

// address returns where to connect to: for a resume where Discord said, unless
// that could not be reached twice, and then every third time the usual address,
// which is asked for.
func (s *shard) address(ctx context.Context) (string, error) {
	if s.session.url != "" && s.unreached%3 != 2 {
		return s.session.url, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.gateway.o.Timing.Address)
	defer cancel()
	return s.gateway.o.Client.gatewayURL(ctx, "gateway address")
}

// Why a connection ended.
const (
	reasonAddress   = "no address"
	reasonDial      = "no connection"
	reasonHello     = "no hello"
	reasonSilent    = "silence"
	reasonZombie    = "heartbeats unanswered"
	reasonReconnect = "asked to reconnect"
	reasonInvalid   = "session invalid"
	reasonClosed    = "closed"
	reasonSession   = "discordgo gave up"
	reasonStopped   = "stopped"
)

// ending is how a connection ended.
type ending struct {
	reason    string
	code      int // the close code, 0 where there was none
	err       error
	resumable bool // of an invalid session
	connected bool // whether it had come to READY or RESUMED
	lived     time.Duration
}

// event names the ending for an observer.
func (e ending) event() string {
	switch _, fatal := fatalAdvice(e.code); {
	case fatal:
		return "refused"
	case e.reason == reasonZombie:
		return "zombie"
	case e.connected:
		return "lost"
	default:
		return "failed"
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return redact(err.Error())
}

// dispatch hands an event of discordgo's on. It is called in the order of the
// events.
func (s *shard) dispatch(ctx context.Context, e *discordgo.Event) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(ctx, s.gateway.log, e.Type, v, "")
		}
	}()
	g := s.gateway
	switch v := e.Struct.(type) {
	case *discordgo.Ready:
		ready := Ready{Shard: s.number, Shards: s.of}
		if v.User != nil {
			ready.UserID = number(v.User.ID)
		}
		if v.Application != nil {
			ready.AppID = number(v.Application.ID)
		}
		for _, guild := range v.Guilds {
			ready.Guilds = append(ready.Guilds, number(guild.ID))
		}
		g.push(ctx, ready)
	case *discordgo.GuildCreate:
		s.server(ctx, v.Guild, Here)
	case *discordgo.GuildUpdate:
		s.server(ctx, v.Guild, Here)
	case *discordgo.GuildDelete:
		s.server(ctx, v.Guild, Gone)
	case *discordgo.ChannelDelete:
		s.channel(ctx, v.Channel)
	case *discordgo.ThreadDelete:
		s.channel(ctx, v.Channel)
	case *discordgo.InteractionCreate:
		if g.o.Router != nil {
			g.o.Router.Handle(ctx, whole(v.Interaction, e.RawData))
		}
	}
}

func (s *shard) server(ctx context.Context, guild *discordgo.Guild, kind ServerKind) {
	if guild == nil || number(guild.ID) == 0 {
		return
	}
	e := ServerEvent{ID: number(guild.ID), Kind: kind, Shard: s.number}
	switch {
	case guild.Unavailable:
		e.Kind = Outage
	case kind == Here:
		e.Name, e.Locale = guild.Name, guild.PreferredLocale
	}
	s.gateway.push(ctx, e)
}

func (s *shard) channel(ctx context.Context, channel *discordgo.Channel) {
	if channel == nil || number(channel.ID) == 0 {
		return
	}
	s.gateway.push(ctx, ChannelEvent{ID: number(channel.ID), Server: number(channel.GuildID), Shard: s.number})
}

// whole returns an interaction that can be answered, even if discordgo could
// not decode it.
func whole(i *discordgo.Interaction, raw []byte) *discordgo.Interaction {
	if i != nil && i.ID != "" && i.Data != nil {
		return i
	}
	var least struct {
		ID     snowflake                 `json:"id"`
		AppID  snowflake                 `json:"application_id"`
		Type   discordgo.InteractionType `json:"type"`
		Token  string                    `json:"token"`
		Locale discordgo.Locale          `json:"locale"`
	}
	if err := unmarshalLoosely(raw, &least); err != nil || least.ID == 0 {
		return nil
	}
	return &discordgo.Interaction{
		ID: least.ID.String(), AppID: least.AppID.String(), Type: least.Type, Token: least.Token, Locale: least.Locale,
	}
}
