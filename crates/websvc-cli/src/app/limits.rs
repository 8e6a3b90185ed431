//! The configured limits of the service, of jobs, monitors and agent runs.

use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::Result;
use websvc_scrape::BackgroundLimits;
use websvc_server::{AdmissionLimits, JobsConfig, MessageConfig, MonitorsConfig, RunsConfig};
use websvc_store::{CacheLimits, JobLimits, MonitorLimits, RunLimits};

use super::mail::mail_settings;
use crate::config::Config;

/// Returns the limits of requests.
pub(crate) fn admission_limits(config: &Config) -> AdmissionLimits {
    let limits = &config.limits;
    let default = AdmissionLimits::default();
    AdmissionLimits {
        requests_per_minute: limits.requests_per_minute,
        concurrency: limits.concurrency,
        total_concurrency: limits.total_concurrency.get(),
        queue_len: limits.queue_len,
        queue_wait: Duration::from_millis(limits.queue_wait_ms),
        search_concurrency: limits.search_concurrency.map_or(default.search_concurrency, NonZeroUsize::get),
        overload_target: Duration::from_millis(limits.overload_target_ms),
        overload_interval: Duration::from_millis(limits.overload_interval_ms),
    }
}

/// Returns the limits of the page cache.
pub(crate) fn cache_limits(config: &Config) -> CacheLimits {
    CacheLimits {
        max_bytes: config.cache.max_bytes,
        max_age: days(config.cache.max_age_days),
        ..CacheLimits::default()
    }
}

/// Returns the limits of jobs.
pub(crate) fn jobs_config(config: &Config) -> JobsConfig {
    let jobs = &config.jobs;
    // The other half is reserved for HTTP callers.
    let max_concurrency = (config.fetch.concurrency / 2).max(1);
    JobsConfig {
        limits: JobLimits {
            max_urls: jobs.max_urls,
            max_bytes: jobs.max_bytes,
            max_total_bytes: jobs.max_total_bytes.get(),
            max_running: jobs.max_running_per_team,
            max_stored: jobs.max_stored_per_team,
            retention: hours(jobs.retention_hours.get()),
        },
        concurrency: jobs.concurrency.get().min(max_concurrency),
        team_concurrency: config.limits.concurrency,
        max_per_host: jobs.max_per_host.get(),
        pace: jobs.pace,
        max_sockets_per_team: jobs.max_sockets_per_team,
        background_limits: BackgroundLimits {
            rendering: config.browser.concurrency / 2,
            ..BackgroundLimits::default()
        },
        webhooks: config.webhooks.delivery_config(),
    }
}

/// Returns the configuration of monitors. Their messages are repeated like webhook events.
pub(crate) fn monitors_config(config: &Config) -> Result<MonitorsConfig> {
    let monitor = &config.monitor;
    let default = MonitorsConfig::default();
    let check_timeout = minutes(monitor.check_timeout_minutes.get());
    let webhooks = config.webhooks.delivery_config();
    Ok(MonitorsConfig {
        limits: MonitorLimits {
            max_monitors: monitor.max_per_team,
            max_baseline_bytes: monitor.max_page_bytes.get(),
            max_check_bytes: monitor.max_result_bytes.get(),
        },
        min_interval: minutes(monitor.min_interval_minutes.get()),
        concurrency: monitor.concurrency.get(),
        check_timeout,
        search_check_timeout: default.search_check_timeout.min(check_timeout),
        mail: mail_settings(config)?,
        messages: MessageConfig {
            max_attempts: webhooks.max_attempts,
            backoff: webhooks.backoff,
            channel_timeout: webhooks.timeout,
            max_age: webhooks.retention,
            ..default.messages
        },
    })
}

/// Returns the limits of agent runs.
pub(crate) fn runs_config(config: &Config) -> RunsConfig {
    let agent = &config.agent;
    let default = RunsConfig::default();
    RunsConfig {
        limits: RunLimits {
            max_open: agent.max_open_per_team,
            max_stored: agent.max_stored_per_team,
            max_bytes: agent.max_total_bytes.get(),
            retention: hours(agent.retention_hours.get()),
            ..default.limits
        },
        concurrency: agent.concurrency.get(),
        per_team: agent.concurrency_per_team.get(),
        max_steps: agent.max_steps.get(),
        max_time: Duration::from_secs(agent.max_seconds.get()),
        credits_per_step: agent.credits_per_step,
        ..default
    }
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes.saturating_mul(60))
}

fn hours(hours: u64) -> Duration {
    minutes(hours.saturating_mul(60))
}

fn days(days: u64) -> Duration {
    hours(days.saturating_mul(24))
}
