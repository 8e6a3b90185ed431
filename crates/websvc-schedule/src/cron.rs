//! Cron expressions of five fields, and the local times that they match.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};

use crate::field::{CronField, CronRule};

/// Checked cron expression: minute, hour, day of month, month and weekday.
///
/// Each field is `*`, a number or a name, a range `1-5`, a list `1,3,5`, or has a step: `*/15`, `10-40/10`, or `5/15`,
/// which means from 5 on. Months and weekdays have names of three letters; weekdays 0 and 7 are Sunday.
///
/// If both the day of month and the weekday are restricted, a day that matches either of them matches. As in other
/// implementations, a field that starts with `*` is not restricted: `0 0 */2 * mon` runs on Mondays with an odd date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    day_match: DayMatch,
}

/// Combination of the day of month and the weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DayMatch {
    /// Both fields match.
    Both,
    /// One of the fields matches.
    Either,
}

/// Reason why a text is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CronError {
    /// The number of fields is not five.
    FieldCount {
        /// Number of fields found.
        found: usize,
    },
    /// A field violates a rule.
    Field {
        /// The field.
        field: CronField,
        /// Its text.
        value: String,
        /// The rule.
        rule: CronRule,
    },
}

impl Cron {
    /// Returns the expression, with single blanks between the fields.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn minutes(&self) -> u64 {
        self.minutes
    }

    pub(crate) fn hours(&self) -> u64 {
        self.hours
    }

    pub(crate) fn days(&self) -> u64 {
        self.days
    }

    pub(crate) fn months(&self) -> u64 {
        self.months
    }

    pub(crate) fn weekdays(&self) -> u64 {
        self.weekdays
    }

    pub(crate) fn day_match(&self) -> DayMatch {
        self.day_match
    }

    /// Returns the first local minute at or after `from` that matches, up to and including the day `last`.
    pub(crate) fn next_minute(&self, from: DateTime, last: Date) -> Option<DateTime> {
        let mut date = self.next_date(from.date(), last)?;
        if date == from.date() {
            if let Some((hour, minute)) =
                self.next_time(from.hour().cast_unsigned(), from.minute().cast_unsigned())
            {
                return date_time(date, hour, minute);
            }
            date = self.next_date(date.tomorrow().ok()?, last)?;
        }
        let (hour, minute) = self.next_time(0, 0)?;
        date_time(date, hour, minute)
    }

    /// Returns the first date from `date` to `last` that matches.
    pub(crate) fn next_date(&self, mut date: Date, last: Date) -> Option<Date> {
        while date <= last {
            if !contains(self.months, date.month()) {
                date = date.last_of_month().tomorrow().ok()?;
            } else if self.matches_day(date) {
                return Some(date);
            } else {
                date = date.tomorrow().ok()?;
            }
        }
        None
    }

    fn matches_day(&self, date: Date) -> bool {
        let day = contains(self.days, date.day());
        let weekday = contains(self.weekdays, date.weekday().to_sunday_zero_offset());
        match self.day_match {
            DayMatch::Both => day && weekday,
            DayMatch::Either => day || weekday,
        }
    }

    /// Returns the first hour and minute of a day at or after these.
    fn next_time(&self, hour: u8, minute: u8) -> Option<(u32, u32)> {
        if contains(self.hours, hour.cast_signed())
            && let Some(minute) = next_bit(self.minutes, minute.into())
        {
            return Some((hour.into(), minute));
        }
        Some((next_bit(self.hours, u32::from(hour) + 1)?, next_bit(self.minutes, 0)?))
    }
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let &[minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(CronError::FieldCount { found: fields.len() });
        };
        let parse = |field: CronField, value: &str| {
            field.parse(value).map_err(|rule| CronError::Field { field, value: value.to_owned(), rule })
        };
        let is_restricted = |text: &str| !text.starts_with('*');
        Ok(Self {
            minutes: parse(CronField::Minute, minute)?,
            hours: parse(CronField::Hour, hour)?,
            days: parse(CronField::DayOfMonth, day)?,
            months: parse(CronField::Month, month)?,
            weekdays: parse(CronField::Weekday, weekday)?,
            day_match: if is_restricted(day) && is_restricted(weekday) {
                DayMatch::Either
            } else {
                DayMatch::Both
            },
            text: fields.join(" "),
        })
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldCount { found } => write!(
                f,
                "a cron expression must have 5 fields (minute, hour, day of month, month, weekday), not {found}; \
                 for example `0 9 * * 1-5` is 9:00 from Monday to Friday"
            ),
            Self::Field { field, value, rule } => {
                write!(f, "{field} ")?;
                field.write_rule(*rule, f)?;
                write!(f, ", not \"{value}\"")
            }
        }
    }
}

impl std::error::Error for CronError {}

/// Returns the smallest member of a set that is not below `from`.
pub(crate) fn next_bit(set: u64, from: u32) -> Option<u32> {
    let rest = set.checked_shr(from)?;
    (rest != 0).then(|| from + rest.trailing_zeros())
}

fn contains(set: u64, value: i8) -> bool {
    set >> value & 1 == 1
}

fn date_time(date: Date, hour: u32, minute: u32) -> Option<DateTime> {
    Some(date.at(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0))
}
