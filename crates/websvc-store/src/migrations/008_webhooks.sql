-- Where the events of a job go. Only jobs whose owner wants events have a row.
CREATE TABLE webhooks (
    job INTEGER PRIMARY KEY REFERENCES jobs (number) ON DELETE CASCADE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (json_valid(headers)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    events TEXT NOT NULL,                     -- names, parted by commas
    waiting INTEGER NOT NULL DEFAULT 0        -- rows of webhook_events that wait; kept by the triggers below
) STRICT;

CREATE INDEX webhooks_open ON webhooks (job) WHERE waiting > 0;

-- Events that were not delivered yet, in their order. One that is delivered is gone.
CREATE TABLE webhook_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                  -- what the receiver knows it by, on every try
    job INTEGER NOT NULL REFERENCES webhooks (job) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN ('started', 'page', 'completed', 'failed')),
    position INTEGER,                         -- of the document, in job_documents
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    round INTEGER NOT NULL DEFAULT 0,         -- attempts since it was begun, or begun anew
    tried_at INTEGER,
    status INTEGER,                           -- of the last answer; NULL: there was none
    error TEXT,
    forget_at INTEGER,                        -- a dead letter is kept until then; NULL: it waits
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

-- What the events of a team are signed with.
CREATE TABLE webhook_secrets (
    team TEXT PRIMARY KEY,
    secret BLOB NOT NULL CHECK (length(secret) = 32),
    created_at INTEGER NOT NULL
) STRICT;

-- URLs of a job that wait or are worked on, counted so that nobody has to count them.
ALTER TABLE jobs ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET open =
    (SELECT count(*) FROM job_urls WHERE job = jobs.number AND job_urls.state IN ('waiting', 'leased'));

DROP TRIGGER teams_deleted_with_jobs;

-- A later team of the same name sees nothing of what was; what it leaves is swept.
CREATE TRIGGER teams_deleted_with_jobs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
END;
