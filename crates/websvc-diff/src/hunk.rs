//! Makes hunks of changed ranges, within limits.

use std::ops::Range;

use crate::changed_range::ChangedRange;

/// Number of unchanged lines before and after a change.
const CONTEXT: usize = 3;

/// The line after a last line without line feed.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Writes hunks until a limit is reached.
pub(crate) struct HunkWriter<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    hunks: Vec<DiffHunk>,
    /// The lines and bytes that may still be written.
    rest: DiffLimits,
    is_truncated: bool,
}

impl<'a> HunkWriter<'a> {
    pub(crate) fn new(old: &'a [&'a str], new: &'a [&'a str], limits: DiffLimits) -> Self {
        Self { old, new, hunks: Vec::new(), rest: limits, is_truncated: false }
    }

    /// Writes the ranges. Ranges whose contexts touch are one hunk.
    pub(crate) fn write(&mut self, ranges: &[ChangedRange]) {
        let is_same_hunk =
            |before: &ChangedRange, next: &ChangedRange| next.old.start - before.old.end <= 2 * CONTEXT;
        for group in ranges.chunk_by(is_same_hunk) {
            self.write_hunk(group);
            if self.is_truncated {
                return;
            }
        }
    }

    /// Returns the hunks, and whether lines were left out.
    pub(crate) fn finish(self) -> (Vec<DiffHunk>, bool) {
        (self.hunks, self.is_truncated)
    }

    fn write_hunk(&mut self, group: &[ChangedRange]) {
        let [first, ..] = group else { return };
        let before = first.old.start.min(CONTEXT);
        let (mut old_line, mut new_line) = (first.old.start - before, first.new.start - before);
        let mut hunk = DiffHunk {
            old_start: old_line,
            old_lines: 0,
            new_start: new_line,
            new_lines: 0,
            lines: Vec::new(),
        };
        for range in group {
            self.write_context(&mut hunk, old_line..range.old.start, new_line);
            self.write_removed(&mut hunk, range.old.clone());
            self.write_added(&mut hunk, range.new.clone());
            (old_line, new_line) = (range.old.end, range.new.end);
        }
        let after = (old_line + CONTEXT).min(self.old.len());
        self.write_context(&mut hunk, old_line..after, new_line);
        if hunk.lines.is_empty() {
            return;
        }
        // Lines are numbered from 1. Without lines, the number is that of the line before.
        hunk.old_start += usize::from(hunk.old_lines > 0);
        hunk.new_start += usize::from(hunk.new_lines > 0);
        self.hunks.push(hunk);
    }

    fn write_context(&mut self, hunk: &mut DiffHunk, old_lines: Range<usize>, new_start: usize) {
        for (offset, old) in old_lines.enumerate() {
            let new = new_start + offset;
            let line = self.old[old];
            if self.write_line(hunk, LineKind::Context { old: old + 1, new: new + 1 }, ' ', line) {
                hunk.old_lines += 1;
                hunk.new_lines += 1;
            }
        }
    }

    fn write_removed(&mut self, hunk: &mut DiffHunk, lines: Range<usize>) {
        for old in lines {
            if self.write_line(hunk, LineKind::Removed { old: old + 1 }, '-', self.old[old]) {
                hunk.old_lines += 1;
            }
        }
    }

    fn write_added(&mut self, hunk: &mut DiffHunk, lines: Range<usize>) {
        for new in lines {
            if self.write_line(hunk, LineKind::Added { new: new + 1 }, '+', self.new[new]) {
                hunk.new_lines += 1;
            }
        }
    }

    /// Writes a line, and returns whether it did. After the first one that exceeds the limits, nothing is written.
    fn write_line(&mut self, hunk: &mut DiffHunk, kind: LineKind, sign: char, line: &str) -> bool {
        let DiffLimits { max_lines, max_bytes } = self.rest;
        if self.is_truncated || max_lines == 0 || max_bytes == 0 {
            self.is_truncated = true;
            return false;
        }
        let text = line.strip_suffix('\n');
        let is_last_without_newline = text.is_none();
        let text = text.unwrap_or(line);
        let kept = &text[..text.floor_char_boundary(max_bytes - 1)];
        let mut content = String::with_capacity(1 + kept.len());
        content.push(sign);
        content.push_str(kept);
        self.rest = DiffLimits { max_lines: max_lines - 1, max_bytes: max_bytes - content.len() };
        hunk.lines.push(DiffLine { kind, content });
        if kept.len() < text.len() {
            self.is_truncated = true;
        } else if is_last_without_newline {
            hunk.lines.push(DiffLine { kind, content: NO_NEWLINE.to_owned() });
        }
        true
    }
}

/// Limits of a difference. Further lines are left out, and [`LineDiff::is_truncated`] is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Maximum number of lines in all hunks together.
    pub max_lines: usize,
    /// Maximum size of all lines together, in bytes. A line that exceeds it is cut off.
    pub max_bytes: usize,
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

impl DiffHunk {
    /// Returns the first line of the hunk in a unified diff, such as `@@ -1,3 +1,4 @@`.
    #[must_use]
    pub fn header(&self) -> String {
        let Self { old_start, old_lines, new_start, new_lines, lines: _ } = self;
        format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@")
    }
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
