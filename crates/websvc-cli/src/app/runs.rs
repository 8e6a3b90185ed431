//! The configured limits of agent runs.

use std::time::Duration;

use websvc_server::RunsConfig;
use websvc_store::RunLimits;

use crate::config::{self, Config};

/// Returns the limits of agent runs.
pub(crate) fn runs_config(config: &Config) -> RunsConfig {
    let config::Agent {
        concurrency,
        concurrency_per_team,
        max_steps,
        max_seconds,
        credits_per_step,
        max_open_per_team,
        max_stored_per_team,
        retention_hours,
        max_total_bytes,
    } = config.agent;
    let default = RunsConfig::default();
    RunsConfig {
        limits: RunLimits {
            max_open: max_open_per_team,
            max_stored: max_stored_per_team,
            max_bytes: max_total_bytes.get(),
            retention: Duration::from_secs(retention_hours.get().saturating_mul(3_600)),
            ..default.limits
        },
        concurrency: concurrency.get(),
        per_team: concurrency_per_team.get(),
        max_steps: max_steps.get(),
        max_time: Duration::from_secs(max_seconds.get()),
        credits_per_step,
        ..default
    }
}
