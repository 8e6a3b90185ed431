//! The limits of jobs, monitors, agent runs, webhooks and page histories.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::time::Duration;

use serde::Deserialize;
use websvc_server::{JobsConfig, MonitorsConfig, Pace, RunsConfig, WebhookConfig};
use websvc_store::SnapshotLimits;

/// `[jobs]`: limits of batches and crawls.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Jobs {
    /// Maximum number of pages of all jobs that are in flight.
    pub(crate) concurrency: NonZeroUsize,
    /// Maximum number of concurrent requests of all jobs to one host.
    pub(crate) max_per_host: NonZeroUsize,
    /// Delay between two requests to one host.
    pub(crate) pace: Pace,
    /// Maximum number of URLs of one job.
    pub(crate) max_urls: u64,
    /// Maximum size of the documents of one job in bytes, before compression.
    pub(crate) max_bytes: u64,
    /// Maximum size of the compressed documents of all jobs in bytes.
    pub(crate) max_total_bytes: NonZeroU64,
    pub(crate) max_running_per_team: u64,
    pub(crate) max_stored_per_team: u64,
    /// Maximum duration of a job, and the time that it is stored after its end.
    pub(crate) retention_hours: NonZeroU64,
    /// Maximum number of open WebSockets of one team that watch jobs.
    pub(crate) max_sockets_per_team: usize,
}

impl Default for Jobs {
    fn default() -> Self {
        let JobsConfig { limits, concurrency, max_per_host, pace, max_sockets_per_team, .. } =
            JobsConfig::default();
        Self {
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            max_per_host: NonZeroUsize::new(max_per_host).unwrap_or(NonZeroUsize::MIN),
            pace,
            max_urls: limits.max_urls,
            max_bytes: limits.max_bytes,
            max_total_bytes: NonZeroU64::new(limits.max_total_bytes).unwrap_or(NonZeroU64::MIN),
            max_running_per_team: limits.max_running,
            max_stored_per_team: limits.max_stored,
            retention_hours: NonZeroU64::new(limits.retention.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
            max_sockets_per_team,
        }
    }
}

/// `[monitor]`: limits of monitors.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Monitor {
    /// Minimum time between two scheduled checks of a monitor, in minutes.
    pub(crate) min_interval_minutes: NonZeroU64,
    /// Maximum number of monitors of one team.
    pub(crate) max_per_team: u64,
    /// Maximum number of concurrent checks.
    pub(crate) concurrency: NonZeroUsize,
    /// Time limit of a check, in minutes.
    pub(crate) check_timeout_minutes: NonZeroU64,
    /// Maximum size of the pages with which the next checks compare, of all monitors, in bytes after compression.
    pub(crate) max_page_bytes: NonZeroU64,
    /// Maximum size of the results of all checks, in bytes after compression.
    pub(crate) max_result_bytes: NonZeroU64,
}

impl Default for Monitor {
    fn default() -> Self {
        let MonitorsConfig { limits, min_interval, concurrency, check_timeout, .. } =
            MonitorsConfig::default();
        let minutes = |seconds: u64| NonZeroU64::new(seconds / 60).unwrap_or(NonZeroU64::MIN);
        Self {
            min_interval_minutes: minutes(min_interval.as_secs()),
            max_per_team: limits.max_monitors,
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            check_timeout_minutes: minutes(check_timeout.as_secs()),
            max_page_bytes: NonZeroU64::new(limits.max_baseline_bytes).unwrap_or(NonZeroU64::MIN),
            max_result_bytes: NonZeroU64::new(limits.max_check_bytes).unwrap_or(NonZeroU64::MIN),
        }
    }
}

/// `[agent]`: limits of agent runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Agent {
    /// Maximum number of concurrent runs. Others wait.
    pub(crate) concurrency: NonZeroUsize,
    /// Maximum number of concurrent runs of one team.
    pub(crate) concurrency_per_team: NonZeroUsize,
    /// Maximum number of steps of a run, whatever its effort.
    pub(crate) max_steps: NonZeroU32,
    /// Time limit of a run, in seconds.
    pub(crate) max_seconds: NonZeroU64,
    /// Price of a step, in credits.
    pub(crate) credits_per_step: u64,
    /// Maximum number of runs of one team that wait or work.
    pub(crate) max_open_per_team: u64,
    /// Maximum number of stored runs of one team.
    pub(crate) max_stored_per_team: u64,
    /// Time after the end of a run after which it is deleted, in hours.
    pub(crate) retention_hours: NonZeroU64,
    /// Maximum size of all runs, in bytes. The oldest finished ones are deleted first.
    pub(crate) max_total_bytes: NonZeroU64,
}

