//! Errors of audit events.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use websvc_webhook::PostError;

/// Why events cannot be written or delivered at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The spool cannot be used.
    #[error("the spool of audit events at {} cannot be used", path.display())]
    Spool {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// An address of syslog that is none.
    #[error("{given:?} is no address of syslog: {reason}")]
    SyslogAddress {
        /// The text that was given.
        given: String,
        /// Reason why the value is invalid.
        reason: &'static str,
    },
    /// An address of a webhook that may not be used.
    #[error("the address of the webhook cannot be used: {reason}")]
    WebhookAddress {
        /// Reason why the value is invalid.
        reason: &'static str,
    },
}

/// Why a sink did not take events now. They stay in the spool. The text names no address: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SinkError {
    pub(crate) text: String,
    /// When it wants to be asked again.
    pub(crate) retry_after: Option<Duration>,
}

impl SinkError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), retry_after: None }
    }

    pub(crate) fn io(what: &str, error: &io::Error) -> Self {
        Self::new(format!("{what}: {error}"))
    }
}

impl From<PostError> for SinkError {
    fn from(error: PostError) -> Self {
        let text = error.to_string();
        let retry_after = match error {
            PostError::Status { retry_after, .. } => retry_after,
            PostError::Forbidden | PostError::Unreachable(_) => None,
        };
        Self { text, retry_after }
    }
}
