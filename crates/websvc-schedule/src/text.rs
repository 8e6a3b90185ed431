//! Schedules as text in English, such as "every 30 minutes" (operations.md, section 3.3).
//!
//! Only the forms in the table of [`Cron::from_text`] are read. A text that almost has one of them is an error, because
//! a guess would run at a time that was not asked for.

use std::fmt;
use std::ops::RangeInclusive;

use crate::cron::Cron;
use crate::field::WEEKDAYS;

/// Examples of texts, one per form.
pub const EXAMPLES: &[&str] = &[
    "every 30 minutes",
    "every 15 minutes starting at :05",
    "hourly",
    "every hour at :15",
    "every 6 hours",
    "daily",
    "every day at 9:00",
    "every day at 5:30 pm",
    "every monday at 9:00",
    "every weekday at 8am",
    "weekly",
    "monthly",
];

const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Reason why a text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    text: String,
    reason: TextErrorReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextErrorReason {
    /// The text has none of the known forms.
    Form,
    /// The number of minutes or hours does not divide an hour or a day.
    Divisor { number: String, whole: u32, unit: &'static str },
    /// A time of day does not exist or is not understood.
    Time { time: String },
    /// A minute of the hour does not exist or is not understood.
    Minute { minute: String },
}

impl Cron {
    /// Returns the cron expression of a text. Letters may have any case; dots, commas and repeated blanks are ignored.
    ///
    /// | Text | Cron |
    /// |---|---|
    /// | every minute | `* * * * *` |
    /// | every N minutes, N divides 60; also minute, min, mins | `*/N * * * *` |
    /// | the same with start or starting, at or on, :MM | `MM-59/N * * * *` |
    /// | hourly, every hour; also with at :MM or starting at :MM | `MM * * * *` |
    /// | every N hours, N divides 24; also hour, hr, hrs | `0 */N * * *` |
    /// | daily, every day; also with at H:MM, H am, H pm, H:MM am | `MM H * * *` |
    /// | every monday (to sunday); also mon, and with a time | `MM H * * 1` |
    /// | every weekday; also with a time | `MM H * * 1-5` |
    /// | weekly, every week | `0 0 * * 0` |
    /// | monthly, every month | `0 0 1 * *` |
    ///
    /// Without a time, runs are at midnight.
    ///
    /// ```
    /// use websvc_schedule::Cron;
    ///
    /// assert_eq!(Cron::from_text("Every weekday at 8 a.m.")?.as_str(), "0 8 * * 1-5");
    /// assert!(Cron::from_text("every 7 minutes").is_err());
    /// # Ok::<(), websvc_schedule::TextError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text has none of these forms. The message has examples.
    pub fn from_text(text: &str) -> Result<Self, TextError> {
        let error = |reason| TextError { text: text.to_owned(), reason };
        let Some(clean) = clean(text) else { return Err(error(TextErrorReason::Form)) };
        let words: Vec<&str> = clean.split_whitespace().collect();
        let cron = parse(&words).map_err(error)?;
        cron.parse().map_err(|_| error(TextErrorReason::Form))
    }
}

/// Returns the text in lower case without dots and commas. `None` if one is between digits: `1.5` is not 15.
fn clean(text: &str) -> Option<String> {
    let mut clean = String::with_capacity(text.len());
    let mut previous = ' ';
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '.' | ',' if previous.is_ascii_digit() && chars.peek().is_some_and(char::is_ascii_digit) => {
                return None;
            }
            '.' => {}
            ',' => clean.push(' '),
            _ => clean.extend(char.to_lowercase()),
        }
        previous = char;
    }
    Some(clean)
}

