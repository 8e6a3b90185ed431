//! The command line.

mod access;
mod common;
mod jobs;
mod map;
mod parse;
mod webhooks;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use url::Url;

use crate::render_args::{CaptureArgs, FormatArgs, LocationArgs, RenderArgs, ResultCaptureArgs};
pub(crate) use access::{Backup, CreateKey, KeysCommand, Limit, OnOff, SetTeam, TeamsCommand};
pub(crate) use common::{Common, KEY_VARIABLE, Remote, check_listen, format_name, listen_address, variable};
pub(crate) use jobs::{Batch, CrawlSite, OutputArgs, Patterns};
pub(crate) use map::{Map, Sitemap};
pub(crate) use parse::Parse;
pub(crate) use webhooks::Webhooks;

/// Self-hosted web data service: search the web and get the content of the results, in one binary.
#[derive(Debug, Parser)]
#[command(name = "websvc", version, about, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs the service.
    Serve(Serve),
    /// Shows what websvc does: crawls its own manual, serves it, searches it.
    Demo(Demo),
    /// Searches, on this machine's data or through a server.
    Search(Search),
    /// Gets the content of one page.
    Scrape(Scrape),
    /// Lists the URLs of a site, on this machine's data or through a server.
    Map(Map),
    /// Gets the pages of a site, on this machine or through a server; goes on after an interruption.
    Crawl(CrawlSite),
    /// Gets the pages of a list, on this machine or through a server; goes on after an interruption.
    Batch(Batch),
    /// Reads files of this machine as pages; works while the server runs.
    Parse(Parse),
    /// Fills and shows the embedded index.
    #[command(subcommand)]
    Index(IndexCommand),
    /// Creates, changes and shows teams; works while the server runs.
    #[command(subcommand)]
    Teams(TeamsCommand),
    /// Creates, lists and revokes API keys; works while the server runs.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Writes the keys, teams, page cache and index into one file; works while the server runs.
    Backup(Backup),
    /// Offers search and pages to language models as tools (MCP) over the standard streams; works while the server runs.
    Mcp,
    /// Shows what teams have used and have left; works while the server runs.
    Usage(Usage),
    /// Shows and purges the page cache; works while the server runs.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// Lists and deletes browser profiles; works while the server runs.
    #[command(subcommand)]
    Profiles(ProfilesCommand),
    /// Lists the events of jobs that could not be delivered, and has them tried anew; works while the server runs.
    #[command(subcommand)]
    Webhooks(Webhooks),
    /// Sets what threat protection of teams goes by, and tells what becomes of a URL; works while the server runs.
    #[command(subcommand)]
    Threat(ThreatCommand),
    /// Fetches and shows the lists of advertising beside the bundled one.
    #[command(subcommand)]
    Lists(BlocklistCommand),
    /// Looks at everything that an operator may get wrong, and says how to mend it.
    Doctor(Doctor),
    /// Reads one document from the standard input: what the service starts for each.
    #[command(name = PARSE_DOCUMENT, hide = true)]
    ParseDocument(ParseDocument),
}

/// The name of the command that reads one document.
pub(crate) const PARSE_DOCUMENT: &str = "parse-document";