impl Default for Agent {
    fn default() -> Self {
        let default = RunsConfig::default();
        let positive = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            concurrency: NonZeroUsize::new(default.concurrency).unwrap_or(NonZeroUsize::MIN),
            concurrency_per_team: NonZeroUsize::new(default.per_team).unwrap_or(NonZeroUsize::MIN),
            max_steps: NonZeroU32::new(default.max_steps).unwrap_or(NonZeroU32::MIN),
            max_seconds: positive(default.max_time.as_secs()),
            credits_per_step: default.credits_per_step,
            max_open_per_team: default.limits.max_open,
            max_stored_per_team: default.limits.max_stored,
            retention_hours: positive(default.limits.retention.as_secs() / 3_600),
            max_total_bytes: positive(default.limits.max_bytes),
        }
    }
}

/// `[webhooks]`: limits of the delivery of job events.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Webhooks {
    /// Delivery attempts per event.
    pub(crate) attempts: NonZeroU32,
    /// Backoff after the first failed attempt.
    pub(crate) initial_backoff_ms: u64,
    /// Time limit of one delivery.
    pub(crate) timeout_ms: NonZeroU64,
    /// Maximum number of concurrent deliveries.
    pub(crate) concurrency: NonZeroUsize,
    /// Maximum number of concurrent deliveries to one host.
    pub(crate) max_per_host: NonZeroUsize,
    /// Time that a dead letter is stored.
    pub(crate) retention_hours: NonZeroU64,
}

impl Webhooks {
    /// Returns the configuration of deliveries.
    pub(crate) fn delivery_config(&self) -> WebhookConfig {
        let mut config = WebhookConfig {
            max_attempts: self.attempts.get(),
            timeout: Duration::from_millis(self.timeout_ms.get()),
            concurrency: self.concurrency.get(),
            max_per_host: self.max_per_host.get(),
            retention: Duration::from_secs(self.retention_hours.get().saturating_mul(3_600)),
            ..WebhookConfig::default()
        };
        config.backoff.initial = Duration::from_millis(self.initial_backoff_ms);
        config
    }
}

impl Default for Webhooks {
    fn default() -> Self {
        let WebhookConfig { max_attempts, backoff, timeout, concurrency, max_per_host, retention, .. } =
            WebhookConfig::default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            attempts: NonZeroU32::new(max_attempts).unwrap_or(NonZeroU32::MIN),
            initial_backoff_ms: ms(backoff.initial),
            timeout_ms: NonZeroU64::new(ms(timeout)).unwrap_or(NonZeroU64::MIN),
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            max_per_host: NonZeroUsize::new(max_per_host).unwrap_or(NonZeroUsize::MIN),
            retention_hours: NonZeroU64::new(retention.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
        }
    }
}

/// `[change_tracking]`: the limits of the stored versions of pages.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ChangeTracking {
    /// Maximum number of versions of one team.
    pub(crate) max_pages_per_team: NonZeroU64,
    /// Maximum size of the versions of one team in bytes, compressed.
    pub(crate) max_bytes_per_team: NonZeroU64,
    /// Time after its last use at which a version is deleted.
    pub(crate) max_unused_days: NonZeroU64,
}

impl ChangeTracking {
    /// Returns the limits for the store.
    pub(crate) fn limits(&self) -> SnapshotLimits {
        SnapshotLimits {
            max_pages_per_team: self.max_pages_per_team.get(),
            max_bytes_per_team: self.max_bytes_per_team.get(),
            max_unused: Duration::from_secs(self.max_unused_days.get().saturating_mul(86_400)),
        }
    }
}

impl Default for ChangeTracking {
    fn default() -> Self {
        let SnapshotLimits { max_pages_per_team, max_bytes_per_team, max_unused } = SnapshotLimits::default();
        let positive = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            max_pages_per_team: positive(max_pages_per_team),
            max_bytes_per_team: positive(max_bytes_per_team),
            max_unused_days: positive(max_unused.as_secs() / 86_400),
        }
    }
}
