//! Collects data from the web by steps that a language model decides (operations.md, section 4).
//!
//! [`Environment`] is all that the loop can reach: the tools that read the web, and the checks that need the service.
//!
//! Pages are untrusted and so is a model that reads them. The environment checks every call of a tool, so nothing depends on
//! the obedience of the model.

#![deny(missing_docs)]

mod environment;
mod report;
mod tool;

pub use environment::{Environment, Event, Stop};
pub use report::{RunOutcome, RunReport, ValueSource};
pub use tool::{FoundPage, Link, ReadPage, ToolCall, ToolFailure, ToolKind, ToolOutput};
