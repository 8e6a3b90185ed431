//! Metrics of the requests to the models.

use std::time::Instant;

use websvc_stage::{Counter, CountersBy, Histogram};

use crate::error::ModelError;
use crate::feature::Feature;
use crate::usage::Usage;

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

/// The outcomes of requests.
const OUTCOMES: [&str; 12] = [
    "answered",
    "unreachable",
    "timeout",
    "busy",
    "rate_limited",
    "server_error",
    "rejected",
    "too_large",
    "refused",
    "invalid_response",
    "not_configured",
    CANCELLED,
];

/// The outcome of a request that was dropped before its end.
const CANCELLED: &str = "cancelled";

/// The metrics of the requests for one feature.
#[derive(Debug)]
pub struct FeatureMetrics {
    /// The feature.
    pub feature: Feature,
    /// Requests that have ended, by outcome.
    pub outcomes: CountersBy<&'static str>,
    /// Requests that were sent again to the same endpoint after a failure.
    pub retries: Counter,
    /// The tokens of requests, failed ones included, as the endpoints report them.
    pub input_tokens: Counter,
    /// The tokens of responses.
    pub output_tokens: Counter,
    /// The durations of the requests, with the wait for a permit and retries.
    pub durations: Histogram,
}

/// The metrics of one endpoint.
#[derive(Debug, Default)]
pub struct EndpointMetrics {
    /// Requests that the endpoint answered.
    pub answered: Counter,
    /// Requests that failed, except those that were cancelled.
    pub failed: Counter,
    /// Requests that skipped the endpoint, because it had failed shortly before.
    pub skipped: Counter,
}

/// The metrics of a model since the start of the process.
#[derive(Debug)]
pub struct ModelMetrics<'a> {
    /// The metrics of each feature, in the order of [`Feature::ALL`].
    pub features: &'a [FeatureMetrics],
    /// The metrics of each endpoint, in the order of the configuration, and whether it is skipped now.
    pub endpoints: Vec<(&'a EndpointMetrics, bool)>,
}

impl FeatureMetrics {
    /// Creates counters of 0.
    #[must_use]
    pub fn new(feature: Feature) -> Self {
        Self {
            feature,
            outcomes: CountersBy::new(OUTCOMES),
            retries: Counter::default(),
            input_tokens: Counter::default(),
            output_tokens: Counter::default(),
            durations: Histogram::new(DURATION_BOUNDS_US),
        }
    }

    /// Counts tokens.
    pub fn count_tokens(&self, usage: Usage) {
        let Usage { input_tokens, output_tokens } = usage;
        self.input_tokens.add(input_tokens);
        self.output_tokens.add(output_tokens);
    }

    /// Starts to count a request. If the result is dropped without an outcome, the request counts as cancelled.
    pub(crate) fn start(&self) -> RequestTimer<'_> {
        RequestTimer { metrics: self, started: Instant::now(), outcome: CANCELLED }
    }
}

/// The metrics of all features, which the endpoints of a model share.
#[derive(Debug)]
pub(crate) struct FeaturesMetrics([FeatureMetrics; Feature::ALL.len()]);

impl Default for FeaturesMetrics {
    fn default() -> Self {
        Self(Feature::ALL.map(FeatureMetrics::new))
    }
}

impl FeaturesMetrics {
    /// Returns the metrics of a feature.
    pub(crate) fn of_feature(&self, feature: Feature) -> &FeatureMetrics {
        // The discriminants are the indexes of the array.
        &self.0[feature as usize]
    }

    /// Returns the metrics in the order of [`Feature::ALL`].
    pub(crate) fn all(&self) -> &[FeatureMetrics] {
        &self.0
    }
}

/// Counts a request when it is dropped.
#[derive(Debug)]
pub(crate) struct RequestTimer<'a> {
    metrics: &'a FeatureMetrics,
    started: Instant,
    outcome: &'static str,
}

impl RequestTimer<'_> {
    /// Ends the request with its result.
    pub(crate) fn end<T>(mut self, result: &Result<T, ModelError>) {
        self.outcome = result.as_ref().map_or_else(outcome, |_| "answered");
    }
}

impl Drop for RequestTimer<'_> {
    fn drop(&mut self) {
        self.metrics.outcomes.add(self.outcome, 1);
        self.metrics.durations.count(self.started.elapsed());
    }
}

impl EndpointMetrics {
    /// Counts a request with its result.
    pub(crate) fn count<T>(&self, result: &Result<T, ModelError>) {
        let counter = if result.is_ok() { &self.answered } else { &self.failed };
        counter.add(1);
    }
}

/// Returns the name of an error in [`OUTCOMES`].
const fn outcome(error: &ModelError) -> &'static str {
    match error {
        ModelError::NotConfigured => "not_configured",
        ModelError::Unreachable { .. } => "unreachable",
        ModelError::Timeout { .. } => "timeout",
        ModelError::Busy { .. } => "busy",
        ModelError::Status { status: 429 } => "rate_limited",
        ModelError::Status { status: 500.. } | ModelError::Rejected { status: 500.., .. } => "server_error",
        ModelError::Status { .. } | ModelError::Rejected { .. } => "rejected",
        ModelError::TooLarge { .. } => "too_large",
        ModelError::Refused { .. } => "refused",
        ModelError::InvalidResponse { .. } => "invalid_response",
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
        let metrics = FeaturesMetrics::default();
        let judge = metrics.of_feature(Feature::Judge);
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
            judge.start().end(&result);
        }
        drop(judge.start());
        judge.retries.add(1);
        judge.count_tokens(Usage { input_tokens: 5, output_tokens: 2 });
        assert_eq!(judge.feature, Feature::Judge);
        assert_eq!(judge.outcomes.counts(), OUTCOMES.map(|outcome| (outcome, 1)));
        let counts = [&judge.retries, &judge.input_tokens, &judge.output_tokens].map(Counter::get);
        assert_eq!(counts, [1, 5, 2]);
        let requests = |metrics: &FeatureMetrics| metrics.durations.distribution().counts.last().copied();
        for other in metrics.all() {
            let expected = if other.feature == Feature::Judge { 12 } else { 0 };
            assert_eq!(requests(other), Some(expected), "{:?}", other.feature);
        }
    }

    #[test]
    fn durations_have_buckets_up_to_ten_minutes() {
        assert_eq!(DURATION_BOUNDS_US.last(), Some(&600_000_000));
        assert!(DURATION_BOUNDS_US.is_sorted());
    }
}
