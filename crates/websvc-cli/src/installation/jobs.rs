//! The bounds of jobs, from the configuration.

use std::time::Duration;

use anyhow::{Result, ensure};
use websvc_scrape::ShareConfig;
use websvc_server::JobsConfig;
use websvc_store::JobLimits;

use crate::config::{self, Config};

/// Returns the bounds of jobs.
pub(crate) fn jobs_config(config: &Config) -> Result<JobsConfig> {
    let config::Jobs {
        concurrency,
        per_host,
        max_urls,
        max_bytes,
        max_running_per_team,
        max_kept_per_team,
        keep_hours,
    } = config.jobs;
    let most = (config.fetch.concurrency / 2).max(1);
    ensure!(
        concurrency.get() <= most,
        "jobs.concurrency: {concurrency} is more than half of fetch.concurrency; with at most {most}, requests that \
         somebody waits for find room"
    );
    Ok(JobsConfig {
        limits: JobLimits {
            urls: max_urls,
            bytes: max_bytes,
            running: max_running_per_team,
            kept: max_kept_per_team,
            keep: Duration::from_secs(keep_hours.get().saturating_mul(3_600)),
        },
        concurrency: concurrency.get(),
        per_host: per_host.get(),
        share: ShareConfig { drawing: config.browser.concurrency / 2, ..ShareConfig::default() },
    })
}
