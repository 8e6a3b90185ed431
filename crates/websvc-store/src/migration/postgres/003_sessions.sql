-- What a process with a database file keeps in memory: results of scrapes, and sessions of the dashboard. Processes that
-- share a server read them from here. A SQLite file has neither table.

-- Results of scrapes that clients may read again. Only the ID of a scrape decrypts its result.
CREATE TABLE scrape_results (
    id BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of the ID
    team TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0), -- that count against the limit
    body BYTEA NOT NULL                       -- compressed and encrypted
);

-- Encrypted bodies cannot be compressed further.
ALTER TABLE scrape_results ALTER COLUMN body SET STORAGE EXTERNAL;
-- For the sweep, which sums up the sizes in this order.
CREATE INDEX scrape_results_by_expiry ON scrape_results (expires_at, id, bytes);

-- Sessions of the dashboard. Only the cookie of a session decrypts its content.
CREATE TABLE dashboard_sessions (
    id BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of the cookie
    content BYTEA NOT NULL,                                -- encrypted
    expires_at BIGINT NOT NULL
);

-- Without an index by team: teams are deleted rarely.
CREATE FUNCTION delete_results_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM scrape_results WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_results AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_results_of_team();
