//! The commands for the page of a session, which are those of `agent-browser`: `websvc browser open URL`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use websvc::Client;
use websvc::types::interact::{ExecuteRequest, ExecuteResponse, InteractLanguage};

use super::{execute, outcome};
use crate::args::quoted;
use crate::output;

/// The program whose commands these are.
const PROGRAM: &str = "agent-browser";

/// A command in the help.
struct PageCommand {
    /// Its names.
    names: &'static [&'static str],
    /// Its words after the name.
    words: &'static str,
    effect: &'static str,
}

const fn row(names: &'static [&'static str], words: &'static str, effect: &'static str) -> PageCommand {
    PageCommand { names, words, effect }
}

/// All commands, as the server reads them (docs/interact-code.md).
const COMMANDS: &[PageCommand] = &[
    row(&["open", "goto", "navigate"], "URL", "Open a page"),
    row(&["back", "forward", "reload"], "", "Go back or forward, or load the page again"),
    row(&["snapshot"], "[-i] [-c] [-d N] [-s SEL]", "Print roles and names with references @e1, @e2"),
    row(&["click", "dblclick", "hover", "focus"], "SEL", "Act on an element: a selector or @e1"),
    row(&["check", "uncheck", "scrollintoview", "scrollinto"], "SEL", "Act on an element"),
    row(&["fill", "type"], "SEL TEXT", "Replace the text of a field, or type into it"),
    row(&["select"], "SEL VALUE...", "Choose options of a list"),
    row(&["drag"], "SEL SEL", "Drag an element to another"),
    row(&["press", "key", "keydown", "keyup"], "KEY", "Press a key such as Enter"),
    row(&["mouse"], "move|down|up|wheel ...", "Move or press the mouse"),
    row(&["get"], "text|html|value|attr|title|url|count|box|styles [SEL]", "Print a value"),
    row(&["is"], "visible|enabled|checked SEL", "Print true or false"),
    row(&["find"], "role|text|label|... VALUE [click|fill|...]", "Find an element and act on it"),
    row(&["wait"], "SEL|MS|--load STATE|--text TEXT|--url GLOB|--fn JS", "Wait"),
    row(&["scroll"], "[up|down|left|right] [PX]", "Scroll"),
    row(&["eval"], "SCRIPT", "Run JavaScript in the page"),
    row(&["screenshot"], "[FILE] [--full] [SEL]", "Write a PNG file, or print Base64"),
    row(&["pdf"], "[FILE]", "Write a PDF file, or print Base64"),
    row(&["tab"], "[N | new [URL] | close [N]]", "List and change tabs"),
    row(&["cookies"], "[get | set NAME VALUE | clear]", "Show and change cookies"),
    row(&["storage"], "local|session [get|set|clear]", "Show and change the storage"),
    row(&["set"], "viewport W H | media dark|light", "Change settings"),
];

impl PageCommand {
    fn usage(&self) -> String {
        format!("{} {}", self.names.join("|"), self.words).trim_end().to_owned()
    }
}

/// Returns the commands for the help of `websvc browser`.
pub(crate) fn help() -> String {
    let lines = COMMANDS.iter().map(|command| format!("  {}\n          {}", command.usage(), command.effect));
    format!(
        "Commands for the page of the session:\n{}\n\nOptions may stand before or after these commands. Words after -- count \
         as text.",
        lines.collect::<Vec<_>>().join("\n")
    )
}

/// Returns whether the words ask for the usage of a command.
pub(super) fn is_help(words: &[String]) -> bool {
    matches!(words, [_, option] if option == "--help" || option == "-h")
}

/// Returns the usage of a command.
pub(super) fn usage(words: &[String]) -> Result<String> {
    let name = words.first().map(String::as_str).unwrap_or_default();
    match COMMANDS.iter().find(|command| command.names.contains(&name)) {
        Some(command) => Ok(format!("{}\n\nUsage: websvc browser {}", command.effect, command.usage())),
        None => bail!("there is no command {name:?}: see `websvc browser --help`"),
    }
}

/// Runs a command in the page of the session.
pub(super) async fn run(client: &Client, choice: &str, words: Vec<String>, json: bool) -> Result<()> {
    let (words, file) = take_file(without_mark(words));
    ensure!(words.iter().all(|word| !word.contains('\0')), "a word of the command has a null character");
    let request = ExecuteRequest {
        code: code(&words),
        language: Some(InteractLanguage::Bash),
        ..ExecuteRequest::default()
    };
    let response = execute(client, choice, &request).await?;
    match file {
        Some(file) if response.exit_code == 0 => {
            write_file(&response, &file)?;
            if json {
                output::json(&response)?;
            }
        }
        Some(_) | None => outcome::print(&response, InteractLanguage::Bash, json)?,
    }
    outcome::check(&response)
}

