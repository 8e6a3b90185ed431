//! Counts of the runs of this process since its start.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_store::RunStatus;
use websvc_tasks::EndCounts;

/// Counts of runs since the start of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCounts {
    /// Ended runs by status. A status without runs has the count 0.
    pub ended: Vec<(RunStatus, u64)>,
    /// Steps of ended runs.
    pub steps: u64,
    /// Tokens of the requests of ended runs to the model.
    pub tokens: u64,
}

/// The counters behind [`RunCounts`].
#[derive(Debug)]
pub(crate) struct Counters {
    ended: EndCounts<RunStatus>,
    steps: AtomicU64,
    tokens: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        let ended = RunStatus::ALL.into_iter().filter(|status| status.is_finished());
        Self { ended: EndCounts::new(ended), steps: AtomicU64::new(0), tokens: AtomicU64::new(0) }
    }
}

impl Counters {
    /// Counts a run that ended with a status.
    pub(crate) fn record_end(&self, status: RunStatus, steps: u32, tokens: u64) {
        self.ended.record(status);
        self.steps.fetch_add(steps.into(), Relaxed);
        self.tokens.fetch_add(tokens, Relaxed);
    }

    pub(crate) fn counts(&self) -> RunCounts {
        let Self { ended, steps, tokens } = self;
        RunCounts { ended: ended.counts(), steps: steps.load(Relaxed), tokens: tokens.load(Relaxed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_ended_run_is_counted() {
        let counters = Counters::default();
        for status in RunStatus::ALL {
            counters.record_end(status, 2, 10);
        }
        let finished: Vec<_> = RunStatus::ALL
            .into_iter()
            .filter(|status| status.is_finished())
            .map(|status| (status, 1))
            .collect();
        let RunCounts { ended, steps, tokens } = counters.counts();
        assert_eq!((ended, steps, tokens), (finished, 14, 70));
    }
}
