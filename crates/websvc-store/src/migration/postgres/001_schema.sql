-- The schema of a SQLite file after its step 15, in the types of PostgreSQL: BIGINT for integers and Boolean values (0 and
-- 1), BYTEA for bytes, and texts in the order of their bytes. docs/architecture.md explains the tables.

CREATE TABLE teams (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    zdr TEXT NOT NULL DEFAULT 'off' CHECK (zdr IN ('off', 'allowed', 'forced')),
    anon TEXT NOT NULL DEFAULT 'off' CHECK (anon IN ('off', 'allowed', 'forced')),
    threat_protection TEXT NOT NULL DEFAULT 'off' CHECK (threat_protection IN ('off', 'on', 'enforced')),
    threat_override TEXT NOT NULL DEFAULT 'allowed' CHECK (threat_override IN ('allowed', 'denied')),
    credits BIGINT CHECK (credits >= 0),                         -- NULL: unlimited
    requests_per_minute BIGINT CHECK (requests_per_minute >= 0), -- NULL: the default of the configuration
    concurrency BIGINT CHECK (concurrency >= 0),                 -- NULL: the default of the configuration
    audit BIGINT NOT NULL DEFAULT 0 CHECK (audit IN (0, 1)),
    created_at BIGINT NOT NULL,
    index_policy TEXT NOT NULL DEFAULT 'shared' CHECK (index_policy IN ('shared', 'team', 'off')),
    page_owner BIGINT CHECK (page_owner > 0)                     -- NULL: it never had private pages
);

CREATE UNIQUE INDEX teams_by_page_owner ON teams (page_owner) WHERE page_owner IS NOT NULL;

-- The last owner number that was assigned. A number is never reused.
CREATE TABLE page_owners (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    last BIGINT NOT NULL CHECK (last >= 0)
);

INSERT INTO page_owners (id, last) VALUES (1, 0);

CREATE TABLE keys (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- first 12 hex digits of the hash
    hash BYTEA NOT NULL CHECK (length(hash) = 32),
    team TEXT COLLATE "C" NOT NULL REFERENCES teams (name),
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT,
    admin BIGINT NOT NULL DEFAULT 0 CHECK (admin IN (0, 1)),
    scopes TEXT,   -- names, separated by commas; NULL: all but administration
    formats TEXT,  -- names, separated by commas
    networks TEXT, -- CIDR blocks, separated by commas
    expires_at BIGINT,
    requests_per_minute BIGINT CHECK (requests_per_minute >= 0),
    concurrency BIGINT CHECK (concurrency >= 0)
);

CREATE INDEX keys_by_team ON keys (team);

-- Threat protection values of teams, as JSON. A team without a row has the defaults.
CREATE TABLE threat_values (
    team TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES teams (name),
    value TEXT NOT NULL CHECK (value::json IS NOT NULL)
);

-- Counts the changes of keys, teams and threat protection values, so that processes know when to drop their caches.
-- Changes of `last_used_at` do not count on purpose, because they change no rights.
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

CREATE TABLE pages (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url TEXT NOT NULL,
    variant TEXT NOT NULL,
    host TEXT NOT NULL,
    final_url TEXT NOT NULL,
    status BIGINT NOT NULL,
    headers TEXT NOT NULL, -- JSON: [[name, value], ...]
    fetched_at BIGINT NOT NULL,
    truncated BIGINT NOT NULL CHECK (truncated IN (0, 1)),
    size BIGINT NOT NULL CHECK (size >= 0), -- bytes that count against the limit of the cache
    body_length BIGINT NOT NULL CHECK (body_length >= 0),
    body_encoding TEXT NOT NULL CHECK (body_encoding IN ('plain', 'zstd')),
    body BYTEA NOT NULL,
    owner BIGINT NOT NULL DEFAULT 0 CHECK (owner >= 0) -- of a private copy; 0 is a shared one
);

-- Bodies are compressed already.
ALTER TABLE pages ALTER COLUMN body SET STORAGE EXTERNAL;
-- URLs can be longer than the entries of a B-tree, so no index makes (url, variant) unique. Pages are written under a lock
-- that makes it unique.
CREATE INDEX pages_by_url ON pages USING hash (url);
CREATE INDEX pages_by_age ON pages (fetched_at, size);
CREATE INDEX pages_by_host ON pages USING hash (host);
CREATE INDEX pages_by_owner ON pages (owner) WHERE owner <> 0;

