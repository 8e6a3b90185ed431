//! The task of a run and its limits.

use serde_json::Value;
use tokio::time::Instant;
use websvc_types::agent::{AgentEffort, AgentMode};

/// The task of a run.
#[derive(Debug, Clone, Copy)]
pub struct AgentTask<'a> {
    /// The task in the words of the user.
    pub prompt: &'a str,
    /// The JSON Schema of the data; `None` for a free object.
    pub schema: Option<&'a Value>,
    /// The URLs that the user gave, which are read first.
    pub urls: &'a [String],
    /// The kind of the result: data by the schema, or a free object; or a text. Without a schema, its data is
    /// `{"answer": text}`. It is the message of the report, too.
    pub mode: AgentMode,
    /// The earlier turns of the thread, the oldest first.
    pub turns: &'a [EarlierTurn],
    /// The date in the form `2026-11-26`.
    pub today: &'a str,
    /// The limits of the run.
    pub limits: TaskLimits,
    /// The end of the time.
    pub deadline: Instant,
}

/// An earlier turn of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierTurn {
    /// The prompt of the user.
    pub prompt: String,
    /// The data of the answer, if there was one.
    pub data: Option<Value>,
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// The maximum number of steps. A step is one decision of the model.
    pub max_steps: u32,
    /// The maximum number of tokens: requests and answers.
    pub max_tokens: u64,
    /// The maximum number of given URLs that are read before the first decision.
    pub max_start_pages: usize,
}

impl TaskLimits {
    /// Returns the limits for an effort: 10 steps, 100,000 tokens and 3 start pages for a low one, 25, 300,000 and 5 for a
    /// medium one, 60, 1,000,000 and 10 for a high one.
    #[must_use]
    pub const fn for_effort(effort: AgentEffort) -> Self {
        let (max_steps, max_tokens, max_start_pages) = match effort {
            AgentEffort::Low => (10, 100_000, 3),
            AgentEffort::Medium => (25, 300_000, 5),
            AgentEffort::High => (60, 1_000_000, 10),
        };
        Self { max_steps, max_tokens, max_start_pages }
    }
}
