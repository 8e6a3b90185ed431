//! Requests per minute: a bucket that holds one minute's worth and fills evenly.

use std::time::{Duration, Instant};

use http::header::{HeaderMap, HeaderName, HeaderValue};

const MINUTE: Duration = Duration::from_secs(60);

/// A bucket of requests, known by the one thing that changes: when it will be full.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenBucket {
    full_at: Option<Instant>,
}

/// How far a caller has come with its requests per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitStatus {
    /// The requests of a minute, and the most at once.
    pub(crate) limit: u32,
    /// The requests that would be admitted now.
    pub(crate) remaining: u32,
    /// Until all of them would be.
    pub(crate) reset: Duration,
    /// Until the next one would be; zero when one would be now.
    pub(crate) next: Duration,
}

impl TokenBucket {
    /// Returns what is in a bucket of so many requests per minute.
    pub(super) fn rate(self, limit: u32, now: Instant) -> RateLimitStatus {
        let Some(each) = MINUTE.checked_div(limit) else {
            return RateLimitStatus { limit, remaining: 0, reset: MINUTE, next: MINUTE };
        };
        // A limit that was raised leaves less to wait for, one that was lowered not more than a minute.
        let whole = each.saturating_mul(limit);
        let reset = self.missing(now).min(whole);
        let left = whole.saturating_sub(reset).as_nanos() / each.as_nanos();
        let remaining = u32::try_from(left).unwrap_or(limit);
        let next =
            if remaining > 0 { Duration::ZERO } else { each.saturating_sub(whole.saturating_sub(reset)) };
        RateLimitStatus { limit, remaining, reset, next }
    }

    /// Takes a request out of the bucket, in which there has to be one.
    pub(super) fn take(&mut self, limit: u32, now: Instant) {
        let Some(each) = MINUTE.checked_div(limit) else { return };
        let missing = self.missing(now).min(each.saturating_mul(limit.saturating_sub(1)));
        self.full_at = Some(now + missing + each);
    }

    /// Tells whether nothing would be lost if the bucket were forgotten.
    pub(super) fn is_full(self, now: Instant) -> bool {
        self.missing(now).is_zero()
    }

    fn missing(self, now: Instant) -> Duration {
        self.full_at.map_or(Duration::ZERO, |full_at| full_at.saturating_duration_since(now))
    }
}

impl RateLimitStatus {
    /// Returns the one of two that leaves less.
    pub(super) fn tighter(self, other: Self) -> Self {
        if (other.remaining, self.next) < (self.remaining, other.next) { other } else { self }
    }

    /// Writes the headers by which clients pace themselves (draft-ietf-httpapi-ratelimit-headers, in the spelling that
    /// most services send and most clients read).
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

/// Returns whole seconds, rounded up: whoever waits so long has waited long enough.
pub(super) fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a request at `now` if there is one.
    fn ask(bucket: &mut TokenBucket, limit: u32, now: Instant) -> RateLimitStatus {
        let rate = bucket.rate(limit, now);
        if rate.remaining > 0 {
            bucket.take(limit, now);
        }
        rate
    }

    #[test]
    fn a_minute_of_requests_may_come_at_once_and_then_one_after_the_other() {
        for limit in [1, 2, 7, 60, 1_000] {
            let (mut bucket, start) = (TokenBucket::default(), Instant::now());
            for taken in 0..limit {
                assert_eq!(ask(&mut bucket, limit, start).remaining, limit - taken, "{limit}");
            }
            let refused = ask(&mut bucket, limit, start);
            let each = MINUTE / limit;
            assert_eq!((refused.remaining, refused.next), (0, each), "{limit}");
            assert_eq!(refused.reset, each * limit, "{limit}");
            let almost = start + each - Duration::from_nanos(1);
            assert_eq!(ask(&mut bucket, limit, almost).next, Duration::from_nanos(1), "{limit}");
            assert_eq!(ask(&mut bucket, limit, start + each).remaining, 1, "{limit}");
            assert_eq!(ask(&mut bucket, limit, start + each).remaining, 0, "{limit}");
        }
    }

    #[test]
    fn whoever_waits_as_long_as_is_said_is_admitted() {
        let (mut bucket, mut now) = (TokenBucket::default(), Instant::now());
        for _request in 0..500 {
            let rate = ask(&mut bucket, 13, now);
            if rate.remaining == 0 {
                now += Duration::from_secs(seconds(rate.next));
                assert!(ask(&mut bucket, 13, now).remaining > 0);
            }
        }
    }

    #[test]
    fn no_more_than_the_bucket_and_the_flow_are_ever_admitted() {
        let (mut bucket, start) = (TokenBucket::default(), Instant::now());
        let mut admitted = 0;
        for tenth in 0..3_000 {
            let now = start + Duration::from_millis(100) * tenth;
            admitted += u32::from(ask(&mut bucket, 30, now).remaining > 0);
        }
        // Five minutes: one bucket, and what flows in.
        assert_eq!(admitted, 30 + 150 - 1);
    }

    #[test]
    fn another_limit_counts_at_once() {
        let (mut bucket, now) = (TokenBucket::default(), Instant::now());
        for _request in 0..10 {
            ask(&mut bucket, 10, now);
        }
        assert_eq!(bucket.rate(10, now).remaining, 0);
        assert_eq!(bucket.rate(1_000, now).remaining, 0);
        assert_eq!(bucket.rate(1_000, now + Duration::from_secs(6)).remaining, 100);
        assert_eq!(bucket.rate(5, now).next, Duration::from_secs(12));
        assert!(!bucket.is_full(now + Duration::from_millis(59_999)) && bucket.is_full(now + MINUTE));
    }

    #[test]
    fn nobody_gets_through_a_limit_of_none() {
        let mut bucket = TokenBucket::default();
        let rate = ask(&mut bucket, 0, Instant::now());
        assert_eq!((rate.remaining, rate.next), (0, MINUTE));
    }

    #[test]
    fn the_headers_say_seconds_rounded_up() {
        let rate = RateLimitStatus {
            limit: 7,
            remaining: 3,
            reset: Duration::from_millis(34_001),
            next: Duration::ZERO,
        };
        let mut headers = HeaderMap::new();
        rate.write(&mut headers);
        let header = |name: &str| headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("ratelimit-limit"), "7");
        assert_eq!(header("ratelimit-remaining"), "3");
        assert_eq!(header("ratelimit-reset"), "35");
        assert_eq!(header("ratelimit-policy"), "7;w=60");
    }
}
