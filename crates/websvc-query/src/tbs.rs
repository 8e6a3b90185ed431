//! The time filter `tbs` (specification 2.4).

use std::fmt::{Display, Formatter};

use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::error::{SlashDate, TbsError};

const SECONDS_PER_DAY: i64 = 86_400;

/// A parsed `tbs` value (specification 2.4). [`Display`] prints equal values in the same form, whatever order and
/// leading zeros the original text had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tbs {
    /// The time range; `None` if only the order was given, in which case `sort` is [`Sort::Date`].
    pub range: Option<TbsRange>,
    /// The order of the results.
    pub sort: Sort,
}

/// Order of the results (specification 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Best match first.
    #[default]
    Relevance,
    /// Newest first (`sbd:1`).
    Date,
}

/// A time range (specification 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TbsRange {
    /// The last `count` units before the current time (`qdr:d3`).
    Last {
        /// The unit.
        unit: TbsUnit,
        /// Number of units, 1 to 9999.
        count: u16,
    },
    /// The days from `min` to `max`, both included, in UTC (`cdr:1`). At least one of them is set, `min` is not after
    /// `max`, and years are 1 to 9999.
    Between {
        /// The first day (`cd_min`).
        min: Option<Date>,
        /// The last day (`cd_max`).
        max: Option<Date>,
    },
}

/// Unit of a predefined range (specification 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TbsUnit {
    /// An hour (`h`).
    Hour,
    /// A day of 24 hours (`d`).
    Day,
    /// A week (`w`).
    Week,
    /// A calendar month (`m`).
    Month,
    /// A calendar year (`y`).
    Year,
}

impl TbsRange {
    /// Returns the first and the last second in the range as Unix time. `now` is the current time; `None` means that
    /// the range has no bound at this end.
    #[must_use]
    pub fn seconds(&self, now: Timestamp) -> (Option<i64>, Option<i64>) {
        match *self {
            Self::Last { unit, count } => (Some(unit.before(now, i64::from(count))), None),
            Self::Between { min, max } => {
                (min.map(first_second), max.map(|day| first_second(day) + SECONDS_PER_DAY - 1))
            }
        }
    }
}

impl TbsUnit {
    /// Returns the Unix time `count` units before `now`.
    fn before(self, now: Timestamp, count: i64) -> i64 {
        let span = match self {
            Self::Hour => Span::new().hours(count),
            Self::Day => Span::new().days(count),
            Self::Week => Span::new().weeks(count),
            Self::Month => Span::new().months(count),
            Self::Year => Span::new().years(count),
        };
        // The subtraction fails only before the year -9999. Such a range includes all times.
        let start = now.to_zoned(TimeZone::UTC).checked_sub(span);
        start.map_or(i64::MIN, |start| start.timestamp().as_second())
    }
}

/// Returns the Unix time of the start of a day. Counts days, because jiff has no timestamps for the last days of the
/// year 9999.
fn first_second(day: Date) -> i64 {
    const EPOCH: Date = date(1970, 1, 1);
    EPOCH.duration_until(day).as_secs()
}

/// Parses a `tbs` value (specification 2.4). Returns `None` for an empty or blank text, which clients send if they set
/// no filter.
///
/// The [crate documentation](crate#time-filters) describes each form.
///
/// # Errors
/// Fails at the first item that is unknown or occurs twice, contradicts another one, or has an impossible date.
///
/// ```
/// use websvc_query::{Sort, TbsRange, TbsUnit, parse_tbs};
///
/// let tbs = parse_tbs("sbd:1,qdr:w2")?.unwrap();
/// assert_eq!(tbs.range, Some(TbsRange::Last { unit: TbsUnit::Week, count: 2 }));
/// assert_eq!(tbs.sort, Sort::Date);
/// assert_eq!(tbs.to_string(), "qdr:w2,sbd:1");
///
/// let error = parse_tbs("qdr:n").unwrap_err();
/// assert!(error.to_string().starts_with("bad range \"qdr:n\""));
/// # Ok::<(), websvc_query::TbsError>(())
/// ```
pub fn parse_tbs(text: &str) -> Result<Option<Tbs>, TbsError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut items = Items::default();
    for item in text.split(',') {
        items.add(item.trim())?;
    }
    items.finish().map(Some)
}

/// Items of a `tbs` value by their key.
#[derive(Default)]
struct Items<'a> {
    /// The text after the colon and its range.
    qdr: Option<(&'a str, TbsRange)>,
    cdr: Option<()>,
    /// `Some(None)` if the key has no date.
    min: Option<Option<Date>>,
    max: Option<Option<Date>>,
    sbd: Option<()>,
}

