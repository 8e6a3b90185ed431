//! Examples of differences, and their limits.

use websvc_diff::{DiffLimits, LineDiff, LineKind};

use crate::patch::apply;

const LIMITS: DiffLimits = DiffLimits { max_lines: 10_000, max_bytes: 1_000_000 };

fn check(previous: &str, current: &str, expected: &str) {
    let diff = LineDiff::new(previous, current, LIMITS);
    assert_eq!(diff.unified_text("previous.md", "current.md"), expected, "{previous:?} and {current:?}");
    assert!(!diff.is_truncated);
}

#[test]
fn diff_has_three_lines_of_context_and_both_numbers() {
    check(
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
        "--- previous.md\n+++ current.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
    check("", "a\n", "--- previous.md\n+++ current.md\n@@ -0,0 +1,1 @@\n+a\n");
    check("a\n", "", "--- previous.md\n+++ current.md\n@@ -1,1 +0,0 @@\n-a\n");
    check("a\n", "a\n", "");
}

#[test]
fn missing_line_feed_at_the_end_is_marked() {
    check(
        "a",
        "a\n",
        "--- previous.md\n+++ current.md\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
    );
    check(
        "a\nz",
        "b\nz",
        "--- previous.md\n+++ current.md\n@@ -1,2 +1,2 @@\n-a\n+b\n z\n\\ No newline at end of file\n",
    );
}

#[test]
fn distant_changes_are_hunks_of_their_own() {
    let lines = |changed: &[usize]| -> String {
        (1..=20).map(|line| format!("{line}{}\n", if changed.contains(&line) { "x" } else { "" })).collect()
    };
    let headers = |changed: &[usize]| -> Vec<String> {
        let diff = LineDiff::new(&lines(&[]), &lines(changed), LIMITS);
        diff.hunks.iter().map(websvc_diff::DiffHunk::header).collect()
    };
    assert_eq!(headers(&[1, 8]), ["@@ -1,11 +1,11 @@"]);
    assert_eq!(headers(&[1, 9]), ["@@ -1,4 +1,4 @@", "@@ -6,7 +6,7 @@"]);
    assert_eq!(headers(&[20]), ["@@ -17,4 +17,4 @@"]);
}

#[test]
fn lines_have_their_kind_number_and_sign() {
    let diff = LineDiff::new("a\nb\nc\n", "a\nB\nc\nd\n", LIMITS);
    assert_eq!((diff.additions, diff.deletions), (2, 1));
    let lines: Vec<_> = diff.hunks[0].lines.iter().map(|line| (line.kind, line.content.as_str())).collect();
    let expected = [
        (LineKind::Context { old: 1, new: 1 }, " a"),
        (LineKind::Removed { old: 2 }, "-b"),
        (LineKind::Added { new: 2 }, "+B"),
        (LineKind::Context { old: 3, new: 3 }, " c"),
        (LineKind::Added { new: 4 }, "+d"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn limits_truncate_the_diff_and_its_numbers_match_its_lines() {
    let previous: String = (0..100).map(|line| format!("old {line}\n")).collect();
    let current: String = (0..100).map(|line| format!("new {line}\n")).collect();
    let diff = LineDiff::new(&previous, &current, DiffLimits { max_lines: 102, ..LIMITS });
    assert!(diff.is_truncated);
    assert_eq!((diff.additions, diff.deletions), (100, 100));
    assert_eq!(diff.hunks[0].lines.len(), 102);
    assert_eq!(diff.hunks[0].header(), "@@ -1,100 +1,2 @@");
    let diff = LineDiff::new("é".repeat(50).as_str(), "b\n", DiffLimits { max_bytes: 10, ..LIMITS });
    assert!(diff.is_truncated);
    assert_eq!(diff.unified_text("a", "b"), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-éééé\n");
    let diff = LineDiff::new("a\n", "b\n", DiffLimits { max_lines: 0, ..LIMITS });
    assert!(diff.is_truncated && diff.hunks.is_empty() && diff.unified_text("a", "b").is_empty());
}

/// These would take minutes, or overflow the stack, with a search that has no bound.
#[test]
fn hostile_texts_of_5_mb_are_compared() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let many = 2_500_000_u64;
    let letters: String = (0..many).map(|_| if random(2) == 0 { "a\n" } else { "b\n" }).collect();
    let other_letters: String = (0..many).map(|_| if random(2) == 0 { "a\n" } else { "b\n" }).collect();
    let numbers: String = (0..600_000).map(|number| format!("{number}\n")).collect();
    let reversed: String = (0..600_000).rev().map(|number| format!("{number}\n")).collect();
    let few_letters: String = letters.chars().take(200_000).collect();
    let other_few: String = other_letters.chars().skip(1_000).take(200_000).collect();
    let one_line = "x".repeat(5_000_000);
    for (previous, current) in [
        (&letters, &other_letters),
        (&numbers, &reversed),
        (&few_letters, &other_few),
        (&one_line, &letters),
        (&numbers, &letters),
    ] {
        let limits = DiffLimits { max_lines: usize::MAX, max_bytes: usize::MAX };
        let diff = LineDiff::new(previous, current, limits);
        assert!(apply(previous, &diff.unified_text("a", "b")) == *current);
    }
}
