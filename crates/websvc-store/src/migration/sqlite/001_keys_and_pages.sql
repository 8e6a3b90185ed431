CREATE TABLE teams (
    name TEXT NOT NULL PRIMARY KEY,
    zdr TEXT NOT NULL DEFAULT 'off' CHECK (zdr IN ('off', 'allowed', 'forced')),
    anon TEXT NOT NULL DEFAULT 'off' CHECK (anon IN ('off', 'allowed', 'forced')),
    threat_protection TEXT NOT NULL DEFAULT 'off' CHECK (threat_protection IN ('off', 'on', 'enforced')),
    threat_override TEXT NOT NULL DEFAULT 'allowed' CHECK (threat_override IN ('allowed', 'denied')),
    credits INTEGER CHECK (credits >= 0),                         -- NULL: unlimited
    requests_per_minute INTEGER CHECK (requests_per_minute >= 0), -- NULL: the default of the configuration
    concurrency INTEGER CHECK (concurrency >= 0),                 -- NULL: the default of the configuration
    audit INTEGER NOT NULL DEFAULT 0 CHECK (audit IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY, -- first 12 hex digits of the hash
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    team TEXT NOT NULL REFERENCES teams (name),
    label TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_team ON keys (team);

-- Counts the changes of keys and teams, so that other processes know when to drop their caches.
-- Changes of `last_used_at` do not count on purpose, because they change no rights.
CREATE TABLE access_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO access_version (id, version) VALUES (1, 1);

CREATE TRIGGER keys_inserted AFTER INSERT ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER keys_updated AFTER UPDATE OF id, hash, team, label, revoked_at ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER keys_deleted AFTER DELETE ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_inserted AFTER INSERT ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_updated AFTER UPDATE ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_deleted AFTER DELETE ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    variant TEXT NOT NULL,
    host TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL, -- JSON: [[name, value], ...]
    fetched_at INTEGER NOT NULL,
    truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
    size INTEGER NOT NULL CHECK (size >= 0), -- bytes that count against the limit of the cache
    body_length INTEGER NOT NULL CHECK (body_length >= 0),
    body_encoding TEXT NOT NULL CHECK (body_encoding IN ('plain', 'zstd')),
    body BLOB NOT NULL,
    UNIQUE (url, variant)
) STRICT;

CREATE INDEX pages_by_age ON pages (fetched_at, size);
CREATE INDEX pages_by_host ON pages (host);

-- Maintained by triggers in the transaction of each change, so it is exact for every writer and after any crash.
CREATE TABLE page_totals (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    pages INTEGER NOT NULL CHECK (pages >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT;

INSERT INTO page_totals (id, pages, bytes) VALUES (1, 0, 0);

CREATE TRIGGER pages_inserted AFTER INSERT ON pages
BEGIN UPDATE page_totals SET pages = pages + 1, bytes = bytes + NEW.size; END;

CREATE TRIGGER pages_updated AFTER UPDATE OF size ON pages
BEGIN UPDATE page_totals SET bytes = bytes + NEW.size - OLD.size; END;

CREATE TRIGGER pages_deleted AFTER DELETE ON pages
BEGIN UPDATE page_totals SET pages = pages - 1, bytes = bytes - OLD.size; END;
