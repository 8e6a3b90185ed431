//! Why an action ends the work.

use crate::connection::CdpError;
use crate::error::BrowserError;

/// Why an action ends the work.
pub(crate) enum Failure {
    /// It cannot be done, in public words.
    Reason(String),
    /// The page or the browser failed.
    Browser(BrowserError),
}

impl From<BrowserError> for Failure {
    fn from(error: BrowserError) -> Self {
        Self::Browser(error)
    }
}

impl From<CdpError> for Failure {
    fn from(error: CdpError) -> Self {
        Self::Browser(error.into())
    }
}
