//! The log: lines on stderr, and spans for the collector of traces beside them.

mod fields;
mod line;

use std::io::IsTerminal;

use anyhow::{Context as _, Result, bail};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, filter};
use websvc_otlp::SpanLayer;

use self::line::Lines;
use crate::args::Command;
use crate::config::{Log, LogFormat};

/// Variable with the filter of log lines, such as `debug` or `websvc_server=debug,warn`.
pub(crate) const FILTER_VARIABLE: &str = "WEBSVC_LOG";
/// How a line looks: `json` or `pretty`.
pub(crate) const FORMAT_VARIABLE: &str = "WEBSVC_LOG_FORMAT";

/// Starts the log. The service tells of every request by default, the other commands only of trouble.
pub(crate) fn start(command: &Command, log: &Log, spans: Option<SpanLayer>) -> Result<()> {
    let default = match command {
        Command::Serve(_) => "info",
        Command::Demo(_)
        | Command::Search(_)
        | Command::Scrape(_)
        | Command::Map(_)
        | Command::Crawl(_)
        | Command::Batch(_)
        | Command::Parse(_)
        | Command::Index(_)
        | Command::Teams(_)
        | Command::Keys(_)
        | Command::Backup(_)
        | Command::Usage(_)
        | Command::Mcp
        | Command::Cache(_)
        | Command::Profiles(_)
        | Command::Webhooks(_)
        | Command::Threat(_)
        | Command::Lists(_)
        | Command::Doctor(_)
        | Command::ParseDocument(_) => "error",
    };
    let is_terminal = std::io::stderr().is_terminal();
    let wanted = wanted_format(log, variable(FORMAT_VARIABLE).as_deref())?;
    // People read what commands say of trouble; what a service says goes to where logs are collected.
    let is_collected = matches!(command, Command::Serve(_)) && !is_terminal;
    let format = wanted.unwrap_or(if is_collected { LogFormat::Json } else { LogFormat::Pretty });
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let filter = LineFilter(wanted_filter(log, variable(FILTER_VARIABLE).as_deref(), default)?);
    let lines = Lines::new(format, colours, std::io::stderr).with_filter(filter);
    let spans = spans.map(|spans| {
        let ours = |metadata: &Metadata<'_>| metadata.is_span() && metadata.target() == websvc_stage::TARGET;
        spans.with_filter(filter::filter_fn(ours).with_max_level_hint(LevelFilter::INFO))
    });
    Registry::default().with(lines).with(spans).try_init().context("the log cannot be started")?;
    if matches!(command, Command::Serve(_) | Command::Mcp) {
        install_panic_hook();
    }
    Ok(())
}

/// Tells of panics where they were, and what was said if that is a text of the program: one that was put together may hold
/// what was worked on, of which perhaps nothing may be kept.
fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload().downcast_ref::<&str>().copied().unwrap_or("its message may have content");
        tracing::error!(at = panic.location().map(tracing::field::display), text, "a panic");
    }));
}

/// Checks what the configuration and the variables say of the log.
pub(crate) fn check(log: &Log) -> Result<()> {
    wanted_format(log, variable(FORMAT_VARIABLE).as_deref())?;
    wanted_filter(log, variable(FILTER_VARIABLE).as_deref(), "info").map(drop)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn wanted_format(log: &Log, variable: Option<&str>) -> Result<Option<LogFormat>> {
    match variable {
        None => Ok(log.format),
        Some("json") => Ok(Some(LogFormat::Json)),
        Some("pretty") => Ok(Some(LogFormat::Pretty)),
        Some(other) => bail!("{FORMAT_VARIABLE} is {other:?}, use json or pretty"),
    }
}

fn wanted_filter(log: &Log, variable: Option<&str>, default: &str) -> Result<EnvFilter> {
    let (text, from) = match (variable, &log.filter) {
        (Some(text), _) => (text, FILTER_VARIABLE),
        (None, Some(text)) => (text.as_str(), "log.filter"),
        (None, None) => (default, "the filter"),
    };
    let parsed = EnvFilter::builder().parse(text);
    parsed
        .with_context(|| format!("{from} is {text:?}, use a level such as info, or websvc_server=debug,warn"))
}

/// Lets the lines in that are wanted, and the spans of requests, which tell whose they are.
///
/// The libraries beneath are heard from warnings on, whatever is wanted: below they write what goes through them: queries,
/// URLs, content. The tools of MCP repeat even in warnings what they were sent. What this program tells has none of these.
struct LineFilter(EnvFilter);

impl LineFilter {
    fn is_request(metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
            && metadata.target() == websvc_stage::TARGET
            && metadata.name() == websvc_stage::REQUEST
    }

    fn is_line(metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("websvc");
        let repeats_its_input = metadata.target().starts_with("rmcp");
        metadata.is_event() && (is_ours || (*metadata.level() <= Level::WARN && !repeats_its_input))
    }
}

impl<S> Filter<S> for LineFilter {
    fn enabled(&self, metadata: &Metadata<'_>, cx: &Context<'_, S>) -> bool {
        Self::is_request(metadata) || (Self::is_line(metadata) && Filter::<S>::enabled(&self.0, metadata, cx))
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if Self::is_request(metadata) {
            Interest::always()
        } else if Self::is_line(metadata) {
            Filter::<S>::callsite_enabled(&self.0, metadata)
        } else {
            Interest::never()
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Filter::<S>::max_level_hint(&self.0).map(|hint| hint.max(LevelFilter::INFO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_and_what_cannot_be_read_is_told() {
        let log = Log { format: Some(LogFormat::Json), filter: Some("warn".to_owned()) };
        assert_eq!(wanted_format(&log, None).unwrap(), Some(LogFormat::Json));
        assert_eq!(wanted_format(&log, Some("pretty")).unwrap(), Some(LogFormat::Pretty));
        assert!(wanted_format(&log, Some("xml")).unwrap_err().to_string().contains("WEBSVC_LOG_FORMAT"));
        assert_eq!(wanted_filter(&log, None, "info").unwrap().to_string(), "warn");
        assert_eq!(wanted_filter(&log, Some("debug"), "info").unwrap().to_string(), "debug");
        assert_eq!(wanted_filter(&Log::default(), None, "info").unwrap().to_string(), "info");
        let wrong = Log { filter: Some("websvc=loud".to_owned()), ..Log::default() };
        assert!(wanted_filter(&wrong, None, "info").unwrap_err().to_string().contains("log.filter"));
    }
}
