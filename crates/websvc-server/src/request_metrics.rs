//! The metrics of requests: responses, durations and credits.

use std::time::Duration;

use websvc_stage::{Counter, CountersBy, Distribution, Histogram, STAGE_BOUNDS_US};

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
    credits: CreditCounts,
}

#[derive(Debug)]
struct GroupMetrics {
    /// The responses by status, in the order of [`STATUSES`]; `None` stands for all others.
    statuses: CountersBy<Option<u16>>,
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
#[derive(Debug)]
pub(crate) struct CreditCounts {
    /// The charged credits by operation.
    pub(crate) charged: CountersBy<&'static str>,
    /// The number of requests that were rejected with 402.
    pub(crate) rejected: Counter,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let group = |_| GroupMetrics {
            statuses: CountersBy::new(STATUSES.map(Some).into_iter().chain([None])),
            durations: Histogram::new(&STAGE_BOUNDS_US),
        };
        Self {
            groups: OperationGroup::ALL.iter().map(group).collect(),
            credits: CreditCounts { charged: CountersBy::new(CHARGED), rejected: Counter::default() },
        }
    }
}

impl RequestMetrics {
    /// Counts a response. `operation` is `None` if there is no such route.
    pub(crate) fn record_response(&self, group: OperationGroup, status: u16, elapsed: Duration) {
        let metrics = &self.groups[group as usize];
        metrics.statuses.add(Some(status).filter(|status| STATUSES.contains(status)), 1);
        metrics.durations.count(elapsed);
    }

    /// Counts the credits that were charged for an operation.
    pub(crate) fn record_charge(&self, operation: &'static str, credits: u64) {
        debug_assert!(CHARGED.contains(&operation), "{operation} has no counter");
        self.credits.charged.add(operation, credits);
    }

    /// Counts a request that was rejected because the team had too few credits.
    pub(crate) fn record_insufficient_credits(&self) {
        self.credits.rejected.add(1);
    }

    /// Returns the responses of all groups.
    pub(crate) fn responses(&self) -> Vec<ResponseCounts> {
        let counts = |(group, metrics): (&OperationGroup, &GroupMetrics)| ResponseCounts {
            group: *group,
            statuses: metrics.statuses.counts().into_iter().filter(|(_, count)| *count > 0).collect(),
            durations: metrics.durations.distribution(),
        };
        OperationGroup::ALL.iter().zip(&self.groups).map(counts).collect()
    }

    pub(crate) fn credits(&self) -> &CreditCounts {
        &self.credits
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
