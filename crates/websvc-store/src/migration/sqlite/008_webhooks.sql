-- Destinations of the events of jobs. Jobs without a webhook have no row.
CREATE TABLE webhooks (
    job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (json_valid(headers)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    events TEXT NOT NULL,                     -- names, separated by commas
    waiting INTEGER NOT NULL DEFAULT 0        -- pending rows of webhook_events; maintained by the triggers below
) STRICT;

CREATE INDEX webhooks_open ON webhooks (job) WHERE waiting > 0;

-- Undelivered events in their order. Delivered events are deleted.
CREATE TABLE webhook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                  -- identifier on the wire, the same for every attempt
    job INTEGER NOT NULL REFERENCES webhooks (job) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN ('started', 'page', 'completed', 'failed')),
    position INTEGER,                         -- of the document, in job_documents
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    round INTEGER NOT NULL DEFAULT 0,         -- attempts since the event, or since its last retry
    tried_at INTEGER,
    status INTEGER,                           -- HTTP status of the last response; NULL: none
    error TEXT,
    forget_at INTEGER,                        -- time of the deletion of a dead letter; NULL: pending
    CHECK ((event = 'page') = (position IS NOT NULL))
) STRICT;

CREATE INDEX webhook_events_by_job ON webhook_events (job, number);
CREATE INDEX webhook_events_waiting ON webhook_events (job, due_at, number) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_untried ON webhook_events (job, number) WHERE forget_at IS NULL AND attempts = 0;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (forget_at) WHERE forget_at IS NOT NULL;

CREATE TRIGGER webhook_events_added AFTER INSERT ON webhook_events WHEN NEW.forget_at IS NULL
BEGIN UPDATE webhooks SET waiting = waiting + 1 WHERE job = NEW.job; END;

CREATE TRIGGER webhook_events_changed AFTER UPDATE OF forget_at ON webhook_events
WHEN (OLD.forget_at IS NULL) <> (NEW.forget_at IS NULL)
BEGIN UPDATE webhooks SET waiting = waiting + iif(NEW.forget_at IS NULL, 1, -1) WHERE job = NEW.job; END;

CREATE TRIGGER webhook_events_removed AFTER DELETE ON webhook_events WHEN OLD.forget_at IS NULL
BEGIN UPDATE webhooks SET waiting = waiting - 1 WHERE job = OLD.job; END;

-- Signing secrets of teams.
CREATE TABLE webhook_secrets (
    team TEXT PRIMARY KEY,
    secret BLOB NOT NULL CHECK (length(secret) = 32),
    created_at INTEGER NOT NULL
) STRICT;

-- Number of queued and leased URLs of a job, so that readers need not count the rows.
ALTER TABLE jobs ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET open =
    (SELECT count(*) FROM job_urls WHERE job = jobs.number AND job_urls.state IN ('waiting', 'leased'));

DROP TRIGGER teams_deleted_with_jobs;

-- A later team with the same name sees no old jobs. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_jobs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
END;
