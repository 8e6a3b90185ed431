//! Removal of runs that expired or exceed the storage.

use super::types::RunLimits;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;
use crate::webhook::{WebhookOwner, delete_delivered, has_no_events};

/// Maximum of runs that one transaction deletes, so that other writers do not wait for long.
const MAX_RUNS: u64 = 20;

impl Store {
    /// Deletes a part of what is no longer needed at `now_ms` (milliseconds since the Unix epoch): runs that expired or
    /// exceed [`RunLimits::max_bytes`]. Returns whether there may be more to delete.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_runs(&self, limits: &RunLimits, now_ms: u64) -> Result<bool, StoreError> {
        let _class = StatementClass::Background.enter();
        self.database().write_shared(Durability::Process, |transaction| {
            delete_delivered(transaction, WebhookOwner::RUN)?;
            let expired = delete(transaction, "expires_at <= ?1", now_ms)?;
            if expired > 0 {
                return Ok(true);
            }
            let bytes = "SELECT coalesce(sum(bytes), 0) FROM agent_runs";
            // A sum of PostgreSQL is a decimal number.
            let bytes: i64 =
                transaction
                    .query_row(&format!("SELECT CAST(({bytes}) AS BIGINT)"), params![], |row| row.get(0))?;
            if u64::try_from(bytes).unwrap_or(0) <= limits.max_bytes {
                return Ok(false);
            }
            Ok(delete(transaction, "finished_at <= ?1", now_ms)? > 0)
        })
    }
}

/// Deletes the oldest runs for which a condition on a time holds, with their events. Returns their number.
fn delete(transaction: &Transaction<'_>, condition: &str, now_ms: u64) -> sql::Result<u64> {
    let has_no_events = has_no_events(WebhookOwner::RUN);
    let sql = format!(
        "DELETE FROM agent_runs WHERE number IN (SELECT number FROM agent_runs \
         WHERE finished_at IS NOT NULL AND {condition} AND {has_no_events} ORDER BY number LIMIT ?2)"
    );
    transaction.execute(&sql, params![now_ms, MAX_RUNS])
}
