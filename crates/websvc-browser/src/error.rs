//! The errors of this crate.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::connection::CallError;

/// Why a page could not be rendered.
///
/// The display text may be shown to whoever gave the URL; the sources are for logs.
#[derive(Debug, Error)]
pub enum BrowserError {
    /// There is no Chromium where it is looked for.
    #[error("there is no Chromium: install chromium-headless-shell or chromium, or name one")]
    Missing {
        /// The configured path, if there is one.
        path: Option<PathBuf>,
    },
    /// Chromium does not start.
    #[error("Chromium does not start")]
    Start {
        /// What the system said.
        source: io::Error,
        /// The end of what Chromium said, for the log.
        log: String,
    },
    /// All pages were taken until the deadline.
    #[error("no browser page became free within {} ms", waited.as_millis())]
    Busy {
        /// How long this request waited.
        waited: Duration,
    },
    /// The deadline passed while the page was open.
    #[error("the page was not ready in time")]
    Deadline,
    /// The page or the whole of Chromium ended unexpectedly.
    #[error("the browser page crashed")]
    Crashed,
    /// Only `http` and `https` are opened.
    #[error("URLs with the scheme {scheme} may not be opened")]
    ForbiddenScheme {
        /// The scheme.
        scheme: String,
    },
    /// The guard refuses the address of the page itself.
    #[error("this URL may not be fetched")]
    Forbidden,
    /// The page itself did not arrive.
    #[error("the page cannot be opened: {reason}")]
    Navigation {
        /// What is wrong, in public words.
        reason: String,
    },
    /// The URL answers with a file that a browser would save instead of showing.
    #[error("the URL is a download, not a page")]
    Download,
    /// An action could not be done.
    #[error("action {index} ({action}) failed: {reason}")]
    Step {
        /// Its place in the list, from 0.
        index: usize,
        /// Its name, as the interface spells it.
        action: &'static str,
        /// What is wrong with it, in public words.
        reason: String,
    },
    /// Chromium answered otherwise than the protocol says.
    #[error("the browser gave an unexpected answer")]
    Protocol {
        /// The method and what is wrong with its answer.
        detail: String,
    },
}

impl From<CallError> for BrowserError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Lost => Self::Crashed,
            refused @ (CallError::Refused { .. } | CallError::TooLarge { .. }) => {
                Self::Protocol { detail: refused.to_string() }
            }
        }
    }
}

impl BrowserError {
    /// Says that an answer lacks what the protocol promises.
    pub(crate) fn lacking(method: &str, what: &str) -> Self {
        Self::Protocol { detail: format!("{method} gave no {what}") }
    }
}