-- Maintained by triggers in the transaction of each change.
CREATE TABLE page_totals (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    pages BIGINT NOT NULL CHECK (pages >= 0),
    bytes BIGINT NOT NULL CHECK (bytes >= 0)
);

INSERT INTO page_totals (id, pages, bytes) VALUES (1, 0, 0);

CREATE FUNCTION add_inserted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE page_totals SET pages = page_totals.pages + changed.pages, bytes = page_totals.bytes + changed.bytes
    FROM (SELECT count(*) AS pages, coalesce(sum(size), 0) AS bytes FROM inserted) AS changed;
    RETURN NULL;
END $$;

CREATE FUNCTION subtract_deleted_pages() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE page_totals SET pages = page_totals.pages - changed.pages, bytes = page_totals.bytes - changed.bytes
    FROM (SELECT count(*) AS pages, coalesce(sum(size), 0) AS bytes FROM deleted) AS changed
    WHERE changed.pages > 0;
    RETURN NULL;
END $$;

CREATE FUNCTION add_changed_page_size() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE page_totals SET bytes = bytes + NEW.size - OLD.size;
    RETURN NULL;
END $$;

CREATE TRIGGER pages_inserted AFTER INSERT ON pages
REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION add_inserted_pages();
CREATE TRIGGER pages_deleted AFTER DELETE ON pages
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION subtract_deleted_pages();
CREATE TRIGGER pages_updated AFTER UPDATE OF size ON pages
FOR EACH ROW EXECUTE FUNCTION add_changed_page_size();

-- Secrets that the installation creates for itself, once.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    bytes BYTEA NOT NULL CHECK (length(bytes) = 32)
);

-- Files stored outside of the database: see the file of step 2 for SQLite.
CREATE TABLE artifacts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- 32 random hex digits
    team TEXT NOT NULL,
    kind TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    state TEXT NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving', 'ready', 'leaving')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX artifacts_by_age ON artifacts (state, created_at, bytes);
CREATE INDEX artifacts_by_expiry ON artifacts (expires_at);

-- Named browser states of teams: cookies and storage, compressed.
CREATE TABLE profiles (
    team TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    saved_at BIGINT,                                -- NULL: never saved yet
    length BIGINT NOT NULL DEFAULT 0 CHECK (length >= 0), -- of the state before compression
    state BYTEA,
    lease TEXT,                                     -- token of the request that may save it
    lease_until BIGINT,
    PRIMARY KEY (team, name),
    CHECK ((saved_at IS NULL) = (state IS NULL)),
    CHECK ((lease IS NULL) = (lease_until IS NULL))
);

ALTER TABLE profiles ALTER COLUMN state SET STORAGE EXTERNAL;

-- Budgets of teams: one row per grant. A team has at most one current grant.
-- At any time, granted = balance + voided + spent + the rests of the leases of the grant.
CREATE TABLE grants (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team TEXT NOT NULL,
    granted BIGINT NOT NULL CHECK (granted >= 0),
    balance BIGINT NOT NULL CHECK (balance >= 0),           -- not leased to any process
    spent BIGINT NOT NULL DEFAULT 0 CHECK (spent >= 0),
    voided BIGINT NOT NULL DEFAULT 0 CHECK (voided >= 0),   -- unspent when the next grant replaced it
    granted_at BIGINT NOT NULL,
    current BIGINT NOT NULL CHECK (current IN (0, 1))
);

CREATE UNIQUE INDEX grants_current ON grants (team) WHERE current = 1;

-- Processes that borrow credits. `journal` is the name of a file that the process keeps locked while it lives.
CREATE TABLE spenders (
    journal TEXT NOT NULL PRIMARY KEY,
    batch BIGINT NOT NULL DEFAULT 0,   -- number of the last batch of usage that was written
    applied BIGINT NOT NULL DEFAULT 0  -- number of the last charge of the journal that was written
);

