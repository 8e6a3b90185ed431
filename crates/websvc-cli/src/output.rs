//! Printing of results on stdout and of messages on stderr.

use std::io::{self, ErrorKind, IsTerminal, StdoutLock, Write};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

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

/// Prints a value as indented JSON on stdout.
pub(crate) fn json<T: Serialize>(value: &T) -> Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Prints a message on stderr.
pub(crate) fn note(text: &str) {
    // If stderr cannot be written, the failure cannot be reported either.
    let _ = writeln!(io::stderr().lock(), "{text}");
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

/// Returns `text` in a style if stdout is a terminal and `NO_COLOR` is not set.
pub(crate) fn styled(text: &str, style: Style) -> String {
    if has_styles() { with_style(text, style) } else { text.to_owned() }
}

/// Returns whether stdout is a terminal and `NO_COLOR` is not set.
pub(crate) fn has_styles() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Returns whether stderr is a terminal and `NO_COLOR` is not set.
pub(crate) fn has_note_styles() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Returns `text` in a style.
pub(crate) fn with_style(text: &str, style: Style) -> String {
    let code = match style {
        Style::Bold => "1",
        Style::Dim => "2",
        Style::Link => "36",
        Style::Added => "32",
        Style::Removed => "31",
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// Returns one line of text without the characters with which a page could control a terminal or reorder its output:
/// control characters other than a tab, and directional formatting.
pub(crate) fn printable(text: &str) -> String {
    let is_directional =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| *c == '\t' || !(c.is_control() || is_directional(*c))).collect()
}

/// A table with aligned columns.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(header: [&str; N]) -> Self {
        Self { rows: vec![header.map(str::to_owned)] }
    }

    pub(crate) fn row(&mut self, cells: [&str; N]) {
        self.rows.push(cells.map(str::to_owned));
    }

    pub(crate) fn print(&self) -> Result<()> {
        self.lines().iter().try_for_each(|text| line(text))
    }

    /// Returns the lines of the table.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let aligned = |row: &[String; N]| {
            let cells: Vec<String> =
                row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            cells.join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(aligned).collect()
    }
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
