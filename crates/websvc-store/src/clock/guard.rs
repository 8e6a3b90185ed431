//! The guard against a reference clock that is set: it decides when the clock of the store follows.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The least change of the reference that counts as a jump, in milliseconds. Smaller ones are corrections.
const MIN_JUMP_MS: u64 = 60_000;

/// How long a jump of the reference must hold until the clock of the store follows. A time server corrects a wrong clock
/// within that time, and an operator sees the warning.
pub const HOLD: Duration = Duration::from_secs(300);

/// The difference between the time and the time since boot, as of a reference that may be set.
#[derive(Debug)]
pub(super) struct Guard {
    offset_ms: i64,
    jump: Option<Jump>,
}

/// A jump of the reference that is not followed yet.
#[derive(Debug)]
struct Jump {
    offset_ms: i64,
    /// The time since boot at which it was first seen.
    since_ms: i64,
}

/// Returns whether two times or differences are nearer than a jump.
pub(super) fn is_near(a_ms: i64, b_ms: i64) -> bool {
    a_ms.abs_diff(b_ms) < MIN_JUMP_MS
}

impl Guard {
    pub(super) const fn new(offset_ms: i64) -> Self {
        Self { offset_ms, jump: None }
    }

    pub(super) const fn offset_ms(&self) -> i64 {
        self.offset_ms
    }

    /// Follows the reference, which has shown that the difference is in a range, at a time since boot. A jump is
    /// followed if it is confirmed or has held for [`HOLD`]. Returns whether a jump was followed.
    pub(super) fn follow(
        &mut self,
        offsets_ms: &RangeInclusive<i64>,
        boot_ms: i64,
        is_confirmed: bool,
    ) -> bool {
        let offset_ms = self.offset_ms.clamp(*offsets_ms.start(), *offsets_ms.end());
        let is_jump = !is_near(offset_ms, self.offset_ms);
        if is_jump && !is_confirmed {
            let since_ms = match &self.jump {
                Some(jump) if is_near(jump.offset_ms, offset_ms) => jump.since_ms,
                _ => boot_ms,
            };
            if boot_ms.saturating_sub(since_ms) < HOLD.as_millis() as i64 {
                self.jump = Some(Jump { offset_ms, since_ms });
                return false;
            }
        }
        *self = Self::new(offset_ms);
        is_jump
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 25 * 3_600_000;
    const HOLD_MS: i64 = HOLD.as_millis() as i64;

    /// Passes steps of the time since boot and the difference that the reference shows; each has the expected
    /// difference of the clock.
    fn check(steps: &[(i64, i64, i64)]) -> usize {
        let mut guard = Guard::new(0);
        let mut followed = 0;
        for &(boot_ms, offset_ms, expected_ms) in steps {
            followed += usize::from(guard.follow(&(offset_ms..=offset_ms), boot_ms, false));
            assert_eq!(guard.offset_ms(), expected_ms, "at {boot_ms} ms");
        }
        followed
    }

    #[test]
    fn correction_is_followed_at_once() {
        assert_eq!(check(&[(0, 0, 0), (10, 59_999, 59_999), (20, 0, 0), (30, -59_999, -59_999)]), 0);
    }

    #[test]
    fn jump_in_either_direction_that_does_not_hold_is_not_followed() {
        for jump_ms in [DAY_MS, -DAY_MS, 60_000, -60_000] {
            let steps = [
                (0, 0, 0),
                (10, jump_ms, 0),
                (HOLD_MS + 9, jump_ms + jump_ms.signum() * 500, 0),
                (HOLD_MS + 20, 0, 0),
                (HOLD_MS + 30, jump_ms, 0),
                (2 * HOLD_MS, jump_ms, 0),
            ];
            assert_eq!(check(&steps), 0);
        }
    }

    #[test]
    fn jump_in_either_direction_is_followed_once_when_it_has_held() {
        for jump_ms in [DAY_MS, -DAY_MS] {
            let steps = [
                (0, 0, 0),
                (10, jump_ms, 0),
                (HOLD_MS + 9, jump_ms, 0),
                (HOLD_MS + 10, jump_ms + 20, jump_ms + 20),
                (HOLD_MS + 20, jump_ms, jump_ms),
            ];
            assert_eq!(check(&steps), 1);
        }
    }

    #[test]
    fn reference_that_keeps_jumping_is_not_followed() {
        let steps: Vec<(i64, i64, i64)> =
            (0..20).map(|n| (n * HOLD_MS / 2, (n % 2 + 1) * DAY_MS, 0)).collect();
        assert_eq!(check(&steps), 0);
    }

    #[test]
    fn confirmed_jump_is_followed_at_once() {
        let mut guard = Guard::new(0);
        assert!(guard.follow(&(DAY_MS..=DAY_MS), 10, true));
        assert_eq!(guard.offset_ms(), DAY_MS);
    }

    #[test]
    fn difference_within_the_uncertainty_of_a_round_trip_changes_nothing() {
        let mut guard = Guard::new(100);
        guard.follow(&(50..=130), 10, false);
        assert_eq!(guard.offset_ms(), 100);
        guard.follow(&(105..=5_000), 20, false);
        assert_eq!(guard.offset_ms(), 105);
        guard.follow(&(-200..=90), 30, false);
        assert_eq!(guard.offset_ms(), 90);
    }
}
