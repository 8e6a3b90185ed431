//! The counts of the requests to the models.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use websvc_stage::{Distribution, Histogram};

use crate::error::ModelError;
use crate::feature::Feature;
use crate::model::Usage;

/// The inclusive upper bounds of the buckets of durations, in microseconds, up to ten minutes: a small model on a processor
/// takes that long for the data of a run.
const DURATION_BOUNDS_US: &[u64] = &[
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    20_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
];

/// The metrics of the requests for one feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureMetrics {
    /// The feature.
    pub feature: Feature,
    /// Requests that have ended, by outcome. Contains all outcomes.
    pub outcomes: Vec<(&'static str, u64)>,
    /// Requests that were sent again to the same endpoint after a failure.
    pub retries: u64,
    /// The tokens of requests and responses, failed ones included, as the endpoints report them.
    pub usage: Usage,
    /// The durations of the requests, with the wait for a permit and retries.
    pub durations: Distribution,
}

/// The metrics of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointMetrics {
    /// Requests that the endpoint answered.
    pub answered: u64,
    /// Requests that failed, except those that were cancelled.
    pub failed: u64,
    /// Requests that skipped the endpoint, because it had failed shortly before.
    pub skipped: u64,
    /// True while the endpoint is skipped.
    pub is_paused: bool,
}

/// The metrics of a model since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelMetrics {
    /// The metrics of each feature, in the order of [`Feature::ALL`].
    pub features: Vec<FeatureMetrics>,
    /// The metrics of each endpoint, in the order of the configuration.
    pub endpoints: Vec<EndpointMetrics>,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Answered,
    Unreachable,
    Timeout,
    Busy,
    RateLimited,
    ServerError,
    Rejected,
    TooLarge,
    Refused,
    Invalid,
    NotConfigured,
    Cancelled,
}

impl Outcome {
    const ALL: [Self; 12] = [
        Self::Answered,
        Self::Unreachable,
        Self::Timeout,
        Self::Busy,
        Self::RateLimited,
        Self::ServerError,
        Self::Rejected,
        Self::TooLarge,
        Self::Refused,
        Self::Invalid,
        Self::NotConfigured,
        Self::Cancelled,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Busy => "busy",
            Self::RateLimited => "rate_limited",
            Self::ServerError => "server_error",
            Self::Rejected => "rejected",
            Self::TooLarge => "too_large",
            Self::Refused => "refused",
            Self::Invalid => "invalid_response",
            Self::NotConfigured => "not_configured",
            Self::Cancelled => "cancelled",
        }
    }

    const fn from_error(error: &ModelError) -> Self {
        match error {
            ModelError::NotConfigured => Self::NotConfigured,
            ModelError::Unreachable { .. } => Self::Unreachable,
            ModelError::Timeout { .. } => Self::Timeout,
            ModelError::Busy { .. } => Self::Busy,
            ModelError::Status { status: 429 } => Self::RateLimited,
            ModelError::Status { status: 500.. } | ModelError::Rejected { status: 500.., .. } => {
                Self::ServerError
            }
            ModelError::Status { .. } | ModelError::Rejected { .. } => Self::Rejected,
            ModelError::TooLarge { .. } => Self::TooLarge,
            ModelError::Refused { .. } => Self::Refused,
            ModelError::InvalidResponse { .. } => Self::Invalid,
        }
    }
}

/// The counters of one feature.
#[derive(Debug)]
struct FeatureCounters {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    retries: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    durations: Histogram,
}

impl Default for FeatureCounters {
    fn default() -> Self {
        Self {
            outcomes: Default::default(),
            retries: AtomicU64::default(),
            input_tokens: AtomicU64::default(),
            output_tokens: AtomicU64::default(),
            durations: Histogram::new(DURATION_BOUNDS_US),
        }
    }
}

/// The counters of the requests by feature, which the endpoints of a model share.
#[derive(Debug, Default)]
pub(crate) struct ModelCounters([FeatureCounters; Feature::ALL.len()]);

impl ModelCounters {
    fn counters(&self, feature: Feature) -> &FeatureCounters {
        // The discriminants are the indexes of the array.
        &self.0[feature as usize]
    }

