//! The time filter `tbs` (specification 2.4).

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::error::TbsError;

/// A parsed `tbs` value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tbs {
    /// The time range; `None` when only the order was given.
    pub range: Option<TbsRange>,
    /// The order of the results.
    pub sort: Sort,
}

/// The order of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Best match first.
    #[default]
    Relevance,
    /// Newest first (`sbd:1`).
    Date,
}

/// A time range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TbsRange {
    /// The last `count` units before now (`qdr:d3`).
    Last {
        /// The unit.
        unit: TbsUnit,
        /// How many units, 1 to 9999.
        count: u16,
    },
    /// From the first to the last day, both included (`cdr:1`); at least one is given.
    Between {
        /// The first day.
        min: Option<Date>,
        /// The last day.
        max: Option<Date>,
    },
}

/// The unit of a predefined range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TbsUnit {
    /// `h`
    Hour,
    /// `d`
    Day,
    /// `w`
    Week,
    /// `m`
    Month,
    /// `y`
    Year,
}

impl TbsRange {
    /// Returns the first and the last second (Unix time, UTC) that the range includes, seen from `now`.
    #[must_use]
    pub fn seconds(&self, now: Timestamp) -> (Option<i64>, Option<i64>) {
        match *self {
            Self::Last { unit, count } => (Some(unit.before(now, i64::from(count))), None),
            Self::Between { min, max } => {
                (min.and_then(first_second), max.and_then(|day| first_second(day).map(|at| at + 86_399)))
            }
        }
    }
}

impl TbsUnit {
    fn before(self, now: Timestamp, count: i64) -> i64 {
        let span = match self {
            Self::Hour => Span::new().hours(count),
            Self::Day => Span::new().days(count),
            Self::Week => Span::new().weeks(count),
            Self::Month => Span::new().months(count),
            Self::Year => Span::new().years(count),
        };
        // Only a range that begins before the year -9999 fails: it includes everything.
        let start = now.to_zoned(TimeZone::UTC).checked_sub(span);
        start.map_or(i64::MIN, |start| start.timestamp().as_second())
    }
}

fn first_second(day: Date) -> Option<i64> {
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// Parses a `tbs` value; an empty text means "not given".
///
/// # Errors
/// An item that is unknown, given twice, contradicts another, or names an impossible date.
pub fn parse_tbs(text: &str) -> Result<Option<Tbs>, TbsError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut items = Items::default();
    for item in text.split(',') {
        items.read(item.trim())?;
    }
    items.finish().map(Some)
}

#[derive(Default)]
struct Items<'a> {
    qdr: Option<(&'a str, TbsRange)>,
    cdr: Option<()>,
    min: Option<Date>,
    max: Option<Date>,
    sbd: Option<()>,
}

impl<'a> Items<'a> {
    fn read(&mut self, item: &'a str) -> Result<(), TbsError> {
        let unknown = || TbsError::Unknown { item: item.to_owned() };
        let (key, value) = item.split_once(':').ok_or_else(unknown)?;
        match (key, value) {
            ("qdr", _) => set(&mut self.qdr, "qdr", (value, last(value)?)),
            ("cdr", "1") => set(&mut self.cdr, "cdr", ()),
            ("cd_min", _) => set(&mut self.min, "cd_min", date("cd_min", value)?),
            ("cd_max", _) => set(&mut self.max, "cd_max", date("cd_max", value)?),
            ("sbd", "1") => set(&mut self.sbd, "sbd", ()),
            _ => Err(unknown()),
        }
    }

    fn finish(self) -> Result<Tbs, TbsError> {
        let Self { qdr, cdr, min, max, sbd } = self;
        let range = match (qdr, cdr) {
            (Some((value, _)), Some(())) => return Err(TbsError::TwoRanges { value: value.to_owned() }),
            (_, None) if min.is_some() => return Err(TbsError::NoSwitch { key: "cd_min" }),
            (_, None) if max.is_some() => return Err(TbsError::NoSwitch { key: "cd_max" }),
            (qdr, None) => qdr.map(|(_, range)| range),
            (None, Some(())) => Some(between(min, max)?),
        };
        Ok(Tbs { range, sort: if sbd.is_some() { Sort::Date } else { Sort::Relevance } })
    }
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), TbsError> {
    if slot.replace(value).is_some() { Err(TbsError::Duplicate { key }) } else { Ok(()) }
}

fn between(min: Option<Date>, max: Option<Date>) -> Result<TbsRange, TbsError> {
    match (min, max) {
        (None, None) => Err(TbsError::NoBounds),
        (Some(min), Some(max)) if min > max => Err(TbsError::Reversed { min, max }),
        (min, max) => Ok(TbsRange::Between { min, max }),
    }
}

fn last(value: &str) -> Result<TbsRange, TbsError> {
    let bad = || TbsError::BadRange { value: value.to_owned() };
    let mut letters = value.chars();
    let unit = match letters.next() {
        Some('h') => TbsUnit::Hour,
        Some('d') => TbsUnit::Day,
        Some('w') => TbsUnit::Week,
        Some('m') => TbsUnit::Month,
        Some('y') => TbsUnit::Year,
        _ => return Err(bad()),
    };
    let count = match letters.as_str() {
        "" => 1,
        digits => number(digits, 4).ok_or_else(bad)?,
    };
    if count == 0 { Err(bad()) } else { Ok(TbsRange::Last { unit, count }) }
}

/// Reads `MM/DD/YYYY`; month and day may lack their leading zero.
fn date(key: &'static str, value: &str) -> Result<Date, TbsError> {
    let mut parts = value.split('/');
    let mut part = |digits| parts.next().and_then(|text| number(text, digits));
    let parsed = match (part(2), part(2), value.rsplit('/').next().filter(|year| year.len() == 4)) {
        (Some(month), Some(day), Some(year)) if value.matches('/').count() == 2 => {
            number(year, 4).filter(|&year| year > 0).and_then(|year| calendar_date(year, month, day))
        }
        _ => None,
    };
    parsed.ok_or_else(|| TbsError::BadDate { key, value: value.to_owned() })
}

fn calendar_date(year: u16, month: u16, day: u16) -> Option<Date> {
    let (year, month, day) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(year, month, day).ok()
}

/// Reads a number of at most `digits` ASCII digits.
fn number(text: &str, digits: usize) -> Option<u16> {
    let ok = text.len() <= digits && text.bytes().all(|b| b.is_ascii_digit());
    if ok { text.parse().ok() } else { None }
}
