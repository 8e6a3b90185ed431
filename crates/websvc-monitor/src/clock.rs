//! The clock of the schedules.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

/// The clock of the schedules: that of the system, or for tests one that is ahead of it.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// How far the clock is ahead of that of the system, in milliseconds.
    offset_ms: Arc<AtomicI64>,
}

impl Clock {
    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let offset = SignedDuration::from_millis(self.offset_ms.load(Ordering::Relaxed));
        Timestamp::now().checked_add(offset).unwrap_or(Timestamp::MAX)
    }

    /// Sets the clock and its clones forward, for tests.
    pub fn advance(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.offset_ms.fetch_add(ms, Ordering::Relaxed);
    }

    /// Sets the clock and its clones back, for tests.
    pub fn turn_back(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.offset_ms.fetch_sub(ms, Ordering::Relaxed);
    }

    /// Returns the time in milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        to_ms(self.now())
    }
}

/// The least movement of the wall clock against the monotonic one that counts. The clocks of replicas, and corrections of
/// a clock that runs, differ by less.
pub(crate) const MIN_JUMP: Duration = Duration::from_secs(60);

/// Detects that the wall clock was set, in either direction, by comparing it with the monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct ClockWatch(Option<(Timestamp, Instant)>);

impl ClockWatch {
    /// Returns whether the wall clock was set since the last call. The first call returns true: it may have been set
    /// before the start.
    pub(crate) fn was_set(&mut self, wall: Timestamp, monotonic: Instant) -> bool {
        let Some((last_wall, last_monotonic)) = self.0.replace((wall, monotonic)) else { return true };
        let elapsed = monotonic.saturating_duration_since(last_monotonic);
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        let moved = wall.duration_since(last_wall).saturating_sub(elapsed);
        moved.unsigned_abs() >= MIN_JUMP
    }
}

/// Returns a time in milliseconds since the Unix epoch.
pub(crate) fn to_ms(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or_default()
}

/// Returns the time of milliseconds since the Unix epoch.
pub(crate) fn from_ms(ms: u64) -> Timestamp {
    i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_set_in_either_direction_is_noticed() {
        let (mut watch, start) = (ClockWatch::default(), Instant::now());
        for (wall_s, monotonic_s, expected) in [
            (1_000, 0, true),
            (1_002, 2, false),
            (1_602, 602, false),
            (174_402, 604, true),
            (174_404, 606, false),
            (1_608, 608, true),
            (1_609, 610, false),
            (1_660, 611, false),
            (1_600, 612, true),
            (0, 4_000, true),
        ] {
            let wall = Timestamp::from_second(wall_s).unwrap();
            let monotonic = start + Duration::from_secs(monotonic_s);
            assert_eq!(watch.was_set(wall, monotonic), expected, "{wall_s} {monotonic_s}");
        }
    }
}
