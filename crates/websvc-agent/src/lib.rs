//! Collects data from the web by steps that a language model decides (operations.md, section 4).
//!
//! [`run_task`] is the loop. [`Environment`] is all that it can reach: the tools that read the web, and the checks that need
//! the service. [`Draft`], [`merge`] and [`collect_page`] make one object from the data of several pages, also without a run.
//!
//! It is made for small models that run on the machine of the operator: the instructions are short, a step is one decision,
//! an answer is one flat object with a JSON Schema, URLs have short references, and a request has the passages that fit the
//! task in place of whole pages. Pages that were read are kept, and no call is repeated. The texts that a model sees are
//! described in the module `prompt`.
//!
//! Extracted data is verified: its values are looked up in the pages that were read, and the report has the source of each
//! value, and names those without one.
//!
//! Pages are untrusted and so is a model that reads them. The environment checks every call of a tool, so nothing depends on
//! the obedience of the model. Text of pages is never part of the instructions or of the prompt of a request.

#![deny(missing_docs)]

mod blocking;
mod collect;
mod correct;
mod corrected;
mod decision;
mod environment;
mod evidence;
mod fill;
mod filled;
mod instructions;
mod item_index;
mod merge;
mod needle;
mod normalize;
mod numbers;
mod page;
mod pages;
mod prompt;
mod report;
mod requests;
mod run;
mod schema;
mod schema_types;
mod sources;
mod steps;
mod stop;
mod targets;
mod task;
mod tool;
mod word_index;

pub use collect::{Collected, collect_page};
pub use correct::{Corrected, correct_data};
pub use environment::{Environment, Event};
pub use filled::has_values;
pub use instructions::INSTRUCTIONS;
pub use merge::{Draft, Preference, merge};
pub use report::{RunOutcome, RunReport, ValueSource};
pub use run::run_task;
pub use schema::optional_schema;
pub use stop::Stop;
pub use task::{AgentTask, EarlierTurn, TaskLimits};
pub use tool::{FoundPage, Link, ReadPage, ToolCall, ToolFailure, ToolKind, ToolOutput};
pub use websvc_types::agent::{AgentEffort, AgentMode};
