//! Migrations of the schema on a PostgreSQL server.
//!
//! The first step creates the tables of a SQLite file in the types of PostgreSQL: `BIGINT` for integers and
//! Boolean values (0 and 1), `BYTEA` for bytes, and texts in the order of their bytes where it matters. An
//! `ALTER TABLE` follows for bytes that are compressed already, because `CREATE TABLE` can set the storage of
//! a column only from PostgreSQL 16 on. Later changes add one step to each list, except those of tables that
//! only a server has: several processes share state there that a single process has in memory. The version is
//! in the table `schema_version`. A lock lets one process migrate while the others wait.

use super::MigrationOutcome;
use crate::sql::postgres::Session;
use crate::sql::{self, params};

/// The whole schema, by topic. No file refers to a table of a later one, except in the body of a function.
const SCHEMA: &str = concat!(
    include_str!("postgres/001_schema/keys.sql"),
    include_str!("postgres/001_schema/replicas.sql"),
    include_str!("postgres/001_schema/totals.sql"),
    include_str!("postgres/001_schema/pages.sql"),
    include_str!("postgres/001_schema/artifacts.sql"),
    include_str!("postgres/001_schema/sessions.sql"),
    include_str!("postgres/001_schema/credits.sql"),
    include_str!("postgres/001_schema/jobs.sql"),
    include_str!("postgres/001_schema/monitors.sql"),
    include_str!("postgres/001_schema/runs.sql"),
    include_str!("postgres/001_schema/webhooks.sql"),
    include_str!("postgres/001_schema/shared_state.sql"),
    include_str!("postgres/001_schema/deleted_teams.sql"),
);

/// The steps: the one at index `n` migrates the schema from version `n` to `n + 1`.
const STEPS: &[&str] = &[
    SCHEMA,
    include_str!("postgres/002_invitations.sql"),
    include_str!("postgres/003_oauth.sql"),
    include_str!("postgres/004_channels.sql"),
];

/// Begins the transaction of a migration. The lock ends with the transaction. It is awaited for as long as a migration of
/// another process may take; the locks of tables only briefly, because statements of other processes queue behind it.
const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '1h'; \
     SELECT pg_advisory_xact_lock(2003139680, hashtext(current_schema())); SET LOCAL lock_timeout = '5s'; \
     CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)";

/// Migrates the schema to the last step.
pub(crate) fn migrate(session: &Session) -> sql::Result<MigrationOutcome> {
    migrate_to(session, STEPS)
}

fn migrate_to(session: &Session, steps: &[&str]) -> sql::Result<MigrationOutcome> {
    // Later statements use the table that it creates.
    session.begin_at_once(BEGIN)?;
    let outcome = apply(session, steps);
    match &outcome {
        Ok(MigrationOutcome::Current) => session.commit()?,
        Ok(MigrationOutcome::Newer { .. }) | Err(_) => session.roll_back(),
    }
    outcome
}

fn apply(session: &Session, steps: &[&str]) -> sql::Result<MigrationOutcome> {
    let supported = u32::try_from(steps.len()).expect("there are few migrations");
    let found = version(session)?;
    if found > supported {
        return Ok(MigrationOutcome::Newer { found, supported });
    }
    for step in &steps[found as usize..] {
        session.batch(step)?;
    }
    if found < supported {
        session.batch(&format!(
            "DELETE FROM schema_version; INSERT INTO schema_version (version) VALUES ({supported})"
        ))?;
    }
    Ok(MigrationOutcome::Current)
}

/// The state of a schema on a server.
pub(crate) struct SchemaState {
    /// Number of applied steps; 0 if there are no tables yet.
    pub(crate) found: u32,
    /// The newest version that this program supports.
    pub(crate) supported: u32,
}

/// Reads the state of the schema without changing it.
pub(crate) fn inspect(session: &Session) -> sql::Result<SchemaState> {
    let mut exists = false;
    session.for_each("SELECT to_regclass('schema_version') IS NOT NULL", params![], &mut |row| {
        exists = row.get(0)?;
        Ok(std::ops::ControlFlow::Break(()))
    })?;
    let found = if exists { version(session)? } else { 0 };
    Ok(SchemaState { found, supported: u32::try_from(STEPS.len()).expect("there are few migrations") })
}

/// Returns the number of applied steps.
fn version(session: &Session) -> sql::Result<u32> {
    let mut version = 0;
    session.for_each("SELECT version FROM schema_version", params![], &mut |row| {
        version = row.get(0)?;
        Ok(std::ops::ControlFlow::Break(()))
    })?;
    Ok(version)
}
