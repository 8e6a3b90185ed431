//! The metrics of threat protection. They contain no URL and no team.

use websvc_stage::{Counter, CountersBy, Histogram};

use crate::threat::error::{Rule, ScanError};

/// The upper bounds of the histogram of scans, in microseconds.
const SCAN_BOUNDS_US: &[u64] =
    &[1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000];

/// The metrics of threat protection since the start of the process.
#[derive(Debug)]
pub struct ThreatMetrics {
    /// Verdicts returned by the scanner.
    pub scanned: Counter,
    /// Verdicts returned from the cache.
    pub cached: Counter,
    /// Checks without a verdict, by reason.
    pub failed: CountersBy<&'static str>,
    /// Blocked URLs, by rule. A URL counts once per request.
    pub blocked: CountersBy<&'static str>,
    /// The durations of scans.
    pub scans: Histogram,
}

impl Default for ThreatMetrics {
    fn default() -> Self {
        Self {
            scanned: Counter::default(),
            cached: Counter::default(),
            failed: CountersBy::new(ScanError::NAMES),
            blocked: CountersBy::new(Rule::NAMES),
            scans: Histogram::new(SCAN_BOUNDS_US),
        }
    }
}
