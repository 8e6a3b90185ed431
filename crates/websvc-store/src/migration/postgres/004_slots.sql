-- Slots for concurrent requests of teams and keys that replicas have leased: each admits as many requests of an account
-- at the same time. A SQLite file has no such table: its one process counts in memory.
CREATE TABLE slot_leases (
    account TEXT COLLATE "C" NOT NULL,
    replica BIGINT NOT NULL REFERENCES replicas (id) ON DELETE CASCADE,
    slots BIGINT NOT NULL CHECK (slots > 0),
    PRIMARY KEY (account, replica)
);
CREATE INDEX slot_leases_by_replica ON slot_leases (replica);

-- Sets the slots of a replica to `wanted`, or to as many as the others leave of `total`. Returns their number, and those of
-- the others. One call for an account waits for another. The commit does not wait for the disk: a replica that misses its
-- row after a crash of the server writes it again with its next change.
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

-- Counts of the requests and pages in flight of each replica by team, as JSON, for the others. Each replica writes its row
-- every second, so the table needs no log.
CREATE UNLOGGED TABLE replica_activity (
    replica BIGINT NOT NULL PRIMARY KEY REFERENCES replicas (id) ON DELETE CASCADE,
    teams TEXT NOT NULL
);
