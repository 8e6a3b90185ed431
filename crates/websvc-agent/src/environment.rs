//! The environment of a run.

use std::time::Duration;

use serde_json::Value;
use websvc_transport::BoxFuture;

use crate::stop::Stop;
use crate::tool::{ToolCall, ToolFailure, ToolKind, ToolOutput};

/// The tools, limits and checks of a run, which the service implements.
pub trait Environment: Send + Sync {
    /// Returns the tools that the run may use.
    fn tools(&self) -> &[ToolKind];

    /// Returns whether the rules of the run let it read a URL. A call may still be refused.
    fn can_open(&self, _url: &str) -> bool {
        true
    }

    /// Begins a step: counts its price and checks the limits of the run.
    ///
    /// # Errors
    /// The reason why the run must end.
    fn begin_step(&self) -> BoxFuture<'_, Result<(), Stop>>;

    /// Calls a tool.
    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, Result<ToolOutput, ToolFailure>>;

    /// Ranks texts by their relevance for a query. Returns the indexes of the relevant ones, the best first.
    fn rank<'a>(&'a self, query: &'a str, texts: &'a [&'a str]) -> BoxFuture<'a, Vec<usize>>;

    /// Returns the violation of a JSON Schema by a value, in words without text of the value, if there is one.
    fn violation<'a>(&'a self, schema: &'a Value, value: &'a Value) -> BoxFuture<'a, Option<String>>;

    /// Records an event of the run.
    fn record(&self, event: Event);
}

/// An event of a run, in the order of the loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A phase has begun, or has something to say.
    Progress {
        /// `planning`, `working` or `finalizing`.
        phase: &'static str,
        /// The message.
        message: String,
    },
    /// The reason of the next call, by the model.
    Reasoning(String),
    /// A call of a tool has begun.
    ToolStarted {
        /// The number of the call, from 1.
        number: u32,
        /// The call.
        call: ToolCall,
    },
    /// A call of a tool has ended.
    ToolFinished {
        /// The number of the call.
        number: u32,
        /// A summary of its output, or the reason of its failure.
        summary: String,
        /// True if it has an output.
        is_success: bool,
    },
    /// A browser session has started, in the call that has begun last.
    SessionStarted {
        /// Its ID.
        id: String,
    },
    /// A browser session has ended.
    SessionFinished {
        /// Its ID.
        id: String,
        /// Its duration.
        duration: Duration,
    },
    /// The collected data has changed.
    DataChanged {
        /// The data so far.
        data: Value,
        /// The number of the call that it comes from.
        number: Option<u32>,
    },
}
