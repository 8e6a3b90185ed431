//! `[jobs]`: limits of batches and crawls.

use std::num::{NonZeroU64, NonZeroUsize};

use serde::Deserialize;
use websvc_server::{JobsConfig, Pace};

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

impl Jobs {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "concurrency",
        "max_per_host",
        "pace",
        "max_urls",
        "max_bytes",
        "max_total_bytes",
        "max_running_per_team",
        "max_stored_per_team",
        "retention_hours",
        "max_sockets_per_team",
    ];
}

impl Default for Jobs {
    fn default() -> Self {
        let JobsConfig {
            limits,
            concurrency,
            team_concurrency: _of_limits,
            max_per_host,
            pace,
            background_limits: _,
            webhooks: _,
            max_sockets_per_team,
        } = JobsConfig::default();
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
