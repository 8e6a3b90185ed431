//! The SQLite file: one connection that writes, a few that read, and the settings both share.
//!
//! In WAL mode readers and the writer do not wait for each other, so a page can be read while another is stored. The
//! writer is behind a mutex because SQLite has one writer at a time anyway: waiting here is cheaper and fairer than
//! in SQLite's busy handler, which then only has other processes to wait for.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::migration::{MIGRATIONS, MigrationOutcome, migrate};

pub(crate) const FILE_NAME: &str = "websvc.db";
/// How long a statement waits for another process to finish its transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// A read takes well under a millisecond: more readers than this only cost memory.
const MAX_READERS: usize = 4;
/// Page cache of one connection; the operating system caches the file as well.
const CONNECTION_CACHE_KIB: i64 = 256;
/// Statements that a connection keeps prepared: the end of a page of a job takes some twenty, and one that is prepared anew
/// costs more than it does.
const STATEMENTS: usize = 64;
/// The size to which the write-ahead log is cut back after a checkpoint.
const LOG_LIMIT_BYTES: i64 = 16 * 1024 * 1024;

/// Durability of a committed transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the process. A power failure may take back the last moments, in order. For what can be had again.
    Process,
    /// A power failure too, at the price of a disk flush: a revoked key must not come back.
    Power,
}

/// The open database.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Readers>,
    reader_returned: Condvar,
}

#[derive(Debug, Default)]
struct Readers {
    idle: Vec<Connection>,
    open: usize,
}

impl Database {
    /// Opens or creates the database in `dir` and brings its schema up to date.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        create_private_dir(dir).map_err(|error| StoreError::io(dir, error))?;
        let path = dir.join(FILE_NAME);
        create_private_file(&path).map_err(|error| StoreError::io(&path, error))?;
        let failed = |error| StoreError::from_sqlite(&path, error);
        let mut writer = connect(&path).map_err(failed)?;
        enter_wal_mode(&writer).map_err(failed)?;
        match migrate(&mut writer, MIGRATIONS).map_err(failed)? {
            MigrationOutcome::Current => {}
            MigrationOutcome::Newer { found, known } => {
                return Err(StoreError::NewerSchema { path, found, known });
            }
        }
        Ok(Self {
            path,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            reader_returned: Condvar::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens one more connection that can only read, for an owner that keeps it.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        self.open_reader().map_err(|error| self.error(error))
    }

    /// Runs `work` on a reading connection; waits for one when all are in use, at most as long as for another process. Not for
    /// async threads.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let lent = PooledReader { connection: Some(self.take_reader()?), database: self };
        let connection = lent.connection.as_ref().expect("the connection is taken out only on drop");
        work(connection).map_err(|error| self.error(error))
    }

