-- See the comments in step 16 for SQLite.
CREATE TABLE replicas (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    beat BIGINT NOT NULL DEFAULT 0,
    is_worker BIGINT NOT NULL CHECK (is_worker IN (0, 1))
);

ALTER TABLE jobs ADD COLUMN replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX jobs_by_replica ON jobs (replica) WHERE replica IS NOT NULL;

ALTER TABLE webhooks ADD COLUMN replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

ALTER TABLE spenders ADD COLUMN beat BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spenders ADD COLUMN lost_at BIGINT;
ALTER TABLE leases ADD COLUMN is_lost BIGINT NOT NULL DEFAULT 0 CHECK (is_lost IN (0, 1));
