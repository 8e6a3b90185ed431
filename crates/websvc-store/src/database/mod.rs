//! The database: a SQLite file with one writing connection, or a PostgreSQL server with a pool of writing sessions; and a
//! pool of reading connections.

mod file;
mod hosts;
mod metrics;
mod pool;
mod server;
mod server_url;
mod timeline;
mod tls;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use websvc_transport::Client;

use crate::clock::Clock;
use crate::error::StoreError;
use crate::fault::Faults;
use crate::migration::postgres::SchemaState;
use crate::sql::postgres::ServerState;
use crate::sql::{self, Connection, Transaction};
use crate::unfinished_migration::source_of_unfinished;
use file::DatabaseFile;
use pool::{Pool, PooledConnection};
use server::DatabaseServer;

pub use crate::sql::Durability;
pub(crate) use file::FILE_NAME;
pub use metrics::{DatabaseMetrics, PoolMetrics};
pub use server_url::{DatabaseUrl, InvalidDatabaseUrl};

/// How long a transaction waits for those of other processes, and a read for a connection.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The lock of a write transaction on a server, whichever process it is of. A file has one transaction at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteLock<'a> {
    /// That of all state: no other transaction with a lock runs at the same time. For rare changes only.
    State,
    /// That of one thing. Transactions on different things run at the same time.
    Of(Locked<'a>),
    /// None but that no transaction with [`State`](Self::State) runs. For statements that are correct at the same time.
    Shared,
    /// None: rows on which no other row depends.
    Rows,
}

/// A thing that a write transaction locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locked<'a> {
    /// A job, by its number.
    Job(i64),
    /// A team, by its name: its budget, and the number of its jobs, monitors, runs, sessions and profiles.
    Team(&'a str),
    /// A monitor, by its number.
    Monitor(i64),
    /// A check of a monitor, by its number.
    Check(i64),
    /// A run, by its number.
    Run(i64),
    /// The space of all artifacts.
    Artifacts,
}

/// The open database.
#[derive(Debug)]
pub(crate) struct Database {
    /// The path of the file, or the URL of the server without credentials.
    location: PathBuf,
    engine: Engine,
    clock: Clock,
    readers: Pool,
    faults: Faults,
    /// Number of statements that gave up waiting for a lock or a connection.
    busy: AtomicU64,
}

#[derive(Debug)]
enum Engine {
    /// A file, and its writing connection; `None` if that failed.
    File(DatabaseFile, Mutex<Option<Connection>>),
    /// A server, and the sessions of write transactions.
    Server(DatabaseServer, Pool),
}

