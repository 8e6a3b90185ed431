//! What goes wrong.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why events cannot be written or delivered at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The spool cannot be used.
    #[error("the spool of audit events at {} cannot be used", path.display())]
    Spool {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An address of syslog that is none.
    #[error("{given:?} is no address of syslog: {reason}")]
    SyslogAddress {
        /// The text that was given.
        given: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An address of a webhook that may not be used.
    #[error("the address of the webhook cannot be used: {reason}")]
    WebhookAddress {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A secret that cannot sign.
    #[error("the secret of the webhook cannot be used: {reason}")]
    WebhookSecret {
        /// What is wrong with it.
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
