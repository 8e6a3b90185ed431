//! The SQLite file: its connections and their settings.
//!
//! In WAL mode readers and the writer do not wait for each other, so a page can be read while another is stored. The
//! writing connection is behind a mutex, because SQLite permits one writer at a time anyway. Waiting for the mutex is
//! cheaper and fairer than SQLite's busy handler, which is left to wait for other processes.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::BUSY_TIMEOUT;
use crate::error::StoreError;
use crate::migration::{MIGRATIONS, MigrationOutcome, migrate};
use crate::private_file::{create_private_dir, create_private_file};
use crate::sql::{self, Connection};

pub(crate) const FILE_NAME: &str = "websvc.db";
/// Maximum of reading connections. A read takes well under a millisecond, so more would only cost memory.
pub(super) const MAX_READERS: usize = 4;
/// Size of the page cache of one connection. The operating system caches the file as well.
const CONNECTION_CACHE_KIB: i64 = 256;
/// Number of prepared statements that a connection caches. The completion of a job page needs about twenty, and
/// preparing one costs more than executing it.
const CACHED_STATEMENTS: usize = 64;
/// The size to which the write-ahead log is truncated after a checkpoint.
const LOG_LIMIT_BYTES: i64 = 16 * 1024 * 1024;

/// A database file.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
}

impl DatabaseFile {
    /// Opens or creates the database in `dir`, and migrates its schema. Returns it with its writing connection.
    pub(super) fn open(dir: &Path) -> Result<(Self, Connection), StoreError> {
        create_private_dir(dir).map_err(|error| StoreError::io(dir, error))?;
        let path = dir.join(FILE_NAME);
        create_private_file(&path).map_err(|error| StoreError::io(&path, error))?;
        let failed = |error| StoreError::from_sqlite(&path, error);
        let mut writer = connect(&path).map_err(failed)?;
        enter_wal_mode(&writer).map_err(failed)?;
        match migrate(&mut writer, MIGRATIONS).map_err(failed)? {
            MigrationOutcome::Current => {}
            MigrationOutcome::Newer { found, supported } => {
                return Err(StoreError::NewerSchema { path, found, supported });
            }
        }
        Ok((Self { path }, Connection::Sqlite(writer)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open_writer(&self) -> sql::Result<Connection> {
        Ok(Connection::Sqlite(connect(&self.path)?))
    }

    pub(super) fn open_reader(&self) -> sql::Result<Connection> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(Connection::Sqlite(connection))
    }

    /// Copies everything that is committed now into a new database file. Other connections may read and write
    /// meanwhile.
    pub(super) fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        let failed = |error| StoreError::from_sqlite(target, error);
        // A connection outside of the pool, because the copy may take long.
        let connection = connect(&self.path).map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        create_private_file(target).map_err(|error| StoreError::io(target, error))?;
        let path = target.to_str().ok_or_else(|| {
            StoreError::io(target, io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
        })?;
        connection.execute("VACUUM INTO ?1", [path]).map(drop).map_err(failed)
    }
}

/// Limits the size of the file of a writing connection. A file that is already larger keeps its size.
pub(super) fn limit_size(writer: &rusqlite::Connection, max_bytes: u64) -> rusqlite::Result<()> {
    let page_bytes: u64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
    writer.pragma_update_and_check(None, "max_page_count", max_bytes / page_bytes.max(1), |_| Ok(()))
}

fn connect(path: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CONNECTION_CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT_BYTES, |_| Ok(()))?;
    // The file may be from an untrusted source: its schema must not call functions with side effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Turns on the write-ahead log. SQLite's busy handler does not apply to this statement, so this retries.
fn enter_wal_mode(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        let outcome =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match outcome {
            Err(error) if is_busy(&error) && started.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome.map(|_| ()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}
