//! The command line.

mod access;
mod agent;
mod browser;
mod common;
mod eval;
mod examples;
mod feedback;
mod import;
mod init;
mod jobs;
mod map;
mod monitor;
mod parse;
mod sources;
mod store;
mod webhooks;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use url::Url;

use crate::render_args::{CaptureArgs, FormatArgs, LocationArgs, RenderArgs, ResultCaptureArgs};
pub(crate) use access::{
    Backup, CreateKey, InviteKey, KeyOptions, KeysCommand, Limit, SetTeam, TeamsCommand,
};
pub(crate) use agent::{Agent, AgentCommand, StartAgent};
pub(crate) use browser::{Browser, BrowserCommand, RunCode, SESSION_VARIABLE, StartBrowser, options_first};
pub(crate) use common::{
    Common, KEY_VARIABLE, Remote, check_listen, format_name, listen_address, quoted, variable,
};
pub(crate) use eval::{EvalCommand, EvalSearch};
pub(crate) use examples::add_to as with_examples;
pub(crate) use feedback::FeedbackCommand;
pub(crate) use import::{Import, ImportFilters};
pub(crate) use init::Init;
pub(crate) use jobs::{Batch, CrawlSite, OutputArgs, Patterns};
pub(crate) use map::Map;
pub(crate) use monitor::{
    CreateMonitor, EditMonitor, Monitor, MonitorCommand, MonitorSettings, ScheduleArgs,
};
pub(crate) use parse::Parse;
pub(crate) use sources::{PresetArgs, SourcesCommand};
pub(crate) use store::{MigrateStore, StoreCommand};
pub(crate) use webhooks::WebhooksCommand;

/// The version, with the commit and the day of a package that `cargo xtask dist` has made.
const VERSION: &str = match option_env!("WEBSVC_BUILD") {
    Some(build) => build,
    None => env!("CARGO_PKG_VERSION"),
};

