package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"riftchime/store"
)

// StatusInfo is what /status tells beyond what the store knows.
type StatusInfo struct {
	// Version is RiftChime's own; Champions is that of Data Dragon's names in
	// use, "" where none are.
	Version   string
	Champions string
	// Limits are the hosts of Riot's API that were asked with this server's
	// key.
	Limits []LimitInfo
	// KeyRefused: Riot refuses this server's key at the moment.
	KeyRefused bool
}

// LimitInfo is the limiter's state for one host.
type LimitInfo struct {
	// Host is the routing value, such as "kr" or "asia".
	Host string
	// Throttled: requests leave one by one; else at once.
	Throttled bool
	// Queued is how many requests wait.
	Queued int
}

const (
	unreadMax  = 5   // lines about what could not be read
	unreadRead = 100 // reasons read to find them
)

// status tells when the channel was and will be served, and what is wrong.
func (c *Commands) status(ctx context.Context, q *request) (*answer, error) {
	a := say(q.t("status.title"))
	if !q.known {
		a.add(q.t("empty.channel"))
	} else if err := c.channelStatus(ctx, q, a); err != nil {
		return nil, err
	}
	if c.o.Status == nil {
		return a, nil
	}
	info := c.o.Status(ctx, q.server, q.channel)
	if info.KeyRefused {
		a.add(q.t("status.key_refused"))
	}
	slices.SortFunc(info.Limits, func(x, y LimitInfo) int { return strings.Compare(x.Host, y.Host) })
	var limits []string
	for _, l := range info.Limits {
		mode := q.t("status.normal")
		if l.Throttled {
			mode = q.n("status.throttled", l.Queued)
		}
		limits = append(limits, escape(l.Host)+" "+mode)
	}
	if len(limits) > 0 {
		a.add(q.t("status.limits", "Limits", strings.Join(limits, ", ")))
	}
	champions := escape(info.Champions)
	if champions == "" {
		champions = "–"
	}
	a.add(q.t("status.version", "Version", escape(info.Version), "Champions", champions))
	return a, nil
}

func (c *Commands) channelStatus(ctx context.Context, q *request, a *answer) error {
	follows, err := c.o.Store.Registrations(ctx, q.channel)
	if err != nil {
		return err
	}
	reports, err := c.o.Store.LastReports(ctx, q.channel, 10)
	if err != nil {
		return err
	}
	reasons, err := c.o.Store.Reasons(ctx, q.channel, 0, unreadRead)
	if err != nil {
		return err
	}
	a.add(q.n("status.players", len(follows)))
	last := slices.IndexFunc(reports, func(r store.Report) bool {
		return r.State == store.ReportSent || r.State == store.ReportSkipped
	})
	if last < 0 {
		a.add(q.t("status.no_report"))
	} else {
		a.add(q.t("status.last", "What", c.reportLine(q, reports[last])))
	}
	a.add(c.chimes(q, q.row)...)
	if !q.row.PausedAt.IsZero() {
		a.add(c.pauseText(q, q.row)...)
	}
	names := namesOf(follows)
	var unread []string
	for _, r := range reasons {
		if _, ok := names[r.Player]; !ok || !unreadable(r.Code) || len(unread) == unreadMax {
			continue
		}
		if c.now().Sub(r.At) > 24*time.Hour {
			break // newest first
		}
		line := c.reasonLine(q, r, names)
		if !slices.Contains(unread, line) {
			unread = append(unread, line)
		}
	}
	if len(unread) > 0 {
		a.add(q.t("status.unread"))
		a.add(unread...)
	}
	return nil
}

// unreadable tells codes about players and games that could not be read.
func unreadable(code string) bool {
	switch code {
	case "riot", "key", "time", "name", "store":
		return true
	}
	return strings.HasPrefix(code, "match_")
}

func namesOf(follows []store.Follow) map[store.PlayerID]string {
	names := make(map[store.PlayerID]string, len(follows))
	for _, f := range follows {
		names[f.Player.ID] = f.Player.Name()
	}
	return names
}
