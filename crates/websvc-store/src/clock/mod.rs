//! The clock of the store. All deadlines, due times and expiries are set and compared by it.
//!
//! Its time advances with the machine's time since boot, so it does not depend on when the wall clock is set. What the
//! time is comes from a reference:
//!
//! - With a database on a server, the clock of the database, which is read with statements that are sent anyway. All
//!   replicas thus have the same time, whatever their wall clocks are.
//! - With a file, the wall clock.
//!
//! A reference that was set is followed only after [`HOLD`], so a clock that is wrong for a moment deletes nothing.

mod guard;
mod machine;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;

use guard::Guard;

pub use guard::HOLD;
pub(crate) use machine::boot_ms;

/// The difference between the wall clock and the clock of the store from which on the wall clock counts as wrong.
pub const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5);

/// The least change of the difference between the time and the time since boot that is saved, in milliseconds.
const SAVED_CHANGE_MS: u64 = 1000;

/// The clock of a store. Clones share one.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    reference: Reference,
    state: Mutex<State>,
    /// Number of times that the time was set.
    steps: AtomicU64,
}

#[derive(Debug)]
enum Reference {
    /// The wall clock, with the file that keeps the difference to the time since boot.
    Wall { path: Option<PathBuf> },
    /// A server. Until its clock has been read for the first time, the wall clock.
    Server,
}

#[derive(Debug)]
struct State {
    /// `None` until the clock of a server has been read.
    guard: Option<Guard>,
    /// The difference that was saved last, in milliseconds.
    saved_ms: Option<i64>,
    /// How far the wall clock is set ahead, for tests.
    wall_ahead_ms: i64,
    /// How far the time is ahead, for tests.
    ahead_ms: i64,
    /// The time at which the clock stands, for tests.
    stopped_ms: Option<i64>,
}

impl Clock {
    /// Creates the clock of a database file in `dir`. If the wall clock was set while the service was stopped, but the
    /// machine was not started again, that is noticed.
    pub(crate) fn of_file(dir: &Path) -> Self {
        let path = dir.join(machine::FILE_NAME);
        let saved_ms = machine::read_offset(&path);
        let offset_ms = saved_ms.unwrap_or_else(|| machine::wall_ms() - boot_ms());
        Self::new(Reference::Wall { path: Some(path) }, Some(Guard::new(offset_ms)), saved_ms)
    }

    /// Creates the clock of a database on a server.
    pub(crate) fn of_server() -> Self {
        Self::new(Reference::Server, None, None)
    }

    fn new(reference: Reference, guard: Option<Guard>, saved_ms: Option<i64>) -> Self {
        let state = State { guard, saved_ms, wall_ahead_ms: 0, ahead_ms: 0, stopped_ms: None };
        Self(Arc::new(Inner { reference, state: Mutex::new(state), steps: AtomicU64::new(0) }))
    }

