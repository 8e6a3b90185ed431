//! How each command uses the data directory: makes it, needs one that is there, or leaves it to a server.

use std::path::Path;

use anyhow::Result;

use crate::args::{
    self, BlocklistCommand, CacheCommand, Command, IndexCommand, KeysCommand, ProfilesCommand, Remote,
    TeamsCommand, ThreatCommand, Webhooks,
};
use crate::config::{Config, Provider};
use crate::data_dir::DataDir;

/// How a command uses the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataUse {
    /// Makes it when it does not exist.
    Makes,
    /// Reads or changes what is in it: where there is none, a wrong directory was named.
    Needs,
    /// A server does the work, or nothing needs one.
    Unused,
}

impl DataUse {
    /// Returns how a command uses the data directory.
    pub(crate) fn of(command: &Command, config: &Config) -> Self {
        match command {
            _ if server_of(command).is_some_and(|remote| remote.server.is_some()) => Self::Unused,
            Command::Demo(_) | Command::Doctor(_) | Command::ParseDocument(_) => Self::Unused,
            Command::Serve(_) | Command::Scrape(_) | Command::Map(_) | Command::Parse(_) | Command::Mcp => {
                Self::Makes
            }
            // Other sources are searched without an index.
            Command::Search(_) if !config.search.providers.contains(&Provider::Index) => Self::Makes,
            Command::Search(_) | Command::Backup(_) | Command::Usage(_) => Self::Needs,
            Command::Crawl(args::CrawlSite { job, .. }) | Command::Batch(args::Batch { job, .. }) => {
                if job.resume.is_some() { Self::Needs } else { Self::Makes }
            }
            Command::Index(IndexCommand::Crawl(_) | IndexCommand::Import(_)) => Self::Makes,
            Command::Index(
                IndexCommand::Export(_)
                | IndexCommand::Stats(_)
                | IndexCommand::Delete(_)
                | IndexCommand::Optimize(_),
            ) => Self::Needs,
            Command::Teams(TeamsCommand::Set(_) | TeamsCommand::WebhookSecret { .. }) => Self::Makes,
            Command::Teams(
                TeamsCommand::List { .. } | TeamsCommand::Show { .. } | TeamsCommand::Delete { .. },
            ) => Self::Needs,
            Command::Keys(KeysCommand::Create(_)) => Self::Makes,
            Command::Keys(KeysCommand::List { .. } | KeysCommand::Revoke { .. }) => Self::Needs,
            Command::Cache(CacheCommand::Stats { .. } | CacheCommand::Purge(_)) => Self::Needs,
            Command::Profiles(ProfilesCommand::List { .. } | ProfilesCommand::Delete { .. }) => Self::Needs,
            Command::Webhooks(Webhooks::DeadLetters { .. } | Webhooks::Retry { .. }) => Self::Needs,
            Command::Threat(ThreatCommand::Set { .. }) => Self::Makes,
            Command::Threat(ThreatCommand::Show { .. } | ThreatCommand::Check { .. }) => Self::Needs,
            Command::Lists(BlocklistCommand::Update) => Self::Makes,
            Command::Lists(BlocklistCommand::Show { .. }) => Self::Needs,
        }
    }

    /// Opens the directory given, else the platform's own.
    ///
    /// # Errors
    /// It is needed and not there, or cannot be made.
    pub(crate) fn open(self, given: Option<&Path>) -> Result<DataDir> {
        match self {
            Self::Makes => DataDir::open(given),
            Self::Needs => DataDir::open_existing(given),
            Self::Unused => Ok(DataDir::unused(given)),
        }
    }
}

/// Returns where a command can be told to go through a server.
pub(crate) fn server_of(command: &Command) -> Option<&Remote> {
    match command {
        Command::Search(search) => Some(&search.remote),
        Command::Map(map) => Some(&map.remote),
        Command::Crawl(crawl) => Some(&crawl.job.remote),
        Command::Batch(batch) => Some(&batch.job.remote),
        Command::Index(IndexCommand::Crawl(crawl)) => Some(&crawl.remote),
        Command::Index(IndexCommand::Import(import)) => Some(&import.remote),
        Command::Index(IndexCommand::Stats(stats)) => Some(&stats.remote),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[track_caller]
    fn check(line: &str, expected: DataUse) {
        let cli = Cli::try_parse_from(std::iter::once("websvc").chain(line.split(' '))).unwrap();
        assert_eq!(DataUse::of(&cli.command, &Config::default()), expected, "{line}");
    }

    #[test]
    fn command_that_only_reads_needs_what_is_there() {
        for line in [
            "search tea",
            "backup a.tar",
            "usage",
            "keys list",
            "keys revoke x",
            "teams list",
            "teams show default",
            "cache stats",
            "profiles list",
            "webhooks dead-letters",
            "threat show default",
            "threat check http://a.test/",
            "lists show",
            "index stats",
            "index export -",
            "index delete --site a.test",
            "crawl --resume 1",
        ] {
            check(line, DataUse::Needs);
        }
    }

    #[test]
    fn command_that_fills_it_makes_it_and_a_server_has_its_own() {
        for line in
            ["serve", "scrape a.test", "map a.test", "crawl a.test", "index crawl a.test", "keys create"]
        {
            check(line, DataUse::Makes);
        }
        for line in
            ["search tea", "map a.test", "crawl a.test", "batch a.test", "index crawl a.test", "index stats"]
        {
            check(&format!("{line} --server http://a.test"), DataUse::Unused);
        }
    }
}
