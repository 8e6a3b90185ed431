//! `[interact]`: limits of browser sessions.

use std::num::NonZeroU64;

use serde::Deserialize;
use websvc_server::SessionsConfig;

/// `[interact]`: limits of browser sessions.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Interact {
    /// Maximum number of active sessions. With 0 there are none.
    pub(crate) max_sessions: usize,
    /// Maximum number of active sessions of one team.
    pub(crate) max_sessions_per_team: NonZeroU64,
    /// Maximum time in which a session opens its first page, in seconds.
    pub(crate) open_timeout_s: NonZeroU64,
}

impl Interact {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["max_sessions", "max_sessions_per_team", "open_timeout_s"];
}

impl Default for Interact {
    fn default() -> Self {
        let SessionsConfig { max_sessions, max_sessions_per_team, open_timeout, runner: _ } =
            SessionsConfig::default();
        Self {
            max_sessions,
            max_sessions_per_team: NonZeroU64::new(max_sessions_per_team).unwrap_or(NonZeroU64::MIN),
            open_timeout_s: NonZeroU64::new(open_timeout.as_secs()).unwrap_or(NonZeroU64::MIN),
        }
    }
}
