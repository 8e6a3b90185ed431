//! The rate limit of requests to a source: a token bucket.

use std::time::{Duration, Instant};

/// A token bucket: a number of requests per second, with bursts after a rest.
///
/// Its only state is the time at which the bucket would be full again, so it needs no refilling.
#[derive(Debug)]
pub(super) struct TokenBucket {
    interval: Duration,
    burst: Duration,
    full_at: Option<Instant>,
}

impl TokenBucket {
    /// Creates a full bucket with `burst` tokens, at least one, which is refilled with `per_second` tokens per second.
    pub(super) fn new(per_second: f64, burst: u32) -> Self {
        let interval = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or(Duration::MAX);
        Self { interval, burst: interval.saturating_mul(burst.saturating_sub(1)), full_at: None }
    }

    /// Takes a token and returns the time to wait for it.
    ///
    /// # Errors
    /// The required wait, if it is longer than `max_wait`. No token is taken then.
    pub(super) fn take(&mut self, now: Instant, max_wait: Duration) -> Result<Duration, Duration> {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now));
        let wait = full_at.duration_since(now).saturating_sub(self.burst);
        if wait > max_wait {
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
    fn burst_is_free_and_further_requests_wait() {
        let (mut bucket, now) = (TokenBucket::new(10.0, 3), Instant::now());
        let waits: Vec<_> = (0..5).map(|_| bucket.take(now, MS(1000))).collect();
        assert_eq!(waits, [Ok(MS(0)), Ok(MS(0)), Ok(MS(0)), Ok(MS(100)), Ok(MS(200))]);
    }

    #[test]
    fn rest_refills_the_bucket_up_to_the_burst() {
        let (mut bucket, now) = (TokenBucket::new(10.0, 2), Instant::now());
        for _ in 0..3 {
            assert!(bucket.take(now, MS(1000)).is_ok());
        }
        let later = now + MS(5000);
        let waits: Vec<_> = (0..3).map(|_| bucket.take(later, MS(1000))).collect();
        assert_eq!(waits, [Ok(MS(0)), Ok(MS(0)), Ok(MS(100))]);
    }

    #[test]
    fn request_that_cannot_wait_takes_no_token() {
        let (mut bucket, now) = (TokenBucket::new(1.0, 1), Instant::now());
        assert_eq!(bucket.take(now, MS(0)), Ok(MS(0)));
        assert_eq!(bucket.take(now, MS(500)), Err(MS(1000)));
        assert_eq!(bucket.take(now, MS(1000)), Ok(MS(1000)));
    }
}
