//! Waiting for a condition, with a time limit.

use std::time::{Duration, Instant};

/// The maximum time that a test waits. Without a limit, the test run would hang without a message.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Checks of a condition without a pause, for what is met at once.
const QUICK_CHECKS: u32 = 1_000;

/// Time between two later checks. A test that waits must not take the processor from what it waits for.
const PAUSE: Duration = Duration::from_millis(1);

/// Waits until a condition is met. The limit uses the clock of the machine, because the clock of the runtime may be
/// paused.
///
/// # Panics
/// If the condition is not met within a minute; the message contains `condition`.
pub async fn until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let deadline = Instant::now() + MAX_WAIT;
    let mut checks = 0;
    while !is_met() {
        assert!(Instant::now() < deadline, "not met within {MAX_WAIT:?}: {condition}");
        checks += 1;
        if checks > QUICK_CHECKS {
            // Not a timer of the runtime: its clock may be paused.
            std::thread::sleep(PAUSE);
        }
        tokio::task::yield_now().await;
    }
}
