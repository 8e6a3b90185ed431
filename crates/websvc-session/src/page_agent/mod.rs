//! Does a task on a web page by steps that a language model decides (operations.md, section 1.6).
//!
//! Each step shows the model the address and an outline of the page, gets one action from it, and runs the action as a
//! command of `agent-browser`. [`run_task`] is the loop; [`PageCommands`] is the page, which a browser session implements.
//!
//! It is made for small models that run on the machine of the operator: the instructions are short, the outline comes in
//! parts of limited length, earlier steps are one line each, and an answer is one flat object with a JSON Schema.
//!
//! Pages are untrusted and so is a model that reads them. Nothing depends on its obedience: it chooses among the actions of
//! the page that the user could take, cannot enter an address, open a tab or run a script, and steps, tokens and time are
//! limited.

mod action;
mod agent;
mod commands;
mod decision;
mod memory;
mod observation;
mod outline;
mod repeats;
mod report;

pub use agent::{PageTask, run_task};
pub use commands::{CommandOutput, PageCommands};
pub use report::{TaskOutcome, TaskReport};
