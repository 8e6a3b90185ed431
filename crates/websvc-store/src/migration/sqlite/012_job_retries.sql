-- Number of retries of a URL. It is lower than the number of leases, because a dead process has leased URLs in vain.
ALTER TABLE job_urls ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
