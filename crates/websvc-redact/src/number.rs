//! Runs of digits with separators, which the rules for cards, accounts and telephone numbers examine.

use crate::financial;
use crate::kind::Kind;
use crate::phone;
use crate::scan::{Scan, TextPart};

/// The maximum number of groups of a run.
const MAX_GROUPS: usize = 12;
/// The maximum number of digits of a run.
const MAX_DIGITS: usize = 24;

/// A run of digits in groups.
#[derive(Debug, Clone)]
pub(crate) struct DigitRun {
    pub(crate) groups: Vec<DigitGroup>,
}

/// Consecutive digits, and the separator before them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DigitGroup {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The separator between the previous group and this one.
    pub(crate) gap: DigitSeparator,
    /// True if a bracket opens before the group.
    pub(crate) open: bool,
    /// True if a bracket closes after the group.
    pub(crate) close: bool,
}

/// A separator between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigitSeparator {
    None,
    Space,
    Hyphen,
    Dot,
    Slash,
}

impl DigitGroup {
    pub(crate) fn len(self) -> usize {
        self.end - self.start
    }
}

/// Reads the run that starts at `at` and finds the numbers in it. Returns the position at which the scan resumes.
pub(crate) fn run(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let bytes = scan.bytes();
    let first = bytes[at..part.end].iter().take_while(|b| b.is_ascii_digit()).count();
    if is_part_of_identifier(scan, part, at) || first > MAX_DIGITS {
        return identifier_end(scan, part, at + first);
    }
    let run = read(scan, part, at);
    let end = run.groups.last().map_or(at, |group| group.end);
    let digits: usize = run.groups.iter().map(|group| group.len()).sum();
    if digits >= 7 {
        find_numbers(scan, part, &run);
    } else if digits == 6 {
        financial::account(scan, &run);
    }
    // Without a finding, the next group may be the start of a number.
    if scan.resume > at { end } else { at + first }
}

fn find_numbers(scan: &mut Scan<'_>, part: TextPart, run: &DigitRun) {
    let count_before = scan.findings.len();
    if scan.wants(Kind::Financial) {
        financial::card(scan, run);
        financial::account(scan, run);
        financial::social(scan, run);
    }
    let is_financial = scan.findings.len() > count_before;
    if !is_financial && scan.wants(Kind::Phone) {
        phone::find(scan, part, run);
    }
    if scan.findings.len() > count_before {
        let end = scan.findings[count_before..].iter().map(|finding| finding.range.end).max();
        scan.resume = scan.resume.max(end.unwrap_or(0));
    }
}

/// Returns whether the digits are part of an identifier, a version or an amount: `v1`, `a-1`, `#12`, `1.2.3`, `$5`.
fn is_part_of_identifier(scan: &Scan<'_>, part: TextPart, at: usize) -> bool {
    let head = &scan.text[part.start..at];
    let mut before = head.chars().rev();
    match before.next() {
        Some('_' | '#' | '$' | '€' | '£' | '¥' | '@' | '~' | '^') => true,
        Some(':') => before.next().is_some_and(|c| c.is_ascii_digit()),
        Some('.' | ',' | '-' | '/') => before.next().is_some_and(|c| c.is_ascii_alphanumeric()),
        Some(c) => c.is_alphanumeric() && !crate::cjk::is_cjk(c),
        None => false,
    }
}

fn identifier_end(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let rest = &scan.bytes()[at..part.end];
    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    scan.work += length as u64;
    at + length
}

/// Reads the groups of a run.
fn read(scan: &mut Scan<'_>, part: TextPart, at: usize) -> DigitRun {
    let bytes = scan.bytes();
    let mut groups: Vec<DigitGroup> = Vec::with_capacity(8);
    let mut start = at;
    let mut gap = DigitSeparator::None;
    let mut open = at > part.start
        && (bytes[at - 1] == b'(' || bytes[at - 1] == b'+' && at - 1 > part.start && bytes[at - 2] == b'(');
    let mut digits = 0;
    loop {
        let length = bytes[start..part.end].iter().take_while(|b| b.is_ascii_digit()).count();
        digits += length;
        if length == 0 || groups.len() == MAX_GROUPS || digits > MAX_DIGITS {
            break;
        }
        let end = start + length;
        let close = bytes[end..part.end].first() == Some(&b')');
        groups.push(DigitGroup { start, end, gap, open, close });
        let Some(next) = next_group(scan, part, end) else { break };
        NextGroup { start, gap, open } = next;
    }
    scan.work += (groups.last().map_or(at, |group| group.end) - at) as u64;
    DigitRun { groups }
}

/// The start of the next group, and the separator and bracket before it.
struct NextGroup {
    start: usize,
    gap: DigitSeparator,
    open: bool,
}

/// Reads the separator after a group; `None` if the run ends.
fn next_group(scan: &Scan<'_>, part: TextPart, end: usize) -> Option<NextGroup> {
    let rest = &scan.text[end..part.end];
    let mut gap = DigitSeparator::None;
    let (mut spaces, mut marks, mut open) = (0, 0, false);
    for (at, c) in rest.char_indices().take(6) {
        match c {
            '0'..='9' => return (at > 0).then_some(NextGroup { start: end + at, gap, open }),
            ' ' | '\u{a0}' | '\u{202f}' if spaces < 2 => {
                spaces += 1;
                if gap == DigitSeparator::None {
                    gap = DigitSeparator::Space;
                }
            }
            '-' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' if marks == 0 => {
                marks += 1;
                gap = DigitSeparator::Hyphen;
            }
            '.' if marks == 0 && at == 0 => {
                marks += 1;
                gap = DigitSeparator::Dot;
            }
            '/' if marks == 0 => {
                marks += 1;
                gap = DigitSeparator::Slash;
            }
            ')' if !open => {}
            '(' if !open => open = true,
            '\\' => {}
            _ => return None,
        }
    }
    None
}
