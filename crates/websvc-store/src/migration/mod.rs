//! Migrations of the database schema: an ordered list of steps that only grows, for each engine. Here those of SQLite.
//!
//! SQLite's `user_version` stores the number of applied steps. Each step runs in one transaction together with the new
//! number. So a crash leaves the old or the new schema, and processes that start at the same time apply a step once.

pub(crate) mod postgres;

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The steps: the one at index `n` migrates the schema from version `n` to `n + 1`.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("sqlite/001_keys_and_pages.sql"),
    include_str!("sqlite/002_artifacts.sql"),
    include_str!("sqlite/003_profiles.sql"),
    include_str!("sqlite/004_access.sql"),
    include_str!("sqlite/005_credits.sql"),
    include_str!("sqlite/006_threat.sql"),
    include_str!("sqlite/007_jobs.sql"),
    include_str!("sqlite/008_webhooks.sql"),
    include_str!("sqlite/009_job_bytes.sql"),
    include_str!("sqlite/010_job_site.sql"),
    include_str!("sqlite/011_webhook_age.sql"),
    include_str!("sqlite/012_job_retries.sql"),
    include_str!("sqlite/013_threat_version.sql"),
    include_str!("sqlite/014_index_policy.sql"),
    include_str!("sqlite/015_job_copies.sql"),
    include_str!("sqlite/016_replicas.sql"),
    include_str!("sqlite/017_page_snapshots.sql"),
    include_str!("sqlite/018_monitors.sql"),
    include_str!("sqlite/019_monitor_messages.sql"),
    include_str!("sqlite/020_browser_sessions.sql"),
    include_str!("sqlite/021_replica_addresses.sql"),
    include_str!("sqlite/022_feedback.sql"),
    include_str!("sqlite/023_api_version.sql"),
    include_str!("sqlite/024_agent_runs.sql"),
    include_str!("sqlite/025_agent_messages.sql"),
    include_str!("sqlite/026_job_interruptions.sql"),
    include_str!("sqlite/027_robots_agent.sql"),
    include_str!("sqlite/028_index_outbox.sql"),
];

/// Outcome of [`migrate`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MigrationOutcome {
    /// The schema has the newest version that this program supports.
    Current,
    /// A newer program migrated the file; nothing was changed.
    Newer { found: u32, supported: u32 },
}

/// Migrates the schema to the last of `steps`.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<MigrationOutcome> {
    let supported = u32::try_from(steps.len()).expect("there are few migrations");
    loop {
        if version(connection)? == supported {
            return Ok(MigrationOutcome::Current);
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again under the write lock: another process may have applied the step in the meantime.
        let found = version(&transaction)?;
        if found > supported {
            return Ok(MigrationOutcome::Newer { found, supported });
        }
        if found < supported {
            apply_step(transaction, found, steps[found as usize])?;
        }
    }
}