#[derive(Debug, Args)]
pub(crate) struct ParseDocument {
    /// Becomes this program within the limits instead.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) tool: Option<String>,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 picks a free one [default: 127.0.0.1:3002]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub(crate) listen: Option<String>,
    /// Allows `[auth] required = false` on addresses that others can reach.
    #[arg(long)]
    pub(crate) insecure: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// Shows only this team.
    #[arg(long, value_name = "NAME")]
    pub(crate) team: Option<String>,
    /// Shows the last so many days (UTC), today included.
    #[arg(long, value_name = "NUMBER", default_value_t = 30)]
    pub(crate) days: u32,
    /// Prints the figures as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Address that the service will listen on [default: as configured]
    #[arg(long, value_name = "HOST:PORT", value_parser = listen_address)]
    pub(crate) listen: Option<String>,
    /// Prints the findings as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Ends after the tour instead of serving until Ctrl-C.
    #[arg(long)]
    pub(crate) once: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The query; operators such as site: and "phrases" work.
    #[arg(required = true, num_args = 1..)]
    pub(crate) query: Vec<String>,
    /// How many results, 1 to 100.
    #[arg(long, default_value_t = websvc_types::limits::LIMIT_DEFAULT)]
    pub(crate) limit: u32,
    /// Gets the content of the results too; repeat for several formats.
    #[arg(long = "format", value_name = "FORMAT", value_parser = format_name(), hide_possible_values = true)]
    pub(crate) formats: Vec<String>,
    /// Prints the answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
    #[command(flatten)]
    pub(crate) drawing: RenderArgs,
    #[command(flatten)]
    pub(crate) pictures: ResultCaptureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Scrape {
    /// The page.
    pub(crate) url: String,
    #[command(flatten)]
    pub(crate) reading: FormatArgs,
    /// Prints the page as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) pictures: CaptureArgs,
    #[command(flatten)]
    pub(crate) drawing: RenderArgs,
    #[command(flatten)]
    pub(crate) place: LocationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Fetches sites into the index, politely: robots.txt, sitemaps, a pace per host.
    Crawl(Crawl),
    /// Reads files into the index: .jsonl and web archives (.warc), packed or not, directories of pages.
    Import(Import),
    /// Writes all documents of the index into a file that `index import` reads; works while a server runs.
    Export(Export),
    /// Shows what is in the index.
    Stats(Stats),
    /// Takes sites or single pages out of the index.
    Delete(Delete),
    /// Merges the index into one segment, which makes it smallest and searches fastest.
    Optimize(Optimize),
}

#[derive(Debug, Args)]
pub(crate) struct Crawl {
    /// Start URLs; the crawl stays on their hosts
    #[arg(required = true, value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// At most this many pages.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) limit: usize,
    /// At most this many links from the start.
    #[arg(long)]
    pub(crate) depth: Option<u32>,
    #[command(flatten)]
    pub(crate) patterns: Patterns,
    /// At most this many requests against one host at one time; a server has its own bounds.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16), conflicts_with = "server")]
    pub(crate) per_host: u8,
    /// Asks for the first bytes of at most this many images whose pages do not say how large they are; a server does not.
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000, conflicts_with = "server")]
    pub(crate) image_sizes: usize,
    /// Prints the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files and directories.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The URL that stands for each directory given [default: file://...].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<Url>,
    /// Prints the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// A file that ends with .jsonl.zst or .jsonl, or - for JSON lines on stdout. An older file is replaced at the end.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Writes only the pages of this host and its subdomains.
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
    /// Prints the summary as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Prints the figures as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// A host; its pages and those of its subdomains go. Repeat for several.
    #[arg(long = "site", value_name = "HOST", required_unless_present = "urls")]
    pub(crate) sites: Vec<String>,
    /// A page that goes; repeat for several.
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Prints the count as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Optimize {
    /// Prints the figures as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Shows what is in the cache, and its bounds.
    Stats {
        /// Prints the figures as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Removes pages from the cache; a running server knows within a second.
    Purge(Purge),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// Lists the profiles of all teams, or of one.
    List {
        /// Only those of this team.
        #[arg(long, value_name = "NAME")]
        team: Option<String>,
        /// Prints the profiles as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Deletes a profile; who is about to save it no longer can.
    Delete {
        /// The name that `profiles list` shows.
        name: String,
        /// The team whose it is.
        #[arg(long, value_name = "NAME", default_value = "default")]
        team: String,
        /// Prints what was deleted as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThreatCommand {
    /// Shows the values of a team as JSON; what is missing has its default.
    Show {
        /// The team.
        team: String,
        /// Prints JSON, as without it.
        #[arg(long)]
        json: bool,
    },
    /// Changes the values of a team, and shows them as JSON; what is not given stays as it is.
    Set {
        /// The team; it is made when it does not exist.
        team: String,
        #[command(flatten)]
        values: ThreatValues,
        /// Prints JSON, as without it.
        #[arg(long)]
        json: bool,
    },
    /// Tells whether a URL is allowed by the values of a team, and by the scanner of the configuration.
    Check {
        /// The URL.
        url: Url,
        /// The team by whose values.
        #[arg(long, value_name = "NAME", default_value = "default")]
        team: String,
        /// Prints the verdict as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ThreatValues {
    /// The score, 0 to 100, from which on a URL is blocked.
    #[arg(long, value_name = "SCORE")]
    pub(crate) risk_score_threshold: Option<u8>,
    /// Domains that are blocked, such as example.com,*.example.net; "" for none.
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub(crate) blacklist: Option<Vec<String>>,
    /// Domains that are allowed whatever else says; "" for none.
    #[arg(long, value_name = "DOMAIN,...", value_delimiter = ',')]
    pub(crate) whitelist: Option<Vec<String>>,
    /// Top-level domains that are blocked, such as zip,mov; "" for none.
    #[arg(long, value_name = "TLD,...", value_delimiter = ',')]
    pub(crate) blocked_tlds: Option<Vec<String>>,
    /// Policy for URLs that cannot be scanned
    #[arg(long, value_name = "POLICY", value_parser = ["open", "closed"])]
    pub(crate) failure_policy: Option<String>,
    /// Goes back to the defaults first.
    #[arg(long)]
    pub(crate) reset: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BlocklistCommand {
    /// Fetches the lists of browser.lists into the data directory, each replacing its older self.
    Update,
    /// Shows the lists, and how old they are.
    Show {
        /// Prints the lists as JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true, id = "what", args = ["urls", "hosts", "older_than_days", "all"])]
pub(crate) struct Purge {
    /// A page that goes, in all its variants; repeat for several.
    #[arg(long = "url", value_name = "URL")]
    pub(crate) urls: Vec<Url>,
    /// A host whose pages go; repeat for several.
    #[arg(long = "host", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Pages that were fetched longer ago go.
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than_days: Option<u64>,
    /// Everything goes.
    #[arg(long)]
    pub(crate) all: bool,
    /// Prints the count as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
