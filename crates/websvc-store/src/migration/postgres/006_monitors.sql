-- Monitors: checks of pages, sites and searches that a schedule repeats.
CREATE TABLE monitors (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
    definition TEXT NOT NULL CHECK (definition::json IS NOT NULL),
    revision BIGINT NOT NULL DEFAULT 1,      -- number of the last change by the team
    next_run_at BIGINT,                      -- NULL: none is planned
    last_run_at BIGINT,
    last_pages BIGINT,                       -- counts of the last check that ran; NULL: none has
    last_same BIGINT,
    last_changed BIGINT,
    last_added BIGINT,
    last_removed BIGINT,
    last_failed BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT                        -- hidden since then; the sweep deletes it in parts
);

CREATE INDEX monitors_by_team ON monitors (team, number) WHERE deleted_at IS NULL;
CREATE INDEX monitors_paused ON monitors (number) WHERE status = 'paused' AND deleted_at IS NULL;
-- The cost of the scheduler depends on what is due, not on how many monitors exist.
CREATE INDEX monitors_due ON monitors (next_run_at, number) WHERE status = 'active' AND deleted_at IS NULL;
CREATE INDEX monitors_deleted ON monitors (number) WHERE deleted_at IS NOT NULL;

CREATE TABLE monitor_checks (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    monitor BIGINT NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'completed', 'partial', 'failed', 'skipped_overlap', 'skipped_no_credits')),
    cause TEXT NOT NULL CHECK (cause IN ('scheduled', 'manual')),
    definition TEXT NOT NULL CHECK (definition::json IS NOT NULL), -- of the monitor, at the start
    scheduled_for BIGINT,
    started_at BIGINT,
    finished_at BIGINT,
    expires_at BIGINT,
    estimated_credits BIGINT NOT NULL,
    reserved_credits BIGINT NOT NULL,
    actual_credits BIGINT NOT NULL DEFAULT 0,
    billing TEXT NOT NULL CHECK (billing IN ('not_applicable', 'reserved', 'confirmed', 'released', 'failed')),
    pages BIGINT NOT NULL DEFAULT 0,         -- rows of monitor_pages, and below their statuses
    same BIGINT NOT NULL DEFAULT 0,
    changed BIGINT NOT NULL DEFAULT 0,
    added BIGINT NOT NULL DEFAULT 0,
    removed BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    progress TEXT NOT NULL DEFAULT '{}' CHECK (progress::json IS NOT NULL),
    notifications TEXT NOT NULL DEFAULT '{}' CHECK (notifications::json IS NOT NULL),
    error TEXT,
    bytes BIGINT NOT NULL CHECK (bytes >= 0), -- of the definition and of the documents of the pages
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK ((finished_at IS NULL) = (expires_at IS NULL))
);

CREATE INDEX monitor_checks_by_monitor ON monitor_checks (monitor, number);
-- A monitor has one unfinished check.
CREATE UNIQUE INDEX monitor_checks_open ON monitor_checks (monitor) WHERE finished_at IS NULL;
CREATE INDEX monitor_checks_by_replica ON monitor_checks (replica) WHERE replica IS NOT NULL;
CREATE INDEX monitor_checks_by_expiry ON monitor_checks (expires_at) WHERE expires_at IS NOT NULL;

-- The pages of a check in the order in which they were recorded, from 1.
CREATE TABLE monitor_pages (
    monitor_check BIGINT NOT NULL REFERENCES monitor_checks (number) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    hash BYTEA NOT NULL CHECK (length(hash) = 32), -- SHA-256 of target and URL
    id TEXT NOT NULL,
    target TEXT NOT NULL,
    url TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('same', 'new', 'changed', 'removed', 'error')),
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    document BYTEA NOT NULL,                   -- JSON, compressed by zstd
    created_at BIGINT NOT NULL,
    PRIMARY KEY (monitor_check, position)
);

ALTER TABLE monitor_pages ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX monitor_pages_by_hash ON monitor_pages (monitor_check, hash);
CREATE INDEX monitor_pages_by_status ON monitor_pages (monitor_check, status, position);

-- The last good state of each page, with which the next check compares.
CREATE TABLE monitor_baselines (
    monitor BIGINT NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    target TEXT COLLATE "C" NOT NULL,
    hash BYTEA NOT NULL CHECK (length(hash) = 32), -- SHA-256 of target and URL
    url TEXT NOT NULL,
    is_removed BIGINT NOT NULL CHECK (is_removed IN (0, 1)),
    updated_at BIGINT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    document BYTEA NOT NULL,                   -- JSON, compressed by zstd
    PRIMARY KEY (monitor, target, hash)
);

ALTER TABLE monitor_baselines ALTER COLUMN document SET STORAGE EXTERNAL;

-- Sizes of all baselines and all checks, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE monitor_storage (
    number BIGINT PRIMARY KEY CHECK (number = 1),
    baseline_bytes BIGINT NOT NULL,          -- of the documents, compressed
    check_bytes BIGINT NOT NULL              -- of the definitions, and of the documents of the pages
);

INSERT INTO monitor_storage (number, baseline_bytes, check_bytes) VALUES (1, 0, 0);

