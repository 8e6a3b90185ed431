//! Printing of results on stdout and of messages on stderr.

mod table;

use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;

pub(crate) use table::{Column, Table, column, column_of, column_or, objects};

/// The reader of stdout has closed it, as `head` does. The command ends without a message.
#[derive(Debug, thiserror::Error)]
#[error("stdout was closed")]
pub(crate) struct StdoutClosed;

impl StdoutClosed {
    /// The exit code that a shell shows for a command that SIGPIPE has ended.
    pub(crate) const EXIT_CODE: u8 = 128 + 13;

    /// Returns whether this is the cause of an error.
    pub(crate) fn is_cause(error: &anyhow::Error) -> bool {
        error.is::<Self>()
    }
}

/// Returns [`StdoutClosed`] for an error of writing to stdout that has this cause, and other errors unchanged.
pub(crate) fn stdout_error(error: anyhow::Error) -> anyhow::Error {
    let kind = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<serde_json::Error>() {
        Some(error) => error.io_error_kind(),
        None => cause.downcast_ref::<io::Error>().map(io::Error::kind),
    };
    if error.chain().any(|cause| kind(cause) == Some(ErrorKind::BrokenPipe)) {
        return StdoutClosed.into();
    }
    error
}

/// Writes to stdout.
pub(crate) fn on_stdout(write: impl FnOnce(&mut StdoutLock<'_>) -> io::Result<()>) -> Result<()> {
    let mut out = io::stdout().lock();
    write(&mut out).and_then(|()| out.flush()).map_err(|error| stdout_error(error.into()))
}

/// Prints one line on stdout.
pub(crate) fn line(text: &str) -> Result<()> {
    on_stdout(|out| writeln!(out, "{text}"))
}

/// Prints lines on stdout.
pub(crate) fn lines(lines: &[String]) -> Result<()> {
    lines.iter().try_for_each(|text| line(text))
}

/// Prints a value as JSON for programs, or a line about it for people.
pub(crate) fn json_or_line<T: Serialize>(
    as_json: bool,
    value: &T,
    text: impl FnOnce() -> String,
) -> Result<()> {
    if as_json { json(value) } else { line(&text()) }
}

/// Prints a value as indented JSON on stdout.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Prints a message on stderr.
pub(crate) fn note(text: &str) {
    // If stderr cannot be written, the failure cannot be reported either.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints a warning on stderr. It may be from a server or a page.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {}", printable(text)));
}

/// Prints the error of a failed command with its causes on stderr.
pub(crate) fn error(error: &anyhow::Error) {
    note(&format!("error: {}", causes(error.as_ref())));
}

/// Ends a failed command: prints its error, unless the reader of its output is gone.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    if StdoutClosed::is_cause(error) {
        return StdoutClosed::EXIT_CODE.into();
    }
    self::error(error);
    ExitCode::FAILURE
}

/// Returns an error with its causes. A cause whose text the error already contains is omitted.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let message = cause.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        next = cause.source();
    }
    text
}

/// A text style for terminals.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    Bold,
    Dim,
    Link,
    /// Added content.
    Added,
    /// Removed content.
    Removed,
}

/// Use of text styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colors {
    On,
    Off,
}

impl Colors {
    /// Returns the use of styles on stdout: only on a terminal, and not if `NO_COLOR` is set.
    pub(crate) fn for_stdout() -> Self {
        Self::on(&io::stdout())
    }

    /// Returns the use of styles on stderr.
    pub(crate) fn for_stderr() -> Self {
        Self::on(&io::stderr())
    }

    fn on(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() && std::env::var_os("NO_COLOR").is_none() { Self::On } else { Self::Off }
    }

    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        let code = match style {
            _ if self == Self::Off => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Link => "36",
            Style::Added => "32",
            Style::Removed => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Returns `text` in a style if stdout has styles.
pub(crate) fn styled(text: &str, style: Style) -> String {
    Colors::for_stdout().paint(text, style)
}

/// Formats a time in milliseconds since the Unix epoch.
pub(crate) fn unix_time(unix_ms: Option<u64>) -> Option<String> {
    Timestamp::from_millisecond(i64::try_from(unix_ms?).ok()?).ok().map(time)
}

/// Formats a time without fractions of a second, in UTC.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a time of a response without fractions of a second, in UTC. Another text stays as it is.
pub(crate) fn time_of(text: &str) -> String {
    text.parse().map_or_else(|_| printable(text), time)
}

/// Returns text in one line of at most `max` characters, without control characters.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let line = printable(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    match line.char_indices().nth(max) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Returns one line of text without the characters with which a page could control a terminal or reorder its output:
/// control characters other than a tab, and directional formatting.
pub(crate) fn printable(text: &str) -> String {
    let is_directional =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| *c == '\t' || !(c.is_control() || is_directional(*c))).collect()
}

/// Prints one search result.
pub(crate) fn result(position: usize, title: &str, url: &str, description: &str) -> Result<()> {
    line(&format!("\n{position:>3}. {}", styled(title, Style::Bold)))?;
    line(&format!("     {}", styled(url, Style::Link)))?;
    for text in wrap(description, 92) {
        line(&format!("     {text}"))?;
    }
    Ok(())
}

/// Wraps a text at white space into lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Wrapper(#[source] io::Error);

    #[test]
    fn causes_are_printed_once() {
        let cause = || Wrapper(io::Error::other("the file is damaged"));
        assert_eq!(causes(&cause()), "the file is damaged");
        let error = anyhow::Error::from(cause()).context("a.pdf");
        assert_eq!(causes(error.as_ref()), "a.pdf: the file is damaged");
    }

    #[test]
    fn closed_stdout_differs_from_other_errors() {
        let is_closed = |error: anyhow::Error| StdoutClosed::is_cause(&stdout_error(error).context("a page"));
        let io_error = |kind| io::Error::new(kind, "write");
        assert!(is_closed(io_error(ErrorKind::BrokenPipe).into()));
        assert!(is_closed(serde_json::Error::io(io_error(ErrorKind::BrokenPipe)).into()));
        assert!(!is_closed(io_error(ErrorKind::StorageFull).into()));
        assert!(!is_closed(serde_json::Error::io(io_error(ErrorKind::StorageFull)).into()));
    }

    #[test]
    fn printable_text_cannot_control_a_terminal() {
        let hostile = "a\u{1b}[31mb\u{9b}2Jc\rd\ne\u{7f}\u{202e}f\tg";
        assert_eq!(printable(hostile), "a[31mb2Jcdef\tg");
        assert_eq!(printable("Grüße, 茶 🍵"), "Grüße, 茶 🍵");
    }

    #[test]
    fn wrap_breaks_lines_at_white_space() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("", 7), Vec::<String>::new());
    }
}
