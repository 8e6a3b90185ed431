//! The difference of two texts, line by line.

use std::fmt::Write as _;

use crate::changed_range::changed_ranges;
use crate::hunk::HunkWriter;

/// Limits of a difference. Further lines are left out, and [`LineDiff::is_truncated`] is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Maximum number of lines in all hunks together.
    pub max_lines: usize,
    /// Maximum size of all lines together, in bytes. A line that exceeds it is cut off.
    pub max_bytes: usize,
}

/// The difference of two texts: hunks of changed lines with three lines of context, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDiff {
    /// The hunks; none if the texts are equal.
    pub hunks: Vec<DiffHunk>,
    /// The number of all added lines, also of those beyond the limits.
    pub additions: usize,
    /// The number of all removed lines, also of those beyond the limits.
    pub deletions: usize,
    /// Lines were left out because of the limits.
    pub is_truncated: bool,
}

/// A series of changed lines with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// The first line in the previous text, from 1; if there is none, the line before.
    pub old_start: usize,
    /// The number of lines of the previous text.
    pub old_lines: usize,
    /// The first line in the current text, from 1; if there is none, the line before.
    pub new_start: usize,
    /// The number of lines of the current text.
    pub new_lines: usize,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// The kind of the line, and its number.
    pub kind: LineKind,
    /// The line without its line feed, after a blank, `+` or `-`; or `\ No newline at end of file`, which belongs to the
    /// line before.
    pub content: String,
}

/// The kind of a line, with its numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The line is in both texts.
    Context {
        /// The number of the line in the previous text.
        old: usize,
        /// The number of the line in the current text.
        new: usize,
    },
    /// The line is in the current text only.
    Added {
        /// The number of the line in the current text.
        new: usize,
    },
    /// The line is in the previous text only.
    Removed {
        /// The number of the line in the previous text.
        old: usize,
    },
}

impl LineDiff {
    /// Compares two texts. Lines end with a line feed; every byte counts.
    #[must_use]
    pub fn new(previous: &str, current: &str, limits: DiffLimits) -> Self {
        let old: Vec<&str> = previous.split_inclusive('\n').collect();
        let new: Vec<&str> = current.split_inclusive('\n').collect();
        let ranges = changed_ranges(&old, &new);
        let additions = ranges.iter().map(|range| range.new.len()).sum();
        let deletions = ranges.iter().map(|range| range.old.len()).sum();
        let mut writer = HunkWriter::new(&old, &new, limits);
        writer.write(&ranges);
        let (hunks, is_truncated) = writer.finish();
        Self { hunks, additions, deletions, is_truncated }
    }

    /// Returns the difference as a unified diff with the names of the two files; empty if there is none.
    #[must_use]
    pub fn unified_text(&self, from: &str, to: &str) -> String {
        if self.hunks.is_empty() {
            return String::new();
        }
        let mut text = format!("--- {from}\n+++ {to}\n");
        for hunk in &self.hunks {
            writeln!(text, "{}", hunk.header()).expect("writing to a string cannot fail");
            for line in &hunk.lines {
                text.push_str(&line.content);
                text.push('\n');
            }
        }
        text
    }
}

impl DiffHunk {
    /// Returns the first line of the hunk in a unified diff, such as `@@ -1,3 +1,4 @@`.
    #[must_use]
    pub fn header(&self) -> String {
        let Self { old_start, old_lines, new_start, new_lines, lines: _ } = self;
        format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@")
    }
}
