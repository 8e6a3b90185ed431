//! How late a search may become computed. It reads no clock, and is told when the queue for a processor is empty.
//!
//! A queue as such is no fault: with a thousand clients that ask without a pause there is always one, and each of them is
//! answered as soon as its turn comes. What harms is an answer that comes too late for whoever asked. A burst may take a good
//! part of a request's `timeout`, because it ends. Once the queue has not been empty for seconds it is no burst, and waiting
//! longer than about a second would make every client late and let none more be answered (as in `CoDel`, RFC 8289, whose
//! interval and target are milliseconds because packets are). The queue itself is the only state, so nothing remains of
//! an overload when the load has fallen.

use std::time::{Duration, Instant};

/// How long after the last rejection the service counts as overloaded.
const RECENT: Duration = Duration::from_secs(1);

/// The bound on the wait of searches for a processor.
#[derive(Debug)]
pub(super) struct Overload {
    /// How late a search may become when the queue stands; `None` is no bound but the request's own.
    late: Option<Duration>,
    /// A queue that was not empty for so long stands.
    standing: Duration,
    /// When no search waited, last.
    emptied: Instant,
    /// When a request was last rejected.
    rejected: Option<Instant>,
}

impl Overload {
    /// Begins with an empty queue. When it stands for `standing`, no search may be later than `late`, zero being no bound.
    pub(super) fn new(late: Duration, standing: Duration, now: Instant) -> Self {
        Self { late: (!late.is_zero()).then_some(late), standing, emptied: now, rejected: None }
    }

    /// Records that no search waits.
    pub(super) fn record_empty(&mut self, now: Instant) {
        self.emptied = now;
    }

    /// Records that a request was rejected because too much was in work.
    pub(super) fn record_rejection(&mut self, now: Instant) {
        self.rejected = Some(now);
    }

    /// Tells whether requests are being rejected.
    pub(super) fn is_on(&self, now: Instant) -> bool {
        self.rejected.is_some_and(|rejected| now.saturating_duration_since(rejected) < RECENT)
    }

    /// Returns how long after its arrival a search with this `timeout` may still wait.
    pub(super) fn max_wait(&self, timeout: Duration, now: Instant) -> Duration {
        let good_part = timeout / 2;
        let is_standing = now.saturating_duration_since(self.emptied) >= self.standing;
        self.late.filter(|_| is_standing).map_or(good_part, |late| late.min(good_part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: Duration = Duration::from_millis(800);
    const STANDING: Duration = Duration::from_secs(5);
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn burst_may_wait_for_half_of_the_timeout_and_a_standing_queue_less_than_a_second() {
        let begin = Instant::now();
        let mut overload = Overload::new(LATE, STANDING, begin);
        let almost = begin + STANDING - Duration::from_millis(1);
        assert_eq!(overload.max_wait(MINUTE, almost), MINUTE / 2);
        assert_eq!(overload.max_wait(MINUTE, begin + STANDING), LATE);
        assert_eq!(overload.max_wait(Duration::from_secs(1), begin + STANDING), Duration::from_millis(500));
        overload.record_empty(begin + STANDING);
        assert_eq!(overload.max_wait(MINUTE, begin + STANDING), MINUTE / 2, "nothing is left of it");
    }

    #[test]
    fn without_a_bound_only_the_timeout_counts() {
        let begin = Instant::now();
        let overload = Overload::new(Duration::ZERO, STANDING, begin);
        assert_eq!(overload.max_wait(MINUTE, begin + MINUTE), MINUTE / 2);
    }

    #[test]
    fn overload_is_reported_for_a_second_after_a_rejection() {
        let begin = Instant::now();
        let mut overload = Overload::new(LATE, STANDING, begin);
        assert!(!overload.is_on(begin));
        overload.record_rejection(begin);
        assert!(overload.is_on(begin + RECENT / 2) && !overload.is_on(begin + RECENT));
    }
}
