//! Configuration of monitors.

use std::time::Duration;

use websvc_store::MonitorLimits;

use crate::clock::Clock;

/// Limits and clock of monitors.
#[derive(Debug, Clone)]
pub struct MonitorsConfig {
    /// Limits of the monitors of a team.
    pub limits: MonitorLimits,
    /// Minimum time between two scheduled checks of a monitor.
    pub min_interval: Duration,
    /// Maximum number of checks that this process works on at the same time.
    pub concurrency: usize,
    /// Time limit of a check.
    pub check_timeout: Duration,
    /// Time limit of a check that has only searches.
    pub search_check_timeout: Duration,
    /// The clock of the schedules.
    pub clock: Clock,
}

impl Default for MonitorsConfig {
    fn default() -> Self {
        Self {
            limits: MonitorLimits::default(),
            min_interval: Duration::from_secs(5 * 60),
            concurrency: 32,
            check_timeout: Duration::from_secs(60 * 60),
            search_check_timeout: Duration::from_secs(10 * 60),
            clock: Clock::default(),
        }
    }
}
