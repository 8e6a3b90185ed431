//! The clock of the schedules.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// The clock of the schedules: that of the system, or for tests one that is ahead of it.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// How far the clock is ahead of that of the system, in milliseconds.
    offset_ms: Arc<AtomicI64>,
}

impl Clock {
    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let offset = SignedDuration::from_millis(self.offset_ms.load(Ordering::Relaxed));
        Timestamp::now().checked_add(offset).unwrap_or(Timestamp::MAX)
    }

    /// Sets the clock and its clones forward, for tests.
    pub fn advance(&self, duration: std::time::Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.offset_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Returns the time in milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        to_ms(self.now())
    }
}

/// Returns a time in milliseconds since the Unix epoch.
pub(crate) fn to_ms(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or_default()
}

/// Returns the time of milliseconds since the Unix epoch.
pub(crate) fn from_ms(ms: u64) -> Timestamp {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
}
