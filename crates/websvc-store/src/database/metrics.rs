//! Measurements of a database.

use std::sync::atomic::Ordering;

use websvc_stage::{Distribution, Histogram};

use super::Engine;
use crate::sql::postgres::BOUNDS_US;
use crate::store::Store;

/// Measurements of the database since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseMetrics {
    /// Durations of the statements to a server, failed ones included, by their class: `watch`, `request`, `background`. Empty
    /// for a file.
    pub statements: Vec<(&'static str, Distribution)>,
    /// The connections: those that read, and those that write.
    pub pools: Vec<(&'static str, PoolMetrics)>,
    /// Transactions that gave up waiting for a lock or a connection.
    pub busy: u64,
    /// Replicas whose work this process took over because they were lost.
    pub takeovers: u64,
    /// Rows of the usage log that are in the journal of this process only.
    pub unwritten_usage: u64,
}

/// Measurements of a pool of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolMetrics {
    /// Connections that are used.
    pub used: u64,
    /// Connections that are idle.
    pub idle: u64,
    /// Time for which threads waited because all were used.
    pub waits: Distribution,
}

/// Returns an empty histogram for the time for which threads wait.
pub(super) fn waits() -> Histogram {
    Histogram::new(BOUNDS_US)
}

impl Store {
    /// Returns the measurements of the database.
    #[must_use]
    pub fn database_metrics(&self) -> DatabaseMetrics {
        let database = self.database();
        let mut pools = vec![("read", database.readers.metrics())];
        if let Engine::Server(_, writers) = &database.engine {
            pools.push(("write", writers.metrics()));
        }
        let statements = database.server_state().map(|state| state.statements().distributions());
        DatabaseMetrics {
            statements: statements.unwrap_or_default(),
            pools,
            busy: database.busy.load(Ordering::Relaxed),
            takeovers: self.membership().takeovers(),
            unwritten_usage: self.ledger().unwritten_rows(),
        }
    }
}
