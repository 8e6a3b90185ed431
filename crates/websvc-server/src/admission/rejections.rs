//! The pace of rejections: what a client costs that is rejected and asks again at once.
//!
//! A rejection is cheap, but a client that repeats it without a pause can have tens of thousands in a second, for which the
//! requests that are served pay. So a few rejections a second are answered at once, and when there are more the answers are
//! delayed for as long as `Retry-After` asks the client to wait anyway.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

/// So many rejections a second are answered at once.
const IMMEDIATE_PER_SECOND: u32 = 50;

/// When there are more, the answer comes so long after the request.
const DELAY: Duration = Duration::from_secs(1);

/// So many answers are delayed at one time, as many as there are connections by default; more are given at once.
const MAX_DELAYED: usize = 4096;

/// The state of the pace.
#[derive(Debug)]
pub(super) struct Rejections {
    per_second: u32,
    /// The rejections of this second: when it began, and how many were answered at once.
    second: Mutex<(Instant, u32)>,
    delayed: Semaphore,
}

impl Rejections {
    pub(super) fn new(now: Instant) -> Self {
        Self::with_immediate(IMMEDIATE_PER_SECOND, now)
    }

    /// Makes a pace with another number of rejections a second that are answered at once.
    pub(super) fn with_immediate(per_second: u32, now: Instant) -> Self {
        Self { per_second, second: Mutex::new((now, 0)), delayed: Semaphore::new(MAX_DELAYED) }
    }

    /// Waits until a request that arrived then may be told of its rejection.
    pub(super) async fn pace(&self, arrived: Instant, now: Instant) {
        if let Some((delay, _permit)) = self.delay(arrived, now) {
            tokio::time::sleep(delay).await;
        }
    }

    /// Returns how long the answer is delayed, and the permit for that; `None` when it is given at once.
    pub(super) fn delay(&self, arrived: Instant, now: Instant) -> Option<(Duration, SemaphorePermit<'_>)> {
        let left = DELAY.checked_sub(now.saturating_duration_since(arrived))?;
        if self.is_immediate(now) {
            return None;
        }
        Some((left, self.delayed.try_acquire().ok()?))
    }

    fn is_immediate(&self, now: Instant) -> bool {
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        let is_immediate = second.1 < self.per_second;
        second.1 += u32::from(is_immediate);
        is_immediate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rejections_are_answered_at_once_and_many_after_a_second() {
        let now = Instant::now();
        let rejections = Rejections::new(now);
        for _rejection in 0..IMMEDIATE_PER_SECOND {
            assert!(rejections.delay(now, now).is_none());
        }
        let later = now + DELAY / 4;
        let (delay, _permit) = rejections.delay(now, later).unwrap();
        assert_eq!(delay, DELAY * 3 / 4, "what it has waited already counts");
        assert!(rejections.delay(later - DELAY * 2, later).is_none(), "it has waited for longer than that");
        assert!(rejections.delay(now, now + DELAY).is_none(), "the next second begins anew");
    }

    #[test]
    fn delayed_rejections_are_bounded() {
        let now = Instant::now();
        let rejections = Rejections::with_immediate(0, now);
        let held: Vec<_> = (0..MAX_DELAYED).map(|_| rejections.delay(now, now).unwrap()).collect();
        assert!(rejections.delay(now, now).is_none());
        drop(held);
        assert!(rejections.delay(now, now).is_some());
    }
}
