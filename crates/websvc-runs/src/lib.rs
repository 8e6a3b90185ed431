//! Agent runs and extractions: durable state, tools, budget and webhooks (operations.md, sections 4 and 5).
//!
//! [`Runs`] is the handle: it starts, reads and cancels runs, in any process of a service. [`Runs::run`] works on the runs
//! of its process. The loop is in `websvc-agent`; this crate gives it its environment, stores what it reports, and charges
//! for the work of a run that succeeded.

#![deny(missing_docs)]

mod agent;
mod budget;
mod config;
mod credits;
mod end;
mod environment;
mod extract;
mod metrics;
mod responses;
mod runner;
mod runs;
mod stored;
mod trace;

pub use config::RunsConfig;
pub use environment::{RunEnvironment, RunSetup, RunTools};
pub use extract::StoredExtractRequest;
pub use metrics::RunCounts;
pub use responses::{agent_list_item, agent_thread};
pub use runs::{Runs, StartRun};
pub use stored::StoredRequest;
pub use trace::open_sessions;
