-- Named browser states of teams: cookies and storage, compressed.
CREATE TABLE profiles (
    team TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    saved_at BIGINT,                                 -- NULL: never saved yet
    length BIGINT NOT NULL DEFAULT 0 CHECK (length >= 0), -- of the state before compression
    lease TEXT,                                      -- token of the request that may save it
    lease_until BIGINT,
    state BYTEA,
    PRIMARY KEY (team, name),
    CHECK ((saved_at IS NULL) = (state IS NULL)),
    CHECK ((lease IS NULL) = (lease_until IS NULL))
);

ALTER TABLE profiles ALTER COLUMN state SET STORAGE EXTERNAL;

-- Browser sessions that clients control. The browser itself runs in one process: a session is active while that process
-- has joined the replicas.
CREATE TABLE browser_sessions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    scrape TEXT COLLATE "C" UNIQUE,           -- the scrape whose page it shows; NULL: none
    stream_web_view BIGINT NOT NULL CHECK (stream_web_view IN (0, 1)),
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process with its browser; NULL: none
    created_at BIGINT NOT NULL,
    active_at BIGINT NOT NULL,                -- the last use by the client
    expires_at BIGINT NOT NULL,
    destroyed_at BIGINT                       -- NULL: not destroyed, unless its process is gone
);

CREATE INDEX browser_sessions_by_team ON browser_sessions (team, number);
CREATE INDEX browser_sessions_by_replica ON browser_sessions (replica) WHERE replica IS NOT NULL;
