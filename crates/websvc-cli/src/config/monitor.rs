//! `[monitor]`: limits of monitors.

use std::num::{NonZeroU64, NonZeroUsize};

use serde::Deserialize;
use websvc_server::MonitorsConfig;

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

impl Monitor {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] = &[
        "min_interval_minutes",
        "max_per_team",
        "concurrency",
        "check_timeout_minutes",
        "max_page_bytes",
        "max_result_bytes",
    ];
}

impl Default for Monitor {
    fn default() -> Self {
        let MonitorsConfig {
            limits,
            min_interval,
            concurrency,
            check_timeout,
            search_check_timeout: _,
            mail: _,
            messages: _,
        } = MonitorsConfig::default();
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
