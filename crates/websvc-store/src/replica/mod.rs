//! Replicas: the processes that share a database and work on its jobs.
//!
//! Each replica has a row in the table `replicas`, and owns jobs and webhooks: rows that refer to it. The owner of a job
//! and those that help with it lease its URLs. On a server, a replica increments its `beat` every second. When another
//! replica has seen no new beat for `LOST_AFTER`, it deletes the row, and thereby frees everything that the lost replica owned. No clocks
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
pub(crate) mod heartbeat;
pub(crate) mod membership;
mod observer;

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::database::Durability;
use crate::error::StoreError;
use crate::job::return_leases_of;
use crate::pending_work::WorkTable;
use crate::sql::params;
use crate::store::Store;

pub use address::ForeignSession;
pub use membership::{ReplicaAddress, ReplicaRole};
use membership::{delete, insert};

/// Interval at which a process asks whether it has joined.
const JOIN_POLL_INTERVAL: Duration = Duration::from_millis(20);

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

    /// Returns the number of this replica of a database on a server; `None` if the database is a file, or this process has
    /// not joined the replicas.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`] if the last attempt to reach the server failed.
    pub(crate) fn reachable_replica(&self) -> Result<Option<i64>, StoreError> {
        let database = self.database();
        let (Some(server), Some(replica)) = (database.server_state(), self.membership().id()) else {
            return Ok(None);
        };
        server.check_reachable().map_err(|error| database.error(error))?;
        Ok(Some(replica))
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
