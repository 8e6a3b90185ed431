//! Why a URL is blocked, and why a classifier has no verdict.

use std::time::Duration;

use thiserror::Error;

/// A URL that is blocked. The text is for whoever asked: it names the host and the rule, and no list.
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
    /// The classifier's verdict.
    #[error("its risk score {score} is not below the threshold {threshold}")]
    Score {
        /// The verdict, 0 to 100.
        score: u8,
        /// From where on it blocks.
        threshold: u8,
    },
    /// The classifier has no verdict.
    #[error("it could not be checked, and failurePolicy is closed")]
    Unchecked,
}

impl Rule {
    /// The names of the rules, as metrics spell them.
    pub const NAMES: [&'static str; 4] = ["blacklist", "tld", "score", "unchecked"];

    /// Returns the place of the rule among the names.
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Blacklist => 0,
            Self::Tld { .. } => 1,
            Self::Score { .. } => 2,
            Self::Unchecked => 3,
        }
    }
}

/// Why a scanner has no verdict. The texts are for the operator, and name neither the URL that was asked about nor any
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// No answer in time, or no room to ask in time.
    #[error("it did not answer within {} ms", after.as_millis())]
    Timeout {
        /// The time it had.
        after: Duration,
    },
    /// No connection, or one that broke.
    #[error("{text}")]
    Unreachable {
        /// Error of the HTTP client.
        text: String,
    },
    /// Another status than success.
    #[error("it answered with status {status}")]
    Status {
        /// The status.
        status: u16,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// An answer of another shape.
    #[error("its answer cannot be read: {what}")]
    Unreadable {
        /// Reason why the response is invalid.
        what: &'static str,
    },
    /// It failed too often and is left alone.
    #[error("it is paused after failures, the next attempt is in {} s; the last failure: {reason}", retry_after.as_secs() + 1)]
    Paused {
        /// Until the next attempt.
        retry_after: Duration,
        /// The failure that led to the pause.
        reason: String,
    },
}

impl ScanError {
    /// The names of the reasons, as metrics spell them.
    pub const NAMES: [&'static str; 5] = ["timeout", "unreachable", "status", "unreadable", "paused"];

    /// Returns the place of the reason among the names.
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

/// Why a scanner cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScannerError {
    /// The key cannot be sent in a header.
    #[error("the api key has characters that cannot be sent")]
    Key,
}
