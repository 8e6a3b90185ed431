//! Schedule: a cron expression in a time zone, and its runs.

use std::fmt;
use std::iter::FusedIterator;

use jiff::Timestamp;
use jiff::civil::Date;

use crate::cron::Cron;
use crate::zone::Zone;

/// Years that are searched for a run. February 29 alone is at most eight years away; February 29 on a Sunday forty.
const MAX_SEARCH_YEARS: i16 = 41;

/// Cron expression in a time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    cron: Cron,
    zone: Zone,
}

/// Runs of a schedule in order, see [`Schedule::runs_after`].
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    schedule: &'a Schedule,
    after: Timestamp,
}

impl Schedule {
    /// Returns the schedule of a cron expression in a time zone.
    #[must_use]
    pub fn new(cron: Cron, zone: Zone) -> Self {
        Self { cron, zone }
    }

    /// Returns the cron expression.
    #[must_use]
    pub fn cron(&self) -> &Cron {
        &self.cron
    }

    /// Returns the time zone.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the first run after an instant. `None` means that there is no run in the next decades, such as on
    /// February 30.
    ///
    /// The time depends on the number of days without a run, not of minutes.
    #[must_use]
    pub fn next_after(&self, instant: Timestamp) -> Option<Timestamp> {
        let local = self.zone.to_local(instant);
        let last = last_date(local.date());
        // The first instants of local times have the order of the local times, so that no earlier local time has a
        // later run. After the clock is set back, the local times of the repeated hour are skipped here.
        let mut from = local.date().at(local.hour(), local.minute(), 0, 0);
        loop {
            let candidate = self.cron.next_minute(from, last)?;
            match self.zone.first_instant(candidate) {
                Some(run) if run > instant => return Some(run),
                Some(_) | None => from = candidate.checked_add(jiff::Span::new().minutes(1)).ok()?,
            }
        }
    }

    /// Returns the runs after an instant, in order.
    #[must_use]
    pub fn runs_after(&self, instant: Timestamp) -> Runs<'_> {
        Runs { schedule: self, after: instant }
    }
}

impl Iterator for Runs<'_> {
    type Item = Timestamp;

    fn next(&mut self) -> Option<Timestamp> {
        let run = self.schedule.next_after(self.after)?;
        self.after = run;
        Some(run)
    }
}

impl FusedIterator for Runs<'_> {}

/// Writes the schedule in words, such as "Every day at 09:00 (Europe/Berlin)".
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.cron.describe(), self.zone.name())
    }
}

fn last_date(date: Date) -> Date {
    date.checked_add(jiff::Span::new().years(MAX_SEARCH_YEARS)).unwrap_or(Date::MAX)
}
