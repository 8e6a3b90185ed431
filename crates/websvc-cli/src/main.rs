//! The websvc program: reads the command line and runs one command.

mod allocator;
mod app;
mod args;
mod command;
mod config;
mod data_dir;
mod data_use;
mod logging;
mod manual;
mod output;
mod page_output;
mod progress;
mod render_args;

use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Parser;
use websvc_otlp::{Exporter, SpanLayer};
use websvc_stage::TraceCounters;
use websvc_types::ErrorCode;

use crate::app::TraceSettings;
use crate::args::{Cli, Command, Common, Remote};
use crate::config::{Config, Log, Origins};
use crate::data_dir::DataDir;
use crate::data_use::{DataUse, server_of};

fn main() -> ExitCode {
    allocator::configure();
    let Cli { command, common } = Cli::parse();
    let common = common.with_variables();
    // Before anything is read or opened: what a hostile document is read in should hold nothing.
    if let Command::ParseDocument(arguments) = &command {
        return command::parse_document(arguments);
    }
    match run(command, &common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// Context of a command.
struct CommandContext {
    config: Config,
    data_dir: DataDir,
    common: Common,
}

/// Exporter of the spans of the service, if they are exported.
#[derive(Debug)]
struct TraceExport {
    settings: TraceSettings,
    exporter: Exporter,
}

impl TraceExport {
    fn start(config: &Config) -> Result<Option<(Self, SpanLayer)>> {
        let Some(settings) = TraceSettings::read(&config.traces, |name| std::env::var(name).ok())? else {
            return Ok(None);
        };
        let (spans, exporter) =
            websvc_otlp::pipeline(settings.sampler, settings.batching, TraceCounters::default());
        Ok(Some((Self { settings, exporter }, spans)))
    }
}

fn run(command: Command, common: &Common) -> Result<()> {
    // Before the configuration is needed: whether it can be read is the first thing to look at.
    if matches!(command, Command::Doctor(_)) {
        // What is wrong with the log is one of its findings.
        let _told_by_a_check = logging::start(&command, &Log::default(), None);
    }
    if let Command::Doctor(doctor) = command {
        return on_runtime(command::doctor(common, doctor));
    }
    let config = config::load(common.config.as_deref(), std::env::vars())?;
    let (tracing, spans) = match command {
        Command::Serve(_) => TraceExport::start(&config)?.unzip(),
        _ => (None, None),
    };
    logging::start(&command, &config.log, spans)?;
    for warning in tracing.iter().flat_map(|tracing| &tracing.settings.warnings) {
        tracing::warn!("{warning}");
    }
    for key in &config.not_yet {
        tracing::warn!("configuration key `{key}` has no effect: this version does not have its feature");
    }
    for (name, meant) in &config.misspelt {
        let text = format!("the variable {name} has no effect, did you mean {meant}?");
        match command {
            Command::Serve(_) => tracing::warn!("{text}"),
            _ => output::note(&format!("warning: {text}")),
        }
    }
    if let Command::Demo(demo) = command {
        return on_runtime(command::demo(config, &demo));
    }
    let data_dir = DataUse::of(&command, &config).open(common.data_dir.as_deref())?;
    let key_hint = server_of(&command).map(key_hint);
    let origins = config.origins.clone();
    let setting = CommandContext { config, data_dir, common: common.clone() };
    dispatch(command, setting, tracing).map_err(|error| explained(error, key_hint, &origins))
}

/// Returns what to do when a server does not accept a command for want of a key.
fn key_hint(remote: &Remote) -> &'static str {
    match remote.key() {
        Some(_) => "give another key by --api-key or WEBSVC_API_KEY: the server does not accept this one",
        None => "give a key of the server by --api-key or WEBSVC_API_KEY",
    }
}

/// Adds to an error what the operator can do: a key where a server asks for one, the place of a value that cannot be used.
fn explained(error: anyhow::Error, key_hint: Option<&str>, origins: &Origins) -> anyhow::Error {
    let is_refused = |cause: &websvc::ClientError| cause.code() == Some(ErrorCode::Unauthorized);
    if let Some(hint) = key_hint
        && error.chain().filter_map(|cause| cause.downcast_ref()).any(is_refused)
    {
        return anyhow!("{}; {hint}", output::causes(error.as_ref()));
    }
    match origins.of_error(&error.to_string()) {
        Some(place) => error.context(place.to_string()),
        None => error,
    }
}

fn dispatch(command: Command, setting: CommandContext, tracing: Option<TraceExport>) -> Result<()> {
    match command {
        Command::Teams(teams) => command::teams(&setting, teams),
        Command::Backup(backup) => command::backup(&setting, &backup),
        Command::Keys(keys) => command::keys(&setting, keys),
        Command::Profiles(profiles) => command::profiles(&setting, profiles),
        Command::Webhooks(webhooks) => command::webhooks(&setting, webhooks),
        Command::Threat(threat) => on_runtime(command::threat(setting, threat)),
        Command::Lists(lists) => on_runtime(command::lists(setting, lists)),
        Command::Usage(usage) => command::usage(&setting, &usage),
        Command::Mcp => on_runtime(command::mcp(setting)),
        Command::Cache(cache) => command::cache(&setting, cache),
        Command::Serve(serve) => on_runtime(command::serve(setting, serve, tracing)),
        Command::Search(search) => on_runtime(command::search(setting, search)),
        Command::Map(map) => on_runtime(command::map(setting, map)),
        Command::Scrape(scrape) => on_runtime(command::scrape(setting, scrape)),
        Command::Crawl(crawl) => on_runtime(command::crawl(setting, crawl)),
        Command::Batch(batch) => on_runtime(command::batch(setting, batch)),
        Command::Parse(parse) => on_runtime(command::parse(setting, parse)),
        Command::Index(index) => on_runtime(command::index(setting, index)),
        Command::Demo(_) | Command::Doctor(_) | Command::ParseDocument(_) => {
            unreachable!("they need no setting and ran above")
        }
    }
}

fn on_runtime(work: impl Future<Output = Result<()>>) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
