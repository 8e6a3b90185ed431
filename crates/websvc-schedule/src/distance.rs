//! Distances between the runs of a schedule: the minimum distance, the rule that there is a run, and the rate of runs.

use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, Timestamp};

use crate::cron::{Cron, next_bit};
use crate::schedule::Schedule;

const DAY_MINUTES: u32 = 24 * 60;
/// Days over which runs are counted: whole weeks, so that a weekly schedule has the same number in each of them.
const COUNTED_DAYS: i32 = 52 * 7;
const YEAR_DAYS: i32 = 366;

/// Reason why a schedule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is no run within a year.
    #[error("schedule must run within a year; \"{cron}\" has no run in the next {YEAR_DAYS} days")]
    NoRun {
        /// The cron expression.
        cron: String,
    },
    /// Two runs are closer than the minimum distance.
    #[error(
        "runs of a schedule must be at least {} apart; \"{cron}\" has runs that are {} apart",
        in_words(*min),
        in_words(*smallest)
    )]
    TooFrequent {
        /// The cron expression.
        cron: String,
        /// The smallest distance of two runs.
        smallest: Duration,
        /// The minimum distance.
        min: Duration,
    },
}

impl Schedule {
    /// Checks that the schedule has a run within a year after `now`, and no two runs closer than `min_distance`.
    ///
    /// Distances are those of the wall clock, over all runs of a year: whether a schedule is accepted depends neither
    /// on the time of day nor on a clock change, which may bring two runs of one night closer together.
    ///
    /// # Errors
    ///
    /// The schedule violates one of the two rules.
    pub fn check(&self, now: Timestamp, min_distance: Duration) -> Result<(), ScheduleError> {
        let cron = || self.cron().as_str().to_owned();
        let year = Duration::from_secs(u64::from(DAY_MINUTES * YEAR_DAYS.unsigned_abs()) * 60);
        let until = now.checked_add(year).unwrap_or(Timestamp::MAX);
        if self.next_after(now).is_none_or(|run| run > until) {
            return Err(ScheduleError::NoRun { cron: cron() });
        }
        match self.min_distance(now) {
            Some(smallest) if smallest < min_distance => {
                Err(ScheduleError::TooFrequent { cron: cron(), smallest, min: min_distance })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the smallest distance of two runs within a year after `now`, by the wall clock. `None` if there are not
    /// two runs.
    #[must_use]
    pub fn min_distance(&self, now: Timestamp) -> Option<Duration> {
        let day = DayRuns::new(self.cron())?;
        let mut smallest = day.smallest_gap;
        let mut previous: Option<Date> = None;
        for date in dates(self.cron(), self.zone().to_local(now).date(), YEAR_DAYS) {
            if let Some(previous) = previous {
                let days = previous.until(date).map_or(0, |span| span.get_days().unsigned_abs());
                let gap = days * DAY_MINUTES - day.last + day.first;
                smallest = Some(smallest.map_or(gap, |smallest| smallest.min(gap)));
            }
            previous = Some(date);
        }
        smallest.map(|minutes| Duration::from_secs(u64::from(minutes) * 60))
    }

    /// Returns the average number of runs in 30 days over the next year, rounded up, at least 1: for estimates.
    ///
    /// ```
    /// use websvc_schedule::{Cron, Schedule, Zone};
    ///
    /// let now = "2026-11-25T12:00:00Z".parse()?;
    /// let runs = |text| Ok::<_, Box<dyn std::error::Error>>(
    ///     Schedule::new(Cron::from_text(text)?, Zone::from_name("UTC")?).runs_per_30_days(now),
    /// );
    /// assert_eq!(runs("every 30 minutes")?, 1440);
    /// assert_eq!(runs("daily")?, 30);
    /// assert_eq!(runs("weekly")?, 5);
    /// assert_eq!(runs("monthly")?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn runs_per_30_days(&self, now: Timestamp) -> u64 {
        let days = dates(self.cron(), self.zone().to_local(now).date(), COUNTED_DAYS).count() as u64;
        let runs = days * u64::from(self.cron().minutes().count_ones() * self.cron().hours().count_ones());
        (runs * 30).div_ceil(COUNTED_DAYS.unsigned_abs().into()).max(1)
    }
}

/// Runs of one day, in minutes after midnight.
struct DayRuns {
    first: u32,
    last: u32,
    smallest_gap: Option<u32>,
}

impl DayRuns {
    fn new(cron: &Cron) -> Option<Self> {
        let (first_minute, last_minute) = (next_bit(cron.minutes(), 0)?, cron.minutes().ilog2());
        let (first_hour, last_hour) = (next_bit(cron.hours(), 0)?, cron.hours().ilog2());
        let in_hour = smallest_gap(cron.minutes());
        let across_hours = smallest_gap(cron.hours()).map(|hours| hours * 60 - last_minute + first_minute);
        Some(Self {
            first: first_hour * 60 + first_minute,
            last: last_hour * 60 + last_minute,
            smallest_gap: in_hour.into_iter().chain(across_hours).min(),
        })
    }
}

/// Returns the smallest difference of two members of a set.
fn smallest_gap(set: u64) -> Option<u32> {
    (1..u64::BITS).find(|&gap| set & (set >> gap) != 0)
}

/// Returns the dates of runs in the `days` days from `first` on.
fn dates(cron: &Cron, first: Date, days: i32) -> impl Iterator<Item = Date> + '_ {
    let last = first.checked_add(Span::new().days(days - 1)).unwrap_or(Date::MAX);
    let next = move |from: Date| cron.next_date(from, last);
    std::iter::successors(next(first), move |date| next(date.tomorrow().ok()?))
}

/// Returns a duration in the largest unit that divides it, such as "5 minutes".
///
/// ```
/// use std::time::Duration;
/// use websvc_schedule::in_words;
///
/// assert_eq!(in_words(Duration::from_secs(300)), "5 minutes");
/// assert_eq!(in_words(Duration::from_secs(3_600)), "1 hour");
/// ```
#[must_use]
pub fn in_words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (count, unit) = if seconds.is_multiple_of(86_400) {
        (seconds / 86_400, "day")
    } else if seconds.is_multiple_of(3_600) {
        (seconds / 3_600, "hour")
    } else if seconds.is_multiple_of(60) {
        (seconds / 60, "minute")
    } else {
        (seconds, "second")
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
