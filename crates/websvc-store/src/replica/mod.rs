//! Replicas: the processes that share a database and work on its jobs.
//!
//! Each replica has a row in the table `replicas`, and owns jobs and webhooks: rows that refer to it. The owner of a job
//! and those that help with it lease its URLs. On a server, a replica increments its `beat` every second. When another
//! replica has seen no new beat for [`LOST_AFTER`], it deletes the row, and thereby frees everything that the lost replica owned. No clocks
//! are compared, and an outage of the server is not mistaken for the end of a replica: while a replica cannot read the
//! beats, it observes nothing.
//!
//! A replica that was only suspended or disconnected can do no harm when it continues: its leases of URLs are void, so
//! its pages are not recorded, and it finds its row deleted and joins again with a new number.
//!
//! A replica that stops gives up its work first, so that the others continue it while requests in flight are finished.
//!
//! A file has one process at a time, which the lock of the data directory ensures. A replica that joins there replaces
//! all earlier ones, and beats are not needed.

mod address;
mod heartbeat;
mod observer;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::database::Durability;
use crate::error::StoreError;
use crate::job::return_leases_of;
use crate::owned_work::WorkTable;
use crate::sql::{self, Connection, params};
use crate::store::Store;

pub use address::{ForeignSession, ReplicaAddress};
pub(crate) use heartbeat::Heartbeat;

/// How long a replica must be silent until the others take over what it owns.
const LOST_AFTER: Duration = Duration::from_secs(8);

/// Interval at which a process asks whether it has joined.
const JOIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The part that a replica plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaRole {
    /// Works on all jobs, and takes over those of lost replicas.
    Worker,
    /// Works only on jobs that it creates, and leaves lost replicas to the workers.
    SingleJob,
}

impl ReplicaRole {
    const fn is_worker(self) -> bool {
        matches!(self, Self::Worker)
    }
}

/// The membership of this process.
#[derive(Debug, Default)]
pub(crate) struct Membership {
    /// Number of the replica; 0 while this process has not joined.
    id: AtomicI64,
    is_single: AtomicBool,
    /// True after this process has given up its work because it stops.
    is_leaving: AtomicBool,
    /// Number of workers, as of the last beat.
    workers: AtomicU32,
    /// Number of lost replicas that this process deleted.
    takeovers: AtomicU64,
    /// The address in the row of this process; `None` if it announces none.
    address: Mutex<Option<ReplicaAddress>>,
    /// Held while this process joins, so that its heartbeat does not take the row that is replaced for one that the
    /// others have deleted.
    joining: Mutex<()>,
}

impl Membership {
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

    fn role(&self) -> ReplicaRole {
        if self.is_single.load(Ordering::Acquire) || self.is_leaving() {
            ReplicaRole::SingleJob
        } else {
            ReplicaRole::Worker
        }
    }

    fn set(&self, id: i64, role: ReplicaRole) {
        self.is_single.store(!role.is_worker(), Ordering::Release);
        self.id.store(id, Ordering::Release);
    }

    fn address(&self) -> Option<ReplicaAddress> {
        self.address.lock().clone()
    }

    fn set_workers(&self, count: usize) {
        self.workers.store(u32::try_from(count).unwrap_or(u32::MAX), Ordering::Release);
    }

    /// Returns how many lost replicas this process deleted.
    pub(crate) fn takeovers(&self) -> u64 {
        self.takeovers.load(Ordering::Relaxed)
    }

    fn workers(&self) -> u32 {
        self.workers.load(Ordering::Acquire).max(1)
    }
}

