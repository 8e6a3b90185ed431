//! A circuit breaker: after repeated failures of a server, no requests are sent to it for a while.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// A circuit breaker for the requests to one server.
///
/// - Closed: requests are sent. A number of consecutive failures, or a failure with `Retry-After`, opens the breaker.
/// - Open: no requests are sent, until its time is over.
/// - Half-open: one request, the probe, is sent. Its outcome closes the breaker or opens it again.
///
/// Callers pass the current time, so the breaker reads no clock.
#[derive(Debug)]
pub struct CircuitBreaker {
    threshold: u32,
    open_duration: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: State,
    /// The number of consecutive failures.
    failures: u32,
    /// The last failure.
    reason: String,
    /// The ID of the last probe.
    last_probe: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Open {
        until: Instant,
    },
    /// `since` is the time at which the breaker stopped being open.
    HalfOpen {
        probe: u64,
        since: Instant,
    },
}

/// The state of a [`CircuitBreaker`] for status reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakerHealth {
    /// The breaker is closed: requests are sent.
    Ok,
    /// The breaker is open after too many failures: no requests are sent.
    Paused {
        /// The time until the next attempt, in milliseconds.
        retry_after_ms: u64,
        /// The failure that opened the breaker.
        reason: String,
    },
    /// The breaker is half-open: one request is in flight to test the server.
    Probing {
        /// The failure that opened the breaker.
        reason: String,
    },
}

/// The error of a request that the breaker does not admit.
#[derive(Debug, PartialEq, Eq)]
pub struct BreakerOpen {
    /// The time until the next attempt; zero while a probe is in flight.
    pub retry_after: Duration,
    /// The failure that opened the breaker.
    pub reason: String,
}

/// A request that the breaker has admitted. If it is dropped without an outcome, it does not count, and another request
/// becomes the probe.
#[derive(Debug)]
pub struct BreakerAttempt<'a> {
    breaker: &'a CircuitBreaker,
    probe: Option<u64>,
}

impl CircuitBreaker {
    /// Creates a closed breaker. It opens for `open_duration` after `threshold` consecutive failures, at least 1.
    #[must_use]
    pub fn new(threshold: u32, open_duration: Duration) -> Self {
        let inner = Inner { state: State::Closed, failures: 0, reason: String::new(), last_probe: 0 };
        Self { threshold: threshold.max(1), open_duration, inner: Mutex::new(inner) }
    }

    /// Admits a request. When the time of an open breaker is over, the next request is the probe.
    ///
    /// # Errors
    /// [`BreakerOpen`] while the breaker is open, or half-open with a probe in flight.
    pub fn admit(&self, now: Instant) -> Result<BreakerAttempt<'_>, BreakerOpen> {
        let mut inner = self.inner.lock();
        let retry_after = match inner.state {
            State::Closed => return Ok(BreakerAttempt { breaker: self, probe: None }),
            State::Open { until } if until <= now => {
                inner.last_probe += 1;
                inner.state = State::HalfOpen { probe: inner.last_probe, since: until };
                return Ok(BreakerAttempt { breaker: self, probe: Some(inner.last_probe) });
            }
            State::Open { until } => until.duration_since(now),
            State::HalfOpen { .. } => Duration::ZERO,
        };
        Err(BreakerOpen { retry_after, reason: inner.reason.clone() })
    }

    /// Returns the state for status reports.
    #[must_use]
    pub fn health(&self, now: Instant) -> BreakerHealth {
        let inner = self.inner.lock();
        let reason = inner.reason.clone();
        match inner.state {
            State::Closed => BreakerHealth::Ok,
            State::Open { until } => {
                let remaining = until.saturating_duration_since(now).as_millis();
                BreakerHealth::Paused { retry_after_ms: u64::try_from(remaining).unwrap_or(u64::MAX), reason }
            }
            State::HalfOpen { .. } => BreakerHealth::Probing { reason },
        }
    }
}

impl BreakerAttempt<'_> {
    /// Records a success, which closes the breaker. Returns whether it was not closed before.
    pub fn succeed(self) -> bool {
        let mut inner = self.breaker.inner.lock();
        inner.failures = 0;
        std::mem::replace(&mut inner.state, State::Closed) != State::Closed
    }

    /// Records a failure, and returns whether it opened the breaker. With `retry_after`, one failure is enough, and the
    /// breaker stays open for that time.
    pub fn fail(self, now: Instant, reason: &str, retry_after: Option<Duration>) -> bool {
        let mut inner = self.breaker.inner.lock();
        let is_probe = match inner.state {
            State::Closed => false,
            State::HalfOpen { probe, .. } if self.probe == Some(probe) => true,
            // A request from before the breaker opened: its failure is not new information.
            State::Open { .. } | State::HalfOpen { .. } => return false,
        };
        inner.failures = inner.failures.saturating_add(1);
        reason.clone_into(&mut inner.reason);
        let opens = is_probe || retry_after.is_some() || inner.failures >= self.breaker.threshold;
        if opens {
            inner.state = State::Open { until: now + retry_after.unwrap_or(self.breaker.open_duration) };
        }
        opens
    }
}