    /// Starts to count a request. If the result is dropped without an outcome, the request counts as cancelled.
    pub(crate) fn start(&self, feature: Feature) -> RequestTimer<'_> {
        RequestTimer {
            counters: self.counters(feature),
            started: Instant::now(),
            outcome: Outcome::Cancelled,
        }
    }

    /// Counts a request that is sent again.
    pub(crate) fn count_retry(&self, feature: Feature) {
        self.counters(feature).retries.fetch_add(1, Relaxed);
    }

    /// Counts tokens.
    pub(crate) fn count_tokens(&self, feature: Feature, usage: Usage) {
        let Usage { input_tokens, output_tokens } = usage;
        let counters = self.counters(feature);
        counters.input_tokens.fetch_add(input_tokens, Relaxed);
        counters.output_tokens.fetch_add(output_tokens, Relaxed);
    }

    /// Returns a snapshot of the counts.
    pub(crate) fn snapshot(&self) -> Vec<FeatureMetrics> {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        let of_feature = |(feature, counters): (Feature, &FeatureCounters)| FeatureMetrics {
            feature,
            outcomes: Outcome::ALL
                .iter()
                .zip(&counters.outcomes)
                .map(|(outcome, counter)| (outcome.name(), load(counter)))
                .collect(),
            retries: load(&counters.retries),
            usage: Usage {
                input_tokens: load(&counters.input_tokens),
                output_tokens: load(&counters.output_tokens),
            },
            durations: counters.durations.distribution(),
        };
        Feature::ALL.into_iter().zip(&self.0).map(of_feature).collect()
    }
}

/// Counts a request when it is dropped.
#[derive(Debug)]
pub(crate) struct RequestTimer<'a> {
    counters: &'a FeatureCounters,
    started: Instant,
    outcome: Outcome,
}

impl RequestTimer<'_> {
    /// Ends the request with its result.
    pub(crate) fn end<T>(mut self, result: &Result<T, ModelError>) {
        self.outcome = result.as_ref().map_or_else(Outcome::from_error, |_| Outcome::Answered);
    }
}

impl Drop for RequestTimer<'_> {
    fn drop(&mut self) {
        self.counters.outcomes[self.outcome as usize].fetch_add(1, Relaxed);
        self.counters.durations.count(self.started.elapsed());
    }
}

/// The counters of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointCounters {
    answered: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
}

impl EndpointCounters {
    /// Counts a request with its result.
    pub(crate) fn count<T>(&self, result: &Result<T, ModelError>) {
        let counter = if result.is_ok() { &self.answered } else { &self.failed };
        counter.fetch_add(1, Relaxed);
    }

    /// Counts a request that goes to another endpoint first.
    pub(crate) fn count_skip(&self) {
        self.skipped.fetch_add(1, Relaxed);
    }

    /// Returns a snapshot of the counts.
    pub(crate) fn snapshot(&self, is_paused: bool) -> EndpointMetrics {
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        EndpointMetrics {
            answered: load(&self.answered),
            failed: load(&self.failed),
            skipped: load(&self.skipped),
            is_paused,
        }
    }
}

/// Returns the tokens that a request took, also if its response cannot be used.
pub(crate) fn usage_of(error: &ModelError) -> Option<Usage> {
    match error {
        ModelError::InvalidResponse { usage, .. } | ModelError::Refused { usage, .. } => Some(*usage),
        ModelError::NotConfigured
        | ModelError::Unreachable { .. }
        | ModelError::Timeout { .. }
        | ModelError::Busy { .. }
        | ModelError::Status { .. }
        | ModelError::Rejected { .. }
        | ModelError::TooLarge { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_are_counted_under_their_feature_and_outcome() {
        let counters = ModelCounters::default();
        let failure = |error| Err::<(), _>(error);
        for result in [
            Ok(()),
            failure(ModelError::Status { status: 429 }),
            failure(ModelError::Status { status: 503 }),
            failure(ModelError::Status { status: 401 }),
            failure(ModelError::Unreachable { reason: "x" }),
            failure(ModelError::Timeout { after: Duration::ZERO }),
            failure(ModelError::Busy { places: 1 }),
            failure(ModelError::Refused { text: String::new(), usage: Usage::default() }),
            failure(ModelError::TooLarge { subject: "the request" }),
            failure(ModelError::InvalidResponse { reason: "x", usage: Usage::default() }),
            failure(ModelError::NotConfigured),
        ] {
            counters.start(Feature::Judge).end(&result);
        }
        drop(counters.start(Feature::Judge));
        counters.count_retry(Feature::Judge);
        counters.count_tokens(Feature::Judge, Usage { input_tokens: 5, output_tokens: 2 });
        let mut metrics = counters.snapshot();
        let judge = metrics.swap_remove(Feature::Judge as usize);
        assert_eq!(judge.feature, Feature::Judge);
        assert!(judge.outcomes.iter().all(|(_, count)| *count == 1), "{:?}", judge.outcomes);
        assert_eq!((judge.retries, judge.usage.total()), (1, 7));
        assert_eq!(judge.durations.counts.last(), Some(&12));
        assert!(metrics.iter().all(|other| other.durations.counts.last() == Some(&0)));
    }

    #[test]
    fn durations_have_buckets_up_to_ten_minutes() {
        assert_eq!(DURATION_BOUNDS_US.last(), Some(&600_000_000));
        assert!(DURATION_BOUNDS_US.is_sorted());
    }
}
