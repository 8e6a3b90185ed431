//! Collects data from the web by steps that a language model decides (operations.md, section 4).
//!
//! [`Environment`] is all that the loop can reach: the tools that read the web, and the checks that need the service.
//!
//! Pages are untrusted and so is a model that reads them. The environment checks every call of a tool, so nothing depends on
//! the obedience of the model.

#![deny(missing_docs)]

mod blocking;
mod collect;
mod correct;
mod decision;
mod environment;
mod fill;
mod merge;
mod numbers;
mod page;
mod pages;
mod prompt;
mod report;
mod requests;
mod run;
mod schema;
mod sources;
mod steps;
mod targets;
mod task;
mod tool;

pub use collect::{Collected, collect_page};
pub use correct::{Corrected, correct_data};
pub use environment::{Environment, Event, Stop};
pub use merge::{Draft, Preference, merge};
pub use report::{RunOutcome, RunReport, ValueSource};
pub use run::run_task;
pub use schema::optional_schema;
pub use task::{AgentTask, EarlierTurn, Effort, TaskLimits, TaskMode};
pub use tool::{FoundPage, Link, ReadPage, ToolCall, ToolFailure, ToolKind, ToolOutput};
