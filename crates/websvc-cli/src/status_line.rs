//! The last line of a terminal, which a command writes again while it works.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Minimum time between two texts.
const INTERVAL: Duration = Duration::from_millis(50);

/// Moves to the start of the line and erases it.
const ERASE: &str = "\r\x1b[2K";

/// Width of a terminal that does not tell its own.
const DEFAULT_WIDTH: usize = 80;

/// The last line of stderr. It is hidden if stderr is not a terminal.
#[derive(Debug)]
pub(crate) struct StatusLine {
    is_hidden: bool,
    text: String,
    written: Option<Instant>,
}

impl StatusLine {
    /// Begins with no text.
    pub(crate) fn new() -> Self {
        Self { is_hidden: !stderr().is_terminal(), text: String::new(), written: None }
    }

    /// Returns whether texts are not shown.
    pub(crate) fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    /// Shows a text, unless the last one is very recent.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        if !self.is_hidden && self.written.is_none_or(|written| written.elapsed() >= INTERVAL) {
            self.text = text();
            self.written = Some(Instant::now());
            self.write();
        }
    }

    /// Hides the line while `print` runs.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        if self.is_hidden {
            return print();
        }
        erase();
        let result = print();
        self.write();
        result
    }

    /// Removes the line. Later texts are not shown.
    pub(crate) fn remove(&mut self) {
        if !std::mem::replace(&mut self.is_hidden, true) {
            erase();
        }
    }

    /// Writes as much of the text as fits in the line, because a wrapped line could not be erased.
    fn write(&self) {
        let fitting: String = self.text.chars().take(width().saturating_sub(1)).collect();
        // The terminal may be gone.
        let _ = write!(stderr(), "{ERASE}{fitting}");
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.remove();
    }
}

fn erase() {
    // The terminal may be gone.
    let _ = write!(stderr(), "{ERASE}");
}

/// Returns the number of columns of the terminal.
fn width() -> usize {
    #[cfg(unix)]
    let columns = rustix::termios::tcgetwinsize(stderr()).map_or(0, |size| size.ws_col);
    #[cfg(not(unix))]
    let columns = 0_u16;
    if columns == 0 { DEFAULT_WIDTH } else { columns.into() }
}
