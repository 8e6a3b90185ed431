//! Metrics of prompts.

use websvc_stage::{Counter, CountersBy};

use crate::page_agent::{TaskOutcome, TaskReport};

/// The outcome of a prompt whose request or session has ended before it.
const ABORTED: &str = "aborted";

/// Metrics of prompts since the start of the process.
#[derive(Debug)]
pub struct PromptMetrics {
    /// Prompts by outcome.
    pub runs: CountersBy<&'static str>,
    /// Steps of all prompts that have ended with a report.
    pub steps: Counter,
    /// Tokens of their requests to the model.
    pub input_tokens: Counter,
    /// Tokens of its answers.
    pub output_tokens: Counter,
}

/// A running prompt. Dropping it counts the prompt as aborted.
pub(crate) struct PromptRun<'a>(Option<&'a PromptMetrics>);

impl Default for PromptMetrics {
    fn default() -> Self {
        Self {
            runs: CountersBy::new(TaskOutcome::NAMES.into_iter().chain([ABORTED])),
            steps: Counter::default(),
            input_tokens: Counter::default(),
            output_tokens: Counter::default(),
        }
    }
}

impl PromptMetrics {
    /// Begins a prompt.
    pub(crate) fn begin(&self) -> PromptRun<'_> {
        PromptRun(Some(self))
    }
}

impl PromptRun<'_> {
    /// Ends a prompt with its report.
    pub(crate) fn end(mut self, report: &TaskReport) {
        let Some(metrics) = self.0.take() else { return };
        metrics.runs.at(report.outcome.index()).add(1);
        metrics.steps.add(report.steps.into());
        metrics.input_tokens.add(report.usage.input_tokens);
        metrics.output_tokens.add(report.usage.output_tokens);
    }
}

impl Drop for PromptRun<'_> {
    fn drop(&mut self) {
        if let Some(metrics) = self.0 {
            metrics.runs.add(ABORTED, 1);
        }
    }
}
