//! Amounts of money in data and in visible texts, in the notations of different countries.

use super::currency::{currency_in, has_currency_sign};
use crate::text::collapsed;
use websvc_types::product::Price;

/// Maximum number of characters of a text that is one price.
const MAX_PRICE_CHARS: usize = 60;

/// The largest amount that is accepted: larger numbers are IDs.
const MAX_AMOUNT: f64 = 1e12;

/// The notation of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// A value for programs: a single `.` separates the fraction.
    Data,
    /// A visible text: a single separator before three digits separates thousands.
    Visible,
}

/// Returns the amount of a text that is one price, or the lower bound of a range of prices.
///
/// `None` if the text has several numbers that are not a range: then it is unclear which one is the price.
pub(crate) fn amount_of(text: &str, notation: Notation) -> Option<f64> {
    let text = collapsed(text);
    if text.chars().count() > MAX_PRICE_CHARS {
        return None;
    }
    let found = numbers(&text);
    let amount = |number: &Number<'_>| parse(number.text, notation);
    match found.as_slice() {
        [single] if !single.is_negative => amount(single),
        [low, high] if is_range(&text[low.end..high.start]) && !low.is_negative => {
            let (low, high) = (amount(low)?, amount(high)?);
            (low <= high).then_some(low)
        }
        _ => None,
    }
}

/// Returns the price in a text, with its currency if the text names one.
pub(crate) fn price_of(text: &str, notation: Notation) -> Option<Price> {
    let amount = amount_of(text, notation)?;
    let formatted = collapsed(text);
    Some(Price {
        amount,
        currency: currency_in(&formatted).map(str::to_owned),
        formatted: has_currency_sign(&formatted).then_some(formatted),
    })
}

/// Returns all amounts in a visible text.
pub(crate) fn amounts_in(text: &str) -> impl Iterator<Item = f64> + '_ {
    numbers(text).into_iter().filter_map(|number| parse(number.text, Notation::Visible))
}

/// Returns whether a visible text has an amount and a sign of money.
pub(crate) fn has_price(text: &str) -> bool {
    has_currency_sign(text) && amounts_in(text).next().is_some()
}

struct Number<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    is_negative: bool,
}

/// Finds the numbers of a text with their separators. Percentages are not amounts.
fn numbers(text: &str) -> Vec<Number<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        let mut end = at;
        while let Some(next) = next_digit(text, end) {
            end = next;
        }
        at = end.max(start + 1);
        let (before, after) = (text[..start].trim_end(), text[at..].trim_start());
        if !after.starts_with('%') {
            let is_negative = before.ends_with(['-', '−'])
                && !before.trim_end_matches(['-', '−']).ends_with(|c: char| c.is_ascii_digit() || c == ' ');
            found.push(Number { text: &text[start..at], start, end: at, is_negative });
        }
    }
    found
}

/// Returns the end of the next digit of a number, which may follow a separator.
fn next_digit(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let mut chars = rest.chars();
    let first = chars.next()?;
    if first.is_ascii_digit() {
        return Some(at + 1);
    }
    let is_space = matches!(first, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}');
    if !is_space && !matches!(first, '.' | ',' | '\'' | '’') {
        return None;
    }
    let after = chars.as_str();
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    // A space separates thousands only before a group of three digits.
    let fits = if is_space { digits == 3 } else { digits > 0 };
    fits.then_some(at + first.len_utf8())
}

fn is_range(between: &str) -> bool {
    let letters: String = between.chars().filter(|c| !c.is_whitespace()).collect();
    let mark = letters.trim_matches(|c: char| matches!(c, '$' | '€' | '£' | '¥') || c.is_ascii_uppercase());
    matches!(mark, "-" | "–" | "—" | "to" | "bis" | "~")
}

/// Parses a number with its separators.
fn parse(number: &str, notation: Notation) -> Option<f64> {
    let plain: String = number.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
    let last = plain.rfind(['.', ',']);
    let is_decimal = match last {
        None => false,
        Some(at) => {
            let mark = plain.as_bytes()[at];
            let fraction = plain.len() - at - 1;
            let same = plain.bytes().filter(|&byte| byte == mark).count();
            let other = plain.bytes().any(|byte| byte != mark && matches!(byte, b'.' | b','));
            match (same, other) {
                (1, true) => true,
                (1, false) if fraction != 3 => true,
                // `0.125` has no thousands. In data, `.` separates the fraction.
                (1, false) => plain.starts_with('0') || notation == Notation::Data && mark == b'.',
                _ => false,
            }
        }
    };
    let (whole, fraction) = match last.filter(|_| is_decimal) {
        Some(at) => (&plain[..at], &plain[at + 1..]),
        None => (plain.as_str(), ""),
    };
    if !has_valid_groups(whole) {
        return None;
    }
    let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    let amount: f64 = format!("{digits}.{fraction}0").parse().ok()?;
    (amount.is_finite() && amount < MAX_AMOUNT).then_some(amount)
}

/// Returns whether the groups of the thousands have three digits, or two as in India, the last one three.
fn has_valid_groups(whole: &str) -> bool {
    let groups: Vec<&str> = whole.split(['.', ',']).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return !whole.is_empty() };
    !first.is_empty()
        && first.len() <= 3
        && last.len() == 3
        && middle.iter().all(|group| matches!(group.len(), 2 | 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, notation: Notation, expected: Option<f64>) {
        assert_eq!(amount_of(text, notation), expected, "{text:?}");
    }

    #[test]
    fn visible_amounts_are_read_in_all_notations() {
        for (text, expected) in [
            ("1.299,00 €", Some(1299.0)),
            ("$1,299.00", Some(1299.0)),
            ("1 299,00 zł", Some(1299.0)),
            ("1\u{202f}299,95\u{a0}€", Some(1299.95)),
            ("CHF 1'299.–", Some(1299.0)),
            ("₹1,29,900.00", Some(129_900.0)),
            ("1.299 €", Some(1299.0)),
            ("12,- €", Some(12.0)),
            ("0.125 EUR", Some(0.125)),
            ("from $10", Some(10.0)),
            ("$10.00 – $25.00", Some(10.0)),
            ("10 bis 25 €", Some(10.0)),
            ("Was $59.99 Now $49.99", None),
            ("20% off $8.50", Some(8.5)),
            ("-5.00", None),
            ("1.2.3", None),
            ("free", None),
            ("25 - 10", None),
            ("999999999999999", None),
        ] {
            check(text, Notation::Visible, expected);
        }
    }

    #[test]
    fn point_of_data_separates_the_fraction() {
        check("1.299", Notation::Data, Some(1.299));
        check("49.990000", Notation::Data, Some(49.99));
        check("1,299", Notation::Data, Some(1299.0));
        check("1.299,00", Notation::Data, Some(1299.0));
        check("49", Notation::Data, Some(49.0));
    }

    #[test]
    fn currency_is_taken_only_from_unambiguous_texts() {
        for (text, currency) in [
            ("12 €", Some("EUR")),
            ("$12", None),
            ("US$12", Some("USD")),
            ("12 SEK", Some("SEK")),
            ("£12", None),
        ] {
            let price = price_of(text, Notation::Visible).unwrap();
            assert_eq!(price.currency.as_deref(), currency, "{text}");
            assert_eq!(price.formatted.as_deref(), Some(text));
        }
        assert_eq!(price_of("12", Notation::Visible).unwrap().formatted, None);
    }
}
