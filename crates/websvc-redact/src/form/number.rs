//! The forms of numbers and secrets, and of the harmless numbers that models take for them: times, dates, prices and counts.

use crate::context::ContextWords;

/// The number of digits of a telephone number with its extension.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 6..=20;

/// Minimum number of digits of a number of a bank or an office.
const MIN_FINANCIAL_DIGITS: usize = 6;

/// Maximum length of such a number with its label, in characters.
const MAX_FINANCIAL_CHARS: usize = 60;

/// Maximum number of words in lower case of its label.
const MAX_LABEL_WORDS: usize = 2;

/// Number of digits from which a number in one piece, without a zero or a plus sign before it, is not a count.
const MIN_UNGROUPED_DIGITS: usize = 8;

/// Minimum length of a secret, in characters.
const MIN_SECRET_CHARS: usize = 6;

/// Maximum length of a word of capital letters in a telephone number: `1-800-FLOWERS`.
const MAX_VANITY_CHARS: usize = 10;

/// Words of a telephone number besides those before it.
const PHONE_WORDS: &[&str] =
    &["ext", "extension", "x", "int", "t", "p", "f", "m", "or", "no", "nr", "number"];

/// Codes of currencies, before or after an amount.
const CURRENCIES: &[&str] = &["usd", "eur", "gbp", "jpy", "cny", "chf", "inr", "cad", "aud"];

/// Words after an amount or a count.
const UNITS: &[&str] = &[
    "euro", "euros", "dollar", "dollars", "cents", "pounds", "yen", "yuan", "kg", "km", "cm", "mm", "ml",
    "gb", "mb", "kb", "px", "years", "days", "hours", "minutes", "percent", "pages", "people",
];

/// Words after the hour of a time.
const HOURS: &[&str] = &["am", "pm", "uhr", "h"];

/// Length from which a secret has no form of a measure, in bytes.
const LONG_SECRET_BYTES: usize = 20;

/// Returns whether a text may be a telephone number.
pub(super) fn is_phone(text: &str) -> bool {
    let groups = digit_groups(text);
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    // Letters in place of digits: `1-800-FLOWERS`.
    let vanity: usize = words(text).filter(|word| word.len() > 2 && is_vanity(word)).map(str::len).sum();
    let digits = if digits < *PHONE_DIGITS.start() && digits > 2 { digits + vanity } else { digits };
    let is_marked = text.starts_with(['+', '(', '0']) || text.contains(" +") || text.contains(" 0");
    PHONE_DIGITS.contains(&digits)
        && !is_measure(text)
        && (is_marked || !is_count(text, &groups))
        && words(text).all(is_phone_word)
}

fn is_phone_word(word: &str) -> bool {
    let lower = word.to_lowercase();
    ContextWords::Phone.all().contains(&lower.as_str())
        || PHONE_WORDS.contains(&lower.as_str())
        || is_vanity(word)
}

fn is_vanity(word: &str) -> bool {
    word.len() <= MAX_VANITY_CHARS && word.bytes().all(|b| b.is_ascii_uppercase())
}

/// Returns whether a text may be the number of a card, an account or a person in an office, or the code of a bank.
pub(super) fn is_financial(text: &str) -> bool {
    let groups = digit_groups(text);
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    let is_bank = matches!(text.len(), 8 | 11)
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && text.bytes().take(6).all(|b| b.is_ascii_uppercase());
    let label = words(text).filter(|word| word.contains(char::is_lowercase)).count();
    is_bank
        || digits >= MIN_FINANCIAL_DIGITS
            && text.chars().count() <= MAX_FINANCIAL_CHARS
            && label <= MAX_LABEL_WORDS
            && !is_measure(text)
            && !is_count(text, &groups)
}

/// Returns the secret in a text: one word, after its label if there is one.
pub(super) fn secret(text: &str) -> Option<&str> {
    let labels = [": ", " = ", "="];
    let value = labels.iter().find_map(|mark| text.split_once(mark).map(|(_, value)| value.trim()));
    let value = value.filter(|value| value.len() >= MIN_SECRET_CHARS).unwrap_or(text);
    let is_possible = is_secret(value) && (value.len() >= LONG_SECRET_BYTES || !is_measure(value));
    is_possible.then_some(value)
}

