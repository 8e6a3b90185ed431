//! A pool of connections.

use std::ops::Deref;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use websvc_stage::Histogram;

use super::metrics::waits;
use super::{BUSY_TIMEOUT, PoolMetrics};
use crate::sql::{self, Connection};

/// Connections, opened when they are needed.
#[derive(Debug)]
pub(super) struct Pool {
    max: usize,
    connections: Mutex<Connections>,
    returned: Condvar,
    /// Time for which threads waited for a connection.
    waits: Histogram,
}

#[derive(Debug, Default)]
struct Connections {
    idle: Vec<Connection>,
    open: usize,
}

impl Pool {
    /// Creates a pool of at most `max` connections.
    pub(super) fn new(max: usize) -> Self {
        Self { max, connections: Mutex::default(), returned: Condvar::new(), waits: waits() }
    }

    /// Creates a pool of at most `max` connections, one of which is idle.
    pub(super) fn with_idle(max: usize, connection: Connection) -> Self {
        let pool = Self::new(max);
        *pool.connections.lock() = Connections { idle: vec![connection], open: 1 };
        pool
    }

    /// Takes an idle connection, or opens one. Blocks while all are in use.
    ///
    /// # Errors
    /// Failures of `open`, and [`sql::Error::PoolTimeout`] if all connections are in use for [`BUSY_TIMEOUT`].
    pub(super) fn take(
        &self,
        open: impl FnOnce() -> sql::Result<Connection>,
    ) -> sql::Result<PooledConnection<'_>> {
        let connection = match self.reserve()? {
            Some(connection) => connection,
            None => open().inspect_err(|_| self.release(None))?,
        };
        Ok(PooledConnection { connection: Some(connection), pool: self })
    }

    /// Takes an idle connection; returns `None` without waiting if there is none.
    pub(super) fn try_take(&self) -> Option<PooledConnection<'_>> {
        let connection = self.connections.lock().idle.pop()?;
        Some(PooledConnection { connection: Some(connection), pool: self })
    }

    /// Returns the numbers of connections, and the waits for one.
    pub(super) fn metrics(&self) -> PoolMetrics {
        let (open, idle) = {
            let connections = self.connections.lock();
            (connections.open as u64, connections.idle.len() as u64)
        };
        PoolMetrics { used: open.saturating_sub(idle), idle, waits: self.waits.distribution() }
    }

    /// Returns an idle connection, or `None` if the caller may open one.
    fn reserve(&self) -> sql::Result<Option<Connection>> {
        let begun = Instant::now();
        let mut has_waited = false;
        let reserved = self.wait_for_connection(begun + BUSY_TIMEOUT, &mut has_waited);
        if has_waited {
            self.waits.count(begun.elapsed());
        }
        reserved
    }

    fn wait_for_connection(
        &self,
        deadline: Instant,
        has_waited: &mut bool,
    ) -> sql::Result<Option<Connection>> {
        let mut connections = self.connections.lock();
        loop {
            while let Some(connection) = connections.idle.pop() {
                // The server may have ended it in the meantime.
                if connection.is_usable() {
                    return Ok(Some(connection));
                }
                connections.open -= 1;
            }
            if connections.open < self.max {
                connections.open += 1;
                return Ok(None);
            }
            if Instant::now() >= deadline {
                return Err(sql::Error::PoolTimeout);
            }
            *has_waited = true;
            self.returned.wait_until(&mut connections, deadline);
        }
    }

    /// Returns a connection, or frees the place of one that could not be opened or cannot be used again.
    fn release(&self, connection: Option<Connection>) {
        let mut connections = self.connections.lock();
        match connection {
            Some(connection) => connections.idle.push(connection),
            None => connections.open -= 1,
        }
        self.returned.notify_one();
    }
}

/// A connection that returns to the pool when dropped, also during a panic.
pub(super) struct PooledConnection<'a> {
    connection: Option<Connection>,
    pool: &'a Pool,
}

impl Deref for PooledConnection<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("the connection is taken out only on drop")
    }
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        self.pool.release(self.connection.take().filter(Connection::is_usable));
    }
}
