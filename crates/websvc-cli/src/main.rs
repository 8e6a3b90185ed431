//! The websvc program: reads the command line and runs one command.

mod allocator;
mod app;
mod args;
mod command;
mod config;
mod data_dir;
mod data_use;
mod human_bytes;
mod logging;
mod manual;
mod otlp;
mod output;
mod page_output;
mod progress;
mod render_args;
mod status_line;

use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use clap::{CommandFactory, FromArgMatches};
use websvc_types::ErrorCode;

use crate::app::{App, IndexMode, TraceSettings};
use crate::args::{Cli, Command, Common, Remote, Search, Serve};
use crate::command::FailedCode;
use crate::config::{Config, Log, Origins};
use crate::data_dir::DataDir;
use crate::data_use::{DataUse, server_of};
use crate::otlp::{Exporter, SpanLayer};

fn main() -> ExitCode {
    allocator::configure();
    // In the sandbox of a shell, this program is also a command of it.
    if let Some(exit_code) = websvc_sandbox::agent_browser() {
        return exit_code;
    }
    // Before the parser, which prepares all commands and options: a worker starts for each program of a client. Nothing is
    // read or opened, because it must hold no secrets.
    if std::env::args_os().nth(1).is_some_and(|command| command == args::RUN_PROGRAM) {
        return websvc_sandbox::run_worker();
    }
    let matches =
        args::with_examples(Cli::command()).get_matches_from(args::options_first(std::env::args_os()));
    let Cli { command, common } = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let common = common.with_variables();
    // Run before anything is read or opened: the process that parses a hostile document must hold no secrets.
    if let Command::ParseDocument(arguments) = &command {
        return command::parse_document::run(arguments);
    }
    // The same holds for the process in the sandbox of an interpreter.
    if let Command::RunInterpreter { settings } = &command {
        return websvc_sandbox::run_guest(settings);
    }
    match run(command, &common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<FailedCode>() {
            Some(failed) => failed.exit_code(),
            None => output::failure(&error),
        },
    }
}

/// Context of a command.
struct CommandContext {
    config: Config,
    data_dir: DataDir,
    common: Common,
}

impl CommandContext {
    /// Opens the engine and its parts. Pages are indexed if no other process writes the index.
    fn open(&self) -> Result<App> {
        let access = self.data_dir.try_lock()?.map_or(IndexMode::Read, IndexMode::Write);
        app::open(&self.config, &self.data_dir, access)
    }

    /// Opens the engine and its parts for a command that writes the index.
    fn open_to_write(&self) -> Result<App> {
        app::open(&self.config, &self.data_dir, IndexMode::Write(self.data_dir.lock()?))
    }
}

/// The exporter of the service's trace spans and its settings.
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
        let (spans, exporter) = otlp::pipeline(settings.sampler, settings.batching, Arc::default());
        Ok(Some((Self { settings, exporter }, spans)))
    }
}

fn run(command: Command, common: &Common) -> Result<()> {
    // Doctor runs before the configuration is loaded, because an unreadable configuration is one of its findings.
    if matches!(command, Command::Doctor(_)) {
        // An invalid log context is a finding of doctor, too.
        let _reported_by_doctor = logging::start(&command, &Log::default(), None);
    }
    let command = match command {
        Command::Doctor(doctor) => return block_on(command::doctor::run(common, doctor)),
        Command::Completions { shell } => {
            return command::completions(args::with_examples(Cli::command()), shell);
        }
        Command::Init(init) => return command::init::run(&init),
        Command::Ready { server } => return block_on(command::ready::run(&server)),
        Command::Man { output } => {
            return command::man(args::with_examples(Cli::command()), output.as_deref());
        }
        command => command,
    };
    let mut config = config::load(&common.config, std::env::vars())?;
    if let Command::Serve(Serve { presets, .. }) | Command::Search(Search { presets, .. }) = &command {
        config.search.add_presets(&presets.names).context("--sources")?;
    }
    let (tracing, spans) = match command {
        Command::Serve(_) => TraceExport::start(&config)?.unzip(),
        _ => (None, None),
    };
    logging::start(&command, &config.log, spans)?;
    for warning in tracing.iter().flat_map(|tracing| &tracing.settings.warnings) {
        tracing::warn!("{warning}");
    }
    for warning in config.warnings() {
        match command {
            Command::Serve(_) => tracing::warn!("{warning}"),
            _ => output::warn(&warning),
        }
    }
    if let Command::Demo(demo) = command {
        return block_on(command::demo::run(config, &demo));
    }
    if let Command::Sources(sources) = command {
        return block_on(command::sources::run(config, sources));
    }
    if matches!(command, Command::Serve(_)) {
        // An invalid key ends the start before the data directory is created.
        command::static_keys()?;
    }
    let data_dir = DataUse::from_command(&command, &config).open(common.data_dir.as_deref())?;
    let key_hint = server_of(&command).map(|remote| key_hint(&remote));
    let origins = config.origins.clone();
    let context = CommandContext { config, data_dir, common: common.clone() };
    dispatch(command, context, tracing).map_err(|error| with_hint(error, key_hint, &origins))
}

