//! Passes runs of digits to the rules for cards, accounts and telephone numbers.

use crate::digit_run::{DigitRun, MAX_DIGITS};
use crate::financial;
use crate::kind::Kind;
use crate::phone;
use crate::scan::{Scan, TextPart};

/// Reads the run that starts at `at` and finds the numbers in it. Returns the position at which the scan resumes.
pub(crate) fn run(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    let bytes = scan.bytes();
    let first = bytes[at..part.end].iter().take_while(|b| b.is_ascii_digit()).count();
    if is_part_of_identifier(scan, part, at) || first > MAX_DIGITS {
        return identifier_end(scan, part, at + first);
    }
    let run = DigitRun::read(scan, part, at);
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
