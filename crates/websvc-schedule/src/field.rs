//! Fields of a cron expression: each is a set of numbers, written as numbers, names, lists, ranges and steps.

use std::fmt;

/// Field of a cron expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronField {
    /// Minute of the hour, 0 to 59.
    Minute,
    /// Hour of the day, 0 to 23.
    Hour,
    /// Day of the month, 1 to 31.
    DayOfMonth,
    /// Month, 1 to 12 or `jan` to `dec`.
    Month,
    /// Day of the week, 0 to 7 or `sun` to `sat`; 0 and 7 are Sunday.
    Weekday,
}

/// Rule that a field of a cron expression violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CronRule {
    /// The field has a form that does not exist.
    Form,
    /// A number is outside the range of the field.
    Range,
    /// A range ends before it starts.
    Order,
    /// A step is outside 1 to the number of values of the field.
    Step,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
pub(crate) const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl CronField {
    /// All fields, in their order in an expression.
    pub const ALL: [Self; 5] = [Self::Minute, Self::Hour, Self::DayOfMonth, Self::Month, Self::Weekday];

    /// Returns the name of the field.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::Weekday => "weekday",
        }
    }

    /// Returns the smallest and the largest number that may be written.
    fn bounds(self) -> (u32, u32) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::Weekday => (0, 7),
        }
    }

    /// Returns the last value of `*`: Sunday counts once.
    fn last(self) -> u32 {
        match self {
            Self::Weekday => 6,
            Self::Minute | Self::Hour | Self::DayOfMonth | Self::Month => self.bounds().1,
        }
    }

    fn max_step(self) -> u32 {
        self.last() - self.bounds().0 + 1
    }

    /// Returns the names of the values, the first for the smallest number.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Minute | Self::Hour | Self::DayOfMonth => &[],
            Self::Month => &MONTHS,
            Self::Weekday => &WEEKDAYS,
        }
    }

    /// Returns the set of all values of the field, as bits.
    pub(crate) fn full(self) -> u64 {
        bits(self.bounds().0, self.last(), 1)
    }

    /// Returns the values of a field as bits.
    pub(crate) fn parse(self, text: &str) -> Result<u64, CronRule> {
        let mut set = 0;
        for item in text.split(',') {
            set |= self.parse_item(item)?;
        }
        // Sunday is 0.
        if self == Self::Weekday && set & (1 << 7) != 0 {
            set = set & !(1 << 7) | 1;
        }
        Ok(set)
    }

    fn parse_item(self, item: &str) -> Result<u64, CronRule> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(self.parse_step(step)?)),
            None => (item, None),
        };
        let (first, last) = if range == "*" {
            (self.bounds().0, self.last())
        } else if let Some((first, last)) = range.split_once('-') {
            self.parse_range(first, last)?
        } else {
            let value = self.parse_value(range)?;
            (value, if step.is_some() { self.last().max(value) } else { value })
        };
        Ok(bits(first, last, step.unwrap_or(1)))
    }

    fn parse_range(self, first: &str, last: &str) -> Result<(u32, u32), CronRule> {
        let is_sunday = self == Self::Weekday && last.eq_ignore_ascii_case(WEEKDAYS[0]);
        let first = self.parse_value(first)?;
        // The week of `fri-sun` ends on Sunday.
        let last = if is_sunday && first > 0 { 7 } else { self.parse_value(last)? };
        if first > last { Err(CronRule::Order) } else { Ok((first, last)) }
    }

    fn parse_value(self, text: &str) -> Result<u32, CronRule> {
        let (min, max) = self.bounds();
        if let Some(value) = (min..).zip(self.names()).find(|(_, name)| text.eq_ignore_ascii_case(name)) {
            return Ok(value.0);
        }
        let value = parse_digits(text)?;
        if (min..=max).contains(&value) { Ok(value) } else { Err(CronRule::Range) }
    }

    fn parse_step(self, text: &str) -> Result<u32, CronRule> {
        let step = parse_digits(text)?;
        if (1..=self.max_step()).contains(&step) { Ok(step) } else { Err(CronRule::Step) }
    }

    /// Writes the requirement of a rule.
    pub(crate) fn write_rule(self, rule: CronRule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = self.bounds();
        match rule {
            CronRule::Form => {
                write!(f, "must be `*`, numbers of {min} to {max}")?;
                if let [first, .., last] = self.names() {
                    write!(f, " or names of {first} to {last}")?;
                }
                f.write_str(", such as `1`, `1,2`, `1-4`, `*/2` or `1/2`")
            }
            CronRule::Range => write!(f, "must be between {min} and {max}"),
            CronRule::Order => f.write_str("must not have a range that ends before it starts"),
            CronRule::Step => write!(f, "must have a step between 1 and {}", self.max_step()),
        }
    }
}

impl fmt::Display for CronField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the number that digits alone write. A number with more digits than any field has is out of range.
fn parse_digits(text: &str) -> Result<u32, CronRule> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CronRule::Form);
    }
    Ok(text.parse().unwrap_or(u32::MAX))
}

fn bits(first: u32, last: u32, step: u32) -> u64 {
    (first..=last).step_by(step as usize).fold(0, |set, value| set | 1 << value)
}
