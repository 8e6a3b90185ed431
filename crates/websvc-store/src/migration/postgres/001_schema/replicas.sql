-- Processes that work on jobs, checks and runs, and deliver their events and messages. Each increments its `beat`
-- while it lives. When its row is deleted, what refers to it is free for the others.
CREATE TABLE replicas (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    beat BIGINT NOT NULL DEFAULT 0,
    is_worker BIGINT NOT NULL CHECK (is_worker IN (0, 1)), -- 0: runs one job, and takes over no others
    -- How the other replicas reach it, for requests that only it can answer. The secret is new at every start: a
    -- request with it comes from a process that can read this table. NULL: it announces no address.
    url TEXT,
    secret TEXT
);
