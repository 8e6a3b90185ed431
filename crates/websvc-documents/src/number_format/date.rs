//! Formats serial dates: numbers of days since the end of 1899.

use super::code::Section;
use super::part::Part;

/// The names of the months, whose first three letters are their short names.
pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A point in time.
struct Time {
    /// The whole days of the serial date.
    days: i64,
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// The part of the second, in thousandths.
    millis: i64,
    /// All seconds of the serial date.
    total_seconds: i64,
}

impl Time {
    /// Splits a serial date, rounded to thousandths of a second if they are displayed, else to seconds.
    fn new(number: f64, has_fraction: bool) -> Self {
        let unit = if has_fraction { 1000.0 } else { 1.0 };
        let ticks = (number * 86_400.0 * unit).round() as i64;
        let (total_seconds, millis) = if has_fraction { (ticks / 1000, ticks % 1000) } else { (ticks, 0) };
        let (days, seconds) = (total_seconds / 86_400, total_seconds % 86_400);
        // Excel treats 1900 as a leap year, so the days before March 1900 are off by one.
        let (year, month, day) = civil_from_days(days - 25_569 + i64::from(days < 60));
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        Self { days, year, month, day, hour, minute, second, millis, total_seconds }
    }
}

/// Formats a serial date; `None` if it is out of range. A complete date is written as in ISO 8601, which does not depend
/// on the language, and others as the section says.
pub(super) fn format(section: &Section, number: f64) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&number) {
        return None;
    }
    let has = |wanted: char| {
        section.parts.iter().any(|part| matches!(part, Part::Date(letter, _) if *letter == wanted))
    };
    let has_fraction = has_fraction(section);
    let time = Time::new(number, has_fraction);
    if has('y') && has('m') && has('d') {
        let Time { year, month, day, hour, minute, second, .. } = time;
        let date = format!("{year:04}-{month:02}-{day:02}");
        return Some(match (has('h'), has('s')) {
            (true, false) => format!("{date} {hour:02}:{minute:02}"),
            (_, true) => format!("{date} {hour:02}:{minute:02}:{second:02}"),
            (false, false) => date,
        });
    }
    let is_half = section.parts.iter().any(|part| matches!(part, Part::Half(_)));
    let mut text = String::new();
    let mut after_seconds = false;
    for (index, part) in section.parts.iter().enumerate() {
        match part {
            Part::Literal(literal) => text.push_str(literal),
            Part::Date(letter, length) => text.push_str(&date_part(&time, *letter, *length, is_half)),
            Part::Elapsed(letter, length) => text.push_str(&elapsed(&time, *letter, *length)),
            Part::Half(is_long) => text.push_str(match (time.hour < 12, is_long) {
                (true, true) => "AM",
                (false, true) => "PM",
                (true, false) => "A",
                (false, false) => "P",
            }),
            Part::Point if after_seconds && has_fraction => {
                text.push_str(&fraction(section, index, time.millis));
            }
            Part::Point => text.push('.'),
            Part::Comma => text.push(','),
            Part::Slash => text.push('/'),
            Part::Digit(_) | Part::Percent | Part::Exponent(_) | Part::Text | Part::General => {}
        }
        after_seconds = matches!(part, Part::Date('s', _) | Part::Elapsed('s', _));
    }
    Some(text.trim().to_owned())
}

/// Returns whether a section shows parts of seconds, such as `ss.0`.
fn has_fraction(section: &Section) -> bool {
    section.parts.windows(3).any(|parts| {
        matches!(parts, [Part::Date('s', _) | Part::Elapsed('s', _), Part::Point, Part::Digit(_)])
    })
}

fn fraction(section: &Section, point: usize, millis: i64) -> String {
    let digits =
        section.parts[point + 1..].iter().take_while(|part| matches!(part, Part::Digit(_))).count().min(3);
    let text = format!("{millis:03}");
    format!(".{}", &text[..digits])
}

fn date_part(time: &Time, letter: char, length: usize, is_half: bool) -> String {
    let padded = |number: i64| if length >= 2 { format!("{number:02}") } else { number.to_string() };
    let month = || MONTHS[usize::try_from(time.month - 1).unwrap_or_default().min(11)];
    match (letter, length) {
        ('y', 1 | 2) => format!("{:02}", time.year % 100),
        ('y', _) => format!("{:04}", time.year),
        ('m', 3) => month()[..3].to_owned(),
        ('m', 5) => month()[..1].to_owned(),
        ('m', 4..) => month().to_owned(),
        ('m', _) => padded(time.month),
        ('d', 3..) => {
            let name = WEEKDAYS[usize::try_from((time.days + 6).rem_euclid(7)).unwrap_or_default()];
            if length == 3 { name[..3].to_owned() } else { name.to_owned() }
        }
        ('d', _) => padded(time.day),
        ('h', _) if is_half => padded((time.hour + 11) % 12 + 1),
        ('h', _) => padded(time.hour),
        ('i', _) => padded(time.minute),
        _ => padded(time.second),
    }
}

fn elapsed(time: &Time, letter: char, length: usize) -> String {
    let number = match letter {
        'h' => time.total_seconds / 3600,
        'm' => time.total_seconds / 60,
        _ => time.total_seconds,
    };
    format!("{number:0length$}", length = length.min(10))
}

/// Converts days since 1970-01-01 to year, month and day of the Gregorian calendar.
pub(crate) fn civil_from_days(days: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that the leap day is the last day of its year. An era is 400 years.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}
