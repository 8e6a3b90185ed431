//! A token bucket, for rate limits and for limits of failed attempts.

use std::time::{Duration, Instant};

/// The size of a token bucket and the speed at which it refills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BucketSize {
    /// The number of tokens in a full bucket.
    pub(crate) capacity: u32,
    /// The time in which one token is refilled; longer than zero.
    pub(crate) interval: Duration,
}

/// A token bucket that refills evenly. It stores only the time at which it will be full, so its size may change between
/// two calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TokenBucket {
    full_at: Option<Instant>,
}

impl BucketSize {
    /// Returns the time in which an empty bucket is refilled.
    pub(crate) fn refill_time(self) -> Duration {
        self.interval.saturating_mul(self.capacity)
    }
}

impl TokenBucket {
    /// Returns a bucket that will be full after this time.
    pub(crate) fn full_after(until_full: Duration, now: Instant) -> Self {
        Self { full_at: Some(now + until_full) }
    }

    /// Returns the number of tokens in the bucket.
    pub(crate) fn available(self, size: BucketSize, now: Instant) -> u32 {
        let refilled = size.refill_time().saturating_sub(self.until_full(size, now));
        u32::try_from(refilled.as_nanos() / size.interval.as_nanos()).unwrap_or(size.capacity)
    }

    /// Returns the time until the bucket has a token; zero if it has one. A bucket without capacity never has one: the
    /// result is then its interval.
    pub(crate) fn until_available(self, size: BucketSize, now: Instant) -> Duration {
        if self.available(size, now) > 0 {
            return Duration::ZERO;
        }
        let refilled = size.refill_time().saturating_sub(self.until_full(size, now));
        size.interval.saturating_sub(refilled)
    }

    /// Returns the time until the bucket is full. If the capacity was lowered, it is at most the time of a whole refill.
    pub(crate) fn until_full(self, size: BucketSize, now: Instant) -> Duration {
        self.missing(now).min(size.refill_time())
    }

    /// Removes a token. An empty bucket stays empty: its next token is then a whole interval away.
    pub(crate) fn take(&mut self, size: BucketSize, now: Instant) {
        let missing = self.missing(now).saturating_add(size.interval).min(size.refill_time());
        self.full_at = Some(now + missing);
    }

    /// Returns whether the bucket is full, so that a new one can replace it.
    pub(crate) fn is_full(self, now: Instant) -> bool {
        self.missing(now).is_zero()
    }

    /// Returns the time at which the bucket will be full; `None` if it is full from the beginning.
    pub(crate) fn full_at(self) -> Option<Instant> {
        self.full_at
    }

    fn missing(self, now: Instant) -> Duration {
        self.full_at.map_or(Duration::ZERO, |full_at| full_at.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: BucketSize = BucketSize { capacity: 3, interval: Duration::from_secs(10) };

    #[test]
    fn full_bucket_gives_its_capacity_at_once_and_then_one_token_per_interval() {
        let (mut bucket, start) = (TokenBucket::default(), Instant::now());
        for available in [3, 2, 1] {
            assert_eq!(bucket.available(SIZE, start), available);
            bucket.take(SIZE, start);
        }
        assert_eq!((bucket.available(SIZE, start), bucket.until_full(SIZE, start).as_secs()), (0, 30));
        let later = start + Duration::from_secs(4);
        assert_eq!(bucket.until_available(SIZE, later), Duration::from_secs(6));
        let later = start + Duration::from_secs(10);
        assert_eq!((bucket.available(SIZE, later), bucket.until_available(SIZE, later).as_secs()), (1, 0));
        assert!(!bucket.is_full(later) && bucket.is_full(start + Duration::from_secs(30)));
    }

    #[test]
    fn taking_from_an_empty_bucket_delays_the_next_token_by_at_most_an_interval() {
        let (mut bucket, start) = (TokenBucket::default(), Instant::now());
        for _ in 0..10 {
            bucket.take(SIZE, start);
        }
        assert_eq!(bucket.until_available(SIZE, start), SIZE.interval);
        assert_eq!(bucket.until_full(SIZE, start), SIZE.refill_time());
    }

    #[test]
    fn bucket_without_capacity_is_always_empty() {
        let empty = BucketSize { capacity: 0, ..SIZE };
        let (mut bucket, now) = (TokenBucket::default(), Instant::now());
        bucket.take(empty, now);
        assert_eq!((bucket.available(empty, now), bucket.until_available(empty, now)), (0, SIZE.interval));
    }
}
