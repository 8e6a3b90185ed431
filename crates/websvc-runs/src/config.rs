//! Configuration of runs.

use std::time::Duration;

use websvc_store::RunLimits;
use websvc_types::limits::{
    AGENT_EVENTS_MAX, AGENT_RUNS_OPEN_MAX, AGENT_RUNS_STORED_MAX, AGENT_TRACE_MAX_BYTES,
};

/// Limits of runs.
#[derive(Debug, Clone, Copy)]
pub struct RunsConfig {
    /// Limits of the stored runs.
    pub limits: RunLimits,
    /// Maximum number of runs that this process works on at the same time. Others wait.
    pub concurrency: usize,
    /// Maximum number of runs of one team that this process works on at the same time.
    pub per_team: usize,
    /// Maximum number of concurrent requests of a team without a limit of its own, for the browser sessions of its runs.
    pub team_concurrency: Option<u32>,
    /// Maximum number of steps of a run, whatever its effort.
    pub max_steps: u32,
    /// Maximum time of a run.
    pub max_time: Duration,
    /// Price of a step.
    pub credits_per_step: u64,
}

impl Default for RunsConfig {
    fn default() -> Self {
        Self {
            limits: RunLimits {
                max_open: AGENT_RUNS_OPEN_MAX,
                max_stored: AGENT_RUNS_STORED_MAX,
                max_events: AGENT_EVENTS_MAX,
                max_run_bytes: AGENT_TRACE_MAX_BYTES,
                ..RunLimits::default()
            },
            concurrency: 4,
            per_team: 2,
            team_concurrency: None,
            max_steps: 60,
            max_time: Duration::from_secs(15 * 60),
            credits_per_step: 1,
        }
    }
}