fn parse(words: &[&str]) -> Result<String, TextErrorReason> {
    match words {
        ["every", number, "minute" | "minutes" | "min" | "mins", rest @ ..] if is_number(number) => {
            let step = divisor(number, 60, "minutes of an hour")?;
            Ok(match parse_start(rest)? {
                None => format!("*/{step} * * * *"),
                Some(minute) => format!("{minute}-59/{step} * * * *"),
            })
        }
        ["every", "minute"] => Ok("* * * * *".to_owned()),
        ["every", number, "hour" | "hours" | "hr" | "hrs"] if is_number(number) => {
            Ok(format!("0 */{} * * *", divisor(number, 24, "hours of a day")?))
        }
        ["hourly", rest @ ..] | ["every", "hour", rest @ ..] => {
            let minute = match rest {
                ["at", minute] => parse_minute(minute)?,
                _ => parse_start(rest)?.unwrap_or(0),
            };
            Ok(format!("{minute} * * * *"))
        }
        ["daily", rest @ ..] | ["every", "day", rest @ ..] => Ok(format!("{} * * *", parse_at(rest)?)),
        ["weekly"] | ["every", "week"] => Ok("0 0 * * 0".to_owned()),
        ["monthly"] | ["every", "month"] => Ok("0 0 1 * *".to_owned()),
        ["every", "weekday", rest @ ..] => Ok(format!("{} * * 1-5", parse_at(rest)?)),
        ["every", day, rest @ ..] => {
            let weekday = DAYS.iter().zip(WEEKDAYS).position(|(long, short)| *day == *long || *day == short);
            let weekday = weekday.ok_or(TextErrorReason::Form)?;
            Ok(format!("{} * * {weekday}", parse_at(rest)?))
        }
        _ => Err(TextErrorReason::Form),
    }
}

fn divisor(number: &str, whole: u32, unit: &'static str) -> Result<u32, TextErrorReason> {
    let divisor = number.parse().ok().filter(|&divisor| divisor > 0 && whole.is_multiple_of(divisor));
    divisor.ok_or_else(|| TextErrorReason::Divisor { number: number.to_owned(), whole, unit })
}

/// Returns the minute of "starting at :MM", or `None` if there are no words.
fn parse_start(words: &[&str]) -> Result<Option<u32>, TextErrorReason> {
    match words {
        [] => Ok(None),
        ["start" | "starting", "at" | "on", minute] | ["start" | "starting", minute] => {
            parse_minute(minute).map(Some)
        }
        _ => Err(TextErrorReason::Form),
    }
}

fn parse_minute(text: &str) -> Result<u32, TextErrorReason> {
    let minute = text.strip_prefix(':').and_then(|minute| number_in(minute, 0..=59));
    minute.ok_or_else(|| TextErrorReason::Minute { minute: text.to_owned() })
}

/// Returns minute and hour of "at 9:30 am" as fields of a cron expression; midnight if there are no words.
fn parse_at(words: &[&str]) -> Result<String, TextErrorReason> {
    let (time, half) = match words {
        [] => return Ok("0 0".to_owned()),
        ["at", time] => match time.strip_suffix("am").map(|time| (time, "am")) {
            Some((time, half)) => (time, Some(half)),
            None => time.strip_suffix("pm").map_or((*time, None), |time| (time, Some("pm"))),
        },
        ["at", time, half @ ("am" | "pm")] => (*time, Some(*half)),
        _ => return Err(TextErrorReason::Form),
    };
    let fields = parse_time(time, half)
        .ok_or_else(|| TextErrorReason::Time { time: words.get(1..).unwrap_or_default().join(" ") })?;
    Ok(fields)
}

fn parse_time(time: &str, half: Option<&str>) -> Option<String> {
    let (hour, minute) = match time.split_once(':') {
        Some((hour, minute)) if minute.len() == 2 => (hour, number_in(minute, 0..=59)?),
        Some(_) => return None,
        None => (time, 0),
    };
    let hour = match half {
        None => number_in(hour, 0..=23)?,
        Some(half) => number_in(hour, 1..=12)? % 12 + if half == "pm" { 12 } else { 0 },
    };
    Some(format!("{minute} {hour}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a number of one or two digits in a range.
fn number_in(text: &str, range: RangeInclusive<u32>) -> Option<u32> {
    let number = text.parse().ok().filter(|_| is_number(text) && text.len() <= 2)?;
    range.contains(&number).then_some(number)
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, reason } = self;
        write!(f, "\"{text}\" is not a schedule: ")?;
        match reason {
            TextErrorReason::Form => f.write_str("it has none of the known forms")?,
            TextErrorReason::Divisor { number, whole, unit } => {
                write!(f, "{number} must divide the {whole} {unit}")?;
            }
            TextErrorReason::Time { time } => {
                write!(
                    f,
                    "the time \"{time}\" must be from 0:00 to 23:59, or from 1:00 to 12:59 with am or pm"
                )?;
            }
            TextErrorReason::Minute { minute } => {
                write!(f, "the minute \"{minute}\" must be from :00 to :59")?;
            }
        }
        f.write_str("; use for example \"")?;
        f.write_str(&EXAMPLES.join("\", \""))?;
        f.write_str("\", or a cron expression")
    }
}

impl std::error::Error for TextError {}
