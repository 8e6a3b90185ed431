//! The difference of two texts, line by line.

use std::fmt::Write as _;

use crate::changed_range::changed_ranges;
use crate::hunk::{DiffHunk, DiffLimits, HunkWriter};

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
