//! Compares two versions of a page.

use jiff::Timestamp;
use websvc_diff::{DiffHunk, DiffLimits, DiffLine, LineDiff, LineKind, is_same_markdown};
use websvc_store::PageSnapshot;
use websvc_types::changes::{ChangeStatus, DiffChange, DiffChunk, DiffFile, DiffTree, PageDiff};
use websvc_types::limits::{DIFF_MAX_BYTES, DIFF_MAX_LINES};

/// The names of the files in a diff.
const PREVIOUS: &str = "previous.md";
const CURRENT: &str = "current.md";

const LIMITS: DiffLimits = DiffLimits { max_lines: DIFF_MAX_LINES, max_bytes: DIFF_MAX_BYTES };

/// Two versions of a page and their difference.
pub(super) struct Comparison {
    pub(super) previous: Option<PageSnapshot>,
    pub(super) current: String,
    pub(super) status: ChangeStatus,
    /// The changed lines, if they were requested and the page changed.
    pub(super) diff: Option<PageDiff>,
    pub(super) is_diff_truncated: bool,
}

/// Compares a page with its previous version. Takes time in proportion to the size of both.
pub(super) fn compare(previous: Option<PageSnapshot>, current: String, wants_diff: bool) -> Comparison {
    let status = match &previous {
        None => ChangeStatus::New,
        Some(previous) if is_same_markdown(&previous.markdown, &current) => ChangeStatus::Same,
        Some(_) => ChangeStatus::Changed,
    };
    let (mut diff, mut is_diff_truncated) = (None, false);
    if let Some(previous) = previous.as_ref().filter(|_| wants_diff && status == ChangeStatus::Changed) {
        let (lines, is_truncated) = page_diff(&previous.markdown, &current);
        is_diff_truncated = is_truncated;
        diff = Some(lines);
    }
    Comparison { previous, current, status, diff, is_diff_truncated }
}

/// Returns a time of the store as ISO 8601 with milliseconds.
pub(super) fn iso_time(ms: u64) -> String {
    let time =
        i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX);
    format!("{time:.3}")
}

/// Returns the changed lines of the markdown of a page, and whether some were left out. Takes time in proportion to the
/// size of both.
#[must_use]
pub fn page_diff(previous: &str, current: &str) -> (PageDiff, bool) {
    let diff = LineDiff::new(previous, current, LIMITS);
    let is_truncated = diff.is_truncated;
    let text = diff.unified_text(PREVIOUS, CURRENT);
    let LineDiff { hunks, additions, deletions, is_truncated: _ } = diff;
    let file = DiffFile {
        from: PREVIOUS.to_owned(),
        to: CURRENT.to_owned(),
        additions: additions as u64,
        deletions: deletions as u64,
        chunks: hunks.into_iter().map(chunk).collect(),
    };
    (PageDiff { text, json: DiffTree { files: vec![file] } }, is_truncated)
}

fn chunk(hunk: DiffHunk) -> DiffChunk {
    let content = hunk.header();
    let DiffHunk { old_start, old_lines, new_start, new_lines, lines } = hunk;
    DiffChunk {
        content,
        changes: lines.into_iter().map(change).collect(),
        old_start: old_start as u64,
        old_lines: old_lines as u64,
        new_start: new_start as u64,
        new_lines: new_lines as u64,
    }
}

fn change(line: DiffLine) -> DiffChange {
    let DiffLine { kind, content } = line;
    match kind {
        LineKind::Context { old, new } => {
            DiffChange::Normal { normal: true, ln1: old as u64, ln2: new as u64, content }
        }
        LineKind::Added { new } => DiffChange::Add { add: true, ln: new as u64, content },
        LineKind::Removed { old } => DiffChange::Del { del: true, ln: old as u64, content },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn snapshot(markdown: &str) -> Option<PageSnapshot> {
        Some(PageSnapshot { markdown: markdown.to_owned(), options: [0; 32], taken_at_ms: 0 })
    }

    #[test]
    fn status_follows_the_markdown_without_whitespace() {
        let check = |previous: Option<PageSnapshot>, current: &str, expected: ChangeStatus| {
            let comparison = compare(previous, current.to_owned(), true);
            assert_eq!(comparison.status, expected, "{current:?}");
            assert_eq!(comparison.diff.is_some(), expected == ChangeStatus::Changed);
        };
        check(None, "a", ChangeStatus::New);
        check(snapshot("a b"), "a\n\nb", ChangeStatus::Same);
        check(snapshot("a\nb"), "b\na", ChangeStatus::Changed);
        assert!(compare(snapshot("a"), "b".to_owned(), false).diff.is_none());
    }

    #[test]
    fn diff_has_the_structure_of_the_interface() {
        let comparison = compare(snapshot("# Tea\n5 EUR\n"), "# Tea\n6 EUR\n".to_owned(), true);
        let expected = json!({
            "text": "--- previous.md\n+++ current.md\n@@ -1,2 +1,2 @@\n # Tea\n-5 EUR\n+6 EUR\n",
            "json": { "files": [{
                "from": "previous.md",
                "to": "current.md",
                "additions": 1,
                "deletions": 1,
                "chunks": [{
                    "content": "@@ -1,2 +1,2 @@",
                    "changes": [
                        { "type": "normal", "normal": true, "ln1": 1, "ln2": 1, "content": " # Tea" },
                        { "type": "del", "del": true, "ln": 2, "content": "-5 EUR" },
                        { "type": "add", "add": true, "ln": 2, "content": "+6 EUR" },
                    ],
                    "oldStart": 1,
                    "oldLines": 2,
                    "newStart": 1,
                    "newLines": 2,
                }],
            }] },
        });
        assert_eq!(serde_json::to_value(comparison.diff).unwrap(), expected);
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_time(1_764_000_000_120), "2025-11-24T16:00:00.120Z");
        assert_eq!(iso_time(u64::MAX), "9999-12-30T22:00:00.999Z");
    }
}
