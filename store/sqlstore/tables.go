package sqlstore

import "strings"

// kind is how a column's value travels in an export.
type kind uint8

const (
	kindInt   kind = iota // a JSON number, an int64
	kindBool              // true or false; SQLite stores 1 or 0
	kindText              // a JSON string
	kindBytes             // a JSON string in base64
)

type column struct {
	name string
	kind kind
}

// table is a table as exports carry it.
type table struct {
	name string
	// key is the primary key, by which rows are ordered.
	key []string
	// counted: the database gives out the ids.
	counted bool
	columns []column
}

// tables are all tables of the schema but goose's own. A table comes after
// those it refers to, so that rows can be put back in this order. A migration
// that changes them changes this list, and store.ExportVersion with it.
var tables = []table{
	{name: "servers", key: []string{"id"}, columns: []column{
		{"id", kindInt},
		{"name", kindText},
		{"key", kindText},
		{"locale", kindText},
		{"joined_at", kindInt},
		{"gone_at", kindInt},
	}},
	{name: "channels", key: []string{"id"}, columns: []column{
		{"id", kindInt},
		{"server_id", kindInt},
		{"zone", kindText},
		{"language", kindText},
		{"hours", kindInt},
		{"quiet", kindBool},
		{"next_slot", kindInt},
		{"last_slot", kindInt},
		{"paused_at", kindInt},
		{"paused_why", kindText},
		{"refusals", kindInt},
		{"refused_slot", kindInt},
		{"created_at", kindInt},
	}},
	{name: "players", key: []string{"id"}, counted: true, columns: []column{
		{"id", kindInt},
		{"platform", kindText},
		{"game_name", kindText},
		{"tag_line", kindText},
		{"folded", kindText},
		{"refreshed_at", kindInt},
		{"refreshed_slot", kindInt},
		{"ranks_at", kindInt},
		{"ranks_wanted", kindBool},
		{"unfollowed_at", kindInt},
	}},
	{name: "puuids", key: []string{"key", "puuid"}, columns: []column{
		{"player_id", kindInt},
		{"key", kindText},
		{"puuid", kindText},
	}},
	{name: "former_names", key: []string{"player_id", "name"}, columns: []column{
		{"player_id", kindInt},
		{"name", kindText},
		{"at", kindInt},
	}},
	{name: "registrations", key: []string{"id"}, counted: true, columns: []column{
		{"id", kindInt},
		{"channel_id", kindInt},
		{"player_id", kindInt},
		{"since", kindInt},
		{"shown_name", kindText},
	}},
	{name: "baselines", key: []string{"channel_id", "player_id", "match_id"}, columns: []column{
		{"channel_id", kindInt},
		{"player_id", kindInt},
		{"match_id", kindText},
	}},
	{name: "matches", key: []string{"id"}, columns: []column{
		{"id", kindText},
		{"state", kindInt},
		{"tries", kindInt},
		{"state_at", kindInt},
		{"seen_at", kindInt},
		{"platform", kindText},
		{"queue", kindInt},
		{"mode", kindText},
		{"map", kindInt},
		{"started", kindInt},
		{"ended", kindInt},
		{"duration_ms", kindInt},
		{"key", kindText},
		{"body", kindText},
	}},
	{name: "participations", key: []string{"player_id", "match_id"}, columns: []column{
		{"player_id", kindInt},
		{"match_id", kindText},
		{"ended", kindInt},
		{"outcome", kindInt},
		{"body", kindText},
	}},
	{name: "rank_snapshots", key: []string{"id"}, counted: true, columns: []column{
		{"id", kindInt},
		{"player_id", kindInt},
		{"queue", kindText},
		{"tier", kindText},
		{"division", kindText},
		{"lp", kindInt},
		{"wins", kindInt},
		{"losses", kindInt},
		{"at", kindInt},
	}},
	{name: "shown_ranks", key: []string{"channel_id", "player_id", "queue"}, columns: []column{
		{"channel_id", kindInt},
		{"player_id", kindInt},
		{"queue", kindText},
		{"snapshot_id", kindInt},
	}},
	{name: "reports", key: []string{"channel_id", "slot"}, columns: []column{
		{"channel_id", kindInt},
		{"slot", kindInt},
		{"state", kindInt},
		{"reason", kindText},
		{"partial", kindBool},
		{"lateness_ms", kindInt},
		{"over_at", kindInt},
	}},
	{name: "parts", key: []string{"channel_id", "slot", "part"}, columns: []column{
		{"channel_id", kindInt},
		{"slot", kindInt},
		{"part", kindInt},
		{"body", kindBytes},
		{"nonce", kindText},
		{"state", kindInt},
		{"first_try", kindInt},
		{"message_id", kindInt},
	}},
	{name: "reported_games", key: []string{"channel_id", "match_id"}, columns: []column{
		{"channel_id", kindInt},
		{"match_id", kindText},
		{"slot", kindInt},
	}},
	{name: "report_ranks", key: []string{"channel_id", "slot", "player_id", "queue"}, columns: []column{
		{"channel_id", kindInt},
		{"slot", kindInt},
		{"player_id", kindInt},
		{"queue", kindText},
		{"snapshot_id", kindInt},
	}},
	{name: "report_names", key: []string{"channel_id", "slot", "player_id"}, columns: []column{
		{"channel_id", kindInt},
		{"slot", kindInt},
		{"player_id", kindInt},
		{"name", kindText},
	}},
	{name: "reasons", key: []string{"channel_id", "at", "slot", "player_id", "match_id", "code"}, columns: []column{
		{"channel_id", kindInt},
		{"at", kindInt},
		{"slot", kindInt},
		{"player_id", kindInt},
		{"match_id", kindText},
		{"code", kindText},
		{"detail", kindText},
	}},
	{name: "latencies", key: []string{"at", "command", "took_us"}, columns: []column{
		{"command", kindText},
		{"at", kindInt},
		{"took_us", kindInt},
	}},
	{name: "interactions", key: []string{"id"}, columns: []column{
		{"id", kindInt},
		{"at", kindInt},
	}},
	{name: "failures", key: []string{"day", "endpoint", "cause"}, columns: []column{
		{"day", kindInt},
		{"endpoint", kindText},
		{"cause", kindText},
		{"failed", kindInt},
	}},
	{name: "champion_lists", key: []string{"language"}, columns: []column{
		{"language", kindText},
		{"version", kindText},
		{"at", kindInt},
	}},
	{name: "champions", key: []string{"language", "id"}, columns: []column{
		{"language", kindText},
		{"id", kindInt},
		{"key", kindText},
		{"name", kindText},
	}},
	{name: "notes", key: []string{"name"}, columns: []column{
		{"name", kindText},
		{"value", kindText},
	}},
}

// list is the names of the columns, separated by commas.
func (t table) list() string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// order is the key for an ORDER BY; text is ordered by its bytes, with collate.
func (t table) order(collate string) string {
	parts := make([]string, len(t.key))
	for i, name := range t.key {
		parts[i] = name
		for _, c := range t.columns {
			if c.name == name && c.kind == kindText {
				parts[i] += collate
			}
		}
	}
	return strings.Join(parts, ", ")
}
