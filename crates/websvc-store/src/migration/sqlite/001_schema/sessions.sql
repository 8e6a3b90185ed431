-- Named browser states of teams: cookies and storage, compressed.
CREATE TABLE profiles (
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at INTEGER,                                -- NULL: never saved yet
    length INTEGER NOT NULL DEFAULT 0 CHECK (length >= 0), -- of the state before compression
    lease TEXT,                                      -- token of the request that may save it
    lease_until INTEGER,
    state BLOB,
    PRIMARY KEY (team, name),
    CHECK ((saved_at IS NULL) = (state IS NULL)),
    CHECK ((lease IS NULL) = (lease_until IS NULL))
) STRICT;

-- Browser sessions that clients control. The browser itself runs in one process: a session is active while that process
-- has joined the replicas.
CREATE TABLE browser_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    scrape TEXT UNIQUE,                       -- the scrape whose page it shows; NULL: none
    stream_web_view INTEGER NOT NULL CHECK (stream_web_view IN (0, 1)),
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process with its browser; NULL: none
    created_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,               -- the last use by the client
    expires_at INTEGER NOT NULL,
    destroyed_at INTEGER                      -- NULL: not destroyed, unless its process is gone
) STRICT;

CREATE INDEX browser_sessions_by_team ON browser_sessions (team, number);
CREATE INDEX browser_sessions_by_replica ON browser_sessions (replica) WHERE replica IS NOT NULL;
