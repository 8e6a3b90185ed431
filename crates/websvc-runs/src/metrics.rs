//! Metrics of runs.

use websvc_stage::{Counter, CountersBy};
use websvc_store::RunStatus;

/// Metrics of the runs of this process since its start.
#[derive(Debug)]
pub struct RunCounts {
    /// Ended runs by status.
    pub ended: CountersBy<RunStatus>,
    /// Steps of ended runs.
    pub steps: Counter,
    /// Tokens of the requests of ended runs to the model.
    pub tokens: Counter,
}

impl Default for RunCounts {
    fn default() -> Self {
        let ended = RunStatus::ALL.into_iter().filter(|status| status.is_finished());
        Self { ended: CountersBy::new(ended), steps: Counter::default(), tokens: Counter::default() }
    }
}

impl RunCounts {
    /// Counts a run that ended with a status.
    pub(crate) fn record_end(&self, status: RunStatus, steps: u32, tokens: u64) {
        self.ended.add(status, 1);
        self.steps.add(steps.into());
        self.tokens.add(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_of_an_ended_run_is_counted() {
        let counts = RunCounts::default();
        for status in RunStatus::ALL {
            counts.record_end(status, 2, 10);
        }
        let finished: Vec<_> = RunStatus::ALL
            .into_iter()
            .filter(|status| status.is_finished())
            .map(|status| (status, 1))
            .collect();
        assert_eq!((counts.ended.counts(), counts.steps.get(), counts.tokens.get()), (finished, 14, 70));
    }
}
