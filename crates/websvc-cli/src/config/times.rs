//! The maximum of each configured time in seconds or longer units.
//!
//! A time that exceeds what the clocks of the system can add would end the process at its first use.

use toml::{Table, Value};

use super::keys::find;

const YEAR_S: i64 = 365 * 24 * 3_600;
const CENTURY_DAYS: i64 = 100 * 365;

/// The keys, each with its maximum in the unit of its name.
pub(super) const MAX_TIMES: &[(&str, i64)] = &[
    ("agent.max_seconds", 24 * 3_600),
    ("agent.retention_hours", CENTURY_DAYS * 24),
    ("artifacts.max_age_hours", CENTURY_DAYS * 24),
    ("auth.oidc.leeway_s", 300),
    ("browser.idle_shutdown_s", YEAR_S),
    ("cache.max_age_days", CENTURY_DAYS),
    ("change_tracking.max_unused_days", CENTURY_DAYS),
    ("interact.open_timeout_s", 3_600),
    ("jobs.retention_hours", CENTURY_DAYS * 24),
    ("media.max_duration_s", YEAR_S),
    ("media.timeout_s", 24 * 3_600),
    ("monitor.check_timeout_minutes", 7 * 24 * 60),
    ("monitor.min_interval_minutes", 365 * 24 * 60),
    ("threat.cache_clean_s", YEAR_S),
    ("threat.cache_risky_s", YEAR_S),
    ("usage.daily_days", CENTURY_DAYS),
    ("usage.feedback_days", CENTURY_DAYS),
    ("usage.log_days", CENTURY_DAYS),
    ("webhooks.retention_hours", CENTURY_DAYS * 24),
];

/// A configured time above its maximum.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DurationTooLong {
    pub(super) key: &'static str,
    pub(super) value: i64,
    pub(super) max: i64,
}

/// Returns the first time of a configuration that is above its maximum.
pub(super) fn first_too_long(table: &Table) -> Option<DurationTooLong> {
    MAX_TIMES.iter().find_map(|&(key, max)| {
        let value = find(table, key).and_then(Value::as_integer).filter(|value| *value > max)?;
        Some(DurationTooLong { key, value, max })
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::all_keys;
    use super::*;

    #[test]
    fn every_time_in_seconds_and_longer_units_has_a_maximum() {
        let units = ["_s", "_seconds", "_minutes", "_hours", "_days"];
        let keys = all_keys();
        let times: Vec<&String> =
            keys.iter().filter(|key| units.iter().any(|unit| key.ends_with(unit))).collect();
        let limited: Vec<&str> = MAX_TIMES.iter().map(|(key, _)| *key).collect();
        for key in times {
            assert!(limited.contains(&key.as_str()), "{key}");
        }
        for key in limited {
            assert!(keys.iter().any(|known| known == key), "{key} is not a key");
        }
    }
}
