//! How long a receiver that failed is left alone.

use std::time::Duration;

/// However long a receiver wants to be left alone, it is tried again after this.
const LONGEST_ASKED_FOR: Duration = Duration::from_secs(600);

/// Pauses that grow with every failure in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffSchedule {
    /// The pause after the first failure.
    pub first: Duration,
    /// How many times longer each pause is than the one before.
    pub factor: u32,
    /// The longest pause.
    pub longest: Duration,
}

impl BackoffSchedule {
    /// Returns the pause after so many failures in a row, at least one. It is between half of its length and the whole:
    /// receivers of many senders that failed together do not come back together. Who says when to come back is left alone
    /// until then, ten minutes at most.
    #[must_use]
    pub fn pause(&self, failures: u32, asked_for: Option<Duration>) -> Duration {
        let times = self.factor.saturating_pow(failures.saturating_sub(1));
        let pause = self.first.saturating_mul(times).min(self.longest);
        let pause = pause / 2 + (pause / 2).mul_f64(fraction());
        asked_for.map_or(pause, |asked_for| pause.max(asked_for.min(LONGEST_ASKED_FOR)))
    }
}

/// The pauses of one receiver.
#[derive(Debug)]
pub struct Backoff {
    schedule: BackoffSchedule,
    failures: u32,
}

impl Backoff {
    /// Begins with no failure.
    #[must_use]
    pub fn new(schedule: BackoffSchedule) -> Self {
        Self { schedule, failures: 0 }
    }

    /// Notes a success: the next pause is the first one again.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Returns the pause after one more failure.
    pub fn failed(&mut self, asked_for: Option<Duration>) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.schedule.pause(self.failures, asked_for)
    }
}

/// Returns a number from 0 to 1; without randomness the whole pause is made.
fn fraction() -> f64 {
    let mut random = [0; 4];
    match getrandom::fill(&mut random) {
        Ok(()) => f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: BackoffSchedule =
        BackoffSchedule { first: Duration::from_millis(250), factor: 2, longest: Duration::from_secs(60) };

    #[test]
    fn pauses_grow_to_the_longest_and_begin_anew_after_a_success() {
        let mut backoff = Backoff::new(SCHEDULE);
        let mut longest = SCHEDULE.first;
        for _ in 0..40 {
            let pause = backoff.failed(None);
            assert!(pause >= longest / 2 && pause <= longest, "{pause:?} of {longest:?}");
            longest = (longest * 2).min(SCHEDULE.longest);
        }
        assert_eq!(longest, SCHEDULE.longest);
        backoff.succeeded();
        assert!(backoff.failed(None) <= SCHEDULE.first);
    }

    #[test]
    fn who_says_when_to_come_back_is_left_alone_until_then_within_reason() {
        let asked_for = |seconds| SCHEDULE.pause(1, Some(Duration::from_secs(seconds)));
        assert_eq!(asked_for(30), Duration::from_secs(30));
        assert_eq!(asked_for(86_400), LONGEST_ASKED_FOR);
        assert!(asked_for(0) <= SCHEDULE.first);
    }
}