-- Credits that are leased to a process, which spends them without access to the database.
CREATE TABLE leases (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal TEXT NOT NULL REFERENCES spenders (journal),
    grant_id BIGINT NOT NULL REFERENCES grants (id),
    rest BIGINT NOT NULL CHECK (rest >= 0)
);

CREATE INDEX leases_by_journal ON leases (journal);
CREATE INDEX leases_by_grant ON leases (grant_id);

-- Sums of usage by UTC day (counted from 1970-01-01), without content of requests.
CREATE TABLE usage_daily (
    day BIGINT NOT NULL,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,        -- empty: no key, or one that may not be stored
    operation TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL CHECK (requests >= 0),
    failed BIGINT NOT NULL CHECK (failed >= 0),
    credits BIGINT NOT NULL CHECK (credits >= 0),
    last_success_at BIGINT,
    PRIMARY KEY (team, day, key, operation)
);

-- The last requests.
CREATE TABLE usage_log (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    team TEXT,                            -- NULL: anonymous
    key TEXT,
    request TEXT,
    operation TEXT NOT NULL,
    status BIGINT NOT NULL,
    took_us BIGINT NOT NULL,
    credits BIGINT NOT NULL CHECK (credits >= 0),   -- charged credits
    forgiven BIGINT NOT NULL CHECK (forgiven >= 0), -- credits beyond the charge that the budget did not cover
    items TEXT NOT NULL,                  -- JSON: [[item, count, credits], ...]
    stages TEXT NOT NULL,                 -- JSON: [[stage, microseconds], ...]
    retention TEXT NOT NULL CHECK (retention IN ('whole', 'zero', 'anonymous')),
    query TEXT,
    CHECK (retention = 'whole' OR query IS NULL),
    CHECK (retention <> 'anonymous' OR (team IS NULL AND key IS NULL AND request IS NULL))
);

CREATE INDEX usage_log_by_team ON usage_log (team, id);
CREATE INDEX usage_log_by_age ON usage_log (at);

-- Jobs: work that continues after its request was answered, on the pages of a list or of a site.
CREATE TABLE jobs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('batch', 'crawl')),
    state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled', 'failed')),
    request TEXT NOT NULL CHECK (request::json IS NOT NULL),
    idempotency TEXT,
    page_limit BIGINT,                        -- documents after which it is complete; NULL: no limit
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    expires_at BIGINT NOT NULL,
    error TEXT,                               -- reason of the failure
    urls BIGINT NOT NULL DEFAULT 0,           -- rows of job_urls, without aliases and excluded URLs
    documents BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,          -- of the documents, before compression
    credits BIGINT NOT NULL DEFAULT 0,
    left_out BIGINT NOT NULL DEFAULT 0,       -- URLs skipped at the limit of URLs
    open BIGINT NOT NULL DEFAULT 0,           -- queued and leased URLs
    led_to TEXT,                              -- final URL of the start page of a crawl
    blocked BIGINT NOT NULL DEFAULT 0,        -- URLs that robots.txt disallows
    listed BIGINT NOT NULL DEFAULT 0,         -- URLs in the lists so far, including skipped ones
    CHECK ((state = 'running') = (finished_at IS NULL))
);

CREATE UNIQUE INDEX jobs_by_idempotency ON jobs (team, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX jobs_by_team ON jobs (team, kind, state);
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'running';
CREATE INDEX jobs_by_expiry ON jobs (expires_at);

-- The URLs of a job. `place` is the order in which they were found.
CREATE TABLE job_urls (
    job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    depth BIGINT NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'document', 'failed', 'blocked', 'dropped', 'alias')),
    lease_until BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,       -- number of leases, which identifies the current one
    ended_at BIGINT,
    code TEXT,
    error TEXT,
    retries BIGINT NOT NULL DEFAULT 0,
    given TEXT,                               -- batches: the URL as it was sent
    list_index BIGINT CHECK (list_index >= 0),
    copy_of BIGINT,                           -- of a repeated URL: the place of the original
    waits_for BIGINT,                         -- `copy_of`, until that row is completed
    PRIMARY KEY (job, place),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL))
);

