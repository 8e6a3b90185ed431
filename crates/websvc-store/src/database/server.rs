//! A PostgreSQL server: opens sessions, on a thread that drives their connections.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use sha2::{Digest, Sha256};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use websvc_transport::Client;

use super::hosts::Hosts;
use super::server_url::DatabaseUrl;
use super::timeline::History;
use super::{Durability, Locked, WriteLock};
use crate::clock::Clock;
use crate::error::StoreError;
use crate::migration::postgres::SchemaState;
use crate::migration::{self, MigrationOutcome};
use crate::sql::postgres::{ServerState, Session, SessionEpoch, StatementClass};
use crate::sql::{self, Connection};
use crate::unfinished_migration::source_of_unfinished;

/// Maximum of reading connections. A read waits for the network, so there are more of them than for a file.
pub(super) const MAX_READERS: usize = 8;
/// Maximum of sessions that write at the same time.
pub(super) const MAX_WRITERS: usize = 8;

/// A server, or several of which one is the primary.
#[derive(Debug)]
pub(super) struct DatabaseServer {
    hosts: Arc<Hosts>,
    driver: Driver,
    state: Arc<ServerState>,
}

/// Returns the statements that begin a write transaction. Its locks end with the transaction. The schema is a part of
/// their numbers, so that several installations can share a database.
pub(super) fn begin(lock: WriteLock<'_>, durability: Durability) -> String {
    const STATE: &str = "2003139681, hashtext(current_schema())";
    let begin = match durability {
        Durability::Power => "BEGIN",
        Durability::Process => "BEGIN; SET LOCAL synchronous_commit TO off",
    };
    match lock {
        WriteLock::Rows => begin.to_owned(),
        WriteLock::State => format!("{begin}; SELECT pg_advisory_xact_lock({STATE})"),
        WriteLock::Shared => format!("{begin}; SELECT pg_advisory_xact_lock_shared({STATE})"),
        WriteLock::Of(thing) => format!(
            "{begin}; SELECT pg_advisory_xact_lock_shared({STATE}); \
             SELECT pg_advisory_xact_lock(hashtextextended(current_schema(), {}))",
            lock_number(thing)
        ),
    }
}

/// Returns the number of the lock of a thing. Two things with the same number only wait for each other.
fn lock_number(thing: Locked<'_>) -> i64 {
    let (kind, name) = match thing {
        Locked::Job(number) => ("job", number.to_string()),
        Locked::Team(name) => ("team", name.to_owned()),
        Locked::Monitor(number) => ("monitor", number.to_string()),
        Locked::Check(number) => ("check", number.to_string()),
        Locked::Run(number) => ("run", number.to_string()),
        Locked::Artifacts => ("artifacts", String::new()),
    };
    let digest = Sha256::digest(format!("{kind} {name}"));
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | i64::from(byte))
}

impl DatabaseServer {
    /// Connects, and migrates the schema. `dir` has the [history](History) of the server.
    pub(super) fn connect(
        url: &DatabaseUrl,
        client: Client,
        dir: Option<&Path>,
    ) -> Result<(Self, Connection), StoreError> {
        let location = url.location();
        let server = Self::new(url, client, dir)?;
        if server.hosts.count() > 1 {
            drop(server.driver.handle.spawn(Arc::clone(&server.hosts).follow()));
        }
        let failed = |error| StoreError::from_sql(location, error);
        // Its settings are those of migrations, so it is not used for anything else.
        let class = StatementClass::Migration.enter();
        let session = server.open_session().map_err(failed)?;
        let outcome = migration::postgres::migrate(&session).map_err(failed)?;
        drop(class);
        match outcome {
            MigrationOutcome::Current => {}
            MigrationOutcome::Newer { found, supported } => {
                return Err(StoreError::NewerSchema { path: location.to_owned(), found, supported });
            }
        }
        let writer = server.open().map_err(failed)?;
        Ok((server, writer))
    }

    fn new(url: &DatabaseUrl, client: Client, dir: Option<&Path>) -> Result<Self, StoreError> {
        let driver = Driver::start().map_err(|error| StoreError::io(url.location(), error))?;
        let hosts = Arc::new(Hosts::new(url.clone(), client, History::open(dir)?));
        Ok(Self { hosts, driver, state: Arc::new(ServerState::new()) })
    }

    /// Connects and reads the state of the schema, and the source of an unfinished migration, without changing anything.
    pub(super) fn inspect(
        url: &DatabaseUrl,
        client: Client,
    ) -> Result<(SchemaState, Option<String>), StoreError> {
        let location = url.location();
        let server = Self::new(url, client, None)?;
        let _class = StatementClass::Migration.enter();
        let inspected = server.open_session().and_then(|session| {
            let schema = migration::postgres::inspect(&session)?;
            Ok((schema, source_of_unfinished(&Connection::Postgres(session))?))
        });
        inspected.map_err(|error| StoreError::from_sql(location, error))
    }

    /// Returns the clock, which each new session sets.
    pub(super) fn clock(&self) -> &Clock {
        self.hosts.clock()
    }

    pub(super) fn state(&self) -> &Arc<ServerState> {
        &self.state
    }

    /// Opens a connection.
    pub(super) fn open(&self) -> sql::Result<Connection> {
        self.open_session().map(Connection::Postgres)
    }

    /// Opens a session with the primary.
    pub(super) fn open_session(&self) -> sql::Result<Session> {
        let class = StatementClass::current();
        let hosts = Arc::clone(&self.hosts);
        let opening = self.driver.handle.spawn(async move { hosts.open(class).await });
        // It has timeouts of its own: first for the last primary, then for all hosts together. The deadline is for a
        // driver that does not run.
        let deadline = Instant::now() + class.connect_timeout() * 3;
        let opened = self.state.wait(class, opening, deadline)?;
        let (client, generation) = opened.map_err(|error| sql::Error::Unreachable(error.into()))??;
        let epoch = SessionEpoch { generation, current: Arc::clone(self.hosts.generation()) };
        Ok(Session::new(client, self.hosts.scope(), epoch, Arc::clone(&self.state)))
    }
}

/// The thread that drives the connections. Dropping this ends them and joins the thread.
#[derive(Debug)]
struct Driver {
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("websvc-postgres".to_owned()).spawn(move || {
            // Both results say that the driver is dropped.
            let _ = runtime.block_on(stopped);
            // Does not wait for the threads that resolve names.
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}
