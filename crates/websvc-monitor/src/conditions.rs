//! Decides whether a change of a page counts, by the rules of its target.

use std::borrow::Cow;

use serde_json::{Map, Value};
use websvc_types::monitor::ConditionText;
use websvc_validate::{ConditionSubject, NumberRange, PageCondition};

use crate::baseline::PageBaseline;
use crate::compare::PageChange;

/// Returns whether a change fulfils all conditions.
pub(crate) fn hold(
    conditions: &[PageCondition],
    previous: &PageBaseline,
    current: &PageBaseline,
    change: &PageChange,
) -> bool {
    conditions.iter().all(|condition| holds(condition, previous, current, change))
}

fn holds(
    condition: &PageCondition,
    previous: &PageBaseline,
    current: &PageBaseline,
    change: &PageChange,
) -> bool {
    let text = |within: &ConditionText| match within {
        ConditionText::Page => Cow::Borrowed(current.markdown.as_str()),
        ConditionText::Added => Cow::Owned(diff_lines(change, '+')),
        ConditionText::Removed => Cow::Owned(diff_lines(change, '-')),
    };
    match &condition.subject {
        ConditionSubject::Contains(wanted, within) => text(within).to_lowercase().contains(wanted),
        ConditionSubject::Lacks(unwanted, within) => !text(within).to_lowercase().contains(unwanted),
        ConditionSubject::Matches(pattern, within) => pattern.find(&text(within)).is_some(),
        ConditionSubject::Number(pattern) => {
            let number = |page: &PageBaseline| number_in(pattern.find(&page.markdown)?);
            number(current).is_some_and(|found| is_in_range(condition.range, number(previous), found))
        }
        ConditionSubject::Field(path) => {
            let field =
                change.event_diff.json.as_ref().and_then(|fields: &Map<String, Value>| fields.get(path));
            field.is_some_and(|field| field_holds(condition.range, field))
        }
    }
}

/// Returns whether the values of a changed field are in the range. Without a range, any change is.
fn field_holds(range: NumberRange, field: &Value) -> bool {
    let number = |name: &str| match &field[name] {
        Value::String(text) => number_in(text),
        value => value.as_f64(),
    };
    range == NumberRange::default()
        || number("current").is_some_and(|current| is_in_range(range, number("previous"), current))
}

fn is_in_range(range: NumberRange, previous: Option<f64>, current: f64) -> bool {
    let NumberRange { above, below, changed_by_percent } = range;
    above.is_none_or(|above| current > above)
        && below.is_none_or(|below| current < below)
        && changed_by_percent.is_none_or(|percent| {
            // In relation to the previous number. Any change from 0 is more than any percentage.
            previous.is_some_and(|previous| {
                current != previous && (current - previous).abs() * 100.0 >= previous.abs() * percent
            })
        })
}

/// Returns the added or removed lines of a diff.
fn diff_lines(change: &PageChange, sign: char) -> String {
    let diff = change.diff.text.as_deref().unwrap_or_default();
    let hunks = diff.find("@@").map_or("", |at| &diff[at..]);
    hunks.lines().filter_map(|line| line.strip_prefix(sign)).flat_map(|line| [line, "\n"]).collect()
}

/// Returns the first number in a text, as people write it: `1,299.00`, `1.299,00`, `1 299`, `-3.5`. A single separator before
/// exactly three digits separates thousands, as in `1.299`.
pub(crate) fn number_in(text: &str) -> Option<f64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let is_negative = text[..start].ends_with(['-', '\u{2212}']);
    let mut digits = String::new();
    let mut separators: Vec<(char, usize)> = Vec::new();
    let mut characters = text[start..].chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else if matches!(character, '.' | ',' | '\'' | '\u{2019}' | ' ' | '\u{a0}' | '\u{202f}')
            && characters.peek().is_some_and(char::is_ascii_digit)
        {
            separators.push((character, digits.len()));
        } else {
            break;
        }
    }
    let decimal = decimal_point(&mut separators, &mut digits);
    let number = match decimal {
        Some(at) => format!("{}.{}", &digits[..at], &digits[at..]),
        None => digits,
    };
    let number: f64 = number.parse().ok()?;
    Some(if is_negative { -number } else { number })
}

/// Returns the number of digits before the decimal point. Cuts the digits where a blank separates two numbers.
fn decimal_point(separators: &mut Vec<(char, usize)>, digits: &mut String) -> Option<usize> {
    let is_blank = |character: char| character.is_whitespace();
    // A blank that is not followed by exactly three digits ends the number.
    for index in 0..separators.len() {
        let (character, at) = separators[index];
        let end = separators.get(index + 1).map_or(digits.len(), |(_, next)| *next);
        if is_blank(character) && end - at != 3 {
            separators.truncate(index);
            digits.truncate(at);
            break;
        }
    }
    let (last, at) = *separators.last()?;
    if !matches!(last, '.' | ',') {
        return None;
    }
    let is_repeated = separators.iter().filter(|(character, _)| *character == last).count() > 1;
    let is_alone = separators.len() == 1;
    let is_thousands =
        is_repeated || (is_alone && digits.len() - at == 3 && at <= 3 && !digits.starts_with('0'));
    (!is_thousands).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("14 euros", 14.0),
            ("Price: 12,99 €", 12.99),
            ("$1,299.00", 1_299.0),
            ("1.299,00 €", 1_299.0),
            ("1.299 €", 1_299.0),
            ("1 299,50 kr", 1_299.5),
            ("1'000'000.5", 1_000_000.5),
            ("1,234,567", 1_234_567.0),
            ("0.125", 0.125),
            ("12.5", 12.5),
            ("-3.5 °C", -3.5),
            ("\u{2212}7", -7.0),
            ("10 5", 10.0),
            ("5 2024", 5.0),
            ("20. May", 20.0),
        ] {
            assert_eq!(number_in(text), Some(expected), "{text}");
        }
        assert_eq!(number_in("sold out"), None);
    }

    #[test]
    fn ranges_of_numbers_and_of_their_changes() {
        let range = |above, below, changed_by_percent| NumberRange { above, below, changed_by_percent };
        for (range, previous, current, expected) in [
            (range(None, Some(10.0), None), None, 9.9, true),
            (range(None, Some(10.0), None), None, 10.0, false),
            (range(Some(10.0), None, None), None, 10.1, true),
            (range(Some(1.0), Some(3.0), None), None, 4.0, false),
            (range(None, None, Some(10.0)), Some(100.0), 90.0, true),
            (range(None, None, Some(10.0)), Some(100.0), 91.0, false),
            (range(None, None, Some(10.0)), Some(0.0), 1.0, true),
            (range(None, None, Some(10.0)), Some(0.0), 0.0, false),
            (range(None, None, Some(10.0)), None, 91.0, false),
        ] {
            assert_eq!(is_in_range(range, previous, current), expected, "{range:?} {previous:?} {current}");
        }
    }
}
