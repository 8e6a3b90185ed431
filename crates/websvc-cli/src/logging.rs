//! The log: structured lines on stderr.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::Command;

/// Starts the log. `WEBSVC_LOG` sets what is in it, such as `debug` or `websvc_server=debug,warn`; the service
/// tells of every request by default, the other commands only of trouble.
pub(crate) fn start(command: &Command) {
    let default = match command {
        Command::Serve(_) => "info",
        Command::Demo(_)
        | Command::Search(_)
        | Command::Scrape(_)
        | Command::Parse(_)
        | Command::Index(_)
        | Command::Teams(_)
        | Command::Keys(_)
        | Command::Backup(_)
        | Command::Usage(_)
        | Command::Mcp
        | Command::Cache(_)
        | Command::Profiles(_)
        | Command::Threat(_)
        | Command::Lists(_)
        | Command::Doctor(_)
        | Command::ParseDocument(_) => "error",
    };
    let filter = EnvFilter::try_from_env("WEBSVC_LOG").unwrap_or_else(|_unset| EnvFilter::new(default));
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).init();
}
