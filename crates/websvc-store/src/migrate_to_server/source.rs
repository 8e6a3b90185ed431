//! The SQLite file that is copied.

use std::path::Path;

use data_encoding::HEXLOWER;

use super::error::MigrateError;
use crate::database::{Database, Durability, FILE_NAME};
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;
use crate::unfinished_migration::SourceIdentity;

/// The file, in a transaction that keeps other processes from writing.
pub(super) struct Source<'a> {
    connection: &'a Connection,
    database: &'a Database,
}

/// Opens the database in `dir`, migrates its schema, and ends the leases of processes that do not run any more.
pub(super) fn open(dir: &Path) -> Result<Store, MigrateError> {
    let path = dir.join(FILE_NAME);
    if !path.is_file() {
        return Err(MigrateError::NoSource { path });
    }
    let store = Store::open_moved(dir)?;
    store.recover_credit_leases()?;
    store.end_replicas()?;
    Ok(store)
}

/// Returns the identity of a database. The first migration creates it.
pub(super) fn identity(store: &Store, dir: &Path) -> Result<SourceIdentity, StoreError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|source| StoreError::Random { source })?;
    let id = store.database().write(Durability::Power, |transaction| {
        transaction.execute(
            "CREATE TABLE IF NOT EXISTS migration_source (id TEXT NOT NULL PRIMARY KEY) STRICT",
            params![],
        )?;
        transaction.execute(
            "INSERT INTO migration_source SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM migration_source)",
            params![HEXLOWER.encode(&random)],
        )?;
        transaction.query_row("SELECT id FROM migration_source", params![], |row| row.get(0))
    })?;
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    Ok(SourceIdentity { id, dir: dir.display().to_string() })
}

impl<'a> Source<'a> {
    pub(super) fn new(connection: &'a Connection, database: &'a Database) -> Self {
        Self { connection, database }
    }

    pub(super) fn path(&self) -> &Path {
        self.database.location()
    }

    /// Reads from the file.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> sql::Result<T>) -> Result<T, StoreError> {
        work(self.connection).map_err(|error| self.database.error(error))
    }

    /// Checks that no running process has leased credits, which would be lost.
    pub(super) fn ensure_unused(&self) -> Result<(), MigrateError> {
        let sql = "SELECT count(*) FROM (SELECT journal FROM spenders UNION SELECT journal FROM leases)";
        let processes = self.read(|connection| connection.query_row(sql, params![], |row| row.get(0)))?;
        match processes {
            0 => Ok(()),
            processes => Err(MigrateError::SourceInUse { path: self.path().to_owned(), processes }),
        }
    }

    /// Returns the highest number that SQLite has assigned in a table; 0 if it does not record it.
    pub(super) fn last_number(&self, table: &str) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?1";
        self.read(|connection| connection.query_row(sql, params![table], |row| row.get(0)))
    }
}
