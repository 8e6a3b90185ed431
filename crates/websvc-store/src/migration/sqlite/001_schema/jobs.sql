-- Jobs: work that continues after its request was answered, on the pages of a list or of a site.
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('batch', 'crawl')),
    api_version TEXT NOT NULL DEFAULT 'v2' CHECK (api_version IN ('v1', 'v2')), -- that the client called
    state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled', 'failed')),
    request TEXT NOT NULL CHECK (json_valid(request)),
    idempotency TEXT,
    page_limit INTEGER,                       -- documents after which it is complete; NULL: no limit
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    expires_at INTEGER NOT NULL,
    error TEXT,                               -- reason of the failure
    -- Final URL of the start page of a crawl, if it was redirected to a site that belongs to the crawl too.
    led_to TEXT,
    -- Counts, so that readers need not count the rows.
    urls INTEGER NOT NULL DEFAULT 0,          -- rows of job_urls, without aliases and excluded URLs
    open INTEGER NOT NULL DEFAULT 0,          -- queued and leased URLs
    blocked INTEGER NOT NULL DEFAULT 0,       -- URLs that robots.txt disallows
    left_out INTEGER NOT NULL DEFAULT 0,      -- URLs skipped at the limit of URLs
    listed INTEGER NOT NULL DEFAULT 0,        -- URLs in the lists so far, also skipped ones: the next index
    documents INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,         -- of the documents, before compression
    credits INTEGER NOT NULL DEFAULT 0,
    replica INTEGER REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    is_spread INTEGER NOT NULL DEFAULT 0 CHECK (is_spread IN (0, 1)), -- 1: other replicas may lease its URLs, too
    CHECK ((state = 'running') = (finished_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX jobs_by_idempotency ON jobs (team, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX jobs_by_team ON jobs (team, kind, state);
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'running';
CREATE INDEX jobs_by_expiry ON jobs (expires_at);
CREATE INDEX jobs_by_replica ON jobs (replica) WHERE replica IS NOT NULL;

-- The URLs of a job, unique by `key`. `place` is the order in which they were found.
CREATE TABLE job_urls (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL DEFAULT 0,
    -- Batches: the URL as it was sent, its index in the list, and for a repeated URL the place of the original row.
    -- Such a row waits until the original is completed, and has its outcome.
    given TEXT,
    list_index INTEGER CHECK (list_index >= 0),
    copy_of INTEGER,
    waits_for INTEGER,                        -- `copy_of`, until that row is completed
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'document', 'failed', 'blocked', 'dropped', 'alias')),
    -- The number of the replica, with which the lease ends, or 0 for a process that has not joined the replicas.
    leased_by INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,      -- number of leases, which identifies the current one
    retries INTEGER NOT NULL DEFAULT 0,       -- fewer than the leases, because a dead process has leased URLs in vain
    -- A process that ends while it works on a URL may have been ended by it. URLs that were only leased do not count.
    is_started INTEGER NOT NULL DEFAULT 0 CHECK (is_started IN (0, 1)),
    interruptions INTEGER NOT NULL DEFAULT 0, -- leases that ended during the work
    ended_at INTEGER,
    code TEXT,
    error TEXT,
    PRIMARY KEY (job, place),
    CHECK ((state = 'leased') = (leased_by IS NOT NULL))
) STRICT;

CREATE UNIQUE INDEX job_urls_by_key ON job_urls (job, key);
CREATE INDEX job_urls_failed ON job_urls (job, place) WHERE state IN ('failed', 'blocked');
-- A repeated URL has many waiting rows, which the query for leases must not scan.
CREATE INDEX job_urls_open ON job_urls (job, waits_for, place) WHERE state IN ('waiting', 'leased');

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

-- Size of the documents of all jobs, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE job_storage (
    number INTEGER PRIMARY KEY CHECK (number = 1),
    bytes INTEGER NOT NULL                    -- of the documents, compressed
) STRICT;

INSERT INTO job_storage (number, bytes) VALUES (1, 0);

CREATE TRIGGER job_documents_added AFTER INSERT ON job_documents
BEGIN
    UPDATE job_storage SET bytes = bytes + length(NEW.document);
END;

CREATE TRIGGER job_documents_removed AFTER DELETE ON job_documents
BEGIN
    UPDATE job_storage SET bytes = bytes - length(OLD.document);
END;
