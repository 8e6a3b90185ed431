//! The error of a request to a model.

use std::time::Duration;

/// The error of a request to a model. The messages contain neither the key nor the URL, and nothing of the request and the
/// response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// No model is configured for this kind of request.
    #[error("no model is configured for it")]
    NotConfigured,
    /// The connection failed or broke.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// The reason.
        reason: &'static str,
    },
    /// There was no response in time, including the wait for a permit.
    #[error("no response within {} ms", after.as_millis())]
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The status of the response is not a success, also after retries.
    #[error("responded with status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// The request or the response exceeds its limit.
    #[error("{subject} is too large")]
    TooLarge {
        /// `the request` or `the response`.
        subject: &'static str,
    },
    /// The response cannot be used.
    #[error("its response cannot be used: {reason}")]
    InvalidResponse {
        /// The reason.
        reason: &'static str,
    },
}
