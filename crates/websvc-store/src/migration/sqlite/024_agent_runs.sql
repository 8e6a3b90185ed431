-- Runs of agents and extractions. A run works in one process; when that is gone, another one takes over the runs that have
-- not started to work, and fails the others.
CREATE TABLE agent_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'extract')),
    api_version TEXT NOT NULL CHECK (api_version IN ('v1', 'v2')), -- that the client called
    thread TEXT NOT NULL,                  -- identifier of the runs that continue each other
    turn INTEGER NOT NULL,                      -- position in the thread, from 1
    status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'refused', 'credit_limit_reached')),
    max_credits INTEGER NOT NULL,
    credits INTEGER NOT NULL DEFAULT 0,         -- charged at the end
    error TEXT,
    result_bytes INTEGER,                       -- before compression
    events INTEGER NOT NULL DEFAULT 0,          -- rows of agent_events
    bytes INTEGER NOT NULL CHECK (bytes >= 0),  -- of the request, the result, the events and the snapshots
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    created_at INTEGER NOT NULL,                -- different for the runs of a team
    started_at INTEGER,
    cancel_requested_at INTEGER,
    finished_at INTEGER,
    expires_at INTEGER,
    -- Last, because readers of the other columns need not read them.
    request TEXT NOT NULL CHECK (json_valid(request)),
    result BLOB,                            -- JSON, compressed by zstd; NULL: none
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK ((finished_at IS NULL) = (expires_at IS NULL)),
    CHECK ((result IS NULL) = (result_bytes IS NULL))
) STRICT;

CREATE UNIQUE INDEX agent_runs_by_team ON agent_runs (team, created_at);
CREATE UNIQUE INDEX agent_runs_by_thread ON agent_runs (thread, turn);
CREATE INDEX agent_runs_open ON agent_runs (number) WHERE finished_at IS NULL;
CREATE INDEX agent_runs_by_replica ON agent_runs (replica) WHERE replica IS NOT NULL;
CREATE INDEX agent_runs_by_expiry ON agent_runs (expires_at) WHERE expires_at IS NOT NULL;

-- The events of a run in their order, from 1.
CREATE TABLE agent_events (
    run INTEGER NOT NULL REFERENCES agent_runs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content)),
    PRIMARY KEY (run, position)
) STRICT;

-- The contents of data that events refer to.
CREATE TABLE agent_snapshots (
    run INTEGER NOT NULL REFERENCES agent_runs (number) ON DELETE CASCADE,
    id TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    content BLOB NOT NULL,                  -- JSON, compressed by zstd
    PRIMARY KEY (run, id)
) STRICT;

-- Webhooks of runs: the two tables again, with more kinds of work and events.
DROP TRIGGER teams_deleted_with_jobs;
DROP TRIGGER teams_deleted_with_monitors;
DROP TRIGGER webhook_events_added;
DROP TRIGGER webhook_events_changed;
DROP TRIGGER webhook_events_removed;
DROP INDEX webhooks_by_job;
DROP INDEX webhooks_by_check;
DROP INDEX webhooks_open;
DROP INDEX webhooks_by_replica;
DROP INDEX webhook_events_by_webhook;
DROP INDEX webhook_events_waiting;
DROP INDEX webhook_events_untried;
DROP INDEX webhook_events_due;
DROP INDEX webhook_events_dead;
DROP INDEX webhook_events_since;
ALTER TABLE webhooks RENAME TO webhooks_before_runs;
ALTER TABLE webhook_events RENAME TO webhook_events_before_runs;

CREATE TABLE webhooks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    job INTEGER REFERENCES jobs (number) ON DELETE CASCADE,
    monitor_check INTEGER REFERENCES monitor_checks (number) ON DELETE CASCADE,
    agent_run INTEGER REFERENCES agent_runs (number) ON DELETE CASCADE,
    team TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('batch', 'crawl', 'monitor', 'agent', 'extract')),
    source_id TEXT NOT NULL,                  -- identifier of the job, the check or the run on the wire
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (json_valid(headers)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    events TEXT NOT NULL,                     -- names, separated by commas
    waiting INTEGER NOT NULL DEFAULT 0,       -- pending rows of webhook_events; maintained by the triggers below
    dropped_at INTEGER,                       -- events that were pending then are dropped
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that delivers the events; NULL: none
    CHECK ((source = 'monitor') = (monitor_check IS NOT NULL)),
    CHECK ((source IN ('batch', 'crawl')) = (job IS NOT NULL)),
    CHECK ((source IN ('agent', 'extract')) = (agent_run IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX webhooks_by_job ON webhooks (job) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_check ON webhooks (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_run ON webhooks (agent_run) WHERE agent_run IS NOT NULL;
CREATE INDEX webhooks_open ON webhooks (number) WHERE waiting > 0;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

-- Undelivered events in their order. Delivered events are deleted.
CREATE TABLE webhook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                  -- identifier on the wire, the same for every attempt
    webhook INTEGER NOT NULL REFERENCES webhooks (number) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN
        ('started', 'page', 'completed', 'failed', 'monitor.page', 'monitor.check.completed',
        'run.started', 'run.action', 'run.completed', 'run.failed', 'run.cancelled')),
    position INTEGER,                         -- of the document of a job, in job_documents
    data BLOB,                                -- of an event of a check or a run: JSON, compressed by zstd
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
    CHECK ((event IN ('started', 'page', 'completed', 'failed')) = (data IS NULL)),
    CHECK ((data IS NULL) = (data_bytes IS NULL))
) STRICT;

INSERT INTO webhooks (number, job, monitor_check, team, source, source_id, url, host, headers, metadata, events,
    dropped_at, replica)
SELECT number, job, monitor_check, team, source, source_id, url, host, headers, metadata, events, dropped_at, replica
FROM webhooks_before_runs ORDER BY number;

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

INSERT INTO webhook_events (number, id, webhook, event, position, data, data_bytes, is_success, created_at, due_at,
    attempts, round, tried_at, status, error, forget_at, since)
SELECT number, id, webhook, event, position, data, data_bytes, is_success, created_at, due_at,
    attempts, round, tried_at, status, error, forget_at, since
FROM webhook_events_before_runs ORDER BY number;

DROP TABLE webhook_events_before_runs;
DROP TABLE webhooks_before_runs;

-- As in step 18.
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

-- A later team with the same name sees no old runs. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_agent_runs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE source IN ('agent', 'extract') AND team = OLD.name;
    UPDATE agent_runs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        status = CASE WHEN finished_at IS NULL THEN 'failed' ELSE status END,
        team = '/' || number, key = NULL, replica = NULL, expires_at = 0
    WHERE team = OLD.name;
END;
