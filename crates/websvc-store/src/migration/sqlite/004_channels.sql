-- Messages to channels of any service instead of Slack alone. A constraint cannot be changed, so the table is made anew.
CREATE TABLE messages_with_channels (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- check: the end of a check, which becomes its emails and its messages to channels.
    kind TEXT NOT NULL CHECK (kind IN ('check', 'confirmation', 'email', 'channel')),
    monitor INTEGER NOT NULL REFERENCES monitors (number) ON DELETE CASCADE,
    monitor_check INTEGER REFERENCES monitor_checks (number) ON DELETE CASCADE,
    recipient INTEGER REFERENCES monitor_recipients (number) ON DELETE CASCADE,
    channel TEXT, -- channel: the key of its URL, or slack
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    is_sending INTEGER NOT NULL DEFAULT 0 CHECK (is_sending IN (0, 1)),
    interruptions INTEGER NOT NULL DEFAULT 0, -- attempts of which it is unknown whether they sent the message
    is_permitted INTEGER NOT NULL DEFAULT 0 CHECK (is_permitted IN (0, 1)), -- confirmation: within the limits
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that sends it; NULL: none
    CHECK ((kind = 'confirmation') = (monitor_check IS NULL)),
    CHECK ((kind IN ('confirmation', 'email')) = (recipient IS NOT NULL)),
    CHECK ((kind = 'channel') = (channel IS NOT NULL))
) STRICT;

INSERT INTO messages_with_channels (number, kind, monitor, monitor_check, recipient, channel, created_at, due_at, attempts,
    is_sending, interruptions, is_permitted, replica)
SELECT number, CASE kind WHEN 'slack' THEN 'channel' ELSE kind END, monitor, monitor_check, recipient,
    CASE kind WHEN 'slack' THEN 'slack' END, created_at, due_at, attempts, is_sending, interruptions, is_permitted, replica
FROM monitor_messages;

DROP TABLE monitor_messages;
ALTER TABLE messages_with_channels RENAME TO monitor_messages;

CREATE INDEX monitor_messages_due ON monitor_messages (kind, due_at) WHERE replica IS NULL;
CREATE INDEX monitor_messages_by_monitor ON monitor_messages (monitor);
CREATE INDEX monitor_messages_by_check ON monitor_messages (monitor_check) WHERE monitor_check IS NOT NULL;
CREATE UNIQUE INDEX monitor_messages_by_recipient ON monitor_messages (recipient, kind, monitor_check)
    WHERE recipient IS NOT NULL;
CREATE INDEX monitor_messages_by_replica ON monitor_messages (replica) WHERE replica IS NOT NULL;
