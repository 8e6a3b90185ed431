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
    index_policy TEXT NOT NULL DEFAULT 'shared' CHECK (index_policy IN ('shared', 'team', 'off')),
    page_owner INTEGER CHECK (page_owner > 0),                    -- NULL: it never had private pages
    -- The permission of its crawls to name the user agent whose rules in robots.txt apply.
    robots_agent TEXT NOT NULL DEFAULT 'denied' CHECK (robots_agent IN ('denied', 'allowed')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX teams_by_page_owner ON teams (page_owner) WHERE page_owner IS NOT NULL;

-- The last owner number that was assigned. A number is never reused, so that a new team with an old name does not see
-- the pages of the old team.
CREATE TABLE page_owners (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last INTEGER NOT NULL CHECK (last >= 0)
) STRICT;

INSERT INTO page_owners (id, last) VALUES (1, 0);

-- Keys with their rights. NULL sets no restriction.
CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY, -- first 12 hex digits of the hash
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    team TEXT NOT NULL REFERENCES teams (name),
    label TEXT NOT NULL,
    admin INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
    scopes TEXT,   -- names, separated by commas; NULL: all but administration
    formats TEXT,  -- names, separated by commas
    networks TEXT, -- CIDR blocks, separated by commas
    expires_at INTEGER,
    requests_per_minute INTEGER CHECK (requests_per_minute >= 0),
    concurrency INTEGER CHECK (concurrency >= 0),
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_team ON keys (team);

-- Threat protection values of teams: lists, threshold and behavior on scanner failures, as JSON with the field names of
-- `threatProtection` in requests. A team without a row has the defaults.
CREATE TABLE threat_values (
    team TEXT NOT NULL PRIMARY KEY REFERENCES teams (name),
    value TEXT NOT NULL CHECK (json_valid(value))
) STRICT, WITHOUT ROWID;

-- Counts the changes of keys, teams and threat protection values, so that other processes know when to drop their
-- caches. Changes of `last_used_at` do not count on purpose, because they change no rights.
CREATE TABLE access_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;

INSERT INTO access_version (id, version) VALUES (1, 1);

CREATE TRIGGER keys_inserted AFTER INSERT ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER keys_updated AFTER UPDATE OF
    id, hash, team, label, revoked_at, admin, scopes, formats, networks, expires_at, requests_per_minute, concurrency
ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER keys_deleted AFTER DELETE ON keys
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_inserted AFTER INSERT ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_updated AFTER UPDATE ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER teams_deleted AFTER DELETE ON teams
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_inserted AFTER INSERT ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_updated AFTER UPDATE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

CREATE TRIGGER threat_values_deleted AFTER DELETE ON threat_values
BEGIN UPDATE access_version SET version = version + 1; END;

-- Secrets that the installation creates for itself, once.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL CHECK (length(bytes) = 32)
) STRICT, WITHOUT ROWID;
