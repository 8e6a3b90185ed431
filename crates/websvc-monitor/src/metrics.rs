//! Metrics of checks.

use websvc_stage::{CountersBy, Histogram};
use websvc_store::CheckStatus;

/// Upper bounds of the buckets of delays, in microseconds: from 0.1 s, which the schedule keeps when it has little to do,
/// up to an hour, after which a check fails.
const DELAY_BOUNDS_US: [u64; 11] = [
    100_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
    900_000_000,
    3_600_000_000,
];

/// The statuses of ended checks.
const ENDED: [CheckStatus; 5] = [
    CheckStatus::Completed,
    CheckStatus::Partial,
    CheckStatus::Failed,
    CheckStatus::SkippedOverlap,
    CheckStatus::SkippedNoCredits,
];

/// Metrics of the checks of this process since its start.
#[derive(Debug)]
pub struct CheckMetrics {
    /// Ended checks by status.
    pub ended: CountersBy<CheckStatus>,
    /// Start delays of scheduled checks: how long after it was due the work on a check began.
    pub start_delay: Histogram,
}

impl Default for CheckMetrics {
    fn default() -> Self {
        Self { ended: CountersBy::new(ENDED), start_delay: Histogram::new(&DELAY_BOUNDS_US) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_ended_check_is_counted() {
        let all = [
            CheckStatus::Queued,
            CheckStatus::Running,
            CheckStatus::Completed,
            CheckStatus::Partial,
            CheckStatus::Failed,
            CheckStatus::SkippedOverlap,
            CheckStatus::SkippedNoCredits,
        ];
        let metrics = CheckMetrics::default();
        for status in all {
            metrics.ended.add(status, 1);
        }
        let finished: Vec<_> =
            all.into_iter().filter(|status| status.is_finished()).map(|status| (status, 1)).collect();
        assert_eq!(metrics.ended.counts(), finished);
    }
}
