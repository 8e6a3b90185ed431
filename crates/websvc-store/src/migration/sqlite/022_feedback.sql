-- Ratings of results by clients, and the IDs by which clients know the results of logged requests.
ALTER TABLE usage_log ADD COLUMN result TEXT; -- digest of the ID in the response; NULL: none, or one that may not be stored

CREATE INDEX usage_log_by_result ON usage_log (result) WHERE result IS NOT NULL;

CREATE TABLE feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    result TEXT NOT NULL,                     -- digest of the ID of the rated result
    operation TEXT NOT NULL,                  -- of the rated request
    target TEXT,                              -- query or URL of the rated request
    rating TEXT NOT NULL CHECK (rating IN ('good', 'partial', 'bad')),
    content TEXT NOT NULL CHECK (json_valid(content)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX feedback_by_result ON feedback (team, result);
CREATE INDEX feedback_by_team ON feedback (team, number);
CREATE INDEX feedback_by_age ON feedback (created_at);

CREATE TRIGGER teams_deleted_with_feedback AFTER DELETE ON teams
BEGIN
    DELETE FROM feedback WHERE team = OLD.name;
END;
