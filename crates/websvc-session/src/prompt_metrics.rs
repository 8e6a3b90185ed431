//! Metrics of prompts.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::page_agent::{TaskOutcome, TaskReport};

/// The outcome of a prompt whose request or session has ended before it.
const ABORTED: &str = "aborted";

/// The number of outcomes, with [`ABORTED`].
const OUTCOMES: usize = TaskOutcome::NAMES.len() + 1;

/// The counters of prompts.
#[derive(Debug, Default)]
pub(crate) struct PromptCounts {
    runs: [AtomicU64; OUTCOMES],
    steps: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
}

/// The numbers of prompts, of their steps and of the tokens of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMetrics {
    /// The number of prompts by outcome.
    pub runs: Vec<(&'static str, u64)>,
    /// The number of steps of all prompts that have ended with a report.
    pub steps: u64,
    /// The tokens of their requests to the model.
    pub input_tokens: u64,
    /// The tokens of its answers.
    pub output_tokens: u64,
}

/// A running prompt. Dropping it counts the prompt as aborted.
pub(crate) struct PromptRun<'a>(Option<&'a PromptCounts>);

impl PromptCounts {
    /// Begins a prompt.
    pub(crate) fn begin(&self) -> PromptRun<'_> {
        PromptRun(Some(self))
    }

    /// Returns the numbers.
    pub(crate) fn metrics(&self) -> PromptMetrics {
        let Self { runs, steps, input_tokens, output_tokens } = self;
        let names = TaskOutcome::NAMES.into_iter().chain([ABORTED]);
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        PromptMetrics {
            runs: names.zip(runs).map(|(name, count)| (name, load(count))).collect(),
            steps: load(steps),
            input_tokens: load(input_tokens),
            output_tokens: load(output_tokens),
        }
    }
}

impl PromptRun<'_> {
    /// Ends a prompt with its report.
    pub(crate) fn end(mut self, report: &TaskReport) {
        let Some(counts) = self.0.take() else { return };
        counts.runs[report.outcome.index()].fetch_add(1, Ordering::Relaxed);
        counts.steps.fetch_add(report.steps.into(), Ordering::Relaxed);
        counts.input_tokens.fetch_add(report.usage.input_tokens, Ordering::Relaxed);
        counts.output_tokens.fetch_add(report.usage.output_tokens, Ordering::Relaxed);
    }
}

impl Drop for PromptRun<'_> {
    fn drop(&mut self) {
        if let Some(counts) = self.0 {
            counts.runs[OUTCOMES - 1].fetch_add(1, Ordering::Relaxed);
        }
    }
}
