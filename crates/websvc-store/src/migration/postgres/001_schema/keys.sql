CREATE TABLE teams (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    zdr TEXT NOT NULL DEFAULT 'off' CHECK (zdr IN ('off', 'allowed', 'forced')),
    anon TEXT NOT NULL DEFAULT 'off' CHECK (anon IN ('off', 'allowed', 'forced')),
    threat_protection TEXT NOT NULL DEFAULT 'off' CHECK (threat_protection IN ('off', 'on', 'enforced')),
    threat_override TEXT NOT NULL DEFAULT 'allowed' CHECK (threat_override IN ('allowed', 'denied')),
    credits BIGINT CHECK (credits >= 0),                          -- NULL: unlimited
    requests_per_minute BIGINT CHECK (requests_per_minute >= 0),  -- NULL: the default of the configuration
    concurrency BIGINT CHECK (concurrency >= 0),                  -- NULL: the default of the configuration
    audit BIGINT NOT NULL DEFAULT 0 CHECK (audit IN (0, 1)),
    index_policy TEXT NOT NULL DEFAULT 'shared' CHECK (index_policy IN ('shared', 'team', 'off')),
    page_owner BIGINT CHECK (page_owner > 0),                     -- NULL: it never had private pages
    -- The permission of its crawls to name the user agent whose rules in robots.txt apply.
    robots_agent TEXT NOT NULL DEFAULT 'denied' CHECK (robots_agent IN ('denied', 'allowed')),
    created_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX teams_by_page_owner ON teams (page_owner) WHERE page_owner IS NOT NULL;

-- The last owner number that was assigned. A number is never reused, so that a new team with an old name does not see
-- the pages of the old team.
CREATE TABLE page_owners (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    last BIGINT NOT NULL CHECK (last >= 0)
);

INSERT INTO page_owners (id, last) VALUES (1, 0);

-- Keys with their rights. NULL sets no restriction.
CREATE TABLE keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- first 12 hex digits of the hash
    hash BYTEA NOT NULL CHECK (length(hash) = 32),
    team TEXT COLLATE "C" NOT NULL REFERENCES teams (name),
    label TEXT NOT NULL,
    admin BIGINT NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
    scopes TEXT,   -- names, separated by commas; NULL: all but administration
    formats TEXT,  -- names, separated by commas
    networks TEXT, -- CIDR blocks, separated by commas
    expires_at BIGINT,
    requests_per_minute BIGINT CHECK (requests_per_minute >= 0),
    concurrency BIGINT CHECK (concurrency >= 0),
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);

CREATE INDEX keys_by_team ON keys (team);

-- Threat protection values of teams: lists, threshold and behavior on scanner failures, as JSON with the field names of
-- `threatProtection` in requests. A team without a row has the defaults.
CREATE TABLE threat_values (
    team TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES teams (name),
    value TEXT NOT NULL CHECK (value::json IS NOT NULL)
);

-- Counts the changes of keys, teams and threat protection values, so that other processes know when to drop their
-- caches. Changes of `last_used_at` do not count on purpose, because they change no rights.
CREATE TABLE access_version (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);

INSERT INTO access_version (id, version) VALUES (1, 1);

CREATE FUNCTION count_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE access_version SET version = version + 1;
    RETURN NULL;
END $$;

CREATE TRIGGER keys_changed AFTER INSERT OR DELETE ON keys
FOR EACH ROW EXECUTE FUNCTION count_access_change();
CREATE TRIGGER keys_updated AFTER UPDATE OF
    id, hash, team, label, revoked_at, admin, scopes, formats, networks, expires_at, requests_per_minute, concurrency
ON keys FOR EACH ROW EXECUTE FUNCTION count_access_change();
CREATE TRIGGER teams_changed AFTER INSERT OR UPDATE OR DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION count_access_change();
CREATE TRIGGER threat_values_changed AFTER INSERT OR UPDATE OR DELETE ON threat_values
FOR EACH ROW EXECUTE FUNCTION count_access_change();

-- Secrets that the installation creates for itself, once.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL CHECK (length(bytes) = 32)
);
