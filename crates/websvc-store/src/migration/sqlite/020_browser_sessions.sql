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

CREATE TRIGGER teams_deleted_with_browser_sessions AFTER DELETE ON teams
BEGIN
    DELETE FROM browser_sessions WHERE team = OLD.name;
END;
