-- Jobs: work that continues after its request was answered, on the pages of a list or of a site.
CREATE TABLE jobs (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    team TEXT NOT NULL,
    key TEXT,                                 -- NULL: anonymous
    kind TEXT NOT NULL CHECK (kind IN ('batch', 'crawl')),
    api_version TEXT NOT NULL DEFAULT 'v2' CHECK (api_version IN ('v1', 'v2')), -- that the client called
    state TEXT NOT NULL CHECK (state IN ('running', 'completed', 'cancelled', 'failed')),
    request TEXT NOT NULL CHECK (request::json IS NOT NULL),
    idempotency TEXT,
    page_limit BIGINT,                        -- documents after which it is complete; NULL: no limit
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    expires_at BIGINT NOT NULL,
    error TEXT,                               -- reason of the failure
    -- Final URL of the start page of a crawl, if it was redirected to a site that belongs to the crawl too.
    led_to TEXT,
    -- Counts, so that readers need not count the rows.
    urls BIGINT NOT NULL DEFAULT 0,           -- rows of job_urls, without aliases and excluded URLs
    open BIGINT NOT NULL DEFAULT 0,           -- queued and leased URLs
    blocked BIGINT NOT NULL DEFAULT 0,        -- URLs that robots.txt disallows
    left_out BIGINT NOT NULL DEFAULT 0,       -- URLs skipped at the limit of URLs
    listed BIGINT NOT NULL DEFAULT 0,         -- URLs in the lists so far, also skipped ones: the next index
    documents BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,          -- of the documents, before compression
    credits BIGINT NOT NULL DEFAULT 0,
    replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL, -- the process that works on it; NULL: none
    is_spread BIGINT NOT NULL DEFAULT 0 CHECK (is_spread IN (0, 1)), -- 1: other replicas may lease its URLs, too
    CHECK ((state = 'running') = (finished_at IS NULL))
);

CREATE UNIQUE INDEX jobs_by_idempotency ON jobs (team, idempotency) WHERE idempotency IS NOT NULL;
CREATE INDEX jobs_by_team ON jobs (team, kind, state);
CREATE INDEX jobs_running ON jobs (number) WHERE state = 'running';
CREATE INDEX jobs_by_expiry ON jobs (expires_at);
CREATE INDEX jobs_by_replica ON jobs (replica) WHERE replica IS NOT NULL;
CREATE INDEX jobs_spread ON jobs (number) WHERE state = 'running' AND is_spread = 1;

-- The URLs of a job, unique by `key`. `place` is the order in which they were found.
CREATE TABLE job_urls (
    job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    place BIGINT NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    -- The host whose pace bounds the requests for the URL: that of `pace_key` in the crate of jobs.
    host TEXT COLLATE "C" GENERATED ALWAYS AS
        (substring(url FROM '^[a-z]+://(?:[^/?#@]*@)?(?:www\.)?([^/?#]*)')) STORED,
    depth BIGINT NOT NULL DEFAULT 0,
    -- Batches: the URL as it was sent, its index in the list, and for a repeated URL the place of the original row.
    -- Such a row waits until the original is completed, and has its outcome.
    given TEXT,
    list_index BIGINT CHECK (list_index >= 0),
    copy_of BIGINT,
    waits_for BIGINT,                         -- `copy_of`, until that row is completed
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'document', 'failed', 'blocked', 'dropped', 'alias')),
    -- The number of the replica, with which the lease ends, or 0 for a process that has not joined the replicas.
    leased_by BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,       -- number of leases, which identifies the current one
    retries BIGINT NOT NULL DEFAULT 0,        -- fewer than the leases, because a dead process has leased URLs in vain
    -- A process that ends while it works on a URL may have been ended by it. URLs that were only leased do not count.
    is_started BIGINT NOT NULL DEFAULT 0 CHECK (is_started IN (0, 1)),
    interruptions BIGINT NOT NULL DEFAULT 0,  -- leases that ended during the work
    ended_at BIGINT,
    code TEXT,
    error TEXT,
    PRIMARY KEY (job, place),
    CHECK ((state = 'leased') = (leased_by IS NOT NULL))
);

-- Keys can be longer than the entries of a B-tree, so no index makes (job, key) unique. The lock of the job does.
CREATE INDEX job_urls_by_key ON job_urls USING hash (key);
-- A repeated URL has many waiting rows, which the query for leases must not scan.
CREATE INDEX job_urls_open ON job_urls (job, waits_for, place) WHERE state IN ('waiting', 'leased');
CREATE INDEX job_urls_failed ON job_urls (job, place) WHERE state IN ('failed', 'blocked');

-- The documents of a job in the order of their completion, from 1, without gaps.
CREATE TABLE job_documents (
    job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    place BIGINT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    document BYTEA NOT NULL,                  -- JSON, compressed by zstd
    PRIMARY KEY (job, position)
);

ALTER TABLE job_documents ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE UNIQUE INDEX job_documents_by_place ON job_documents (job, place);

-- Size of the documents of all jobs, maintained by triggers, so that readers need not sum the rows.
CREATE TABLE job_storage (
    number BIGINT PRIMARY KEY,
    bytes BIGINT NOT NULL                     -- of the documents, compressed
);

INSERT INTO job_storage (number, bytes) VALUES (1, 0);

CREATE FUNCTION add_to_job_storage(added BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO job_storage (number, bytes) SELECT total_row(), added WHERE added <> 0
    ON CONFLICT (number) DO UPDATE SET bytes = job_storage.bytes + excluded.bytes
$$;

CREATE FUNCTION add_job_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_job_storage(length(NEW.document));
    RETURN NULL;
END $$;

CREATE FUNCTION subtract_job_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_to_job_storage((SELECT -coalesce(sum(length(document)), 0)::BIGINT FROM deleted));
    RETURN NULL;
END $$;

CREATE TRIGGER job_documents_added AFTER INSERT ON job_documents
FOR EACH ROW EXECUTE FUNCTION add_job_document();
CREATE TRIGGER job_documents_removed AFTER DELETE ON job_documents
REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION subtract_job_documents();
