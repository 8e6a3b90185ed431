-- Secrets that the installation makes for itself, once.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    bytes BLOB NOT NULL CHECK (length(bytes) = 32)
) STRICT, WITHOUT ROWID;

-- What is stored beside the database. A row is there before its content comes and until after its content is gone,
-- so that a crash leaves no content that nobody knows of: `arriving` is being written, `leaving` is being removed.
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
