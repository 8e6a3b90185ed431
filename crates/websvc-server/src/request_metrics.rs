//! What is counted of requests at the door: how they were answered, how long that took, what they cost.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use websvc_stage::{Distribution, Histogram, STAGE_BOUNDS_US};

use crate::route::{Operation, OperationGroup};

/// The statuses that are counted by themselves; others count together.
const STATUSES: [u16; 23] = [
    101, 200, 202, 204, 206, 304, 307, 400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 416, 429, 500,
    501, 503,
];

/// The operations that cost credits.
const CHARGED: [&str; 4] = ["search", "scrape", "parse", "map"];

/// The counters.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    groups: Vec<GroupMetrics>,
    /// By [`CHARGED`].
    credits: [AtomicU64; CHARGED.len()],
    refused_credits: AtomicU64,
}

#[derive(Debug)]
struct GroupMetrics {
    /// By [`STATUSES`], and at the end all others.
    statuses: [AtomicU64; STATUSES.len() + 1],
    took: Histogram,
}

/// What was counted of the requests of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResponseCounts {
    pub(crate) group: OperationGroup,
    /// Those that were answered at all, by status; `None` is any that is not counted by itself.
    pub(crate) statuses: Vec<(Option<u16>, u64)>,
    pub(crate) took: Distribution,
}

/// What was counted of credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Credits {
    /// What was charged, by operation.
    pub(crate) charged: [(&'static str, u64); CHARGED.len()],
    /// Requests that were refused because the team had not enough.
    pub(crate) refused: u64,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let group = |_| GroupMetrics {
            statuses: std::array::from_fn(|_| AtomicU64::default()),
            took: Histogram::new(&STAGE_BOUNDS_US),
        };
        Self {
            groups: OperationGroup::ALL.iter().map(group).collect(),
            credits: std::array::from_fn(|_| AtomicU64::default()),
            refused_credits: AtomicU64::default(),
        }
    }
}

impl RequestMetrics {
    /// Counts an answer; of no operation where there is no such route.
    pub(crate) fn record_response(&self, operation: Option<Operation>, status: u16, took: Duration) {
        let group = operation.map_or(OperationGroup::None, Operation::group);
        let meters = &self.groups[group as usize];
        let at = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
        meters.statuses[at].fetch_add(1, Relaxed);
        meters.took.count(took);
    }

    /// Counts what was charged for an operation.
    pub(crate) fn record_charge(&self, operation: &str, credits: u64) {
        let at = CHARGED.iter().position(|known| *known == operation);
        debug_assert!(at.is_some(), "{operation} has no counter");
        if let Some(counter) = at.map(|at| &self.credits[at]) {
            counter.fetch_add(credits, Relaxed);
        }
    }

    /// Counts a request that was refused because the team had not enough credits.
    pub(crate) fn refused_for_credits(&self) {
        self.refused_credits.fetch_add(1, Relaxed);
    }

    pub(crate) fn all_answered(&self) -> Vec<ResponseCounts> {
        let statuses = || STATUSES.iter().copied().map(Some).chain([None]);
        let answered = |(group, meters): (&OperationGroup, &GroupMetrics)| ResponseCounts {
            group: *group,
            statuses: statuses()
                .zip(meters.statuses.iter().map(|count| count.load(Relaxed)))
                .filter(|(_, count)| *count > 0)
                .collect(),
            took: meters.took.distribution(),
        };
        OperationGroup::ALL.iter().zip(&self.groups).map(answered).collect()
    }

    pub(crate) fn credits(&self) -> Credits {
        Credits {
            charged: std::array::from_fn(|at| (CHARGED[at], self.credits[at].load(Relaxed))),
            refused: self.refused_credits.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_is_in_one_status_and_in_the_histogram_of_its_group() {
        let meters = RequestMetrics::default();
        for status in [200, 200, 503, 599] {
            meters.record_response(Some(Operation::Search), status, Duration::from_millis(1));
        }
        meters.record_response(None, 404, Duration::ZERO);
        let all = meters.all_answered();
        let of = |group: OperationGroup| all.iter().find(|answered| answered.group == group).unwrap();
        assert_eq!(of(OperationGroup::Search).statuses, [(Some(200), 2), (Some(503), 1), (None, 1)]);
        for answered in &all {
            let sum: u64 = answered.statuses.iter().map(|(_, count)| count).sum();
            assert_eq!(answered.took.counts.last(), Some(&sum), "{:?}", answered.group);
        }
        assert_eq!(of(OperationGroup::None).statuses, [(Some(404), 1)]);
    }
}
