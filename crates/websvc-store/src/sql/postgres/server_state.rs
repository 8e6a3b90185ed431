//! The state of a server: if it responds, and how long its statements take.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::statement_times::StatementTimes;
use super::{GivenUp, StatementClass, wait};
use crate::sql;

/// How long cached state is valid while the server cannot be reached.
pub(crate) const MAX_OUTAGE: Duration = Duration::from_secs(60);

/// The server is silent when a read of the watch has had no response for this time. One that is stopped refuses the
/// connection earlier.
const SILENCE: Duration = Duration::from_millis(1_400);

/// The state of a server as the watch has last seen it.
#[derive(Debug)]
pub(crate) struct ServerState {
    started: Instant,
    /// Time at which the last successful read began, in milliseconds since `started`.
    last_success_ms: AtomicU64,
    is_down: AtomicBool,
    /// A request has used the database, or what is cached of it, since the last read.
    is_used: AtomicBool,
    /// The last read had no response, so that others would wait for one, too.
    is_silent: AtomicBool,
    statements: StatementTimes,
}

impl ServerState {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            last_success_ms: AtomicU64::new(0),
            is_down: AtomicBool::new(false),
            is_used: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
            statements: StatementTimes::new(),
        }
    }

    /// Returns whether the last successful read was at most this long ago.
    pub(crate) fn had_contact_within(&self, age: Duration) -> bool {
        self.age_ms() <= age.as_millis() as u64
    }

    /// Returns the time since the last successful read in milliseconds.
    fn age_ms(&self) -> u64 {
        self.now_ms().saturating_sub(self.last_success_ms.load(Ordering::Acquire))
    }

    /// Returns whether a request has used the database, or what is cached of it, since the last call.
    pub(crate) fn take_use(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Checks that cached state may be used.
    pub(crate) fn check_cache(&self) -> sql::Result<()> {
        self.is_used.store(true, Ordering::Relaxed);
        let age_ms = self.age_ms();
        if age_ms > MAX_OUTAGE.as_millis() as u64 {
            let text = format!("no response for {} seconds", age_ms / 1000);
            return Err(sql::Error::Unreachable(text.into()));
        }
        Ok(())
    }

    /// Checks that the server could be reached by the last read, so that a request need not wait for a timeout.
    pub(crate) fn check_reachable(&self) -> sql::Result<()> {
        if self.is_down.load(Ordering::Acquire) {
            return Err(sql::Error::Unreachable("the last attempt failed".into()));
        }
        Ok(())
    }

    /// Waits for a response of the server. While the server is silent, only some [classes](StatementClass) wait. The watch
    /// finds that out by waiting itself.
    pub(crate) fn wait<F: Future>(
        &self,
        class: StatementClass,
        response: F,
        deadline: Instant,
    ) -> sql::Result<F::Output> {
        if class == StatementClass::Request {
            self.is_used.store(true, Ordering::Relaxed);
        }
        let begun = Instant::now();
        let is_pointless = || {
            if class == StatementClass::Watch && begun.elapsed() >= SILENCE {
                self.is_silent.store(true, Ordering::Release);
                self.is_down.store(true, Ordering::Release);
            }
            !class.waits_in_silence() && self.is_silent.load(Ordering::Acquire)
        };
        let silent = || sql::Error::Unreachable("it does not respond".into());
        if is_pointless() {
            return Err(silent());
        }
        let response = wait(response, deadline, is_pointless);
        self.statements.count(class, begun.elapsed());
        response.map_err(|given_up| match given_up {
            GivenUp::Pointless => silent(),
            GivenUp::DeadlineElapsed => sql::Error::Unreachable("there was no response in time".into()),
        })
    }

    /// Returns the durations of statements.
    pub(crate) fn statements(&self) -> &StatementTimes {
        &self.statements
    }

    /// Records the result of a read that began at `begun_ms`.
    pub(crate) fn record(&self, is_reachable: bool, begun_ms: u64) {
        if is_reachable {
            self.last_success_ms.store(begun_ms, Ordering::Release);
        }
        let is_silent = !is_reachable && self.now_ms().saturating_sub(begun_ms) >= SILENCE.as_millis() as u64;
        self.is_silent.store(is_silent, Ordering::Release);
        self.is_down.store(!is_reachable, Ordering::Release);
    }

    /// Returns the time since the state was created in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_outlives_short_outages_and_new_reads_fail_at_once() {
        let long_ago = Instant::now().checked_sub(2 * MAX_OUTAGE);
        let Some(started) = long_ago else { return };
        let state = ServerState { started, ..ServerState::new() };
        assert!(state.check_cache().is_err(), "the last success is too long ago");
        state.record(true, state.now_ms());
        assert!(state.check_cache().is_ok() && state.check_reachable().is_ok());
        state.record(false, state.now_ms());
        assert!(state.check_cache().is_ok() && state.check_reachable().is_err());
        state.record(true, state.now_ms());
        assert!(state.check_reachable().is_ok());
    }

    #[test]
    fn statements_wait_for_a_server_that_refuses_but_not_for_a_silent_one() {
        let Some(started) = Instant::now().checked_sub(MAX_OUTAGE) else { return };
        let state = ServerState { started, ..ServerState::new() };
        let wait =
            |class| state.wait(class, std::future::ready(7), Instant::now() + Duration::from_millis(200));
        state.record(false, state.now_ms());
        assert_eq!(wait(StatementClass::Request).ok(), Some(7));
        let never = std::future::pending::<()>();
        let deadline = Instant::now() + SILENCE + Duration::from_millis(200);
        assert!(state.wait(StatementClass::Watch, never, deadline).is_err());
        assert!(state.check_reachable().is_err(), "before the watch records its result");
        for class in [StatementClass::Request, StatementClass::Background] {
            assert!(matches!(wait(class), Err(sql::Error::Unreachable(_))), "{class:?}");
        }
        for class in [StatementClass::Watch, StatementClass::Migration] {
            assert_eq!(wait(class).ok(), Some(7), "{class:?}");
        }
        state.record(true, state.now_ms());
        assert_eq!(wait(StatementClass::Request).ok(), Some(7));
    }
}
