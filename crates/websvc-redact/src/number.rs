//! Runs of digits with what people put between them, handed to the rules for cards, accounts and telephones.

use crate::financial;
use crate::kind::Kind;
use crate::phone;
use crate::scan::{Scan, TextPart};

/// No number that means something has more groups or digits.
const MOST_GROUPS: usize = 12;
const MOST_DIGITS: usize = 24;

/// A run of digits in groups.
#[derive(Debug, Clone)]
pub(crate) struct DigitRun {
    pub(crate) groups: Vec<DigitGroup>,
}

/// Digits without anything between, and what stands before them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DigitGroup {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Separator between the previous group and this one.
    pub(crate) gap: Separator,
    /// Brackets open before the group.
    pub(crate) open: bool,
    /// Brackets close behind the group.
    pub(crate) close: bool,
}

/// Separator between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
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

/// Reads the run that begins at `at` and looks for numbers in it; returns where it ends.
pub(crate) fn run(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let bytes = scan.bytes();
    let first = bytes[at..part.end].iter().take_while(|b| b.is_ascii_digit()).count();
    if part_of_name(scan, part, at) || first > MOST_DIGITS {
        return end_of_name(scan, part, at + first);
    }
    let run = read(scan, part, at);
    let end = run.groups.last().map_or(at, |group| group.end);
    let digits: usize = run.groups.iter().map(|group| group.len()).sum();
    if digits >= 7 {
        look(scan, part, &run);
    } else if digits == 6 {
        financial::account(scan, &run);
    }
    // A decimal number, a date or a version goes on; no number begins inside it.
    if scan.resume > at { end } else { at + first }
}

fn look(scan: &mut Scan<'_>, part: TextPart, run: &DigitRun) {
    let found = scan.found.len();
    if scan.wants(Kind::Financial) {
        financial::card(scan, run);
        financial::account(scan, run);
        financial::social(scan, run);
    }
    let is_new = scan.found.len() > found;
    if !is_new && scan.wants(Kind::Phone) {
        phone::look(scan, part, run);
    }
    if scan.found.len() > found {
        let end = scan.found[found..].iter().map(|finding| finding.range.end).max();
        scan.resume = scan.resume.max(end.unwrap_or(0));
    }
}

/// Returns whether the digits are part of something with letters: `v1`, `a-1`, `#12`, `1.2.3`, `$5`.
fn part_of_name(scan: &Scan<'_>, part: TextPart, at: usize) -> bool {
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

fn end_of_name(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let rest = &scan.bytes()[at..part.end];
    let length = rest.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
    scan.work += length as u64;
    at + length
}

fn read(scan: &mut Scan<'_>, part: TextPart, at: usize) -> DigitRun {
    let bytes = scan.bytes();
    let mut groups: Vec<DigitGroup> = Vec::with_capacity(8);
    let mut start = at;
    let mut gap = Separator::None;
    let mut open = at > part.start
        && (bytes[at - 1] == b'(' || bytes[at - 1] == b'+' && at - 1 > part.start && bytes[at - 2] == b'(');
    let mut digits = 0;
    loop {
        let length = bytes[start..part.end].iter().take_while(|b| b.is_ascii_digit()).count();
        digits += length;
        if length == 0 || groups.len() == MOST_GROUPS || digits > MOST_DIGITS {
            break;
        }
        let end = start + length;
        let close = bytes[end..part.end].first() == Some(&b')');
        groups.push(DigitGroup { start, end, gap, open, close });
        let Some((next, separator, opens)) = separator(scan, part, end) else { break };
        (start, gap, open) = (next, separator, opens);
    }
    scan.work += (groups.last().map_or(at, |group| group.end) - at) as u64;
    DigitRun { groups }
}

/// Reads what stands behind a group: returns where digits go on, by which separator, and whether in brackets.
fn separator(scan: &Scan<'_>, part: TextPart, end: usize) -> Option<(usize, Separator, bool)> {
    let rest = &scan.text[end..part.end];
    let mut found = Separator::None;
    let (mut spaces, mut marks, mut opens) = (0, 0, false);
    for (at, c) in rest.char_indices().take(6) {
        match c {
            '0'..='9' => return (at > 0).then_some((end + at, found, opens)),
            ' ' | '\u{a0}' | '\u{202f}' if spaces < 2 => {
                spaces += 1;
                if found == Separator::None {
                    found = Separator::Space;
                }
            }
            '-' | '\u{2010}' | '\u{2011}' | '\u{2012}' | '\u{2013}' if marks == 0 => {
                marks += 1;
                found = Separator::Hyphen;
            }
            '.' if marks == 0 && at == 0 => {
                marks += 1;
                found = Separator::Dot;
            }
            '/' if marks == 0 => {
                marks += 1;
                found = Separator::Slash;
            }
            ')' if !opens => {}
            '(' if !opens => opens = true,
            '\\' => {}
            _ => return None,
        }
    }
    None
}
