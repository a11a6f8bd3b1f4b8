package discord

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bwmarrin/discordgo"
)

// discordgo logs through one package variable. It is set before main starts,
// so that no running Session can race with it; what it logs to is exchanged by
// [New]. The secrets are those of every client of the process.
var (
	discordgoLog atomic.Pointer[slog.Logger]
	secrets      sync.Map // string -> struct{}
)

func init() { discordgo.Logger = logDiscordgo }

// logDiscordgo turns a line of discordgo into a record. What matters of it is
// logged by this package already, so errors become warnings and the rest debug.
func logDiscordgo(level, _ int, format string, args ...any) {
	log := discordgoLog.Load()
	if log == nil {
		return
	}
	to := slog.LevelDebug
	if level == discordgo.LogError {
		to = slog.LevelWarn
	}
	if !log.Enabled(context.Background(), to) {
		return
	}
	text := redact(fmt.Sprintf(format, args...))
	if len(text) > maxErrorMessage {
		text = text[:maxErrorMessage]
	}
	log.Log(context.Background(), to, "discordgo", "text", strings.ToValidUTF8(text, ""))
}

const hidden = "[hidden]"

// secretShapes are the shapes in which a secret may turn up in a text of
// somebody else: a URL of any kind, an interaction or webhook path, an
// authorization header, a JSON field, a bot token.
var secretShapes = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:https?|wss?)://[^\s"']+`),
	regexp.MustCompile(`(?i)/(?:interactions|webhooks)/[^\s"']+`),
	regexp.MustCompile(`(?i)\b(?:bot|bearer)\s+[\w.~+/=-]{8,}`),
	regexp.MustCompile(`(?i)"?(?:token|session_id|authorization)"?\s*[:=]\s*\\?"?[^\s",}]+`),
	regexp.MustCompile(`[\w-]{20,}\.[\w-]{6,}\.[\w-]{20,}`),
}

// keepSecret makes redact hide s wherever it stands.
func keepSecret(s string) {
	if s != "" {
		secrets.Store(s, struct{}{})
	}
}

// redact hides secrets in a text that somebody else wrote.
func redact(text string) string {
	secrets.Range(func(secret, _ any) bool {
		text = strings.ReplaceAll(text, secret.(string), hidden)
		return true
	})
	for _, shape := range secretShapes {
		text = shape.ReplaceAllString(text, hidden)
	}
	return text
}