/// Self-hosted web data service: search the web and get the content of the results, in one binary.
#[derive(Debug, Parser)]
#[command(name = "websvc", version = VERSION, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the service
    Serve(Serve),
    /// Ask five questions, and write a commented configuration
    Init(Init),
    /// Show what websvc does: crawl its own manual, serve it and search it, and monitor a page that changes
    Demo(Demo),
    /// Search the data on this machine, or through a server
    Search(Search),
    /// Print the content of one page
    Scrape(Scrape),
    /// List the URLs of a site, on this machine or through a server
    Map(Map),
    /// Scrape the pages of a site; resumes after an interruption
    Crawl(CrawlSite),
    /// Scrape a list of URLs; resumes after an interruption
    Batch(Batch),
    /// Convert local files to Markdown and other formats; works while the server runs
    Parse(Parse),
    /// List, show and test the sources of search results, with the ready-made ones
    #[command(subcommand)]
    Sources(SourcesCommand),
    /// Fill and inspect the embedded index
    #[command(subcommand)]
    Index(IndexCommand),
    /// Create, change and show teams; works while the server runs
    #[command(subcommand)]
    Teams(TeamsCommand),
    /// Create, list and revoke API keys; works while the server runs
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Write the keys, teams, page cache and index into one file; works while the server runs
    Backup(Backup),
    /// Move the database to a PostgreSQL server
    #[command(subcommand)]
    Store(StoreCommand),
    /// Serve search and scraping as MCP tools on stdin and stdout; works while the server runs
    Mcp,
    /// Show the usage and the remaining credits of teams; works while the server runs
    Usage(Usage),
    /// Show and purge the page cache; works while the server runs
    #[command(subcommand)]
    Cache(CacheCommand),
    /// List and delete browser profiles; works while the server runs
    #[command(subcommand)]
    Profiles(ProfilesCommand),
    /// List undelivered job events and retry them; works while the server runs
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// List the ratings of clients, and export them as relevance judgments; works while the server runs
    #[command(subcommand)]
    Feedback(FeedbackCommand),
    /// Measure the ranking of searches by relevance judgments
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Create, show, run and delete monitors of a running server, which watch pages for changes
    Monitor(Monitor),
    /// Let a language model of a running server collect data from the web; show and cancel such runs
    Agent(Box<Agent>),
    /// Control browser sessions of a running server: open pages, click, fill in forms, run code
    Browser(Browser),
    /// Set the threat protection of teams and check a URL; works while the server runs
    #[command(subcommand)]
    Threat(ThreatCommand),
    /// Fetch and show additional ad blocklists
    #[command(subcommand)]
    Blocklists(BlocklistCommand),
    /// Check configuration, data directory and external services, and suggest fixes
    Doctor(Doctor),
    /// Check whether a server is ready for requests, for health checks; prints the state, and fails if it is not
    Ready {
        /// Server to check
        #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:3002")]
        server: Url,
    },
    /// Print the completions of a shell
    Completions {
        /// Shell to print them for
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands
    Man {
        /// Write a page for each command into this directory
        #[arg(long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Parse one document from stdin; started by the service
    #[command(name = PARSE_DOCUMENT, hide = true)]
    ParseDocument(ParseDocument),
    /// Run one program in a sandbox, of a browser session or of the operator; started by the service
    #[command(name = RUN_INTERPRETER, hide = true)]
    RunInterpreter {
        /// The settings, as JSON
        settings: String,
    },
}

/// The name of the command that runs one program of a browser session from stdin. It has no arguments, and is not one of
/// [`Command`], because it runs without the parser.
pub(crate) const RUN_PROGRAM: &str = "run-program";

/// The name of the command that runs one program of a browser session with an interpreter.
pub(crate) const RUN_INTERPRETER: &str = "run-interpreter";

/// The name of the command that parses one document.
pub(crate) const PARSE_DOCUMENT: &str = "parse-document";

#[derive(Debug, Args)]
pub(crate) struct ParseDocument {
    /// Exec PROGRAM under the worker limits
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) tool: Option<String>,
    /// Arguments of PROGRAM
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:3002]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub(crate) listen: Option<String>,
    /// Allow `[auth] required = false` on an address other than loopback
    #[arg(long)]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) presets: PresetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// Show only this team
    #[arg(long, value_name = "NAME")]
    pub(crate) team: Option<String>,
    /// Number of days to show (UTC), including today
    #[arg(long, value_name = "NUMBER", default_value_t = 30)]
    pub(crate) days: u32,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Address that the service will listen on [default: as configured]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub(crate) listen: Option<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Exit after the tour instead of serving until Ctrl-C
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Query; supports operators such as site: and "phrases"
    #[arg(required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// Number of results, 1 to 100
    #[arg(long, default_value_t = websvc_types::limits::LIMIT_DEFAULT)]
    pub(crate) limit: u32,
    /// Scrape the results in this format; repeat for several
    #[arg(long = "format", value_name = "FORMAT", value_parser = format_name(), hide_possible_values = true)]
    pub(crate) formats: Vec<String>,
    /// Print the response as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) presets: PresetArgs,
    #[command(flatten)]
    pub(crate) remote: Remote,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    #[command(flatten)]
    pub(crate) captures: ResultCaptureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Scrape {
    /// URL of the page
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) format_args: FormatArgs,
    /// Print the page as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Accept a page that responded with a status of 400 or above instead of failing
    #[arg(long)]
    pub(crate) allow_errors: bool,
    #[command(flatten)]
    pub(crate) captures: CaptureArgs,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    #[command(flatten)]
    pub(crate) location: LocationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Crawl sites into the index; honors robots.txt, reads sitemaps, and paces requests per host
    Crawl(Crawl),
    /// Import files into the index: .jsonl, web archives (.warc, .wet), also compressed, and directories of pages
    Import(Import),
    /// Export all documents of the index into a file for `index import`; works while a server runs
    Export(Export),
    /// Show the size and contents of the index
    Stats(Stats),
    /// Delete sites or single pages from the index
    Delete(Delete),
    /// Merge the index into one segment, for the smallest size and the fastest searches
    Optimize(Optimize),
}