    /// Runs `work` on a reading connection that nobody uses; `None` when there is none, without waiting for one.
    pub(crate) fn try_read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let idle = lock(&self.readers).idle.pop();
        let Some(connection) = idle else { return Ok(None) };
        let lent = PooledReader { connection: Some(connection), database: self };
        let connection = lent.connection.as_ref().expect("the connection is taken out only on drop");
        work(connection).map(Some).map_err(|error| self.error(error))
    }

    /// Runs `work` in one write transaction and commits it; an error rolls everything back.
    pub(crate) fn write<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        write_on(&mut writer, durability, work).map_err(|error| self.error(error))
    }

    /// Writes all that is committed now into a new database file, while others read and write.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        let failed = |error| StoreError::from_sqlite(target, error);
        // A connection of its own: it reads for as long as the copy takes.
        let connection = connect(&self.path).map_err(|error| self.error(error))?;
        create_private_file(target).map_err(|error| StoreError::io(target, error))?;
        let path = target.to_str().ok_or_else(|| {
            StoreError::io(target, io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
        })?;
        connection.execute("VACUUM INTO ?1", [path]).map(drop).map_err(failed)
    }

    /// Lets the writer make the file no larger than this, or than it is.
    pub(crate) fn limit_file_size(&self, max_bytes: u64) -> Result<(), StoreError> {
        let writer = lock(&self.writer);
        let bound = || {
            let page_bytes: u64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
            writer.pragma_update_and_check(None, "max_page_count", max_bytes / page_bytes.max(1), |_| Ok(()))
        };
        bound().map_err(|error| self.error(error))
    }

    pub(crate) fn error(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }

    pub(crate) fn corrupt(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), detail: detail.into() }
    }

    fn take_reader(&self) -> Result<Connection, StoreError> {
        let deadline = Instant::now() + BUSY_TIMEOUT;
        let mut readers = lock(&self.readers);
        loop {
            if let Some(connection) = readers.idle.pop() {
                return Ok(connection);
            }
            if readers.open < MAX_READERS {
                readers.open += 1;
                break;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::Busy { path: self.path.clone() });
            }
            let waited = self.reader_returned.wait_timeout(readers, left);
            (readers, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        drop(readers);
        self.open_reader().map_err(|error| {
            self.reader_gone();
            self.error(error)
        })
    }

    fn open_reader(&self) -> rusqlite::Result<Connection> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    fn reader_gone(&self) {
        lock(&self.readers).open -= 1;
        self.reader_returned.notify_one();
    }
}

/// A reading connection that goes back to the idle ones when dropped, also by a panic.
struct PooledReader<'a> {
    connection: Option<Connection>,
    database: &'a Database,
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            lock(&self.database.readers).idle.push(connection);
            self.database.reader_returned.notify_one();
        }
    }
}

fn write_on<T>(
    writer: &mut Connection,
    durability: Durability,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    // Set on every transaction: an earlier one may have failed before it could set it back.
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    writer.pragma_update(None, "synchronous", synchronous)?;
    // Immediate, so that the wait for other writers is at the start, where SQLite's busy handler applies.
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -CONNECTION_CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT_BYTES, |_| Ok(()))?;
    // The file may come from elsewhere: its schema must not call functions with side effects.
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Turns on the write-ahead log. SQLite does not wait for other processes in this one statement, so we do.
fn enter_wal_mode(connection: &Connection) -> rusqlite::Result<()> {
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

/// Locks a mutex whether or not a thread panicked with it: transactions roll back by themselves.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the directory, readable by its owner only: it holds cached pages and, beside them, key hashes.
fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Creates the file if need be; SQLite gives its log files the same permissions.
fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

#[cfg(test)]
mod tests {
    use crate::page::{CacheLimits, CachedPage, PageKey};
    use crate::store::Store;

    /// Runs `then` while so many reading connections are in use.
    fn with_readers_in_use(store: &Store, count: usize, then: &mut dyn FnMut()) {
        let Some(left) = count.checked_sub(1) else { return then() };
        let reading = store.database().read(|_| {
            with_readers_in_use(store, left, then);
            Ok(())
        });
        reading.unwrap();
    }

    #[test]
    fn what_async_threads_ask_for_waits_for_no_connection() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.set_threat_values("red", Some("[]")).unwrap();
        let key = PageKey::new("http://a.test/", "");
        let page = CachedPage {
            key: key.clone(),
            final_url: "http://a.test/".to_owned(),
            status: 200,
            headers: Vec::new(),
            body: "text".into(),
            fetched_at_ms: 7,
            truncated: false,
        };
        store.put_page(&page, &CacheLimits::default()).unwrap();
        let mut asked = false;
        with_readers_in_use(&store, super::MAX_READERS, &mut || {
            assert_eq!(store.recent_threat_values("red").unwrap().as_deref(), Some("[]"));
            assert_eq!(store.try_page_fetched_at(&key).unwrap(), None, "that cannot be told at once");
            asked = true;
        });
        assert!(asked);
        assert_eq!(store.try_page_fetched_at(&key).unwrap(), Some(7));
    }
}
