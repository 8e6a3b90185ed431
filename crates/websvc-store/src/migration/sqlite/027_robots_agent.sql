-- The permission of the crawls of a team to name the user agent whose rules in robots.txt apply.
ALTER TABLE teams ADD COLUMN robots_agent TEXT NOT NULL DEFAULT 'denied' CHECK (robots_agent IN ('denied', 'allowed'));