#[derive(Debug, Args)]
pub(crate) struct Crawl {
    /// Start URLs; the crawl stays on their hosts
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Maximum number of pages
    #[arg(long, default_value_t = 10_000)]
    pub(crate) limit: usize,
    /// Maximum number of links between a start URL and a page
    #[arg(long)]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) patterns: Patterns,
    /// Maximum number of concurrent requests to one host; a server uses its own limit
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16), conflicts_with = "server")]
    pub(crate) per_host: u8,
    /// Maximum number of images of unknown size whose first bytes are fetched; a server fetches none
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000, conflicts_with = "server")]
    pub(crate) image_sizes: usize,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Output file (.jsonl.zst or .jsonl), or - for JSON lines on stdout; an existing file is replaced on success
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Export only the pages of this host and its subdomains
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// Print the summary as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// Delete the pages of this host and its subdomains; repeat for several
    #[arg(long = "site", value_name = "HOST", required_unless_present = "urls")]
    pub(crate) sites: Vec<String>,
    /// Delete this page; repeat for several
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Print the count as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Optimize {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Show the size of the cache and its limits
    Stats {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove pages from the cache; a running server notices within a second
    Purge(Purge),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// List the profiles of all teams, or of one
    List {
        /// List only the profiles of this team
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Print the profiles as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a profile, even while it is in use
    Delete {
        /// Name of the profile, as shown by `profiles list`
        name: String,
        /// Team that owns the profile
        #[arg(long, value_name = "NAME", default_value = "default")]
        team: String,
        /// Print the deleted profile as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThreatCommand {
    /// Show the settings of a team as JSON; a missing setting has its default
    Show {
        /// Name of the team
        team: String,
        /// Print JSON (always on)
        #[arg(long)]
        json: bool,
    },
    /// Change the given settings of a team and show all of them as JSON
    Set {
        /// Name of the team; created if it does not exist
        team: String,
        #[command(flatten)]
        values: ThreatValues,
        /// Print JSON (always on)
        #[arg(long)]
        json: bool,
    },
    /// Check a URL against the settings of a team and the configured scanner
    Check {
        /// URL to check
        url: Url,
        /// Team whose settings apply
        #[arg(long, value_name = "NAME", default_value = "default")]
        team: String,
        /// Print the verdict as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ThreatValues {
    /// Minimum score, 0 to 100, at which a URL is blocked
    #[arg(long, value_name = "SCORE")]
    pub(crate) risk_score_threshold: Option<u8>,
    /// Blocked domains, such as example.com,*.example.net; "" for none
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub(crate) blacklist: Option<Vec<String>>,
    /// Domains that are always allowed; "" for none
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub(crate) whitelist: Option<Vec<String>>,
    /// Blocked top-level domains, such as zip,mov; "" for none
    #[arg(long, value_name = "TLD,...", value_delimiter = ',')]
    pub(crate) blocked_tlds: Option<Vec<String>>,
    /// Policy for URLs that cannot be scanned
    #[arg(long, value_name = "POLICY", value_parser = ["open", "closed"])]
    pub(crate) failure_policy: Option<String>,
    /// Restore the defaults before applying the given settings
    #[arg(long)]
    pub(crate) reset: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BlocklistCommand {
    /// Fetch the lists of browser.blocklists into the data directory, replacing older copies
    Update,
    /// Show the lists and their age
    Show {
        /// Print the lists as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true, id = "selection", args = ["urls", "hosts", "older_than_days", "all"])]
pub(crate) struct Purge {
    /// Remove all variants of this page; repeat for several
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<Url>,
    /// Remove the pages of this host; repeat for several
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Remove the pages fetched more than DAYS ago
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than_days: Option<u64>,
    /// Remove all pages
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the count as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
