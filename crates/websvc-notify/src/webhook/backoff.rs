//! The backoff after failed requests to a receiver.

use std::time::Duration;

use websvc_transport::MAX_RETRY_AFTER;

/// Delays that grow with every consecutive failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffSchedule {
    /// The delay after the first failure.
    pub initial: Duration,
    /// The factor by which each further failure multiplies the delay.
    pub factor: u32,
    /// The maximum delay.
    pub max: Duration,
}

impl BackoffSchedule {
    /// Returns the delay after a number of consecutive failures, at least 1.
    ///
    /// The delay is random between one half and the whole of its nominal length, so that many senders do not retry at once.
    /// It is not shorter than the `Retry-After` of the receiver, which counts up to [`MAX_RETRY_AFTER`].
    #[must_use]
    pub fn delay(&self, failures: u32, retry_after: Option<Duration>) -> Duration {
        let multiplier = self.factor.saturating_pow(failures.saturating_sub(1));
        let nominal = self.initial.saturating_mul(multiplier).min(self.max);
        let delay = nominal / 2 + (nominal / 2).mul_f64(random_fraction());
        retry_after.map_or(delay, |retry_after| delay.max(retry_after.min(MAX_RETRY_AFTER)))
    }
}

/// The backoff of one receiver.
#[derive(Debug)]
pub struct Backoff {
    schedule: BackoffSchedule,
    failures: u32,
}

impl Backoff {
    /// Creates a backoff without failures.
    #[must_use]
    pub fn new(schedule: BackoffSchedule) -> Self {
        Self { schedule, failures: 0 }
    }

    /// Records a success, which resets the delay.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Records a failure, and returns the delay until the next attempt.
    pub fn failed(&mut self, retry_after: Option<Duration>) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.schedule.delay(self.failures, retry_after)
    }
}

/// Returns a random number from 0 to 1; 1 if the system returns no random bytes.
fn random_fraction() -> f64 {
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
        BackoffSchedule { initial: Duration::from_millis(250), factor: 2, max: Duration::from_secs(60) };

    #[test]
    fn delays_double_up_to_the_maximum_and_reset_on_success() {
        let mut backoff = Backoff::new(SCHEDULE);
        let mut nominal = SCHEDULE.initial;
        for _ in 0..40 {
            let delay = backoff.failed(None);
            assert!(delay >= nominal / 2 && delay <= nominal, "{delay:?} of {nominal:?}");
            nominal = (nominal * 2).min(SCHEDULE.max);
        }
        assert_eq!(nominal, SCHEDULE.max);
        backoff.succeeded();
        assert!(backoff.failed(None) <= SCHEDULE.initial);
    }

    #[test]
    fn delay_is_at_least_retry_after_up_to_its_maximum() {
        let delay = |seconds| SCHEDULE.delay(1, Some(Duration::from_secs(seconds)));
        assert_eq!(delay(30), Duration::from_secs(30));
        assert_eq!(delay(86_400), MAX_RETRY_AFTER);
        assert!(delay(0) <= SCHEDULE.initial);
    }
}
