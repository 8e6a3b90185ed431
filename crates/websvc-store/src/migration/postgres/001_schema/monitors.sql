-- Monitors: checks of pages, sites and searches that a schedule repeats.
CREATE TABLE monitors (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
    definition TEXT NOT NULL CHECK (definition::json IS NOT NULL),
    revision BIGINT NOT NULL DEFAULT 1,       -- number of the last change by the team
    next_run_at BIGINT,                       -- NULL: none is planned
    last_run_at BIGINT,
    last_pages BIGINT,                        -- counts of the last check that ran; NULL: none has
    last_same BIGINT,
    last_changed BIGINT,
    last_added BIGINT,
    last_removed BIGINT,
    last_failed BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT                         -- hidden since then; the sweep deletes it in parts
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
    pages BIGINT NOT NULL DEFAULT 0,          -- rows of monitor_pages, and below their statuses
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
    created_at BIGINT NOT NULL,
    document BYTEA NOT NULL,                  -- JSON, compressed by zstd
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
    document BYTEA NOT NULL,                  -- JSON, compressed by zstd
    PRIMARY KEY (monitor, target, hash)
);

ALTER TABLE monitor_baselines ALTER COLUMN document SET STORAGE EXTERNAL;

-- Sizes of all baselines and all checks, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE monitor_storage (
    number BIGINT PRIMARY KEY,
    baseline_bytes BIGINT NOT NULL,           -- of the documents, compressed
    check_bytes BIGINT NOT NULL               -- of the definitions, and of the documents of the pages
);

INSERT INTO monitor_storage (number, baseline_bytes, check_bytes) VALUES (1, 0, 0);

CREATE FUNCTION add_to_monitor_storage(baselines BIGINT, checks BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO monitor_storage (number, baseline_bytes, check_bytes) SELECT total_row(), baselines, checks
    WHERE baselines <> 0 OR checks <> 0
    ON CONFLICT (number) DO UPDATE SET baseline_bytes = monitor_storage.baseline_bytes + excluded.baseline_bytes,
        check_bytes = monitor_storage.check_bytes + excluded.check_bytes
$$;

CREATE FUNCTION count_baseline_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_monitor_storage(
        CASE TG_OP WHEN 'DELETE' THEN 0 ELSE length(NEW.document) END
            - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE length(OLD.document) END, 0);
    RETURN NULL;
END $$;

CREATE TRIGGER monitor_baselines_changed AFTER INSERT OR UPDATE OF document OR DELETE ON monitor_baselines
FOR EACH ROW EXECUTE FUNCTION count_baseline_bytes();

CREATE FUNCTION count_check_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_monitor_storage(
        0, CASE TG_OP WHEN 'DELETE' THEN 0 ELSE NEW.bytes END - CASE TG_OP WHEN 'INSERT' THEN 0 ELSE OLD.bytes END);
    RETURN NULL;
END $$;

CREATE TRIGGER monitor_checks_changed AFTER INSERT OR UPDATE OF bytes OR DELETE ON monitor_checks
FOR EACH ROW EXECUTE FUNCTION count_check_bytes();

-- The recipients of the emails of a monitor. Rows of addresses that the monitor no longer names stay, so that an
-- address that was unsubscribed is not asked again.
CREATE TABLE monitor_recipients (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,      -- random; the tokens of the links are made of it
    monitor BIGINT NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed', 'unsubscribed')),
    source TEXT NOT NULL CHECK (source IN ('team', 'opt_in', 'legacy')),
    confirm_hash BYTEA NOT NULL UNIQUE CHECK (length(confirm_hash) = 32), -- SHA-256 of the token
    unsubscribe_hash BYTEA NOT NULL UNIQUE CHECK (length(unsubscribe_hash) = 32),
    is_confirmation_sent BIGINT NOT NULL DEFAULT 0 CHECK (is_confirmation_sent IN (0, 1)),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (monitor, address)
);

-- Emails and Slack messages about checks, to be sent. A row is deleted when its message was sent, or failed for good.
CREATE TABLE monitor_messages (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- check: the end of a check, which becomes its emails and its Slack message.
    kind TEXT NOT NULL CHECK (kind IN ('check', 'confirmation', 'email', 'slack')),
    monitor BIGINT NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    monitor_check BIGINT REFERENCES monitor_checks (number) ON DELETE CASCADE,
    recipient BIGINT REFERENCES monitor_recipients (number) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    is_sending BIGINT NOT NULL DEFAULT 0 CHECK (is_sending IN (0, 1)),
    interruptions BIGINT NOT NULL DEFAULT 0,  -- attempts of which it is unknown whether they sent the message
    is_permitted BIGINT NOT NULL DEFAULT 0 CHECK (is_permitted IN (0, 1)), -- confirmation: within the limits
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that sends it; NULL: none
    CHECK ((kind = 'confirmation') = (monitor_check IS NULL)),
    CHECK ((kind IN ('confirmation', 'email')) = (recipient IS NOT NULL))
);

CREATE INDEX monitor_messages_due ON monitor_messages (kind, due_at) WHERE replica IS NULL;
CREATE INDEX monitor_messages_by_monitor ON monitor_messages (monitor);
CREATE INDEX monitor_messages_by_check ON monitor_messages (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE UNIQUE INDEX monitor_messages_by_recipient ON monitor_messages (recipient, kind, monitor_check)
    WHERE recipient IS NOT NULL;
CREATE INDEX monitor_messages_by_replica ON monitor_messages (replica) WHERE replica IS NOT NULL;

-- The emails that asked an address for a confirmation, for their limits.
CREATE TABLE monitor_confirmations (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash BYTEA NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the address in lower case
    team TEXT NOT NULL,
    sent_at BIGINT NOT NULL
);

CREATE INDEX monitor_confirmations_by_hash ON monitor_confirmations (hash, sent_at);
CREATE INDEX monitor_confirmations_by_team ON monitor_confirmations (team, sent_at);
CREATE INDEX monitor_confirmations_by_time ON monitor_confirmations (sent_at);
