-- State that a process with a database file has in memory, and that the replicas on a server share. A SQLite file has
-- none of these tables.

-- Token buckets of the rate limits of teams and keys, which all replicas share: the time at which each is full, in
-- microseconds since the Unix epoch. After a crash of the server all are full, so the table needs no log.
CREATE UNLOGGED TABLE rate_buckets (
    account TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    full_at BIGINT NOT NULL
);

-- Takes up to `wanted` tokens from a bucket, and returns how many, and the time until the bucket is full.
CREATE FUNCTION take_tokens(
    bucket TEXT, capacity BIGINT, interval_us BIGINT, wanted BIGINT, OUT granted BIGINT, OUT until_full_us BIGINT
) LANGUAGE plpgsql AS $$
DECLARE
    now_us BIGINT := floor(extract(epoch FROM clock_timestamp()) * 1000000);
    missing_us BIGINT;
BEGIN
    INSERT INTO rate_buckets (account, full_at) VALUES (bucket, now_us) ON CONFLICT DO NOTHING;
    SELECT least(greatest(full_at - now_us, 0), capacity * interval_us) INTO missing_us
    FROM rate_buckets WHERE account = bucket FOR UPDATE;
    granted := least(wanted, (capacity * interval_us - missing_us) / interval_us);
    until_full_us := missing_us + granted * interval_us;
    UPDATE rate_buckets SET full_at = now_us + until_full_us WHERE account = bucket;
END $$;

-- Slots for concurrent requests of teams and keys that replicas have leased: each admits as many requests of an account
-- at the same time.
CREATE TABLE slot_leases (
    account TEXT COLLATE "C" NOT NULL,
    replica BIGINT NOT NULL REFERENCES replicas (id) ON DELETE CASCADE,
    slots BIGINT NOT NULL CHECK (slots > 0),
    PRIMARY KEY (account, replica)
);

CREATE INDEX slot_leases_by_replica ON slot_leases (replica);

-- Sets the slots of a replica to `wanted`, or to as many as the others leave of `total`. Returns their number, and
-- those of the others. One call for an account waits for another. The commit does not wait for the disk: a replica that
-- misses its row after a crash of the server writes it again with its next change.
CREATE FUNCTION lease_slots(
    leased_account TEXT, leased_by BIGINT, total BIGINT, wanted BIGINT, OUT granted BIGINT, OUT others BIGINT
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || '.' || leased_account, 2003139683));
    SELECT coalesce(sum(slots), 0) INTO others
    FROM slot_leases WHERE account = leased_account AND replica <> leased_by;
    granted := greatest(least(wanted, total - others), 0);
    IF granted = 0 THEN
        DELETE FROM slot_leases WHERE account = leased_account AND replica = leased_by;
    ELSE
        INSERT INTO slot_leases (account, replica, slots) VALUES (leased_account, leased_by, granted)
        ON CONFLICT (account, replica) DO UPDATE SET slots = excluded.slots;
    END IF;
END $$;

-- Counts of the requests and pages in flight of each replica by team, as JSON, for the others. Each replica writes its
-- row every second, so the table needs no log.
CREATE UNLOGGED TABLE replica_activity (
    replica BIGINT NOT NULL PRIMARY KEY REFERENCES replicas (id) ON DELETE CASCADE,
    teams TEXT NOT NULL
);

-- The replicas that work on a job of another one.
CREATE TABLE job_helpers (
    job BIGINT NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    replica BIGINT NOT NULL REFERENCES replicas (id) ON DELETE CASCADE,
    PRIMARY KEY (job, replica)
);

CREATE INDEX job_helpers_by_replica ON job_helpers (replica);

-- The hosts of the URLs that replicas have leased. A host has one replica at a time, which bounds its pace.
CREATE TABLE host_leases (
    host TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    replica BIGINT NOT NULL REFERENCES replicas (id) ON DELETE CASCADE
);

CREATE INDEX host_leases_by_replica ON host_leases (replica);

-- Results of scrapes that clients may read again. Only the ID of a scrape decrypts its result.
CREATE TABLE scrape_results (
    id BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of the ID
    team TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0), -- that count against the limit
    body BYTEA NOT NULL                       -- compressed and encrypted
);

-- Encrypted bodies cannot be compressed further.
ALTER TABLE scrape_results ALTER COLUMN body SET STORAGE EXTERNAL;
-- For the sweep, which sums up the sizes in this order.
CREATE INDEX scrape_results_by_expiry ON scrape_results (expires_at, id, bytes);

-- Sessions of the dashboard. Only the cookie of a session decrypts its content.
CREATE TABLE dashboard_sessions (
    id BYTEA NOT NULL PRIMARY KEY CHECK (length(id) = 32), -- SHA-256 of the cookie
    content BYTEA NOT NULL,                                -- encrypted
    expires_at BIGINT NOT NULL
);