fn apply_step(transaction: Transaction<'_>, found: u32, sql: &str) -> rusqlite::Result<()> {
    transaction.execute_batch(sql)?;
    transaction.pragma_update(None, "user_version", found + 1)?;
    transaction.commit()
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (7);";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 1;";

    #[test]
    fn steps_are_applied_in_order_and_once() {
        let mut db = Connection::open_in_memory().unwrap();
        assert_eq!(migrate(&mut db, &[FIRST]).unwrap(), MigrationOutcome::Current);
        assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), MigrationOutcome::Current);
        assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), MigrationOutcome::Current);
        assert_eq!(version(&db).unwrap(), 2);
        let row: (i64, i64) =
            db.query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row, (7, 1));
    }

    #[test]
    fn failing_step_leaves_the_schema_unchanged() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST]).unwrap();
        migrate(&mut db, &[FIRST, "CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER);"]).unwrap_err();
        assert_eq!(version(&db).unwrap(), 1);
        assert!(db.prepare("SELECT x FROM b").is_err(), "the table of the failed step must be gone");
        assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), MigrationOutcome::Current);
    }

    #[test]
    fn newer_schema_is_reported_and_not_changed() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        assert_eq!(migrate(&mut db, &[FIRST]).unwrap(), MigrationOutcome::Newer { found: 2, supported: 1 });
        assert_eq!(version(&db).unwrap(), 2);
    }

    #[test]
    fn index_policy_migration_makes_old_pages_and_teams_shared() {
        let mut db = Connection::open_in_memory().unwrap();
        let before = MIGRATIONS.iter().position(|step| step.contains("index_policy")).unwrap();
        migrate(&mut db, &MIGRATIONS[..before]).unwrap();
        db.execute_batch(
            "INSERT INTO teams (name, created_at) VALUES ('red', 1); \
             INSERT INTO pages (url, variant, host, final_url, status, headers, fetched_at, truncated, size, \
             body_length, body_encoding, body) VALUES ('http://a.test/', '', 'a.test', '', 200, '[]', 1, 0, 1, 0, 'plain', x'');",
        )
        .unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        let sql = "SELECT owner, index_policy, page_owner FROM pages, teams";
        let row: (u64, String, Option<u64>) =
            db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        assert_eq!(row, (0, "shared".to_owned(), None));
    }

    #[test]
    fn list_entry_migration_makes_old_urls_no_copies() {
        let mut db = Connection::open_in_memory().unwrap();
        let before = MIGRATIONS.iter().position(|step| step.contains("copy_of")).unwrap();
        migrate(&mut db, &MIGRATIONS[..before]).unwrap();
        db.execute_batch(
            "INSERT INTO jobs (id, team, kind, state, request, created_at, expires_at) \
             VALUES ('a', 'red', 'batch', 'running', '{}', 1, 2); \
             INSERT INTO job_urls (job, place, key, url, state) VALUES (1, 1, 'k', 'http://a.test/', 'waiting');",
        )
        .unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        let row: (Option<String>, Option<u64>, Option<i64>) = db
            .query_row("SELECT given, list_index, copy_of FROM job_urls", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(row, (None, None, None));
    }

    #[test]
    fn monitor_migration_keeps_webhooks_of_jobs_and_their_events() {
        let mut db = Connection::open_in_memory().unwrap();
        db.pragma_update(None, "foreign_keys", true).unwrap();
        let before = MIGRATIONS.iter().position(|step| step.contains("TABLE monitors")).unwrap();
        migrate(&mut db, &MIGRATIONS[..before]).unwrap();
        db.execute_batch(
            "INSERT INTO jobs (number, id, team, kind, state, request, created_at, expires_at) \
             VALUES (7, 'j', 'red', 'crawl', 'running', '{}', 1, 2); \
             INSERT INTO webhooks (job, url, host, headers, metadata, events, dropped_at) \
             VALUES (7, 'http://u.test/', 'u.test', '{}', '{}', 'page,failed', 5); \
             INSERT INTO webhook_events (number, id, job, event, created_at, due_at, since) \
             VALUES (4, 'e', 7, 'failed', 1, 1, 1); \
             INSERT INTO webhook_events (number, id, job, event, position, created_at, due_at, since, forget_at) \
             VALUES (5, 'f', 7, 'page', 1, 1, 1, 1, 9);",
        )
        .unwrap();
        migrate(&mut db, MIGRATIONS).unwrap();
        let webhook = "SELECT job, team, source, source_id, events, waiting, dropped_at FROM webhooks";
        let webhook: (i64, String, String, String, String, i64, i64) = db
            .query_row(webhook, [], |row| {
                let (job, waiting, dropped_at) = (row.get(0)?, row.get(5)?, row.get(6)?);
                Ok((job, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, waiting, dropped_at))
            })
            .unwrap();
        let text = str::to_owned;
        assert_eq!(webhook, (7, text("red"), text("crawl"), text("j"), text("page,failed"), 1, 5));
        let events = "SELECT group_concat(number || id || event || is_success || ifnull(forget_at, '')) \
                      FROM (SELECT * FROM webhook_events ORDER BY number)";
        let events: String = db.query_row(events, [], |row| row.get(0)).unwrap();
        assert_eq!(events, "4efailed0,5fpage19");
        db.execute("DELETE FROM jobs", []).unwrap();
        let left: i64 = db.query_row("SELECT count(*) FROM webhook_events", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "events are deleted with their job");
    }
}
