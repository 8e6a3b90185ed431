//! Metrics of a browser: pages, their waiting times and failures, and the processes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::BrowserError;

/// The upper bounds of the histogram of waiting times, in milliseconds. A bucket without a bound follows.
pub const WAIT_BOUNDS_MS: [u64; 10] = [1, 10, 50, 100, 250, 500, 1000, 2500, 10_000, 30_000];

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserMetrics {
    /// Pages that hold a permit now.
    pub open: u64,
    /// Pages that wait for a permit now.
    pub waiting: u64,
    /// Pages that acquired a permit.
    pub opened: u64,
    /// Pages that failed, by kind. Contains all kinds.
    pub failed: Vec<(&'static str, u64)>,
    /// Processes that were started, or connections to a remote browser.
    pub started: u64,
    /// Processes that were replaced because of their pages or their memory.
    pub recycled: u64,
    /// Processes, or connections, that ended unexpectedly.
    pub crashed: u64,
    /// The memory of all processes of the current Chromium, in bytes; 0 without one and for a remote browser.
    pub memory_bytes: u64,
    /// Cumulative counts of pages by the time that they waited for a permit, one for each of [`WAIT_BOUNDS_MS`], and
    /// the count of all pages.
    pub waited: Vec<u64>,
    /// The sum of these waiting times, in microseconds.
    pub waited_us: u64,
}

/// The counters behind the metrics.
#[derive(Default)]
pub(crate) struct Counters {
    waiting: AtomicU64,
    opened: AtomicU64,
    failed: [AtomicU64; FAILURE_KINDS.len()],
    started: AtomicU64,
    recycled: AtomicU64,
    crashed: AtomicU64,
    waited: [AtomicU64; WAIT_BOUNDS_MS.len() + 1],
    waited_us: AtomicU64,
}

/// Counts a page as waiting until it is dropped.
pub(crate) struct WaitGuard<'a>(&'a AtomicU64);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    pub(crate) fn waiting(&self) -> WaitGuard<'_> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        WaitGuard(&self.waiting)
    }

    /// Counts a page that acquired its permit after this time.
    pub(crate) fn opened(&self, waited: Duration) {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let bucket = WAIT_BOUNDS_MS.iter().position(|&bound| waited.as_millis() <= u128::from(bound));
        self.waited[bucket.unwrap_or(WAIT_BOUNDS_MS.len())].fetch_add(1, Ordering::Relaxed);
        let waited_us = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX);
        self.waited_us.fetch_add(waited_us, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self, error: &BrowserError) {
        self.failed[failure_kind(error)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn started(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn recycled(&self) {
        self.recycled.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn crashed(&self) {
        self.crashed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, open: u64, memory_bytes: u64) -> BrowserMetrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut sum = 0;
        let waited = self.waited.iter().map(|bucket| {
            sum += read(bucket);
            sum
        });
        BrowserMetrics {
            open,
            waiting: read(&self.waiting),
            opened: read(&self.opened),
            failed: FAILURE_KINDS.iter().copied().zip(self.failed.iter().map(read)).collect(),
            started: read(&self.started),
            recycled: read(&self.recycled),
            crashed: read(&self.crashed),
            memory_bytes,
            waited: waited.collect(),
            waited_us: read(&self.waited_us),
        }
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
    fn waiting_times_are_counted_in_cumulative_buckets() {
        let counters = Counters::default();
        for millis in [0, 10, 11, 60_000] {
            counters.opened(Duration::from_millis(millis));
        }
        counters.failed(&BrowserError::Crashed);
        let waiting = counters.waiting();
        let metrics = counters.snapshot(2, 7);
        assert_eq!(metrics.waited, [1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4]);
        assert_eq!((metrics.opened, metrics.waited_us, metrics.waiting), (4, 60_021_000, 1));
        assert!(metrics.failed.contains(&("crashed", 1)) && metrics.failed.contains(&("busy", 0)));
        drop(waiting);
        assert_eq!(counters.snapshot(0, 0).waiting, 0);
    }
}
