-- What teams were given to spend: one row per grant, of which a team has at most one that is current.
-- At any time granted = balance + voided + spent + what leases of the grant hold.
CREATE TABLE grants (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    team TEXT NOT NULL,
    granted INTEGER NOT NULL CHECK (granted >= 0),
    balance INTEGER NOT NULL CHECK (balance >= 0),           -- lent to no process
    spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
    voided INTEGER NOT NULL DEFAULT 0 CHECK (voided >= 0),   -- left when the next grant took its place
    granted_at INTEGER NOT NULL,
    current INTEGER NOT NULL CHECK (current IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX grants_current ON grants (team) WHERE current = 1;

INSERT INTO grants (team, granted, balance, granted_at, current)
SELECT name, credits, credits, unixepoch() * 1000, 1 FROM teams WHERE credits IS NOT NULL;

-- The processes that spend. `journal` names a file beside the database that the process keeps locked as long as it lives.
CREATE TABLE spenders (
    journal TEXT NOT NULL PRIMARY KEY,
    batch INTEGER NOT NULL DEFAULT 0,   -- the last batch of usage that was written
    applied INTEGER NOT NULL DEFAULT 0  -- the last charge of the journal that was written
) STRICT, WITHOUT ROWID;

-- Credits that were lent to a process, which spends them without asking.
CREATE TABLE leases (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    journal TEXT NOT NULL REFERENCES spenders (journal),
    grant_id INTEGER NOT NULL REFERENCES grants (id),
    rest INTEGER NOT NULL CHECK (rest >= 0)
) STRICT;

CREATE INDEX leases_by_journal ON leases (journal);
CREATE INDEX leases_by_grant ON leases (grant_id);

-- What was used, by UTC day (counted from 1970-01-01). It has no content.
CREATE TABLE usage_daily (
    day INTEGER NOT NULL,
    team TEXT NOT NULL,
    key TEXT NOT NULL,                    -- empty: no key, or one that may not be kept
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL CHECK (requests >= 0),
    failed INTEGER NOT NULL CHECK (failed >= 0),
    credits INTEGER NOT NULL CHECK (credits >= 0),
    last_success_at INTEGER,
    PRIMARY KEY (team, day, key, operation)
) STRICT, WITHOUT ROWID;

-- The last requests, one by one.
CREATE TABLE usage_log (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    team TEXT,                            -- NULL: anonymous
    key TEXT,
    request TEXT,
    operation TEXT NOT NULL,
    status INTEGER NOT NULL,
    took_us INTEGER NOT NULL,
    credits INTEGER NOT NULL CHECK (credits >= 0),   -- what was charged
    forgiven INTEGER NOT NULL CHECK (forgiven >= 0), -- what it would have cost beyond that
    items TEXT NOT NULL,                  -- JSON: [[item, count, credits], ...]
    stages TEXT NOT NULL,                 -- JSON: [[stage, microseconds], ...]
    retention TEXT NOT NULL CHECK (retention IN ('whole', 'zero', 'anonymous')),
    query TEXT,
    CHECK (retention = 'whole' OR query IS NULL),
    CHECK (retention <> 'anonymous' OR (team IS NULL AND key IS NULL AND request IS NULL))
) STRICT;

CREATE INDEX usage_log_by_team ON usage_log (team, id);

-- A later team of the same name begins with nothing, and sees nothing of what was.
CREATE TRIGGER teams_deleted_with_credits AFTER DELETE ON teams
BEGIN
    UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = OLD.name AND current = 1;
    DELETE FROM usage_daily WHERE team = OLD.name;
    DELETE FROM usage_log WHERE team = OLD.name;
END;
