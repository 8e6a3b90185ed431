//! The backoff between attempts to use a remote browser.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::error::{BrowserError, RemoteError};

const INITIAL_DELAY: Duration = Duration::from_millis(250);
const MAX_DELAY: Duration = Duration::from_secs(30);

/// The number of consecutive failures, and the delay after the last one.
#[derive(Default)]
pub(crate) struct Backoff {
    failures: u32,
    /// The time of the next attempt, and the last failure.
    last: Option<(Instant, Arc<RemoteError>)>,
}

impl Backoff {
    /// Returns the last failure as an error until its delay is over.
    pub(crate) fn check(&self, now: Instant) -> Result<(), BrowserError> {
        match &self.last {
            Some((until, source)) if now < *until => Err(BrowserError::Remote { source: Arc::clone(source) }),
            _ => Ok(()),
        }
    }

    /// Records a failure, and doubles the delay.
    pub(crate) fn failed(&mut self, source: Arc<RemoteError>, now: Instant) {
        let delay = INITIAL_DELAY.saturating_mul(2_u32.saturating_pow(self.failures)).min(MAX_DELAY);
        self.failures += 1;
        self.last = Some((now + delay, source));
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_maximum_and_reset_on_success() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        let error = || Arc::new(RemoteError::WebRtcBypass { endpoint: "x".to_owned() });
        for expected in [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] {
            backoff.failed(error(), now);
            let delay = Duration::from_millis(expected);
            assert!(backoff.check(now + delay - Duration::from_millis(1)).is_err(), "{expected}");
            assert!(backoff.check(now + delay).is_ok(), "{expected}");
        }
        backoff.succeeded();
        assert!(backoff.check(now).is_ok());
        backoff.failed(error(), now);
        assert!(backoff.check(now + INITIAL_DELAY).is_ok());
    }
}
