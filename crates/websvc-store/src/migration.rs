//! The schema of the database, as an ordered list of steps that only ever grows.
//!
//! The number of steps taken is kept in SQLite's `user_version`. Every step runs in one transaction together with the
//! new number, so a crash leaves the old schema or the new one, and two processes that start together take it once.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The steps: the one at position `n` brings the schema from version `n` to `n + 1`.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001_keys_and_pages.sql"),
    include_str!("migrations/002_artifacts.sql"),
    include_str!("migrations/003_profiles.sql"),
    include_str!("migrations/004_access.sql"),
    include_str!("migrations/005_credits.sql"),
    include_str!("migrations/006_threat.sql"),
    include_str!("migrations/007_jobs.sql"),
    include_str!("migrations/008_webhooks.sql"),
    include_str!("migrations/009_job_bytes.sql"),
    include_str!("migrations/010_job_site.sql"),
    include_str!("migrations/011_webhook_age.sql"),
    include_str!("migrations/012_job_retries.sql"),
    include_str!("migrations/013_threat_version.sql"),
    include_str!("migrations/014_index_policy.sql"),
    include_str!("migrations/015_job_copies.sql"),
];

/// Outcome of [`migrate`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MigrationOutcome {
    /// The schema is the newest this program knows.
    Current,
    /// The file is of a later program; nothing was touched.
    Newer { found: u32, known: u32 },
}

/// Brings the schema up to the last of `steps`.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<MigrationOutcome> {
    let known = u32::try_from(steps.len()).expect("there are few migrations");
    loop {
        if version(connection)? == known {
            return Ok(MigrationOutcome::Current);
        }
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again under the write lock: another process may have taken the step in between.
        let found = version(&step)?;
        if found > known {
            return Ok(MigrationOutcome::Newer { found, known });
        }
        if found < known {
            take_step(step, found, steps[found as usize])?;
        }
    }
}

fn take_step(transaction: Transaction<'_>, found: u32, sql: &str) -> rusqlite::Result<()> {
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
    fn steps_are_taken_in_order_and_once() {
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
    fn a_failing_step_leaves_the_schema_as_it_was() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST]).unwrap();
        migrate(&mut db, &[FIRST, "CREATE TABLE b (x INTEGER); CREATE TABLE a (x INTEGER);"]).unwrap_err();
        assert_eq!(version(&db).unwrap(), 1);
        assert!(db.prepare("SELECT x FROM b").is_err(), "the table of the failed step must be gone");
        assert_eq!(migrate(&mut db, &[FIRST, SECOND]).unwrap(), MigrationOutcome::Current);
    }

    #[test]
    fn a_newer_schema_is_reported_and_left_alone() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &[FIRST, SECOND]).unwrap();
        assert_eq!(migrate(&mut db, &[FIRST]).unwrap(), MigrationOutcome::Newer { found: 2, known: 1 });
        assert_eq!(version(&db).unwrap(), 2);
    }

    #[test]
    fn pages_and_teams_from_before_the_index_policy_are_shared() {
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
    fn urls_of_jobs_from_before_the_list_entries_are_no_copies() {
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
}
