//! The bounds of jobs, from the configuration.

use std::time::Duration;

use websvc_scrape::BackgroundLimits;
use websvc_server::JobsConfig;
use websvc_store::JobLimits;

use crate::config::{self, Config};

/// Returns the bounds of jobs.
pub(crate) fn jobs_config(config: &Config) -> JobsConfig {
    let config::Jobs {
        concurrency,
        per_host,
        pause,
        max_urls,
        max_bytes,
        max_total_bytes,
        max_running_per_team,
        max_kept_per_team,
        keep_hours,
        max_sockets_per_team,
    } = config.jobs;
    // The other half is for requests that somebody waits for.
    let most = (config.fetch.concurrency / 2).max(1);
    JobsConfig {
        limits: JobLimits {
            max_urls,
            max_bytes,
            max_total_bytes: max_total_bytes.get(),
            max_running: max_running_per_team,
            max_stored: max_kept_per_team,
            retention: Duration::from_secs(keep_hours.get().saturating_mul(3_600)),
        },
        concurrency: concurrency.get().min(most),
        max_per_host: per_host.get(),
        host_pause: pause,
        max_sockets_per_team,
        background_limits: BackgroundLimits {
            rendering: config.browser.concurrency / 2,
            ..BackgroundLimits::default()
        },
        webhooks: config.webhooks.bounds(),
    }
}
