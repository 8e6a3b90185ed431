//! The owners of unfinished runs: one replica at a time works on a run.

use super::row::{is_workable, run_by_number};
use super::types::{OpenRun, RunRecord};
use crate::database::{Durability, Locked};
use crate::error::StoreError;
use crate::owned_work::ClaimAmount;
use crate::pending_work::WorkTable;
use crate::sql::{self, Connection, params};
use crate::store::Store;

impl Store {
    /// Takes over unfinished runs without an owner, up to the share of this replica, and returns all that it owns, the
    /// oldest first. For a process that has not [joined](Self::join_replicas), returns all unfinished ones.
    ///
    /// It is called often, so it does not read the requests, which may be large; [`unfinished_run`](Self::unfinished_run)
    /// does.
    ///
    /// A run with the status [`Running`](super::RunStatus::Running) that this process does not work on was interrupted.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn claim_runs(&self) -> Result<Vec<OpenRun>, StoreError> {
        let Some(replica) = self.membership().id() else {
            let condition = "finished_at IS NULL ORDER BY number";
            return self.database().read(|connection| open_runs(connection, condition, params![]));
        };
        self.claim_work(WorkTable::RUNS, replica, ClaimAmount::Share(u64::MAX))?;
        let condition = "replica = ?1 AND finished_at IS NULL ORDER BY number";
        self.database().read(|connection| open_runs(connection, condition, params![replica]))
    }

    /// Returns a run that is unfinished.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn unfinished_run(&self, run: i64) -> Result<Option<RunRecord>, StoreError> {
        let record = self.database().read(|connection| run_by_number(connection, run))?;
        Ok(record.filter(|record| !record.status.is_finished()))
    }

    /// Begins the work on a queued run at `now_ms` (milliseconds since the Unix epoch). Returns false if it has begun
    /// before, has ended or was deleted, or another replica owns it.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn begin_run(&self, run: i64, now_ms: u64) -> Result<bool, StoreError> {
        let replica = self.membership().id();
        self.database().write_locked(Locked::Run(run), Durability::Process, |transaction| {
            if !is_workable(transaction, run, replica)? {
                return Ok(false);
            }
            let sql = "UPDATE agent_runs SET status = 'running', started_at = ?2 \
                       WHERE number = ?1 AND status = 'queued'";
            Ok(transaction.execute(sql, params![run, now_ms])? == 1)
        })
    }
}

/// Returns the unfinished runs for which `condition` holds.
fn open_runs(connection: &Connection, condition: &str, values: sql::Params<'_>) -> sql::Result<Vec<OpenRun>> {
    let sql =
        format!("SELECT number, id, team, status, cancel_requested_at FROM agent_runs WHERE {condition}");
    connection.query(&sql, values, |row| {
        Ok(OpenRun {
            number: row.get(0)?,
            id: row.get(1)?,
            team: row.get(2)?,
            status: row.get(3)?,
            cancel_requested_at_ms: row.get(4)?,
        })
    })
}
