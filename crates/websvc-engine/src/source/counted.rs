//! A source whose answers are counted: by outcome, by reason, and how long they took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use websvc_stage::{Stage, StageTimes};
use websvc_validate::SourceKind;

use super::{Answer, AnswerFuture, Ask, Condition, Failure, Filters, SearchSource};

/// The upper bounds of the histogram of latencies, in milliseconds; what took longer is in one class more.
pub const LATENCY_BOUNDS_MS: [u64; 11] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000];

/// The figures of a source since the process began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFigures {
    /// Its name.
    pub name: String,
    /// Answers with results.
    pub results: u64,
    /// Answers without any.
    pub none: u64,
    /// Questions without an answer, by reason, every reason once.
    pub unavailable: Vec<(Failure, u64)>,
    /// Questions that were given up before the answer came.
    pub given_up: u64,
    /// How many questions took at most so long, by [`LATENCY_BOUNDS_MS`], and at the end all of them.
    pub took: Vec<u64>,
    /// What all questions took together, in microseconds.
    pub total_us: u64,
    /// When a question was last left without an answer, and why.
    pub last_failure: Option<(SystemTime, Failure)>,
    /// Whether it is asked at present.
    pub condition: Condition,
}

/// A source with counters.
#[derive(Debug)]
pub(crate) struct Counted {
    source: Arc<dyn SearchSource>,
    stages: StageTimes,
    results: AtomicU64,
    none: AtomicU64,
    unavailable: [AtomicU64; Failure::ALL.len()],
    given_up: AtomicU64,
    /// By class, not summed up.
    took: [AtomicU64; LATENCY_BOUNDS_MS.len() + 1],
    total_us: AtomicU64,
    /// In few kinds: the words of a failure may be those of a request that leaves nothing behind.
    last_failure: Mutex<Option<(SystemTime, Failure)>>,
}

impl Counted {
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

    pub(crate) fn figures(&self) -> SourceFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut sum = 0;
        let sums = self.took.iter().map(|class| {
            sum += read(class);
            sum
        });
        SourceFigures {
            name: self.source.name().to_owned(),
            results: read(&self.results),
            none: read(&self.none),
            unavailable: Failure::ALL.into_iter().zip(self.unavailable.iter().map(read)).collect(),
            given_up: read(&self.given_up),
            took: sums.collect(),
            total_us: read(&self.total_us),
            last_failure: *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner),
            condition: self.source.condition(),
        }
    }

    fn count(&self, answer: &Answer) {
        let counter = match answer {
            Answer::Results { hits, .. } if hits.is_empty() => &self.none,
            Answer::Results { .. } => &self.results,
            Answer::Unavailable { failure, .. } => {
                let last = Some((SystemTime::now(), *failure));
                *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = last;
                &self.unavailable[*failure as usize]
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

impl SearchSource for Counted {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    fn search<'a>(&'a self, ask: &'a Ask<'a>) -> AnswerFuture<'a> {
        Box::pin(async move {
            let mut question = Question { counted: self, asked: Instant::now(), is_answered: false };
            let asking = self.source.search(ask);
            let answer = self.stages.run_of_source(Stage::Source, self.source.name(), asking).await;
            question.is_answered = true;
            self.count(&answer);
            answer
        })
    }

    fn offers(&self, kind: SourceKind) -> bool {
        self.source.offers(kind)
    }

    fn is_here(&self) -> bool {
        self.source.is_here()
    }

    fn filters(&self) -> Filters {
        self.source.filters()
    }

    fn condition(&self) -> Condition {
        self.source.condition()
    }
}

/// A question on its way; its end is counted however it ends.
struct Question<'a> {
    counted: &'a Counted,
    asked: Instant,
    is_answered: bool,
}

impl Drop for Question<'_> {
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
