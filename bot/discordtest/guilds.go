package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Permission is a set of Discord's permission bits.
// https://discord.com/developers/docs/topics/permissions
type Permission uint64

// The permissions that are simulated, and two usual sets.
const (
	Administrator          Permission = 1 << 3
	ManageGuild            Permission = 1 << 5
	ViewChannel            Permission = 1 << 10
	SendMessages           Permission = 1 << 11
	ManageMessages         Permission = 1 << 13
	EmbedLinks             Permission = 1 << 14
	AttachFiles            Permission = 1 << 15
	ReadMessageHistory     Permission = 1 << 16
	UseApplicationCommands Permission = 1 << 31
	SendMessagesInThreads  Permission = 1 << 38

	// Member is what an ordinary member has, Manager one who has Manage Server too.
	Member = ViewChannel | SendMessages | EmbedLinks | AttachFiles | ReadMessageHistory |
		UseApplicationCommands | SendMessagesInThreads
	Manager = Member | ManageGuild
)

// String is the decimal number that Discord writes.
func (p Permission) String() string { return strconv.FormatUint(uint64(p), 10) }

// The types of channels that are simulated.
const (
	ChannelText          = 0
	ChannelDM            = 1
	ChannelVoice         = 2
	ChannelCategory      = 4
	ChannelAnnouncement  = 5
	ChannelPublicThread  = 11
	ChannelPrivateThread = 12
	ChannelStage         = 13
	ChannelForum         = 15
)

// Channel is a channel of a guild. The zero Type is a text channel, where the
// bot may do everything that a member may.
type Channel struct {
	ID       string `json:"id"` // a snowflake
	Name     string `json:"name"`
	Type     int    `json:"type"`
	ParentID string `json:"parent_id"`
	// Missing are the permissions that the bot lacks. Without ViewChannel it
	// gets 50001, without SendMessages 50013, without EmbedLinks 50013 for
	// messages with embeds.
	Missing Permission `json:"missing"`
	// DropEmbeds: without EmbedLinks, embeds are dropped and not refused.
	DropEmbeds bool `json:"drop_embeds"`
	// Archived is for threads: writing gets 50083.
	Archived bool `json:"archived"`
}

func (c Channel) thread() bool {
	return c.Type == ChannelPublicThread || c.Type == ChannelPrivateThread
}

func (c Channel) text() bool {
	return c.Type != ChannelCategory && c.Type != ChannelForum
}

// Guild is a server that has invited the bot.
type Guild struct {
	ID   string `json:"id"` // a snowflake
	Name string `json:"name"`
	// PreferredLocale is "en-US" if empty, as it is for every server that is
	// not a Community.
	PreferredLocale string    `json:"preferred_locale"`
	Features        []string  `json:"features"`
	OwnerID         string    `json:"owner_id"`
	Channels        []Channel `json:"channels"`
}

type guild struct {
	Guild
	joined   time.Time
	channels []string
	outage   bool // unavailable for a while
	gone     bool // the bot was removed
}

type channel struct {
	Channel
	Guild     string // empty for a direct-message channel
	Recipient string // of a direct-message channel
	deleted   bool
	messages  []*Message // oldest first
}

// AddGuild has the bot join g, or takes g's new name, locale, features and
// channels where it is known. A GUILD_CREATE (or GUILD_UPDATE) follows on the
// gateway. What its channels held before is kept. It panics if an id is not a
// snowflake or belongs to another guild.
func (s *Server) AddGuild(g Guild) {
	if err := s.addGuild(g); err != nil {
		panic("discordtest: " + err.Error())
	}
}

