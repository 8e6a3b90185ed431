//! The rate limit: requests per minute, as a token bucket that holds one minute's worth.

use std::time::{Duration, Instant};

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::token_bucket::{BucketSize, TokenBucket};

const MINUTE: Duration = Duration::from_secs(60);

/// The rate limit of a caller, and how much of it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitStatus {
    /// The maximum number of requests per minute, and at once.
    pub(crate) limit: u32,
    /// The number of requests that would be admitted now.
    pub(crate) remaining: u32,
    /// The time until `remaining` equals `limit`.
    pub(crate) reset: Duration,
    /// The time until the next request would be admitted; zero if one would be admitted now.
    pub(crate) next: Duration,
}

impl RateLimitStatus {
    /// Returns the state of a bucket with this limit.
    pub(super) fn from_bucket(bucket: TokenBucket, limit: u32, now: Instant) -> Self {
        let size = bucket_size(limit);
        let remaining = bucket.available(size, now);
        let reset = if limit == 0 { MINUTE } else { bucket.until_full(size, now) };
        Self { limit, remaining, reset, next: bucket.until_available(size, now) }
    }

    /// Returns the status of the two that leaves less.
    pub(super) fn tighter(self, other: Self) -> Self {
        if (other.remaining, self.next) < (self.remaining, other.next) { other } else { self }
    }

    /// Writes the headers by which clients slow down (draft-ietf-httpapi-ratelimit-headers, in the spelling that most
    /// services send and most clients read).
    pub(crate) fn write(self, headers: &mut HeaderMap) {
        let Self { limit, remaining, reset, next: _ } = self;
        headers.insert(HeaderName::from_static("ratelimit-limit"), limit.into());
        headers.insert(HeaderName::from_static("ratelimit-remaining"), remaining.into());
        headers.insert(HeaderName::from_static("ratelimit-reset"), seconds(reset).into());
        if let Ok(policy) = HeaderValue::try_from(format!("{limit};w={}", MINUTE.as_secs())) {
            headers.insert(HeaderName::from_static("ratelimit-policy"), policy);
        }
    }
}

/// Returns the size of a bucket for this many requests per minute.
pub(super) fn bucket_size(limit: u32) -> BucketSize {
    BucketSize { capacity: limit, interval: MINUTE.checked_div(limit).unwrap_or(MINUTE) }
}

/// Returns whole seconds, rounded up, so that a client that waits this long is not early.
pub(super) fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a request at `now` if there is one, and returns the status before.
    fn request(bucket: &mut TokenBucket, limit: u32, now: Instant) -> RateLimitStatus {
        let status = RateLimitStatus::from_bucket(*bucket, limit, now);
        if status.remaining > 0 {
            bucket.take(bucket_size(limit), now);
        }
        status
    }

    #[test]
    fn one_minute_of_requests_is_admitted_at_once_and_then_one_per_interval() {
        for limit in [1, 2, 7, 60, 1_000] {
            let (mut bucket, start) = (TokenBucket::default(), Instant::now());
            for taken in 0..limit {
                assert_eq!(request(&mut bucket, limit, start).remaining, limit - taken, "{limit}");
            }
            let rejected = request(&mut bucket, limit, start);
            let interval = MINUTE / limit;
            assert_eq!((rejected.remaining, rejected.next), (0, interval), "{limit}");
            assert_eq!(rejected.reset, interval * limit, "{limit}");
            let almost = start + interval - Duration::from_nanos(1);
            assert_eq!(request(&mut bucket, limit, almost).next, Duration::from_nanos(1), "{limit}");
            assert_eq!(request(&mut bucket, limit, start + interval).remaining, 1, "{limit}");
            assert_eq!(request(&mut bucket, limit, start + interval).remaining, 0, "{limit}");
        }
    }

    #[test]
    fn client_that_waits_for_retry_after_is_admitted() {
        let (mut bucket, mut now) = (TokenBucket::default(), Instant::now());
        for _request in 0..500 {
            let status = request(&mut bucket, 13, now);
            if status.remaining == 0 {
                now += Duration::from_secs(seconds(status.next));
                assert!(request(&mut bucket, 13, now).remaining > 0);
            }
        }
    }

    #[test]
    fn admitted_requests_never_exceed_the_capacity_and_the_refill() {
        let (mut bucket, start) = (TokenBucket::default(), Instant::now());
        let mut admitted = 0;
        for tenth in 0..3_000 {
            let now = start + Duration::from_millis(100) * tenth;
            admitted += u32::from(request(&mut bucket, 30, now).remaining > 0);
        }
        // In five minutes: the full bucket, and its refill.
        assert_eq!(admitted, 30 + 150 - 1);
    }

    #[test]
    fn changed_limit_applies_immediately() {
        let (mut bucket, now) = (TokenBucket::default(), Instant::now());
        for _request in 0..10 {
            request(&mut bucket, 10, now);
        }
        let status = |limit, now| RateLimitStatus::from_bucket(bucket, limit, now);
        assert_eq!(status(10, now).remaining, 0);
        assert_eq!(status(1_000, now).remaining, 0);
        assert_eq!(status(1_000, now + Duration::from_secs(6)).remaining, 100);
        assert_eq!(status(5, now).next, Duration::from_secs(12));
        assert!(!bucket.is_full(now + Duration::from_millis(59_999)) && bucket.is_full(now + MINUTE));
    }

    #[test]
    fn rate_limit_zero_rejects_every_request() {
        let mut bucket = TokenBucket::default();
        let status = request(&mut bucket, 0, Instant::now());
        assert_eq!((status.remaining, status.reset, status.next), (0, MINUTE, MINUTE));
    }

    #[test]
    fn headers_contain_seconds_rounded_up() {
        let status = RateLimitStatus {
            limit: 7,
            remaining: 3,
            reset: Duration::from_millis(34_001),
            next: Duration::ZERO,
        };
        let mut headers = HeaderMap::new();
        status.write(&mut headers);
        let header = |name: &str| headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("ratelimit-limit"), "7");
        assert_eq!(header("ratelimit-remaining"), "3");
        assert_eq!(header("ratelimit-reset"), "35");
        assert_eq!(header("ratelimit-policy"), "7;w=60");
    }
}
