//! A source whose answers are counted: by outcome, by reason, and how long they took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use websvc_stage::{Stage, StageTimes};
use websvc_validate::SourceKind;

use super::{
    FailureKind, FilterSupport, SearchSource, SourceFuture, SourceHealth, SourceRequest, SourceResponse,
};

/// The upper bounds of the histogram of latencies, in milliseconds; what took longer is in one class more.
pub const LATENCY_BOUNDS_MS: [u64; 11] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];

/// The figures of a source since the process began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMetrics {
    /// Its name.
    pub name: String,
    /// Answers with results.
    pub results: u64,
    /// Answers without any.
    pub none: u64,
    /// Questions without an answer, by reason, every reason once.
    pub unavailable: Vec<(FailureKind, u64)>,
    /// Questions that were given up before the answer came.
    pub given_up: u64,
    /// How many questions took at most so long, by [`LATENCY_BOUNDS_MS`], and at the end all of them.
    pub took: Vec<u64>,
    /// What all questions took together, in microseconds.
    pub total_us: u64,
    /// When a question was last left without an answer, and why.
    pub last_failure: Option<(SystemTime, FailureKind)>,
    /// Whether it is asked at present.
    pub condition: SourceHealth,
}

/// A source with counters.
#[derive(Debug)]
pub(crate) struct InstrumentedSource {
    source: Arc<dyn SearchSource>,
    stages: StageTimes,
    results: AtomicU64,
    none: AtomicU64,
    unavailable: [AtomicU64; FailureKind::ALL.len()],
    given_up: AtomicU64,
    /// By class, not summed up.
    took: [AtomicU64; LATENCY_BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
    /// In few kinds: the words of a failure may be those of a request that leaves nothing behind.
    last_failure: Mutex<Option<(SystemTime, FailureKind)>>,
}

impl InstrumentedSource {
    pub(crate) fn new(source: Arc<dyn SearchSource>, stages: StageTimes) -> Self {
        Self {
            source,
            stages,
            results: AtomicU64::default(),
            none: AtomicU64::default(),
            unavailable: Default::default(),
            given_up: AtomicU64::default(),
            took: Default::default(),
            total_us: AtomicU64::default(),
            last_failure: Mutex::default(),
        }
    }

    pub(crate) fn figures(&self) -> SourceMetrics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut sum = 0;
        let sums = self.took.iter().map(|class| {
            sum += read(class);
            sum
        });
        SourceMetrics {
            name: self.source.name().to_owned(),
            results: read(&self.results),
            none: read(&self.none),
            unavailable: FailureKind::ALL.into_iter().zip(self.unavailable.iter().map(read)).collect(),
            given_up: read(&self.given_up),
            took: sums.collect(),
            total_us: read(&self.total_us),
            last_failure: *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner),
            condition: self.source.condition(),
        }
    }

    fn count(&self, answer: &SourceResponse) {
        let counter = match answer {
            SourceResponse::Results { hits, .. } if hits.is_empty() => &self.none,
            SourceResponse::Results { .. } => &self.results,
            SourceResponse::Unavailable { failure, .. } => {
                let last = Some((SystemTime::now(), *failure));
                *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = last;
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

    fn search<'a>(&'a self, ask: &'a SourceRequest<'a>) -> SourceFuture<'a> {
        Box::pin(async move {
            let mut question = SourceCallGuard { counted: self, asked: Instant::now(), is_answered: false };
            let asking = self.source.search(ask);
            let answer = self.stages.run_source(Stage::Source, self.source.name(), asking).await;
            question.is_answered = true;
            self.count(&answer);
            answer
        })
    }

    fn supports(&self, kind: SourceKind) -> bool {
        self.source.supports(kind)
    }

    fn is_local(&self) -> bool {
        self.source.is_local()
    }

    fn filters(&self) -> FilterSupport {
        self.source.filters()
    }

    fn condition(&self) -> SourceHealth {
        self.source.condition()
    }
}

/// A question on its way; its end is counted however it ends.
struct SourceCallGuard<'a> {
    counted: &'a InstrumentedSource,
    asked: Instant,
    is_answered: bool,
}

impl Drop for SourceCallGuard<'_> {
    fn drop(&mut self) {
        let took = self.asked.elapsed();
        let class = LATENCY_BOUNDS_MS.iter().position(|bound| took.as_micros() <= u128::from(*bound) * 1_000);
        self.counted.took[class.unwrap_or(LATENCY_BOUNDS_MS.len())].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counted.total_us.fetch_add(micros, Ordering::Relaxed);
        if !self.is_answered {
            self.counted.given_up.fetch_add(1, Ordering::Relaxed);
        }
    }
}
