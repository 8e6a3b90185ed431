//! The owners of unfinished checks: one replica at a time works on a check.

use super::row::checks;
use super::types::CheckRecord;
use crate::error::StoreError;
use crate::owned_work::ClaimAmount;
use crate::pending_work::WorkTable;
use crate::sql::params;
use crate::store::Store;

impl Store {
    /// Takes over up to `max` unfinished checks without an owner, up to the share of this replica, and returns all that
    /// it owns, the oldest first. For a process that has not [joined](Self::join_replicas), returns all unfinished ones.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn claim_checks(&self, max: u64) -> Result<Vec<CheckRecord>, StoreError> {
        let Some(replica) = self.membership().id() else {
            let condition = "checks.finished_at IS NULL ORDER BY checks.number";
            return self.database().read(|connection| checks(connection, condition, params![]));
        };
        self.claim_work(WorkTable::CHECKS, replica, ClaimAmount::Share(max))?;
        let condition = "checks.replica = ?1 AND checks.finished_at IS NULL ORDER BY checks.number";
        self.database().read(|connection| checks(connection, condition, params![replica]))
    }
}