fn is_secret(value: &str) -> bool {
    let body = value.trim_end_matches(['!', '?', '.', ',', ';', ':', '%']);
    let has_letter = body.contains(char::is_alphabetic);
    let has_digit = body.contains(|c: char| c.is_ascii_digit());
    let has_mark = body.contains(['!', '@', '#', '$', '%', '^', '&', '*', '+', '?', '~']);
    let is_long_number =
        !has_letter && body.len() >= MIN_UNGROUPED_DIGITS && body.bytes().all(|b| b.is_ascii_digit());
    value.chars().count() >= MIN_SECRET_CHARS
        && !value.contains(char::is_whitespace)
        && (has_letter && (has_digit || has_mark) || is_long_number)
}

/// Returns whether a text has a time, a date, a price, a share or a number with thousands: `10:30`, `17.05.2024`, `$5`, `1,200`.
pub(super) fn is_measure(text: &str) -> bool {
    let has_sign = text.contains(['$', '€', '£', '¥', '₹', '%', '°', '‰']);
    let is_without_words = !text.contains(char::is_alphabetic);
    let groups = digit_groups(text);
    has_sign
        || has_inner(text, ':')
        || has_inner(text, ',')
        || has_unit(text)
        || is_without_words && (is_date(&groups) || is_span_of_hours(&groups))
}

/// Returns whether a text has a number with a unit.
fn has_unit(text: &str) -> bool {
    let mut before = "";
    for (at, c) in text.char_indices() {
        let starts = |kind: fn(char) -> bool| kind(c) && !text[..at].ends_with(kind);
        let run = |kind: fn(char) -> bool| {
            let rest = &text[at..];
            &rest[..rest.find(|c| !kind(c)).unwrap_or(rest.len())]
        };
        if starts(|c| c.is_ascii_digit()) {
            if CURRENCIES.contains(&before.to_ascii_lowercase().as_str()) {
                return true;
            }
            before = run(|c| c.is_ascii_digit());
        } else if starts(char::is_alphabetic) {
            let word = run(char::is_alphabetic);
            let lower = word.to_lowercase();
            let is_number = before.starts_with(|c: char| c.is_ascii_digit());
            let is_hour = is_number && before.len() <= 2 && HOURS.contains(&lower.as_str());
            let is_unit = UNITS.contains(&lower.as_str()) || CURRENCIES.contains(&lower.as_str());
            if is_hour || is_number && is_unit {
                return true;
            }
            before = word;
        }
    }
    false
}

/// Returns whether a mark is between two digits.
fn has_inner(text: &str, mark: char) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(mark).any(|(at, _)| {
        is_digit(text[..at].chars().next_back()) && is_digit(text[at + mark.len_utf8()..].chars().next())
    })
}

/// Returns whether the digits of a text are those of a date or of a span of years, and nothing else.
fn is_date(groups: &[&str]) -> bool {
    let is_year = |group: &str| group.len() == 4 && (group.starts_with("19") || group.starts_with("20"));
    let is_up_to = |group: &str, max: u32| {
        group.len() <= 2 && group.parse().is_ok_and(|number: u32| (1..=max).contains(&number))
    };
    match groups {
        [year] if is_year(year) => true,
        [day] if day.len() == 8 => is_year(&day[..4]) && is_up_to(&day[4..6], 12) && is_up_to(&day[6..], 31),
        [from, to] => is_year(from) && is_year(to),
        [year, month, day] if is_year(year) => is_up_to(month, 12) && is_up_to(day, 31),
        [day, month, year] if is_year(year) => is_up_to(day, 31) && is_up_to(month, 31),
        _ => false,
    }
}

/// Returns whether the digits of a text are those of two times: `9.00-18.30`.
fn is_span_of_hours(groups: &[&str]) -> bool {
    groups.len() == 4 && groups.iter().all(|group| group.len() <= 2)
}

/// Returns whether the digits of a text are those of a count: a short number in one piece, or one with thousands.
fn is_count(text: &str, groups: &[&str]) -> bool {
    match groups {
        [number] => number.len() < MIN_UNGROUPED_DIGITS && !text.contains(|c: char| c.is_ascii_uppercase()),
        [first, thousands @ ..] => {
            let has_marks = text.trim().bytes().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'.'));
            has_marks && first.len() <= 2 && thousands.iter().all(|group| group.len() == 3)
        }
        [] => true,
    }
}

/// Returns the runs of digits of a text.
fn digit_groups(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect()
}

/// Returns the runs of letters of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}
