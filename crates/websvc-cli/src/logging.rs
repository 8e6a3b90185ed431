//! The log: structured lines on stderr.

use std::io::IsTerminal;

use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::Command;

/// Starts the log. `WEBSVC_LOG` sets what is in it, such as `debug` or `websvc_server=debug,warn`; the service
/// tells of every request by default, the other commands only of trouble.
pub(crate) fn start(command: &Command) {
    let default = match command {
        Command::Serve(_) => "info",
        Command::Demo(_)
        | Command::Search(_)
        | Command::Scrape(_)
        | Command::Map(_)
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
    let lines = tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(filter_fn(may_be_told)).with(lines).init();
    if matches!(command, Command::Serve(_) | Command::Mcp) {
        tell_panics_without_content();
    }
}

/// Tells of panics where they were, and what was said if that is a text of the program: one that was put together may hold
/// what was worked on, of which perhaps nothing may be kept.
fn tell_panics_without_content() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload().downcast_ref::<&str>().copied().unwrap_or("its message may have content");
        tracing::error!(at = panic.location().map(tracing::field::display), text, "a panic");
    }));
}

/// Tells whether something may be in the log whatever `WEBSVC_LOG` says. What libraries tell below a warning is what goes
/// through them: queries, URLs, content. That of the tools of MCP repeats in its warnings, too, what it was sent. What this
/// program tells has none of these.
fn may_be_told(told: &Metadata<'_>) -> bool {
    let of = |library: &str| told.target().starts_with(library);
    of("websvc") || (*told.level() <= Level::WARN && !of("rmcp"))
}