impl<'a> Items<'a> {
    /// Parses an item.
    fn add(&mut self, item: &'a str) -> Result<(), TbsError> {
        let unknown = || TbsError::Unknown { item: item.to_owned() };
        let (key, value) = item.split_once(':').ok_or_else(unknown)?;
        match (key, value) {
            ("qdr", _) => set(&mut self.qdr, "qdr", (value, parse_last(value)?)),
            ("cdr", "1") => set(&mut self.cdr, "cdr", ()),
            ("cd_min", _) => set(&mut self.min, "cd_min", parse_bound("cd_min", value)?),
            ("cd_max", _) => set(&mut self.max, "cd_max", parse_bound("cd_max", value)?),
            ("sbd", "1") => set(&mut self.sbd, "sbd", ()),
            _ => Err(unknown()),
        }
    }

    /// Combines the items and checks them against each other.
    fn finish(self) -> Result<Tbs, TbsError> {
        let Self { qdr, cdr, min, max, sbd } = self;
        let range = match (qdr, cdr) {
            (Some((value, _)), Some(())) => return Err(TbsError::TwoRanges { value: value.to_owned() }),
            (_, None) if min.is_some() => return Err(TbsError::NoSwitch { key: "cd_min" }),
            (_, None) if max.is_some() => return Err(TbsError::NoSwitch { key: "cd_max" }),
            (qdr, None) => qdr.map(|(_, range)| range),
            (None, Some(())) => Some(between(min.flatten(), max.flatten())?),
        };
        Ok(Tbs { range, sort: if sbd.is_some() { Sort::Date } else { Sort::Relevance } })
    }
}

/// Sets the value of a key, which must not have one.
fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), TbsError> {
    if slot.replace(value).is_some() { Err(TbsError::Duplicate { key }) } else { Ok(()) }
}

/// Returns the custom range between two bounds.
fn between(min: Option<Date>, max: Option<Date>) -> Result<TbsRange, TbsError> {
    match (min, max) {
        (None, None) => Err(TbsError::NoBounds),
        (Some(min), Some(max)) if min > max => Err(TbsError::Reversed { min, max }),
        (min, max) => Ok(TbsRange::Between { min, max }),
    }
}

/// Parses the text after `qdr:`.
fn parse_last(value: &str) -> Result<TbsRange, TbsError> {
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
        digits => number(digits, 4).filter(|&count| count > 0).ok_or_else(bad)?,
    };
    Ok(TbsRange::Last { unit, count })
}

/// Parses a bound. Without a date it is open; search engines also write it like this in their URLs.
fn parse_bound(key: &'static str, value: &str) -> Result<Option<Date>, TbsError> {
    if value.is_empty() {
        return Ok(None);
    }
    match parse_day(value) {
        Some(day) => Ok(Some(day)),
        None => Err(TbsError::BadDate { key, value: value.to_owned() }),
    }
}

/// Parses `MM/DD/YYYY`. The leading zeros of month and day are optional.
fn parse_day(value: &str) -> Option<Date> {
    let (month, rest) = value.split_once('/')?;
    let (day, year) = rest.split_once('/')?;
    if year.len() != 4 {
        return None;
    }
    let (month, day, year) = (number(month, 2)?, number(day, 2)?, number(year, 4)?);
    let (year, month, day) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Date::new(year, month, day).ok().filter(|_| year > 0)
}

/// Parses a number of at most `max_digits` ASCII digits.
fn number(text: &str, max_digits: usize) -> Option<u16> {
    let is_valid =
        text.len() <= max_digits && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_valid { text.parse().ok() } else { None }
}

impl Display for Tbs {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { range, sort } = self;
        if let Some(range) = range {
            range.fmt(f)?;
        }
        match (range, sort) {
            (_, Sort::Relevance) => Ok(()),
            (None, Sort::Date) => f.write_str("sbd:1"),
            (Some(_), Sort::Date) => f.write_str(",sbd:1"),
        }
    }
}

impl Display for TbsRange {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Last { unit, count: 1 } => write!(f, "qdr:{unit}"),
            Self::Last { unit, count } => write!(f, "qdr:{unit}{count}"),
            Self::Between { min, max } => {
                f.write_str("cdr:1")?;
                for (key, day) in [("cd_min", min), ("cd_max", max)] {
                    if let Some(day) = day {
                        write!(f, ",{key}:{}", SlashDate(*day))?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Display for TbsUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Hour => "h",
            Self::Day => "d",
            Self::Week => "w",
            Self::Month => "m",
            Self::Year => "y",
        })
    }
}
