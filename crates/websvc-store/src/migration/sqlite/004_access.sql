-- Rights of keys: operations, formats, networks, expiry and limits. NULL sets no restriction.
ALTER TABLE keys ADD COLUMN admin INTEGER NOT NULL DEFAULT 0 CHECK (admin IN (0, 1));
ALTER TABLE keys ADD COLUMN scopes TEXT;   -- names, separated by commas; NULL: all but administration
ALTER TABLE keys ADD COLUMN formats TEXT;  -- names, separated by commas
ALTER TABLE keys ADD COLUMN networks TEXT; -- CIDR blocks, separated by commas
ALTER TABLE keys ADD COLUMN expires_at INTEGER;
ALTER TABLE keys ADD COLUMN requests_per_minute INTEGER CHECK (requests_per_minute >= 0);
ALTER TABLE keys ADD COLUMN concurrency INTEGER CHECK (concurrency >= 0);

DROP TRIGGER keys_updated;

CREATE TRIGGER keys_updated AFTER UPDATE OF
    id, hash, team, label, revoked_at, admin, scopes, formats, networks, expires_at, requests_per_minute, concurrency
ON keys
BEGIN UPDATE access_version SET version = version + 1; END;
