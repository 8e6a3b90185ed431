//! The beginning and the end of a migration on the server.

use std::path::Path;

use super::MigrationMode;
use super::error::MigrateError;
use super::source::Source;
use super::table::{COPIED, NOT_COPIED, SEEDED};
use crate::database::{Database, Durability};
use crate::error::StoreError;
use crate::sql::{self, Connection, Transaction, params};
use crate::unfinished_migration::{self as unfinished, SourceIdentity};

/// Number of rows up to which the rows of a table are counted for a message.
const MAX_COUNTED_ROWS: u64 = 1_000;

/// Requests the lock of a migration, which is one of its session. Returns whether it is granted.
const TRY_LOCK: &str = "SELECT pg_try_advisory_lock(2003139683, hashtext(current_schema()))";

/// Acquires the lock that only one migration at a time can have. It is released when the session is dropped.
pub(super) fn lock(target: &Database) -> Result<Connection, StoreError> {
    let session = target.open_server_connection()?.expect("the database is a server");
    let is_granted = session.query_row(TRY_LOCK, params![], |row| row.get(0));
    if is_granted.map_err(|error| target.error(error))? {
        return Ok(session);
    }
    Err(StoreError::InUse { url: url(target.location()) })
}

/// State of the server when a migration begins.
enum BeginOutcome {
    Begun,
    NotEmpty { found: String },
    OtherSource { from: String },
}

/// Begins or continues a migration.
///
/// # Errors
/// [`MigrateError::TargetNotEmpty`] and [`MigrateError::OtherSource`]; then nothing is changed.
pub(super) fn begin(
    target: &Database,
    source: &SourceIdentity,
    mode: MigrationMode,
) -> Result<(), MigrateError> {
    let outcome = target.write(Durability::Power, |transaction| {
        match (unfinished::read(transaction)?, mode) {
            (Some(_), MigrationMode::Restart) => truncate(transaction)?,
            (Some(other), MigrationMode::Resume) if other.id != source.id => {
                return Ok(BeginOutcome::OtherSource { from: other.dir });
            }
            (Some(_), MigrationMode::Resume) => {}
            (None, MigrationMode::Restart | MigrationMode::Resume) => {
                let found = rows_found(transaction)?;
                if !found.is_empty() {
                    return Ok(BeginOutcome::NotEmpty { found: found.join(", ") });
                }
                delete_seeds(transaction)?;
            }
        }
        disable_triggers(transaction)?;
        unfinished::mark(transaction, source)?;
        Ok(BeginOutcome::Begun)
    })?;
    let url = url(target.location());
    match outcome {
        BeginOutcome::Begun => Ok(()),
        BeginOutcome::NotEmpty { found } => Err(MigrateError::TargetNotEmpty { url, found }),
        BeginOutcome::OtherSource { from } => Err(MigrateError::OtherSource { url, from }),
    }
}

/// Returns the tables that have rows which the schema has not created, with their numbers.
fn rows_found(connection: &Connection) -> sql::Result<Vec<String>> {
    let mut found = Vec::new();
    for name in COPIED.iter().chain(NOT_COPIED).filter(|name| !SEEDED.contains(name)) {
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM \"{name}\" LIMIT ?1) AS first");
        match connection.query_row(&sql, params![MAX_COUNTED_ROWS], |row| row.get::<u64>(0))? {
            0 => {}
            MAX_COUNTED_ROWS => found.push(format!("{MAX_COUNTED_ROWS} or more rows in {name}")),
            rows => found.push(format!("{rows} row(s) in {name}")),
        }
    }
    Ok(found)
}

/// Deletes the rows that the schema has created, which are copied too.
fn delete_seeds(transaction: &Transaction<'_>) -> sql::Result<()> {
    for name in SEEDED {
        transaction.execute(&format!("DELETE FROM \"{name}\""), params![])?;
    }
    Ok(())
}

/// Disables the triggers that maintain totals, because the totals are copied too. Those of foreign keys stay enabled.
fn disable_triggers(transaction: &Transaction<'_>) -> sql::Result<()> {
    for name in COPIED {
        transaction.execute(&format!("ALTER TABLE \"{name}\" DISABLE TRIGGER USER"), params![])?;
    }
    Ok(())
}

/// Deletes everything that an unfinished migration has copied.
fn truncate(transaction: &Transaction<'_>) -> sql::Result<()> {
    let names: Vec<String> = COPIED.iter().chain(NOT_COPIED).map(|name| format!("\"{name}\"")).collect();
    // With the tables that only a server has and that refer to these.
    transaction.execute(&format!("TRUNCATE {} CASCADE", names.join(", ")), params![])?;
    Ok(())
}

/// Makes the database usable.
pub(super) fn finish(source: &Source<'_>, target: &Database) -> Result<(), StoreError> {
    let mut last_numbers = Vec::new();
    for (table, column) in target.read(identity_columns)? {
        last_numbers.push((source.last_number(&table)?, table, column));
    }
    target.write(Durability::Power, |transaction| {
        for (last, table, column) in &last_numbers {
            advance_identity(transaction, table, column, *last)?;
        }
        for name in COPIED {
            transaction.execute(&format!("ALTER TABLE \"{name}\" ENABLE TRIGGER USER"), params![])?;
        }
        unfinished::unmark(transaction)
    })
}

/// Returns the tables whose rows the server numbers, with the column of the number.
fn identity_columns(connection: &Connection) -> sql::Result<Vec<(String, String)>> {
    let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns \
               WHERE table_schema = current_schema() AND is_identity = 'YES'";
    let mut columns: Vec<(String, String)> =
        connection.query(sql, params![], |row| Ok((row.get(0)?, row.get(1)?)))?;
    // Other programs may have tables in the same schema.
    columns.retain(|(table, _)| COPIED.iter().chain(NOT_COPIED).any(|name| name == table));
    Ok(columns)
}

/// Makes the server continue after the highest number in the table, and after `last`, the highest one that the source
/// has assigned, so that no number of a deleted row is used again.
fn advance_identity(transaction: &Transaction<'_>, table: &str, column: &str, last: i64) -> sql::Result<()> {
    let max = format!("SELECT coalesce(max(\"{column}\"), 0) FROM \"{table}\"");
    let max: i64 = transaction.query_row(&max, params![], |row| row.get(0))?;
    let last = last.max(max);
    if last > 0 {
        let sql = "SELECT setval(pg_get_serial_sequence(?1, ?2), ?3)";
        transaction.query_row(sql, params![format!("\"{table}\""), column, last], |_| Ok(()))?;
    }
    Ok(())
}

pub(super) fn url(location: &Path) -> String {
    location.display().to_string()
}
