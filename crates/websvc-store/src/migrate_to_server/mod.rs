//! Copies the state in a SQLite file to a PostgreSQL server.
//!
//! The tables are copied one after the other, some rows per transaction, in the order of their primary keys. So the
//! last row of a table on the server is the position from which an interrupted migration continues. At the end both
//! databases are read again and compared. Until then the table `unfinished_migration` makes `Store::connect` fail, and
//! the triggers of the copied tables are disabled, because the totals that they maintain are copied too.

mod copy;
mod digest;
mod error;
mod moved;
mod source;
mod table;
mod target;
mod value;
mod verify;

use std::path::Path;

use websvc_transport::Client;

use crate::database::{Database, DatabaseUrl, Durability};
use crate::sql::postgres::{SessionScope, StatementClass};
use source::Source;
use table::{COPIED, Table};

pub use error::{MigrateError, TableDifference};
pub(crate) use moved::refuse_moved;

/// A migration from a SQLite file to a PostgreSQL server.
#[derive(Debug)]
pub struct Migration<'a> {
    /// The data directory with the file. No server may use it.
    pub from: &'a Path,
    /// The database on the server.
    pub to: &'a DatabaseUrl,
    /// Opens the connections. Its guard must allow the hosts of `to`.
    pub client: Client,
    /// The use of rows that an earlier run has copied.
    pub mode: MigrationMode,
}

/// The use of rows that an earlier run has copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationMode {
    /// Continue after them.
    Resume,
    /// Delete them, and begin again. Rows that are not of an unfinished migration are never deleted.
    Restart,
}

/// Progress of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MigrationProgress {
    /// The current phase.
    pub phase: MigrationPhase,
    /// The current table.
    pub table: &'static str,
    /// Number of rows of the table that are done in this phase, including those of earlier runs.
    pub rows: u64,
    /// Number of rows in the table.
    pub total: u64,
}

/// A phase of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationPhase {
    /// Rows are copied.
    Copy,
    /// Rows of both databases are read and compared.
    Verify,
}

/// Result of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationReport {
    /// The copied tables, in the order in which they were copied.
    pub tables: Vec<TableReport>,
}

/// The rows of a table, which are the same in both databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableReport {
    /// The name of the table.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
    /// SHA-256 over all rows in the order of their primary keys, in hex digits.
    pub sha256: String,
    /// Number of texts with NUL characters, which PostgreSQL cannot store. U+FFFD replaces them on the server.
    pub texts_with_nul: u64,
}

/// Copies the state in a SQLite file to a PostgreSQL server, and verifies that all rows are the same. The file remains,
/// and `Store::open` refuses it from then on.
/// Its credit leases and the leases of its job pages are ended first, and it cannot be written meanwhile.
///
/// Running it again after an interruption continues. `progress` is called after each transaction.
///
/// # Errors
/// [`MigrateError`]. The server cannot be used until a later run succeeds.
pub fn migrate(
    migration: &Migration<'_>,
    mut progress: impl FnMut(MigrationProgress),
) -> Result<MigrationReport, MigrateError> {
    if migration.to.scope() == SessionScope::Transaction {
        return Err(MigrateError::Pooler { url: migration.to.location().display().to_string() });
    }
    let store = source::open(migration.from)?;
    let identity = source::identity(&store, migration.from)?;
    let _class = StatementClass::Migration.enter();
    let target = Database::connect_unfinished(migration.to, migration.client.clone(), None)?;
    let _lock = target::lock(&target)?;
    // One write transaction for all reads: nothing changes in between, and a process that tries it gets an error.
    let report = store.database().write(Durability::Process, |transaction| {
        let source = Source::new(transaction, store.database());
        Ok(source.ensure_unused().and_then(|()| {
            target::begin(&target, &identity, migration.mode)?;
            run(&source, &target, &mut progress)
        }))
    })??;
    moved::mark(migration.from, target.location())?;
    Ok(report)
}

fn run(
    source: &Source<'_>,
    target: &Database,
    progress: &mut dyn FnMut(MigrationProgress),
) -> Result<MigrationReport, MigrateError> {
    let mut tables = Vec::new();
    for &name in COPIED {
        let table = source.read(|connection| Table::read(connection, name))?;
        let total = source.read(|connection| table.count(connection, None))?;
        tables.push((table, total));
    }
    for (table, total) in &tables {
        copy::copy_table(source, target, table, &mut |rows| {
            progress(MigrationProgress {
                phase: MigrationPhase::Copy,
                table: table.name,
                rows,
                total: *total,
            });
        })?;
    }
    let mut reports = Vec::new();
    for (table, total) in &tables {
        let report = verify::verify_table(source, target, table, &mut |rows| {
            progress(MigrationProgress {
                phase: MigrationPhase::Verify,
                table: table.name,
                rows,
                total: *total,
            });
        })?;
        reports.push(report);
    }
    target::finish(source, target)?;
    Ok(MigrationReport { tables: reports })
}
