-- Jobs: work that continues after its request was answered, on the pages of a list or of a site.
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('batch', 'crawl')),
    state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled', 'failed')),
    request TEXT NOT NULL CHECK (json_valid(request)),
    idempotency TEXT,
    page_limit INTEGER,                       -- documents after which it is complete; NULL: no limit
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    expires_at INTEGER NOT NULL,
    error TEXT,                               -- reason of the failure
    urls INTEGER NOT NULL DEFAULT 0,          -- rows of job_urls, without aliases and excluded URLs
    documents INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,         -- of the documents, before compression
    credits INTEGER NOT NULL DEFAULT 0,
    left_out INTEGER NOT NULL DEFAULT 0,      -- URLs skipped at the limit of URLs
    CHECK ((state = 'running') = (finished_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX jobs_by_idempotency ON jobs (team, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX jobs_by_team ON jobs (team, kind, state);
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'running';
CREATE INDEX jobs_by_expiry ON jobs (expires_at);

-- The URLs of a job, unique by `key`. `place` is the order in which they were found.
CREATE TABLE job_urls (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'document', 'failed', 'blocked', 'dropped', 'alias')),
    lease_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,      -- number of leases, which identifies the current one
    ended_at INTEGER,
    code TEXT,
    error TEXT,
    PRIMARY KEY (job, place),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX job_urls_by_key ON job_urls (job, key);
CREATE INDEX job_urls_open ON job_urls (job, place) WHERE state IN ('waiting', 'leased');
CREATE INDEX job_urls_amiss ON job_urls (job, place) WHERE state IN ('failed', 'blocked');

-- The documents of a job in the order of their completion, from 1, without gaps.
CREATE TABLE job_documents (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    place INTEGER NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    document BLOB NOT NULL,                   -- JSON, compressed by zstd
    PRIMARY KEY (job, position)
) STRICT;

CREATE UNIQUE INDEX job_documents_by_place ON job_documents (job, place);

-- A later team with the same name sees no old jobs. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_jobs AFTER DELETE ON teams
BEGIN
    UPDATE jobs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
END;
