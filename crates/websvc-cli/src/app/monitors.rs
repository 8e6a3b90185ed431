//! The configured limits and messages of monitors.

use std::time::Duration;

use anyhow::Result;
use websvc_server::{MessageConfig, MonitorsConfig};
use websvc_store::MonitorLimits;

use super::mail::mail_settings;
use crate::config::{self, Config};

/// Returns the configuration of monitors. Their messages are repeated like webhook events.
pub(crate) fn monitors_config(config: &Config) -> Result<MonitorsConfig> {
    let config::Monitor {
        min_interval_minutes,
        max_per_team,
        concurrency,
        check_timeout_minutes,
        max_page_bytes,
        max_result_bytes,
    } = config.monitor;
    let minutes = |minutes: u64| Duration::from_secs(minutes.saturating_mul(60));
    let default = MonitorsConfig::default();
    let check_timeout = minutes(check_timeout_minutes.get());
    let webhooks = config.webhooks.delivery_config();
    let messages = MessageConfig {
        max_attempts: webhooks.max_attempts,
        backoff: webhooks.backoff,
        slack_timeout: webhooks.timeout,
        max_age: webhooks.retention,
        ..default.messages
    };
    Ok(MonitorsConfig {
        limits: MonitorLimits {
            max_monitors: max_per_team,
            max_baseline_bytes: max_page_bytes.get(),
            max_check_bytes: max_result_bytes.get(),
        },
        min_interval: minutes(min_interval_minutes.get()),
        concurrency: concurrency.get(),
        check_timeout,
        search_check_timeout: default.search_check_timeout.min(check_timeout),
        mail: mail_settings(config)?,
        messages,
    })
}
