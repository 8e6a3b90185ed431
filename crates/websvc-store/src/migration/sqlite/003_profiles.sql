-- Named browser states of teams: cookies and storage, compressed.
CREATE TABLE profiles (
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at INTEGER,                                -- NULL: never saved yet
    length INTEGER NOT NULL DEFAULT 0 CHECK (length >= 0), -- of the state before compression
    state BLOB,
    lease TEXT,                                      -- token of the request that may save it
    lease_until INTEGER,
    PRIMARY KEY (team, name),
    CHECK ((saved_at IS NULL) = (state IS NULL)),
    CHECK ((lease IS NULL) = (lease_until IS NULL))
) STRICT;
