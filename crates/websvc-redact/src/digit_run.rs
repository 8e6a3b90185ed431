//! Runs of digits with separators.

use crate::scan::{Scan, TextPart};

/// The maximum number of groups of a run.
const MAX_GROUPS: usize = 12;
/// The maximum number of digits of a run.
pub(crate) const MAX_DIGITS: usize = 24;

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

impl DigitRun {
    /// Reads the run that starts at `at`.
    pub(crate) fn read(scan: &mut Scan<'_>, part: TextPart, at: usize) -> Self {
        let bytes = scan.bytes();
        let mut groups: Vec<DigitGroup> = Vec::with_capacity(8);
        let mut start = at;
        let mut gap = DigitSeparator::None;
        let mut open = at > part.start
            && (bytes[at - 1] == b'('
                || bytes[at - 1] == b'+' && at - 1 > part.start && bytes[at - 2] == b'(');
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
        Self { groups }
    }
}

/// Returns the digits of groups.
pub(crate) fn digits(scan: &mut Scan<'_>, groups: &[DigitGroup]) -> Vec<u8> {
    let bytes = scan.bytes();
    let digits: Vec<u8> = groups.iter().flat_map(|group| &bytes[group.start..group.end]).copied().collect();
    scan.work += digits.len() as u64;
    digits
}

/// Returns the number of digits of each group.
pub(crate) fn lengths(groups: &[DigitGroup]) -> Vec<usize> {
    groups.iter().map(|group| group.len()).collect()
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
