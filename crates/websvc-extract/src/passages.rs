//! Splits markdown into passages: the text between blank lines, with whole code fences.

use std::collections::HashSet;
use std::ops::Range;

/// The length from which a passage is split at line ends.
const PASSAGE_BYTES: usize = 2_000;

/// The places where a long passage may be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitPolicy {
    /// At the end of any line.
    Anywhere,
    /// At the end of a line of text or of a list, but not within a table or a code block.
    InText,
}

/// A text and its passages in order.
#[derive(Debug)]
pub struct Passages {
    markdown: String,
    /// The byte ranges of the passages. They consist of whole lines, and are separated by blank lines or, where a long
    /// passage was split, by nothing.
    ranges: Vec<Range<usize>>,
}

impl Passages {
    /// Splits markdown into passages. Together they contain everything but the blank lines between them.
    #[must_use]
    pub fn from_markdown(markdown: String, policy: SplitPolicy) -> Self {
        let ranges = ranges(&markdown, policy);
        Self { markdown, ranges }
    }

    /// Returns the number of passages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns whether there is no passage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the text of the passage at `index`.
    ///
    /// # Panics
    /// If there is no such passage.
    #[must_use]
    pub fn text(&self, index: usize) -> &str {
        self.markdown[self.ranges[index].clone()].trim_matches(['\n', '\r'])
    }

    /// Returns the range of the passage at `index` in the markdown, in bytes: whole lines.
    ///
    /// # Panics
    /// If there is no such passage.
    #[must_use]
    pub fn range(&self, index: usize) -> Range<usize> {
        self.ranges[index].clone()
    }

    /// Returns the markdown.
    #[must_use]
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    /// Returns the texts of all passages.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.text(index))
    }

    /// Returns ranges that consist of whole passages and have at most `max_bytes`, unless one passage has more.
    #[must_use]
    pub fn grouped(&self, max_bytes: usize) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for range in &self.ranges {
            match groups.last_mut() {
                Some(group) if range.end - group.start <= max_bytes => group.end = range.end,
                Some(_) | None => groups.push(range.clone()),
            }
        }
        groups
    }

    /// Returns all passages with their numbers, from 1.
    #[must_use]
    pub fn numbered(&self) -> String {
        let mut text = String::with_capacity(self.markdown.len());
        for (number, passage) in (1..).zip(self.texts()) {
            text.push_str(&format!("[{number}]\n{passage}\n\n"));
        }
        text
    }

    /// Returns the markdown without the passages with these numbers, from 1. Everything else stays byte by byte, except
    /// that of two gaps that become adjacent one remains. `None` if nothing would remain.
    #[must_use]
    pub fn without(&self, numbers: &HashSet<u64>) -> Option<String> {
        let mut remaining = String::with_capacity(self.markdown.len());
        let (mut position, mut is_after_removed, mut is_anything_remaining) = (0, false, false);
        for (number, range) in (1..).zip(&self.ranges) {
            // Where a passage was removed, the gap before it is present already.
            if !(is_after_removed && ends_in_gap(&remaining)) {
                remaining.push_str(&self.markdown[position..range.start]);
            }
            is_after_removed = numbers.contains(&number);
            if !is_after_removed {
                remaining.push_str(&self.markdown[range.clone()]);
                is_anything_remaining = true;
            }
            position = range.end;
        }
        if is_after_removed {
            remaining.truncate(remaining.trim_end().len());
            remaining.extend(self.markdown.ends_with('\n').then_some('\n'));
        } else {
            remaining.push_str(&self.markdown[position..]);
        }
        is_anything_remaining.then_some(remaining)
    }
}

/// Returns the number of letters and digits of a markdown text that a reader sees: those of the targets of links and images do
/// not count.
#[must_use]
pub fn visible_chars(markdown: &str) -> usize {
    let (mut count, mut rest) = (0, markdown);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    while let Some(open) = rest.find("](") {
        count += letters(&rest[..open]);
        rest = &rest[open + 2..];
        let mut depth = 0_usize;
        let end = rest.char_indices().find(|(_, c)| match c {
            '(' => {
                depth += 1;
                false
            }
            ')' if depth > 0 => {
                depth -= 1;
                false
            }
            ')' | '\n' => true,
            _ => false,
        });
        rest = end.map_or("", |(at, _)| &rest[at..]);
    }
    count + letters(rest)
}

/// Returns whether a passage is a heading and nothing else.
#[must_use]
pub fn is_heading(passage: &str) -> bool {
    passage.starts_with('#') && !passage.contains('\n')
}

/// Returns whether a text is empty or ends with a blank line.
fn ends_in_gap(text: &str) -> bool {
    text.lines().next_back().is_none_or(|line| line.trim().is_empty())
}

fn ranges(markdown: &str, policy: SplitPolicy) -> Vec<Range<usize>> {
    let (mut ranges, mut fence): (Vec<Range<usize>>, Option<Fence>) = (Vec::new(), None);
    let (mut start, mut position) = (0, 0);
    let mut push_range = |range: Range<usize>| {
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
            push_range(start..position);
            start = position + line.len();
        } else if position - start >= PASSAGE_BYTES {
            let may_split = match policy {
                SplitPolicy::Anywhere => true,
                SplitPolicy::InText => !was_in_fence && !is_of_table(line),
            };
            if may_split {
                push_range(start..position);
                start = position;
            }
        }
        position += line.len();
    }
    push_range(start..position);
    ranges
}

