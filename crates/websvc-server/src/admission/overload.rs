//! Load shedding: the maximum time that a search may wait for the right to compute. It reads no clock.
//!
//! A queue alone is not a problem: with a thousand clients that send requests without a delay there is always one, and all
//! of them are served. The problem is a response that comes too late to be useful. During a burst, a request may wait for
//! half of its `timeout`, because a burst ends. If the queue has not been empty for seconds, it is not a burst. Longer
//! waits than about a second would then delay every response without serving more of them. `CoDel` (RFC 8289) works like
//! this; its interval and target are milliseconds because it queues packets. The queue itself is the only state, so
//! nothing remains of an overload when the load falls.

use std::time::{Duration, Instant};

/// The time after a rejection for which the service counts as overloaded.
const RECENT: Duration = Duration::from_secs(1);

/// The limit of the time that searches wait for the right to compute.
#[derive(Debug)]
pub(super) struct Overload {
    /// The maximum time from the arrival of a search, during overload; `None` is unlimited.
    target: Option<Duration>,
    /// The time for which the queue must not have been empty until it counts as overload.
    interval: Duration,
    /// The last time at which no search was queued.
    empty_at: Instant,
    /// The last time at which a request was rejected for overload.
    rejected_at: Option<Instant>,
}

impl Overload {
    /// Begins with an empty queue. A `target` of zero is unlimited.
    pub(super) fn new(target: Duration, interval: Duration, now: Instant) -> Self {
        Self { target: (!target.is_zero()).then_some(target), interval, empty_at: now, rejected_at: None }
    }

    /// Records that no search is queued.
    pub(super) fn record_empty(&mut self, now: Instant) {
        self.empty_at = now;
    }

    /// Records that a request was rejected for overload.
    pub(super) fn record_rejection(&mut self, now: Instant) {
        self.rejected_at = Some(now);
    }

    /// Returns whether a request was rejected recently.
    pub(super) fn is_active(&self, now: Instant) -> bool {
        self.rejected_at.is_some_and(|rejected_at| now.saturating_duration_since(rejected_at) < RECENT)
    }

    /// Returns the maximum time from the arrival of a search with this `timeout` until it may compute.
    pub(super) fn max_wait(&self, timeout: Duration, now: Instant) -> Duration {
        let half = timeout / 2;
        let is_overloaded = now.saturating_duration_since(self.empty_at) >= self.interval;
        self.target.filter(|_| is_overloaded).map_or(half, |target| target.min(half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Duration = Duration::from_millis(800);
    const INTERVAL: Duration = Duration::from_secs(5);
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn wait_is_half_of_the_timeout_in_a_burst_and_the_target_during_overload() {
        let start = Instant::now();
        let mut overload = Overload::new(TARGET, INTERVAL, start);
        let almost = start + INTERVAL - Duration::from_millis(1);
        assert_eq!(overload.max_wait(MINUTE, almost), MINUTE / 2);
        assert_eq!(overload.max_wait(MINUTE, start + INTERVAL), TARGET);
        assert_eq!(overload.max_wait(Duration::from_secs(1), start + INTERVAL), Duration::from_millis(500));
        overload.record_empty(start + INTERVAL);
        assert_eq!(
            overload.max_wait(MINUTE, start + INTERVAL),
            MINUTE / 2,
            "an empty queue ends the overload"
        );
    }

    #[test]
    fn wait_without_a_target_is_limited_only_by_the_timeout() {
        let start = Instant::now();
        let overload = Overload::new(Duration::ZERO, INTERVAL, start);
        assert_eq!(overload.max_wait(MINUTE, start + MINUTE), MINUTE / 2);
    }

    #[test]
    fn overload_is_active_for_a_second_after_a_rejection() {
        let start = Instant::now();
        let mut overload = Overload::new(TARGET, INTERVAL, start);
        assert!(!overload.is_active(start));
        overload.record_rejection(start);
        assert!(overload.is_active(start + RECENT / 2) && !overload.is_active(start + RECENT));
    }
}
