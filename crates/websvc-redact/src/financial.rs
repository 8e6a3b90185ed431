//! Financial numbers: cards by issuer and the Luhn check (ISO/IEC 7812), accounts by the checks of IBANs (ISO 13616)
//! and routing numbers, and account, tax and social security numbers by the words before them.

use crate::context::{ContextWords, word_before};
use crate::digit_run::{DigitRun, DigitSeparator, digits, lengths};
use crate::kind::Kind;
use crate::scan::{Scan, TextPart};
use crate::word::Word;

/// The countries with an IBAN, and its length.
const IBAN: &[(&[u8; 2], u8)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// Finds a card number at the start of a run.
pub(crate) fn card(scan: &mut Scan<'_>, run: &DigitRun) {
    let groups = &run.groups;
    let gap = groups.get(1).map_or(DigitSeparator::None, |group| group.gap);
    // A card number is written in one piece or in groups of four, American Express in 4, 6 and 5.
    for last in (0..groups.len()).rev() {
        let groups = &groups[..=last];
        let digits = digits(scan, groups);
        let lengths = lengths(groups);
        let has_format = match lengths.as_slice() {
            [12..=19] => true,
            [4, 6, 4 | 5] => true,
            [4, 4, 4, rest @ ..] => rest.iter().sum::<usize>() <= 7 && rest.iter().all(|length| *length <= 4),
            _ => false,
        };
        let is_uniform = groups[1..].iter().all(|group| group.gap == gap)
            && matches!(
                gap,
                DigitSeparator::None | DigitSeparator::Space | DigitSeparator::Hyphen | DigitSeparator::Dot
            );
        let is_card = |scan: &mut Scan<'_>| {
            is_issued(&digits) || word_before(scan, groups[0].start, ContextWords::Card)
        };
        if has_format && is_uniform && luhn(&digits) && is_card(scan) {
            scan.record(Kind::Financial, groups[0].start..groups[groups.len() - 1].end);
            return;
        }
    }
}

/// Returns whether a network issues numbers with this prefix and length.
fn is_issued(digits: &[u8]) -> bool {
    let Some(first) = digits.get(..4) else { return false };
    let prefix = first.iter().fold(0_u16, |number, digit| number * 10 + u16::from(digit - b'0'));
    match digits.len() {
        13 => prefix / 1000 == 4,
        14 => matches!(prefix / 100, 36 | 38 | 39) || matches!(prefix / 10, 300..=305),
        15 => matches!(prefix / 100, 34 | 37),
        16 => {
            matches!(prefix, 2221..=2720 | 3528..=3589 | 2200..=2204 | 4000..=4999 | 5100..=5599 | 6011)
                || matches!(prefix / 10, 644..=649)
                || matches!(prefix / 100, 50 | 56..=58 | 60 | 62 | 63 | 65 | 67 | 81)
        }
        17..=19 => {
            matches!(prefix / 100, 50 | 56..=58 | 62 | 63 | 67) || (digits.len() == 19 && prefix / 1000 == 4)
        }
        _ => false,
    }
}

/// Returns whether the last digit is a valid check digit (ISO/IEC 7812-1, annex B).
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(digit - b'0') * if at % 2 == 1 { 2 } else { 1 };
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| digit != &digits[0])
}

/// Finds an account or routing number after a word for it.
pub(crate) fn account(scan: &mut Scan<'_>, run: &DigitRun) {
    let groups = &run.groups;
    let (start, end) = (groups[0].start, groups[groups.len() - 1].end);
    let digits = digits(scan, groups);
    let may_be_routing = (is_routing(&digits) && groups.len() == 1) || is_sort_code(run) || digits.len() == 8;
    if may_be_routing && word_before(scan, start, ContextWords::Routing) {
        scan.record(Kind::Financial, start..end);
        return;
    }
    let is_grouped =
        groups[1..].iter().all(|group| matches!(group.gap, DigitSeparator::Space | DigitSeparator::Hyphen));
    if is_grouped && (6..=18).contains(&digits.len()) && word_before(scan, start, ContextWords::Account) {
        scan.record(Kind::Financial, start..end);
    }
}

