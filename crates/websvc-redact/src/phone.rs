//! Telephone numbers: international ones by the numbering plan of their country, national ones by their format or by a
//! word before them.

use crate::context::{ContextWords, word_before};
use crate::digit_run::{DigitGroup, DigitRun, DigitSeparator, digits, lengths};
use crate::kind::Kind;
use crate::plan::{is_international, is_nanp};
use crate::scan::{Scan, TextPart};

/// The maximum number of digits of an international number (ITU-T E.164).
const MAX_DIGITS: usize = 15;

/// Finds a telephone number at the start of a run: the longest one that ends at the end of the run or at a space. The
/// digits after a space are examined as a run of their own.
pub(crate) fn find(scan: &mut Scan<'_>, part: TextPart, run: &DigitRun) {
    let groups = &run.groups;
    for last in (1..=groups.len()).rev() {
        let may_end = last == groups.len() || groups[last].gap == DigitSeparator::Space;
        if may_end && is_phone(scan, part, &groups[..last]) {
            record(scan, part, &groups[..last]);
            return;
        }
    }
}

/// Records a telephone number with its plus sign, brackets and extension.
fn record(scan: &mut Scan<'_>, part: TextPart, groups: &[DigitGroup]) {
    let bytes = scan.bytes();
    let (mut start, mut end) = (groups[0].start, groups[groups.len() - 1].end);
    while start > part.start && matches!(bytes[start - 1], b'+' | b'(') {
        // A bracket belongs to the number only if it closes inside the number.
        if bytes[start - 1] == b'(' && !groups.iter().any(|group| group.close) {
            break;
        }
        start -= 1;
    }
    if groups[groups.len() - 1].close && bytes[start] == b'(' && groups.len() == 1 {
        end += 1;
    }
    let end = extension_end(scan, part, end).unwrap_or(end);
    scan.record(Kind::Phone, start..end);
}

/// Returns the end of an extension after a number: `x123`, ` x123`, ` ext. 123`.
fn extension_end(scan: &Scan<'_>, part: TextPart, end: usize) -> Option<usize> {
    let rest = &scan.bytes()[end..part.end];
    let space = usize::from(rest.first() == Some(&b' '));
    let word = ["ext. ", "ext.", "ext ", "ext", "x"]
        .iter()
        .find(|word| rest[space..].starts_with(word.as_bytes()))?;
    let from = space + word.len();
    let digits = rest[from..].iter().take(7).take_while(|b| b.is_ascii_digit()).count();
    let continues = rest.get(from + digits).is_some_and(u8::is_ascii_alphanumeric);
    ((1..=6).contains(&digits) && !continues).then_some(end + from + digits)
}

/// Returns whether the groups are a telephone number.
fn is_phone(scan: &mut Scan<'_>, part: TextPart, groups: &[DigitGroup]) -> bool {
    let digits = digits(scan, groups);
    if !(7..=MAX_DIGITS + 2).contains(&digits.len()) || !has_valid_end(scan, part, groups) {
        return false;
    }
    let start = groups[0].start;
    let has_plus = start > part.start && scan.bytes()[start - 1] == b'+';
    if has_plus {
        return digits.len() <= MAX_DIGITS + 1 && is_international(&digits);
    }
    if is_date(groups, &digits) {
        return false;
    }
    if digits.starts_with(b"00") && groups[0].len() <= 5 && is_international(&digits[2..]) && groups.len() > 1
    {
        return true;
    }
    if digits.len() > 13 {
        return false;
    }
    if has_distinct_format(groups, &digits) {
        return !word_before(scan, start, ContextWords::OtherNumber);
    }
    let is_likely = scan.is_aggressive() && has_likely_format(groups, &digits);
    (is_likely && !word_before(scan, start, ContextWords::OtherNumber))
        || (has_plausible_format(groups) && word_before(scan, start, ContextWords::Phone))
}

/// Returns whether no letter, digit, decimal or unit follows, which would make it another number.
fn has_valid_end(scan: &Scan<'_>, part: TextPart, groups: &[DigitGroup]) -> bool {
    let end = groups[groups.len() - 1].end;
    if extension_end(scan, part, end).is_some() {
        return true;
    }
    let mut next = scan.text[end..part.end].chars();
    match next.next() {
        None => true,
        Some('%' | '_' | '€' | '$' | '£' | '@' | '=' | '#' | '°') => false,
        Some('.' | ',' | ':' | '/' | '-') => !next.next().is_some_and(char::is_alphanumeric),
        Some(c) => !c.is_alphanumeric() || crate::cjk::is_cjk(c),
    }
}

