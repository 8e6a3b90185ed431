//! Wraps a source to count its responses by outcome and to measure their latency.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use parking_lot::Mutex;
use websvc_stage::{Stage, StageTimes};
use websvc_validate::SourceKind;

use super::{
    FailureKind, FilterSupport, SearchSource, SourceFit, SourceFuture, SourceHealth, SourceRequest,
    SourceResponse,
};

/// The upper bounds of the latency histogram, in milliseconds. Longer requests are counted in an additional bucket.
pub const LATENCY_BOUNDS_MS: [u64; 11] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];

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
    /// The cumulative number of requests for each of [`LATENCY_BOUNDS_MS`], and finally of all requests.
    pub latency_counts: Vec<u64>,
    /// The sum of the latencies in microseconds.
    pub total_us: u64,
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
    results: AtomicU64,
    empty: AtomicU64,
    unavailable: [AtomicU64; FailureKind::ALL.len()],
    cancelled: AtomicU64,
    /// The number of requests per bucket, not cumulative.
    latency_counts: [AtomicU64; LATENCY_BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
    /// Only the kind of the failure is stored: its text may belong to a request with zero data retention.
    last_failure: Mutex<Option<(SystemTime, FailureKind)>>,
}

impl InstrumentedSource {
    pub(crate) fn new(source: Arc<dyn SearchSource>, stages: StageTimes) -> Self {
        Self {
            source,
            stages,
            results: AtomicU64::default(),
            empty: AtomicU64::default(),
            unavailable: Default::default(),
            cancelled: AtomicU64::default(),
            latency_counts: Default::default(),
            total_us: AtomicU64::default(),
            last_failure: Mutex::default(),
        }
    }

    pub(crate) fn metrics(&self) -> SourceMetrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut total = 0;
        let latency_counts = self.latency_counts.iter().map(|bucket| {
            total += read(bucket);
            total
        });
        SourceMetrics {
            name: self.source.name().to_owned(),
            results: read(&self.results),
            empty: read(&self.empty),
            unavailable: FailureKind::ALL.into_iter().zip(self.unavailable.iter().map(read)).collect(),
            cancelled: read(&self.cancelled),
            latency_counts: latency_counts.collect(),
            total_us: read(&self.total_us),
            last_failure: *self.last_failure.lock(),
            health: self.source.health(),
        }
    }

    fn count(&self, response: &SourceResponse) {
        let counter = match response {
            SourceResponse::Results { hits, .. } if hits.is_empty() => &self.empty,
            SourceResponse::Results { .. } => &self.results,
            SourceResponse::Unavailable { failure, .. } => {
                let last = Some((SystemTime::now(), *failure));
                *self.last_failure.lock() = last;
                &self.unavailable[*failure as usize]
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
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
        let elapsed = self.started.elapsed();
        let bucket =
            LATENCY_BOUNDS_MS.iter().position(|bound| elapsed.as_micros() <= u128::from(*bound) * 1_000);
        self.instrumented.latency_counts[bucket.unwrap_or(LATENCY_BOUNDS_MS.len())]
            .fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        self.instrumented.total_us.fetch_add(micros, Ordering::Relaxed);
        if !self.is_finished {
            self.instrumented.cancelled.fetch_add(1, Ordering::Relaxed);
        }
    }
}
