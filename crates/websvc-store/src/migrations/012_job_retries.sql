-- How often a URL was given back to be tried again. Leases are more: a process that ends has leased what it never began.
ALTER TABLE job_urls ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
