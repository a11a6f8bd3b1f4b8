-- Times are UTC in milliseconds since the Unix epoch, 0 meaning "none";
-- durations are milliseconds unless the name says otherwise; states are the
-- numbers of the Go constants in package store.

-- +goose Up

CREATE TABLE servers (
    id        INTEGER PRIMARY KEY,
    name      TEXT NOT NULL,
    key       TEXT NOT NULL,
    locale    TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    gone_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE channels (
    id           INTEGER PRIMARY KEY,
    server_id    INTEGER NOT NULL REFERENCES servers (id) ON DELETE CASCADE,
    zone         TEXT NOT NULL,
    language     TEXT NOT NULL,
    hours        INTEGER NOT NULL,
    quiet        INTEGER NOT NULL,
    next_slot    INTEGER NOT NULL,
    last_slot    INTEGER NOT NULL,
    paused_at    INTEGER NOT NULL,
    paused_why   TEXT NOT NULL,
    refusals     INTEGER NOT NULL,
    refused_slot INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX channels_server ON channels (server_id);
CREATE INDEX channels_next ON channels (next_slot);

CREATE TABLE players (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    platform       TEXT NOT NULL,
    game_name      TEXT NOT NULL,
    tag_line       TEXT NOT NULL,
    -- The Riot ID with letter case taken out by the program: lower() of SQLite
    -- knows ASCII only. Not unique: a Riot ID that was given up may be taken
    -- by another player before the first one's new name is known.
    folded         TEXT NOT NULL,
    refreshed_at   INTEGER NOT NULL,
    refreshed_slot INTEGER NOT NULL,
    ranks_at       INTEGER NOT NULL,
    ranks_wanted   INTEGER NOT NULL,
    unfollowed_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX players_folded ON players (folded);

-- A PUUID holds under one key only, and there for one player.
CREATE TABLE puuids (
    player_id INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    key       TEXT NOT NULL,
    puuid     TEXT NOT NULL,
    PRIMARY KEY (key, puuid),
    UNIQUE (player_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE former_names (
    player_id INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (player_id, name)
) STRICT, WITHOUT ROWID;

-- The id keeps the order of registration.
CREATE TABLE registrations (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    player_id  INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    since      INTEGER NOT NULL,
    shown_name TEXT NOT NULL,
    UNIQUE (channel_id, player_id)
) STRICT;

CREATE INDEX registrations_player ON registrations (player_id, since);

-- Games listed when a player was registered, never to be reported there.
CREATE TABLE baselines (
    channel_id INTEGER NOT NULL,
    player_id  INTEGER NOT NULL,
    match_id   TEXT NOT NULL,
    PRIMARY KEY (channel_id, player_id, match_id),
    FOREIGN KEY (channel_id, player_id) REFERENCES registrations (channel_id, player_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE matches (
    id          TEXT PRIMARY KEY,
    state       INTEGER NOT NULL,
    -- How often it was absent, and when its state was last set.
    tries       INTEGER NOT NULL,
    state_at    INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    platform    TEXT NOT NULL,
    queue       INTEGER NOT NULL,
    mode        TEXT NOT NULL,
    map         INTEGER NOT NULL,
    started     INTEGER NOT NULL,
    ended       INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    -- The key under which the PUUIDs in the body hold.
    key         TEXT NOT NULL,
    -- The participants as a JSON array, '' while not read.
    body        TEXT NOT NULL
) STRICT;

CREATE INDEX matches_ended ON matches (ended);
CREATE INDEX matches_seen ON matches (seen_at);

CREATE TABLE participations (
    player_id INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    match_id  TEXT NOT NULL REFERENCES matches (id) ON DELETE CASCADE,
    ended     INTEGER NOT NULL,
    outcome   INTEGER NOT NULL,
    -- The participant as JSON, without the PUUID.
    body      TEXT NOT NULL,
    PRIMARY KEY (player_id, match_id)
) STRICT;

CREATE INDEX participations_ended ON participations (player_id, ended, outcome);
CREATE INDEX participations_match ON participations (match_id);

-- The newest snapshot is the one with the highest id: a clock may go back.
CREATE TABLE rank_snapshots (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    player_id INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    queue     TEXT NOT NULL,
    tier      TEXT NOT NULL,
    division  TEXT NOT NULL,
    lp        INTEGER NOT NULL,
    wins      INTEGER NOT NULL,
    losses    INTEGER NOT NULL,
    at        INTEGER NOT NULL
) STRICT;

CREATE INDEX rank_snapshots_newest ON rank_snapshots (player_id, queue, id);

CREATE TABLE shown_ranks (
    channel_id  INTEGER NOT NULL,
    player_id   INTEGER NOT NULL,
    queue       TEXT NOT NULL,
    snapshot_id INTEGER NOT NULL REFERENCES rank_snapshots (id) ON DELETE CASCADE,
    PRIMARY KEY (channel_id, player_id, queue),
    FOREIGN KEY (channel_id, player_id) REFERENCES registrations (channel_id, player_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX shown_ranks_snapshot ON shown_ranks (snapshot_id);

CREATE TABLE reports (
    channel_id  INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    slot        INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    partial     INTEGER NOT NULL,
    lateness_ms INTEGER NOT NULL,
    -- When it was sent or skipped.
    over_at     INTEGER NOT NULL,
    PRIMARY KEY (channel_id, slot)
) STRICT, WITHOUT ROWID;

CREATE INDEX reports_slot ON reports (slot);
-- States below 4 are those of reports that are not over.
CREATE INDEX reports_unfinished ON reports (slot, channel_id) WHERE state < 4;

CREATE TABLE parts (
    channel_id INTEGER NOT NULL,
    slot       INTEGER NOT NULL,
    part       INTEGER NOT NULL,
    body       BLOB NOT NULL,
    nonce      TEXT NOT NULL,
    state      INTEGER NOT NULL,
    first_try  INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    PRIMARY KEY (channel_id, slot, part),
    FOREIGN KEY (channel_id, slot) REFERENCES reports (channel_id, slot) ON DELETE CASCADE
) STRICT;

CREATE INDEX parts_slot ON parts (slot, part, channel_id);

-- A game is in one report of a channel: taken for a slot from ready on, given
-- back where that report ends unsent.
CREATE TABLE reported_games (
    channel_id INTEGER NOT NULL,
    match_id   TEXT NOT NULL,
    slot       INTEGER NOT NULL,
    PRIMARY KEY (channel_id, match_id),
    FOREIGN KEY (channel_id, slot) REFERENCES reports (channel_id, slot) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX reported_games_slot ON reported_games (channel_id, slot);
CREATE INDEX reported_games_match ON reported_games (match_id);

-- What being sent will make the ranks and names last shown.
CREATE TABLE report_ranks (
    channel_id  INTEGER NOT NULL,
    slot        INTEGER NOT NULL,
    player_id   INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    queue       TEXT NOT NULL,
    snapshot_id INTEGER NOT NULL REFERENCES rank_snapshots (id) ON DELETE CASCADE,
    PRIMARY KEY (channel_id, slot, player_id, queue),
    FOREIGN KEY (channel_id, slot) REFERENCES reports (channel_id, slot) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX report_ranks_player ON report_ranks (player_id);
CREATE INDEX report_ranks_snapshot ON report_ranks (snapshot_id);

CREATE TABLE report_names (
    channel_id INTEGER NOT NULL,
    slot       INTEGER NOT NULL,
    player_id  INTEGER NOT NULL REFERENCES players (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    PRIMARY KEY (channel_id, slot, player_id),
    FOREIGN KEY (channel_id, slot) REFERENCES reports (channel_id, slot) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX report_names_player ON report_names (player_id);

-- Player 0, match '' and slot 0 mean "not about one", so nothing is referred to.
CREATE TABLE reasons (
    channel_id INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    slot       INTEGER NOT NULL,
    player_id  INTEGER NOT NULL,
    match_id   TEXT NOT NULL,
    code       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    PRIMARY KEY (channel_id, at, slot, player_id, match_id, code)
) STRICT, WITHOUT ROWID;

CREATE INDEX reasons_at ON reasons (at);
CREATE INDEX reasons_player ON reasons (player_id);

CREATE TABLE latencies (
    command TEXT NOT NULL,
    at      INTEGER NOT NULL,
    took_us INTEGER NOT NULL,
    PRIMARY KEY (at, command, took_us)
) STRICT, WITHOUT ROWID;

CREATE TABLE interactions (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX interactions_at ON interactions (at);

CREATE TABLE failures (
    day      INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    cause    TEXT NOT NULL,
    failed   INTEGER NOT NULL,
    PRIMARY KEY (day, endpoint, cause)
) STRICT, WITHOUT ROWID;

CREATE TABLE champion_lists (
    language TEXT PRIMARY KEY,
    version  TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE champions (
    language TEXT NOT NULL REFERENCES champion_lists (language) ON DELETE CASCADE,
    id       INTEGER NOT NULL,
    key      TEXT NOT NULL,
    name     TEXT NOT NULL,
    PRIMARY KEY (language, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE notes (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
