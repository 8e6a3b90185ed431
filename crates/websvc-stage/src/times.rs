//! How long the stages take.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use tracing::instrument::{Instrument, Instrumented};

use crate::histogram::{Distribution, Histogram};
use crate::stage::Stage;

/// The upper bounds of the histograms, in microseconds: a check of a key is done in some, a page may take a minute.
pub const STAGE_BOUNDS_US: [u64; 14] = [
    50, 250, 1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000, 30_000_000,
];

/// The durations of all stages since the process began. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub struct StageTimes(Arc<[Histogram]>);

impl StageTimes {
    /// Does what belongs to a stage, by itself or as far as it comes: it is counted however it ends.
    pub fn run<F: Future>(&self, stage: Stage, work: F) -> TimedFuture<F> {
        let span = stage.span();
        TimedFuture { work: work.instrument(span), timer: self.timer(stage) }
    }

    /// As [`run`](Self::run), for a stage of a source, which has a name in the configuration.
    pub fn run_source<F: Future>(&self, stage: Stage, source: &str, work: F) -> TimedFuture<F> {
        let span = stage.span();
        span.record(crate::field::SOURCE, source);
        TimedFuture { work: work.instrument(span), timer: self.timer(stage) }
    }

    /// Does what belongs to a stage on this thread.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let _timer = self.timer(stage);
        stage.span().in_scope(work)
    }

    /// Returns what was counted, by stage, in their order.
    #[must_use]
    pub fn distributions(&self) -> Vec<(Stage, Distribution)> {
        Stage::ALL.iter().copied().zip(self.0.iter().map(Histogram::distribution)).collect()
    }

    fn timer(&self, stage: Stage) -> StageTimer {
        StageTimer { times: self.clone(), stage, began: Instant::now() }
    }
}

impl Default for StageTimes {
    fn default() -> Self {
        Self(Stage::ALL.iter().map(|_| Histogram::new(&STAGE_BOUNDS_US)).collect())
    }
}

/// Counts when it goes.
#[derive(Debug)]
struct StageTimer {
    times: StageTimes,
    stage: Stage,
    began: Instant,
}

impl Drop for StageTimer {
    fn drop(&mut self) {
        self.times.0[self.stage as usize].count(self.began.elapsed());
    }
}

pin_project! {
    /// The work of a stage. By hand rather than an async function, which would hold the work twice.
    #[derive(Debug)]
    #[must_use = "it does nothing unless it is awaited"]
    pub struct TimedFuture<F> {
        #[pin]
        work: Instrumented<F>,
        timer: StageTimer,
    }
}

impl<F: Future> Future for TimedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().work.poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::task::Waker;

    use super::*;

    fn counted(times: &StageTimes, stage: Stage) -> u64 {
        let (_, distribution) = times.distributions().swap_remove(stage as usize);
        distribution.counts.last().copied().unwrap()
    }

    #[test]
    fn every_way_to_end_counts_once() {
        let times = StageTimes::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut done = Box::pin(times.run(Stage::Find, ready(7)));
        assert_eq!(done.as_mut().poll(&mut cx), Poll::Ready(7));
        assert_eq!(counted(&times, Stage::Find), 0, "it ends when it is put away");
        drop(done);
        let mut given_up = Box::pin(times.run(Stage::Find, pending::<()>()));
        assert!(given_up.as_mut().poll(&mut cx).is_pending());
        drop(given_up);
        assert_eq!(times.time(Stage::Find, || 8), 8);
        assert_eq!(counted(&times, Stage::Find), 3);
        assert_eq!(counted(&times, Stage::Fetch), 0);
    }

    #[test]
    fn stages_are_in_the_order_of_their_numbers_and_have_a_name_each() {
        for (at, stage) in Stage::ALL.iter().enumerate() {
            assert_eq!(*stage as usize, at);
            let same = Stage::ALL.iter().filter(|other| other.name() == stage.name()).count();
            assert_eq!(same, 1, "{}", stage.name());
        }
    }
}
