//! The metrics of threat protection. They contain no URL and no team.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::threat::error::{Rule, ScanError};

/// The upper bounds of the latency histogram, in milliseconds. A bucket without a bound follows.
pub const LATENCY_BOUNDS_MS: [u64; 10] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500];

/// The metrics of threat protection since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreatMetrics {
    /// The name of the scanner; `none` without one.
    pub scanner: &'static str,
    /// Verdicts returned by the scanner.
    pub scanned: u64,
    /// Verdicts returned from the cache.
    pub cached: u64,
    /// Checks without a verdict, by reason. Contains all reasons.
    pub failed: Vec<(&'static str, u64)>,
    /// Blocked URLs, by rule. Contains all rules. A URL counts once per request.
    pub blocked: Vec<(&'static str, u64)>,
    /// Cumulative counts of scans by latency, one for each of [`LATENCY_BOUNDS_MS`], and the count of all scans.
    pub latency_counts: Vec<u64>,
    /// The total duration of all scans, in microseconds.
    pub total_us: u64,
}

/// The counters behind the metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    scanned: AtomicU64,
    cached: AtomicU64,
    failed: [AtomicU64; ScanError::NAMES.len()],
    blocked: [AtomicU64; Rule::NAMES.len()],
    /// By bucket, not cumulative.
    latency_counts: [AtomicU64; LATENCY_BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
}

impl Counters {
    pub(crate) fn cached(&self) {
        self.cached.fetch_add(1, Relaxed);
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

    /// Records the duration of a scan.
    pub(crate) fn record_scan(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let bucket =
            LATENCY_BOUNDS_MS.iter().position(|bound| ms <= *bound).unwrap_or(LATENCY_BOUNDS_MS.len());
        self.latency_counts[bucket].fetch_add(1, Relaxed);
        self.total_us.fetch_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX), Relaxed);
    }

    pub(crate) fn snapshot(&self, scanner: &'static str) -> ThreatMetrics {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let mut sum = 0;
        let sums = self.latency_counts.iter().map(|bucket| {
            sum += read(bucket);
            sum
        });
        ThreatMetrics {
            scanner,
            scanned: read(&self.scanned),
            cached: read(&self.cached),
            failed: ScanError::NAMES.into_iter().zip(self.failed.iter().map(read)).collect(),
            blocked: Rule::NAMES.into_iter().zip(self.blocked.iter().map(read)).collect(),
            latency_counts: sums.collect(),
            total_us: read(&self.total_us),
        }
    }
}
