-- Batches: the URL as it was sent, its index in the list, and for a repeated URL the place of the original row. Such a row
-- waits until the original is completed, and has its outcome.
ALTER TABLE job_urls ADD COLUMN given TEXT;
ALTER TABLE job_urls ADD COLUMN list_index INTEGER CHECK (list_index >= 0);
ALTER TABLE job_urls ADD COLUMN copy_of INTEGER;
ALTER TABLE job_urls ADD COLUMN waits_for INTEGER; -- `copy_of`, until that row is completed

-- Number of URLs in the lists so far, including skipped ones: the index of the first URL of the next list.
ALTER TABLE jobs ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

-- A repeated URL has many waiting rows, which the query for leases must not scan.
DROP INDEX job_urls_open;
CREATE INDEX job_urls_open ON job_urls (job, waits_for, place) WHERE state IN ('waiting', 'leased');
