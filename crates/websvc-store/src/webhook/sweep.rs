//! Events that nobody waits for any more: those of jobs that were cancelled, and those that waited for too long.

use std::time::Duration;

use rusqlite::{Transaction, params};

use crate::database::Durability;
use crate::error::StoreError;
use crate::store::Store;

/// So many rows change at one time, so that nobody waits long for the writer.
const ROWS: u64 = 500;

/// Report of the deletion of old events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebhookSweepReport {
    /// Events of cancelled jobs that were dropped.
    pub dropped: u64,
    /// Events that are dead letters now.
    pub died: u64,
}

impl WebhookSweepReport {
    /// Returns whether there may be more of them.
    #[must_use]
    pub fn may_be_more(self) -> bool {
        self.dropped >= ROWS || self.died >= ROWS
    }
}

impl Store {
    /// Drops events that waited when their job was cancelled, and makes dead letters of those that wait for longer than
    /// `keep`, which are kept for as long again; a part of them at `now_ms` (milliseconds since the Unix epoch).
    ///
    /// # Errors
    /// Failures of the database.
    pub fn sweep_webhooks(&self, keep: Duration, now_ms: u64) -> Result<WebhookSweepReport, StoreError> {
        self.database().write(Durability::Process, |transaction| {
            Ok(WebhookSweepReport {
                dropped: drop_abandoned(transaction)?,
                died: bury_old(transaction, keep, now_ms)?,
            })
        })
    }
}

fn drop_abandoned(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    transaction
        .prepare_cached(
            "DELETE FROM webhook_events WHERE number IN (SELECT events.number FROM webhooks \
             JOIN webhook_events AS events ON events.job = webhooks.job AND events.forget_at IS NULL \
             AND events.since <= webhooks.dropped_at WHERE webhooks.waiting > 0 LIMIT ?1)",
        )?
        .execute([ROWS])
        .map(|rows| rows as u64)
}

fn bury_old(transaction: &Transaction<'_>, keep: Duration, now_ms: u64) -> rusqlite::Result<u64> {
    let keep_ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    let Some(oldest_ms) = now_ms.checked_sub(keep_ms) else { return Ok(0) };
    let forget_at_ms = now_ms.saturating_add(keep_ms).min(i64::MAX as u64);
    // What its receiver said last says more.
    let error = format!("its turn did not come within {} hours", keep.as_secs() / 3_600);
    transaction
        .prepare_cached(
            "UPDATE webhook_events SET forget_at = ?2, error = ifnull(error, ?3) WHERE number IN \
             (SELECT number FROM webhook_events WHERE forget_at IS NULL AND since <= ?1 LIMIT ?4)",
        )?
        .execute(params![oldest_ms, forget_at_ms, error, ROWS])
        .map(|rows| rows as u64)
}
