//! How fast one host is asked.

use std::time::{Duration, Instant};

/// The longest wait between two requests that a slow host gets by itself.
const MAX_PACE: Duration = Duration::from_secs(10);

/// The first wait after a host said that it is overloaded; it doubles with every further time.
const BACKOFF: Duration = Duration::from_secs(2);

/// The longest wait that a host can ask for.
const MAX_BACKOFF: Duration = Duration::from_secs(120);

/// How often a request is tried again for a host that said it is overloaded.
pub const MAX_RETRIES: u8 = 3;

/// The pace of one host: a bounded number of requests at one time, and after each as long a pause as it took.
#[derive(Debug, Clone)]
pub struct HostPace {
    running: usize,
    ready_at: Instant,
    backoffs: u32,
}

impl HostPace {
    /// Returns the pace of a host that was not asked before.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { running: 0, ready_at: now, backoffs: 0 }
    }

    /// Returns how many requests are under way.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// Returns from when on the host may be asked again, as far as time goes.
    #[must_use]
    pub fn ready_at(&self) -> Instant {
        self.ready_at
    }

    /// Notes that a request begins.
    pub fn start(&mut self) {
        self.running += 1;
    }

    /// Notes the end of a request that took `elapsed` of the network, none when the cache answered, at a host that asks
    /// for pauses of `asked`.
    pub fn finish(&mut self, now: Instant, elapsed: Option<Duration>, asked: Duration) {
        self.running = self.running.saturating_sub(1);
        let Some(elapsed) = elapsed else { return };
        self.ready_at = self.ready_at.max(now + elapsed.min(MAX_PACE).max(asked));
    }

    /// Notes that the host answered as it should: what it said of overload counts less.
    pub fn record_success(&mut self) {
        self.backoffs = self.backoffs.saturating_sub(1);
    }

    /// Notes that the host said it is overloaded, and for how long.
    pub fn back_off(&mut self, now: Instant, retry_after: Option<Duration>) {
        let wait = retry_after.unwrap_or(BACKOFF * 2_u32.saturating_pow(self.backoffs.min(5)));
        self.backoffs = self.backoffs.saturating_add(1);
        self.ready_at = self.ready_at.max(now + wait.min(MAX_BACKOFF));
    }
}
