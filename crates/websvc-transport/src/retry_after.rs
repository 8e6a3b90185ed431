//! The `Retry-After` header of responses, limited to a maximum.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// The maximum `Retry-After` that is respected. After that, a request is sent again, whatever the server has asked for.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Returns the value of `Retry-After` (RFC 9110, section 10.2.3), at most [`MAX_RETRY_AFTER`].
///
/// Returns `None` without the header and for a date: servers that limit requests rarely send dates.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds: u64 = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn retry_after_is_seconds_up_to_the_maximum() {
        for (value, expected) in [
            ("0", Some(0)),
            ("7", Some(7)),
            (" 7 ", Some(7)),
            ("600", Some(600)),
            ("86400", Some(600)),
            ("soon", None),
            ("-1", None),
            ("Wed, 21 Oct 2026 07:28:00 GMT", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }
}