    /// Returns the time in milliseconds since the Unix epoch.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.read().0).unwrap_or_default()
    }

    /// Returns the time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.read().0).unwrap_or(Timestamp::MAX)
    }

    /// Returns how far the wall clock of this machine is ahead of the clock, in milliseconds; negative if it is behind.
    #[must_use]
    pub fn skew_ms(&self) -> i64 {
        let (now_ms, wall_ms) = self.read();
        wall_ms.saturating_sub(now_ms)
    }

    /// Returns how often the time was set. After a change, times that were stored before may be too far in the future.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Acquire)
    }

    /// Sets the wall clock ahead of that of the machine, or behind it, for tests.
    pub fn set_wall_ahead(&self, ahead_ms: i64) {
        self.0.state.lock().wall_ahead_ms = ahead_ms;
    }

    /// Sets the time forward, as if it had passed, for tests.
    pub fn advance(&self, duration: Duration) {
        self.shift(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX));
    }

    /// Sets the time back, for tests.
    pub fn turn_back(&self, duration: Duration) {
        self.shift(-i64::try_from(duration.as_millis()).unwrap_or(i64::MAX));
    }

    /// Stops the clock at a time, from which only [`advance`](Self::advance) moves it, for tests.
    pub fn stop_at(&self, now_ms: u64) {
        self.0.state.lock().stopped_ms = Some(i64::try_from(now_ms).unwrap_or(i64::MAX));
    }

    fn shift(&self, ms: i64) {
        let mut state = self.0.state.lock();
        state.ahead_ms = state.ahead_ms.saturating_add(ms);
        self.0.steps.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes over the clock of the server, which was read at `server_ms` between two times since boot.
    pub(crate) fn learn(&self, server_ms: i64, boot_ms: RangeInclusive<i64>) {
        let (sent_ms, received_ms) = boot_ms.into_inner();
        // All three are in whole milliseconds.
        let offsets_ms = server_ms - received_ms - 1..=server_ms - sent_ms + 1;
        let mut state = self.0.state.lock();
        let wall_ms = machine::wall_ms() + state.wall_ahead_ms;
        match &mut state.guard {
            // Half of the round trip.
            None => state.guard = Some(Guard::new(offsets_ms.start().midpoint(*offsets_ms.end()))),
            Some(guard) => {
                // A server with the time of this machine is right: this machine was suspended, or another server took
                // over.
                let is_confirmed = guard::is_near(wall_ms, server_ms);
                let is_step = guard.follow(&offsets_ms, received_ms, is_confirmed);
                self.0.steps.fetch_add(u64::from(is_step), Ordering::AcqRel);
            }
        }
    }

    /// Returns the time and that of the wall clock, in milliseconds since the Unix epoch.
    fn read(&self) -> (i64, i64) {
        let mut state = self.0.state.lock();
        let (boot_ms, wall_ms) = (boot_ms(), machine::wall_ms().saturating_add(state.wall_ahead_ms));
        if let (Reference::Wall { path }, Some(guard)) = (&self.0.reference, &mut state.guard) {
            let offset_ms = wall_ms - boot_ms;
            let is_step = guard.follow(&(offset_ms..=offset_ms), boot_ms, false);
            self.0.steps.fetch_add(u64::from(is_step), Ordering::AcqRel);
            let offset_ms = guard.offset_ms();
            if let Some(path) = path
                && state.saved_ms.is_none_or(|saved_ms| saved_ms.abs_diff(offset_ms) >= SAVED_CHANGE_MS)
            {
                state.saved_ms = Some(offset_ms);
                machine::save_offset(path, offset_ms);
            }
        }
        let running_ms = state.guard.as_ref().map_or(wall_ms, |guard| boot_ms + guard.offset_ms());
        (state.stopped_ms.unwrap_or(running_ms).saturating_add(state.ahead_ms), wall_ms)
    }
}

impl Default for Clock {
    /// Returns a clock without a store, whose reference is the wall clock.
    fn default() -> Self {
        let offset_ms = machine::wall_ms() - boot_ms();
        Self::new(Reference::Wall { path: None }, Some(Guard::new(offset_ms)), None)
    }
}

/// Returns the time after a duration, at most the largest integer of SQLite.
pub(crate) fn add_ms(now_ms: u64, duration: Duration) -> u64 {
    let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    now_ms.saturating_add(duration_ms).min(i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRONG_MS: i64 = 25 * 3_600_000;

    fn now_is_near(clock: &Clock, expected_ms: i64) -> bool {
        guard::is_near(i64::try_from(clock.now_ms()).unwrap(), expected_ms)
    }

    fn learn(clock: &Clock, server_ms: i64) {
        clock.learn(server_ms, boot_ms() - 20..=boot_ms());
    }

    #[test]
    fn time_is_that_of_the_server_from_the_first_response_on() {
        for wrong_ms in [WRONG_MS, -WRONG_MS] {
            let (clock, wall_ms) = (Clock::of_server(), machine::wall_ms());
            assert!(now_is_near(&clock, wall_ms));
            learn(&clock, wall_ms + wrong_ms);
            assert!(now_is_near(&clock, wall_ms + wrong_ms));
            assert!(guard::is_near(clock.skew_ms(), -wrong_ms));
            clock.set_wall_ahead(7 * wrong_ms);
            assert!(now_is_near(&clock, wall_ms + wrong_ms), "the wall clock does not matter");
        }
    }

    #[test]
    fn server_that_jumps_is_followed_at_once_only_to_the_time_of_the_machine() {
        let (clock, wall_ms) = (Clock::of_server(), machine::wall_ms());
        learn(&clock, wall_ms);
        for wrong_ms in [WRONG_MS, -WRONG_MS] {
            learn(&clock, wall_ms + wrong_ms);
            assert!(now_is_near(&clock, wall_ms));
        }
        assert_eq!(clock.steps(), 0);
        // Another server took over, or this machine was suspended.
        clock.set_wall_ahead(WRONG_MS);
        learn(&clock, wall_ms + WRONG_MS);
        assert!(now_is_near(&clock, wall_ms + WRONG_MS));
        assert_eq!(clock.steps(), 1);
    }

    #[test]
    fn slow_response_does_not_move_the_clock() {
        let clock = Clock::of_server();
        let (sent_ms, server_ms) = (boot_ms(), machine::wall_ms());
        clock.learn(server_ms, sent_ms..=sent_ms);
        let before_ms = clock.read().0 - boot_ms();
        clock.learn(server_ms + 20, sent_ms..=sent_ms + 30_000);
        assert!((clock.read().0 - boot_ms()).abs_diff(before_ms) <= 2);
    }
}
