//! Agent runs and extractions: durable state, tools, budget and webhooks (operations.md, sections 4 and 5).

#![deny(missing_docs)]

mod environment;

pub use environment::{RunEnvironment, RunSetup, RunTools};
