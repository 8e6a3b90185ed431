-- Monitors: checks of pages, sites and searches that a schedule repeats.
CREATE TABLE monitors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    revision INTEGER NOT NULL DEFAULT 1,      -- number of the last change by the team
    next_run_at INTEGER,                      -- NULL: none is planned
    last_run_at INTEGER,
    last_pages INTEGER,                       -- counts of the last check that ran; NULL: none has
    last_same INTEGER,
    last_changed INTEGER,
    last_added INTEGER,
    last_removed INTEGER,
    last_failed INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER                        -- hidden since then; the sweep deletes it in parts
) STRICT;

CREATE INDEX monitors_by_team ON monitors (team, number) WHERE deleted_at IS NULL;
CREATE INDEX monitors_paused ON monitors (number) WHERE status = 'paused' AND deleted_at IS NULL;
-- The cost of the scheduler depends on what is due, not on how many monitors exist.
CREATE INDEX monitors_due ON monitors (next_run_at, number) WHERE status = 'active' AND deleted_at IS NULL;
CREATE INDEX monitors_deleted ON monitors (number) WHERE deleted_at IS NOT NULL;

CREATE TABLE monitor_checks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    monitor INTEGER NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'completed', 'partial', 'failed', 'skipped_overlap', 'skipped_no_credits')),
    cause TEXT NOT NULL CHECK (cause IN ('scheduled', 'manual')),
    definition TEXT NOT NULL CHECK (json_valid(definition)), -- of the monitor, at the start
    scheduled_for INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    expires_at INTEGER,
    estimated_credits INTEGER NOT NULL,
    reserved_credits INTEGER NOT NULL,
    actual_credits INTEGER NOT NULL DEFAULT 0,
    billing TEXT NOT NULL CHECK (billing IN ('not_applicable', 'reserved', 'confirmed', 'released', 'failed')),
    pages INTEGER NOT NULL DEFAULT 0,         -- rows of monitor_pages, and below their statuses
    same INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    progress TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(progress)),
    notifications TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(notifications)),
    error TEXT,
    bytes INTEGER NOT NULL CHECK (bytes >= 0), -- of the definition and of the documents of the pages
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK ((finished_at IS NULL) = (expires_at IS NULL))
) STRICT;

CREATE INDEX monitor_checks_by_monitor ON monitor_checks (monitor, number);
-- A monitor has one unfinished check.
CREATE UNIQUE INDEX monitor_checks_open ON monitor_checks (monitor) WHERE finished_at IS NULL;
CREATE INDEX monitor_checks_by_replica ON monitor_checks (replica) WHERE replica IS NOT NULL;
CREATE INDEX monitor_checks_by_expiry ON monitor_checks (expires_at) WHERE expires_at IS NOT NULL;

-- The pages of a check in the order in which they were recorded, from 1.
CREATE TABLE monitor_pages (
    monitor_check INTEGER NOT NULL REFERENCES monitor_checks (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of target and URL
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('same', 'new', 'changed', 'removed', 'error')),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    document BLOB NOT NULL,                   -- JSON, compressed by zstd
    created_at INTEGER NOT NULL,
    PRIMARY KEY (monitor_check, position)
) STRICT;

CREATE UNIQUE INDEX monitor_pages_by_hash ON monitor_pages (monitor_check, hash);
CREATE INDEX monitor_pages_by_status ON monitor_pages (monitor_check, status, position);

-- The last good state of each page, with which the next check compares.
CREATE TABLE monitor_baselines (
    monitor INTEGER NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    target TEXT NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of target and URL
    url TEXT NOT NULL,
    is_removed INTEGER NOT NULL CHECK (is_removed IN (0, 1)),
    updated_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    document BLOB NOT NULL,                   -- JSON, compressed by zstd
    PRIMARY KEY (monitor, target, hash)
) STRICT;

-- Sizes of all baselines and all checks, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE monitor_storage (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    baseline_bytes INTEGER NOT NULL,          -- of the documents, compressed
    check_bytes INTEGER NOT NULL              -- of the definitions, and of the documents of the pages
) STRICT;

INSERT INTO monitor_storage (number, baseline_bytes, check_bytes) VALUES (1, 0, 0);

CREATE TRIGGER monitor_baselines_added AFTER INSERT ON monitor_baselines
BEGIN UPDATE monitor_storage SET baseline_bytes = baseline_bytes + length(NEW.document); END;

CREATE TRIGGER monitor_baselines_changed AFTER UPDATE OF document ON monitor_baselines
BEGIN
    UPDATE monitor_storage SET baseline_bytes = baseline_bytes + length(NEW.document) - length(OLD.document);
END;

CREATE TRIGGER monitor_baselines_deleted AFTER DELETE ON monitor_baselines
BEGIN UPDATE monitor_storage SET baseline_bytes = baseline_bytes - length(OLD.document); END;

CREATE TRIGGER monitor_checks_added AFTER INSERT ON monitor_checks
BEGIN UPDATE monitor_storage SET check_bytes = check_bytes + NEW.bytes; END;

CREATE TRIGGER monitor_checks_changed AFTER UPDATE OF bytes ON monitor_checks
BEGIN UPDATE monitor_storage SET check_bytes = check_bytes + NEW.bytes - OLD.bytes; END;

CREATE TRIGGER monitor_checks_deleted AFTER DELETE ON monitor_checks
BEGIN UPDATE monitor_storage SET check_bytes = check_bytes - OLD.bytes; END;