/// Returns the line of a command, quoted so that the server reads the same words.
fn code(words: &[String]) -> String {
    let words = words.iter().map(|word| quoted(word));
    std::iter::once(PROGRAM.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Removes the mark after which words count as text.
fn without_mark(mut words: Vec<String>) -> Vec<String> {
    if let Some(at) = words.iter().position(|word| word == "--") {
        words.remove(at);
    }
    words
}

/// Takes the name of the file out of the words of `screenshot` and `pdf`.
fn take_file(mut words: Vec<String>) -> (Vec<String>, Option<PathBuf>) {
    let writes_file = words.first().is_some_and(|name| name == "screenshot" || name == "pdf");
    let is_file = |word: &String| !word.starts_with(['-', '@', '#']);
    let at = words.iter().skip(1).position(is_file).filter(|_| writes_file);
    let file = at.map(|at| PathBuf::from(words.remove(at + 1)));
    (words, file)
}

/// Writes the Base64 of an output into a file.
fn write_file(response: &ExecuteResponse, file: &PathBuf) -> Result<()> {
    ensure!(
        response.truncated != Some(true),
        "the file is larger than an output, which is cut at 1 MiB of Base64: take the screenshot of an element, or of the \
         visible part of the page"
    );
    let bytes = BASE64_STANDARD
        .decode(response.stdout.trim())
        .context("the output of the command is not valid Base64")?;
    std::fs::write(file, bytes).with_context(|| file.display().to_string())?;
    output::note(&format!("wrote {}", file.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn line_has_the_same_words_for_the_server() {
        assert_eq!(code(&words(&["click", "@e3"])), "agent-browser click @e3");
        let quoted = code(&words(&["fill", "#q", "it's $5 > 4 && \"x\"", ""]));
        assert_eq!(quoted, r#"agent-browser fill '#q' 'it'\''s $5 > 4 && "x"' ''"#);
        assert_eq!(without_mark(words(&["fill", "@e1", "--", "--", "a"])), ["fill", "@e1", "--", "a"]);
    }

    #[test]
    fn file_is_the_plain_word_of_a_screenshot() {
        let check = |line: &[&str], rest: &[&str], file: Option<&str>| {
            assert_eq!(take_file(words(line)), (words(rest), file.map(PathBuf::from)));
        };
        check(&["screenshot"], &["screenshot"], None);
        check(&["screenshot", "--full", "a.png"], &["screenshot", "--full"], Some("a.png"));
        check(&["screenshot", "./a.png", "@e1"], &["screenshot", "@e1"], Some("./a.png"));
        check(&["pdf", "a.pdf"], &["pdf"], Some("a.pdf"));
        check(&["open", "a.png"], &["open", "a.png"], None);
    }

    /// The table of the interpreter, in which a command begins after a line break, a comma or a bracket.
    #[test]
    fn help_has_exactly_the_commands_of_the_server() {
        let source = include_str!("../../../../websvc-sandbox/src/library/bash/more_verbs.js");
        let (_, table) = source.split_once("const VERBS = {").unwrap();
        let table = table.split_once("\n};").unwrap().0;
        for command in COMMANDS {
            for name in command.names {
                assert!(
                    table.contains(&format!(" {name}:")) || table.contains(&format!(" {name},")),
                    "{name} is not a command of the server"
                );
            }
        }
        let known: BTreeSet<&str> = COMMANDS.iter().flat_map(|command| command.names).copied().collect();
        let lines = table.lines().flat_map(|line| line.strip_prefix("  "));
        let first_of_lines = lines.filter_map(|line| line.split([':', ',']).next());
        let mut count = 0;
        for name in first_of_lines.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())) {
            count += 1;
            assert!(known.contains(name), "the help lacks {name}");
        }
        assert!(count > 10, "{count}");
    }

    #[test]
    fn usage_is_that_of_the_command() {
        assert!(is_help(&words(&["open", "--help"])) && !is_help(&words(&["open", "a.test"])));
        assert!(usage(&words(&["goto", "-h"])).unwrap().contains("websvc browser open|goto|navigate URL"));
        assert!(usage(&words(&["opne", "-h"])).is_err());
        assert!(help().contains("snapshot [-i]"));
    }
}
