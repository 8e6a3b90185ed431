-- From when on an event waits: when it happened, or when it was begun anew.
ALTER TABLE webhook_events ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_events SET since = created_at;

CREATE INDEX webhook_events_since ON webhook_events (since) WHERE forget_at IS NULL;

-- When the owner ended the job: events that waited then are dropped.
ALTER TABLE webhooks ADD COLUMN dropped_at INTEGER;
