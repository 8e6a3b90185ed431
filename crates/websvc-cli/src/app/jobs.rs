//! The configured limits of jobs.

use std::time::Duration;

use websvc_scrape::BackgroundLimits;
use websvc_server::JobsConfig;
use websvc_store::JobLimits;

use crate::config::{self, Config};

/// Returns the limits of jobs.
pub(crate) fn jobs_config(config: &Config) -> JobsConfig {
    let config::Jobs {
        concurrency,
        max_per_host,
        pace,
        max_urls,
        max_bytes,
        max_total_bytes,
        max_running_per_team,
        max_stored_per_team,
        retention_hours,
        max_sockets_per_team,
    } = config.jobs;
    // The other half is reserved for HTTP callers.
    let max_concurrency = (config.fetch.concurrency / 2).max(1);
    JobsConfig {
        limits: JobLimits {
            max_urls,
            max_bytes,
            max_total_bytes: max_total_bytes.get(),
            max_running: max_running_per_team,
            max_stored: max_stored_per_team,
            retention: Duration::from_secs(retention_hours.get().saturating_mul(3_600)),
        },
        concurrency: concurrency.get().min(max_concurrency),
        team_concurrency: config.limits.concurrency,
        max_per_host: max_per_host.get(),
        pace,
        max_sockets_per_team,
        background_limits: BackgroundLimits {
            rendering: config.browser.concurrency / 2,
            ..BackgroundLimits::default()
        },
        webhooks: config.webhooks.delivery_config(),
    }
}
