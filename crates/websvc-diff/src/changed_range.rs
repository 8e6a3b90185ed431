//! The lines that differ between two texts.
//!
//! `similar` compares the lines, with the bounded search of Git: its time grows with about the power 1.5 of the number of
//! lines. Above a budget of lines, lines that occur once in each text divide the texts first, and a part that does not fit
//! into the rest of the budget is one range. So the result is coarser for huge texts, and never late.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Maximum number of lines of both texts together that are compared in detail.
const DETAILED_LINES: usize = 200_000;

/// A range of lines of the previous text, replaced by a range of lines of the current one. One of them may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedRange {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Returns the changed ranges in their order. The lines between them are equal, and no two ranges touch.
pub(crate) fn changed_ranges(old: &[&str], new: &[&str]) -> Vec<ChangedRange> {
    let (old, new) = numbered(old, new);
    ranges_within(&old, &new, DETAILED_LINES)
}

fn ranges_within(old: &[u32], new: &[u32], budget: usize) -> Vec<ChangedRange> {
    let mut ranges = Ranges { ranges: Vec::new(), budget };
    let (start, end) = common_ends(old, new);
    let whole = ChangedRange { old: start..old.len() - end, new: start..new.len() - end };
    if whole.old.len() + whole.new.len() <= budget {
        ranges.compare(old, new, whole);
        return ranges.ranges;
    }
    let mut part =
        ChangedRange { old: whole.old.start..whole.old.start, new: whole.new.start..whole.new.start };
    for (old_line, new_line) in anchors(old, new, &whole) {
        part.old.end = old_line;
        part.new.end = new_line;
        ranges.compare(old, new, part);
        part = ChangedRange { old: old_line + 1..old_line + 1, new: new_line + 1..new_line + 1 };
    }
    (part.old.end, part.new.end) = (whole.old.end, whole.new.end);
    ranges.compare(old, new, part);
    ranges.ranges
}

/// Replaces lines by numbers: equal lines have equal numbers.
fn numbered<'a>(old: &[&'a str], new: &[&'a str]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut number = |line: &&'a str| {
        let next = u32::try_from(numbers.len()).expect("a text has less than 2^32 lines");
        *numbers.entry(line).or_insert(next)
    };
    (old.iter().map(&mut number).collect(), new.iter().map(&mut number).collect())
}

/// Returns the numbers of equal lines at the start and at the end.
fn common_ends(old: &[u32], new: &[u32]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(before, after)| before == after).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(before, after)| before == after).count();
    (start, end)
}

/// The ranges found so far, and the number of lines that may still be compared in detail.
struct Ranges {
    ranges: Vec<ChangedRange>,
    budget: usize,
}

impl Ranges {
    /// Adds the changed ranges of a part.
    fn compare(&mut self, old: &[u32], new: &[u32], part: ChangedRange) {
        let ChangedRange { old: old_part, new: new_part } = part;
        let (old, new) = (&old[old_part.clone()], &new[new_part.clone()]);
        let (start, end) = common_ends(old, new);
        let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
        let (old_start, new_start) = (old_part.start + start, new_part.start + start);
        let lines = old.len() + new.len();
        if old.is_empty() || new.is_empty() || lines > self.budget {
            self.push(old_start..old_start + old.len(), new_start..new_start + new.len());
            return;
        }
        self.budget -= lines;
        for operation in capture_diff_slices(Algorithm::Myers, old, new) {
            let (_tag, old, new) = operation.as_tag_tuple();
            if !matches!(operation, DiffOp::Equal { .. }) {
                self.push(
                    old_start + old.start..old_start + old.end,
                    new_start + new.start..new_start + new.end,
                );
            }
        }
    }

    /// Adds a range. One that touches the last one extends it.
    fn push(&mut self, old: Range<usize>, new: Range<usize>) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => self.ranges.push(ChangedRange { old, new }),
        }
    }
}

/// Returns the longest series of lines that occur once in each text, in the same order: patience sorting, in
/// `O(n log n)`.
fn anchors(old: &[u32], new: &[u32], whole: &ChangedRange) -> Vec<(usize, usize)> {
    let old_lines = single_lines(old, whole.old.clone());
    let new_lines = single_lines(new, whole.new.clone());
    let pairs: Vec<(usize, usize)> = whole
        .old
        .clone()
        .filter(|line| old_lines.get(&old[*line]) == Some(&Some(*line)))
        .filter_map(|line| Some((line, (*new_lines.get(&old[line])?)?)))
        .collect();
    // For each length of a series: the pair at its end that is nearest to the start of the current text.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, new_line)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *new_line);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut series = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        series.push(pairs[index]);
        next = before[index];
    }
    series.reverse();
    series
}

/// Returns the index of each line that occurs once, and `None` for each one that occurs several times.
fn single_lines(lines: &[u32], range: Range<usize>) -> HashMap<u32, Option<usize>> {
    let mut indexes = HashMap::new();
    for line in range {
        indexes.entry(lines[line]).and_modify(|index| *index = None).or_insert(Some(line));
    }
    indexes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(old: Range<usize>, new: Range<usize>) -> ChangedRange {
        ChangedRange { old, new }
    }

    #[test]
    fn changed_lines_are_found_with_and_without_a_budget() {
        let check = |old: &[u32], new: &[u32], budget: usize, expected: &[ChangedRange]| {
            assert_eq!(ranges_within(old, new, budget), expected, "{old:?} {new:?} {budget}");
        };
        check(&[1, 2, 3], &[1, 2, 3], 0, &[]);
        check(&[1, 2, 3], &[1, 4, 3], 9, &[range(1..2, 1..2)]);
        check(&[], &[1], 9, &[range(0..0, 0..1)]);
        // Without a budget, lines that occur once divide the texts.
        check(
            &[1, 2, 3, 4, 5],
            &[6, 2, 7, 4, 8],
            0,
            &[range(0..1, 0..1), range(2..3, 2..3), range(4..5, 4..5)],
        );
        // Lines that occur several times do not.
        check(&[1, 2, 2, 3], &[4, 2, 2, 5], 0, &[range(0..4, 0..4)]);
        check(&[1, 2, 2, 3], &[4, 2, 2, 5], 9, &[range(0..1, 0..1), range(3..4, 3..4)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn lines_between_the_ranges_are_equal(
            old in prop::collection::vec(0_u32..12, 0..40),
            new in prop::collection::vec(0_u32..12, 0..40),
            budget in 0_usize..100,
        ) {
            let (mut old_line, mut new_line) = (0, 0);
            let end = range(old.len()..old.len(), new.len()..new.len());
            for range in ranges_within(&old, &new, budget).into_iter().chain([end]) {
                prop_assert_eq!(&old[old_line..range.old.start], &new[new_line..range.new.start]);
                (old_line, new_line) = (range.old.end, range.new.end);
            }
        }
    }
}
