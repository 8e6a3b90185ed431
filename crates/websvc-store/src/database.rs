//! The SQLite file: one writing connection, a pool of reading connections, and their settings.
//!
//! In WAL mode readers and the writer do not wait for each other, so a page can be read while another is stored. The
//! writing connection is behind a mutex, because SQLite permits one writer at a time anyway. Waiting for the mutex is
//! cheaper and fairer than SQLite's busy handler, which is left to wait for other processes.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::StoreError;
use crate::migration::{MIGRATIONS, MigrationOutcome, migrate};
use crate::sql::{self, Connection, Transaction};

pub(crate) const FILE_NAME: &str = "websvc.db";
/// How long a statement waits for the transaction of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Size of the pool of reading connections. A read takes well under a millisecond, so more would only cost memory.
const MAX_READERS: usize = 4;
/// Size of the page cache of one connection. The operating system caches the file as well.
const CONNECTION_CACHE_KIB: i64 = 256;
/// Number of prepared statements that a connection caches. The completion of a job page needs about twenty, and
/// preparing one costs more than executing it.
const CACHED_STATEMENTS: usize = 64;
/// The size to which the write-ahead log is truncated after a checkpoint.
const LOG_LIMIT_BYTES: i64 = 16 * 1024 * 1024;

/// The failures that a committed transaction survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the process. A power failure may undo the last transactions, in order. For data that can be
    /// recreated.
    Process,
    /// A power failure too, at the cost of a disk flush. For data such as the revocation of a key.
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
    /// Opens or creates the database in `dir`, and migrates its schema.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
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
        Ok(Self {
            path,
            writer: Mutex::new(Connection::new(writer)),
            readers: Mutex::default(),
            reader_returned: Condvar::new(),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a reading connection outside of the pool.
    pub(crate) fn reader(&self) -> Result<Connection, StoreError> {
        self.open_reader().map_err(|error| self.error(error))
    }

    /// Runs `work` on a reading connection. Blocks while all are in use, at most for [`BUSY_TIMEOUT`], so it must not
    /// be called on an async thread.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> sql::Result<T>) -> Result<T, StoreError> {
        let reader = PooledReader { connection: Some(self.take_reader()?), database: self };
        let connection = reader.connection.as_ref().expect("the connection is taken out only on drop");
        work(connection).map_err(|error| self.error(error))
    }

    /// Runs `work` on an idle reading connection; returns `None` without waiting if there is none.
    pub(crate) fn try_read<T>(
        &self,
        work: impl FnOnce(&Connection) -> sql::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let idle = self.readers.lock().idle.pop();
        let Some(connection) = idle else { return Ok(None) };
        let reader = PooledReader { connection: Some(connection), database: self };
        let connection = reader.connection.as_ref().expect("the connection is taken out only on drop");
        work(connection).map(Some).map_err(|error| self.error(error))
    }

    /// Runs `work` in one write transaction and commits it. An error rolls the transaction back.
    pub(crate) fn write<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        let writer = self.writer.lock();
        write_on(&writer, durability, work).map_err(|error| self.error(error))
    }

    /// Copies everything that is committed now into a new database file. Other connections may read and write
    /// meanwhile.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        let failed = |error| StoreError::from_sqlite(target, error);
        // A connection outside of the pool, because the copy may take long.
        let connection = connect(&self.path).map_err(|error| self.error(error.into()))?;
        create_private_file(target).map_err(|error| StoreError::io(target, error))?;
        let path = target.to_str().ok_or_else(|| {
            StoreError::io(target, io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
        })?;
        connection.execute("VACUUM INTO ?1", [path]).map(drop).map_err(failed)
    }

    /// Limits the size of the file. A file that is already larger keeps its size.
    pub(crate) fn limit_file_size(&self, max_bytes: u64) -> Result<(), StoreError> {
        let writer = self.writer.lock();
        let set_limit = || {
            let writer = writer.sqlite();
            let page_bytes: u64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
            writer.pragma_update_and_check(None, "max_page_count", max_bytes / page_bytes.max(1), |_| Ok(()))
        };
        set_limit().map_err(|error: rusqlite::Error| self.error(error.into()))
    }

    pub(crate) fn error(&self, error: sql::Error) -> StoreError {
        StoreError::from_sql(&self.path, error)
    }

    pub(crate) fn corrupt(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.path.clone(), detail: detail.into() }
    }

    fn take_reader(&self) -> Result<Connection, StoreError> {
        let deadline = Instant::now() + BUSY_TIMEOUT;
        let mut readers = self.readers.lock();
        loop {
            if let Some(connection) = readers.idle.pop() {
                return Ok(connection);
            }
            if readers.open < MAX_READERS {
                readers.open += 1;
                break;
            }
            if Instant::now() >= deadline {
                return Err(StoreError::Busy { path: self.path.clone() });
            }
            self.reader_returned.wait_until(&mut readers, deadline);
        }
        drop(readers);
        self.open_reader().map_err(|error| {
            self.release_reader_slot();
            self.error(error)
        })
    }

    fn open_reader(&self) -> sql::Result<Connection> {
        let connection = connect(&self.path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(Connection::new(connection))
    }

    /// Frees the pool slot of a connection that could not be opened.
    fn release_reader_slot(&self) {
        self.readers.lock().open -= 1;
        self.reader_returned.notify_one();
    }
}

/// A reading connection that returns to the pool when dropped, also during a panic.
struct PooledReader<'a> {
    connection: Option<Connection>,
    database: &'a Database,
}

impl Drop for PooledReader<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.database.readers.lock().idle.push(connection);
            self.database.reader_returned.notify_one();
        }
    }
}

fn write_on<T>(
    writer: &Connection,
    durability: Durability,
    work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
) -> sql::Result<T> {
    // Set for every transaction, because the previous one may have had the other durability.
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    writer.sqlite().pragma_update(None, "synchronous", synchronous)?;
    writer.write(work)
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

/// Creates a directory and its parents, readable by the owner only: it contains cached pages and hashes of keys.
pub(crate) fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Creates a file, readable by the owner only, if it does not exist. SQLite gives its log files the same permissions.
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

    /// Runs `work` while `count` reading connections are in use.
    fn with_readers_in_use(store: &Store, count: usize, work: &mut dyn FnMut()) {
        let Some(remaining) = count.checked_sub(1) else { return work() };
        let result = store.database().read(|_| {
            with_readers_in_use(store, remaining, work);
            Ok(())
        });
        result.unwrap();
    }

    #[test]
    fn reads_for_async_threads_do_not_wait_for_a_connection() {
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
        let mut has_run = false;
        with_readers_in_use(&store, super::MAX_READERS, &mut || {
            assert_eq!(store.recent_threat_values("red").unwrap().as_deref(), Some("[]"));
            assert_eq!(store.try_page_fetched_at(&key).unwrap(), None, "no connection is idle");
            has_run = true;
        });
        assert!(has_run);
        assert_eq!(store.try_page_fetched_at(&key).unwrap(), Some(7));
    }
}
