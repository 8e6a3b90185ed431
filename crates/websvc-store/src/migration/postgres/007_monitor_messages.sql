-- Emails and Slack messages about the checks of monitors, and the people who get them.

-- The recipients of the emails of a monitor. Rows of addresses that the monitor no longer names stay, so that an address
-- that was unsubscribed is not asked again.
CREATE TABLE monitor_recipients (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,                  -- random; the tokens of the links are made of it
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

-- Messages to be sent. A row is deleted when its message was sent, or failed for good.
CREATE TABLE monitor_messages (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('check', 'confirmation', 'email', 'slack')), -- check: becomes the messages of one
    monitor BIGINT NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    monitor_check BIGINT REFERENCES monitor_checks (number) ON DELETE CASCADE,
    recipient BIGINT REFERENCES monitor_recipients (number) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    is_sending BIGINT NOT NULL DEFAULT 0 CHECK (is_sending IN (0, 1)),
    interruptions BIGINT NOT NULL DEFAULT 0, -- attempts of which it is unknown whether they sent the message
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
