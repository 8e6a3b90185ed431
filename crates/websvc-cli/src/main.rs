//! The websvc program: reads the command line and runs one command.

mod args;
mod command;
mod config;
mod data_dir;
mod drawing;
mod installation;
mod logging;
mod manual;
mod page_files;
mod progress;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use websvc_otlp::{Exporter, SpanLayer};
use websvc_stage::TraceCounters;

use crate::args::{Cli, Command, Common};
use crate::config::{Config, Log};
use crate::data_dir::DataDir;
use crate::installation::TraceSettings;

fn main() -> ExitCode {
    let Cli { command, common } = Cli::parse();
    // Before anything is read or opened: what a hostile document is read in should hold nothing.
    if let Command::ParseDocument(arguments) = &command {
        return command::parse_document(arguments);
    }
    match run(command, &common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            show::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// What a command works with.
struct Setting {
    config: Config,
    data_dir: DataDir,
}

/// What sends the spans of the service, where they are to be sent.
#[derive(Debug)]
struct Tracing {
    settings: TraceSettings,
    exporter: Exporter,
}

impl Tracing {
    fn start(config: &Config) -> Result<Option<(Self, SpanLayer)>> {
        let Some(settings) = TraceSettings::read(&config.traces, |name| std::env::var(name).ok())? else {
            return Ok(None);
        };
        let (spans, exporter) =
            websvc_otlp::traces(settings.sampler, settings.batching, TraceCounters::default());
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
        Command::Serve(_) => Tracing::start(&config)?.unzip(),
        _ => (None, None),
    };
    logging::start(&command, &config.log, spans)?;
    for warning in tracing.iter().flat_map(|tracing| &tracing.settings.warnings) {
        tracing::warn!("{warning}");
    }
    for key in &config.not_yet {
        tracing::warn!("configuration key `{key}` has no effect: this version does not have its feature");
    }
    if let Command::Demo(demo) = command {
        return on_runtime(command::demo(config, &demo));
    }
    let data_dir = DataDir::open(common.data_dir.as_deref())?;
    let setting = Setting { config, data_dir };
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
