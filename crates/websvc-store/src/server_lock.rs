//! The lock of the one process that serves from a database on a server.
//!
//! It is a lock of a session, so PostgreSQL releases it when the process ends or its machine disappears. A database file
//! needs none: its data directory has a lock.

use std::sync::Arc;
use std::time::Duration;

use crate::background_thread::{BackgroundThread, StopSignal};
use crate::database::Database;
use crate::error::StoreError;
use crate::sql::{self, Connection, params};
use crate::store::Store;

/// Interval at which the session of the lock is checked.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Requests the lock. Returns whether it is granted.
const TRY_LOCK: &str = "SELECT pg_try_advisory_lock(2003139683, hashtext(current_schema()))";

/// The lock, which is released when this is dropped.
#[derive(Debug)]
pub struct ServerLock(#[expect(dead_code, reason = "dropped, not read")] BackgroundThread);

impl Store {
    /// Acquires the lock of the process that serves from this database; returns `None` if the database is a file.
    ///
    /// When the server restarts, the lock is acquired again. If another process has acquired it in the meantime,
    /// `on_loss` is called once: this process must stop then.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process has the lock; otherwise failures of the database.
    pub fn lock_server(
        &self,
        on_loss: impl FnOnce() + Send + 'static,
    ) -> Result<Option<ServerLock>, StoreError> {
        let database = Arc::clone(&self.shared().database);
        let Some(session) = database.open_server_connection()? else { return Ok(None) };
        if !try_lock(&session).map_err(|error| database.error(error))? {
            return Err(in_use(&database));
        }
        self.ledger().set_alone();
        let location = database.location().to_owned();
        let holding = move |signal: &StopSignal| {
            if hold(&database, session, signal) == Ended::Lost {
                on_loss();
            }
        };
        let thread = BackgroundThread::start("websvc-db-lock", holding)
            .map_err(|error| StoreError::io(&location, error))?;
        Ok(Some(ServerLock(thread)))
    }
}

fn in_use(database: &Database) -> StoreError {
    StoreError::InUse { url: database.location().display().to_string() }
}

/// Acquires the lock for a session; returns whether it was free.
pub(crate) fn try_lock(session: &Connection) -> sql::Result<bool> {
    session.query_row(TRY_LOCK, params![], |row| row.get(0))
}

/// The reason why the lock is not held any more.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Released,
    Lost,
}

/// Holds the lock until it is released, or another process has acquired it after a failure of the session.
fn hold(database: &Database, session: Connection, signal: &StopSignal) -> Ended {
    let mut session = Some(session);
    while signal.wait(CHECK_INTERVAL) {
        if session.as_ref().is_some_and(is_alive) {
            continue;
        }
        session = None;
        // While the server cannot be reached, no other process can acquire the lock either.
        let Ok(Some(new)) = database.open_server_connection() else { continue };
        match try_lock(&new) {
            Ok(true) => session = Some(new),
            Ok(false) => return Ended::Lost,
            Err(_) => {}
        }
    }
    Ended::Released
}

fn is_alive(session: &Connection) -> bool {
    session.exists("SELECT 1", params![]).is_ok()
}
