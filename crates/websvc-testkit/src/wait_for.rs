//! Waiting for what comes by itself, but not forever.

use std::time::{Duration, Instant};

/// How long a test waits for what should be there any moment. A test that waited forever would take the whole run with
/// it and leave nothing but its name.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so, by the clock of the machine: that of the runtime may have been stopped.
///
/// # Panics
/// When it is not so within a minute, naming what was waited for.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "after {PATIENCE:?} it is not so that {what}");
        tokio::task::yield_now().await;
    }
}
