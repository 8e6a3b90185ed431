-- Runs of agents and extractions. A run works in one process; when that is gone, another one takes over the runs that
-- have not started to work, and fails the others.
CREATE TABLE agent_runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'extract')),
    api_version TEXT NOT NULL CHECK (api_version IN ('v1', 'v2')), -- that the client called
    thread TEXT COLLATE "C" NOT NULL,         -- identifier of the runs that continue each other
    turn BIGINT NOT NULL,                     -- position in the thread, from 1
    status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'refused', 'credit_limit_reached')),
    max_credits BIGINT NOT NULL,
    credits BIGINT NOT NULL DEFAULT 0,        -- charged at the end
    error TEXT,
    result_bytes BIGINT,                      -- before compression
    events BIGINT NOT NULL DEFAULT 0,         -- rows of agent_events
    bytes BIGINT NOT NULL CHECK (bytes >= 0), -- of the request, the result, the events and the snapshots
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    created_at BIGINT NOT NULL,               -- different for the runs of a team
    started_at BIGINT,
    cancel_requested_at BIGINT,
    finished_at BIGINT,
    expires_at BIGINT,
    -- Last, because readers of the other columns need not read them.
    request TEXT NOT NULL CHECK (request::json IS NOT NULL),
    result BYTEA,                             -- JSON, compressed by zstd; NULL: none
    CHECK ((status IN ('queued', 'running')) = (finished_at IS NULL)),
    CHECK ((finished_at IS NULL) = (expires_at IS NULL)),
    CHECK ((result IS NULL) = (result_bytes IS NULL))
);

ALTER TABLE agent_runs ALTER COLUMN result SET STORAGE EXTERNAL;
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
    content BYTEA NOT NULL,                   -- JSON, compressed by zstd
    PRIMARY KEY (run, id)
);

ALTER TABLE agent_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

-- The texts about the ends of runs, which lists of runs show.
CREATE TABLE agent_messages (
    run BIGINT PRIMARY KEY REFERENCES agent_runs (number) ON DELETE CASCADE,
    content TEXT NOT NULL
);