/// Returns the hint for a command that a server rejected as unauthorized.
fn key_hint(remote: &Remote) -> &'static str {
    match remote.key() {
        Some(_) => "the server does not accept the key: set another one with --api-key or WEBSVC_API_KEY",
        None => "set a key of the server with --api-key or WEBSVC_API_KEY",
    }
}

/// Adds a hint to an error: what to do if the server is not there or requires a key (`key_hint`, for a command that can
/// use a server), or the origin of an invalid configuration value.
fn with_hint(error: anyhow::Error, key_hint: Option<&str>, origins: &Origins) -> anyhow::Error {
    let hint = |error: &websvc::ClientError| match error.code() {
        Some(ErrorCode::Unauthorized) => key_hint,
        _ if error.is_connect() && key_hint.is_some() => {
            Some("check that the server runs and that --server is its address")
        }
        _ => None,
    };
    if let Some(hint) = error.chain().filter_map(|cause| cause.downcast_ref()).find_map(hint) {
        return anyhow!("{}; {hint}", output::causes(error.as_ref()));
    }
    match origins.of_error(&error.to_string()) {
        Some(origin) => error.context(origin.to_string()),
        None => error,
    }
}

fn dispatch(command: Command, context: CommandContext, tracing: Option<TraceExport>) -> Result<()> {
    match command {
        Command::Teams(teams) => command::teams::run(&context, teams),
        Command::Backup(backup) => command::backup::run(&context, &backup),
        Command::Store(store) => command::store::run(&context, store),
        Command::Keys(keys) => command::keys::run(&context, keys),
        Command::Profiles(profiles) => command::profiles::run(&context, profiles),
        Command::Webhooks(webhooks) => command::webhooks::run(&context, webhooks),
        Command::Feedback(feedback) => command::feedback::run(&context, feedback),
        Command::Monitor(monitor) => block_on(command::monitor::run(monitor)),
        Command::Agent(agent) => block_on(command::agent::run(*agent)),
        Command::Browser(browser) => block_on(command::browser::run(context, browser)),
        Command::Threat(threat) => block_on(command::threat::run(context, threat)),
        Command::Blocklists(blocklists) => block_on(command::blocklists::run(context, blocklists)),
        Command::Usage(usage) => command::usage::run(&context, &usage),
        Command::Mcp => block_on(command::mcp::run(context)),
        Command::Cache(cache) => command::cache::run(&context, cache),
        Command::Serve(serve) => block_on(command::serve::run(context, serve, tracing)),
        Command::Eval(eval) => block_on(command::eval::run(context, eval)),
        Command::Search(search) => block_on(command::search::run(context, search)),
        Command::Map(map) => block_on(command::map::run(context, map)),
        Command::Scrape(scrape) => block_on(command::scrape::run(context, scrape)),
        Command::Crawl(crawl) => block_on(command::crawl::run(context, crawl)),
        Command::Batch(batch) => block_on(command::batch::run(context, batch)),
        Command::Parse(parse) => block_on(command::parse::run(context, parse)),
        Command::Index(index) => block_on(command::index::run(context, index)),
        Command::Demo(_)
        | Command::Doctor(_)
        | Command::Sources(_)
        | Command::Completions { .. }
        | Command::Init(_)
        | Command::Ready { .. }
        | Command::Man { .. }
        | Command::ParseDocument(_)
        | Command::RunInterpreter { .. } => {
            unreachable!("these commands need no context and ran above")
        }
    }
}

/// Runs a command. It is boxed, so that the runtime is compiled once, not for each command.
fn block_on<'a>(command: impl Future<Output = Result<()>> + 'a) -> Result<()> {
    block_on_boxed(Box::pin(command))
}

fn block_on_boxed(command: Pin<Box<dyn Future<Output = Result<()>> + '_>>) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(command)
}
