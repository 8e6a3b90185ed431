//! The examples in the help and in the manual pages of the commands.

use clap::Command;

/// The exit codes of all commands that have no others.
const EXIT_CODES: &str = "Exit codes: 0 success, 1 failure, 2 wrong arguments";

/// The widest command line with its effect on the same line, in characters. The effect of others is below them.
const MAX_WIDTH: usize = 64;

/// A command line of a command, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Example {
    command: &'static str,
    line: &'static str,
    effect: &'static str,
}

/// Returns all examples. Those of a command follow each other.
fn examples() -> Vec<Example> {
    let example = |row: &'static str| {
        let (line, effect) = row.split_once("  # ")?;
        Some(Example { command: line.split(' ').nth(1)?, line, effect })
    };
    include_str!("examples.txt").lines().filter_map(example).collect()
}

/// Adds the examples and exit codes to the help of the commands.
pub(crate) fn add_to(mut program: Command) -> Command {
    for examples in examples().chunk_by(|one, next| one.command == next.command) {
        let widths = examples.iter().map(|example| example.line.len());
        let width = widths.filter(|width| *width <= MAX_WIDTH).max().unwrap_or(0);
        let mut text = "Examples:".to_owned();
        for Example { line, effect, .. } in examples {
            if line.len() > MAX_WIDTH {
                text.push_str(&format!("\n  {line}\n  {:width$}  {effect}", ""));
            } else {
                text.push_str(&format!("\n  {line:width$}  {effect}"));
            }
        }
        let name = examples[0].command;
        program = program.mut_subcommand(name, |command| {
            // Some have a list of commands there, or exit codes of their own.
            let before = command.get_after_help().map(ToString::to_string);
            let codes = if name == "browser" { "" } else { EXIT_CODES };
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
            assert!(
                examples().iter().any(|example| example.command == name),
                "websvc {name} has no examples"
            );
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
        assert_eq!(examples().len(), include_str!("examples.txt").lines().count());
        for Example { line, effect, .. } in examples() {
            assert!(line.starts_with("websvc ") && !effect.is_empty(), "{line}");
            let parsed = Cli::try_parse_from(options_first(words(line).into_iter()));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
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
