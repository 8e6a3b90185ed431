-- See the comments in step 16 for SQLite.
CREATE TABLE replicas (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    beat BIGINT NOT NULL DEFAULT 0,
    is_worker BIGINT NOT NULL CHECK (is_worker IN (0, 1))
);

ALTER TABLE jobs ADD COLUMN replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX jobs_by_replica ON jobs (replica) WHERE replica IS NOT NULL;

ALTER TABLE webhooks ADD COLUMN replica BIGINT REFERENCES replicas (id) ON DELETE SET NULL;
CREATE INDEX webhooks_by_replica ON webhooks (replica) WHERE replica IS NOT NULL;

ALTER TABLE spenders ADD COLUMN beat BIGINT NOT NULL DEFAULT 0;
ALTER TABLE spenders ADD COLUMN lost_at BIGINT;
ALTER TABLE leases ADD COLUMN is_lost BIGINT NOT NULL DEFAULT 0 CHECK (is_lost IN (0, 1));

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
