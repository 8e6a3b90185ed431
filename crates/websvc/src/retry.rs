//! When a failed request is sent again: how often, after which wait, and what the service says about it.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};

/// How requests that failed are sent again.
///
/// Repeated are answers of status 429, 502 and 503, and requests that got no answer because the service could not be
/// reached or the connection broke. Nothing else is: not other statuses, not a certificate that cannot be verified,
/// and not a request that ran out of time.
///
/// The wait before the n-th repetition is a random part of `base * 2^(n-1)`, of which `max` is the most; what
/// `Retry-After` asks for comes on top. A wait that would not leave the time for another attempt like the last is not
/// begun: the call then fails with what happened last.
///
/// ```
/// use std::time::Duration;
/// use websvc::Retry;
///
/// let patient = Retry { attempts: 6, max: Duration::from_secs(30), ..Retry::default() };
/// assert_eq!(patient.base, Duration::from_millis(250));
/// assert_eq!(Retry::none().attempts, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a request is sent in all; 0 counts as 1. Default: 3.
    pub attempts: u32,
    /// The longest wait before the first repetition; it doubles with each. Default: 250 ms.
    pub base: Duration,
    /// The longest wait before any repetition, `Retry-After` aside. Default: 10 s.
    pub max: Duration,
    /// A `Retry-After` beyond this is not waited for: the call fails, and its error says how long to wait.
    /// Default: 30 s.
    pub max_retry_after: Duration,
}

impl RetryPolicy {
    /// Returns the policy that sends every request once.
    #[must_use]
    pub fn none() -> Self {
        Self { attempts: 1, ..Self::default() }
    }

    /// Returns how long to wait after `failed` attempts, when the service asked for a wait of `asked`; `None` when
    /// there is no further attempt.
    pub(crate) fn wait(&self, failed: u32, asked: Option<Duration>) -> Option<Duration> {
        self.wait_by(failed, asked, RandomState::new().hash_one(failed))
    }

    /// The wait for a given random number.
    fn wait_by(&self, failed: u32, asked: Option<Duration>, random: u64) -> Option<Duration> {
        let asked = asked.unwrap_or_default();
        if failed >= self.attempts || asked > self.max_retry_after {
            return None;
        }
        let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
        let ceiling = self.base.saturating_mul(doubled).min(self.max);
        let nanos = u64::try_from(ceiling.as_nanos()).unwrap_or(u64::MAX);
        let part = (u128::from(nanos) * u128::from(random)) >> 64;
        let part = u64::try_from(part).expect("a part of a u64");
        Some(asked.saturating_add(Duration::from_nanos(part)))
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

/// Returns how long the service asks to wait: a number of seconds or a date (RFC 9110, section 10.2.3).
///
/// A date is compared with the answer's own, if it has one: two clocks seldom agree.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text| httpdate::parse_http_date(text).ok();
    let now = text(DATE).and_then(date).unwrap_or(now);
    Some(date(asked)?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn waits_double_up_to_the_longest() {
        let retry = RetryPolicy { attempts: 100, base: ms(100), max: ms(1500), max_retry_after: ms(0) };
        let longest = |failed| retry.wait_by(failed, None, u64::MAX).map(|wait| wait.as_millis() + 1);
        let waits: Vec<_> = [1, 2, 3, 4, 5, 6, 40, 99].into_iter().map(longest).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1500, 1500, 1500, 1500].map(Some));
    }

    #[test]
    fn the_random_number_takes_a_part_of_the_wait() {
        let retry = RetryPolicy { base: ms(400), ..RetryPolicy::default() };
        assert_eq!(retry.wait_by(1, None, 0), Some(ms(0)));
        assert_eq!(retry.wait_by(1, None, 1 << 62), Some(ms(100)));
        assert_eq!(retry.wait_by(1, None, 1 << 63), Some(ms(200)));
    }

    #[test]
    fn random_numbers_differ() {
        let retry = RetryPolicy { base: Duration::from_secs(10), ..RetryPolicy::default() };
        let waits: std::collections::HashSet<_> = (0..32).map(|_| retry.wait(1, None)).collect();
        assert!(waits.len() > 30, "{waits:?}");
    }

    #[test]
    fn attempts_come_to_an_end() {
        assert!(RetryPolicy::default().wait(2, None).is_some());
        assert!(RetryPolicy::default().wait(3, None).is_none());
        for retry in [RetryPolicy::none(), RetryPolicy { attempts: 0, ..RetryPolicy::default() }] {
            assert!(retry.wait(1, None).is_none());
        }
    }

    #[test]
    fn the_wait_that_is_asked_for_is_a_lower_bound_and_has_its_own_limit() {
        let retry = RetryPolicy { base: ms(400), max_retry_after: ms(5000), ..RetryPolicy::default() };
        assert_eq!(retry.wait_by(1, Some(ms(5000)), 1 << 63), Some(ms(5200)));
        assert_eq!(retry.wait_by(1, Some(ms(5001)), 0), None);
    }

    #[test]
    fn extreme_policies_do_not_overflow() {
        let (base, max) = (Duration::MAX, Duration::MAX);
        let retry = RetryPolicy { attempts: u32::MAX, base, max, max_retry_after: Duration::MAX };
        assert_eq!(retry.wait_by(u32::MAX - 1, Some(Duration::MAX), u64::MAX), Some(Duration::MAX));
    }

    fn check_retry_after(asked: &str, date: Option<&str>, expected: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, asked.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        // Sun, 06 Nov 1994 08:49:37 GMT
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{asked}");
    }

    #[test]
    fn a_retry_after_is_seconds_or_a_date() {
        check_retry_after("0", None, Some(0));
        check_retry_after(" 120 ", None, Some(120));
        check_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", None, Some(60));
        check_retry_after("Sunday, 06-Nov-94 08:50:37 GMT", None, Some(60));
        check_retry_after("Sun, 06 Nov 1994 08:49:36 GMT", None, Some(0));
        let clock_of_the_service = Some("Sun, 06 Nov 1994 10:00:00 GMT");
        check_retry_after("Sun, 06 Nov 1994 10:00:02 GMT", clock_of_the_service, Some(2));
    }

    #[test]
    fn a_retry_after_that_cannot_be_read_asks_for_nothing() {
        for asked in ["", "soon", "-1", "1.5", "99999999999999999999999"] {
            check_retry_after(asked, None, None);
        }
        assert_eq!(retry_after(&HeaderMap::new(), SystemTime::now()), None);
    }
}
