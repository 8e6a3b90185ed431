//! Why a source gave no answer, in few kinds: what figures count and alerts ask for.

use super::SourceResponse;
use crate::error::SourceError;

/// Why a source gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It failed too often and is not asked for a while.
    Paused,
    /// More questions than its configured rate.
    Busy,
    /// It was too slow.
    Timeout,
    /// No connection, or one that broke.
    Unreachable,
    /// It limits its callers.
    Limited,
    /// It answered with a status that is no success.
    Status,
    /// Its answer is none that can be read.
    Unreadable,
    /// It found nothing and could not look everywhere.
    Incomplete,
    /// It has no answers to such questions.
    Unsuited,
    /// It failed inside this process.
    Internal,
}

impl FailureKind {
    /// Every kind.
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

    /// Returns the word for it in figures.
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
