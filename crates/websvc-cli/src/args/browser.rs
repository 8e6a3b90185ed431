//! The arguments of `websvc browser`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use websvc_types::interact::{BrowserSessionStatus, InteractLanguage};
use websvc_types::limits::{
    INTERACT_ACTIVITY_TTL_MAX_S, INTERACT_ACTIVITY_TTL_MIN_S, INTERACT_TTL_MAX_S, INTERACT_TTL_MIN_S,
};

use super::common::{ServerArgs, server_help, wire_name};
use crate::command::page_commands_help;
use crate::render_args::LocationArgs;

/// The variable with the session that commands use.
pub(crate) const SESSION_VARIABLE: &str = "WEBSVC_BROWSER_SESSION";

#[derive(Debug, Args)]
#[command(after_help = page_commands_help(), subcommand_value_name = "COMMAND")]
#[command(mut_args(server_help("Server that runs the sessions")))]
pub(crate) struct Browser {
    #[command(subcommand)]
    pub(crate) command: BrowserCommand,
    #[command(flatten)]
    pub(crate) at: ServerArgs,
    /// Session to use [default: the last one that `start` has started] [env: WEBSVC_BROWSER_SESSION]
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print the response as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BrowserCommand {
    /// Start a session, print its URLs and use it for the next commands
    Start(StartBrowser),
    /// List the sessions of the team, the newest first; * marks the one that commands use
    List {
        /// List only sessions with this status
        #[arg(long, value_name = "STATUS", value_parser = wire_name::<BrowserSessionStatus>(&["active", "destroyed"]))]
        status: Option<BrowserSessionStatus>,
    },
    /// Run code in the session, from an argument, a file or stdin; exits with its exit code
    Run(RunCode),
    /// Print the URL of the page that shows the session live
    Live {
        /// Print the URL of the page with mouse and keyboard, which also controls the session
        #[arg(long)]
        interactive: bool,
    },
    /// End the session and save its profile
    #[command(alias = "close")]
    End,
    /// A command for the page, which the server reads.
    #[command(external_subcommand)]
    Page(Vec<String>),
}

#[derive(Debug, Args)]
pub(crate) struct StartBrowser {
    /// Seconds until the session ends, 30 to 3600 [default: 600]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(i64::from(INTERACT_TTL_MIN_S)..=i64::from(INTERACT_TTL_MAX_S))
    )]
    pub(crate) ttl: Option<u32>,
    /// Seconds without use after which the session ends, 10 to 3600 [default: 300]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u32)
            .range(i64::from(INTERACT_ACTIVITY_TTL_MIN_S)..=i64::from(INTERACT_ACTIVITY_TTL_MAX_S))
    )]
    pub(crate) activity_ttl: Option<u32>,
    /// Start with the cookies and the storage of this profile, and save them at the end
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Do not save the profile; several sessions can then use it at a time
    #[arg(long, requires = "profile")]
    pub(crate) no_save_changes: bool,
    #[command(flatten)]
    pub(crate) location: LocationArgs,
    /// Load advertising and trackers
    #[arg(long)]
    pub(crate) no_block_ads: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunCode {
    /// Code to run [default: the code on stdin]
    #[arg(conflicts_with = "file")]
    pub(crate) code: Option<String>,
    /// File with the code; - for stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Language of the code: JavaScript with Playwright's page, lines of commands for the page, or Python
    #[arg(long, value_name = "LANGUAGE", default_value = "node",
          value_parser = wire_name::<InteractLanguage>(&["node", "bash", "python"]))]
    pub(crate) language: InteractLanguage,
    /// Seconds after which the code is stopped, 1 to 300 [default: 30]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
}

/// Options with a value that may follow a command for the page.
const VALUE_OPTIONS: [&str; 5] = ["--session", "--server", "--api-key", "--data-dir", "--config"];

