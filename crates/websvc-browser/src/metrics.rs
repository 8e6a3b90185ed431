//! Metrics of a browser: pages, their waiting times and failures, and the processes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use websvc_stage::{Counter, CountersBy, Histogram};

use crate::error::BrowserError;

/// The upper bounds of the histogram of waiting times, in microseconds.
const WAIT_BOUNDS_US: &[u64] =
    &[1_000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000, 30_000_000];

/// The label values of failures.
const FAILURE_KINDS: [&str; 14] = [
    "missing",
    "start",
    "remote",
    "busy",
    "deadline",
    "crashed",
    "forbidden_scheme",
    "forbidden",
    "navigation",
    "download",
    "step",
    "protocol",
    "refused_by_rule",
    "memory_exceeded",
];

/// The metrics of a browser since its creation.
#[derive(Debug)]
pub struct BrowserMetrics {
    waiting: AtomicU64,
    /// Pages that acquired a permit.
    pub opened: Counter,
    /// Pages that failed, by kind.
    pub failed: CountersBy<&'static str>,
    /// Processes that were started, or connections to a remote browser.
    pub started: Counter,
    /// Processes that were replaced because of their pages or their memory.
    pub recycled: Counter,
    /// Processes, or connections, that ended unexpectedly.
    pub crashed: Counter,
    /// The times that pages waited for a permit.
    pub waited: Histogram,
}

impl Default for BrowserMetrics {
    fn default() -> Self {
        Self {
            waiting: AtomicU64::default(),
            opened: Counter::default(),
            failed: CountersBy::new(FAILURE_KINDS),
            started: Counter::default(),
            recycled: Counter::default(),
            crashed: Counter::default(),
            waited: Histogram::new(WAIT_BOUNDS_US),
        }
    }
}

/// Counts a page as waiting until it is dropped.
pub(crate) struct WaitGuard<'a>(&'a AtomicU64);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl BrowserMetrics {
    /// Returns the number of pages that wait for a permit now.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(crate) fn start_waiting(&self) -> WaitGuard<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        WaitGuard(&self.waiting)
    }

    /// Counts a page that acquired its permit after this time.
    pub(crate) fn count_opened(&self, waited: Duration) {
        self.opened.add(1);
        self.waited.count(waited);
    }

    pub(crate) fn count_failed(&self, error: &BrowserError) {
        self.failed.at(failure_kind(error)).add(1);
    }
}

/// Returns the index of an error in [`FAILURE_KINDS`].
fn failure_kind(error: &BrowserError) -> usize {
    match error {
        BrowserError::Missing { .. } => 0,
        BrowserError::Start { .. } => 1,
        BrowserError::Remote { .. } => 2,
        BrowserError::Busy { .. } => 3,
        BrowserError::Deadline => 4,
        BrowserError::Crashed => 5,
        BrowserError::ForbiddenScheme { .. } => 6,
        BrowserError::Forbidden => 7,
        BrowserError::Navigation { .. } => 8,
        BrowserError::Download => 9,
        BrowserError::Step { .. } => 10,
        BrowserError::Protocol { .. } => 11,
        BrowserError::RefusedByRule { .. } => 12,
        BrowserError::MemoryExceeded { .. } => 13,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_with_their_waiting_times_and_failures() {
        let metrics = BrowserMetrics::default();
        for millis in [0, 10, 11, 60_000] {
            metrics.count_opened(Duration::from_millis(millis));
        }
        metrics.count_failed(&BrowserError::Crashed);
        let waiting = metrics.start_waiting();
        let waited = metrics.waited.distribution();
        assert_eq!(waited.counts, [1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((metrics.opened.get(), waited.total_us, metrics.waiting()), (4, 60_021_000, 1));
        let failed = metrics.failed.counts();
        assert!(failed.contains(&("crashed", 1)) && failed.contains(&("busy", 0)));
        drop(waiting);
        assert_eq!(metrics.waiting(), 0);
    }
}
