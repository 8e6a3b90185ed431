//! The configured limits of browser sessions.

use std::time::Duration;

use websvc_server::SessionsConfig;

use crate::config::{self, Config};

/// Returns the limits of browser sessions. Without a browser, there are none.
pub(crate) fn sessions_config(config: &Config) -> SessionsConfig {
    let config::Interact { max_sessions, max_sessions_per_team, open_timeout_s } = config.interact;
    SessionsConfig {
        max_sessions: if config.browser.concurrency == 0 { 0 } else { max_sessions },
        max_sessions_per_team: max_sessions_per_team.get(),
        open_timeout: Duration::from_secs(open_timeout_s.get()),
        ..SessionsConfig::default()
    }
}
