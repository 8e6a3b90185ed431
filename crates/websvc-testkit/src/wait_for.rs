//! Waiting for a condition, with a time limit.

use std::time::{Duration, Instant};

/// The maximum time that a test waits. Without a limit, the test run would hang without a message.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Waits until a condition is met. The limit uses the clock of the machine, because the clock of the runtime may be
/// paused.
///
/// # Panics
/// If the condition is not met within a minute; the message contains `condition`.
pub async fn until(condition: &str, mut is_met: impl FnMut() -> bool) {
    let deadline = Instant::now() + MAX_WAIT;
    while !is_met() {
        assert!(Instant::now() < deadline, "not met within {MAX_WAIT:?}: {condition}");
        tokio::task::yield_now().await;
    }
}
