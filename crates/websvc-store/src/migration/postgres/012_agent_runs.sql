-- Runs of agents and extractions. A run works in one process; when that is gone, another one takes over the runs that have
-- not started to work, and fails the others.
CREATE TABLE agent_runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'extract')),
    api_version TEXT NOT NULL CHECK (api_version IN ('v1', 'v2')), -- that the client called
    thread TEXT COLLATE "C" NOT NULL,                  -- identifier of the runs that continue each other
    turn BIGINT NOT NULL,                      -- position in the thread, from 1
    status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'refused', 'credit_limit_reached')),
    max_credits BIGINT NOT NULL,
    credits BIGINT NOT NULL DEFAULT 0,         -- charged at the end
    error TEXT,
    result_bytes BIGINT,                       -- before compression
    events BIGINT NOT NULL DEFAULT 0,          -- rows of agent_events
    bytes BIGINT NOT NULL CHECK (bytes >= 0),  -- of the request, the result, the events and the snapshots
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    created_at BIGINT NOT NULL,                -- different for the runs of a team
    started_at BIGINT,
    cancel_requested_at BIGINT,
    finished_at BIGINT,
    expires_at BIGINT,
    -- Last, because readers of the other columns need not read them.
    request TEXT NOT NULL CHECK (request::json IS NOT NULL),
    result BYTEA,                            -- JSON, compressed by zstd; NULL: none
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK ((finished_at IS NULL) = (expires_at IS NULL)),
    CHECK ((result IS NULL) = (result_bytes IS NULL))
);

CREATE UNIQUE INDEX agent_runs_by_team ON agent_runs (team, created_at);
CREATE UNIQUE INDEX agent_runs_by_thread ON agent_runs (thread, turn);
CREATE INDEX agent_runs_open ON agent_runs (number) WHERE finished_at IS NULL;
CREATE INDEX agent_runs_by_replica ON agent_runs (replica) WHERE replica IS NOT NULL;
CREATE INDEX agent_runs_by_expiry ON agent_runs (expires_at) WHERE expires_at IS NOT NULL;

-- The events of a run in their order, from 1.
CREATE TABLE agent_events (
    run BIGINT NOT NULL REFERENCES agent_runs (number) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    content TEXT NOT NULL CHECK (content::json IS NOT NULL),
    PRIMARY KEY (run, position)
);

-- The contents of data that events refer to.
CREATE TABLE agent_snapshots (
    run BIGINT NOT NULL REFERENCES agent_runs (number) ON DELETE CASCADE,
    id TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    content BYTEA NOT NULL,                  -- JSON, compressed by zstd
    PRIMARY KEY (run, id)
);

ALTER TABLE agent_runs ALTER COLUMN result SET STORAGE EXTERNAL;
ALTER TABLE agent_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

-- Webhooks of runs: more kinds of work and events.
ALTER TABLE webhooks ADD COLUMN agent_run BIGINT REFERENCES agent_runs (number) ON DELETE CASCADE;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_source_check, DROP CONSTRAINT webhooks_check,
    DROP CONSTRAINT webhooks_check1;
ALTER TABLE webhooks ADD CONSTRAINT webhooks_source_check
    CHECK (source IN ('batch', 'crawl', 'monitor', 'agent', 'extract'));
ALTER TABLE webhooks ADD CHECK ((source = 'monitor') = (monitor_check IS NOT NULL));
ALTER TABLE webhooks ADD CHECK ((source IN ('batch', 'crawl')) = (job IS NOT NULL));
ALTER TABLE webhooks ADD CHECK ((source IN ('agent', 'extract')) = (agent_run IS NOT NULL));
CREATE UNIQUE INDEX webhooks_by_run ON webhooks (agent_run) WHERE agent_run IS NOT NULL;

ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_event_check, DROP CONSTRAINT webhook_events_check1;
ALTER TABLE webhook_events ADD CONSTRAINT webhook_events_event_check CHECK (event IN
    ('started', 'page', 'completed', 'failed', 'monitor.page', 'monitor.check.completed',
    'run.started', 'run.action', 'run.completed', 'run.failed', 'run.cancelled'));
ALTER TABLE webhook_events ADD CHECK ((event IN ('started', 'page', 'completed', 'failed')) = (data IS NULL));

-- A later team with the same name sees no old runs. The sweep deletes them.
CREATE FUNCTION end_agent_runs_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks WHERE source IN ('agent', 'extract') AND team = OLD.name;
    UPDATE agent_runs SET
        finished_at = coalesce(finished_at, floor(extract(epoch FROM clock_timestamp()) * 1000)),
        status = CASE WHEN finished_at IS NULL THEN 'failed' ELSE status END,
        team = '/' || number, key = NULL, replica = NULL, expires_at = 0
    WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_agent_runs AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_agent_runs_of_team();
