//! Descriptions of cron expressions for people, such as "Every day at 09:00".

use crate::cron::{Cron, DayMatch, next_bit};
use crate::field::CronField;

const MONTHS: [&str; 12] = [
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
/// Days of the week from Monday on, because "Friday to Sunday" is one range.
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONDAY_TO_FRIDAY: u64 = 0b001_1111;
/// Number of times of a day that are listed one by one.
const MAX_TIMES: usize = 6;

/// Times of a day in words.
enum Times {
    /// An interval, before the days: "every 5 minutes".
    Interval(String),
    /// A list, after the days: "at 09:00".
    List(String),
}

impl Cron {
    /// Returns the expression in words, such as "Every day at 09:00".
    ///
    /// ```
    /// use websvc_schedule::Cron;
    ///
    /// let describe = |text: &str| text.parse().map(|cron: Cron| cron.describe());
    /// assert_eq!(describe("*/15 * * * *")?, "Every 15 minutes");
    /// assert_eq!(describe("30 9 * * 1-5")?, "Every weekday (Monday to Friday) at 09:30");
    /// assert_eq!(describe("0 0 1 1,7 *")?, "On day 1 of January and July at 00:00");
    /// # Ok::<(), websvc_schedule::CronError>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> String {
        let days = describe_days(self);
        let text = match (describe_times(self, days.is_none()), days) {
            (Times::Interval(times), None) => times,
            (Times::Interval(times), Some(days)) => format!("{times}, {days}"),
            (Times::List(times), None) => format!("every day {times}"),
            (Times::List(times), Some(days)) => format!("{days} {times}"),
        };
        let mut chars = text.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    }
}

fn describe_times(cron: &Cron, is_daily: bool) -> Times {
    let (minutes, hours) = (members(cron.minutes()), members(cron.hours()));
    let every_hour = cron.hours() == CronField::Hour.full();
    // "Every 12 hours" is as good as a list only if it holds from one day to the next.
    let is_interval = is_daily && minutes.len() == 1 && cycle(&hours, 24).is_some();
    if !is_interval && minutes.len() * hours.len() <= MAX_TIMES {
        let times =
            hours.iter().flat_map(|hour| minutes.iter().map(move |minute| format!("{hour:02}:{minute:02}")));
        return Times::List(format!("at {}", join(&times.collect::<Vec<_>>())));
    }
    if let Some((first, step)) = cycle(&minutes, 60) {
        let mut text = if step == 1 { "every minute".to_owned() } else { format!("every {step} minutes") };
        if first > 0 {
            text.push_str(&format!(" from :{first:02}"));
        }
        if !every_hour {
            text.push_str(&format!(" in {}", hours_in_words(&hours)));
        }
        return Times::Interval(text);
    }
    let in_hour = join(&minutes.iter().map(|minute| format!(":{minute:02}")).collect::<Vec<_>>());
    if every_hour {
        return Times::Interval(format!("every hour at {in_hour}"));
    }
    if let ([minute], true, Some((first, step))) = (&minutes[..], is_daily, cycle(&hours, 24)) {
        let start = if first + minute > 0 { format!(" from {first:02}:{minute:02}") } else { String::new() };
        return Times::Interval(format!("every {step} hours{start}"));
    }
    Times::Interval(format!("at {in_hour} in {}", hours_in_words(&hours)))
}

fn hours_in_words(hours: &[u32]) -> String {
    let noun = if hours.len() == 1 { "hour" } else { "hours" };
    format!("the {noun} {}", numbers_in_words(hours))
}

/// Returns the days in words, or `None` if all days match.
fn describe_days(cron: &Cron) -> Option<String> {
    let months = (cron.months() != CronField::Month.full()).then(|| {
        let months = members(cron.months()).into_iter().map(|month| month as usize - 1).collect::<Vec<_>>();
        names_in_words(&months, &MONTHS)
    });
    let all_days = cron.days() == CronField::DayOfMonth.full();
    let all_weekdays = cron.weekdays() == CronField::Weekday.full();
    let in_months = months.as_deref().map_or_else(String::new, |months| format!(" in {months}"));
    let of_months = months.as_deref().unwrap_or("every month");
    let days = numbers_in_words(&members(cron.days()));
    let noun = if cron.days().count_ones() == 1 { "day" } else { "days" };
    let weekdays = weekdays_in_words(cron.weekdays());
    let matches_all = match cron.day_match() {
        DayMatch::Both => all_days && all_weekdays,
        DayMatch::Either => all_days || all_weekdays,
    };
    if matches_all {
        return months.map(|months| format!("every day in {months}"));
    }
    Some(match cron.day_match() {
        DayMatch::Either => format!("on {noun} {days} of {of_months}, and every {weekdays}{in_months},"),
        DayMatch::Both if all_weekdays => format!("on {noun} {days} of {of_months}"),
        DayMatch::Both if all_days => format!("every {weekdays}{in_months}"),
        DayMatch::Both => format!("every {weekdays}{in_months} that is on {noun} {days} of the month,"),
    })
}

fn weekdays_in_words(set: u64) -> String {
    // Moves Sunday behind Saturday.
    let from_monday = (set | set << 7 & 1 << 7) >> 1;
    let names = names_in_words(
        &members(from_monday).into_iter().map(|day| day as usize).collect::<Vec<_>>(),
        &WEEKDAYS,
    );
    if from_monday == MONDAY_TO_FRIDAY { format!("weekday ({names})") } else { names }
}

/// Returns the first member and the step of a set that repeats evenly, as `*/5` in an hour.
fn cycle(members: &[u32], length: u32) -> Option<(u32, u32)> {
    let step = step(members)?;
    let first = *members.first()?;
    (step * u32::try_from(members.len()).ok()? == length).then_some((first, step))
}

/// Returns the difference of all neighbors if it is the same and there are at least two members.
fn step(members: &[u32]) -> Option<u32> {
    let mut steps = members.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.next()?;
    steps.all(|other| other == step).then_some(step)
}

fn numbers_in_words(members: &[u32]) -> String {
    match (members, step(members)) {
        ([first, _, .., last], Some(1)) if members.len() > 2 => format!("{first} to {last}"),
        ([first, _, _, .., last], Some(step)) if members.len() > 3 => {
            format!("{first} to {last} in steps of {step}")
        }
        _ => join(&members.iter().map(u32::to_string).collect::<Vec<_>>()),
    }
}

fn names_in_words(indexes: &[usize], names: &[&str]) -> String {
    let are_neighbors = indexes.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let names: Vec<String> =
        indexes.iter().filter_map(|&index| names.get(index)).map(|&name| name.to_owned()).collect();
    match names.as_slice() {
        [first, _, .., last] if are_neighbors && names.len() > 2 => format!("{first} to {last}"),
        names => join(names),
    }
}

fn join(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [item] => item.clone(),
        [items @ .., last] => format!("{} and {last}", items.join(", ")),
    }
}

fn members(set: u64) -> Vec<u32> {
    std::iter::successors(next_bit(set, 0), |member| next_bit(set, member + 1)).collect()
}
