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

CREATE FUNCTION delete_browser_sessions_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM browser_sessions WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_browser_sessions AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_browser_sessions_of_team();
