-- Processes that run jobs and deliver their events. Each increments its `beat` while it lives. When its row is deleted,
-- its jobs and webhooks are free for the others.
CREATE TABLE replicas (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    beat INTEGER NOT NULL DEFAULT 0,
    is_worker INTEGER NOT NULL CHECK (is_worker IN (0, 1)) -- 0: runs one job, and takes over no others
) STRICT;

-- The process that works on a running job; NULL: none.
ALTER TABLE jobs ADD COLUMN replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX jobs_by_replica ON jobs (replica) WHERE replica IS NOT NULL;

-- The process that delivers the events of a job; NULL: none.
ALTER TABLE webhooks ADD COLUMN replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

-- On a server, a process that does not increment `beat` for long is lost: the rests of its leases are returned, and
-- the charges in its journal are late.
ALTER TABLE spenders ADD COLUMN beat INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spenders ADD COLUMN lost_at INTEGER;
ALTER TABLE leases ADD COLUMN is_lost INTEGER NOT NULL DEFAULT 0 CHECK (is_lost IN (0, 1));
