//! The end of a task.

use websvc_model::{ModelError, Usage};

/// The end of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReport {
    /// The way in which it ended.
    pub outcome: TaskOutcome,
    /// The answer of the model, or the last fact that it recorded; empty if there is neither.
    pub output: String,
    /// The last outline of the page.
    pub snapshot: String,
    /// One line per step: the action and its outcome.
    pub log: String,
    /// The number of answers of the model.
    pub steps: u32,
    /// The tokens, estimated where the model does not report them.
    pub usage: Usage,
}

/// The way in which a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutcome {
    /// The model answered.
    Done,
    /// The model did not answer in its last step.
    StepLimit,
    /// The model chose the same action three times without a change of the page, and then did not answer.
    Repeats,
    /// The task has used all tokens that it may use.
    TokenLimit,
    /// The time was over.
    Timeout,
    /// The model failed.
    Model(ModelError),
    /// The model gave no usable answer, several times in a row.
    Answers,
    /// The page could not be read, for this reason.
    Page(String),
}

impl TaskOutcome {
    /// Names of all outcomes, in the order of their variants.
    pub const NAMES: [&'static str; 8] = [
        "done",
        "step_limit",
        "repeats",
        "token_limit",
        "timeout",
        "model_failed",
        "answers_invalid",
        "page_failed",
    ];

    /// Returns the index of its name.
    #[must_use]
    pub const fn index(&self) -> usize {
        match self {
            Self::Done => 0,
            Self::StepLimit => 1,
            Self::Repeats => 2,
            Self::TokenLimit => 3,
            Self::Timeout => 4,
            Self::Model(_) => 5,
            Self::Answers => 6,
            Self::Page(_) => 7,
        }
    }
}
