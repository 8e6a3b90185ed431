//! The errors of blocked URLs, and of scanners without a verdict.

use std::time::Duration;

use thiserror::Error;

/// The error for a blocked URL. The text is public: it contains the host and the rule, but no list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("threat protection blocks {host}: {rule}")]
pub struct Blocked {
    /// The host of the URL.
    pub host: String,
    /// The rule that blocks it.
    pub rule: Rule,
}

/// A rule that blocks a URL.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Rule {
    /// The host is on the blacklist.
    #[error("it is on the blacklist")]
    Blacklist,
    /// The top-level domain is blocked.
    #[error("its top-level domain {tld} is blocked")]
    Tld {
        /// The top-level domain.
        tld: String,
    },
    /// The score of the classifier.
    #[error("its risk score {score} is not below the threshold {threshold}")]
    Score {
        /// The score, 0 to 100.
        score: u8,
        /// The minimum score that is blocked.
        threshold: u8,
    },
    /// The classifier has no verdict.
    #[error("it could not be checked, and failurePolicy is closed")]
    Unchecked,
}

impl Rule {
    /// The label values of the rules in metrics.
    pub const NAMES: [&'static str; 4] = ["blacklist", "tld", "score", "unchecked"];

    /// Returns the index of the rule in [`Rule::NAMES`].
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Blacklist => 0,
            Self::Tld { .. } => 1,
            Self::Score { .. } => 2,
            Self::Unchecked => 3,
        }
    }
}

/// The reason why a scanner returned no verdict. The texts are for the operator. They contain neither the checked URL nor a
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The scanner did not respond in time, or too many requests were in flight.
    #[error("no response within {} ms", after.as_millis())]
    Timeout {
        /// The timeout.
        after: Duration,
    },
    /// The connection failed or broke.
    #[error("{text}")]
    Unreachable {
        /// The error of the HTTP client.
        text: String,
    },
    /// The status of the response is not a success.
    #[error("responded with status {status}")]
    Status {
        /// The status.
        status: u16,
        /// The value of `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The response has an unexpected form.
    #[error("its response cannot be read: {what}")]
    Unreadable {
        /// The reason why the response is invalid.
        what: &'static str,
    },
    /// The circuit breaker of the scanner is open.
    #[error("paused after failures, next attempt in {} s; last failure: {reason}", retry_after.as_secs() + 1)]
    Paused {
        /// The time until the next attempt.
        retry_after: Duration,
        /// The failure that opened the breaker.
        reason: String,
    },
}

impl ScanError {
    /// The label values of the reasons in metrics.
    pub const NAMES: [&'static str; 5] = ["timeout", "unreachable", "status", "unreadable", "paused"];

    /// Returns the index of the reason in [`ScanError::NAMES`].
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Timeout { .. } => 0,
            Self::Unreachable { .. } => 1,
            Self::Status { .. } => 2,
            Self::Unreadable { .. } => 3,
            Self::Paused { .. } => 4,
        }
    }
}

/// The error of a scanner that cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScannerError {
    /// The API key is not a valid header value.
    #[error("the API key contains characters that are not allowed in a header")]
    Key,
}
