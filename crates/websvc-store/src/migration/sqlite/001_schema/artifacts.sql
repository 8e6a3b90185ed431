-- Files stored outside of the database. A row exists before its content is written and until its content is deleted, so
-- that a crash leaves no file without a row: `arriving` is being written, `leaving` is being deleted.
CREATE TABLE artifacts (
    id TEXT NOT NULL PRIMARY KEY, -- 32 random hex digits
    team TEXT NOT NULL,
    kind TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    state TEXT NOT NULL DEFAULT 'arriving' CHECK (state IN ('arriving', 'ready', 'leaving')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX artifacts_by_age ON artifacts (state, created_at, bytes);
CREATE INDEX artifacts_by_expiry ON artifacts (expires_at);
