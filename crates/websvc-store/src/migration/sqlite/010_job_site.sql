-- Final URL of the start page of a crawl, if it was redirected to a site that belongs to the crawl too.
ALTER TABLE jobs ADD COLUMN led_to TEXT;

-- Number of URLs that robots.txt disallows.
ALTER TABLE jobs ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET blocked =
    (SELECT count(*) FROM job_urls WHERE job_urls.job = jobs.number AND job_urls.state = 'blocked');
