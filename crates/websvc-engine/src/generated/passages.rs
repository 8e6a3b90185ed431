//! Markdown as its passages: what stands between blank lines, code fences whole.

use std::collections::HashSet;
use std::ops::Range;

/// A passage that is longer is several, at the ends of lines.
const PASSAGE_BYTES: usize = 2_000;

/// Where a long passage may be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SplitPolicy {
    /// At the end of any line.
    Anywhere,
    /// At the ends of lines of a text or a list: half a table or half a code block is none.
    InText,
}

/// A text with its passages, in their order.
#[derive(Debug)]
pub(super) struct Passages {
    markdown: String,
    /// Whole lines; between them stand blank lines, or nothing where a long passage was split.
    ranges: Vec<Range<usize>>,
}

impl Passages {
    /// Splits markdown into passages, which in their order are all of it but the blank lines between them.
    pub(super) fn of(markdown: String, splits: SplitPolicy) -> Self {
        let ranges = ranges(&markdown, splits);
        Self { markdown, ranges }
    }

    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the text of a passage, from 0.
    pub(super) fn text(&self, place: usize) -> &str {
        self.markdown[self.ranges[place].clone()].trim_matches(['\n', '\r'])
    }

    /// Returns the texts of all.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| self.text(place))
    }

    /// Writes passages with their numbers, from 1.
    pub(super) fn numbered(&self) -> String {
        let mut text = String::with_capacity(self.markdown.len());
        for (number, passage) in (1..).zip(self.texts()) {
            text.push_str(&format!("[{number}]\n{passage}\n\n"));
        }
        text
    }

    /// Returns the markdown without the named passages, by numbers from 1: everything else stays byte by byte, but that of two
    /// gaps that come together one is left. `None` when nothing would be left.
    pub(super) fn without(&self, named: &HashSet<u64>) -> Option<String> {
        let mut left = String::with_capacity(self.markdown.len());
        let (mut at, mut is_after_removed, mut is_anything_left) = (0, false, false);
        for (number, range) in (1..).zip(&self.ranges) {
            // The gap before what was removed is there already.
            if !(is_after_removed && ends_in_gap(&left)) {
                left.push_str(&self.markdown[at..range.start]);
            }
            is_after_removed = named.contains(&number);
            if !is_after_removed {
                left.push_str(&self.markdown[range.clone()]);
                is_anything_left = true;
            }
            at = range.end;
        }
        if is_after_removed {
            left.truncate(left.trim_end().len());
            left.extend(self.markdown.ends_with('\n').then_some('\n'));
        } else {
            left.push_str(&self.markdown[at..]);
        }
        is_anything_left.then_some(left)
    }
}

/// Tells whether a text is empty or ends with a blank line.
fn ends_in_gap(text: &str) -> bool {
    text.lines().next_back().is_none_or(|line| line.trim().is_empty())
}

fn ranges(markdown: &str, splits: SplitPolicy) -> Vec<Range<usize>> {
    let (mut ranges, mut fence): (Vec<Range<usize>>, Option<Fence>) = (Vec::new(), None);
    let (mut begin, mut at) = (0, 0);
    let mut take = |range: Range<usize>| {
        if !range.is_empty() {
            ranges.push(range);
        }
    };
    for line in markdown.split_inclusive('\n') {
        let was_in_fence = fence.is_some();
        fence = match fence {
            Some(open) if open.is_closed_by(line) => None,
            Some(open) => Some(open),
            None => Fence::opened_by(line),
        };
        if line.trim().is_empty() && !was_in_fence {
            take(begin..at);
            begin = at + line.len();
        } else if at - begin >= PASSAGE_BYTES {
            let may_split = match splits {
                SplitPolicy::Anywhere => true,
                SplitPolicy::InText => !was_in_fence && !is_of_table(line),
            };
            if may_split {
                take(begin..at);
                begin = at;
            }
        }
        at += line.len();
    }
    take(begin..at);
    ranges
}

/// Returns a line without what it is nested in: quotes and spaces.
fn bare(line: &str) -> &str {
    line.trim_start_matches(|sign: char| sign == '>' || sign.is_whitespace()).trim_end()
}

fn is_of_table(line: &str) -> bool {
    bare(line).starts_with('|')
}

