//! The metrics of requests: responses, durations and credits.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use websvc_stage::{Distribution, Histogram, STAGE_BOUNDS_US};

use crate::route::OperationGroup;

/// The statuses with a counter of their own. All others share one counter.
const STATUSES: [u16; 23] = [
    101, 200, 202, 204, 206, 304, 307, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 416, 429, 500,
    501, 503,
];

/// The operations that cost credits.
const CHARGED: [&str; 4] = ["search", "scrape", "parse", "map"];

/// The counters and histograms of requests.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    /// One for each group, in the order of [`OperationGroup::ALL`].
    groups: Vec<GroupMetrics>,
    /// The charged credits, in the order of [`CHARGED`].
    credits: [AtomicU64; CHARGED.len()],
    insufficient_credits: AtomicU64,
}

#[derive(Debug)]
struct GroupMetrics {
    /// The responses by status, in the order of [`STATUSES`]; the last counter is for all others.
    statuses: [AtomicU64; STATUSES.len() + 1],
    durations: Histogram,
}

/// The responses to the requests of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResponseCounts {
    pub(crate) group: OperationGroup,
    /// The number of responses by status; `None` stands for all statuses without a counter of their own.
    pub(crate) statuses: Vec<(Option<u16>, u64)>,
    pub(crate) durations: Distribution,
}

/// The counters of credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CreditCounts {
    /// The charged credits by operation.
    pub(crate) charged: [(&'static str, u64); CHARGED.len()],
    /// The number of requests that were rejected with 402.
    pub(crate) rejected: u64,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let group = |_| GroupMetrics {
            statuses: std::array::from_fn(|_| AtomicU64::default()),
            durations: Histogram::new(&STAGE_BOUNDS_US),
        };
        Self {
            groups: OperationGroup::ALL.iter().map(group).collect(),
            credits: std::array::from_fn(|_| AtomicU64::default()),
            insufficient_credits: AtomicU64::default(),
        }
    }
}

impl RequestMetrics {
    /// Counts a response. `operation` is `None` if there is no such route.
    pub(crate) fn record_response(&self, group: OperationGroup, status: u16, elapsed: Duration) {
        let metrics = &self.groups[group as usize];
        let index = STATUSES.iter().position(|other| *other == status).unwrap_or(STATUSES.len());
        metrics.statuses[index].fetch_add(1, Relaxed);
        metrics.durations.count(elapsed);
    }

    /// Counts the credits that were charged for an operation.
    pub(crate) fn record_charge(&self, operation: &str, credits: u64) {
        let index = CHARGED.iter().position(|other| *other == operation);
        debug_assert!(index.is_some(), "{operation} has no counter");
        if let Some(counter) = index.map(|index| &self.credits[index]) {
            counter.fetch_add(credits, Relaxed);
        }
    }

    /// Counts a request that was rejected because the team had too few credits.
    pub(crate) fn record_insufficient_credits(&self) {
        self.insufficient_credits.fetch_add(1, Relaxed);
    }

    /// Returns the responses of all groups.
    pub(crate) fn responses(&self) -> Vec<ResponseCounts> {
        let statuses = || STATUSES.iter().copied().map(Some).chain([None]);
        let counts = |(group, metrics): (&OperationGroup, &GroupMetrics)| ResponseCounts {
            group: *group,
            statuses: statuses()
                .zip(metrics.statuses.iter().map(|count| count.load(Relaxed)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            durations: metrics.durations.distribution(),
        };
        OperationGroup::ALL.iter().zip(&self.groups).map(counts).collect()
    }

    pub(crate) fn credits(&self) -> CreditCounts {
        CreditCounts {
            charged: std::array::from_fn(|index| (CHARGED[index], self.credits[index].load(Relaxed))),
            rejected: self.insufficient_credits.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_counts_for_one_status_and_for_the_histogram_of_its_group() {
        let metrics = RequestMetrics::default();
        for status in [200, 200, 503, 599] {
            metrics.record_response(OperationGroup::Search, status, Duration::from_millis(1));
        }
        metrics.record_response(OperationGroup::None, 404, Duration::ZERO);
        let all = metrics.responses();
        let find = |group: OperationGroup| all.iter().find(|counts| counts.group == group).unwrap();
        assert_eq!(find(OperationGroup::Search).statuses, [(Some(200), 2), (Some(503), 1), (None, 1)]);
        for counts in &all {
            let sum: u64 = counts.statuses.iter().map(|(_, count)| count).sum();
            assert_eq!(counts.durations.counts.last(), Some(&sum), "{:?}", counts.group);
        }
        assert_eq!(find(OperationGroup::None).statuses, [(Some(404), 1)]);
    }
}
