//! Output lines with the prefixes of the lists and quotes they stand in, and one blank line between blocks.

use crate::limits::MAX_OUTPUT_BYTES;

/// Separator between the previous line and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BlockSeparator {
    /// The next line follows directly: items of a list, lines of a paragraph.
    Line,
    /// A blank line: between blocks.
    Blank,
}

/// One level of nesting: what its first line begins with, and what the others do.
#[derive(Debug)]
struct Level {
    marker: Option<String>,
    indent: String,
}

/// The text written so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    out: String,
    levels: Vec<Level>,
    gap: Option<BlockSeparator>,
    full: bool,
}

impl Lines {
    /// Opens a level of nesting whose first line begins with `marker` and whose others begin with `indent`.
    pub(super) fn open(&mut self, marker: &str, indent: &str) {
        self.levels.push(Level { marker: Some(marker.to_owned()), indent: indent.to_owned() });
    }

    /// Closes the innermost level. One that got no line leaves no trace.
    pub(super) fn close(&mut self) {
        self.levels.pop();
    }

    /// Asks for at least `gap` before the next line.
    pub(super) fn separate(&mut self, gap: BlockSeparator) {
        self.gap = Some(self.gap.map_or(gap, |old| old.max(gap)));
    }

    /// Takes back a wish for a blank line, for what must follow closely.
    pub(super) fn tighten(&mut self) {
        self.gap = Some(BlockSeparator::Line);
    }

    /// Tells whether the innermost level has no line yet.
    pub(super) fn at_marker(&self) -> bool {
        self.levels.last().is_some_and(|level| level.marker.is_some())
    }

    /// Writes one line, which holds no line break.
    pub(super) fn line(&mut self, text: &str) {
        if self.full {
            return;
        }
        let room = MAX_OUTPUT_BYTES.saturating_sub(self.out.len());
        self.full = text.len() >= room;
        let text = crate::text::start_of(text, room);
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Some(BlockSeparator::Blank) {
                self.blank_line();
            }
        }
        self.gap = None;
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

    /// A blank line goes before the levels that are about to begin.
    fn blank_line(&mut self) {
        for level in self.levels.iter().take_while(|level| level.marker.is_none()) {
            self.out.push_str(&level.indent);
        }
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    /// Returns the text and whether it was cut at the bound.
    pub(super) fn finish(mut self) -> (String, bool) {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        (self.out, self.full)
    }
}
