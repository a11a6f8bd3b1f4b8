package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"riftchime/store"
)

// pauses are the notes for somebody who manages the server: that this channel
// or another of the server's is paused, why, and what to do.
func (c *Commands) pauses(ctx context.Context, q *request) []string {
	channels, err := c.o.Store.ChannelsOf(ctx, q.server)
	if err != nil {
		c.log.WarnContext(ctx, "pauses not known", "server", q.server, "err", err)
		return nil
	}
	var here, others []string
	if q.resumed {
		here = []string{q.t("pause.resumed", "Next", stamp(q.row.NextSlot))}
	}
	for _, ch := range channels {
		switch {
		case ch.PausedAt.IsZero():
		case ch.ID == q.channel:
			here = c.pauseText(q, ch)
		case len(others) < 3:
			others = append(others, q.t("pause.other", "Channel", fmt.Sprintf("<#%d>", ch.ID),
				"Since", stamp(ch.PausedAt), "Why", c.reason(q, ch.PausedWhy, "")))
		}
	}
	if len(others) > 0 && len(here) == 0 {
		others = append(others, q.t("pause.mend"))
	}
	return append(here, others...)
}

// pauseText tells that the channel is paused, why, and how to mend it. What
// the bot lacks is read from the interaction where that tells.
func (c *Commands) pauseText(q *request, ch store.Channel) []string {
	lines := []string{q.t("pause.here", "Since", stamp(ch.PausedAt), "Why", c.reason(q, ch.PausedWhy, ""))}
	if lacks := q.lacks(); len(lacks) > 0 {
		return append(lines, q.t("pause.lacks", "Permissions", strings.Join(lacks, ", ")))
	}
	return append(lines, q.t("pause.mend"))
}

// lacks names the permissions that the bot needs to post in the channel and
// has not, as the interaction tells them; none where it does not tell. Threads
// have a permission to send of their own.
func (q *request) lacks() []string {
	if q.perms == 0 || q.perms&discordgo.PermissionAdministrator != 0 {
		return nil
	}
	var lacks []string
	if q.perms&discordgo.PermissionViewChannel == 0 {
		lacks = append(lacks, q.t("permission.view"))
	}
	if q.perms&(discordgo.PermissionSendMessages|discordgo.PermissionSendMessagesInThreads) == 0 {
		lacks = append(lacks, q.t("permission.send"))
	}
	return lacks
}
