//! Counts of the checks of this process since its start.

use std::time::Duration;

use websvc_stage::{Distribution, Histogram};
use websvc_store::CheckStatus;
use websvc_tasks::EndCounts;

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

/// Counts of checks since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckMetrics {
    /// Ended checks by status. A status without checks has the count 0.
    pub ended: Vec<(CheckStatus, u64)>,
    /// Start delays of scheduled checks.
    pub start_delay: Distribution,
}

/// The counters behind [`CheckMetrics`].
#[derive(Debug)]
pub(crate) struct Counters {
    ended: EndCounts<CheckStatus>,
    start_delay: Histogram,
}

impl Default for Counters {
    fn default() -> Self {
        Self { ended: EndCounts::new(ENDED), start_delay: Histogram::new(&DELAY_BOUNDS_US) }
    }
}

impl Counters {
    /// Counts a check that ended with a status.
    pub(crate) fn record_end(&self, status: CheckStatus) {
        self.ended.record(status);
    }

    /// Counts the start of the work on a scheduled check, this long after it was due.
    pub(crate) fn record_start(&self, delay: Duration) {
        self.start_delay.count(delay);
    }

    pub(crate) fn metrics(&self) -> CheckMetrics {
        let Self { ended, start_delay } = self;
        CheckMetrics { ended: ended.counts(), start_delay: start_delay.distribution() }
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
        let counters = Counters::default();
        for status in all {
            counters.record_end(status);
        }
        let finished: Vec<_> =
            all.into_iter().filter(|status| status.is_finished()).map(|status| (status, 1)).collect();
        assert_eq!(counters.metrics().ended, finished);
    }
}
