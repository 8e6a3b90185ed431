//! Metrics of threat protection. They contain no URL and no team.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::error::{Rule, ScanError};

/// The upper bounds of the histogram of latencies, in milliseconds; what took longer is in one class more.
pub const LATENCY_BOUNDS_MS: [u64; 10] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500];

/// The figures since the process began.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreatMetrics {
    /// The name of the scanner; `none` when there is none.
    pub scanner: &'static str,
    /// Verdicts of the scanner.
    pub scanned: u64,
    /// Verdicts that were remembered.
    pub remembered: u64,
    /// Questions without a verdict, by reason, every reason once.
    pub failed: Vec<(&'static str, u64)>,
    /// URLs that were blocked, by rule, every rule once. A URL counts once for each request.
    pub blocked: Vec<(&'static str, u64)>,
    /// How many questions took at most so long, by [`LATENCY_BOUNDS_MS`], and at the end all of them.
    pub took: Vec<u64>,
    /// Sum of the durations of all scans, in microseconds.
    pub total_us: u64,
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    scanned: AtomicU64,
    remembered: AtomicU64,
    failed: [AtomicU64; ScanError::NAMES.len()],
    blocked: [AtomicU64; Rule::NAMES.len()],
    /// By class, not summed up.
    took: [AtomicU64; LATENCY_BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
}

impl Counters {
    pub(crate) fn remembered(&self) {
        self.remembered.fetch_add(1, Relaxed);
    }

    pub(crate) fn scanned(&self) {
        self.scanned.fetch_add(1, Relaxed);
    }

    pub(crate) fn failed(&self, error: &ScanError) {
        self.failed[error.index()].fetch_add(1, Relaxed);
    }

    pub(crate) fn blocked(&self, rule: &Rule) {
        self.blocked[rule.index()].fetch_add(1, Relaxed);
    }

    /// Notes how long the scanner took for one question.
    pub(crate) fn took(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let class =
            LATENCY_BOUNDS_MS.iter().position(|bound| ms <= *bound).unwrap_or(LATENCY_BOUNDS_MS.len());
        self.took[class].fetch_add(1, Relaxed);
        self.total_us.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }

    pub(crate) fn figures(&self, scanner: &'static str) -> ThreatMetrics {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let mut sum = 0;
        let sums = self.took.iter().map(|class| {
            sum += read(class);
            sum
        });
        ThreatMetrics {
            scanner,
            scanned: read(&self.scanned),
            remembered: read(&self.remembered),
            failed: ScanError::NAMES.into_iter().zip(self.failed.iter().map(read)).collect(),
            blocked: Rule::NAMES.into_iter().zip(self.blocked.iter().map(read)).collect(),
            took: sums.collect(),
            total_us: read(&self.total_us),
        }
    }
}
