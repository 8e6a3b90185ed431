-- Destinations of the events of jobs, checks and runs. Work without a webhook has no row.
CREATE TABLE webhooks (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job BIGINT REFERENCES jobs (number) ON DELETE CASCADE,
    monitor_check BIGINT REFERENCES monitor_checks (number) ON DELETE CASCADE,
    agent_run BIGINT REFERENCES agent_runs (number) ON DELETE CASCADE,
    team TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('batch', 'crawl', 'monitor', 'agent', 'extract')),
    source_id TEXT NOT NULL,                  -- identifier of the job, the check or the run on the wire
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    headers TEXT NOT NULL CHECK (headers::json IS NOT NULL),
    metadata TEXT NOT NULL CHECK (metadata::json IS NOT NULL),
    events TEXT NOT NULL,                     -- names, separated by commas
    waiting BIGINT NOT NULL DEFAULT 0,        -- pending rows of webhook_events; maintained by the trigger below
    dropped_at BIGINT,                        -- events that were pending then are dropped
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that delivers the events; NULL: none
    CHECK ((source = 'monitor') = (monitor_check IS NOT NULL)),
    CHECK ((source IN ('batch', 'crawl')) = (job IS NOT NULL)),
    CHECK ((source IN ('agent', 'extract')) = (agent_run IS NOT NULL))
);

CREATE UNIQUE INDEX webhooks_by_job ON webhooks (job) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_check ON webhooks (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_run ON webhooks (agent_run) WHERE agent_run IS NOT NULL;
CREATE INDEX webhooks_open ON webhooks (number) WHERE waiting > 0;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

-- Undelivered events in their order. Delivered events are deleted.
CREATE TABLE webhook_events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,      -- identifier on the wire, the same for every attempt
    webhook BIGINT NOT NULL REFERENCES webhooks (number) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN
        ('started', 'page', 'completed', 'failed', 'monitor.page', 'monitor.check.completed',
        'run.started', 'run.action', 'run.completed', 'run.failed', 'run.cancelled')),
    position BIGINT,                          -- of the document of a job, in job_documents
    is_success BIGINT NOT NULL CHECK (is_success IN (0, 1)),
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    round BIGINT NOT NULL DEFAULT 0,          -- attempts since the event, or since its last retry
    tried_at BIGINT,
    status BIGINT,                            -- HTTP status of the last response; NULL: none
    error TEXT,
    forget_at BIGINT,                         -- time of the deletion of a dead letter; NULL: pending
    since BIGINT NOT NULL,                    -- time since which it is pending: its creation, or its last retry
    data_bytes BIGINT,                        -- of `data` before compression
    data BYTEA,                               -- of an event of a check or a run: JSON, compressed by zstd
    CHECK ((event = 'page') = (position IS NOT NULL)),
    CHECK ((event IN ('started', 'page', 'completed', 'failed')) = (data IS NULL)),
    CHECK ((data IS NULL) = (data_bytes IS NULL))
);

ALTER TABLE webhook_events ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE INDEX webhook_events_by_webhook ON webhook_events (webhook, number);
CREATE INDEX webhook_events_waiting ON webhook_events (webhook, due_at, number) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_untried ON webhook_events (webhook, number) WHERE forget_at IS NULL AND attempts = 0;
CREATE INDEX webhook_events_due ON webhook_events (due_at) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_dead ON webhook_events (forget_at) WHERE forget_at IS NOT NULL;
CREATE INDEX webhook_events_since ON webhook_events (since) WHERE forget_at IS NULL;

CREATE FUNCTION count_pending_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting - 1 WHERE number = OLD.webhook;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting + 1 WHERE number = NEW.webhook;
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