impl Store {
    /// Joins the replicas of the database: from now on this process can own jobs and deliver events. A process that
    /// has joined before joins again, and frees what it owned. In a file, the caller must have the lock of the data
    /// directory: everything that other processes owned there is free, too.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn join_replicas(&self, role: ReplicaRole) -> Result<(), StoreError> {
        let database = self.database();
        let membership = self.membership();
        let _joining = membership.joining.lock();
        let previous = membership.id();
        let (id, workers) = database.write_shared(Durability::Process, |transaction| {
            if database.is_server() {
                delete(transaction, previous.unwrap_or_default())?;
            } else {
                transaction.execute("DELETE FROM replicas", params![])?;
            }
            let id = insert(transaction, role, membership.address().as_ref())?;
            let sql = "SELECT count(*) FROM replicas WHERE is_worker = 1";
            let workers: i64 = transaction.query_row(sql, params![], |row| row.get(0))?;
            Ok((id, usize::try_from(workers).unwrap_or_default()))
        })?;
        membership.set(id, role);
        membership.is_leaving.store(false, Ordering::Release);
        membership.set_workers(workers);
        if database.is_server() {
            // An earlier process on this data directory may have left charges that only this one can read.
            self.ledger().recover(database)?;
        }
        Ok(())
    }

    /// Gives up what the other replicas of a server can continue, because this process is about to stop: its jobs, the
    /// checks of monitors, the runs that have not begun, and the messages that are not being sent. From now on it owns
    /// nothing new, and the work on pages in flight cannot be recorded. It remains a replica until the store is closed,
    /// for its requests in flight and its browser sessions. Does nothing if the database is a file.
    ///
    /// # Errors
    /// Failures of the database; then the others take over when the store is closed, or this process counts as lost.
    pub fn leave_replicas(&self) -> Result<(), StoreError> {
        let membership = self.membership();
        if !self.is_shared() {
            return Ok(());
        }
        membership.is_leaving.store(true, Ordering::Release);
        let Some(replica) = membership.id() else { return Ok(()) };
        self.database().write(Durability::Process, |transaction| {
            transaction.execute("UPDATE replicas SET is_worker = 0 WHERE id = ?1", params![replica])?;
            return_leases_of(transaction, replica)?;
            transaction.execute("DELETE FROM host_leases WHERE replica = ?1", params![replica])?;
            let WorkTable { name: jobs, is_unfinished: is_running } = WorkTable::JOBS;
            let WorkTable { name: checks, is_unfinished: is_open } = WorkTable::CHECKS;
            for (table, condition) in [
                (jobs, is_running),
                (checks, is_open),
                // The others could not continue a run.
                (WorkTable::RUNS.name, "status = 'queued'"),
                ("monitor_messages", "is_sending = 0"),
            ] {
                let sql = format!("UPDATE {table} SET replica = NULL WHERE {condition} AND replica = ?1");
                transaction.execute(&sql, params![replica])?;
            }
            Ok(())
        })
    }

    /// Deletes all replicas of a file that no process works on, which frees everything that they owned.
    pub(crate) fn end_replicas(&self) -> Result<(), StoreError> {
        self.database().write(Durability::Process, |transaction| {
            transaction.execute("DELETE FROM replicas", params![])?;
            let release = "UPDATE job_urls SET state = 'waiting', leased_by = NULL \
                           WHERE state IN ('waiting', 'leased') AND state = 'leased'";
            transaction.execute(release, params![]).map(drop)
        })
    }

    /// Returns whether this process has [joined](Self::join_replicas) the replicas.
    #[must_use]
    pub fn has_joined(&self) -> bool {
        self.membership().id().is_some()
    }

    /// Waits until this process has [joined](Self::join_replicas) the replicas.
    pub async fn joined(&self) {
        while !self.has_joined() {
            tokio::time::sleep(JOIN_POLL_INTERVAL).await;
        }
    }

    /// Returns the number of replicas that work on all jobs, as of at most a second ago; at least 1.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.membership().workers()
    }
}

fn insert(connection: &Connection, role: ReplicaRole, address: Option<&ReplicaAddress>) -> sql::Result<i64> {
    let sql = "INSERT INTO replicas (is_worker, url, secret) VALUES (?1, ?2, ?3) RETURNING id";
    let (url, secret) = (address.map(|address| &*address.url), address.map(|address| &*address.secret));
    connection.query_row(sql, params![role.is_worker(), url, secret], |row| row.get(0))
}

/// Deletes a replica, which frees everything that it owned.
fn delete(connection: &Connection, id: i64) -> sql::Result<()> {
    connection.execute("DELETE FROM replicas WHERE id = ?1", params![id]).map(drop)
}
