//! The examples in the help and in the manual pages of the commands.

use clap::Command;

/// A command that has examples, by its words after `websvc`, and their command lines with what each does.
type Examples = (&'static str, &'static [(&'static str, &'static str)]);

/// The exit codes of all commands that have no others.
const EXIT_CODES: &str = "Exit codes: 0 success, 1 failure, 2 wrong arguments";

const EXAMPLES: &[Examples] = &[
    (
        "serve",
        &[
            ("websvc serve", "Listen on 127.0.0.1:3002, for this machine only"),
            ("websvc serve --sources open", "Search public APIs such as Wikipedia, too"),
            ("websvc serve --listen 0.0.0.0:3002 --config /etc/websvc.toml", "Listen for other machines"),
        ],
    ),
    (
        "init",
        &[
            ("websvc init", "Ask, and write websvc.toml"),
            ("websvc init --yes --output /etc/websvc/websvc.toml", "Write the defaults into another file"),
        ],
    ),
    ("demo", &[("websvc demo --once", "Show the tour and exit")]),
    (
        "search",
        &[
            ("websvc search green tea", "Search the pages of this machine"),
            ("websvc search --sources open 'tea site:wikipedia.org'", "Search public APIs"),
            (
                "websvc search --format markdown --limit 3 --server http://127.0.0.1:3002 green tea",
                "Search through a server, with the content of the results",
            ),
        ],
    ),
    (
        "scrape",
        &[
            ("websvc scrape https://example.com", "Print the page as Markdown"),
            ("websvc scrape --format links --json https://example.com", "Print its links as JSON"),
            ("websvc scrape --full-page-screenshot=page.png https://example.com", "Take a screenshot"),
        ],
    ),
    (
        "map",
        &[
            ("websvc map https://example.com", "List the URLs of the site"),
            ("websvc map --search pricing --limit 20 https://example.com", "List those that fit best"),
        ],
    ),
    (
        "crawl",
        &[
            (
                "websvc crawl --limit 100 --output pages https://example.com/docs/",
                "Write a file for each page",
            ),
            ("websvc crawl --include ^/docs/ --jsonl - https://example.com", "Write lines of JSON to stdout"),
            ("websvc crawl --resume ID", "Continue after an interruption"),
        ],
    ),
    (
        "batch",
        &[
            ("websvc batch --output pages https://example.com/a https://example.com/b", "Scrape two pages"),
            ("websvc batch --urls urls.txt --jsonl pages.jsonl", "Scrape the URLs of a file"),
        ],
    ),
    (
        "parse",
        &[
            ("websvc parse report.pdf", "Print a file as Markdown"),
            ("websvc parse --output texts a.docx b.xlsx", "Write a file for each"),
        ],
    ),
    (
        "sources",
        &[
            ("websvc sources list", "List the sources and presets"),
            ("websvc sources test wikipedia", "Search with a preset"),
            ("websvc sources show brave", "Print a preset as a section of a configuration"),
        ],
    ),
    (
        "index",
        &[
            ("websvc index crawl --limit 1000 https://example.com", "Add the pages of a site"),
            ("websvc index import pages.jsonl archive.warc.gz", "Add files"),
            ("websvc index delete --site example.com", "Delete a site"),
            ("websvc index stats", "Show the size and the contents"),
        ],
    ),
    (
        "teams",
        &[
            ("websvc teams list", "List the teams"),
            ("websvc teams set research --credits 10000 --concurrency 4", "Create a team, or change it"),
        ],
    ),
    (
        "keys",
        &[
            ("websvc keys create --team research --name laptop", "Create a key"),
            ("websvc keys create --scope search --expires 30d", "Create a key for searches that expires"),
            ("websvc keys revoke ID", "Revoke a key"),
        ],
    ),
    ("backup", &[("websvc backup websvc.tar", "Write everything into a file")]),
    (
        "store",
        &[(
            "websvc store migrate --from /var/lib/websvc --to postgres://websvc@db.internal/websvc",
            "Move to a PostgreSQL server",
        )],
    ),
    ("mcp", &[("websvc mcp", "Serve the tools to the program that has started this command")]),
    ("usage", &[("websvc usage --team research --days 7", "Show the last week of a team")]),
    (
        "cache",
        &[
            ("websvc cache stats", "Show the size of the page cache"),
            ("websvc cache purge --host example.com", "Delete the pages of a host"),
        ],
    ),
    ("profiles", &[("websvc profiles list", "List the browser profiles")]),
    (
        "webhooks",
        &[
            ("websvc webhooks dead-letters", "List events that were not delivered"),
            ("websvc webhooks retry --all", "Deliver them again"),
        ],
    ),
    ("feedback", &[("websvc feedback list", "List the ratings of clients")]),
    (
        "monitor",
        &[
            (
                "websvc monitor create --name teas --every 'every day at 9:00' --url https://example.com",
                "Watch a page for changes",
            ),
            ("websvc monitor list", "List the monitors"),
            ("websvc monitor diff ID", "Print what has changed"),
        ],
    ),
    (
        "agent",
        &[
            ("websvc agent 'What do the teas cost?' --url https://shop.example", "Collect data"),
            (
                "websvc agent --schema teas.json --output teas-found.json 'The teas and their prices'",
                "Collect data in a form",
            ),
        ],
    ),
    (
        "browser",
        &[
            ("websvc browser start", "Start a session"),
            ("websvc browser open https://example.com", "Open a page in it"),
            ("websvc browser end", "End it"),
        ],
    ),
    ("threat", &[("websvc threat check https://example.com", "Check a URL")]),
    ("blocklists", &[("websvc blocklists update", "Fetch the configured lists")]),
    (
        "doctor",
        &[("websvc doctor", "Check everything"), ("websvc doctor --json", "Check everything, for a program")],
    ),
    ("ready", &[("websvc ready --server http://127.0.0.1:3002", "Check a server")]),
    (
        "completions",
        &[
            ("websvc completions bash", "Print the completions of a shell"),
            ("websvc completions zsh", "Print those of another; write them into a directory of its $fpath"),
        ],
    ),
    (
        "man",
        &[
            ("websvc man", "Print the manual page"),
            ("websvc man --output man1", "Write a page for each command"),
        ],
    ),
];

