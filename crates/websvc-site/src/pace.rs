//! The pace of requests to one host.

use std::time::{Duration, Instant};

/// The longest delay between two requests that results from slow responses of the host.
const MAX_PACE: Duration = Duration::from_secs(10);

/// The first delay after a host reported overload. It doubles with each further report.
const INITIAL_BACKOFF: Duration = Duration::from_secs(2);

/// The longest delay that a host can request.
const MAX_BACKOFF: Duration = Duration::from_secs(120);

/// The number of retries after a host reported overload.
pub const MAX_RETRIES: u8 = 3;

/// The pace of one host: a delay after each request that is as long as the response took.
#[derive(Debug, Clone)]
pub struct HostPace {
    running: usize,
    ready_at: Instant,
    backoffs: u32,
    /// True if the host demands a delay, which is between one request and the next: then it gets one request at a time.
    has_min_delay: bool,
}

impl HostPace {
    /// Creates the pace of a host that was not contacted before.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { running: 0, ready_at: now, backoffs: 0, has_min_delay: false }
    }

    /// Returns the number of requests in flight.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// Returns the earliest time of the next request, with at most `max_concurrent` in flight; `None` if one of them has to end
    /// first.
    #[must_use]
    pub fn next_at(&self, max_concurrent: usize) -> Option<Instant> {
        let max_concurrent = if self.has_min_delay { 1 } else { max_concurrent };
        (self.running < max_concurrent).then_some(self.ready_at)
    }

    /// Returns the end of the delay after the last request.
    #[must_use]
    pub fn ready_at(&self) -> Instant {
        self.ready_at
    }

    /// Records the start of a request.
    pub fn start(&mut self) {
        self.running += 1;
    }

    /// Records the end of a request that took `elapsed` on the network; `None` if it was served from the cache.
    /// `min_delay` is the delay that the host demands between requests.
    pub fn finish(&mut self, now: Instant, elapsed: Option<Duration>, min_delay: Duration) {
        self.running = self.running.saturating_sub(1);
        self.has_min_delay |= !min_delay.is_zero();
        let Some(elapsed) = elapsed else { return };
        self.ready_at = self.ready_at.max(now + elapsed.min(MAX_PACE).max(min_delay));
    }

    /// Records a healthy response, which reduces the next backoff by one step.
    pub fn record_success(&mut self) {
        self.backoffs = self.backoffs.saturating_sub(1);
    }

    /// Records that the host reported overload, with the delay it requested.
    pub fn back_off(&mut self, now: Instant, retry_after: Option<Duration>) {
        let backoff = retry_after.unwrap_or(INITIAL_BACKOFF * 2_u32.saturating_pow(self.backoffs.min(5)));
        self.backoffs = self.backoffs.saturating_add(1);
        self.ready_at = self.ready_at.max(now + backoff.min(MAX_BACKOFF));
    }
}
