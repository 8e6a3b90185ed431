-- A process that ends while it works on a URL may have been ended by it. URLs that were only leased do not count.
ALTER TABLE job_urls ADD COLUMN is_started INTEGER NOT NULL DEFAULT 0 CHECK (is_started IN (0, 1));
ALTER TABLE job_urls ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0; -- leases that ended during the work
