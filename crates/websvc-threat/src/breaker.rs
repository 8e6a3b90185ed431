//! The breaker of a scanner: one that fails again and again is left alone for a while, then tried once.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// However long a scanner wants to be left alone, it is tried again after this.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The condition of a scanner. The reasons name no URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScannerHealth {
    /// It is asked.
    Ok,
    /// It failed too often and is not asked for a while.
    Paused {
        /// Until it is tried again, in milliseconds.
        retry_after_ms: u64,
        /// The failure that led to it.
        reason: String,
    },
    /// The pause is over, and one question is on the way to see whether it answers again.
    Probing {
        /// The failure that led to the pause.
        reason: String,
    },
}

/// Opens after failures in a row.
#[derive(Debug)]
pub(crate) struct Breaker {
    threshold: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    is_probing: bool,
    reason: String,
}

/// Why nothing may be asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BreakerOpen {
    /// Until the next attempt; zero while one is under way.
    pub(crate) retry_after: Duration,
    /// The failure that opened the breaker.
    pub(crate) reason: String,
}

impl Breaker {
    pub(crate) fn new(threshold: u32, pause: Duration) -> Self {
        Self { threshold: threshold.max(1), pause, state: Mutex::default() }
    }

    /// Lets a question through; after a pause only one, as a probe. Dropped without an end, the attempt says nothing about
    /// the scanner.
    pub(crate) fn admit(&self, now: Instant) -> Result<Attempt<'_>, BreakerOpen> {
        let mut state = self.lock();
        if let Some(until) = state.open_until {
            if now < until || state.is_probing {
                let retry_after = until.saturating_duration_since(now);
                return Err(BreakerOpen { retry_after, reason: state.reason.clone() });
            }
            state.is_probing = true;
        }
        Ok(Attempt { breaker: self, is_probe: state.is_probing })
    }

    /// Returns the condition to show.
    pub(crate) fn condition(&self, now: Instant) -> ScannerHealth {
        let state = self.lock();
        let reason = state.reason.clone();
        match state.open_until {
            None => ScannerHealth::Ok,
            Some(_) if state.is_probing => ScannerHealth::Probing { reason },
            Some(until) => {
                let left = until.saturating_duration_since(now).as_millis();
                ScannerHealth::Paused { retry_after_ms: u64::try_from(left).unwrap_or(u64::MAX), reason }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question on its way.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

impl Attempt<'_> {
    /// Notes an answer, and returns whether that closed the breaker.
    pub(crate) fn succeed(self) -> bool {
        let mut state = self.breaker.lock();
        let was_open = state.open_until.is_some();
        *state = State::default();
        was_open
    }

    /// Notes a failure, and returns whether that opened the breaker.
    pub(crate) fn fail(self, now: Instant, reason: String, come_back: Option<Duration>) -> bool {
        let mut state = self.breaker.lock();
        if state.open_until.is_some() && !self.is_probe {
            // A question from before the pause: its end is no news.
            return false;
        }
        state.failures = state.failures.saturating_add(1);
        state.reason = reason;
        let opens = self.is_probe || come_back.is_some() || state.failures >= self.breaker.threshold;
        if opens {
            let pause = come_back.unwrap_or(self.breaker.pause).min(LONGEST_PAUSE);
            state.open_until = Some(now + pause);
        }
        opens
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.lock().is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    fn fail(breaker: &Breaker, now: Instant) -> bool {
        breaker.admit(now).unwrap().fail(now, "status 500".to_owned(), None)
    }

    #[test]
    fn failures_in_a_row_open_it_and_an_answer_between_does_not() {
        let (breaker, now) = (Breaker::new(2, PAUSE), Instant::now());
        assert!(!fail(&breaker, now));
        assert!(!breaker.admit(now).unwrap().succeed());
        assert!(!fail(&breaker, now));
        assert!(fail(&breaker, now));
        let refused = breaker.admit(now).unwrap_err();
        assert_eq!(refused, BreakerOpen { retry_after: PAUSE, reason: "status 500".to_owned() });
        let paused = ScannerHealth::Paused { retry_after_ms: 10_000, reason: "status 500".to_owned() };
        assert_eq!(breaker.condition(now), paused);
    }

    #[test]
    fn after_the_pause_one_question_probes_and_its_answer_closes() {
        let (breaker, now) = (Breaker::new(1, PAUSE), Instant::now());
        assert!(fail(&breaker, now));
        let later = now + PAUSE;
        let probe = breaker.admit(later).unwrap();
        assert!(breaker.admit(later).is_err(), "one probe at a time");
        assert_eq!(breaker.condition(later), ScannerHealth::Probing { reason: "status 500".to_owned() });
        drop(probe);
        let probe = breaker.admit(later).expect("one that was given up is made again");
        assert!(probe.fail(later, "again".to_owned(), None));
        assert!(breaker.admit(later).is_err());
        assert!(breaker.admit(later + PAUSE).unwrap().succeed());
        assert_eq!(breaker.condition(later), ScannerHealth::Ok);
        assert!(breaker.admit(later).is_ok());
    }

    #[test]
    fn who_says_when_to_come_back_is_left_alone_until_then_within_reason() {
        let (breaker, now) = (Breaker::new(9, PAUSE), Instant::now());
        let day = Duration::from_secs(86_400);
        assert!(breaker.admit(now).unwrap().fail(now, "status 429".to_owned(), Some(day)));
        assert_eq!(breaker.admit(now).unwrap_err().retry_after, LONGEST_PAUSE);
    }
}