/// Returns whether nine digits are a routing number of the American Bankers Association.
fn is_routing(digits: &[u8]) -> bool {
    let weights = [3_u32, 7, 1].iter().cycle();
    let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    let has_valid_prefix = digits.len() == 9
        && matches!(
            (digits[0], digits[1]),
            (b'0', _) | (b'1', b'0'..=b'2') | (b'2', b'1'..=b'9') | (b'3', b'0'..=b'2')
        );
    has_valid_prefix && sum > 0 && sum.is_multiple_of(10)
}

fn is_sort_code(run: &DigitRun) -> bool {
    matches!(lengths(&run.groups).as_slice(), [2, 2, 2] | [3, 3] | [6])
}

/// Finds an American social security number, or a tax number after a word for it.
pub(crate) fn social(scan: &mut Scan<'_>, run: &DigitRun) {
    let groups = &run.groups;
    let (start, end) = (groups[0].start, groups[groups.len() - 1].end);
    let digits = digits(scan, groups);
    let lengths = lengths(groups);
    let has_hyphens = groups[1..].iter().all(|group| group.gap == DigitSeparator::Hyphen);
    let is_valid = digits.len() == 9
        && !matches!(&digits[..3], b"000" | b"666")
        && digits[0] != b'9'
        && &digits[3..5] != b"00"
        && &digits[5..] != b"0000";
    let is_social = lengths == [3, 2, 4] && has_hyphens && is_valid;
    if is_social || ((9..=12).contains(&digits.len()) && word_before(scan, start, ContextWords::Social)) {
        scan.record(Kind::Financial, start..end);
    }
}

/// Finds an IBAN that starts with a word of two capital letters: `DE89 3704 0044 0532 0130 00`.
pub(crate) fn iban(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    let bytes = scan.bytes();
    let head = &bytes[word.start..part.end];
    let Some(country) = head.first_chunk::<2>() else { return };
    if word.text.len() != 2 || !head.get(2..4).is_some_and(|check| check.iter().all(u8::is_ascii_digit)) {
        return;
    }
    let Ok(row) = IBAN.binary_search_by_key(&country, |(country, _)| country) else { return };
    let length = usize::from(IBAN[row].1);
    let mut iban: Vec<u8> = Vec::with_capacity(length);
    let mut end = 0;
    let mut is_gap = false;
    for (at, b) in head.iter().enumerate() {
        match b {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                is_gap = false;
                iban.push(b.to_ascii_uppercase());
            }
            b' ' | b'-' if !is_gap => is_gap = true,
            _ => break,
        }
        if iban.len() == length {
            end = at + 1;
            break;
        }
    }
    scan.work += iban.len() as u64;
    let continues = head.get(end).is_some_and(u8::is_ascii_alphanumeric);
    if iban.len() == length && !continues && mod_97(&iban) == 1 {
        scan.record_whole(Kind::Financial, word.start..word.start + end);
    }
}

/// Returns the remainder of the check of an IBAN; 1 if it is valid.
fn mod_97(iban: &[u8]) -> u32 {
    iban[4..].iter().chain(&iban[..4]).fold(0, |remainder, b| match b {
        b'0'..=b'9' => (remainder * 10 + u32::from(b - b'0')) % 97,
        _ => (remainder * 100 + u32::from(b - b'A') + 10) % 97,
    })
}

/// Finds the code of a bank (BIC) after a word for it: `BIC: DEUTDEFF500`.
pub(crate) fn bic(scan: &mut Scan<'_>, part: TextPart, word: &Word<'_>) {
    if !word.is_uppercase || word.text.len() < 6 {
        return;
    }
    let bytes = &scan.bytes()[word.start..part.end];
    let length = bytes.iter().take(12).take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count();
    let is_whole = !bytes.get(length).is_some_and(u8::is_ascii_alphanumeric);
    if matches!(length, 8 | 11) && is_whole && word_before(scan, word.start, ContextWords::Bic) {
        scan.record_whole(Kind::Financial, word.start..word.start + length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iban_countries_are_sorted() {
        assert!(IBAN.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn wrong_digit_fails_the_check() {
        assert!(luhn(b"4111111111111111") && !luhn(b"4111111111111112") && !luhn(b"0000000000000000"));
        assert!(is_routing(b"021000021") && !is_routing(b"021000022"));
        assert_eq!(mod_97(b"GB82WEST12345698765432"), 1);
        assert_ne!(mod_97(b"GB82WEST12345698765433"), 1);
    }
}
