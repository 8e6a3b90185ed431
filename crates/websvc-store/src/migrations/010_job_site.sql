-- Where the first page of a crawl led: its site is there, too. NULL: nowhere else.
ALTER TABLE jobs ADD COLUMN led_to TEXT;

-- URLs that robots.txt forbids.
ALTER TABLE jobs ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET blocked =
    (SELECT count(*) FROM job_urls WHERE job_urls.job = jobs.number AND job_urls.state = 'blocked');