/// Returns a line without the quote markers and spaces around it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(|c: char| c == '>' || c.is_whitespace()).trim_end()
}

fn is_of_table(line: &str) -> bool {
    bare(line).starts_with('|')
}

/// The opening line of a fenced code block.
#[derive(Debug, Clone, Copy)]
struct Fence {
    marker: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = bare(line);
        let marker = line.chars().next().filter(|marker| matches!(marker, '`' | '~'))?;
        let (length, rest) = run(line, marker);
        // Backticks on both sides are inline code.
        (length >= 3 && !(marker == '`' && rest.contains('`'))).then_some(Self { marker, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let (length, rest) = run(bare(line), self.marker);
        length >= self.length && rest.is_empty()
    }
}

/// Returns the number of times a character is repeated at the beginning of a line, and the rest of the line.
fn run(line: &str, marker: char) -> (usize, &str) {
    let rest = line.trim_start_matches(marker);
    (line.len() - rest.len(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(markdown: &str, policy: SplitPolicy) -> Passages {
        Passages::from_markdown(markdown.to_owned(), policy)
    }

    #[track_caller]
    fn check(markdown: &str, expected: &[&str]) {
        let passages = split(markdown, SplitPolicy::Anywhere);
        assert_eq!(passages.texts().collect::<Vec<_>>(), expected, "{markdown}");
    }

    #[test]
    fn passages_are_separated_by_blank_lines_and_fences_are_whole() {
        let markdown = "# Tea\n\nGreen\ntea.\n\n\n```\na\n\nb\n```\n\n| a |\n| b |\n";
        check(markdown, &["# Tea", "Green\ntea.", "```\na\n\nb\n```", "| a |\n| b |"]);
        check(" \n\n", &[]);
        check("```\nnever closed\n\nx", &["```\nnever closed\n\nx"]);
        check("````md\n```\n\na\n```\n\nb\n````\n\nc", &["````md\n```\n\na\n```\n\nb\n````", "c"]);
        check("```code``` in a line\n\nb", &["```code``` in a line", "b"]);
        check("> ~~~\n> a\n\n> ~~~\n\nb", &["> ~~~\n> a\n\n> ~~~", "b"]);
    }

    #[test]
    fn long_passages_are_split_except_tables_and_code() {
        let check = |markdown: &str, anywhere: usize, in_text: usize| {
            assert_eq!(split(markdown, SplitPolicy::Anywhere).len(), anywhere);
            assert_eq!(split(markdown, SplitPolicy::InText).len(), in_text);
        };
        let lines = |line: &str| format!("{line}{}\n", "x".repeat(99 - line.len())).repeat(50);
        check(&lines(""), 3, 3);
        check(&lines("| a "), 3, 1);
        check(&format!("```\n{}```\n", lines("")), 3, 1);
    }

    #[test]
    fn remaining_passages_stay_byte_by_byte() {
        let markdown = "\n# a  \n\n\nb\nb\n\n \n- c\n\n  d\n";
        let check = |numbers: &[u64], expected: Option<&str>| {
            let numbers = numbers.iter().copied().collect();
            assert_eq!(
                split(markdown, SplitPolicy::InText).without(&numbers).as_deref(),
                expected,
                "{numbers:?}"
            );
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
    fn long_blocks_stay_whole_when_another_passage_is_removed() {
        let table = format!("| a |\n| --- |\n{}", format!("| {} |\n", "x".repeat(90)).repeat(60));
        let code = format!("```rust\n{}\n```\n", format!("{}\n\n", "y".repeat(90)).repeat(60));
        let text = format!("{}\n", "z".repeat(90)).repeat(60);
        let markdown = format!("{table}\n{code}\nShare this\n\n{text}");
        let passages = split(&markdown, SplitPolicy::InText);
        let share = passages.texts().position(|text| text == "Share this").unwrap() as u64 + 1;
        assert_eq!(passages.without(&HashSet::from([share])), Some(format!("{table}\n{code}\n{text}")));
    }

    #[test]
    fn groups_have_whole_passages_up_to_a_size() {
        let passages = split("aa\n\nbb\n\ncccccccccc\n\ndd", SplitPolicy::Anywhere);
        assert_eq!(passages.grouped(8), [0..7, 8..19, 20..22]);
        assert_eq!(passages.grouped(100), vec![Range { start: 0, end: 22 }]);
        assert!(split("", SplitPolicy::Anywhere).grouped(8).is_empty());
    }

    #[test]
    fn targets_of_links_are_not_visible() {
        for (markdown, expected) in [
            ("# Tea 12", 5),
            ("[tea](http://a.test/x_(y)) and ![](/cup.png) cup", 9),
            ("[tea](never closed\nx", 4),
            ("[tea](never closed", 3),
            ("\u{7dd1}\u{8336}", 2),
        ] {
            assert_eq!(visible_chars(markdown), expected, "{markdown}");
        }
        assert!(is_heading("# Tea") && !is_heading("# Tea\nx") && !is_heading("Tea"));
    }

    #[test]
    fn passage_numbers_start_at_one() {
        assert_eq!(split("a\n\nb", SplitPolicy::InText).numbered(), "[1]\na\n\n[2]\nb\n\n");
    }
}
