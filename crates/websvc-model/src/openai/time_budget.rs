//! The time of a request, including its retries. It begins when the request may be sent.

use std::time::{Duration, Instant};

use crate::error::ModelError;

/// The time of a request, including its retries.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBudget {
    pub(super) started: Instant,
    pub(super) deadline: Instant,
}

impl TimeBudget {
    pub(super) fn remaining(self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    pub(super) fn timeout_error(self) -> ModelError {
        ModelError::Timeout { after: self.deadline.saturating_duration_since(self.started) }
    }
}