impl Drop for BreakerAttempt<'_> {
    fn drop(&mut self) {
        if self.probe.is_none() {
            return;
        }
        let mut inner = self.breaker.inner.lock();
        // A probe without an outcome: the next request is the probe.
        if let State::HalfOpen { probe, since } = inner.state
            && self.probe == Some(probe)
        {
            inner.state = State::Open { until: since };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Duration = Duration::from_secs(30);

    fn fail(breaker: &CircuitBreaker, now: Instant, reason: &str) -> bool {
        breaker.admit(now).unwrap().fail(now, reason, None)
    }

    /// Returns a breaker that two failures have opened.
    fn opened(now: Instant) -> CircuitBreaker {
        let breaker = CircuitBreaker::new(2, OPEN);
        assert!(!fail(&breaker, now, "status 500"));
        assert!(fail(&breaker, now, "status 502"));
        breaker
    }

    #[test]
    fn consecutive_failures_open_the_breaker() {
        let now = Instant::now();
        let breaker = opened(now);
        let open = breaker.admit(now).unwrap_err();
        assert_eq!(open, BreakerOpen { retry_after: OPEN, reason: "status 502".to_owned() });
        let paused = BreakerHealth::Paused { retry_after_ms: 30_000, reason: "status 502".to_owned() };
        assert_eq!(breaker.health(now), paused);
    }

    #[test]
    fn success_between_failures_keeps_the_breaker_closed() {
        let (breaker, now) = (CircuitBreaker::new(2, OPEN), Instant::now());
        assert!(!fail(&breaker, now, "status 500"));
        assert!(!breaker.admit(now).unwrap().succeed());
        assert!(!fail(&breaker, now, "status 500"));
        assert_eq!(breaker.health(now), BreakerHealth::Ok);
        assert!(breaker.admit(now).is_ok());
    }

    #[test]
    fn threshold_zero_counts_as_one() {
        let (breaker, now) = (CircuitBreaker::new(0, OPEN), Instant::now());
        assert!(breaker.admit(now).is_ok());
        assert!(fail(&breaker, now, "status 500"));
    }

    #[test]
    fn one_probe_is_admitted_and_its_success_closes_the_breaker() {
        let now = Instant::now();
        let breaker = opened(now);
        let later = now + OPEN;
        let probe = breaker.admit(later).unwrap();
        assert_eq!(breaker.health(later), BreakerHealth::Probing { reason: "status 502".to_owned() });
        let second = breaker.admit(later).unwrap_err();
        assert_eq!(second.retry_after, Duration::ZERO, "one probe at a time");
        assert!(probe.succeed());
        assert_eq!(breaker.health(later), BreakerHealth::Ok);
        assert!(breaker.admit(later).is_ok());
    }

    #[test]
    fn failed_probe_opens_the_breaker_again() {
        let now = Instant::now();
        let breaker = opened(now);
        let later = now + OPEN;
        assert!(fail(&breaker, later, "status 503"));
        let paused = BreakerHealth::Paused { retry_after_ms: 30_000, reason: "status 503".to_owned() };
        assert_eq!(breaker.health(later), paused);
        assert!(breaker.admit(later).is_err());
        assert!(breaker.admit(later + OPEN).unwrap().succeed());
    }

    #[test]
    fn probe_without_an_outcome_is_replaced() {
        let now = Instant::now();
        let breaker = opened(now);
        let later = now + OPEN;
        drop(breaker.admit(later).unwrap());
        let probe = breaker.admit(later).expect("the next request is the probe");
        assert!(breaker.admit(later).is_err());
        assert!(probe.fail(later, "status 503", None));
    }

    #[test]
    fn failure_with_retry_after_opens_the_breaker_for_that_time() {
        let (breaker, now) = (CircuitBreaker::new(5, OPEN), Instant::now());
        let minute = Duration::from_secs(60);
        let early = breaker.admit(now).unwrap();
        assert!(breaker.admit(now).unwrap().fail(now, "status 429", Some(minute)));
        assert_eq!(breaker.admit(now).unwrap_err().retry_after, minute);
        assert!(!early.fail(now + OPEN, "late", None), "a request from before");
        assert_eq!(breaker.admit(now + OPEN).unwrap_err().reason, "status 429");
        assert!(breaker.admit(now + minute).is_ok());
    }

    #[test]
    fn outcomes_of_requests_from_before_do_not_replace_that_of_the_probe() {
        let now = Instant::now();
        let breaker = CircuitBreaker::new(1, OPEN);
        let (first, second) = (breaker.admit(now).unwrap(), breaker.admit(now).unwrap());
        assert!(fail(&breaker, now, "status 500"));
        let later = now + OPEN;
        let probe = breaker.admit(later).unwrap();
        assert!(!first.fail(later, "late", None));
        assert!(breaker.admit(later).is_err(), "the probe is still in flight");
        assert!(second.succeed(), "a success closes the breaker at any time");
        assert!(probe.fail(later, "status 503", None), "the threshold is 1");
    }
}
