//! Removal of runs that expired or exceed the storage.

use super::types::RunLimits;
use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::postgres::StatementClass;
use crate::sql::{self, Transaction, params};
use crate::store::Store;

/// Maximum of runs that one transaction deletes, so that other writers do not wait for long.
const MAX_RUNS: u64 = 20;

/// Maximum of webhooks that one transaction deletes.
const MAX_WEBHOOKS: u64 = 500;

/// True for a run without pending events and dead letters of its webhook.
const HAS_NO_EVENTS: &str = "NOT EXISTS (SELECT 1 FROM webhooks JOIN webhook_events AS events \
     ON events.webhook = webhooks.number WHERE webhooks.agent_run = agent_runs.number)";

impl Store {
    /// Deletes a part of what is no longer needed at `now_ms` (milliseconds since the Unix epoch): runs that expired or
    /// exceed [`RunLimits::max_bytes`]. Returns whether there may be more to delete.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_runs(&self, limits: &RunLimits, now_ms: u64) -> Result<bool, StoreError> {
        let _class = StatementClass::Background.enter();
        self.database().write_shared(Durability::Process, |transaction| {
            delete_webhooks(transaction)?;
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

/// Deletes webhooks of finished runs whose events are all delivered: they contain headers of the team, which need not be
/// stored as long as the run.
fn delete_webhooks(transaction: &Transaction<'_>) -> sql::Result<u64> {
    let sql = "DELETE FROM webhooks WHERE number IN (SELECT webhooks.number FROM webhooks \
               JOIN agent_runs ON agent_runs.number = webhooks.agent_run \
               WHERE webhooks.agent_run IS NOT NULL AND agent_runs.finished_at IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM webhook_events AS events WHERE events.webhook = webhooks.number) \
               LIMIT ?1)";
    transaction.execute(sql, params![MAX_WEBHOOKS])
}

/// Deletes the oldest runs for which a condition on a time holds, with their events. Returns their number.
fn delete(transaction: &Transaction<'_>, condition: &str, now_ms: u64) -> sql::Result<u64> {
    let sql = format!(
        "DELETE FROM agent_runs WHERE number IN (SELECT number FROM agent_runs \
         WHERE finished_at IS NOT NULL AND {condition} AND {HAS_NO_EVENTS} ORDER BY number LIMIT ?2)"
    );
    transaction.execute(&sql, params![now_ms, MAX_RUNS])
}
