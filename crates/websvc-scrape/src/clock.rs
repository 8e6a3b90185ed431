//! The time by which cached pages are young or old.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time. The wall clock by default; tests bring their own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Makes a clock of a function.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time in milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from((self.0)().as_millisecond()).unwrap_or_default()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(Timestamp::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
