//! Jobs: pages that are got after their request was answered.
//!
//! [`Jobs`] is the handle: it begins, reads and cancels jobs of the store. [`Jobs::run`] works on them, for as long as it
//! is awaited; what it was at when it is dropped is done when it runs again. Pages go through the engine as those of any
//! request do, with a share of its pools that leaves room for requests that somebody waits for. The events of jobs that have
//! webhooks are delivered beside that.

#![deny(missing_docs)]

mod active;
mod completion_batch;
mod config;
mod crawl_links;
mod credits;
mod fair_queue;
mod hosts;
mod in_flight;
mod jobs;
mod page;
mod redirect_guard;
mod request;
mod responses;
mod robots;
mod runner;
mod watch;
mod webhook;

pub use config::{HostPause, JobsConfig};
pub use jobs::{Jobs, JobsError, OpenPageCounts};
pub use request::{JobRequest, batch_url};
pub use responses::{dead_letter, job_errors, job_status, timestamp};
pub use watch::JobWatcher;
pub use webhook::{WebhookConfig, WebhookMetrics};
