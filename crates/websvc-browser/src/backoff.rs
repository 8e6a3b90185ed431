//! When a remote browser that could not be used is tried again.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{BrowserError, RemoteError};

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// The failures in a row, and the pause after the last of them.
#[derive(Default)]
pub(crate) struct Backoff {
    failures: u32,
    last: Option<(Instant, Arc<RemoteError>)>,
}

impl Backoff {
    /// Returns the last failure as long as its pause is not over.
    pub(crate) fn check(&self, now: Instant) -> Result<(), BrowserError> {
        match &self.last {
            Some((until, source)) if now < *until => Err(BrowserError::Remote { source: Arc::clone(source) }),
            _ => Ok(()),
        }
    }

    /// Begins a pause that is twice as long as the one before.
    pub(crate) fn failed(&mut self, source: Arc<RemoteError>, now: Instant) {
        let pause = FIRST.saturating_mul(2_u32.saturating_pow(self.failures)).min(LONGEST);
        self.failures += 1;
        self.last = Some((now + pause, source));
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_bound_and_end_with_success() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        let error = || Arc::new(RemoteError::Leaks { endpoint: "x".to_owned() });
        for expected in [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] {
            backoff.failed(error(), now);
            let pause = Duration::from_millis(expected);
            assert!(backoff.check(now + pause - Duration::from_millis(1)).is_err(), "{expected}");
            assert!(backoff.check(now + pause).is_ok(), "{expected}");
        }
        backoff.succeeded();
        assert!(backoff.check(now).is_ok());
        backoff.failed(error(), now);
        assert!(backoff.check(now + FIRST).is_ok());
    }
}
