//! Errors of the audit log.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use websvc_notify::webhook::PostError;

/// The audit log cannot be used with this configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The spool cannot be used.
    #[error("the spool of audit events at {} cannot be used", path.display())]
    Spool {
        /// The directory of the spool.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A syslog address is invalid.
    #[error("{given:?} is not a syslog address: {reason}")]
    SyslogAddress {
        /// The given address.
        given: String,
        /// The reason.
        reason: &'static str,
    },
    /// A webhook URL is not allowed.
    #[error("the webhook URL cannot be used: {reason}")]
    WebhookAddress {
        /// The reason.
        reason: &'static str,
    },
}

/// A sink did not accept events, which stay in the spool. The text contains no address, because it may contain a
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SinkError {
    pub(crate) text: String,
    /// The delay that the receiver requested.
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
            PostError::Forbidden | PostError::Unreachable(_) | PostError::NoResponse(_) => None,
        };
        Self { text, retry_after }
    }
}
