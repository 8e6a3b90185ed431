//! The circuit breaker of a source: one that fails again and again is left alone for a while, then tried once.

use std::time::{Duration, Instant};

use super::SourceHealth;

/// The state of a breaker. Time is given to it, never asked for.
#[derive(Debug)]
pub(super) struct Breaker {
    threshold: u32,
    pause: Duration,
    failures: u32,
    state: State,
    reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Instant },
    HalfOpen,
}

/// Why a question may not be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BreakerOpen {
    /// Until the next attempt; zero while one is under way.
    pub(super) retry_after: Duration,
    /// The failure that opened the breaker.
    pub(super) reason: String,
}

/// What a failure did to the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BreakerTransition {
    Counted,
    Opened,
}

impl Breaker {
    /// Makes a closed breaker that opens for `pause` after `threshold` failures in a row.
    pub(super) fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold, pause, failures: 0, state: State::Closed, reason: String::new() }
    }

    /// Lets a question through; after a pause only one, as a probe.
    ///
    /// # Errors
    /// [`BreakerOpen`] while the breaker is open or the probe is under way.
    pub(super) fn admit(&mut self, now: Instant) -> Result<(), BreakerOpen> {
        let retry_after = match self.state {
            State::Closed => return Ok(()),
            State::Open { until } if until <= now => {
                self.state = State::HalfOpen;
                return Ok(());
            }
            State::Open { until } => until.duration_since(now),
            State::HalfOpen => Duration::ZERO,
        };
        Err(BreakerOpen { retry_after, reason: self.reason.clone() })
    }

    /// Notes an answer, and returns whether that closed the breaker.
    pub(super) fn succeed(&mut self) -> bool {
        self.failures = 0;
        let was_open = self.state != State::Closed;
        self.state = State::Closed;
        was_open
    }

    /// Notes a failure. A source that says when to come back is left alone until then.
    pub(super) fn fail(
        &mut self,
        now: Instant,
        reason: &str,
        come_back: Option<Duration>,
    ) -> BreakerTransition {
        if matches!(self.state, State::Open { .. }) {
            // A question from before the pause: its end is no news.
            return BreakerTransition::Counted;
        }
        self.failures = self.failures.saturating_add(1);
        reason.clone_into(&mut self.reason);
        let opens = self.state == State::HalfOpen || self.failures >= self.threshold || come_back.is_some();
        if !opens {
            return BreakerTransition::Counted;
        }
        self.state = State::Open { until: now + come_back.unwrap_or(self.pause) };
        BreakerTransition::Opened
    }

    /// Notes that a question was given up before its end: a probe is made again by the next one.
    pub(super) fn give_up(&mut self, now: Instant) {
        if self.state == State::HalfOpen {
            self.state = State::Open { until: now };
        }
    }

    /// Returns the condition to show.
    pub(super) fn condition(&self, now: Instant) -> SourceHealth {
        let reason = self.reason.clone();
        match self.state {
            State::Closed => SourceHealth::Ok,
            State::Open { until } => {
                let left = until.saturating_duration_since(now).as_millis();
                SourceHealth::Paused { retry_after_ms: u64::try_from(left).unwrap_or(u64::MAX), reason }
            }
            State::HalfOpen => SourceHealth::Probing { reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(2, PAUSE);
        assert_eq!(breaker.fail(now, "status 500", None), BreakerTransition::Counted);
        assert_eq!(breaker.fail(now, "status 502", None), BreakerTransition::Opened);
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_does_not() {
        let now = Instant::now();
        let mut breaker = Breaker::new(2, PAUSE);
        breaker.fail(now, "status 500", None);
        breaker.succeed();
        assert_eq!(breaker.fail(now, "status 500", None), BreakerTransition::Counted);
        assert_eq!(breaker.admit(now), Ok(()));
        let refused = opened(now).admit(now).unwrap_err();
        assert_eq!(refused, BreakerOpen { retry_after: PAUSE, reason: "status 502".to_owned() });
    }

    #[test]
    fn after_the_pause_one_question_probes() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + PAUSE;
        assert_eq!(breaker.admit(later), Ok(()));
        assert_eq!(breaker.condition(later), SourceHealth::Probing { reason: "status 502".to_owned() });
        assert!(breaker.admit(later).is_err());
        assert!(breaker.succeed());
        assert_eq!(breaker.condition(later), SourceHealth::Ok);
    }

    #[test]
    fn a_probe_that_fails_opens_it_again_at_once() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + PAUSE;
        breaker.admit(later).unwrap();
        assert_eq!(breaker.fail(later, "status 503", None), BreakerTransition::Opened);
        let expected = SourceHealth::Paused { retry_after_ms: 30_000, reason: "status 503".to_owned() };
        assert_eq!(breaker.condition(later), expected);
    }

    #[test]
    fn a_probe_that_is_given_up_is_made_again() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let later = now + PAUSE;
        breaker.admit(later).unwrap();
        breaker.give_up(later);
        assert_eq!(breaker.admit(later), Ok(()));
    }

    #[test]
    fn a_source_that_says_when_to_come_back_is_left_alone_until_then() {
        let now = Instant::now();
        let mut breaker = Breaker::new(5, PAUSE);
        let minute = Duration::from_secs(60);
        assert_eq!(breaker.fail(now, "status 429", Some(minute)), BreakerTransition::Opened);
        assert_eq!(breaker.admit(now).unwrap_err().retry_after, minute);
        assert_eq!(breaker.fail(now + PAUSE, "late", None), BreakerTransition::Counted);
        assert_eq!(breaker.admit(now + minute), Ok(()));
    }
}
