//! `[agent]`: limits of agent runs.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use serde::Deserialize;
use websvc_server::RunsConfig;

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

impl Agent {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "concurrency",
        "concurrency_per_team",
        "max_steps",
        "max_seconds",
        "credits_per_step",
        "max_open_per_team",
        "max_stored_per_team",
        "retention_hours",
        "max_total_bytes",
    ];
}

impl Default for Agent {
    fn default() -> Self {
        let RunsConfig {
            limits,
            concurrency,
            per_team,
            team_concurrency: _,
            max_steps,
            max_time,
            credits_per_step,
        } = RunsConfig::default();
        Self {
            concurrency: NonZeroUsize::new(concurrency).unwrap_or(NonZeroUsize::MIN),
            concurrency_per_team: NonZeroUsize::new(per_team).unwrap_or(NonZeroUsize::MIN),
            max_steps: NonZeroU32::new(max_steps).unwrap_or(NonZeroU32::MIN),
            max_seconds: NonZeroU64::new(max_time.as_secs()).unwrap_or(NonZeroU64::MIN),
            credits_per_step,
            max_open_per_team: limits.max_open,
            max_stored_per_team: limits.max_stored,
            retention_hours: NonZeroU64::new(limits.retention.as_secs() / 3_600).unwrap_or(NonZeroU64::MIN),
            max_total_bytes: NonZeroU64::new(limits.max_bytes).unwrap_or(NonZeroU64::MIN),
        }
    }
}
