//! `[jobs]`: work that goes on after its request was answered.

use std::num::{NonZeroU64, NonZeroUsize};

use serde::Deserialize;
use websvc_server::{HostPause, JobsConfig};

/// `[jobs]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Jobs {
    /// Pages of all jobs at one time.
    pub(crate) concurrency: NonZeroUsize,
    /// Requests against one host at one time, those of all jobs.
    pub(crate) per_host: NonZeroUsize,
    /// How long a host is left alone after an answer.
    pub(crate) pause: HostPause,
    /// URLs of one job.
    pub(crate) max_urls: u64,
    /// Bytes of the documents of one job, before compression.
    pub(crate) max_bytes: u64,
    /// Bytes of the documents of all jobs, compressed.
    pub(crate) max_total_bytes: NonZeroU64,
    pub(crate) max_running_per_team: u64,
    pub(crate) max_kept_per_team: u64,
    /// How long a job may run, and how long it is kept after its end.
    pub(crate) keep_hours: NonZeroU64,
    /// Open sockets of one team that tell how jobs go.
    pub(crate) max_sockets_per_team: usize,
}

impl Jobs {
    pub(super) const KEYS: &'static [&'static str] = &[
        "concurrency",
        "per_host",
        "pause",
        "max_urls",
        "max_bytes",
        "max_total_bytes",
        "max_running_per_team",
        "max_kept_per_team",
        "keep_hours",
        "max_sockets_per_team",
    ];
}

impl Default for Jobs {
    fn default() -> Self {
        let JobsConfig {
            limits,
            concurrency,
            max_per_host,
            host_pause,
            background_limits: _,
            webhooks: _,
            max_sockets_per_team,
        } = JobsConfig::default();
        Self {
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            per_host: NonZeroUsize::new(max_per_host).unwrap_or(NonZeroUsize::MIN),
            pause: host_pause,
            max_urls: limits.max_urls,
            max_bytes: limits.max_bytes,
            max_total_bytes: NonZeroU64::new(limits.max_total_bytes).unwrap_or(NonZeroU64::MIN),
            max_running_per_team: limits.max_running,
            max_kept_per_team: limits.max_stored,
            keep_hours: NonZeroU64::new(limits.retention.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
            max_sockets_per_team,
        }
    }
}
