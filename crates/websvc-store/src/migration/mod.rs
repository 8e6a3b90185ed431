//! Migrations of the database schema: an ordered list of steps that only grows, for each engine. Here those of SQLite.
//!
//! SQLite's `user_version` stores the number of applied steps. Each step runs in one transaction together with the new
//! number. So a crash leaves the old or the new schema, and processes that start at the same time apply a step once.

pub(crate) mod postgres;

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The whole schema, by topic. No file refers to a table of a later one.
const SCHEMA: &str = concat!(
    include_str!("sqlite/001_schema/keys.sql"),
    include_str!("sqlite/001_schema/replicas.sql"),
    include_str!("sqlite/001_schema/pages.sql"),
    include_str!("sqlite/001_schema/artifacts.sql"),
    include_str!("sqlite/001_schema/sessions.sql"),
    include_str!("sqlite/001_schema/credits.sql"),
    include_str!("sqlite/001_schema/jobs.sql"),
    include_str!("sqlite/001_schema/monitors.sql"),
    include_str!("sqlite/001_schema/runs.sql"),
    include_str!("sqlite/001_schema/webhooks.sql"),
    include_str!("sqlite/001_schema/deleted_teams.sql"),
);

/// The steps: the one at index `n` migrates the schema from version `n` to `n + 1`.
pub(crate) const MIGRATIONS: &[&str] = &[
    SCHEMA,
    include_str!("sqlite/002_invitations.sql"),
    include_str!("sqlite/003_oauth.sql"),
    include_str!("sqlite/004_channels.sql"),
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
}
