//! The kinds of failures of a source, for metrics and alerts.

use super::SourceResponse;
use crate::error::SourceError;

/// The kind of a failure of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The circuit breaker is open.
    Paused,
    /// The configured rate limit is exhausted.
    Busy,
    /// There was no response in time.
    Timeout,
    /// The connection failed or broke.
    Unreachable,
    /// The source rejected the request because of its rate limit.
    Limited,
    /// The status is not a success.
    Status,
    /// The response cannot be parsed.
    Unreadable,
    /// There are no results, but the source could not search everything.
    Incomplete,
    /// The source does not support such requests.
    Unsuited,
    /// An error in this process.
    Internal,
}

impl FailureKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Paused,
        Self::Busy,
        Self::Timeout,
        Self::Unreachable,
        Self::Limited,
        Self::Status,
        Self::Unreadable,
        Self::Incomplete,
        Self::Unsuited,
        Self::Internal,
    ];

    /// Returns the label value in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Limited => "limited",
            Self::Status => "status",
            Self::Unreadable => "unreadable",
            Self::Incomplete => "incomplete",
            Self::Unsuited => "unsuited",
            Self::Internal => "internal",
        }
    }
}

impl From<&SourceError> for FailureKind {
    fn from(error: &SourceError) -> Self {
        match error {
            SourceError::Paused { .. } => Self::Paused,
            SourceError::Busy { .. } => Self::Busy,
            SourceError::Timeout { .. } => Self::Timeout,
            SourceError::Unreachable { .. } => Self::Unreachable,
            SourceError::Limited { .. } => Self::Limited,
            SourceError::JsonDisabled | SourceError::Status { .. } | SourceError::Redirect { .. } => {
                Self::Status
            }
            SourceError::NotJson { .. } | SourceError::Unreadable { .. } => Self::Unreadable,
        }
    }
}

impl From<SourceError> for SourceResponse {
    fn from(error: SourceError) -> Self {
        Self::Unavailable { failure: FailureKind::from(&error), reason: error.to_string() }
    }
}
