//! Counts of the runs of this process since its start.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use websvc_store::RunStatus;

/// The statuses of ended runs.
const ENDED: [RunStatus; 5] = [
    RunStatus::Succeeded,
    RunStatus::Failed,
    RunStatus::Cancelled,
    RunStatus::Refused,
    RunStatus::CreditLimitReached,
];

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
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// In the order of [`ENDED`].
    ended: [AtomicU64; ENDED.len()],
    steps: AtomicU64,
    tokens: AtomicU64,
}

impl Counters {
    /// Counts a run that ended with a status.
    pub(crate) fn record_end(&self, status: RunStatus, steps: u32, tokens: u64) {
        for (counter, ended) in self.ended.iter().zip(ENDED) {
            if ended == status {
                counter.fetch_add(1, Relaxed);
            }
        }
        self.steps.fetch_add(steps.into(), Relaxed);
        self.tokens.fetch_add(tokens, Relaxed);
    }

    pub(crate) fn counts(&self) -> RunCounts {
        let Self { ended, steps, tokens } = self;
        let ended = ENDED.into_iter().zip(ended).map(|(status, count)| (status, count.load(Relaxed)));
        RunCounts { ended: ended.collect(), steps: steps.load(Relaxed), tokens: tokens.load(Relaxed) }
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
