//! The limits of sessions.

use std::sync::Arc;
use std::time::Duration;

use crate::code::CodeRunner;

/// The limits of sessions, and the program that runs their code.
#[derive(Debug, Clone)]
pub struct SessionsConfig {
    /// The maximum number of active sessions of this process. With 0 there are no sessions.
    pub max_sessions: usize,
    /// The maximum number of active sessions of a team.
    pub max_sessions_per_team: u64,
    /// The maximum time in which a session opens its first page.
    pub open_timeout: Duration,
    /// Runs the code of clients; `None` if no language is available.
    pub runner: Option<Arc<dyn CodeRunner>>,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            max_sessions: 8,
            max_sessions_per_team: 4,
            open_timeout: Duration::from_secs(45),
            runner: None,
        }
    }
}
