//! The error of a request to a model.

use std::fmt;
use std::time::Duration;

use crate::usage::Usage;

/// The error of a request to a model. The messages contain neither the key nor the URL, and of the request and the response
/// only names that the endpoint gives as the cause of a rejection.
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
    /// The request was not sent, because other requests took all places of the model until its deadline.
    #[error("not sent: {}", all_busy(*.places))]
    Busy {
        /// The maximum number of concurrent requests.
        places: usize,
    },
    /// There was no response in time, which began when the request could be sent.
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
    /// The endpoint rejected the request, and says what is wrong with it.
    #[error("rejected the request with status {status} ({cause})")]
    Rejected {
        /// The status.
        status: u16,
        /// The names that the endpoint gives.
        cause: RejectionCause,
    },
    /// The request or the response exceeds its limit.
    #[error("{subject} is too large")]
    TooLarge {
        /// `the request` or `the response`.
        subject: &'static str,
    },
    /// The model refused to answer. The message does not contain its words; see [`ModelError::explanation`].
    #[error("the model refused to answer")]
    Refused {
        /// The reason in the words of the model: untrusted, one line, at most 200 characters.
        text: String,
        /// The tokens that it took, as the model reports them.
        usage: Usage,
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

/// The code and the parameter in the error of an endpoint, as far as it gives them. Each is a name of at most 64 letters,
/// digits, and characters of `_-.[]`, and not a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RejectionCause {
    /// The code, such as `invalid_value`, or the type of the error.
    pub code: Option<String>,
    /// The parameter, such as `response_format`.
    pub parameter: Option<String>,
}

impl fmt::Display for RejectionCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.code, &self.parameter) {
            (Some(code), Some(parameter)) => write!(f, "{code}, parameter {parameter}"),
            (Some(name), None) => f.write_str(name),
            (None, Some(parameter)) => write!(f, "parameter {parameter}"),
            (None, None) => f.write_str("no reason"),
        }
    }
}

/// Says that all places of a model are busy.
fn all_busy(places: usize) -> String {
    if places == 1 {
        return "the only place of the model is busy".to_owned();
    }
    format!("all {places} places of the model are busy")
}

impl ModelError {
    /// Returns the error for the caller, with what the operator can do about it. In contrast to the message, it contains the
    /// words of a model that refuses. They are untrusted, and must not be logged.
    #[must_use]
    pub fn explanation(&self) -> String {
        match self {
            Self::Refused { text, usage: _ } if !text.is_empty() => format!("the model refused: {text}"),
            error => error.with_advice(),
        }
    }

    /// Returns whether the time ended before there was a response.
    #[must_use]
    pub const fn is_late(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::Busy { .. })
    }

    /// Returns what the operator of the service can do about it.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Status { status: 401 | 403 } => Some("check llm.api_key"),
            Self::Status { status: 402 | 429 } => Some("check the quota of the endpoint"),
            Self::Status { status: 404 } => Some("check llm.base_url and llm.model"),
            Self::Unreachable { .. } => Some("check that the endpoint runs, and llm.base_url"),
            Self::Timeout { .. } => Some("llm.timeout_ms is the maximum"),
            Self::Busy { .. } => Some("raise llm.concurrency if the server can work on more requests"),
            Self::TooLarge { subject: "the request" } => {
                Some("give the model a longer context, and check llm.context_tokens and llm.max_input_chars")
            }
            Self::NotConfigured
            | Self::Status { .. }
            | Self::Rejected { .. }
            | Self::TooLarge { .. }
            | Self::Refused { .. }
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
                "the request is too large (give the model a longer context, and check llm.context_tokens and \
                 llm.max_input_chars)",
            ),
            (
                ModelError::Busy { places: 4 },
                "not sent: all 4 places of the model are busy (raise llm.concurrency if the server can work \
                 on more requests)",
            ),
            (
                ModelError::Busy { places: 1 },
                "not sent: the only place of the model is busy (raise llm.concurrency if the server can work \
                 on more requests)",
            ),
            (ModelError::TooLarge { subject: "the response" }, "the response is too large"),
        ] {
            assert_eq!(error.with_advice(), expected);
        }
    }
    #[test]
    fn rejection_names_its_code_and_its_parameter() {
        for (code, parameter, expected) in [
            (Some("invalid_value"), Some("top_p"), "(invalid_value, parameter top_p)"),
            (Some("invalid_value"), None, "(invalid_value)"),
            (None, Some("top_p"), "(parameter top_p)"),
        ] {
            let (code, parameter) = (code.map(str::to_owned), parameter.map(str::to_owned));
            let error = ModelError::Rejected { status: 400, cause: RejectionCause { code, parameter } };
            assert_eq!(error.to_string(), format!("rejected the request with status 400 {expected}"));
        }
    }

    #[test]
    fn words_of_a_refusal_are_in_the_explanation_only() {
        let usage = Usage::default();
        let error = ModelError::Refused { text: "I will not.".to_owned(), usage };
        assert_eq!(error.to_string(), "the model refused to answer");
        assert_eq!(error.explanation(), "the model refused: I will not.");
        assert_eq!(ModelError::Status { status: 500 }.explanation(), "responded with status 500");
    }
}
