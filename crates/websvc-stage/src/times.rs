//! Durations of the stages.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use tracing::instrument::{Instrument, Instrumented};

use crate::histogram::{Distribution, Histogram};
use crate::stage::Stage;

/// The upper bounds of the histograms, in microseconds: authentication takes a few, a page up to a minute.
pub const STAGE_BOUNDS_US: [u64; 14] = [
    50, 250, 1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000, 30_000_000,
];

/// The durations of all stages since the start of the process. Cheap to clone; clones share their counts.
#[derive(Debug, Clone)]
pub struct StageTimes(Arc<[Histogram]>);

impl StageTimes {
    /// Returns a future that runs `work` as a stage. Its duration is counted when the future is dropped, whether it is
    /// complete or was cancelled.
    pub fn run<F: Future>(&self, stage: Stage, work: F) -> TimedFuture<F> {
        let span = stage.span();
        TimedFuture { work: work.instrument(span), timer: self.timer(stage) }
    }

    /// Like [`run`](Self::run), for a source: `source` is its name in the configuration.
    pub fn run_source<F: Future>(&self, stage: Stage, source: &str, work: F) -> TimedFuture<F> {
        let span = stage.span();
        span.record(crate::field::SOURCE, source);
        TimedFuture { work: work.instrument(span), timer: self.timer(stage) }
    }

    /// Runs `work` as a stage on this thread.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let _timer = self.timer(stage);
        stage.span().in_scope(work)
    }

    /// Returns a snapshot of the counts by stage, in the order of [`Stage::ALL`].
    #[must_use]
    pub fn distributions(&self) -> Vec<(Stage, Distribution)> {
        Stage::ALL.iter().copied().zip(self.0.iter().map(Histogram::distribution)).collect()
    }

    fn timer(&self, stage: Stage) -> StageTimer {
        StageTimer { times: self.clone(), stage, start: Instant::now() }
    }
}

impl Default for StageTimes {
    fn default() -> Self {
        Self(Stage::ALL.iter().map(|_| Histogram::new(&STAGE_BOUNDS_US)).collect())
    }
}

/// Counts the time since `start` when it is dropped.
#[derive(Debug)]
struct StageTimer {
    times: StageTimes,
    stage: Stage,
    start: Instant,
}

impl Drop for StageTimer {
    fn drop(&mut self) {
        self.times.0[self.stage as usize].count(self.start.elapsed());
    }
}

pin_project! {
    /// A future that is timed as a stage.
    ///
    /// It is not an `async fn`, because the future of one would contain the work twice.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
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

    fn count_of(times: &StageTimes, stage: Stage) -> u64 {
        let (_, distribution) = times.distributions().swap_remove(stage as usize);
        distribution.counts.last().copied().unwrap()
    }

    #[test]
    fn completed_and_cancelled_work_is_counted_once() {
        let times = StageTimes::default();
        let mut cx = Context::from_waker(Waker::noop());
        let mut done = Box::pin(times.run(Stage::Find, ready(7)));
        assert_eq!(done.as_mut().poll(&mut cx), Poll::Ready(7));
        assert_eq!(count_of(&times, Stage::Find), 0, "the duration is counted when the future is dropped");
        drop(done);
        let mut cancelled = Box::pin(times.run(Stage::Find, pending::<()>()));
        assert!(cancelled.as_mut().poll(&mut cx).is_pending());
        drop(cancelled);
        assert_eq!(times.time(Stage::Find, || 8), 8);
        assert_eq!(count_of(&times, Stage::Find), 3);
        assert_eq!(count_of(&times, Stage::Fetch), 0);
    }

    #[test]
    fn stages_are_in_the_order_of_their_discriminants_and_have_unique_names() {
        for (index, stage) in Stage::ALL.iter().enumerate() {
            assert_eq!(*stage as usize, index);
            let same_name = Stage::ALL.iter().filter(|other| other.name() == stage.name()).count();
            assert_eq!(same_name, 1, "{}", stage.name());
        }
    }
}
