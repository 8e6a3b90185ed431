-- A later team with the same name starts without budget and usage, and sees no old jobs. The sweep deletes these.
CREATE FUNCTION end_deleted_team() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    UPDATE grants SET voided = voided + balance, balance = 0, current = 0 WHERE team = OLD.name AND current = 1;
    DELETE FROM usage_daily WHERE team = OLD.name;
    DELETE FROM usage_log WHERE team = OLD.name;
    DELETE FROM webhooks WHERE job IN (SELECT number FROM jobs WHERE team = OLD.name);
    DELETE FROM webhook_secrets WHERE team = OLD.name;
    UPDATE jobs SET finished_at = coalesce(finished_at, now_ms),
        state = CASE state WHEN 'running' THEN 'cancelled' ELSE state END,
        team = '', key = NULL, idempotency = NULL, expires_at = 0
    WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_deleted_team();

CREATE FUNCTION delete_feedback_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM feedback WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_feedback AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_feedback_of_team();

CREATE FUNCTION delete_browser_sessions_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM browser_sessions WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_browser_sessions AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_browser_sessions_of_team();

-- Without an index by team: teams are deleted rarely.
CREATE FUNCTION delete_results_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM scrape_results WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_results AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION delete_results_of_team();

-- A later team with the same name sees no old monitors. The sweep deletes them.
CREATE FUNCTION end_monitors_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    now_ms BIGINT := floor(extract(epoch FROM clock_timestamp()) * 1000);
BEGIN
    DELETE FROM webhooks WHERE source = 'monitor' AND team = OLD.name;
    UPDATE monitor_checks SET status = 'failed', finished_at = now_ms, expires_at = 0, replica = NULL
    WHERE finished_at IS NULL AND monitor IN (SELECT number FROM monitors WHERE team = OLD.name);
    UPDATE monitors SET team = '', key = NULL, deleted_at = coalesce(deleted_at, now_ms) WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_monitors AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_monitors_of_team();

-- A later team with the same name sees no old runs. The sweep deletes them. Each run gets a name of its own, because
-- (team, created_at) is unique.
CREATE FUNCTION end_agent_runs_of_team() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks WHERE source IN ('agent', 'extract') AND team = OLD.name;
    UPDATE agent_runs SET
        finished_at = coalesce(finished_at, floor(extract(epoch FROM clock_timestamp()) * 1000)),
        status = CASE WHEN finished_at IS NULL THEN 'failed' ELSE status END,
        team = '/' || number, key = NULL, replica = NULL, expires_at = 0
    WHERE team = OLD.name;
    RETURN NULL;
END $$;

CREATE TRIGGER teams_deleted_with_agent_runs AFTER DELETE ON teams
FOR EACH ROW EXECUTE FUNCTION end_agent_runs_of_team();
