//! The one place of this crate that reads the wall clock: keys are stamped when they are created, used and revoked.
//!
//! The page cache has no clock: its times come from the caller.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns milliseconds since the Unix epoch (0 when the clock stands before it).
pub(crate) fn now_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
