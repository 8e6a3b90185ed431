//! Jobs: batch scrapes and crawls, which run after their request was answered.
//!
//! [`Jobs`] is the handle. It creates, reads and cancels jobs of the store. [`Jobs::run`] scrapes their pages until it
//! is dropped; the next run finishes the pages that were in flight then. Pages pass through the engine like those of
//! any other request, within background limits that leave capacity for HTTP callers. The same task delivers the webhook
//! events of jobs.

#![deny(missing_docs)]

mod active;
mod config;
mod crawl_links;
mod crawl_scope;
mod fair_queue;
mod group_commit;
mod hosts;
mod in_flight;
mod jobs;
mod page;
mod redirect_guard;
mod request;
mod responses;
mod robots;
mod runner;
mod sitemap_pages;
mod team_cache;
mod watch;
mod webhook;

pub use config::{JobsConfig, Pace};
pub use jobs::{Jobs, OpenPageCounts};
pub use request::{JobRequest, LlmsTxtOptions, batch_url, crawl_start_url};
pub use responses::{dead_letter, job_errors, job_status, timestamp};
pub use watch::JobWatcher;
pub use webhook::{WebhookConfig, WebhookMetrics};
