//! The configured limits of browser sessions.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use websvc_server::SessionsConfig;
use websvc_server::session::{Sandbox, WorkerConfig};

use crate::args::RUN_PROGRAM;
use crate::config::{self, Config};

/// Returns the limits of browser sessions, whose code this program runs. Without a browser, there are none.
pub(crate) fn sessions_config(config: &Config) -> Result<SessionsConfig> {
    let program = std::env::current_exe().context("cannot find the program of this process")?;
    let worker = WorkerConfig::new(program, vec![RUN_PROGRAM.to_owned()]);
    let config::Interact { max_sessions, max_sessions_per_team, open_timeout_s } = config.interact;
    Ok(SessionsConfig {
        max_sessions: if config.browser.concurrency == 0 { 0 } else { max_sessions },
        max_sessions_per_team: max_sessions_per_team.get(),
        open_timeout: Duration::from_secs(open_timeout_s.get()),
        runner: Some(Arc::new(Sandbox::new(worker))),
    })
}
