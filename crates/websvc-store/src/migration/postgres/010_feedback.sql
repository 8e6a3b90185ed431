-- Ratings of results by clients, and the IDs by which clients know the results of logged requests.
ALTER TABLE usage_log ADD COLUMN result TEXT COLLATE "C"; -- digest of the ID in the response; NULL: none, or one that may not be stored

CREATE INDEX usage_log_by_result ON usage_log (result) WHERE result IS NOT NULL;

CREATE TABLE feedback (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    result TEXT COLLATE "C" NOT NULL,         -- digest of the ID of the rated result
    operation TEXT NOT NULL,                  -- of the rated request
    target TEXT,                              -- query or URL of the rated request
    rating TEXT NOT NULL CHECK (rating IN ('good', 'partial', 'bad')),
    content TEXT NOT NULL CHECK (content::json IS NOT NULL),
    created_at BIGINT NOT NULL
);

CREATE UNIQUE INDEX feedback_by_result ON feedback (team, result);
CREATE INDEX feedback_by_team ON feedback (team, number);
CREATE INDEX feedback_by_age ON feedback (created_at);

CREATE FUNCTION delete_feedback_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM feedback WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_feedback AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_feedback_of_team();
