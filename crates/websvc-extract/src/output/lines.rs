//! Output lines with the prefixes of the lists and quotes around them, and one blank line between blocks.

use super::FormattedText;
use crate::limits::MAX_OUTPUT_BYTES;

/// Separator between the previous line and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockSeparator {
    /// A line break: between the items of a list, and between the lines of a paragraph.
    Line,
    /// A blank line: between blocks.
    Blank,
}

/// One level of nesting.
#[derive(Debug)]
struct Level {
    /// The prefix of the first line, until that is written.
    marker: Option<String>,
    /// The prefix of the other lines.
    indent: String,
}

/// The text written so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    out: String,
    levels: Vec<Level>,
    separator: Option<BlockSeparator>,
    truncated: bool,
}

impl Lines {
    /// Opens a level of nesting. Its first line begins with `marker`, the others with `indent`.
    pub(super) fn open(&mut self, marker: &str, indent: &str) {
        self.levels.push(Level { marker: Some(marker.to_owned()), indent: indent.to_owned() });
    }

    /// Opens a level that continues one that was closed: all of its lines begin with `indent`.
    pub(super) fn reopen(&mut self, indent: &str) {
        self.levels.push(Level { marker: None, indent: indent.to_owned() });
    }

    /// Returns the number of open levels.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns the length of the output, and the number of open levels.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.out.len(), self.levels.len())
    }

    /// Closes the innermost level. A level without lines writes nothing.
    pub(super) fn close(&mut self) {
        self.levels.pop();
    }

    /// Requests at least `separator` before the next line.
    pub(super) fn separate(&mut self, separator: BlockSeparator) {
        self.separator = Some(self.separator.map_or(separator, |old| old.max(separator)));
    }

    /// Cancels a requested blank line.
    pub(super) fn cancel_blank(&mut self) {
        self.separator = Some(BlockSeparator::Line);
    }

    /// Returns whether the innermost level has no line yet.
    pub(super) fn at_marker(&self) -> bool {
        self.levels.last().is_some_and(|level| level.marker.is_some())
    }

    /// Writes one line without line breaks.
    pub(super) fn line(&mut self, text: &str) {
        if self.truncated {
            return;
        }
        let remaining = MAX_OUTPUT_BYTES.saturating_sub(self.out.len());
        self.truncated = text.len() >= remaining;
        let text = crate::text::start_of(text, remaining);
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.separator == Some(BlockSeparator::Blank) {
                self.blank_line();
            }
        }
        self.separator = None;
        for level in &mut self.levels {
            match level.marker.take() {
                Some(marker) => self.out.push_str(&marker),
                None => self.out.push_str(&level.indent),
            }
        }
        self.out.push_str(text);
        if text.is_empty() {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
    }

    /// Writes a blank line before the levels that begin with the next line.
    fn blank_line(&mut self) {
        for level in self.levels.iter().take_while(|level| level.marker.is_none()) {
            self.out.push_str(&level.indent);
        }
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    /// Returns the text.
    pub(super) fn finish(mut self) -> FormattedText {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        FormattedText { text: self.out, truncated: self.truncated }
    }
}