/// Adds the examples and exit codes to the help of the commands.
pub(crate) fn add_to(mut program: Command) -> Command {
    for (name, examples) in EXAMPLES {
        let width =
            examples.iter().map(|(line, _)| line.len()).filter(|width| *width <= 64).max().unwrap_or(0);
        let mut text = "Examples:".to_owned();
        for (line, what) in *examples {
            if line.len() > 64 {
                text.push_str(&format!("\n  {line}\n  {:width$}  {what}", ""));
            } else {
                text.push_str(&format!("\n  {line:width$}  {what}"));
            }
        }
        program = program.mut_subcommand(name, |command| {
            // Some have a list of commands there, or exit codes of their own.
            let before = command.get_after_help().map(ToString::to_string);
            let codes = if *name == "browser" { "" } else { EXIT_CODES };
            let parts = before.iter().map(String::as_str).chain([text.as_str(), codes]);
            command.after_help(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
        });
    }
    program
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Cli, options_first};

    #[test]
    fn every_command_has_examples() {
        let program = Cli::command();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(EXAMPLES.iter().any(|(known, _)| *known == name), "websvc {name} has no examples");
        }
    }

    /// Splits a command line at spaces outside of single quotes.
    fn words(line: &str) -> Vec<OsString> {
        let mut is_quoted = false;
        let words = line.split(|c: char| {
            is_quoted ^= c == '\'';
            c == ' ' && !is_quoted
        });
        words.map(|word| word.replace('\'', "").into()).collect()
    }

    #[test]
    fn examples_are_valid_command_lines_of_their_command() {
        for (name, examples) in EXAMPLES {
            for (line, what) in *examples {
                assert!(line.starts_with(&format!("websvc {name}")) && !what.is_empty(), "{line}");
                let parsed = Cli::try_parse_from(options_first(words(line).into_iter()));
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn help_has_examples_and_exit_codes() {
        let mut program = add_to(Cli::command());
        let help = |program: &mut Command, name: &str| {
            program.find_subcommand_mut(name).unwrap().render_long_help().to_string()
        };
        let scrape = help(&mut program, "scrape");
        assert!(
            scrape.contains("  websvc scrape https://example.com ") && scrape.contains(EXIT_CODES),
            "{scrape}"
        );
        let browser = help(&mut program, "browser");
        assert!(
            browser.contains("Commands for the page of the session") && browser.contains("Examples:"),
            "{browser}"
        );
    }
}
