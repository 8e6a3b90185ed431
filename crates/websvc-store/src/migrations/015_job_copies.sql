-- Batches: the URL as it was sent, its index in the list, and for one that is named again the place of the row whose page it
-- has. Such a row waits until that one has ended, and ends as it did.
ALTER TABLE job_urls ADD COLUMN given TEXT;
ALTER TABLE job_urls ADD COLUMN list_index INTEGER CHECK (list_index >= 0);
ALTER TABLE job_urls ADD COLUMN copy_of INTEGER;