/// What a block of code begins with, and ends with.
#[derive(Debug, Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = bare(line);
        let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let (length, rest) = run(line, sign);
        // Backticks on both sides are code within a line.
        (length >= 3 && !(sign == '`' && rest.contains('`'))).then_some(Self { sign, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let (length, rest) = run(bare(line), self.sign);
        length >= self.length && rest.is_empty()
    }
}

/// Returns how often a line has a sign at its beginning, and the rest.
fn run(line: &str, sign: char) -> (usize, &str) {
    let rest = line.trim_start_matches(sign);
    (line.len() - rest.len(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(markdown: &str, splits: SplitPolicy) -> Passages {
        Passages::of(markdown.to_owned(), splits)
    }

    #[track_caller]
    fn check(markdown: &str, expected: &[&str]) {
        let passages = of(markdown, SplitPolicy::Anywhere);
        assert_eq!(passages.texts().collect::<Vec<_>>(), expected, "{markdown}");
    }

    #[test]
    fn passages_are_between_blank_lines_and_fences_are_whole() {
        let markdown = "# Tea\n\nGreen\ntea.\n\n\n```\na\n\nb\n```\n\n| a |\n| b |\n";
        check(markdown, &["# Tea", "Green\ntea.", "```\na\n\nb\n```", "| a |\n| b |"]);
        check(" \n\n", &[]);
        check("```\nnever closed\n\nx", &["```\nnever closed\n\nx"]);
        check("````md\n```\n\na\n```\n\nb\n````\n\nc", &["````md\n```\n\na\n```\n\nb\n````", "c"]);
        check("```code``` in a line\n\nb", &["```code``` in a line", "b"]);
        check("> ~~~\n> a\n\n> ~~~\n\nb", &["> ~~~\n> a\n\n> ~~~", "b"]);
    }

    #[test]
    fn long_passages_are_several_but_not_blocks_that_must_be_whole() {
        let check = |markdown: &str, anywhere: usize, in_text: usize| {
            assert_eq!(of(markdown, SplitPolicy::Anywhere).len(), anywhere);
            assert_eq!(of(markdown, SplitPolicy::InText).len(), in_text);
        };
        let lines = |line: &str| format!("{line}{}\n", "x".repeat(99 - line.len())).repeat(50);
        check(&lines(""), 3, 3);
        check(&lines("| a "), 3, 1);
        check(&format!("```\n{}```\n", lines("")), 3, 1);
    }

    #[test]
    fn what_is_not_named_stays_byte_by_byte() {
        let markdown = "\n# a  \n\n\nb\nb\n\n \n- c\n\n  d\n";
        let check = |named: &[u64], expected: Option<&str>| {
            let numbers = named.iter().copied().collect();
            assert_eq!(of(markdown, SplitPolicy::InText).without(&numbers).as_deref(), expected, "{named:?}");
        };
        check(&[], Some(markdown));
        check(&[9], Some(markdown));
        check(&[2], Some("\n# a  \n\n\n- c\n\n  d\n"));
        check(&[1], Some("\nb\nb\n\n \n- c\n\n  d\n"));
        check(&[4], Some("\n# a  \n\n\nb\nb\n\n \n- c\n"));
        check(&[2, 3, 4], Some("\n# a\n"));
        check(&[1, 2, 3, 4], None);
    }

    #[test]
    fn blocks_longer_than_a_passage_are_not_broken_when_something_is_taken_out() {
        let table = format!("| a |\n| --- |\n{}", format!("| {} |\n", "x".repeat(90)).repeat(60));
        let code = format!("```rust\n{}\n```\n", format!("{}\n\n", "y".repeat(90)).repeat(60));
        let text = format!("{}\n", "z".repeat(90)).repeat(60);
        let markdown = format!("{table}\n{code}\nShare this\n\n{text}");
        let passages = of(&markdown, SplitPolicy::InText);
        let share = passages.texts().position(|text| text == "Share this").unwrap() as u64 + 1;
        assert_eq!(passages.without(&HashSet::from([share])), Some(format!("{table}\n{code}\n{text}")));
    }

    #[test]
    fn numbers_begin_at_one() {
        assert_eq!(of("a\n\nb", SplitPolicy::InText).numbered(), "[1]\na\n\n[2]\nb\n\n");
    }
}
