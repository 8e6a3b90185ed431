-- Time since which an event is pending: its creation, or its last retry as a dead letter.
ALTER TABLE webhook_events ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_events SET since = created_at;

CREATE INDEX webhook_events_since ON webhook_events (since) WHERE forget_at IS NULL;

-- Time of the cancellation of the job: events that were pending then are dropped.
ALTER TABLE webhooks ADD COLUMN dropped_at INTEGER;