impl Database {
    /// Opens or creates the SQLite file in `dir`, and migrates its schema.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        let (file, writer) = DatabaseFile::open(dir)?;
        Ok(Self {
            location: file.path().to_owned(),
            engine: Engine::File(file, Mutex::new(Some(writer))),
            clock: Clock::of_file(dir),
            readers: Pool::new(file::MAX_READERS),
            faults: Faults::default(),
            busy: AtomicU64::new(0),
        })
    }

    /// Connects to a PostgreSQL server, and migrates the schema. `dir` is the data directory, which knows the newest
    /// primary of the server.
    ///
    /// # Errors
    /// [`StoreError::UnfinishedMigration`]; otherwise failures of the server.
    pub(crate) fn connect(url: &DatabaseUrl, client: Client, dir: &Path) -> Result<Self, StoreError> {
        let database = Self::connect_unfinished(url, client, Some(dir))?;
        match database.read(source_of_unfinished)? {
            None => Ok(database),
            Some(from) => Err(unfinished(url, from)),
        }
    }

    /// Connects to a PostgreSQL server as [`connect`](Self::connect) does, even if a migration into it is unfinished.
    pub(crate) fn connect_unfinished(
        url: &DatabaseUrl,
        client: Client,
        dir: Option<&Path>,
    ) -> Result<Self, StoreError> {
        let (server, writer) = DatabaseServer::connect(url, client, dir)?;
        Ok(Self {
            location: url.location().to_owned(),
            clock: server.clock().clone(),
            engine: Engine::Server(server, Pool::with_idle(server::MAX_WRITERS, writer)),
            readers: Pool::new(server::MAX_READERS),
            faults: Faults::default(),
            busy: AtomicU64::new(0),
        })
    }

    /// Connects to a server and reads the state of the schema, without changing anything.
    ///
    /// # Errors
    /// [`StoreError::UnfinishedMigration`]; otherwise failures of the server.
    pub(crate) fn inspect_server(url: &DatabaseUrl, client: Client) -> Result<SchemaState, StoreError> {
        let (schema, source) = DatabaseServer::inspect(url, client)?;
        source.map_or(Ok(schema), |from| Err(unfinished(url, from)))
    }

    /// Returns the path of the file, or the URL of the server without credentials.
    pub(crate) fn location(&self) -> &Path {
        &self.location
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns whether the database is a server, which other machines may use too.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self.engine, Engine::Server(..))
    }

    /// Returns the state of the server; `None` if the database is a file.
    pub(crate) fn server_state(&self) -> Option<&Arc<ServerState>> {
        match &self.engine {
            Engine::File(..) => None,
            Engine::Server(server, _) => Some(server.state()),
        }
    }

    /// Returns a handle for reads by one thread at a time that should not wait for the pool.
    pub(crate) fn reader(self: &Arc<Self>) -> Result<Reader, StoreError> {
        match &self.engine {
            Engine::File(file, _) => file
                .open_reader()
                .map(|connection| Reader::Own(Box::new(connection)))
                .map_err(|error| self.error(error)),
            // A connection of its own would have to be replaced when the server restarts, as those of the pool are.
            Engine::Server(..) => Ok(Reader::Pool(Arc::clone(self))),
        }
    }

    /// Runs `work` on a reading connection. Blocks while all are in use, at most for [`BUSY_TIMEOUT`], so it must not
    /// be called on an async thread.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> sql::Result<T>) -> Result<T, StoreError> {
        self.take_reader().and_then(|reader| work(&reader)).map_err(|error| self.error(error))
    }

    /// Runs `work` on an idle reading connection; returns `None` without waiting if there is none. Always returns
    /// `None` if the database is a server, because each read waits for its response.
    pub(crate) fn try_read<T>(
        &self,
        work: impl FnOnce(&Connection) -> sql::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        if self.is_server() {
            return Ok(None);
        }
        let Some(reader) = self.readers.try_take() else { return Ok(None) };
        work(&reader).map(Some).map_err(|error| self.error(error))
    }

    /// Runs `work` in one write transaction with the lock [`WriteLock::State`], and commits it. An error rolls the
    /// transaction back. If the connection to a server fails during the commit, the transaction may be committed
    /// although this returns an error.
    pub(crate) fn write<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_with(WriteLock::State, durability, work)
    }

    /// Runs `work` in one write transaction that locks a thing, so that processes wait for each other only if they change
    /// the same one.
    pub(crate) fn write_locked<T>(
        &self,
        thing: Locked<'_>,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_with(WriteLock::Of(thing), durability, work)
    }

    /// Runs `work` in one write transaction at the same time as all others but those of [`write`](Self::write).
    pub(crate) fn write_shared<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_with(WriteLock::Shared, durability, work)
    }

    /// Runs `work` in one write transaction without a lock, so that processes do not wait for each other. For rows on
    /// which no other row depends.
    pub(crate) fn write_rows<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_with(WriteLock::Rows, durability, work)
    }

    /// Repeats a deletion, one transaction without a lock at a time, until it deletes nothing. Returns the number of deleted
    /// rows. What it deletes can be created again, so a power failure may undo it.
    pub(crate) fn delete_in_batches(
        &self,
        mut delete: impl FnMut(&Transaction<'_>) -> sql::Result<u64>,
    ) -> Result<u64, StoreError> {
        let mut deleted = 0;
        loop {
            match self.write_rows(Durability::Process, &mut delete)? {
                0 => return Ok(deleted),
                rows => deleted += rows,
            }
        }
    }

    fn write_with<T>(
        &self,
        lock: WriteLock<'_>,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        let run = |transaction: Transaction<'_>| {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        let written = match &self.engine {
            Engine::File(file, writer) => {
                begin_in_file(file, &mut writer.lock(), durability, &self.clock).and_then(run)
            }
            Engine::Server(server, writers) => {
                let begun = begin_on_server(server, writers, &server::begin(lock, durability), durability);
                begun.and_then(|writer| run(writer.transaction(&self.clock)))
            }
        };
        written.map_err(|error| {
            let error = self.error(error);
            self.faults.record_write(&error);
            error
        })
    }

    /// Copies everything that is committed now into a new file. Other connections may read and write meanwhile.
    ///
    /// # Errors
    /// [`StoreError::NotAFile`] if the database is a server.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        self.file()?.copy_to(target)
    }

    /// Limits the size of the file. A file that is already larger keeps its size.
    ///
    /// # Errors
    /// [`StoreError::NotAFile`] if the database is a server.
    pub(crate) fn limit_file_size(&self, max_bytes: u64) -> Result<(), StoreError> {
        self.file()?;
        if let Engine::File(_, writer) = &self.engine
            && let Some(Connection::Sqlite(writer)) = &*writer.lock()
        {
            return file::limit_size(writer, max_bytes).map_err(|error| self.error(error.into()));
        }
        Ok(())
    }

    /// Opens a connection to the server outside of the pool; returns `None` if the database is a file.
    pub(crate) fn open_server_connection(&self) -> Result<Option<Connection>, StoreError> {
        match &self.engine {
            Engine::File(..) => Ok(None),
            Engine::Server(server, _) => server.open().map(Some).map_err(|error| self.error(error)),
        }
    }

    /// Opens another writing connection.
    #[cfg(test)]
    pub(crate) fn open_writer_for_tests(&self) -> Connection {
        self.file().and_then(|file| file.open_writer().map_err(|error| self.error(error))).unwrap()
    }

    /// Converts an error of a statement, and records the fault that it shows.
    pub(crate) fn error(&self, error: sql::Error) -> StoreError {
        let error = StoreError::from_sql(&self.location, error);
        self.faults.record(&error);
        if matches!(error, StoreError::Busy { .. }) {
            self.busy.fetch_add(1, Ordering::Relaxed);
        }
        error
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn corrupt(&self, detail: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: self.location.clone(), detail: detail.into() }
    }

    fn file(&self) -> Result<&DatabaseFile, StoreError> {
        match &self.engine {
            Engine::File(file, _) => Ok(file),
            Engine::Server(..) => Err(StoreError::NotAFile { url: self.location.display().to_string() }),
        }
    }

    fn take_reader(&self) -> sql::Result<PooledConnection<'_>> {
        self.readers.take(|| match &self.engine {
            Engine::File(file, _) => file.open_reader(),
            Engine::Server(server, _) => server.open(),
        })
    }
}

