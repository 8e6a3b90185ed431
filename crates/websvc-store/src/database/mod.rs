//! The database: a SQLite file, or a PostgreSQL server. One writing connection per write lock and one without a lock, and
//! a pool of reading connections.

mod file;
mod pool;
mod server;
mod server_url;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use websvc_transport::Client;

use crate::error::StoreError;
use crate::fault::Faults;
use crate::migrate_to_server::source_of_unfinished;
use crate::migration::postgres::SchemaState;
use crate::server_watch::ServerState;
use crate::sql::{self, Connection, Transaction};
use file::DatabaseFile;
use pool::{Pool, PooledConnection};
use server::DatabaseServer;

pub(crate) use file::{FILE_NAME, create_private_dir};
pub use server_url::{DatabaseUrl, InvalidDatabaseUrl};

/// How long a transaction waits for those of other processes, and a read for a connection.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The failures that a committed transaction survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the process. A power failure may undo the last transactions, in order. For data that can be
    /// recreated.
    Process,
    /// A power failure too, at the cost of a disk flush. For data such as the revocation of a key.
    Power,
}

/// The lock of a write transaction. Transactions with the same lock are executed one after the other, whichever process
/// they are of. In a SQLite file all are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteLock {
    /// Everything but the page cache.
    State,
    /// The page cache, whose large rows must not delay the other writes.
    Pages,
    /// None on a server: rows on which no other row depends. A process executes one such transaction at a time.
    Rows,
}

/// The open database.
#[derive(Debug)]
pub(crate) struct Database {
    /// The path of the file, or the URL of the server without credentials.
    location: PathBuf,
    engine: Engine,
    readers: Pool,
    state_writer: Mutex<Option<Connection>>,
    pages_writer: Mutex<Option<Connection>>,
    rows_writer: Mutex<Option<Connection>>,
    faults: Faults,
}

#[derive(Debug)]
enum Engine {
    File(DatabaseFile),
    Server(DatabaseServer),
}

