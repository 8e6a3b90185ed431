//! Parsing of dates in the formats of pages, feeds and other search engines.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;

/// Formats with a zone that ISO 8601 does not allow: without a colon, as in `2024-05-01T10:00:00+0200`, or after a
/// space.
const NON_ISO_ZONE_FORMATS: [&str; 5] = [
    "%Y-%m-%dT%H:%M:%S%.f%z",
    "%Y-%m-%d %H:%M:%S%.f %z",
    "%Y-%m-%d %H:%M:%S%.f %:z",
    "%Y-%m-%d %H:%M:%S%.f%z",
    "%Y-%m-%dT%H:%M%z",
];

/// The maximum length of a date, in bytes.
const MAX_BYTES: usize = 100;

/// Parses a text that is only a date: ISO 8601 and RFC 3339 with and without time and zone (with a space instead of the
/// `T`, or a zone without a colon), and RFC 2822.
///
/// A time without a zone is UTC; for a day, month or year it returns its first moment.
pub fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_BYTES {
        return None;
    }
    let zoned = || text.parse::<Timestamp>().ok();
    let non_iso = || NON_ISO_ZONE_FORMATS.iter().find_map(|format| parse(format, text)?.to_timestamp().ok());
    let without_zone = || utc(text.parse::<DateTime>().ok()?);
    let rfc2822 = || rfc2822::DateTimeParser::new().parse_timestamp(text).ok();
    let month = || parse_month(text);
    zoned().or_else(non_iso).or_else(without_zone).or_else(rfc2822).or_else(month)
}

/// Returns the first moment of a day.
pub fn at_midnight(day: Date) -> Option<Timestamp> {
    utc(day.at(0, 0, 0, 0))
}

fn parse(format: &str, text: &str) -> Option<BrokenDownTime> {
    BrokenDownTime::parse(format, text).ok()
}

fn utc(time: DateTime) -> Option<Timestamp> {
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Parses `2024-05` and `2024`, the dates of books and papers.
fn parse_month(text: &str) -> Option<Timestamp> {
    let (year, month) = text.split_once('-').unwrap_or((text, "1"));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if year.len() != 4 || !is_number(year) || !is_number(month) {
        return None;
    }
    at_midnight(Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_date_formats_are_parsed() {
        let table = [
            ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
            ("2024-05-01t10:00:00.250+02:00", "2024-05-01T08:00:00.25Z"),
            ("2024-05-01T10:00+02:00", "2024-05-01T08:00:00Z"),
            ("2024-05-01T10:00:00+0200", "2024-05-01T08:00:00Z"),
            ("2024-05-01T10:00:00.123-0730", "2024-05-01T17:30:00.123Z"),
            ("2024-05-01T10:00+0200", "2024-05-01T08:00:00Z"),
            ("2024-05-01 10:00:00 +0200", "2024-05-01T08:00:00Z"),
            ("2024-05-01 10:00:00 +02:00", "2024-05-01T08:00:00Z"),
            ("2024-05-01 10:00:00Z", "2024-05-01T10:00:00Z"),
            ("2024-05-01 10:00:00+0200", "2024-05-01T08:00:00Z"),
            ("2024-05-01T10:00:00[Europe/Vienna]", "2024-05-01T10:00:00Z"),
            ("2024-05-01T10:00:00", "2024-05-01T10:00:00Z"),
            ("2024-05-01 10:00:00", "2024-05-01T10:00:00Z"),
            ("2024-05-01 10:00", "2024-05-01T10:00:00Z"),
            ("20240501T100000Z", "2024-05-01T10:00:00Z"),
            (" 2024-05-01\n", "2024-05-01T00:00:00Z"),
            ("20240501", "2024-05-01T00:00:00Z"),
            ("2024-05", "2024-05-01T00:00:00Z"),
            ("2024", "2024-01-01T00:00:00Z"),
            ("Wed, 01 May 2024 10:00:00 GMT", "2024-05-01T10:00:00Z"),
            ("Wed, 1 May 2024 10:00:00 +0200", "2024-05-01T08:00:00Z"),
            ("1 May 2024 10:00 EST", "2024-05-01T15:00:00Z"),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), Some(expected.parse().unwrap()), "{text:?}");
        }
    }

    #[test]
    fn text_that_is_not_a_date_is_none() {
        let long = format!("2024-05-01{}", " ".repeat(10) + &"x".repeat(MAX_BYTES));
        for text in
            ["", " ", "yesterday", "2024-13-01", "2024-02-30", "05/01/2024", "24-05-01", "99999", "ä", &long]
        {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
