//! The timer of deletions.

use std::time::Duration;

use tokio::time::Instant;

/// Interval at which old rows are deleted.
const INTERVAL: Duration = Duration::from_secs(60);

/// The time of the next sweep, which deletes a part of what has expired.
#[derive(Debug, Default)]
pub struct Sweep {
    last: Option<Instant>,
}

impl Sweep {
    /// Returns whether it is time for a sweep.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= INTERVAL)
    }

    /// Records a sweep. If there may be more to delete, the next one is due at once.
    pub fn record(&mut self, has_more: bool) {
        self.last = (!has_more).then(Instant::now);
    }

    /// Makes a sweep due.
    pub fn request(&mut self) {
        self.last = None;
    }
}
