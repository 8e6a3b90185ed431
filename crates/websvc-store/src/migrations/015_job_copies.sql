-- Batches: the URL as it was sent, its index in the list, and for one that is named again the place of the row whose page it
-- has. Such a row waits until that one has ended, and ends as it did.
ALTER TABLE job_urls ADD COLUMN given TEXT;
ALTER TABLE job_urls ADD COLUMN list_index INTEGER CHECK (list_index >= 0);
ALTER TABLE job_urls ADD COLUMN copy_of INTEGER;
ALTER TABLE job_urls ADD COLUMN waits_for INTEGER; -- `copy_of`, until that row has ended

-- URLs of the lists so far, those that were left out among them: the index of the first one of the next list.
ALTER TABLE jobs ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;

-- Rows that wait for others are many when a URL is repeated, and are not to be passed over for each lease.
DROP INDEX job_urls_open;
CREATE INDEX job_urls_open ON job_urls (job, waits_for, place) WHERE state IN ('waiting', 'leased');
