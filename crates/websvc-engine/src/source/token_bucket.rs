//! The pace of the questions to a source: a token bucket.

use std::time::{Duration, Instant};

/// A token bucket: so many requests a second, and so many at once after a rest.
///
/// It is kept as the one instant at which the bucket would be full again, so there is nothing to refill.
#[derive(Debug)]
pub(super) struct TokenBucket {
    interval: Duration,
    burst: Duration,
    full_at: Option<Instant>,
}

impl TokenBucket {
    /// Makes a full bucket of `burst` tokens, at least one, of which `per_second` grow back.
    pub(super) fn new(per_second: f64, burst: u32) -> Self {
        let interval = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(Duration::MAX);
        Self { interval, burst: interval.saturating_mul(burst.saturating_sub(1)), full_at: None }
    }

    /// Takes a token and returns how long to wait for it.
    ///
    /// # Errors
    /// The wait, when it is longer than `patience`; no token is taken then.
    pub(super) fn take(&mut self, now: Instant, patience: Duration) -> Result<Duration, Duration> {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now));
        let wait = full_at.duration_since(now).saturating_sub(self.burst);
        if wait > patience {
            return Err(wait);
        }
        self.full_at = full_at.checked_add(self.interval);
        Ok(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_burst_is_free_and_then_the_pace_holds() {
        let (mut pace, now) = (TokenBucket::new(10.0, 3), Instant::now());
        let waits: Vec<_> = (0..5).map(|_| pace.take(now, MS(1000))).collect();
        assert_eq!(waits, [Ok(MS(0)), Ok(MS(0)), Ok(MS(0)), Ok(MS(100)), Ok(MS(200))]);
    }

    #[test]
    fn a_rest_fills_the_bucket_and_not_more() {
        let (mut pace, now) = (TokenBucket::new(10.0, 2), Instant::now());
        for _ in 0..3 {
            assert!(pace.take(now, MS(1000)).is_ok());
        }
        let later = now + MS(5000);
        let waits: Vec<_> = (0..3).map(|_| pace.take(later, MS(1000))).collect();
        assert_eq!(waits, [Ok(MS(0)), Ok(MS(0)), Ok(MS(100))]);
    }

    #[test]
    fn whoever_cannot_wait_takes_no_token() {
        let (mut pace, now) = (TokenBucket::new(1.0, 1), Instant::now());
        assert_eq!(pace.take(now, MS(0)), Ok(MS(0)));
        assert_eq!(pace.take(now, MS(500)), Err(MS(1000)));
        assert_eq!(pace.take(now, MS(1000)), Ok(MS(1000)));
    }
}
