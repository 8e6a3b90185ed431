-- A later team with the same name starts without budget and usage.
CREATE TRIGGER teams_deleted_with_credits AFTER DELETE ON teams
BEGIN
    UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = OLD.name AND current = 1;
    DELETE FROM usage_daily WHERE team = OLD.name;
    DELETE FROM usage_log WHERE team = OLD.name;
END;

CREATE TRIGGER teams_deleted_with_feedback AFTER DELETE ON teams
BEGIN
    DELETE FROM feedback WHERE team = OLD.name;
END;

CREATE TRIGGER teams_deleted_with_browser_sessions AFTER DELETE ON teams
BEGIN
    DELETE FROM browser_sessions WHERE team = OLD.name;
END;

-- A later team with the same name sees no old jobs. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_jobs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
END;

-- A later team with the same name sees no old monitors. The sweep deletes them.
CREATE TRIGGER teams_deleted_with_monitors AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE source = 'monitor' AND team = OLD.name;
    UPDATE monitor_checks SET status = 'failed', finished_at = unixepoch() * 1000, expires_at = 0, replica = NULL
    WHERE finished_at IS NULL AND monitor IN (SELECT number FROM monitors WHERE team = OLD.name);
    UPDATE monitors SET team = '', key = NULL, deleted_at = ifnull(deleted_at, unixepoch() * 1000)
    WHERE team = OLD.name;
END;

-- A later team with the same name sees no old runs. The sweep deletes them. Each run gets a name of its own, because
-- (team, created_at) is unique.
CREATE TRIGGER teams_deleted_with_agent_runs AFTER DELETE ON teams
BEGIN
    DELETE FROM webhooks WHERE source IN ('agent', 'extract') AND team = OLD.name;
    UPDATE agent_runs SET finished_at = ifnull(finished_at, unixepoch() * 1000),
        status = CASE WHEN finished_at IS NULL THEN 'failed' ELSE status END,
        team = '/' || number, key = NULL, replica = NULL, expires_at = 0
    WHERE team = OLD.name;
END;
