//! Wraps a source to count its responses by outcome and to measure their latency.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use parking_lot::Mutex;
use websvc_stage::{Counter, CountersBy, Distribution, Histogram, Stage, StageTimes};
use websvc_validate::SourceKind;

use super::{
    FailureKind, FilterSupport, SearchSource, SourceFit, SourceFuture, SourceHealth, SourceRequest,
    SourceResponse,
};

/// The upper bounds of the histogram of latencies, in microseconds.
const LATENCY_BOUNDS_US: &[u64] =
    &[1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 10_000_000];

/// The metrics of a source since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMetrics {
    /// The name of the source.
    pub name: String,
    /// Responses with results.
    pub results: u64,
    /// Responses without results.
    pub empty: u64,
    /// Failed requests by kind of failure; all kinds are included.
    pub unavailable: Vec<(FailureKind, u64)>,
    /// Requests that were cancelled before their response.
    pub cancelled: u64,
    /// The latencies of all requests.
    pub latencies: Distribution,
    /// The time and the kind of the last failure.
    pub last_failure: Option<(SystemTime, FailureKind)>,
    /// The state of the circuit breaker.
    pub health: SourceHealth,
}

/// A source with metrics.
#[derive(Debug)]
pub(crate) struct InstrumentedSource {
    source: Arc<dyn SearchSource>,
    stages: StageTimes,
    results: Counter,
    empty: Counter,
    unavailable: CountersBy<FailureKind>,
    cancelled: Counter,
    latencies: Histogram,
    /// Only the kind of the failure is stored: its text may belong to a request with zero data retention.
    last_failure: Mutex<Option<(SystemTime, FailureKind)>>,
}

impl InstrumentedSource {
    pub(crate) fn new(source: Arc<dyn SearchSource>, stages: StageTimes) -> Self {
        Self {
            source,
            stages,
            results: Counter::default(),
            empty: Counter::default(),
            unavailable: CountersBy::new(FailureKind::ALL),
            cancelled: Counter::default(),
            latencies: Histogram::new(LATENCY_BOUNDS_US),
            last_failure: Mutex::default(),
        }
    }

    pub(crate) fn metrics(&self) -> SourceMetrics {
        SourceMetrics {
            name: self.source.name().to_owned(),
            results: self.results.get(),
            empty: self.empty.get(),
            unavailable: self.unavailable.counts(),
            cancelled: self.cancelled.get(),
            latencies: self.latencies.distribution(),
            last_failure: *self.last_failure.lock(),
            health: self.source.health(),
        }
    }

    fn count(&self, response: &SourceResponse) {
        match response {
            SourceResponse::Results { hits, .. } if hits.is_empty() => self.empty.add(1),
            SourceResponse::Results { .. } => self.results.add(1),
            SourceResponse::Unavailable { failure, .. } => {
                let last = Some((SystemTime::now(), *failure));
                *self.last_failure.lock() = last;
                self.unavailable.add(*failure, 1);
            }
        }
    }
}

impl SearchSource for InstrumentedSource {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    fn search<'a>(&'a self, request: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(async move {
            let mut guard =
                SourceCallGuard { instrumented: self, started: Instant::now(), is_finished: false };
            let search = self.source.search(request);
            let response = self.stages.run_source(Stage::Source, self.source.name(), search).await;
            guard.is_finished = true;
            self.count(&response);
            response
        })
    }

    fn supports(&self, kind: SourceKind) -> bool {
        self.source.supports(kind)
    }

    fn fit(&self, request: &SourceRequest<'_>) -> SourceFit {
        self.source.fit(request)
    }

    fn is_local(&self) -> bool {
        self.source.is_local()
    }

    fn filters(&self) -> FilterSupport {
        self.source.filters()
    }

    fn health(&self) -> SourceHealth {
        self.source.health()
    }
}

/// Measures a request in flight. If it is dropped before its end, the request counts as cancelled.
struct SourceCallGuard<'a> {
    instrumented: &'a InstrumentedSource,
    started: Instant,
    is_finished: bool,
}

impl Drop for SourceCallGuard<'_> {
    fn drop(&mut self) {
        self.instrumented.latencies.count(self.started.elapsed());
        if !self.is_finished {
            self.instrumented.cancelled.add(1);
        }
    }
}
