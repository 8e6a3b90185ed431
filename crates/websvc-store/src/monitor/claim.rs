//! The owners of unfinished checks: one replica at a time works on a check.

use super::row::checks;
use super::types::CheckRecord;
use crate::database::Durability;
use crate::error::StoreError;
use crate::job::even_share;
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
        let count = "SELECT count(*), count(*) FILTER (WHERE replica IS NULL), \
                     count(*) FILTER (WHERE replica = ?1) FROM monitor_checks WHERE finished_at IS NULL";
        let (all, without_owner, owned): (u64, u64, u64) = self.database().read(|connection| {
            connection.query_row(count, params![replica], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        })?;
        let max = even_share(all, self.workers()).saturating_sub(owned).min(max);
        if without_owner > 0 && max > 0 && !self.membership().is_leaving() {
            self.database().write_shared(Durability::Process, |transaction| {
                let claim = format!(
                    "UPDATE monitor_checks SET replica = ?1 WHERE number IN (SELECT number \
                     FROM monitor_checks WHERE finished_at IS NULL AND replica IS NULL \
                     ORDER BY number LIMIT ?2{})",
                    transaction.skip_locked()
                );
                transaction.execute(&claim, params![replica, max])
            })?;
        }
        let condition = "checks.replica = ?1 AND checks.finished_at IS NULL ORDER BY checks.number";
        self.database().read(|connection| checks(connection, condition, params![replica]))
    }
}
