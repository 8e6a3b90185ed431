//! Logging: lines on stderr, and spans for the export of traces.

mod fields;
mod line;

use std::io::IsTerminal;

use crate::otlp::SpanLayer;
use anyhow::{Context as _, Result, bail};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::layer::{Context, Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, filter};

use self::line::Lines;
use crate::args::{Command, variable};
use crate::config::{Log, LogFormat};
use crate::output::Colors;

/// Variable that sets the filter of log lines, such as `debug` or `websvc_server=debug,warn`.
pub(crate) const FILTER_VARIABLE: &str = "WEBSVC_LOG";
/// Variable that sets the format of log lines: `json` or `pretty`.
pub(crate) const FORMAT_VARIABLE: &str = "WEBSVC_LOG_FORMAT";

/// Starts logging. By default, the service logs every request, and the other commands log only errors.
pub(crate) fn start(command: &Command, log: &Log, spans: Option<SpanLayer>) -> Result<()> {
    let is_service = matches!(command, Command::Serve(_));
    let default = if is_service { "info" } else { "error" };
    let is_terminal = std::io::stderr().is_terminal();
    let chosen = format_of(log, variable(FORMAT_VARIABLE).as_deref())?;
    // People read the log of a command. The log of a service is collected by programs.
    let is_collected = is_service && !is_terminal;
    let format = chosen.unwrap_or(if is_collected { LogFormat::Json } else { LogFormat::Pretty });
    let filter = LineFilter(filter_of(log, variable(FILTER_VARIABLE).as_deref(), default)?);
    let lines = Lines::new(format, Colors::for_stderr(), std::io::stderr).with_filter(filter);
    let spans = spans.map(|spans| {
        let is_stage_span =
            |metadata: &Metadata<'_>| metadata.is_span() && metadata.target() == websvc_stage::TARGET;
        spans.with_filter(filter::filter_fn(is_stage_span).with_max_level_hint(LevelFilter::INFO))
    });
    Registry::default().with(lines).with(spans).try_init().context("cannot start logging")?;
    if is_service || matches!(command, Command::Mcp) {
        install_panic_hook();
    }
    Ok(())
}

/// Installs a hook that logs the location of a panic, and its message if it is a literal of the program.
///
/// A formatted message may contain content of a request whose data must not be stored.
fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic
            .payload()
            .downcast_ref::<&str>()
            .copied()
            .unwrap_or("message withheld: it may contain content");
        tracing::error!(at = panic.location().map(tracing::field::display), text, "panic");
    }));
}

/// Checks the log settings of the configuration and of the variables.
pub(crate) fn check(log: &Log) -> Result<()> {
    format_of(log, variable(FORMAT_VARIABLE).as_deref())?;
    filter_of(log, variable(FILTER_VARIABLE).as_deref(), "info").map(drop)
}

fn format_of(log: &Log, variable: Option<&str>) -> Result<Option<LogFormat>> {
    match variable {
        None => Ok(log.format),
        Some("json") => Ok(Some(LogFormat::Json)),
        Some("pretty") => Ok(Some(LogFormat::Pretty)),
        Some(other) => bail!("{FORMAT_VARIABLE} is {other:?}: use json or pretty"),
    }
}

fn filter_of(log: &Log, variable: Option<&str>, default: &str) -> Result<EnvFilter> {
    let (text, from) = match (variable, &log.filter) {
        (Some(text), _) => (text, FILTER_VARIABLE),
        (None, Some(text)) => (text.as_str(), "log.filter"),
        (None, None) => (default, "the default filter"),
    };
    let parsed = EnvFilter::builder().parse(text);
    parsed
        .with_context(|| format!("{from} is {text:?}: use a level such as info, or websvc_server=debug,warn"))
}

/// A filter that passes the selected lines, and request spans, which identify the request of a line.
///
/// Events of libraries pass only from level `WARN` on, because below it they contain queries, URLs and content.
/// The MCP library (`rmcp`) repeats its input even in warnings, so its events never pass. The events of websvc contain
/// none of these.
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
    fn log_variables_override_the_configuration_and_invalid_values_are_rejected() {
        let log = Log { format: Some(LogFormat::Json), filter: Some("warn".to_owned()) };
        assert_eq!(format_of(&log, None).unwrap(), Some(LogFormat::Json));
        assert_eq!(format_of(&log, Some("pretty")).unwrap(), Some(LogFormat::Pretty));
        assert!(format_of(&log, Some("xml")).unwrap_err().to_string().contains("WEBSVC_LOG_FORMAT"));
        assert_eq!(filter_of(&log, None, "info").unwrap().to_string(), "warn");
        assert_eq!(filter_of(&log, Some("debug"), "info").unwrap().to_string(), "debug");
        assert_eq!(filter_of(&Log::default(), None, "info").unwrap().to_string(), "info");
        let invalid = Log { filter: Some("websvc=loud".to_owned()), ..Log::default() };
        assert!(filter_of(&invalid, None, "info").unwrap_err().to_string().contains("log.filter"));
    }
}
