//! Measures the agent and the other features that use a language model on tasks with known answers, over the HTTP API of a
//! service.
//!
//! - [`Sites`] are the pages of the tasks, which a loopback web serves.
//! - [`tasks`] reads the tasks: a prompt, a schema, the expected data, and the rules by which an oracle finds it.
//! - [`Oracle`] is a perfect but honest model. It answers by rules from the text of its requests, so it finds a value only
//!   if the service shows the passage that states it.
//! - [`score()`] compares data with the expected data exactly, after a documented normalization.
//! - [`evaluate_formats()`] measures each feature that uses a language model on ten small pages, with a model and without.
//! - [`evaluate()`] starts a service, runs the tasks and reports success, wrong and missing values, steps, tokens, credits
//!   and time for each class of tasks.

#![deny(missing_docs)]

mod endpoint;
mod error;
mod evaluate;
mod formats;
mod oracle;
mod report;
mod score;
mod service;
mod sites;
mod task;

pub use endpoint::ModelEndpoint;
pub use error::EvaluationError;
pub use evaluate::{EvaluationOptions, evaluate};
pub use formats::{CaseResult, Check, Feature, FormatsOptions, FormatsReport, evaluate_formats};
pub use oracle::Oracle;
pub use report::{EvaluationReport, TaskResult, TaskVerdict};
pub use score::{Score, score};
pub use sites::{SEARCHABLE, Sites};
pub use task::{Class, Task, tasks};