CREATE FUNCTION count_baseline_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE monitor_storage SET baseline_bytes = baseline_bytes - length(OLD.document);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE monitor_storage SET baseline_bytes = baseline_bytes + length(NEW.document);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER monitor_baselines_changed AFTER INSERT OR UPDATE OF document OR DELETE ON monitor_baselines
FOR EACH ROW EXECUTE FUNCTION count_baseline_bytes();

CREATE FUNCTION count_check_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE monitor_storage SET check_bytes = check_bytes - OLD.bytes;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        UPDATE monitor_storage SET check_bytes = check_bytes + NEW.bytes;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER monitor_checks_changed AFTER INSERT OR UPDATE OF bytes OR DELETE ON monitor_checks
FOR EACH ROW EXECUTE FUNCTION count_check_bytes();

-- Webhooks of jobs and of checks: they have numbers of their own, and repeat what each event contains.
ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_job_fkey;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_pkey;
ALTER TABLE webhooks ADD COLUMN number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE webhooks ALTER COLUMN job DROP NOT NULL;
ALTER TABLE webhooks ADD COLUMN monitor_check BIGINT REFERENCES monitor_checks (number) ON DELETE CASCADE;
ALTER TABLE webhooks ADD COLUMN team TEXT;
ALTER TABLE webhooks ADD COLUMN source TEXT CHECK (source IN ('batch', 'crawl', 'monitor'));
ALTER TABLE webhooks ADD COLUMN source_id TEXT; -- identifier of the job or the check on the wire
UPDATE webhooks SET team = jobs.team, source = jobs.kind, source_id = jobs.id FROM jobs WHERE jobs.number = webhooks.job;
ALTER TABLE webhooks ALTER COLUMN team SET NOT NULL, ALTER COLUMN source SET NOT NULL,
    ALTER COLUMN source_id SET NOT NULL;
ALTER TABLE webhooks ADD CHECK ((source = 'monitor') = (monitor_check IS NOT NULL));
ALTER TABLE webhooks ADD CHECK ((source = 'monitor') = (job IS NULL));

CREATE UNIQUE INDEX webhooks_by_job ON webhooks (job) WHERE job IS NOT NULL;
CREATE UNIQUE INDEX webhooks_by_check ON webhooks (monitor_check) WHERE monitor_check IS NOT NULL;
DROP INDEX webhooks_open;
CREATE INDEX webhooks_open ON webhooks (number) WHERE waiting > 0;

ALTER TABLE webhook_events ADD COLUMN webhook BIGINT REFERENCES webhooks (number) ON DELETE CASCADE;
ALTER TABLE webhook_events ADD COLUMN data BYTEA; -- of an event of a check: JSON, compressed by zstd
ALTER TABLE webhook_events ADD COLUMN data_bytes BIGINT; -- before compression
ALTER TABLE webhook_events ADD COLUMN is_success BIGINT CHECK (is_success IN (0, 1));
UPDATE webhook_events SET webhook = webhooks.number, is_success = (event <> 'failed')::int
FROM webhooks WHERE webhooks.job = webhook_events.job;
ALTER TABLE webhook_events ALTER COLUMN webhook SET NOT NULL, ALTER COLUMN is_success SET NOT NULL,
    ALTER COLUMN data SET STORAGE EXTERNAL;
-- With the indexes that contain it.
ALTER TABLE webhook_events DROP COLUMN job;
ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_event_check;
ALTER TABLE webhook_events ADD CHECK (event IN
    ('started', 'page', 'completed', 'failed', 'monitor.page', 'monitor.check.completed'));
ALTER TABLE webhook_events ADD CHECK ((event IN ('monitor.page', 'monitor.check.completed')) = (data IS NOT NULL));
ALTER TABLE webhook_events ADD CHECK ((data IS NULL) = (data_bytes IS NULL));

CREATE INDEX webhook_events_by_webhook ON webhook_events (webhook, number);
CREATE INDEX webhook_events_waiting ON webhook_events (webhook, due_at, number) WHERE forget_at IS NULL;
CREATE INDEX webhook_events_untried ON webhook_events (webhook, number) WHERE forget_at IS NULL AND attempts = 0;

CREATE OR REPLACE FUNCTION count_pending_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND OLD.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting - 1 WHERE number = OLD.webhook;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.forget_at IS NULL THEN
        UPDATE webhooks SET waiting = waiting + 1 WHERE number = NEW.webhook;
    END IF;
    RETURN NULL;
END $$;

-- A later team with the same name sees no old monitors. The sweep deletes them.
CREATE FUNCTION end_monitors_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    DELETE FROM webhooks WHERE source = 'monitor' AND team = OLD.name;
    UPDATE monitor_checks SET status = 'failed', finished_at = now_ms, expires_at = 0, replica = NULL
    WHERE finished_at IS NULL AND monitor IN (SELECT number FROM monitors WHERE team = OLD.name);
    UPDATE monitors SET team = '', key = NULL, deleted_at = coalesce(deleted_at, now_ms) WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_monitors AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_monitors_of_team();
