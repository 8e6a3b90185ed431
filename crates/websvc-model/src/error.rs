//! The error of a request to a model.

use std::time::Duration;

use crate::model::Usage;

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
        /// The tokens that it took, as the model reports them.
        usage: Usage,
    },
}

impl ModelError {
    /// Returns what the operator of the service can do about it.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Status { status: 401 | 403 } => Some("check llm.api_key"),
            Self::Status { status: 402 | 429 } => Some("check the quota of the endpoint"),
            Self::Status { status: 404 } => Some("check llm.base_url and llm.model"),
            Self::Unreachable { .. } => Some("check that the endpoint runs, and llm.base_url"),
            Self::Timeout { .. } => Some("llm.timeout_ms is the maximum"),
            Self::TooLarge { subject: "the request" } => {
                Some("lower llm.max_input_chars, or give the model a longer context")
            }
            Self::NotConfigured
            | Self::Status { .. }
            | Self::TooLarge { .. }
            | Self::InvalidResponse { .. } => None,
        }
    }

    /// Returns the error and what the operator can do about it, in one line.
    #[must_use]
    pub fn with_advice(&self) -> String {
        self.advice().map_or_else(|| self.to_string(), |advice| format!("{self} ({advice})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_key_that_may_be_wrong() {
        for (error, expected) in [
            (ModelError::Status { status: 401 }, "responded with status 401 (check llm.api_key)"),
            (ModelError::Status { status: 500 }, "responded with status 500"),
            (
                ModelError::Timeout { after: Duration::from_secs(2) },
                "no response within 2000 ms (llm.timeout_ms is the maximum)",
            ),
            (
                ModelError::TooLarge { subject: "the request" },
                "the request is too large (lower llm.max_input_chars, or give the model a longer context)",
            ),
            (ModelError::TooLarge { subject: "the response" }, "the response is too large"),
        ] {
            assert_eq!(error.with_advice(), expected);
        }
    }
}
