//! The membership of this process in the replicas, and their rows.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::sql::{self, Connection, params};

/// How long a replica must be silent until the others take over what it owns.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(8);

/// The part that a replica plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaRole {
    /// Works on all jobs, and takes over those of lost replicas.
    Worker,
    /// Works only on jobs that it creates, and leaves lost replicas to the workers.
    SingleJob,
}

impl ReplicaRole {
    pub(super) const fn is_worker(self) -> bool {
        matches!(self, Self::Worker)
    }
}

/// The address of a replica, and the secret of requests from other replicas to it. `Debug` does not print the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplicaAddress {
    /// Base URL, without a path.
    pub url: String,
    /// Text that only processes with access to the database know.
    pub secret: String,
}

impl fmt::Debug for ReplicaAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplicaAddress").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The membership of this process.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// Number of the replica; 0 while this process has not joined.
    pub(super) id: AtomicI64,
    pub(super) is_single: AtomicBool,
    /// True after this process has given up its work because it stops.
    pub(super) is_leaving: AtomicBool,
    /// Number of workers, as of the last beat.
    pub(super) workers: AtomicU32,
    /// Number of lost replicas that this process deleted.
    pub(super) takeovers: AtomicU64,
    /// The address in the row of this process; `None` if it announces none.
    pub(super) address: Mutex<Option<ReplicaAddress>>,
    /// Held while this process joins, so that its heartbeat does not take the row that is replaced for one that the
    /// others have deleted.
    pub(super) joining: Mutex<()>,
}

impl Membership {
    pub(super) fn announce(&self, address: ReplicaAddress) {
        *self.address.lock() = Some(address);
    }

    /// Returns the number of this replica as a parameter of SQL. No row has the number 0.
    pub(super) fn own(&self) -> i64 {
        self.id().unwrap_or_default()
    }

    /// Returns the number of this replica; `None` while it has not joined.
    pub(crate) fn id(&self) -> Option<i64> {
        Some(self.id.load(Ordering::Acquire)).filter(|id| *id != 0)
    }

    /// Returns whether this process takes nothing over any more.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Acquire)
    }

    /// Returns the number of the replica that owns new work; `None` if that is any other one.
    pub(crate) fn owner_of_new(&self) -> Option<i64> {
        self.id().filter(|_| !self.is_leaving())
    }

    pub(super) fn role(&self) -> ReplicaRole {
        if self.is_single.load(Ordering::Acquire) || self.is_leaving() {
            ReplicaRole::SingleJob
        } else {
            ReplicaRole::Worker
        }
    }

    pub(super) fn set(&self, id: i64, role: ReplicaRole) {
        self.is_single.store(!role.is_worker(), Ordering::Release);
        self.id.store(id, Ordering::Release);
    }

    pub(super) fn address(&self) -> Option<ReplicaAddress> {
        self.address.lock().clone()
    }

    pub(super) fn set_workers(&self, count: usize) {
        self.workers.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Release);
    }

    /// Returns how many lost replicas this process deleted.
    pub(crate) fn takeovers(&self) -> u64 {
        self.takeovers.load(Ordering::Relaxed)
    }

    pub(super) fn workers(&self) -> u32 {
        self.workers.load(Ordering::Acquire).max(1)
    }
}

/// Adds a replica, and returns its number.
pub(super) fn insert(
    connection: &Connection,
    role: ReplicaRole,
    address: Option<&ReplicaAddress>,
) -> sql::Result<i64> {
    let sql = "INSERT INTO replicas (is_worker, url, secret) VALUES (?1, ?2, ?3) RETURNING id";
    let (url, secret) = (address.map(|address| &*address.url), address.map(|address| &*address.secret));
    connection.query_row(sql, params![role.is_worker(), url, secret], |row| row.get(0))
}

/// Deletes a replica, which frees everything that it owned.
pub(super) fn delete(connection: &Connection, id: i64) -> sql::Result<()> {
    connection.execute("DELETE FROM replicas WHERE id = ?1", params![id]).map(drop)
}
