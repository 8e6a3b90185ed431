//! Conversions of times.

use jiff::Timestamp;

/// Returns a time in milliseconds since the Unix epoch.
pub(crate) fn to_ms(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or_default()
}

/// Returns the time of milliseconds since the Unix epoch.
pub(crate) fn from_ms(ms: u64) -> Timestamp {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
}