-- Keys can be longer than the entries of a B-tree, so no index makes (job, key) unique. The lock of writes does.
CREATE INDEX job_urls_by_key ON job_urls USING hash (key);
CREATE INDEX job_urls_open ON job_urls (job, waits_for, place) WHERE state IN ('waiting', 'leased');
CREATE INDEX job_urls_amiss ON job_urls (job, place) WHERE state IN ('failed', 'blocked');

-- The documents of a job in the order of their completion, from 1, without gaps.
CREATE TABLE job_documents (
    job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    place BIGINT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    document BYTEA NOT NULL,                  -- JSON, compressed by zstd
    PRIMARY KEY (job, position)
);

ALTER TABLE job_documents ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX job_documents_by_place ON job_documents (job, place);

-- Size of the documents of all jobs, maintained by triggers.
CREATE TABLE job_storage (
    number BIGINT PRIMARY KEY CHECK (number = 1),
    bytes BIGINT NOT NULL                     -- of the documents, compressed
);

INSERT INTO job_storage (number, bytes) VALUES (1, 0);

CREATE FUNCTION add_job_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE job_storage SET bytes = bytes + length(NEW.document);
    RETURN NULL;
END $$;

CREATE FUNCTION subtract_job_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE job_storage SET bytes = bytes - (SELECT coalesce(sum(length(document)), 0) FROM deleted);
    RETURN NULL;
END $$;

CREATE TRIGGER job_documents_added AFTER INSERT ON job_documents
FOR EACH ROW EXECUTE FUNCTION add_job_document();
CREATE TRIGGER job_documents_removed AFTER DELETE ON job_documents
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION subtract_job_documents();

-- Destinations of the events of jobs. Jobs without a webhook have no row.
CREATE TABLE webhooks (
    job BIGINT PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (headers::json IS NOT NULL),
    metadata TEXT NOT NULL CHECK (metadata::json IS NOT NULL),
    events TEXT NOT NULL,                     -- names, separated by commas
    waiting BIGINT NOT NULL DEFAULT 0,        -- pending rows of webhook_events; maintained by the triggers below
    dropped_at BIGINT                         -- time of the cancellation of the job: its pending events are dropped
);

CREATE INDEX webhooks_open ON webhooks (job) WHERE waiting > 0;

-- Undelivered events in their order. Delivered events are deleted.
CREATE TABLE webhook_events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,      -- identifier on the wire, the same for every attempt
    job BIGINT NOT NULL REFERENCES webhooks (job) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN ('started', 'page', 'completed', 'failed')),
    position BIGINT,                          -- of the document, in job_documents
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    round BIGINT NOT NULL DEFAULT 0,          -- attempts since the event, or since its last retry
    tried_at BIGINT,
    status BIGINT,                            -- HTTP status of the last response; NULL: none
    error TEXT,
    forget_at BIGINT,                         -- time of the deletion of a dead letter; NULL: pending
    since BIGINT NOT NULL,                    -- time since which it is pending: its creation, or its last retry
    CHECK ((event = 'page') = (position IS NOT NULL))
);

CREATE INDEX webhook_events_by_job ON webhook_events (job, number);
CREATE INDEX webhook_events_waiting ON webhook_events (job, due_at, number) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_untried ON webhook_events (job, number) WHERE forget_at IS NULL AND attempts = 0;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX webhook_events_since ON webhook_events (since) WHERE forget_at IS NULL;

CREATE FUNCTION count_pending_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting - 1 WHERE job = OLD.job;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting + 1 WHERE job = NEW.job;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER webhook_events_changed AFTER INSERT OR UPDATE OF forget_at OR DELETE ON webhook_events
FOR EACH ROW EXECUTE FUNCTION count_pending_event();

-- Signing secrets of teams.
CREATE TABLE webhook_secrets (
    team TEXT NOT NULL PRIMARY KEY,
    secret BYTEA NOT NULL CHECK (length(secret) = 32),
    created_at BIGINT NOT NULL
);

-- A later team with the same name starts without budget and usage, and sees no old jobs. The sweep deletes these.
CREATE FUNCTION end_deleted_team() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = OLD.name AND current = 1;
    DELETE FROM usage_daily WHERE team = OLD.name;
    DELETE FROM usage_log WHERE team = OLD.name;
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = coalesce(finished_at, now_ms),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_deleted_team();