/// Begins a transaction on the writing connection of a file, which is opened if there is none.
fn begin_in_file<'a>(
    file: &DatabaseFile,
    writer: &'a mut Option<Connection>,
    durability: Durability,
    clock: &'a Clock,
) -> sql::Result<Transaction<'a>> {
    let connection = match writer.take() {
        Some(connection) => connection,
        None => file.open_writer()?,
    };
    let connection = writer.insert(connection);
    connection.begin(durability, "BEGIN IMMEDIATE")?;
    Ok(connection.transaction(clock))
}

/// Begins a transaction on a session with a server. The server may have ended idle sessions without the client knowing it
/// yet; nothing has been written then.
fn begin_on_server<'a>(
    server: &DatabaseServer,
    writers: &'a Pool,
    begin: &str,
    durability: Durability,
) -> sql::Result<PooledConnection<'a>> {
    for _ in 0..server::MAX_WRITERS {
        let writer = writers.take(|| server.open())?;
        match writer.begin(durability, begin) {
            Ok(()) => return Ok(writer),
            Err(error) if writer.is_usable() => return Err(error),
            Err(_) => {}
        }
    }
    let writer = writers.take(|| server.open())?;
    writer.begin(durability, begin)?;
    Ok(writer)
}

fn unfinished(url: &DatabaseUrl, from: String) -> StoreError {
    StoreError::UnfinishedMigration { url: url.location().display().to_string(), from }
}

/// Reads by one thread at a time.
#[derive(Debug)]
pub(crate) enum Reader {
    /// On a connection of its own, so that a read never waits for another.
    Own(Box<Connection>),
    /// On connections of the pool. They fail at once while the server is known to be down.
    Pool(Arc<Database>),
}

impl Reader {
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> sql::Result<T>) -> sql::Result<T> {
        match self {
            Self::Own(connection) => work(connection),
            Self::Pool(database) => {
                if let Some(state) = database.server_state() {
                    state.check_reachable()?;
                }
                database.take_reader().and_then(|reader| work(&reader))
            }
        }
    }
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
        with_readers_in_use(&store, super::file::MAX_READERS, &mut || {
            assert_eq!(store.recent_threat_values("red").unwrap().as_deref(), Some("[]"));
            assert_eq!(store.try_page_fetched_at(&key).unwrap(), None, "no connection is idle");
            has_run = true;
        });
        assert!(has_run);
        assert_eq!(store.try_page_fetched_at(&key).unwrap(), Some(7));
    }
}
