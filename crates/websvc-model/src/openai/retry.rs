//! The pauses before a request is sent again.

use std::time::Duration;

use super::time_budget::TimeBudget;

/// The pause before the first retry. It doubles with every retry.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(8);

/// The maximum number of retries after a failure that is not known to pass.
const MAX_RETRIES_OF_FAILURE: u32 = 3;

/// The kind of a failure after which a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Temporary {
    /// The server is busy or loads its model (429, 503). It will work on the request later, after this time if it says so.
    Busy { retry_after: Option<Duration> },
    /// The server or the connection failed, which may happen again.
    Failure,
}

/// The retries of one request.
#[derive(Debug, Default)]
pub(super) struct Retries {
    count: u32,
}

impl Retries {
    /// Returns the pause before the next attempt; `None` if there is none, because the time does not suffice or the number of
    /// attempts is used up. A busy server is asked until the time is used.
    pub(super) fn next_pause(&mut self, failure: Temporary, time: TimeBudget) -> Option<Duration> {
        let own = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.count)).min(MAX_PAUSE);
        let pause = match failure {
            Temporary::Failure if self.count >= MAX_RETRIES_OF_FAILURE => return None,
            Temporary::Failure | Temporary::Busy { retry_after: None } => own,
            // A server that always says 0 is asked more and more slowly, too.
            Temporary::Busy { retry_after: Some(pause) } if self.count > 0 => pause.max(own),
            Temporary::Busy { retry_after: Some(pause) } => pause,
        };
        self.count += 1;
        (pause < time.remaining()).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Returns the pauses after failures of a kind, in milliseconds.
    fn pauses(failure: Temporary, seconds: u64) -> Vec<u128> {
        let mut retries = Retries::default();
        let started = Instant::now();
        let time = TimeBudget { started, deadline: started + Duration::from_secs(seconds) };
        let pauses = (0..7).map_while(|_| retries.next_pause(failure, time));
        pauses.map(|pause| pause.as_millis()).collect()
    }

    #[test]
    fn busy_server_is_asked_with_growing_pauses_until_the_time_is_used() {
        let busy = Temporary::Busy { retry_after: None };
        assert_eq!(pauses(busy, 100), [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert_eq!(pauses(busy, 3), [500, 1_000, 2_000]);
    }

    #[test]
    fn retry_after_is_obeyed_if_it_fits() {
        let busy = |seconds| Temporary::Busy { retry_after: Some(Duration::from_secs(seconds)) };
        assert_eq!(pauses(busy(6), 100), [6_000, 6_000, 6_000, 6_000, 8_000, 8_000, 8_000]);
        assert_eq!(pauses(busy(0), 100), [0, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert_eq!(pauses(busy(6), 5), [0_u128; 0]);
    }

    #[test]
    fn failures_are_retried_three_times() {
        assert_eq!(pauses(Temporary::Failure, 100), [500, 1_000, 2_000]);
    }
}