impl Database {
    /// Opens or creates the SQLite file in `dir`, and migrates its schema.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        let (file, writer) = DatabaseFile::open(dir)?;
        Ok(Self {
            location: file.path().to_owned(),
            engine: Engine::File(file),
            readers: Pool::new(file::MAX_READERS),
            state_writer: Mutex::new(Some(writer)),
            pages_writer: Mutex::default(),
            rows_writer: Mutex::default(),
            faults: Faults::default(),
        })
    }

    /// Connects to a PostgreSQL server, and migrates the schema.
    ///
    /// # Errors
    /// [`StoreError::UnfinishedMigration`]; otherwise failures of the server.
    pub(crate) fn connect(url: &DatabaseUrl, client: Client) -> Result<Self, StoreError> {
        let database = Self::connect_unfinished(url, client)?;
        match database.read(source_of_unfinished)? {
            None => Ok(database),
            Some(from) => Err(unfinished(url, from)),
        }
    }

    /// Connects to a PostgreSQL server as [`connect`](Self::connect) does, even if a migration into it is unfinished.
    pub(crate) fn connect_unfinished(url: &DatabaseUrl, client: Client) -> Result<Self, StoreError> {
        let (server, writer) = DatabaseServer::connect(url, client)?;
        Ok(Self {
            location: url.location().to_owned(),
            engine: Engine::Server(server),
            readers: Pool::new(server::MAX_READERS),
            state_writer: Mutex::new(Some(writer)),
            pages_writer: Mutex::default(),
            rows_writer: Mutex::default(),
            faults: Faults::default(),
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

    /// Returns whether the database is a server, which other machines may use too.
    pub(crate) fn is_server(&self) -> bool {
        matches!(self.engine, Engine::Server(_))
    }

    /// Returns the state of the server; `None` if the database is a file.
    pub(crate) fn server_state(&self) -> Option<&Arc<ServerState>> {
        match &self.engine {
            Engine::File(_) => None,
            Engine::Server(server) => Some(server.state()),
        }
    }

    /// Returns a handle for reads by one thread at a time that should not wait for the pool.
    pub(crate) fn reader(self: &Arc<Self>) -> Result<Reader, StoreError> {
        match &self.engine {
            Engine::File(file) => file.open_reader().map(Reader::Own).map_err(|error| self.error(error)),
            // A connection of its own would have to be replaced when the server restarts, as those of the pool are.
            Engine::Server(_) => Ok(Reader::Pool(Arc::clone(self))),
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
        self.write_locked(WriteLock::State, durability, work)
    }

    /// Runs `work` in one write transaction on the page cache, with the lock [`WriteLock::Pages`]. Pages can be
    /// fetched again, so the transaction survives a crash of the process only.
    pub(crate) fn write_pages<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_locked(WriteLock::Pages, Durability::Process, work)
    }

    /// Runs `work` in one write transaction without a lock, so that processes do not wait for each other. For rows on
    /// which no other row depends.
    pub(crate) fn write_rows<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        self.write_locked(WriteLock::Rows, durability, work)
    }

    fn write_locked<T>(
        &self,
        lock: WriteLock,
        durability: Durability,
        work: impl FnOnce(&Transaction<'_>) -> sql::Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = match (&self.engine, lock) {
            (Engine::File(_), _) | (_, WriteLock::State) => self.state_writer.lock(),
            (Engine::Server(_), WriteLock::Pages) => self.pages_writer.lock(),
            (Engine::Server(_), WriteLock::Rows) => self.rows_writer.lock(),
        };
        let written = self.begin(&mut writer, lock, durability).and_then(|transaction| {
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        written.map_err(|error| {
            let error = self.error(error);
            self.faults.record_write(&error);
            error
        })
    }

    /// Begins a transaction on a writing connection, which is opened if there is none that can be used.
    fn begin<'a>(
        &self,
        writer: &'a mut Option<Connection>,
        lock: WriteLock,
        durability: Durability,
    ) -> sql::Result<Transaction<'a>> {
        let begin = match &self.engine {
            Engine::File(_) => "BEGIN IMMEDIATE",
            Engine::Server(_) => server::begin(lock, durability),
        };
        // A server may have ended the connection without the client knowing it yet. Nothing has been written then.
        let is_begun = match writer.as_ref().filter(|connection| connection.is_usable()) {
            None => false,
            Some(connection) => match connection.begin(durability, begin) {
                Ok(()) => true,
                Err(error) if connection.is_usable() => return Err(error),
                Err(_) => false,
            },
        };
        if !is_begun {
            let connection = match &self.engine {
                Engine::File(file) => file.open_writer()?,
                Engine::Server(server) => server.open()?,
            };
            writer.insert(connection).begin(durability, begin)?;
        }
        Ok(writer.as_ref().expect("it was used or inserted above").transaction())
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
        match &*self.state_writer.lock() {
            Some(Connection::Sqlite(writer)) => {
                file::limit_size(writer, max_bytes).map_err(|error| self.error(error.into()))
            }
            Some(Connection::Postgres(_)) | None => Ok(()),
        }
    }

    /// Opens a connection to the server outside of the pool; returns `None` if the database is a file.
    pub(crate) fn open_server_connection(&self) -> Result<Option<Connection>, StoreError> {
        match &self.engine {
            Engine::File(_) => Ok(None),
            Engine::Server(server) => server.open().map(Some).map_err(|error| self.error(error)),
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
            Engine::File(file) => Ok(file),
            Engine::Server(_) => Err(StoreError::NotAFile { url: self.location.display().to_string() }),
        }
    }

    fn take_reader(&self) -> sql::Result<PooledConnection<'_>> {
        self.readers.take(|| match &self.engine {
            Engine::File(file) => file.open_reader(),
            Engine::Server(server) => server.open(),
        })
    }
}

fn unfinished(url: &DatabaseUrl, from: String) -> StoreError {
    StoreError::UnfinishedMigration { url: url.location().display().to_string(), from }
}

/// Reads by one thread at a time.
#[derive(Debug)]
pub(crate) enum Reader {
    /// On a connection of its own, so that a read never waits for another.
    Own(Connection),
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