-- Webhooks of jobs and of checks: they have numbers of their own, and repeat what each event contains.
DROP TRIGGER teams_deleted_with_jobs;
DROP TRIGGER webhook_events_added;
DROP TRIGGER webhook_events_changed;
DROP TRIGGER webhook_events_removed;
DROP INDEX webhooks_open;
DROP INDEX webhooks_by_replica;
DROP INDEX webhook_events_by_job;
DROP INDEX webhook_events_waiting;
DROP INDEX webhook_events_untried;
DROP INDEX webhook_events_due;
DROP INDEX webhook_events_dead;
DROP INDEX webhook_events_since;
ALTER TABLE webhooks RENAME TO webhooks_of_jobs;
ALTER TABLE webhook_events RENAME TO webhook_events_of_jobs;

CREATE TABLE webhooks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER REFERENCES jobs (number) ON DELETE CASCADE,
    monitor_check INTEGER REFERENCES monitor_checks (number) ON DELETE CASCADE,
    team TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('batch', 'crawl', 'monitor')),
    source_id TEXT NOT NULL,                  -- identifier of the job or the check on the wire
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (json_valid(headers)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    events TEXT NOT NULL,                     -- names, separated by commas
    waiting INTEGER NOT NULL DEFAULT 0,       -- pending rows of webhook_events; maintained by the triggers below
    dropped_at INTEGER,                       -- events that were pending then are dropped
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that delivers the events; NULL: none
    CHECK ((source = 'monitor') = (monitor_check IS NOT NULL)),
    CHECK ((source = 'monitor') = (job IS NULL))
) STRICT;

CREATE UNIQUE INDEX webhooks_by_job ON webhooks (job) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_check ON webhooks (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE INDEX webhooks_open ON webhooks (number) WHERE waiting > 0;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

-- Undelivered events in their order. Delivered events are deleted.
CREATE TABLE webhook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                  -- identifier on the wire, the same for every attempt
    webhook INTEGER NOT NULL REFERENCES webhooks (number) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN
        ('started', 'page', 'completed', 'failed', 'monitor.page', 'monitor.check.completed')),
    position INTEGER,                         -- of the document of a job, in job_documents
    data BLOB,                                -- of an event of a check: JSON, compressed by zstd
    data_bytes INTEGER,                       -- before compression
    is_success INTEGER NOT NULL CHECK (is_success IN (0, 1)),
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    round INTEGER NOT NULL DEFAULT 0,         -- attempts since the event, or since its last retry
    tried_at INTEGER,
    status INTEGER,                           -- HTTP status of the last response; NULL: none
    error TEXT,
    forget_at INTEGER,                        -- time of the deletion of a dead letter; NULL: pending
    since INTEGER NOT NULL,                   -- time since which it is pending: its creation, or its last retry
    CHECK ((event = 'page') = (position IS NOT NULL)),
    CHECK ((event IN ('monitor.page', 'monitor.check.completed')) = (data IS NOT NULL)),
    CHECK ((data IS NULL) = (data_bytes IS NULL))
) STRICT;

INSERT INTO webhooks (job, team, source, source_id, url, host, headers, metadata, events, dropped_at)
SELECT jobs.number, jobs.team, jobs.kind, jobs.id, old.url, old.host, old.headers, old.metadata, old.events, old.dropped_at
FROM webhooks_of_jobs AS old JOIN jobs ON jobs.number = old.job ORDER BY jobs.number;

CREATE INDEX webhook_events_by_webhook ON webhook_events (webhook, number);
CREATE INDEX webhook_events_waiting ON webhook_events (webhook, due_at, number) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_untried ON webhook_events (webhook, number) WHERE forget_at IS NULL AND attempts = 0;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX webhook_events_since ON webhook_events (since) WHERE forget_at IS NULL;

CREATE TRIGGER webhook_events_added AFTER INSERT ON webhook_events WHEN NEW.forget_at IS NULL
BEGIN UPDATE webhooks SET waiting = waiting + 1 WHERE number = NEW.webhook; END;

CREATE TRIGGER webhook_events_changed AFTER UPDATE OF forget_at ON webhook_events
WHEN (OLD.forget_at IS NULL) <> (NEW.forget_at IS NULL)
BEGIN UPDATE webhooks SET waiting = waiting + iif(NEW.forget_at IS NULL, 1, -1) WHERE number = NEW.webhook; END;

CREATE TRIGGER webhook_events_removed AFTER DELETE ON webhook_events WHEN OLD.forget_at IS NULL
BEGIN UPDATE webhooks SET waiting = waiting - 1 WHERE number = OLD.webhook; END;

INSERT INTO webhook_events (number, id, webhook, event, position, is_success, created_at, due_at, attempts, round,
    tried_at, status, error, forget_at, since)
SELECT old.number, old.id, webhooks.number, old.event, old.position, old.event <> 'failed', old.created_at, old.due_at,
    old.attempts, old.round, old.tried_at, old.status, old.error, old.forget_at, old.since
FROM webhook_events_of_jobs AS old JOIN webhooks ON webhooks.job = old.job ORDER BY old.number;

DROP TABLE webhook_events_of_jobs;
DROP TABLE webhooks_of_jobs;

-- As in step 8.
CREATE TRIGGER teams_deleted_with_jobs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
END;

-- A later team with the same name sees no old monitors. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_monitors AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE source = 'monitor' AND team = OLD.name;
    UPDATE monitor_checks SET status = 'failed', finished_at = unixepoch() * 1000, expires_at = 0, replica = NULL
    WHERE finished_at IS NULL AND monitor IN (SELECT number FROM monitors WHERE team = OLD.name);
    UPDATE monitors SET team = '', key = NULL, deleted_at = ifnull(deleted_at, unixepoch() * 1000)
    WHERE team = OLD.name;
END;
