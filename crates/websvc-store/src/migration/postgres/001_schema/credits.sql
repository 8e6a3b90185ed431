-- Budgets of teams: one row per grant. A team has at most one current grant.
-- At any time, granted = balance + voided + spent + the rests of the leases of the grant.
CREATE TABLE grants (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team TEXT NOT NULL,
    granted BIGINT NOT NULL CHECK (granted >= 0),
    balance BIGINT NOT NULL CHECK (balance >= 0),            -- not leased to any process
    spent BIGINT NOT NULL DEFAULT 0 CHECK (spent >= 0),
    voided BIGINT NOT NULL DEFAULT 0 CHECK (voided >= 0),    -- unspent when the next grant replaced it
    granted_at BIGINT NOT NULL,
    current BIGINT NOT NULL CHECK (current IN (0, 1))
);

CREATE UNIQUE INDEX grants_current ON grants (team) WHERE current = 1;

-- Processes that borrow credits. `journal` is the name of a file that the process keeps locked while it lives.
-- On a server, a process that does not increment `beat` for long is lost: the rests of its leases are returned, and
-- the charges in its journal are late.
CREATE TABLE spenders (
    journal TEXT NOT NULL PRIMARY KEY,
    batch BIGINT NOT NULL DEFAULT 0,    -- number of the last batch of usage that was written
    applied BIGINT NOT NULL DEFAULT 0,  -- number of the last charge of the journal that was written
    beat BIGINT NOT NULL DEFAULT 0,
    lost_at BIGINT
);

-- Credits that are leased to a process, which spends them without access to the database.
CREATE TABLE leases (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal TEXT NOT NULL REFERENCES spenders (journal),
    grant_id BIGINT NOT NULL REFERENCES grants (id),
    rest BIGINT NOT NULL CHECK (rest >= 0),
    is_lost BIGINT NOT NULL DEFAULT 0 CHECK (is_lost IN (0, 1))
);

CREATE INDEX leases_by_journal ON leases (journal);
CREATE INDEX leases_by_grant ON leases (grant_id);

-- Sums of usage by UTC day (counted from 1970-01-01), without content of requests.
CREATE TABLE usage_daily (
    day BIGINT NOT NULL,
    team TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,        -- empty: no key, or one that may not be stored
    operation TEXT COLLATE "C" NOT NULL,
    requests BIGINT NOT NULL CHECK (requests >= 0),
    failed BIGINT NOT NULL CHECK (failed >= 0),
    credits BIGINT NOT NULL CHECK (credits >= 0),
    last_success_at BIGINT,
    PRIMARY KEY (team, day, key, operation)
);

-- The last requests.
CREATE TABLE usage_log (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    team TEXT,                            -- NULL: anonymous
    key TEXT,
    request TEXT,
    result TEXT COLLATE "C",              -- digest of the ID in the response; NULL: none, or one that may not be stored
    operation TEXT NOT NULL,
    api_version TEXT NOT NULL DEFAULT 'v2' CHECK (api_version IN ('v1', 'v2')), -- that the client called
    status BIGINT NOT NULL,
    took_us BIGINT NOT NULL,
    credits BIGINT NOT NULL CHECK (credits >= 0),    -- charged credits
    forgiven BIGINT NOT NULL CHECK (forgiven >= 0),  -- credits beyond the charge that the budget did not cover
    items TEXT NOT NULL,                  -- JSON: [[item, count, credits], ...]
    stages TEXT NOT NULL,                 -- JSON: [[stage, microseconds], ...]
    retention TEXT NOT NULL CHECK (retention IN ('whole', 'zero', 'anonymous')),
    query TEXT,
    CHECK (retention = 'whole' OR query IS NULL),
    CHECK (retention <> 'anonymous' OR (team IS NULL AND key IS NULL AND request IS NULL))
);

CREATE INDEX usage_log_by_team ON usage_log (team, id);
CREATE INDEX usage_log_by_age ON usage_log (at);
CREATE INDEX usage_log_by_result ON usage_log (result) WHERE result IS NOT NULL;

-- Ratings of results by clients.
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
