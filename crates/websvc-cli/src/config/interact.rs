//! `[interact]`: limits of browser sessions, and the interpreters of their code.

use std::num::NonZeroU64;
use std::path::PathBuf;

use serde::Deserialize;
use websvc_server::SessionsConfig;
use websvc_server::session::DEFAULT_INTERPRETER_MEMORY_BYTES;

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
    /// Program that runs interpreters in a sandbox. Without it, there are none.
    pub(crate) bubblewrap: Option<PathBuf>,
    pub(crate) interpreters: Interpreters,
}

/// `[interact.interpreters]`: programs that run the code of sessions instead of the embedded engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Interpreters {
    /// Python with the package playwright.
    pub(crate) python: Option<PathBuf>,
    pub(crate) node: Option<PathBuf>,
    /// Folder of the npm package playwright-core, which `node` requires.
    pub(crate) node_library: Option<PathBuf>,
    pub(crate) bash: Option<PathBuf>,
    /// Maximum memory of the processes of a program together.
    pub(crate) max_memory_bytes: NonZeroU64,
}

impl Interact {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["max_sessions", "max_sessions_per_team", "open_timeout_s", "bubblewrap", "interpreters"];
}

impl Interpreters {
    /// The names of the keys.
    pub(super) const KEYS: &'static [&'static str] =
        &["python", "node", "node_library", "bash", "max_memory_bytes"];
}

impl Default for Interact {
    fn default() -> Self {
        let SessionsConfig { max_sessions, max_sessions_per_team, open_timeout, runner: _ } =
            SessionsConfig::default();
        Self {
            max_sessions,
            max_sessions_per_team: NonZeroU64::new(max_sessions_per_team).unwrap_or(NonZeroU64::MIN),
            open_timeout_s: NonZeroU64::new(open_timeout.as_secs()).unwrap_or(NonZeroU64::MIN),
            bubblewrap: None,
            interpreters: Interpreters::default(),
        }
    }
}

impl Default for Interpreters {
    fn default() -> Self {
        Self {
            python: None,
            node: None,
            node_library: None,
            bash: None,
            max_memory_bytes: NonZeroU64::new(DEFAULT_INTERPRETER_MEMORY_BYTES).unwrap_or(NonZeroU64::MIN),
        }
    }
}
