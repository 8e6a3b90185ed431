-- Destinations of the events of jobs, checks and runs. Work without a webhook has no row.
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
    data_bytes INTEGER,                       -- of `data` before compression
    data BLOB,                                -- of an event of a check or a run: JSON, compressed by zstd
    CHECK ((event = 'page') = (position IS NOT NULL)),
    CHECK ((event IN ('started', 'page', 'completed', 'failed')) = (data IS NULL)),
    CHECK ((data IS NULL) = (data_bytes IS NULL))
) STRICT;

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

-- Signing secrets of teams.
CREATE TABLE webhook_secrets (
    team TEXT PRIMARY KEY,
    secret BLOB NOT NULL CHECK (length(secret) = 32),
    created_at INTEGER NOT NULL
) STRICT;
