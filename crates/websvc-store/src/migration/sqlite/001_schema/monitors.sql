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
    created_at INTEGER NOT NULL,
    document BLOB NOT NULL,                   -- JSON, compressed by zstd
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

-- The recipients of the emails of a monitor. Rows of addresses that the monitor no longer names stay, so that an
-- address that was unsubscribed is not asked again.
CREATE TABLE monitor_recipients (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,                  -- random; the tokens of the links are made of it
    monitor INTEGER NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    address TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'confirmed', 'unsubscribed')),
    source TEXT NOT NULL CHECK (source IN ('team', 'opt_in', 'legacy')),
    confirm_hash BLOB NOT NULL UNIQUE CHECK (length(confirm_hash) = 32), -- SHA-256 of the token
    unsubscribe_hash BLOB NOT NULL UNIQUE CHECK (length(unsubscribe_hash) = 32),
    is_confirmation_sent INTEGER NOT NULL DEFAULT 0 CHECK (is_confirmation_sent IN (0, 1)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (monitor, address)
) STRICT;

-- Emails and Slack messages about checks, to be sent. A row is deleted when its message was sent, or failed for good.
CREATE TABLE monitor_messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- check: the end of a check, which becomes its emails and its Slack message.
    kind TEXT NOT NULL CHECK (kind IN ('check', 'confirmation', 'email', 'slack')),
    monitor INTEGER NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    monitor_check INTEGER REFERENCES monitor_checks (number) ON DELETE CASCADE,
    recipient INTEGER REFERENCES monitor_recipients (number) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    is_sending INTEGER NOT NULL DEFAULT 0 CHECK (is_sending IN (0, 1)),
    interruptions INTEGER NOT NULL DEFAULT 0, -- attempts of which it is unknown whether they sent the message
    is_permitted INTEGER NOT NULL DEFAULT 0 CHECK (is_permitted IN (0, 1)), -- confirmation: within the limits
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that sends it; NULL: none
    CHECK ((kind = 'confirmation') = (monitor_check IS NULL)),
    CHECK ((kind IN ('confirmation', 'email')) = (recipient IS NOT NULL))
) STRICT;

CREATE INDEX monitor_messages_due ON monitor_messages (kind, due_at) WHERE replica IS NULL;
CREATE INDEX monitor_messages_by_monitor ON monitor_messages (monitor);
CREATE INDEX monitor_messages_by_check ON monitor_messages (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE UNIQUE INDEX monitor_messages_by_recipient ON monitor_messages (recipient, kind, monitor_check)
    WHERE recipient IS NOT NULL;
CREATE INDEX monitor_messages_by_replica ON monitor_messages (replica) WHERE replica IS NOT NULL;

-- The emails that asked an address for a confirmation, for their limits.
CREATE TABLE monitor_confirmations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL CHECK (length(hash) = 32), -- SHA-256 of the address in lower case
    team TEXT NOT NULL,
    sent_at INTEGER NOT NULL
) STRICT;

CREATE INDEX monitor_confirmations_by_hash ON monitor_confirmations (hash, sent_at);
CREATE INDEX monitor_confirmations_by_team ON monitor_confirmations (team, sent_at);
CREATE INDEX monitor_confirmations_by_time ON monitor_confirmations (sent_at);