/// Returns whether the groups look like a date: `2024-05-17`, `17.05.2024`, `2019-2024`.
fn is_date(groups: &[DigitGroup], digits: &[u8]) -> bool {
    let is_year = |at: usize| {
        groups.get(at).is_some_and(|group| {
            let from: usize = groups[..at].iter().map(|group| group.len()).sum();
            group.len() == 4 && (digits[from..].starts_with(b"19") || digits[from..].starts_with(b"20"))
        })
    };
    let is_day_or_month = |at: usize| groups.get(at).is_some_and(|group| group.len() <= 2);
    match groups.len() {
        2 => is_year(0) && (is_year(1) || is_day_or_month(1)),
        3 => {
            (is_year(0) && is_day_or_month(1) && is_day_or_month(2))
                || (is_day_or_month(0) && is_day_or_month(1) && is_year(2))
        }
        4.. => is_year(0) && is_day_or_month(1) && is_day_or_month(2),
        _ => groups[0].len() == 8 && starts_with_year(digits),
    }
}

fn starts_with_year(digits: &[u8]) -> bool {
    digits.starts_with(b"19") || digits.starts_with(b"20")
}

/// Returns whether the format is distinctive for national telephone numbers.
fn has_distinct_format(groups: &[DigitGroup], digits: &[u8]) -> bool {
    let lengths = lengths(groups);
    let gaps = |gap: DigitSeparator| groups[1..].iter().all(|group| group.gap == gap);
    let one_gap = groups.len() > 1
        && (gaps(DigitSeparator::Hyphen) || gaps(DigitSeparator::Dot) || gaps(DigitSeparator::Space));
    let bracketed = groups[0].open && groups[0].close;
    let trunk = digits[0] == b'0' && digits[1] != b'0';
    let hyphens = groups.len() > 1 && gaps(DigitSeparator::Hyphen);
    match lengths.as_slice() {
        // North America.
        [3, 3, 4] if is_nanp(digits) => bracketed || one_gap,
        [1, 3, 3, 4] if digits[0] == b'1' && is_nanp(&digits[1..]) => one_gap || groups[1].open,
        // France, Belgium and Morocco; the first pair is the zone.
        [2, 2, 2, 2, 2] => trunk && one_gap,
        // Area code in brackets.
        [2..=5, rest @ ..] if bracketed && !rest.is_empty() => {
            let local: usize = rest.iter().sum();
            (trunk && (9..=12).contains(&digits.len()))
                || (lengths[0] == 2 && matches!(rest, [4 | 5, 4]) && digits[0] != b'0')
                || (local == 7 && lengths[0] == 3 && is_nanp(digits))
        }
        // Mobile numbers of China.
        [3, 4, 4] if digits[0] == b'1' => one_gap && digits[1] >= b'3',
        // Great Britain, Australia, Japan, Korea, Germany: a trunk zero, and nine to eleven digits in total.
        [2..=5, 2..=4, 3 | 4] => {
            trunk && one_gap && (9..=11).contains(&digits.len()) && !(gaps(DigitSeparator::Dot))
        }
        [3..=5, 6] | [4, 7] => {
            trunk && one_gap && !gaps(DigitSeparator::Dot) && (10..=11).contains(&digits.len())
        }
        // Germany and Austria: the area code before a slash.
        [3..=5, 3..=9] if groups[1].gap == DigitSeparator::Slash => trunk && (7..=13).contains(&digits.len()),
        // Brazil.
        [5, 4] => hyphens && digits[0] == b'9',
        _ => false,
    }
}

/// Returns whether the groups may be a national number after a word for it: no full stop precedes a group of one digit.
fn has_plausible_format(groups: &[DigitGroup]) -> bool {
    groups[1..].iter().all(|group| group.len() >= 2 || group.gap != DigitSeparator::Dot)
}

/// Returns whether the groups may be a national number without such a word.
fn has_likely_format(groups: &[DigitGroup], digits: &[u8]) -> bool {
    let is_single = groups.len() == 1;
    let trunk = digits[0] == b'0' && digits[1] != b'0';
    let is_grouped = groups[1..].iter().all(|group| (2..=4).contains(&group.len()));
    match digits.len() {
        8..=12 if trunk => is_single || is_grouped,
        10 if is_single => is_nanp(digits),
        9 if !is_single => is_grouped && digits[0] >= b'6',
        10 => is_grouped && digits[0] >= b'6',
        _ => false,
    }
}