/// Moves the options of `websvc browser` before its subcommand, so that they may also follow a command for the page: the
/// parser passes on all words after such a command. Words after `--` stay where they are.
pub(crate) fn options_first(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.peekable();
    let mut first: Vec<OsString> = arguments.next().into_iter().collect();
    // Before the command, there are only options of the program.
    while let Some(option) = arguments.next_if(|word| word.to_string_lossy().starts_with('-')) {
        let has_value = VALUE_OPTIONS.iter().any(|name| option == *name);
        first.push(option);
        first.extend(arguments.next_if(|_| has_value));
    }
    if arguments.peek().is_none_or(|command| command != "browser") {
        first.extend(arguments);
        return first;
    }
    first.extend(arguments.next());
    let mut rest = Vec::new();
    while let Some(word) = arguments.next() {
        let is_value_option = VALUE_OPTIONS.iter().any(|name| word == *name);
        if word == "--" {
            rest.push(word);
            rest.extend(arguments.by_ref());
        } else if is_value_option {
            first.push(word);
            first.extend(arguments.next());
        } else if word == "--json" || is_option_with_value(&word) {
            first.push(word);
        } else {
            rest.push(word);
        }
    }
    first.extend(rest);
    first
}

/// Returns whether a word is an option with its value, such as `--session=ID`.
fn is_option_with_value(word: &OsString) -> bool {
    let word = word.to_string_lossy();
    word.split_once('=').is_some_and(|(name, _)| VALUE_OPTIONS.contains(&name))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn parse(line: &[&str]) -> Result<(Browser, Option<PathBuf>), clap::Error> {
        let words = std::iter::once("websvc").chain(line.iter().copied()).map(OsString::from);
        let Cli { command, common } = Cli::try_parse_from(options_first(words))?;
        match command {
            Command::Browser(browser) => Ok((browser, common.data_dir)),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check_words(line: &[&str], expected: &[&str]) -> Browser {
        let (browser, _) = parse(line).unwrap();
        match &browser.command {
            BrowserCommand::Page(words) => assert_eq!(words, expected),
            other => panic!("{other:?}"),
        }
        browser
    }

    #[test]
    fn words_of_a_page_command_are_passed_on() {
        check_words(&["browser", "snapshot", "-i", "-d", "3"], &["snapshot", "-i", "-d", "3"]);
        check_words(&["browser", "wait", "--load", "load"], &["wait", "--load", "load"]);
        check_words(&["browser", "fill", "@e2", "-- json"], &["fill", "@e2", "-- json"]);
        check_words(&["browser", "fill", "@e2", "--", "--json"], &["fill", "@e2", "--", "--json"]);
    }

    #[test]
    fn options_may_follow_a_page_command() {
        let words = ["open", "a.test"];
        for line in [
            [
                "browser",
                "open",
                "a.test",
                "--session",
                "7",
                "--json",
                "--server",
                "http://b.test",
                "--api-key=k",
            ],
            [
                "browser",
                "--session",
                "7",
                "--server=http://b.test/",
                "open",
                "--api-key",
                "k",
                "a.test",
                "--json",
            ],
        ] {
            let browser = check_words(&line, &words);
            assert_eq!((browser.session.as_deref(), browser.json), (Some("7"), true));
            assert_eq!(browser.at.server.as_str(), "http://b.test/");
            assert_eq!(browser.at.remote().key().as_deref(), Some("k"));
        }
        let (_, data_dir) = parse(&["browser", "open", "a.test", "--data-dir", "d"]).unwrap();
        assert_eq!(data_dir, Some("d".into()));
        let (_, data_dir) = parse(&["--data-dir", "d", "browser", "open", "a.test"]).unwrap();
        assert_eq!(data_dir, Some("d".into()));
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        for line in [
            &["websvc", "search", "browser", "--json", "tea"][..],
            &["websvc", "--config", "browser", "serve"],
            &["websvc", "--data-dir"],
            &["websvc"],
        ] {
            let words: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(options_first(words.clone().into_iter()), words);
        }
    }

    #[test]
    fn code_comes_from_one_place_and_times_have_limits() {
        assert!(parse(&["browser", "run", "1", "--file", "a.js"]).is_err());
        assert!(parse(&["browser", "run", "1", "--language", "ruby"]).is_err());
        assert!(parse(&["browser", "start", "--ttl", "29"]).is_err());
        assert!(parse(&["browser", "start", "--activity-ttl", "3601"]).is_err());
        assert!(parse(&["browser", "start", "--no-save-changes"]).is_err());
        assert!(
            parse(&["browser", "start", "--profile", "a", "--no-save-changes", "--country", "DE"]).is_ok()
        );
        assert!(matches!(parse(&["browser", "close"]).unwrap().0.command, BrowserCommand::End));
        assert!(parse(&["browser"]).is_err());
    }
}
