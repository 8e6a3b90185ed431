//! The error of an action.

use crate::connection::CdpError;
use crate::error::BrowserError;

/// The error of an action.
pub(crate) enum ActionError {
    /// The action failed; the text is public.
    Failed(String),
    /// The page or the browser failed, which ends the request.
    Browser(BrowserError),
}

impl From<BrowserError> for ActionError {
    fn from(error: BrowserError) -> Self {
        Self::Browser(error)
    }
}

impl From<CdpError> for ActionError {
    fn from(error: CdpError) -> Self {
        Self::Browser(error.into())
    }
}
