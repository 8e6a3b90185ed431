//! Jobs: pages that are got after their request was answered.
//!
//! [`Jobs`] is the handle: it begins, reads and cancels jobs of the store. [`Jobs::run`] works on them, for as long as it
//! is awaited; what it was at when it is dropped is done when it runs again. Pages go through the engine as those of any
//! request do, with a share of its pools that leaves room for requests that somebody waits for. The events of jobs that have
//! webhooks are delivered beside that.

#![deny(missing_docs)]

mod active;
mod config;
mod crawling;
mod credits;
mod ends;
mod hosts;
mod in_work;
mod jobs;
mod onward;
mod page;
mod request;
mod robots;
mod runner;
mod told;
mod turns;
mod watching;
mod webhook;

pub use config::{JobsConfig, Pause};
pub use jobs::{JobPages, Jobs, JobsError};
pub use request::{JobRequest, batch_url};
pub use told::{dead_letter, job_errors, job_status, timestamp};
pub use watching::Watching;
pub use webhook::{WebhookConfig, WebhookCounts};
