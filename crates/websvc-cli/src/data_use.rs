//! The use of the data directory by each command.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Result;

use crate::args::{
    self, BlocklistCommand, Command, EvalCommand, IndexCommand, KeysCommand, Remote, StoreCommand,
    TeamsCommand, ThreatCommand,
};
use crate::config::{Config, Provider};
use crate::data_dir::DataDir;

/// The use of the data directory by a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataUse {
    /// Create it if it does not exist.
    Create,
    /// Open an existing one. If there is none, the operator has given the wrong directory.
    Existing,
    /// Do not use it: a server runs the command, or it needs no data.
    Unused,
}

impl DataUse {
    /// Returns the use of the data directory by a command.
    pub(crate) fn from_command(command: &Command, config: &Config) -> Self {
        match Self::on_this_machine(command, config) {
            // The data are on a server, and another machine may have created them.
            Self::Existing if config.store.url.is_some() && uses_only_database(command) => Self::Create,
            data_use => data_use,
        }
    }

    fn on_this_machine(command: &Command, config: &Config) -> Self {
        match command {
            _ if server_of(command).is_some_and(|remote| remote.server.is_some()) => Self::Unused,
            Command::Demo(_)
            | Command::Doctor(_)
            | Command::Sources(_)
            | Command::Init(_)
            | Command::Ready { .. }
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::ParseDocument(_)
            | Command::RunInterpreter { .. } => Self::Unused,
            // It names its data directory itself.
            Command::Store(StoreCommand::Migrate(_)) => Self::Unused,
            Command::Monitor(_) | Command::Agent(_) | Command::Browser(_) => Self::Unused,
            Command::Crawl(args::CrawlSite { job, .. }) | Command::Batch(args::Batch { job, .. }) => {
                if job.resume.is_some() { Self::Existing } else { Self::Create }
            }
            // A search of other sources needs no index.
            Command::Search(_) if config.search.providers.iter().any(|source| *source != Provider::Index) => {
                Self::Create
            }
            Command::Serve(_)
            | Command::Scrape(_)
            | Command::Map(_)
            | Command::Parse(_)
            | Command::Mcp
            | Command::Index(IndexCommand::Crawl(_) | IndexCommand::Import(_))
            | Command::Teams(TeamsCommand::Set(_) | TeamsCommand::WebhookSecret { .. })
            | Command::Keys(KeysCommand::Create(_))
            | Command::Threat(ThreatCommand::Set { .. })
            | Command::Blocklists(BlocklistCommand::Update) => Self::Create,
            Command::Search(_)
            | Command::Eval(_)
            | Command::Backup(_)
            | Command::Usage(_)
            | Command::Index(_)
            | Command::Teams(_)
            | Command::Keys(_)
            | Command::Cache(_)
            | Command::Profiles(_)
            | Command::Webhooks(_)
            | Command::Feedback(_)
            | Command::Threat(_)
            | Command::Blocklists(_) => Self::Existing,
        }
    }

    /// Opens the given directory, or the platform's default.
    ///
    /// # Errors
    /// The directory must exist and does not, or it cannot be created.
    pub(crate) fn open(self, given: Option<&Path>) -> Result<DataDir> {
        match self {
            Self::Create => DataDir::open(given),
            Self::Existing => DataDir::open_existing(given),
            Self::Unused => Ok(DataDir::unused(given)),
        }
    }
}

/// Returns whether a command uses nothing of the data but the database.
fn uses_only_database(command: &Command) -> bool {
    matches!(
        command,
        Command::Usage(_)
            | Command::Teams(_)
            | Command::Keys(_)
            | Command::Cache(_)
            | Command::Profiles(_)
            | Command::Webhooks(_)
            | Command::Feedback(_)
            | Command::Threat(_)
    )
}

/// Returns the server arguments of a command that can use a server.
pub(crate) fn server_of(command: &Command) -> Option<Cow<'_, Remote>> {
    let remote = match command {
        Command::Monitor(monitor) => return Some(Cow::Owned(monitor.at.remote())),
        Command::Agent(agent) => return Some(Cow::Owned(agent.at.remote())),
        Command::Browser(browser) => return Some(Cow::Owned(browser.at.remote())),
        Command::Search(search) => Some(&search.remote),
        Command::Eval(EvalCommand::Search(search)) => Some(&search.remote),
        Command::Map(map) => Some(&map.remote),
        Command::Crawl(crawl) => Some(&crawl.job.remote),
        Command::Batch(batch) => Some(&batch.job.remote),
        Command::Index(IndexCommand::Crawl(crawl)) => Some(&crawl.remote),
        Command::Index(IndexCommand::Import(import)) => Some(&import.remote),
        Command::Index(IndexCommand::Stats(stats)) => Some(&stats.remote),
        _ => None,
    };
    remote.map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[track_caller]
    fn check(line: &str, expected: DataUse) {
        let cli = Cli::try_parse_from(std::iter::once("websvc").chain(line.split(' '))).unwrap();
        assert_eq!(DataUse::from_command(&cli.command, &Config::default()), expected, "{line}");
    }

    #[test]
    fn command_on_a_database_server_needs_no_existing_directory() {
        let mut config = Config::default();
        config.store.url = Some("postgres://me@db.test/websvc".to_owned());
        for (line, expected) in [
            ("keys list", DataUse::Create),
            ("usage", DataUse::Create),
            ("index stats", DataUse::Existing),
            ("search tea", DataUse::Existing),
        ] {
            let cli = Cli::try_parse_from(std::iter::once("websvc").chain(line.split(' '))).unwrap();
            assert_eq!(DataUse::from_command(&cli.command, &config), expected, "{line}");
        }
    }

    #[test]
    fn command_on_existing_data_does_not_create_the_directory() {
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
            "blocklists show",
            "index stats",
            "index export -",
            "index delete --site a.test",
            "crawl --resume 1",
        ] {
            check(line, DataUse::Existing);
        }
    }

    #[test]
    fn command_that_stores_data_creates_the_directory_unless_a_server_runs_it() {
        for line in
            ["serve", "scrape a.test", "map a.test", "crawl a.test", "index crawl a.test", "keys create"]
        {
            check(line, DataUse::Create);
        }
        for line in
            ["search tea", "map a.test", "crawl a.test", "batch a.test", "index crawl a.test", "index stats"]
        {
            check(&format!("{line} --server http://a.test"), DataUse::Unused);
        }
        check("monitor list", DataUse::Unused);
        check("browser start", DataUse::Unused);
        check("browser open a.test", DataUse::Unused);
        check("store migrate --from data", DataUse::Unused);
    }
}