func (s *Server) addGuild(g Guild) error {
	if !digits(g.ID) {
		return fmt.Errorf("guild id %q is not a snowflake", g.ID)
	}
	if g.PreferredLocale == "" {
		g.PreferredLocale = "en-US"
	}
	if g.OwnerID == "" {
		g.OwnerID = g.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ch := range g.Channels {
		if !digits(ch.ID) {
			return fmt.Errorf("channel id %q is not a snowflake", ch.ID)
		}
		if known := s.channels[ch.ID]; known != nil && known.Guild != g.ID {
			return fmt.Errorf("channel %s belongs to guild %s", ch.ID, known.Guild)
		}
	}
	known := s.guilds[g.ID]
	update := known != nil && !known.gone && !known.outage
	if known == nil {
		known = &guild{}
		s.guilds[g.ID] = known
		s.order = append(s.order, g.ID)
	}
	if !update {
		known.joined = time.Now()
	}
	known.Guild, known.gone, known.outage = g, false, false
	known.Guild.Channels = nil
	for _, ch := range g.Channels {
		s.putChannel(known, ch)
	}
	event := "GUILD_CREATE"
	if update {
		event = "GUILD_UPDATE"
	}
	s.dispatch(g.ID, intentGuilds, event, s.guildEvent(known))
	return nil
}

// putChannel stores ch. It reports whether it was there before.
func (s *Server) putChannel(g *guild, ch Channel) (existed bool) {
	known := s.channels[ch.ID]
	if known == nil {
		known = &channel{Guild: g.ID}
		s.channels[ch.ID] = known
		g.channels = append(g.channels, ch.ID)
	}
	existed = known.ID != "" && !known.deleted
	known.Channel, known.deleted = ch, false
	return existed
}

// SetChannel adds ch to a guild, or changes it: its name and permissions, say.
// The gateway tells it with CHANNEL_CREATE or CHANNEL_UPDATE (THREAD_… for
// threads). An unknown guild or an id that is no snowflake panics.
func (s *Server) SetChannel(guildID string, ch Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.setChannel(guildID, ch); err != nil {
		panic("discordtest: " + err.Error())
	}
}

// setChannel is SetChannel for a caller that holds mu.
func (s *Server) setChannel(guildID string, ch Channel) error {
	g := s.guilds[guildID]
	if g == nil {
		return fmt.Errorf("no guild %q", guildID)
	}
	if !digits(ch.ID) {
		return fmt.Errorf("channel id %q is not a snowflake", ch.ID)
	}
	if known := s.channels[ch.ID]; known != nil && known.Guild != guildID {
		return fmt.Errorf("channel %s belongs to guild %q", ch.ID, known.Guild)
	}
	kind, verb := "CHANNEL", "_CREATE"
	if s.putChannel(g, ch) {
		verb = "_UPDATE"
	}
	if ch.thread() {
		kind = "THREAD"
	}
	s.dispatch(guildID, intentGuilds, kind+verb, s.channelBody(s.channels[ch.ID], true))
	return nil
}

// Deny sets the permissions that the bot lacks in a guild's channel; 0 restores
// all. CHANNEL_UPDATE follows on the gateway. An unknown channel panics.
func (s *Server) Deny(channelID string, missing Permission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[channelID]
	if ch == nil || ch.Guild == "" {
		panic("discordtest: no channel " + channelID)
	}
	next := ch.Channel
	next.Missing = missing
	if err := s.setChannel(ch.Guild, next); err != nil {
		panic("discordtest: " + err.Error())
	}
}

// RemoveChannel deletes a channel: 10003 from now on, CHANNEL_DELETE on the
// gateway. It returns false if there is none.
func (s *Server) RemoveChannel(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[id]
	if ch == nil || ch.deleted {
		return false
	}
	ch.deleted = true
	event := "CHANNEL_DELETE"
	if ch.thread() {
		event = "THREAD_DELETE"
	}
	s.dispatch(ch.Guild, intentGuilds, event, s.channelBody(ch, true))
	return true
}

// RemoveGuild has the guild remove the bot: GUILD_DELETE without "unavailable",
// and 50001 for its channels. AddGuild brings it back. It returns false if the
// bot is not in it.
func (s *Server) RemoveGuild(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[id]
	if g == nil || g.gone {
		return false
	}
	g.gone = true
	s.dispatch(id, intentGuilds, "GUILD_DELETE", map[string]any{"id": id})
	return true
}

// Outage makes a guild unavailable: GUILD_DELETE with "unavailable", while REST
// goes on. It returns false if the bot is not in it.
func (s *Server) Outage(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[id]
	if g == nil || g.gone || g.outage {
		return false
	}
	g.outage = true
	s.dispatch(id, intentGuilds, "GUILD_DELETE", map[string]any{"id": id, "unavailable": true})
	return true
}

// Restore ends an outage: GUILD_CREATE. It returns false if there was none.
func (s *Server) Restore(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[id]
	if g == nil || g.gone || !g.outage {
		return false
	}
	g.outage = false
	s.dispatch(id, intentGuilds, "GUILD_CREATE", s.guildEvent(g))
	return true
}

func (s *Server) getGuild(c *call) answer {
	g := s.guilds[c.param("guild_id")]
	if g == nil {
		return unknownGuild()
	}
	if g.gone {
		return missingAccess()
	}
	return jsonAnswer(http.StatusOK, s.guildBody(g))
}

func (s *Server) getChannel(c *call) answer {
	ch, a, ok := s.readable(c.channel)
	if !ok {
		return a
	}
	return jsonAnswer(http.StatusOK, s.channelBody(ch, true))
}

func (s *Server) createDM(c *call) answer {
	var body struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := json.Unmarshal(c.body, &body); err != nil || !digits(body.RecipientID) {
		f := &form{}
		f.add("NUMBER_TYPE_COERCE", "Value is not snowflake.", "recipient_id")
		return s.refuseForm(c, f)
	}
	return jsonAnswer(http.StatusOK, s.channelBody(s.channels[s.openDM(body.RecipientID, c.at)], true))
}

// openDM returns the direct-message channel with a user. The caller holds mu.
func (s *Server) openDM(userID string, now time.Time) string {
	id := s.users[userID]
	if id == "" {
		id = s.newID(now)
		s.users[userID] = id
		s.channels[id] = &channel{Channel: Channel{ID: id, Type: ChannelDM}, Recipient: userID}
	}
	return id
}

// DM returns the id of the direct-message channel with a user, or "" if the bot
// there is none.
func (s *Server) DM(userID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.users[userID]
}

// Guilds returns the ids of the guilds that the bot is in, oldest first.
func (s *Server) Guilds() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return s.guilds[id].gone })
}
