//! The wall clock, for the times at which keys, teams and grants are created, used and revoked.
//!
//! The page cache and the jobs read no clock: their times come from the caller.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql::params;
use crate::store::Store;

/// Returns the milliseconds since the Unix epoch; 0 if the clock is set to an earlier time.
pub(crate) fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time after a duration, at most the largest integer of SQLite.
pub(crate) fn add_ms(now_ms: u64, duration: Duration) -> u64 {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    now_ms.saturating_add(duration_ms).min(i64::MAX as u64)
}

impl Store {
    /// Makes the events of webhooks and the messages about checks due at `now_ms` that are due more than `max_delay` after
    /// it: the clock was ahead when they were stored. Call it after the clock was set. Confirmations may wait for weeks, so
    /// they stay as they are.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn bring_deliveries_forward(&self, now_ms: u64, max_delay: Duration) -> Result<(), StoreError> {
        let latest_ms = add_ms(now_ms, max_delay);
        self.database().write(Durability::Process, |transaction| {
            let events = "UPDATE webhook_events SET due_at = ?1 WHERE forget_at IS NULL AND due_at > ?2";
            transaction.execute(events, params![now_ms, latest_ms])?;
            let messages =
                "UPDATE monitor_messages SET due_at = ?1 WHERE kind <> 'confirmation' AND due_at > ?2";
            transaction.execute(messages, params![now_ms, latest_ms]).map(drop)
        })
    }
}
