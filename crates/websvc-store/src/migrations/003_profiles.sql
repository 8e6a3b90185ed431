-- What browsers keep for a team under a name: cookies and storage, as one compressed text of the browser's.
CREATE TABLE profiles (
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    saved_at INTEGER,                                -- NULL: never saved yet
    length INTEGER NOT NULL DEFAULT 0 CHECK (length >= 0), -- of the state before compression
    state BLOB,
    lease TEXT,                                      -- who may save it
    lease_until INTEGER,
    PRIMARY KEY (team, name),
    CHECK ((saved_at IS NULL) = (state IS NULL)),
    CHECK ((lease IS NULL) = (lease_until IS NULL))
) STRICT;
