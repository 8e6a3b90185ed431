//! The report of a run.

use serde_json::Value;
use websvc_model::{ModelError, Usage};

use crate::stop::Stop;

/// The report of a run.
#[derive(Debug)]
pub struct RunReport {
    /// The end of the run.
    pub outcome: RunOutcome,
    /// The URLs that could not be read with the reasons, in words, if no page could be read; without users and passwords.
    pub nothing_read: Option<String>,
    /// The data: complete if the outcome is [`RunOutcome::Succeeded`], otherwise what was collected until then.
    pub data: Option<Value>,
    /// True if the data follows the schema of the task.
    pub is_schema_valid: bool,
    /// Notes for the user in words, such as values that no page that was read states.
    pub message: Option<String>,
    /// The sources of the values of the data.
    pub sources: Vec<ValueSource>,
    /// The number of steps.
    pub steps: u32,
    /// The tokens of all requests to the model.
    pub usage: Usage,
}

/// The end of a run.
#[derive(Debug)]
pub enum RunOutcome {
    /// The data is complete, or the work ended early and there is an answer nevertheless, as the message says.
    Succeeded,
    /// The model says that the task must not or cannot be done; its reason.
    Refused(String),
    /// The environment ended it.
    Stopped(Stop),
    /// The maximum number of steps is reached.
    StepLimit,
    /// The maximum number of tokens is reached.
    TokenLimit,
    /// The time is up.
    Timeout,
    /// The data violates the schema after the correction; the violation.
    InvalidData(String),
    /// The model failed.
    Model(ModelError),
    /// Several answers in a row could not be used; the reason of the last one.
    Answers(&'static str),
    /// The model repeated its steps and did not end the task.
    Repeats,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueSource {
    /// The JSON Pointer of the value in the data.
    pub pointer: String,
    /// The URL of the page that states it.
    pub url: String,
    /// The part of the page that states it, of limited length.
    pub passage: String,
}
