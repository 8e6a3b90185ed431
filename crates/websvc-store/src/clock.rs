//! The wall clock, for the times at which keys, teams and grants are created, used and revoked.
//!
//! The page cache and the jobs read no clock: their times come from the caller.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

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
