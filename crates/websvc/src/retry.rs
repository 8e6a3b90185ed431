//! Policy for repeating failed requests.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// Policy for repeating failed requests: exponential backoff with random jitter.
///
/// A request is repeated after a response with status 429, 502 or 503, and if there is no response because the service
/// is not reachable or the connection broke. It is not repeated after other statuses, if the certificate of the service
/// cannot be verified, or if the time limit is exceeded. A request that is not idempotent, such as the start of a job, is
/// repeated only if the service certainly did not process it: after 429, or if no connection was made.
///
/// The delay before the n-th repetition is random, between 0 and the smaller of `base * 2^(n-1)` and `max`, plus
/// `Retry-After` of the response. If the delay and another attempt of the same duration do not fit into the time limit of
/// the call, the call fails at once with the last error.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use websvc::RetryPolicy;
///
/// let patient = RetryPolicy { attempts: 6, max: Duration::from_secs(30), ..RetryPolicy::default() };
/// assert_eq!(patient.base, Duration::from_millis(250));
/// assert_eq!(RetryPolicy::none().attempts, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of times that a request is sent; 0 counts as 1. Default: 3.
    pub attempts: u32,
    /// Maximum delay before the first repetition; it doubles with each further one. Default: 250 ms.
    pub base: Duration,
    /// Maximum delay before any repetition, without `Retry-After`. Default: 10 s.
    pub max: Duration,
    /// Maximum `Retry-After` to wait for. If it is longer, the call fails, and
    /// [`ClientError::retry_after`](crate::ClientError::retry_after) returns it. Default: 30 s.
    pub max_retry_after: Duration,
}

impl RetryPolicy {
    /// Returns the policy that sends every request only once.
    #[must_use]
    pub fn none() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// Returns the delay after `failed_attempts` attempts, or `None` if there is no further attempt.
    pub(crate) fn delay(&self, failed_attempts: u32, retry_after: Option<Duration>) -> Option<Duration> {
        self.delay_with(failed_attempts, retry_after, RandomState::new().hash_one(failed_attempts))
    }

    /// Returns the delay for this random number.
    fn delay_with(
        &self,
        failed_attempts: u32,
        retry_after: Option<Duration>,
        random: u64,
    ) -> Option<Duration> {
        let retry_after = retry_after.unwrap_or_default();
        if failed_attempts >= self.attempts || retry_after > self.max_retry_after {
            return None;
        }
        let factor = 1_u32.checked_shl(failed_attempts.saturating_sub(1)).unwrap_or(u32::MAX);
        let max = self.base.saturating_mul(factor).min(self.max);
        let max_nanos = u64::try_from(max.as_nanos()).unwrap_or(u64::MAX);
        let jitter = (u128::from(max_nanos) * u128::from(random)) >> 64;
        let jitter = u64::try_from(jitter).expect("the high half of a product of two u64 is a u64");
        Some(retry_after.saturating_add(Duration::from_nanos(jitter)))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(250),
            max: Duration::from_secs(10),
            max_retry_after: Duration::from_secs(30),
        }
    }
}

/// Returns the value of `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3).
///
/// A date is relative to the `Date` of the response, if it has one, because the clocks of client and service may differ.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text| httpdate::parse_http_date(text).ok();
    let now = text(DATE).and_then(date).unwrap_or(now);
    Some(date(value)?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn delay_doubles_up_to_its_maximum() {
        let retry = RetryPolicy { attempts: 100, base: ms(100), max: ms(1500), max_retry_after: ms(0) };
        let longest = |failed| retry.delay_with(failed, None, u64::MAX).map(|delay| delay.as_millis() + 1);
        let delays: Vec<_> = [1, 2, 3, 4, 5, 6, 40, 99].into_iter().map(longest).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1500, 1500, 1500, 1500].map(Some));
    }

    #[test]
    fn delay_is_a_random_part_of_its_maximum() {
        let retry = RetryPolicy { base: ms(400), ..RetryPolicy::default() };
        assert_eq!(retry.delay_with(1, None, 0), Some(ms(0)));
        assert_eq!(retry.delay_with(1, None, 1 << 62), Some(ms(100)));
        assert_eq!(retry.delay_with(1, None, 1 << 63), Some(ms(200)));
    }

    #[test]
    fn delays_of_equal_attempts_differ() {
        let retry = RetryPolicy { base: Duration::from_secs(10), ..RetryPolicy::default() };
        let delays: std::collections::HashSet<_> = (0..32).map(|_| retry.delay(1, None)).collect();
        assert!(delays.len() > 30, "{delays:?}");
    }

    #[test]
    fn policy_limits_the_number_of_attempts() {
        assert!(RetryPolicy::default().delay(2, None).is_some());
        assert!(RetryPolicy::default().delay(3, None).is_none());
        for retry in [RetryPolicy::none(), RetryPolicy { attempts: 0, ..RetryPolicy::default() }] {
            assert!(retry.delay(1, None).is_none());
        }
    }

    #[test]
    fn retry_after_is_a_lower_bound_with_its_own_maximum() {
        let retry = RetryPolicy { base: ms(400), max_retry_after: ms(5000), ..RetryPolicy::default() };
        assert_eq!(retry.delay_with(1, Some(ms(5000)), 1 << 63), Some(ms(5200)));
        assert_eq!(retry.delay_with(1, Some(ms(5001)), 0), None);
    }

    #[test]
    fn extreme_policies_do_not_overflow() {
        let (base, max) = (Duration::MAX, Duration::MAX);
        let retry = RetryPolicy { attempts: u32::MAX, base, max, max_retry_after: Duration::MAX };
        assert_eq!(retry.delay_with(u32::MAX - 1, Some(Duration::MAX), u64::MAX), Some(Duration::MAX));
    }

    fn check_retry_after(value: &str, date: Option<&str>, expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, value.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{value}");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        check_retry_after("0", None, Some(0));
        check_retry_after(" 120 ", None, Some(120));
        check_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", None, Some(60));
        check_retry_after("Sunday, 06-Nov-94 08:50:37 GMT", None, Some(60));
        check_retry_after("Sun, 06 Nov 1994 08:49:36 GMT", None, Some(0));
        let service_clock = Some("Sun, 06 Nov 1994 10:00:00 GMT");
        check_retry_after("Sun, 06 Nov 1994 10:00:02 GMT", service_clock, Some(2));
    }

    #[test]
    fn invalid_retry_after_is_ignored() {
        for value in ["", "soon", "-1", "1.5", "99999999999999999999999"] {
            check_retry_after(value, None, None);
        }
        assert_eq!(retry_after(&HeaderMap::new(), SystemTime::now()), None);
    }
}
