//! The pacing of rejections, which limits what a client costs that retries immediately.
//!
//! A rejection is cheap, but a client that retries without a delay can cause tens of thousands per second, which slows
//! down the requests that are served. So the first rejections of each second are sent immediately. All others are
//! delayed for as long as `Retry-After` tells the client to wait anyway.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

/// The number of rejections per second that are sent immediately.
const IMMEDIATE_PER_SECOND: u32 = 50;

/// The time from the arrival of a request to its delayed rejection.
const DELAY: Duration = Duration::from_secs(1);

/// The maximum number of rejections that are delayed at the same time, which is the default limit of connections. Beyond
/// that, they are sent immediately.
const MAX_DELAYED: usize = 4096;

/// The state of the pacing.
#[derive(Debug)]
pub(super) struct Rejections {
    immediate_per_second: u32,
    /// The start of the current second, and the number of rejections that were sent immediately in it.
    second: Mutex<(Instant, u32)>,
    delayed: Semaphore,
}

impl Rejections {
    pub(super) fn new(now: Instant) -> Self {
        Self::with_immediate(IMMEDIATE_PER_SECOND, now)
    }

    /// As [`new`](Self::new), with another number of immediate rejections per second.
    pub(super) fn with_immediate(immediate_per_second: u32, now: Instant) -> Self {
        Self { immediate_per_second, second: Mutex::new((now, 0)), delayed: Semaphore::new(MAX_DELAYED) }
    }

    /// Waits until the rejection of a request may be sent.
    pub(super) async fn pace(&self, arrived: Instant, now: Instant) {
        if let Some((delay, _permit)) = self.delay(arrived, now) {
            tokio::time::sleep(delay).await;
        }
    }

    /// Returns the delay of a rejection and the permit for it; `None` if it is sent immediately.
    pub(super) fn delay(&self, arrived: Instant, now: Instant) -> Option<(Duration, SemaphorePermit<'_>)> {
        let remaining = DELAY.checked_sub(now.saturating_duration_since(arrived))?;
        if self.is_immediate(now) {
            return None;
        }
        Some((remaining, self.delayed.try_acquire().ok()?))
    }

    fn is_immediate(&self, now: Instant) -> bool {
        let mut second = self.second.lock();
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        let is_immediate = second.1 < self.immediate_per_second;
        second.1 += u32::from(is_immediate);
        is_immediate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rejections_of_a_second_are_immediate_and_the_others_are_delayed() {
        let now = Instant::now();
        let rejections = Rejections::new(now);
        for _rejection in 0..IMMEDIATE_PER_SECOND {
            assert!(rejections.delay(now, now).is_none());
        }
        let later = now + DELAY / 4;
        let (delay, _permit) = rejections.delay(now, later).unwrap();
        assert_eq!(delay, DELAY * 3 / 4, "the time since the arrival counts");
        assert!(rejections.delay(later - DELAY * 2, later).is_none(), "the request is older than the delay");
        assert!(rejections.delay(now, now + DELAY).is_none(), "a new second has begun");
    }

    #[test]
    fn number_of_delayed_rejections_is_bounded() {
        let now = Instant::now();
        let rejections = Rejections::with_immediate(0, now);
        let delayed: Vec<_> = (0..MAX_DELAYED).map(|_| rejections.delay(now, now).unwrap()).collect();
        assert!(rejections.delay(now, now).is_none());
        drop(delayed);
        assert!(rejections.delay(now, now).is_some());
    }
}
