//! Parses the dates of search engines: with and without time zone, as numbers, and in words.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::Value;
use websvc_scrape::date;

/// The minimum of a number that counts as milliseconds. As seconds it would be far beyond the year 5000.
const MILLISECONDS_FROM: i64 = 100_000_000_000;

/// The maximum length of a text that is searched for a date.
const MAX_CHARS: usize = 300;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Parses a date in any JSON form: a text, seconds or milliseconds since 1970, or `[2024, 5, 1]`, possibly in a list
/// (Crossref). A date without time zone is in UTC.
pub(super) fn of_value(value: &Value, now: Timestamp) -> Option<Timestamp> {
    match value {
        Value::String(text) => of_text(text, now),
        Value::Number(number) => of_number(number.as_i64()?),
        Value::Array(parts) => match parts.first()? {
            Value::Array(_) => of_value(parts.first()?, now),
            _ => {
                let part = |index: usize| parts.get(index).and_then(Value::as_i64);
                let year = i16::try_from(part(0)?).ok()?;
                let month = i8::try_from(part(1).unwrap_or(1)).ok()?;
                let day = i8::try_from(part(2).unwrap_or(1)).ok()?;
                date::at_midnight(Date::new(year, month, day).ok()?)
            }
        },
        Value::Null | Value::Bool(_) | Value::Object(_) => None,
    }
}

fn of_number(number: i64) -> Option<Timestamp> {
    if number.abs() >= MILLISECONDS_FROM {
        Timestamp::from_millisecond(number).ok()
    } else {
        Timestamp::from_second(number).ok()
    }
}

/// Parses a text that is a date, or contains one (`Example Times | 3 days ago`).
pub(super) fn of_text(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    date::read(text).or_else(|| find_in_words(text, now))
}

/// Finds a date among other words: `2024-05-01`, `May 1, 2024`, `1 May 2024`, `3 days ago`, `yesterday`.
fn find_in_words(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text: String = text.chars().take(MAX_CHARS).collect::<String>().to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !(c.is_alphanumeric() || c == '-')).filter(|word| !word.is_empty()).collect();
    let date = words.iter().find_map(|word| word.get(..10)?.parse::<Date>().ok());
    let date = date.or_else(|| words.windows(3).find_map(named_day));
    if let Some(date) = date {
        return date::at_midnight(date);
    }
    words.windows(3).find_map(|words| ago(words, now)).or_else(|| {
        let day = Span::new().hours(24);
        words.contains(&"yesterday").then(|| now.checked_sub(day).ok()).flatten()
    })
}

fn named_day(words: &[&str]) -> Option<Date> {
    let &[first, second, year] = words else { return None };
    let (month, day) = month(first).map_or_else(|| (month(second), first), |month| (Some(month), second));
    let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let year: i16 = year.parse().ok().filter(|year| (1000..=9999).contains(year))?;
    Date::new(year, month?, day.parse().ok()?).ok()
}

fn month(word: &str) -> Option<i8> {
    let index = MONTHS.iter().position(|month| word.starts_with(month))?;
    i8::try_from(index + 1).ok()
}

fn ago(words: &[&str], now: Timestamp) -> Option<Timestamp> {
    let &[count, unit, "ago"] = words else { return None };
    let count: i64 = match count {
        "a" | "an" | "one" => 1,
        digits => digits.parse().ok().filter(|count| (1..10_000).contains(count))?,
    };
    let span = match unit.trim_end_matches('s') {
        "minute" | "min" => Span::new().minutes(count),
        "hour" | "hr" => Span::new().hours(count),
        "day" => Span::new().days(count),
        "week" => Span::new().weeks(count),
        "month" => Span::new().months(count),
        "year" => Span::new().years(count),
        _ => return None,
    };
    Some(now.to_zoned(TimeZone::UTC).checked_sub(span).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dates_are_parsed_in_all_forms() {
        let now: Timestamp = "2024-05-10T12:00:00Z".parse().unwrap();
        let cases = [
            (json!("2024-05-01T08:30:00Z"), Some("2024-05-01T08:30:00Z")),
            (json!("2024-05-01T08:30:00+02:00"), Some("2024-05-01T06:30:00Z")),
            (json!("2024-05-01T08:30:00"), Some("2024-05-01T08:30:00Z")),
            (json!("2024-05-01 08:30:00"), Some("2024-05-01T08:30:00Z")),
            (json!("2024-05-01"), Some("2024-05-01T00:00:00Z")),
            (json!("Wed, 01 May 2024 08:30:00 GMT"), Some("2024-05-01T08:30:00Z")),
            (json!("May 1, 2024"), Some("2024-05-01T00:00:00Z")),
            (json!("By A. Writer | 1st May 2024 | Example"), Some("2024-05-01T00:00:00Z")),
            (json!("Example Times · 3 days ago"), Some("2024-05-07T12:00:00Z")),
            (json!("an hour ago"), Some("2024-05-10T11:00:00Z")),
            (json!("yesterday"), Some("2024-05-09T12:00:00Z")),
            (json!("published 2024-05-01, updated later"), Some("2024-05-01T00:00:00Z")),
            (json!(1_714_552_200), Some("2024-05-01T08:30:00Z")),
            (json!(1_714_552_200_000_i64), Some("2024-05-01T08:30:00Z")),
            (json!([[2024, 5, 1]]), Some("2024-05-01T00:00:00Z")),
            (json!([2024, 5]), Some("2024-05-01T00:00:00Z")),
            (json!([[null]]), None),
            (json!("no date at all"), None),
            (json!("maybe 7 things 2024"), None),
            (json!("größe 2024-13-41 ü"), None),
            (json!(""), None),
            (json!(null), None),
        ];
        for (value, expected) in cases {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(of_value(&value, now), expected, "{value}");
        }
    }
}
